"""The vectors for expressions, answered by a second evaluator: plain Python values, one record at a time."""

from __future__ import annotations

import importlib.util
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from cases import each
from expression_oracle import answer, kind
from sottovoce.core.errors import QueryError
from sottovoce.domain import Domain, domain_from_statement
from sottovoce.expressions import Query, query
from sottovoce.expressions.tree import SHAPES

TOOL = Path(__file__).resolve().parents[2] / "tools" / "vectors_expressions.py"


@cache
def vectors() -> dict[str, Any]:
    spec = importlib.util.spec_from_file_location("vectors_expressions", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    # Through JSON, as another client reads them.
    found: dict[str, Any] = json.loads(json.dumps(module.expression_vectors()))
    return found


def domain_of(case: dict[str, Any]) -> Domain:
    return domain_from_statement(vectors()["domains"][case["domain"]])


def named(case: dict[str, Any]) -> str:
    return f"{case['domain']}-{case['text'][:40]}"


def read(kind: str, written: Any) -> Any:
    if kind == "truth":
        return {True: True, False: False}[written]
    return int(written) if kind == "integer" else float.fromhex(written)


@each("case", vectors()["asked"])
def test_answers(case: dict[str, Any]) -> None:
    domain, expected = domain_of(case), [read(case["kind"], written) for written in case["answers"]]
    found = [answer(case["tree"], domain, int(record)) for record in case["records"]]
    # As text, so that even the sign of a zero counts.
    assert list(map(repr, found)) == list(map(repr, expected))
    assert case["kind"] == kind(case["tree"], domain)
    assert read(case["kind"], case["low"]) <= min(expected)
    assert max(expected) <= read(case["kind"], case["high"])
    assert query(case["text"]).to_json() == Query.from_tree(case["tree"]).to_json() == case["canonical"]


@each("case", vectors()["goes_wrong"])
def test_refusals(case: dict[str, Any]) -> None:
    with pytest.raises(QueryError):
        Query.from_tree(case["tree"]).check(domain_of(case))


@each("case", vectors()["unreadable"])
def test_unreadable(case: dict[str, Any]) -> None:
    with pytest.raises(QueryError):
        Query.from_json(case["text"])


def operations(tree: Any) -> set[str]:
    if not isinstance(tree, list) or not tree:
        return set()
    own = {tree[0]} if isinstance(tree[0], str) else set()
    return own.union(*map(operations, tree))


def test_every_operation_and_every_kind_occurs() -> None:
    asked = vectors()["asked"]
    assert set(SHAPES) <= set().union(*(operations(case["tree"]) for case in asked))
    assert {case["kind"] for case in asked} == {"integer", "real", "truth"}
