"""Write docs/http/, the reference of the service's HTTP, from the OpenAPI document it serves.

Run `python tools/make_http_reference.py`. A test keeps the pages equal to what this writes.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from http_errors import BODIES, ERRORS, SEALED, VERDICTS, Code
from sottovoce.collector.api.admission import SCOPES
from sottovoce.collector.app import ROUTES
from sottovoce.service.http.application import SECURITY_HEADERS
from sottovoce.service.http.openapi import openapi_document

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "http"

SUBJECTS = {
    "devices": (
        "For devices and relays",
        "Addresses that need no token: anybody may read and send. [Relays](../relay.md) send sealed reports.",
    ),
    "surveys": ("For analysts: asking", "Planning, publishing, asking and ending surveys."),
    "results": (
        "For analysts: results",
        "What the reports say so far, as numbers, tables, curves and files; also by period, and changes.",
    ),
    "operators": ("For operators and the dashboard", "Tokens, sessions, the state of the service."),
}
"""The pages of addresses in their order: the title and what is there."""

INTRODUCTION = """\
# HTTP

Every address of the [collector](../collector.md). These pages are made from the OpenAPI document at `/openapi.json` by
`tools/make_http_reference.py`, and a test keeps the two equal. The bytes inside bodies are in the
[wire format](../contributors/wire_format/transport.md).

Everything is JSON in UTF-8 unless a media type is named. Bodies with a `Content-Encoding` are refused. So are unknown
fields of a body and, where an address has query parameters, unknown ones.

**Devices** need no token and are anonymous. **Analysts** send `Authorization: Bearer sv_...`; `/metrics` needs a token
too. A token that lacks the scope gets 403, one that is unknown, revoked or expired 401, before the body is read. The
dashboard keeps its token in a cookie; the rules for it, and the addresses of the pages, are in
[In the browser](../pages.md).
"""

ERROR_SHAPE = """\
# When something is refused

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
Each sealed message of a [batch](devices.md#post-v1obliviousbatch) has its own verdict too, and the status is 200
whether or not one is accepted: a message is refused for what is said of reports and their bodies above, or for these
reasons. A status other than 200 refuses the whole batch, and nothing was acknowledged.
"""

HEADERS = """\
## Headers of every answer

| header | value |
|---|---|
{rows}

`Cache-Control` is `no-store`, but for the keys (10 seconds) and attachments (for ever: they are named by their
digest). [Pages and their files](../pages.md) have headers of their own. With [`allow_origins`](../settings.md),
addresses for devices also have CORS's headers; those for analysts never.

An answer with an `ETag` need not be fetched twice: send the value back in `If-None-Match`, and while the body would be
the same the status is 304, without a body. Every page of an estimate has an `ETag` of its own. Between two pages more
reports may be counted: pages with the same `n_reports` belong together.
"""


_WORDS = {"string": "text", "integer": "whole number", "boolean": "true or false"}


OBJECTS = """\
## Objects of several pages

Objects that only one page's addresses use are on that page.
"""


def pages() -> dict[Path, str]:
    """Every page of the folder."""
    told = openapi_document(ROUTES)
    schemas = told["components"]["schemas"]
    groups: dict[str, list[tuple[str, str, Any]]] = {subject: [] for subject in SUBJECTS}
    for path, methods in told["paths"].items():
        for method, operation in methods.items():
            groups[subject_of(method.upper(), path, "security" in operation)].append((method.upper(), path, operation))
    homes = _homes({subject: [one for *_, one in group] for subject, group in groups.items()}, schemas)
    shared = {name: schema for name, schema in schemas.items() if homes[name] == "index"}
    made = {"index": _index(groups, shared)}
    for subject, group in groups.items():
        title, lead = SUBJECTS[subject]
        own = {name: schema for name, schema in schemas.items() if homes[name] == subject}
        parts = [f"# {title}\n\n{lead}\n", *(_operation(*one) for one in group)]
        made[subject] = "\n".join([*parts, *([f"## Objects\n\n{_objects(own)}"] if own else [])])
    made["refusals"] = _errors()
    return {FOLDER / f"{name}.md": _linked(text, name, homes).rstrip() + "\n" for name, text in made.items()}


def subject_of(method: str, path: str, with_token: bool) -> str:
    """The page that an address is on."""
    if not path.startswith("/v1/") or path.startswith(("/v1/session", "/v1/tokens", "/v1/log-level")):
        return "operators"
    if not with_token or path.startswith("/v1/oblivious"):
        return "devices"
    return "results" if method == "GET" or path.endswith(("/words", "/weighted")) else "surveys"


def _index(groups: dict[str, list[tuple[str, str, Any]]], shared: dict[str, Any]) -> str:
    """The first page: what holds everywhere, and every address with its page."""
    headers = HEADERS.format(rows="\n".join(f"| `{name}` | `{value}` |" for name, value in SECURITY_HEADERS.items()))
    rows = [
        (f"[`{method} {path}`]({subject}.md#{_anchor(f'{method} {path}')})", operation["summary"])
        for subject, group in groups.items()
        for method, path, operation in group
    ]
    listed = "\n".join(["## Addresses", "", *_table(("address", "what it does"), rows), ""])
    others = "Errors have [a page of their own](refusals.md).\n"
    tree = "\n".join(["```{toctree}", ":hidden:", "", *groups, "refusals", "```"])
    return "\n".join([INTRODUCTION, _scopes(), listed, others, headers, OBJECTS, _objects(shared), tree])


def _anchor(title: str) -> str:
    """What readers of Markdown make of a heading."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def _homes(operations: dict[str, list[Any]], schemas: dict[str, Any]) -> dict[str, str]:
    """For every object the one page whose addresses use it, or that of shared objects."""
    used = {subject: _reached(told, schemas) for subject, told in operations.items()}
    by_name = {name: [subject for subject, names in used.items() if name in names] for name in schemas}
    return {name: subjects[0] if len(subjects) == 1 else "index" for name, subjects in by_name.items()}


def _reached(told: Any, schemas: dict[str, Any]) -> set[str]:
    """Names of the objects that something refers to, and of those that these refer to."""
    found: set[str] = set()
    fresh = _referred(told)
    while fresh:
        found |= fresh
        fresh = {name for one in fresh for name in _referred(schemas[one])} - found
    return found


def _referred(told: Any) -> set[str]:
    return set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(told)))


def _linked(text: str, page: str, homes: dict[str, str]) -> str:
    """The text with its links to objects leading to the pages that these are on."""

    def link(found: re.Match[str]) -> str:
        home = homes[found[1]]
        return f"[{found[1]}]({'' if home == page else f'{home}.md'}#{found[1].lower()})"

    return re.sub(r"\[(\w+)\]\(object:\)", link, text)


def _scopes() -> str:
    rows = "\n".join(f"| `{scope}` | {meaning} |" for scope, meaning in SCOPES.items())
    return f"| scope | opens |\n|---|---|\n{rows}\n"


def _operation(method: str, path: str, told: dict[str, Any]) -> str:
    lines = [f"## {method} {path}", "", told["summary"]]
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
    lines = []
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
        return f"[{schema['$ref'].rpartition('/')[2]}](object:)"
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
    FOLDER.mkdir(exist_ok=True)
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
    sys.stdout.write(f"wrote the pages of {FOLDER.name}\n")
