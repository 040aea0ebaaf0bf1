"""The OpenAPI document, made from what stands beside every handler; an address without it cannot be served."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Any, Final

import msgspec
from litestar.handlers import HTTPRouteHandler

from sottovoce.collector.api.answer import JSON, Answer, json_answer
from sottovoce.collector.api.route import Number, Operation, operation_of, template_of
from sottovoce.collector.failures import RETRY_AFTER, FailureBody
from sottovoce.version import __version__

__all__ = ["document", "openapi_answer"]

_PARAMETER: Final = re.compile(r"\{(\w+):str\}")
_REFERENCE: Final = "#/components/schemas/{name}"

_PATH_PARAMETERS: Final = {
    "survey_id": ("the survey's id: the SHA-256 of its canonical JSON", "^[0-9a-f]{64}$"),
    "digest": ("the SHA-256 of the attachment", "^[0-9a-f]{64}$"),
    "round_number": ("the round's number, from 1", "^[1-9][0-9]{0,8}$"),
    "segment_number": ("the segment's number", "^(0|[1-9][0-9]{0,17})$"),
    "token_id": ("the 8 digits after sv_ in the token", "^[0-9a-f]{8}$"),
}

_EVERYWHERE: Final = {400: "the request is not well formed"}

_ANALYSTS: Final = {
    401: "no token was sent, or one that is unknown or revoked",
    403: "the token lacks the scope",
    503: "the database is away; try again later",
}

_ABOUT: Final = (
    "Takes randomized reports from anonymous devices and gives analysts estimates with intervals. What is refused is "
    "told in one shape: a code for programs, a message for people, and the field that was wrong where there is one. An "
    "unknown address is answered 404 and another method 405, in the same shape."
)


@cache
def openapi_answer(handlers: tuple[HTTPRouteHandler, ...]) -> Answer:
    """The document, ready to be sent; made once."""
    return json_answer(document(handlers))


def document(handlers: Iterable[HTTPRouteHandler]) -> dict[str, Any]:
    """Everything the handlers say of themselves, as OpenAPI 3.1."""
    told = [(handler, operation) for handler in handlers if (operation := operation_of(handler)) is not None]
    types = _types(operation for _, operation in told)
    _, components = msgspec.json.schema_components(types, ref_template=_REFERENCE)
    paths: dict[str, dict[str, Any]] = {}
    for handler, operation in told:
        for path in handler.paths:
            for method in handler.http_methods:
                place = paths.setdefault(template_of(path), {})
                place[method.lower()] = _operation(path, operation)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Sottovoce collector", "version": __version__, "description": _ABOUT},
        "paths": dict(sorted(paths.items())),
        "components": {
            "schemas": components,
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": "an analyst's token, sv_..._..."}
            },
        },
    }


def _types(operations: Iterable[Operation]) -> list[Any]:
    found: list[Any] = [FailureBody]
    for operation in operations:
        contents = (*operation.answers.values(), *operation.bodies.values(), *operation.special.values())
        for content in contents:
            forms = content if isinstance(content, tuple) else (content,)
            found += [form for form in forms if form is not None and not isinstance(form, str)]
    return found


def _operation(path: str, operation: Operation) -> dict[str, Any]:
    refuses = {**_EVERYWHERE, **(_ANALYSTS if operation.scopes else {}), **operation.refuses}
    told: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "parameters": [
            *(_path_parameter(name) for name in _PARAMETER.findall(path)),
            *(_query_parameter(number) for number in operation.query),
        ],
        "responses": {
            **{str(status): _answer(content, operation) for status, content in operation.answers.items()},
            **{str(status): _refusal(status, when, operation) for status, when in sorted(refuses.items())},
        },
    }
    if operation.scopes:
        told["security"] = [{"token": []}]
        told["description"] = f"Needs a token of the scope {' or '.join(operation.scopes)}."
    if operation.bodies:
        contents = {kind: {"schema": _schema(content)} for kind, content in operation.bodies.items()}
        told["requestBody"] = {"required": True, "content": contents}
    return told


def _answer(content: Any, operation: Operation) -> dict[str, Any]:
    kind = content if isinstance(content, str) else JSON
    told: dict[str, Any] = {"description": operation.summary, "content": {kind: {"schema": _schema(content)}}}
    if operation.headers:
        told["headers"] = {
            name: {"description": about, "required": True, "schema": {"type": "string"}}
            for name, about in operation.headers.items()
        }
    return told


def _refusal(status: int, when: str, operation: Operation) -> dict[str, Any]:
    schema = _schema(operation.special.get(status, FailureBody))
    told: dict[str, Any] = {"description": when, "content": {JSON: {"schema": schema}}}
    if status in RETRY_AFTER:
        told["headers"] = {
            "Retry-After": {
                "description": "seconds after which the same may succeed",
                "required": True,
                "schema": {"type": "string", "pattern": "^[0-9]+$"},
            }
        }
    return told


def _schema(content: Any) -> dict[str, Any]:
    if content is None:
        return {}
    if isinstance(content, str):
        return {"type": "string"} if content.startswith("text/") else {}
    if isinstance(content, tuple):
        return {"anyOf": [_schema(form) for form in content]}
    (schema,), _ = msgspec.json.schema_components((content,), ref_template=_REFERENCE)
    return schema


def _path_parameter(name: str) -> dict[str, Any]:
    about, pattern = _PATH_PARAMETERS[name]
    schema = {"type": "string", "pattern": pattern}
    return {"name": name, "in": "path", "required": True, "description": about, "schema": schema}


def _query_parameter(number: Number) -> dict[str, Any]:
    ends = ("exclusiveMinimum", "exclusiveMaximum") if number.open_ends else ("minimum", "maximum")
    schema: dict[str, Any] = {"type": "number", ends[0]: number.low, ends[1]: number.high}
    if number.default is not None:
        schema["default"] = number.default
    return {"name": number.name, "in": "query", "required": False, "description": number.about, "schema": schema}
