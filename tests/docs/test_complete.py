"""Whatever can be named has its place: mechanisms with their proofs, workloads, strategies, populations, packages."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

import make_citation_file
import sottovoce as sv
from mutation.plan import GROUPS
from sottovoce.experiments.distributions import NAMED
from sottovoce.experiments.real_data import REAL
from sottovoce.mechanisms.channel_registry import CHANNELS
from sottovoce.mechanisms.vector_registry import VECTOR_MECHANISMS
from sottovoce.strategies import STRATEGIES
from sottovoce.workloads.statement import _FAMILIES

DOCS = Path(__file__).parents[2] / "docs"
MECHANISMS = [*sv.MECHANISMS, *VECTOR_MECHANISMS, *CHANNELS]
PACKAGES = (
    *("adaptive", "analyst", "audit", "client", "domain", "expressions", "fleet", "mechanisms"),
    *("projections", "strategies", "workloads"),
)
DEPLOYED = [name for name in MECHANISMS if name != "sphere"]


def read(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")


def theory_of(name: str) -> str:
    """The page that begins with a mechanism's name, or states it in a list of its family."""
    pages = [page.read_text(encoding="utf-8") for page in (DOCS / "theory").glob("*.md") if page.stem != "index"]
    own = [
        text
        for text in pages
        if re.search(rf"`{name}`", text.partition("\n## ")[0])
        or re.search(rf"^\* \*\*`{name}`\.\*\*|\n## .+\n\n`{name}`|\n\n`{name}`", text, re.MULTILINE)
    ]
    assert own, f"no page of the theory states {name}"
    return own[0]


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_mechanism_has_a_statement_a_proof_a_formula_and_a_check(name: str) -> None:
    text = theory_of(name)
    assert re.search(r"^## Statement$|\*\*(Claim|Theorem)", text, re.MULTILINE)
    assert "∎" in text
    assert re.search(r"^ {4}\S", text, re.MULTILINE), "a formula"
    assert "```python" in text, "code that checks it"


@pytest.mark.parametrize("name", DEPLOYED)
def test_a_mechanism_can_be_written_anew_from_the_wire_format(name: str) -> None:
    text = read("wire_format.md")
    assert re.search(rf"^\| `{name}` \|", text, re.MULTILINE), "its parameters"
    assert re.search(rf"^\*\*(\w+\*\*, \*\*)?{name}(\.?\*\*|\*\*, )", text, re.MULTILINE), "its draws"


def test_a_baseline_is_not_on_the_wire() -> None:
    assert not VECTOR_MECHANISMS["sphere"].deployable
    assert "sphere" not in read("wire_format.md").split("## Public normals")[0]


@pytest.mark.parametrize("kind", _FAMILIES)
def test_a_workload_is_explained_and_on_the_wire(kind: str) -> None:
    assert f"\n| `{kind.capitalize()}(" in read("workloads.md").split("## The families")[1]
    assert f"\n| `{kind}` |" in read("wire_format.md").split("## Workloads")[1]


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_strategy_is_explained(name: str) -> None:
    assert re.search(rf"\b{name}\b", read("strategies.md"))
    if name != "direct":
        assert f"\n| `{name}` |" in read("wire_format.md").split("## Strategies")[1]


@pytest.mark.parametrize("name", [*NAMED, *REAL])
def test_a_population_to_try_is_named_where_one_is_chosen(name: str) -> None:
    row = re.search(r"^\| `--distribution D` \|.*$", read("cli.md"), re.MULTILINE)
    assert row
    assert f"`{name}`" in row[0]


@pytest.mark.parametrize("name", PACKAGES)
def test_what_a_package_offers_is_in_the_reference(name: str) -> None:
    reference = read("api.md")
    offered = import_module(f"sottovoce.{name}").__all__
    assert [one for one in offered if not re.search(rf"\b{one}\b", reference)] == []


def test_the_citation_file_names_what_every_citation_page_needs_and_what_the_mechanisms_cite() -> None:
    text = make_citation_file.FILE.read_text(encoding="utf-8")
    fields = re.findall(r"^([a-z-]+):", text, re.MULTILINE)
    assert {"cff-version", "message", "title", "authors", "version", "license"} <= set(fields)
    assert text == make_citation_file.text(make_citation_file.head()), "run tools/make_citation_file.py"
    assert set(make_citation_file.entries()) >= {"bassily2019linear", "mckenna2020workload", "duchi2013local"}


def test_every_module_that_privacy_rests_on_is_mutated_and_its_tests_are_there() -> None:
    sources = DOCS.parent / "src" / "sottovoce"
    folders = ("mechanisms", "projections", "randomness")
    every = {f"{folder}/{file.name}" for folder in folders for file in (sources / folder).glob("[!_]*.py")}
    assert {module for group in GROUPS for module in group.modules} == every
    for group in GROUPS:
        for test in group.tests:
            assert (DOCS.parent / "tests" / test.partition("::")[0]).is_file(), test
