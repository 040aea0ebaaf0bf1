"""The page for operators knows every metric and every status, and its alerts ask for metrics that exist."""

from __future__ import annotations

import re
from pathlib import Path

from sottovoce.collector.app import ROUTES
from sottovoce.collector.metrics import Metrics
from sottovoce.service.http.openapi import openapi_document

PAGE = Path(__file__).parents[2] / "docs" / "operations.md"


def names() -> set[str]:
    """Metrics by the names under which Prometheus reads them."""
    return {
        f"{family.name}_total" if family.type == "counter" else family.name for family in Metrics().registry.collect()
    }


def section(title: str) -> str:
    return PAGE.read_text(encoding="utf-8").split(f"\n## {title}\n")[1].split("\n## ")[0]


def test_every_metric_is_explained_and_no_other() -> None:
    rows = re.findall(r"^\| `(sottovoce_\w+)` \| (\w+) \|", section("Watch"), re.MULTILINE)
    assert {name for name, _ in rows} == names()
    kinds = {family.name: family.type for family in Metrics().registry.collect()}
    assert {name.removesuffix("_total"): kind for name, kind in rows} == kinds


def test_alerts_ask_for_metrics_that_exist() -> None:
    block = re.search(r"```text\n(up.*?)```", section("Watch"), re.DOTALL)
    assert block
    asked = {name.removesuffix("_bucket") for name in re.findall(r"sottovoce_\w+", block[1])}
    assert asked
    assert asked <= names()


def test_every_status_is_explained() -> None:
    told = openapi_document(ROUTES)["paths"].values()
    sent = {status for methods in told for operation in methods.values() for status in operation["responses"]}
    rows = re.findall(r"^\| ([\d, ]+) \|", section("What a status means"), re.MULTILINE)
    explained = [status for row in rows for status in re.findall(r"\d{3}", row)]
    # More are told for a page's file that has not changed, by the framework, and by what nobody foresaw.
    assert sorted(explained) == sorted(sent | {"304", "405", "500"})
