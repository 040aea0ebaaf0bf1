"""Routes: a typed handler, its address, and what its signature says about parameters, body and response.

A handler's arguments are bound by name: `service`, `request`, `token`, the parameters of its path, `body` (JSON of the
annotated type), and whatever else it takes from the query string. The OpenAPI document is made from the same signature.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Annotated, Any, Final, NamedTuple, TypeAlias, final, get_args, get_origin, get_type_hints
from urllib.parse import parse_qsl

import msgspec
from msgspec import Meta

from sottovoce.service.http.request import Request, decode_json
from sottovoce.service.http.response import JSON, Receive, Scope, Send, json_response
from sottovoce.service.http.validation import describe
from sottovoce.service.refusal import Refusal

__all__ = ["Handler", "Page", "QueryParameter", "Route", "Router", "Sendable", "check_page", "route"]

Sendable: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]
"""A response: an ASGI application for one request."""

Handler: TypeAlias = Callable[..., Awaitable[Any]]

_CONTEXT: Final = ("service", "request", "token")

_PARAMETER: Final = re.compile(r"\{(\w+)\}")


class QueryParameter(NamedTuple):
    """A parameter of the query string."""

    name: str
    type: Any
    default: Any

    @property
    def is_required(self) -> bool:
        """Whether it cannot be left out."""
        return self.default is inspect.Parameter.empty

    @property
    def is_repeatable(self) -> bool:
        """Whether it is a list, whose entries are given one by one under the same name."""
        bare = get_args(self.type)[0] if get_origin(self.type) is Annotated else self.type
        return get_origin(bare) is list

    def read(self, texts: list[str]) -> Any:
        """The value, or a refusal that says what is allowed."""
        try:
            return msgspec.convert(texts if self.is_repeatable else texts[0], self.type, strict=False)
        except msgspec.ValidationError:
            message = f"{self.name} must be {describe(self.type)}"
        raise Refusal(400, "invalid_parameter", message, field=self.name)


@final
class Route:
    """One or more paths and methods, the handler for them, and its documentation."""

    def __init__(
        self,
        handler: Handler,
        methods: tuple[str, ...],
        paths: tuple[str, ...],
        *,
        scopes: tuple[str, ...] = (),
        responses: Mapping[int, Any] | None = None,
        errors: Mapping[int, Any] | None = None,
        accepts: Mapping[str, Any] | None = None,
        max_bytes: int | None = None,
        headers: Mapping[str, str] | None = None,
        for_devices: bool = False,
        at_intake: bool = False,
        is_page: bool = False,
        is_stream: bool = False,
        is_shared: bool = False,
        is_probe: bool = False,
        is_gateway: bool = False,
        counts_refusals: bool = False,
        page_headers: Mapping[str, str] | None = None,
    ):
        hints = get_type_hints(handler, include_extras=True)
        parameters = inspect.signature(handler).parameters
        self.name = handler.__name__
        self.summary = inspect.getdoc(handler) or ""
        self.handler, self.methods, self.paths = handler, methods, paths
        self.scopes = scopes
        """What a token must open, one of these; none where everybody may."""
        self.responses = {200: hints["return"]} if responses is None else responses
        """Responses by status: a type that is sent as JSON, or the media type of bytes."""
        self.errors = errors or {}
        """Errors by status: when they are sent, and the type of their JSON if it is not the usual one."""
        self.accepts = accepts or ({JSON: hints["body"]} if "body" in hints else {})
        """Accepted bodies by media type: the type of the JSON, several if it has several forms, or None for bytes."""
        self.headers = headers or {}
        """Headers of a success, with what they say."""
        self.for_devices = for_devices
        """Whether web pages of the allowed origins may use it."""
        self.at_intake = at_intake or is_page
        """Whether it is answered in the process that takes reports: short work, and nothing that analysts ask for."""
        self.is_page = is_page
        """Whether it is for people: no part of the OpenAPI document, and not logged."""
        self.is_stream = is_stream
        """Whether its response goes on until one side ends it."""
        self.is_shared = is_shared
        """Whether its response is the same for everybody, and may be a second old."""
        self.is_probe = is_probe
        """Whether it is asked again and again by programs, so that only a change of status is logged."""
        self.is_gateway = is_gateway
        """Whether it opens sealed requests: nested ones are refused."""
        self.counts_refusals = counts_refusals
        """Whether a refusal is counted among those of reports."""
        self.page_headers = page_headers
        """Headers of the page that it shows, beyond and instead of those of every response."""
        self.path_parameters = {name: hints[name] for path in paths for name in _PARAMETER.findall(path)}
        self.query = tuple(
            QueryParameter(name, _without_none(hints[name]), parameter.default)
            for name, parameter in parameters.items()
            if name not in (*_CONTEXT, "body", *self.path_parameters)
        )
        self._status = min(self.responses)
        self._media_types = tuple(self.accepts)
        self._decoder = msgspec.json.Decoder(hints["body"]) if "body" in hints else None
        self._max_bytes = max_bytes
        self._context = tuple(name for name in _CONTEXT if name in parameters)

    async def respond(self, request: Request) -> Sendable:
        """Admit, read and check what was sent, and call the handler; without the scope nothing else is reached."""
        if self.scopes:
            request.token = await request.service.admit(request, self.scopes)
        arguments: dict[str, Any] = {**request.path_parameters}
        for name in self._context:
            arguments[name] = request if name == "request" else getattr(request, name)
        if self.query:
            arguments |= self._read_query(request.scope["query_string"])
        if self._media_types:
            request.check_media_type(self._media_types)
        if self._decoder is not None:
            settings = request.service.settings
            body = await request.read(self._max_bytes or settings.max_body_bytes, settings.body_seconds)
            arguments["body"] = decode_json(body, self._decoder)
        result = await self.handler(**arguments)
        return json_response(result, self._status) if isinstance(result, msgspec.Struct) else result

    def _read_query(self, query_string: bytes) -> dict[str, Any]:
        known = {parameter.name: parameter for parameter in self.query}
        values = {parameter.name: parameter.default for parameter in self.query if not parameter.is_required}
        given: dict[str, list[str]] = {}
        for name, text in parse_qsl(query_string.decode("latin-1"), keep_blank_values=True):
            given.setdefault(name, []).append(text)
        if any(
            name not in known or (len(texts) > 1 and not known[name].is_repeatable) for name, texts in given.items()
        ):
            repeated = "".join(f" (but {parameter.name})" for parameter in self.query if parameter.is_repeatable)
            message = f"the parameters here are {', '.join(known)}, each at most once{repeated}"
            raise Refusal(400, "invalid_parameter", message)
        missing = next(
            (parameter for parameter in self.query if parameter.is_required and parameter.name not in given), None
        )
        if missing is not None:
            message = f"{missing.name} is missing: it must be {describe(missing.type)}"
            raise Refusal(400, "invalid_parameter", message, field=missing.name)
        return values | {name: known[name].read(texts) for name, texts in given.items()}


def _without_none(hint: Any) -> Any:
    """The type of a parameter that may be left out; `null` is none of its values."""
    options = get_args(hint)
    return options[0] if len(options) == 2 and options[1] is type(None) else hint


def route(methods: str, *paths: str, **about: Any) -> Callable[[Handler], Route]:
    """Make a route of a handler; `about` is as `Route` takes it."""
    return lambda handler: Route(handler, tuple(methods.split()), paths, **about)


class _Node:
    """One part of a path, and what may follow it."""

    __slots__ = ("next", "parameter", "routes", "template")

    def __init__(self) -> None:
        self.next: dict[str, _Node] = {}
        self.parameter: tuple[str, _Node] | None = None
        self.template = ""
        self.routes: dict[str, Route] = {}


@final
class Router:
    """A map from paths to the routes of their templates; empty parts of a path, as of a final slash, do not matter."""

    def __init__(self, routes: Iterable[Route]):
        self._root = _Node()
        for route in routes:
            for path in route.paths:
                node = self._root
                for part in filter(None, path.split("/")):
                    if part[0] == "{":
                        node.parameter = node.parameter or (part[1:-1], _Node())
                        node = node.parameter[1]
                    else:
                        node = node.next.setdefault(part, _Node())
                node.template = path
                node.routes |= dict.fromkeys(route.methods, route)

    def find(self, path: str) -> tuple[str, dict[str, Route], dict[str, str]]:
        """The template, its routes by method, and the path's parameters; empty where there is nothing."""
        node, parameters = self._root, {}
        for part in path.split("/"):
            if not part:
                continue
            inner = node.next.get(part)
            if inner is None:
                if node.parameter is None:
                    return "", {}, {}
                name, inner = node.parameter
                parameters[name] = part
            node = inner
        return node.template, node.routes, parameters


Page = Annotated[int, Meta(ge=1, le=2**53, description="number of the page, from 1")]


def check_page(page: int, n: int, size: int) -> int:
    """The number of pages of `size`, at least one; a refusal that names the last page if `page` is beyond it.

    Examples
    --------
    >>> check_page(1, 0, 1000), check_page(2, 1001, 1000)
    (1, 2)
    """
    pages = max(1, -(-n // size))
    if page > pages:
        message = f"page {page:,} does not exist: the last of these pages, of {size:,} each, is page {pages:,}"
        raise Refusal(404, "no_such_page", message, field="page")
    return pages
