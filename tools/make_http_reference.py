"""Write docs/http.md, the reference of the service's HTTP, from the OpenAPI document it serves.

Run `python tools/make_http_reference.py`. A test keeps the page equal to what this writes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from http_errors import BODIES, ERRORS, SEALED, VERDICTS, Code
from sottovoce.collector.api.openapi import openapi_document
from sottovoce.collector.app import ROUTES, SECURITY_HEADERS
from sottovoce.collector.tokens import SCOPES

PAGE = Path(__file__).resolve().parent.parent / "docs" / "http.md"

INTRODUCTION = """\
# HTTP

Every address of the [collector](collector.md). This page is made from the OpenAPI document at `/openapi.json` by
`tools/make_http_reference.py`, and a test keeps the two equal. The bytes inside bodies are in the
[wire format](wire_format.md#between-devices-and-the-collector).

Everything is JSON in UTF-8 unless a media type is named. Bodies with a `Content-Encoding` are refused. So are unknown
fields of a body and, where an address has query parameters, unknown ones.

**Devices** need no token and are anonymous. **Analysts** send `Authorization: Bearer sv_...`; `/metrics` needs a token
too. A token that lacks the scope gets 403, one that is unknown or revoked 401, before the body is read. The dashboard
keeps its token in a cookie; the rules for it, and the addresses of the pages, are in [In the browser](pages.md).
"""

ERROR_SHAPE = """\
## When something is refused

All errors have one shape:

```json
{"error": {"code": "too_few_reports", "message": "survey 3f9a... has 12 counted reports, ...", "field": null}}
```

`code` is for programs and never changes its meaning. `message` is for people: what was wrong, what is allowed, what to
do. `field` names the field or parameter at fault, where there is one. Nothing that was sent is quoted.

Responses of status 429, 503 and 507 have `Retry-After`, in seconds. Nothing of such a request was stored: send **the
same bytes** again, with the same report ids. A report that arrives twice is counted once.
"""

REPORTS = """\
A body of reports can also be refused for these reasons:
"""

EACH = """\
Otherwise every report of a body is checked by itself. If at least one is accepted the status is 200, and `refused`
lists the others by their position in the body, from 0. If none is, it is 422, with `accepted` and `refused` beside
`error`.
"""

RELAYED = """\
Each sealed message of a [batch](#post-v1obliviousbatch) has its own verdict too, and the status is 200 whether or not
one is accepted: a message is refused for what is said of reports and their bodies above, or for these reasons. A status
other than 200 refuses the whole batch, and nothing was acknowledged.
"""

HEADERS = """\
## Headers of every answer

| header | value |
|---|---|
{rows}

`Cache-Control` is `no-store`, but for the keys (10 seconds) and attachments (for ever: they are named by their
digest). [Pages and their files](pages.md) have headers of their own. With [`allow_origins`](settings.md), addresses for
devices also have CORS's headers; those for analysts never.

An answer with an `ETag` need not be fetched twice: send the value back in `If-None-Match`, and while the body would be
the same the status is 304, without a body. Every page of an estimate has an `ETag` of its own. Between two pages more
reports may be counted: pages with the same `n_reports` belong together.
"""


_WORDS = {"string": "text", "integer": "whole number", "boolean": "true or false"}


def page() -> str:
    """The whole page."""
    told = openapi_document(ROUTES)
    headers = HEADERS.format(rows="\n".join(f"| `{name}` | `{value}` |" for name, value in SECURITY_HEADERS.items()))
    parts = [INTRODUCTION, _scopes(), *_operations(told["paths"]), _objects(told["components"]["schemas"])]
    return "\n".join([*parts, _errors(), headers])


def _scopes() -> str:
    rows = "\n".join(f"| `{scope}` | {meaning} |" for scope, meaning in SCOPES.items())
    return f"| scope | opens |\n|---|---|\n{rows}\n"


def _operations(paths: dict[str, Any]) -> Iterator[str]:
    """A section for each kind of reader, a part of it for each address and method."""
    titles = ("For devices", "For relays", "For analysts", "For the dashboard", "For operators")
    groups: dict[str, list[str]] = {title: [] for title in titles}
    for path, methods in paths.items():
        for method, told in methods.items():
            with_version = "For analysts" if "security" in told else "For devices"
            title = with_version if path.startswith("/v1/") else "For operators"
            title = "For the dashboard" if path == "/v1/session" else title
            title = "For relays" if path.startswith("/v1/oblivious") else title
            groups[title].append(_operation(method.upper(), path, told))
    for title, parts in groups.items():
        yield f"## {title}\n"
        yield from parts


def _operation(method: str, path: str, told: dict[str, Any]) -> str:
    lines = [f"### {method} {path}", "", told["summary"]]
    if "description" in told:
        lines += ["", told["description"]]
    if told["parameters"]:
        lines += ["", *_table(("parameter", "where", "value", "meaning"), map(_parameter, told["parameters"]))]
    if "requestBody" in told:
        lines += ["", *_table(("body", "shape"), _contents(told["requestBody"]["content"]))]
    responses = told["responses"]
    made = {"201": "new: ", "200": "existing: "} if "201" in responses and "200" in responses else {}
    answers = [(status, made.get(status, "") + _answer(answer)) for status, answer in sorted(responses.items())]
    return "\n".join([*lines, "", *_table(("status", "answer"), answers), ""])


def _parameter(one: dict[str, Any]) -> tuple[str, ...]:
    schema = one["schema"]
    default = f", default {schema['default']}" if "default" in schema else ""
    return f"`{one['name']}`", one["in"], _type(schema) + default, one["description"]


def _contents(content: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for kind, inner in content.items():
        yield f"`{kind}`", _type(inner["schema"]) or "bytes"


def _answer(answer: dict[str, Any]) -> str:
    ((kind, inner),) = answer["content"].items()
    shape = _type(inner["schema"])
    headers = ", ".join(f"`{name}`" for name in answer.get("headers", {}))
    if inner["schema"].get("$ref", "").endswith("/ErrorBody"):
        return answer["description"] + (f"; with {headers}" if headers else "")
    if inner["schema"].get("$ref", "").endswith("/RefusedUpload"):
        return f"{answer['description']}: {shape}"
    told = shape if kind == "application/json" else f"`{kind}`"
    return told + (f", with {headers}" if headers else "")


def _objects(schemas: dict[str, Any]) -> str:
    lines = ["## Objects", ""]
    for name, schema in sorted(schemas.items()):
        lines += [f"### {name}", "", schema["description"], ""]
        needed = set(schema.get("required", ()))
        rows = [
            (f"`{field}`", _type(inner) + ("" if field in needed else _default(inner)), inner.get("description", ""))
            for field, inner in schema["properties"].items()
        ]
        wordy = any(words for *_, words in rows)
        header = ("field", "value", "meaning") if wordy else ("field", "value")
        lines += [*_table(header, (row if wordy else row[:2] for row in rows)), ""]
    return "\n".join(lines)


def _default(schema: dict[str, Any]) -> str:
    default = schema.get("default")
    shown = "null" if default is None else str(default or "empty")
    return f"; optional ({shown})"


def _type(schema: dict[str, Any]) -> str:
    """A schema in words."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(_type(one) for one in schema["anyOf"])
    if "enum" in schema:
        return " or ".join(f"`{word}`" for word in schema["enum"])
    kind = schema.get("type", "")
    if kind == "array":
        return f"list of {_type(schema['items'])}" + _ends(schema, "Items", " of them")
    if kind == "object":
        inner = schema.get("additionalProperties")
        return f"object, each field {_type(inner)}" if isinstance(inner, dict) and inner else "object"
    shape = f", `{_bare(schema['pattern'])}`" if "pattern" in schema else ""
    return _WORDS.get(kind, kind) + _ends(schema, "Length", " characters") + _range(schema) + shape


def _bare(pattern: str) -> str:
    # A bar ends a cell of a table, even inside code.
    return pattern.removeprefix("^").removesuffix("$").replace("|", "\\|")


def _ends(schema: dict[str, Any], what: str, unit: str) -> str:
    low, high = schema.get(f"min{what}"), schema.get(f"max{what}")
    if low is None and high is None:
        return ""
    if high is None:
        return f" ({low}{unit} or more)"
    return f" ({low}{' to' if low else ''} {high}{unit})".replace("(None ", "(at most ").replace("(0 ", "(at most ")


def _range(schema: dict[str, Any]) -> str:
    if "exclusiveMinimum" in schema:
        return f" between {schema['exclusiveMinimum']} and {schema['exclusiveMaximum']}, both left out"
    if "maximum" in schema:
        return f" from {schema.get('minimum', 0):,} to {schema['maximum']:,}".replace(".0", "")
    return f" from {schema['minimum']}" if schema.get("minimum") else ""


def _errors() -> str:
    codes = ("status", "code", "when", "what to do")
    lines = [ERROR_SHAPE, *_table(codes, map(_code, ERRORS)), "", REPORTS, *_table(codes, map(_code, BODIES)), "", EACH]
    for told, words in ((VERDICTS, ""), (SEALED, RELAYED)):
        lines += [*([words] if words else []), *_table(("code", "when"), ((f"`{c.name}`", c.when) for c in told)), ""]
    return "\n".join(lines)


def _code(one: Code) -> tuple[str, ...]:
    return str(one.status), f"`{one.name}`", one.when, one.remedy


def _table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    return [_row(header), "|" + "---|" * len(header), *map(_row, rows)]


def _row(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"wrote {PAGE.name}\n")
