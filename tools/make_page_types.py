"""Write clients/pages/src/parts/api_types.ts, the types of the service's JSON, from its OpenAPI document.

Run `npm run types` in clients/pages. A test keeps the file equal to what this writes. openapi-typescript would do the
same, but needs the compiler API of TypeScript 5, which the TypeScript 7 that checks the pages does not have.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from sottovoce.collector.app import ROUTES
from sottovoce.service.http.openapi import openapi_document

FILE = Path(__file__).resolve().parent.parent / "clients" / "pages" / "src" / "parts" / "api_types.ts"

HEADER = "/** The service's JSON, from its OpenAPI document: run `npm run types` to write this file again. */\n"

_NAMES = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}


def types() -> str:
    """The whole file."""
    schemas = openapi_document(ROUTES)["components"]["schemas"]
    return "\n".join([HEADER, *(_interface(name, schema) for name, schema in sorted(schemas.items()))])


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
    FILE.write_text(types(), encoding="utf-8")
    sys.stdout.write(f"wrote {FILE.name}\n")
