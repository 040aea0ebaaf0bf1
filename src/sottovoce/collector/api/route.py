"""One address of the service: its handler, and beside it everything that its documentation says of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias
from urllib.parse import parse_qsl

from litestar import Request
from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler, HTTPRouteHandler
from litestar.types import Method

from sottovoce.collector.api.answer import Answer
from sottovoce.collector.api.service import service_of
from sottovoce.collector.failures import Refused
from sottovoce.collector.session_cookie import cookie_token, is_secure, n_cookies
from sottovoce.collector.store.base import TokenRecord
from sottovoce.collector.streams import Stream
from sottovoce.collector.tokens import SCOPES, Scope, allows, check_token

__all__ = [
    "OPERATION",
    "QUIET",
    "SEVERAL_COOKIES",
    "AnyRequest",
    "Handler",
    "Number",
    "Operation",
    "behind_tls",
    "has_several_cookies",
    "numbers",
    "operation_of",
    "require",
    "route",
    "template_of",
    "token_of",
    "unauthorized",
]

AnyRequest: TypeAlias = Request[Any, Any, Any]
Handler: TypeAlias = Callable[[AnyRequest], Awaitable[Answer | Stream]]

OPERATION: Final = "operation"
"""Under which name a handler carries its documentation."""

QUIET: Final = "quiet"
"""Under which name a handler carries that its requests have no line in the log."""

_TOKEN: Final = "sottovoce_token"

_NO_TOKEN: Final = (
    "this needs a token that is known and not revoked: send Authorization: Bearer sv_..., or sign in at /"
)

SEVERAL_COOKIES: Final = (
    "the browser sent several session cookies, of which none counts: another service of this host or domain has put "
    "one there; sign in again, and if that does not help remove the cookies of this host and its domain in the browser"
)


@dataclass(frozen=True)
class Number:
    """A number after the question mark."""

    name: str
    default: float | None
    low: float
    high: float
    about: str
    open_ends: bool = False
    """Whether the ends themselves are not allowed."""

    def read(self, text: str) -> float:
        """The number, or a refusal that says what is allowed."""
        try:
            number = float(text) if text.isascii() and "_" not in text and text == text.strip() else float("nan")
        except ValueError:
            number = float("nan")
        inside = self.low < number < self.high if self.open_ends else self.low <= number <= self.high
        if not inside:
            ends = "between {} and {}" if self.open_ends else "from {} to {}"
            allowed = ends.format(f"{self.low:g}", f"{self.high:g}")
            raise Refused(400, "invalid_parameter", f"{self.name} must be a number {allowed}", field=self.name)
        return number


@dataclass(frozen=True)
class Operation:
    """What the OpenAPI document says of an address and a method."""

    name: str
    summary: str
    answers: Mapping[int, Any]
    """By status: a type that is sent as JSON, or the media type of bytes."""
    refuses: Mapping[int, str] = field(default_factory=dict)
    """By status: when; all in the one error shape unless `special` says otherwise."""
    scopes: tuple[Scope, ...] = ()
    """What a token must open, one of these; none where everybody may."""
    bodies: Mapping[str, Any] = field(default_factory=dict)
    """By media type: the type of the JSON, several where it has several forms, or None for bytes."""
    query: tuple[Number, ...] = ()
    special: Mapping[int, Any] = field(default_factory=dict)
    """Refusals that say more than the one error shape, by status."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Headers of the answer, with what they say."""
    devices: bool = False
    """Whether web pages of the allowed origins may use it."""
    streams: bool = False
    """Whether its answer goes on until one side ends it."""


def route(method: Method, path: str, operation: Operation) -> Callable[[Handler], HTTPRouteHandler]:
    """Make a handler of a function, with its documentation; who lacks the scope does not reach it."""
    return HTTPRouteHandler(
        path,
        http_method=method,
        name=operation.name,
        status_code=min(operation.answers),
        guards=[_admit] if operation.scopes else None,
        include_in_schema=False,
        opt={OPERATION: operation},
    )


def operation_of(handler: BaseRouteHandler) -> Operation | None:
    """The documentation of a handler; None for those the framework adds."""
    found = handler.opt.get(OPERATION)
    return found if isinstance(found, Operation) else None


def template_of(path: str) -> str:
    """A handler's path as the framework, the log and the document write it.

    Examples
    --------
    >>> template_of("/v1/surveys/{survey_id:str}/rounds/{round_number:str}")
    '/v1/surveys/{survey_id}/rounds/{round_number}'
    """
    return path.replace(":str}", "}")


async def _admit(connection: ASGIConnection[Any, Any, Any, Any], handler: BaseRouteHandler) -> None:
    """Refuse whoever has no token that opens this; before the body is read."""
    service = service_of(connection)
    token = _presented(connection)
    record = None if token is None else await service.ask(check_token, service.store, token)
    if record is None:
        raise unauthorized(SEVERAL_COOKIES if has_several_cookies(connection) else _NO_TOKEN)
    require(record, *handler.opt[OPERATION].scopes)
    connection.scope["state"][_TOKEN] = record


def _presented(connection: ASGIConnection[Any, Any, Any, Any]) -> str | None:
    """The token of the Authorization header if there is one, whatever it says; else that of the session cookie."""
    given = connection.headers.get("authorization")
    if given is None:
        scope: Any = connection.scope
        return cookie_token(scope["method"], scope["headers"], secure=behind_tls(connection))
    scheme, _, token = given.partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def behind_tls(connection: ASGIConnection[Any, Any, Any, Any]) -> bool:
    """Whether a browser that asks does so over TLS."""
    return is_secure(connection.scope["scheme"], service_of(connection).settings.public_url)


def has_several_cookies(connection: ASGIConnection[Any, Any, Any, Any]) -> bool:
    """Whether somebody asks without a token of their own and with several session cookies, of which none counts."""
    scope: Any = connection.scope
    return "authorization" not in connection.headers and n_cookies(scope["headers"], secure=behind_tls(connection)) > 1


def unauthorized(message: str, field: str | None = None) -> Refused:
    """The answer to whoever has no token that counts."""
    challenge = {"WWW-Authenticate": 'Bearer realm="sottovoce"'}
    return Refused(401, "unauthorized", message, field=field, headers=challenge)


def token_of(request: AnyRequest) -> TokenRecord:
    """The token that opened an address."""
    found: TokenRecord = request.scope["state"][_TOKEN]
    return found


def require(record: TokenRecord, *scopes: Scope) -> None:
    """Refuse a token that opens none of these."""
    if not any(allows(record, scope) for scope in scopes):
        needed = " or ".join(f"{scope} ({SCOPES[scope]})" for scope in scopes)
        raise Refused(403, "insufficient_scope", f"this needs a token of the scope {needed}; an admin can make you one")


def numbers(request: AnyRequest) -> dict[str, float | None]:
    """The operation's numbers after the question mark, by name; unknown and repeated names are refused."""
    known = {number.name: number for number in request.route_handler.opt[OPERATION].query}
    found: dict[str, float | None] = {}
    text = request.scope["query_string"].decode("latin-1")
    for name, value in parse_qsl(text, keep_blank_values=True):
        if name not in known or name in found:
            raise Refused(
                400, "invalid_parameter", f"the parameters here are {', '.join(known)}, each at most once", field=None
            )
        found[name] = known[name].read(value)
    return {name: found.get(name, number.default) for name, number in known.items()}
