"""The OpenAPI document, made from the routes: their signatures, docstrings and errors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from sottovoce.core.version import __version__
from sottovoce.protocol.errors import ErrorBody
from sottovoce.service.http.response import JSON
from sottovoce.service.http.route import QueryParameter, Route
from sottovoce.service.refusal import RETRY_AFTER

__all__ = ["openapi_document"]

_REFERENCE: Final = "#/components/schemas/{name}"

_UNAVAILABLE: Final = {503: "the database is unavailable; try again later"}
_WITH_SURVEY: Final = {404: "the survey does not exist", 410: "the survey has been deleted", **_UNAVAILABLE}
_WITH_QUERY: Final = {400: "a parameter is unknown or out of range"}
_WITH_TOKEN: Final = {
    401: "no token was sent, or one that is unknown, revoked or expired",
    403: "the token lacks the scope",
    **_UNAVAILABLE,
}
_WITH_JSON: Final = {
    400: "the body is not JSON of this shape",
    408: "the body took too long, or was cut off",
    413: "the body is too long",
    415: "the body is not JSON, or compressed",
}
_WITH_BYTES: Final = {
    408: _WITH_JSON[408],
    413: _WITH_JSON[413],
    415: "the body has another media type, or is compressed",
}

_ABOUT: Final = (
    "Accepts randomized reports from anonymous devices and gives analysts estimates with intervals. Errors have one "
    "shape: a code for programs, a message for people, and the field at fault where there is one. An unknown address "
    "gives 404 and another method 405, in the same shape."
)


def openapi_document(
    routes: Iterable[Route], title: str = "Sottovoce collector", about: str = _ABOUT
) -> dict[str, Any]:
    """The document of all routes but the pages, as OpenAPI 3.1."""
    documented = [route for route in routes if not route.is_page]
    _, components = msgspec.json.schema_components([ErrorBody, *_types(documented)], ref_template=_REFERENCE)
    paths: dict[str, dict[str, Any]] = {}
    for route in documented:
        for path in route.paths:
            paths.setdefault(path, {}).update({method.lower(): _operation(route) for method in route.methods})
    token = {"type": "http", "scheme": "bearer", "description": "an analyst's token, sv_..._..."}
    return {
        "openapi": "3.1.0",
        "info": {"title": title, "version": __version__, "description": about},
        "paths": dict(sorted(paths.items())),
        "components": {"schemas": components, "securitySchemes": {"token": token}},
    }


def _types(routes: Iterable[Route]) -> list[Any]:
    contents: list[Any] = []
    for route in routes:
        special = [about[1] for about in route.errors.values() if isinstance(about, tuple)]
        for content in (*route.responses.values(), *route.accepts.values(), *special):
            contents += content if isinstance(content, tuple) else (content,)
    return [content for content in contents if content is not None and not isinstance(content, str)]


def _errors(route: Route) -> dict[int, Any]:
    """The statuses that follow from the route's signature, and those it declares itself, with when they are sent."""
    return dict(
        sorted(
            {
                **(_WITH_SURVEY if "survey_id" in route.path_parameters else {}),
                **(_WITH_QUERY if route.query else {}),
                **(_WITH_TOKEN if route.scopes else {}),
                **((_WITH_JSON if [*route.accepts] == [JSON] else _WITH_BYTES) if route.accepts else {}),
                **route.errors,
            }.items()
        )
    )


def _operation(route: Route) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": route.name,
        "summary": route.summary,
        "parameters": [
            *(_parameter("path", name, hint, required=True) for name, hint in route.path_parameters.items()),
            *(_query_parameter(parameter) for parameter in route.query),
        ],
        "responses": {
            **{str(status): _response(content, route) for status, content in route.responses.items()},
            **{str(status): _error(status, about) for status, about in _errors(route).items()},
        },
    }
    if route.scopes:
        operation["security"] = [{"token": []}]
        operation["description"] = f"Needs a token of the scope {' or '.join(route.scopes)}."
    if route.accepts:
        contents = {kind: {"schema": _schema(content)} for kind, content in route.accepts.items()}
        operation["requestBody"] = {"required": True, "content": contents}
    return operation


def _response(content: Any, route: Route) -> dict[str, Any]:
    kind = content if isinstance(content, str) else JSON
    response: dict[str, Any] = {"description": route.summary, "content": {kind: {"schema": _schema(content)}}}
    if route.headers:
        response["headers"] = {name: _header(about) for name, about in route.headers.items()}
    return response


def _error(status: int, about: Any) -> dict[str, Any]:
    when, kind = about if isinstance(about, tuple) else (about, ErrorBody)
    error: dict[str, Any] = {"description": when, "content": {JSON: {"schema": _schema(kind)}}}
    if status in RETRY_AFTER:
        error["headers"] = {"Retry-After": _header("seconds after which the same may succeed", pattern="^[0-9]+$")}
    return error


def _header(about: str, **schema: str) -> dict[str, Any]:
    return {"description": about, "required": True, "schema": {"type": "string", **schema}}


def _schema(content: Any) -> dict[str, Any]:
    if content is None:
        return {}
    if isinstance(content, str):
        return {"type": "string"} if content.startswith("text/") else {}
    if isinstance(content, tuple):
        return {"anyOf": [_schema(form) for form in content]}
    (schema,), _ = msgspec.json.schema_components((content,), ref_template=_REFERENCE)
    return schema


def _query_parameter(parameter: QueryParameter) -> dict[str, Any]:
    default = None if parameter.is_required else parameter.default
    return _parameter("query", parameter.name, parameter.type, default, required=parameter.is_required)


def _parameter(location: str, name: str, hint: Any, default: Any = None, *, required: bool = False) -> dict[str, Any]:
    schema = _schema(hint)
    about = schema.pop("description")
    if default is not None:
        schema["default"] = default
    return {"name": name, "in": location, "required": required, "description": about, "schema": schema}
