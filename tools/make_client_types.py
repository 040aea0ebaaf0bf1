"""Write api_types.ts of both clients, the types of the service's JSON, from its OpenAPI document; and kind_names.ts.

The device client has the bodies of the addresses that devices use, at a collector and at a relay; the pages have the
others. Run `npm run types` in clients/pages. A test keeps the files equal to what this writes. openapi-typescript would
do the same, but needs the compiler API of TypeScript 5, which the TypeScript 7 that checks the clients does not have.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sottovoce.collector.app import ROUTES
from sottovoce.questions.registry import QUESTIONS
from sottovoce.relay.api import RELAY_ROUTES
from sottovoce.service.http.openapi import openapi_document
from sottovoce.service.http.route import Route
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.survey import Tracking

CLIENTS = Path(__file__).resolve().parent.parent / "clients"
DEVICE_FILE = CLIENTS / "js" / "src" / "core" / "api_types.ts"
NAMES_FILE = CLIENTS / "pages" / "src" / "questions" / "kind_names.ts"
PAGES_FILE = CLIENTS / "pages" / "src" / "parts" / "api_types.ts"

_FROM_DEVICES = '"../../../js/src/core/api_types.js"'

_HEADER = (
    "/** The service's JSON{part}, from its OpenAPI document: run `npm run types` in clients/pages to write this file "
    "again. */"
)

_NAMES = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}


def files() -> dict[Path, str]:
    """What each file holds."""
    all_bodies = _schemas(ROUTES)
    of_devices = _schemas([route for route in (*ROUTES, *RELAY_ROUTES) if route.for_devices])
    of_pages = {name: schema for name, schema in all_bodies.items() if name not in of_devices}
    shared = sorted(name for name in of_devices if f'/{name}"' in json.dumps(of_pages))
    first = [
        _HEADER.format(part=" that devices do not use"),
        *([f"import type {{ {', '.join(shared)} }} from {_FROM_DEVICES};"] if shared else []),
        f"export type * from {_FROM_DEVICES};",
    ]
    return {
        DEVICE_FILE: _text([_HEADER.format(part=" that devices use")], of_devices),
        PAGES_FILE: _text(first, of_pages),
        NAMES_FILE: _kind_names(),
    }


def _kind_names() -> str:
    """What pages call every kind, in a person's words."""
    names = [f'  {kind.kind}: "{kind.called}",' for kind in (*QUESTIONS.values(), Tracking, Panel)]
    return "\n".join(
        [
            "/** What a kind is called on pages: run `npm run types` in clients/pages to write this file again. */",
            "export const KIND_NAMES: Readonly<Record<string, string>> = {",
            *names,
            "};",
            "",
        ]
    )


def _schemas(routes: Iterable[Route]) -> dict[str, Any]:
    return dict(openapi_document(routes)["components"]["schemas"])


def _text(first: list[str], schemas: dict[str, Any]) -> str:
    return "\n".join([*first, "", *(_interface(name, schema) for name, schema in sorted(schemas.items()))])


def _interface(name: str, schema: dict[str, Any]) -> str:
    required = set(schema.get("required", ()))
    lines = [*_comment(schema, ""), f"export interface {name} {{"]
    for field, inner in schema["properties"].items():
        lines += [*_comment(inner, "  "), f"  {field}{'' if field in required else '?'}: {_type(inner)};"]
    return "\n".join([*lines, "}", ""])


def _comment(schema: dict[str, Any], indent: str) -> list[str]:
    return [f"{indent}/** {' '.join(schema['description'].split())} */"] if "description" in schema else []


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(_type(one) for one in schema["anyOf"]))
    if "enum" in schema:
        return " | ".join(json.dumps(word) for word in schema["enum"])
    match schema.get("type"):
        case "array":
            item = _type(schema["items"])
            return f"({item})[]" if " | " in item else f"{item}[]"
        case "object":
            inner = schema.get("additionalProperties")
            return f"Record<string, {_type(inner) if isinstance(inner, dict) else 'unknown'}>"
        case kind:
            return _NAMES.get(str(kind), "unknown")


if __name__ == "__main__":
    for path, text in files().items():
        path.write_text(text, encoding="utf-8")
        sys.stdout.write(f"wrote {path.relative_to(CLIENTS)}\n")
