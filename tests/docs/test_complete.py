"""Whatever can be named has its place: mechanisms with their proofs, workloads, strategies, populations, packages."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

import make_citation_file
import make_mechanism_tables
from document import folder_text, sections
from mutation.plan import GROUPS
from sottovoce.lab.populations.distributions import NAMED
from sottovoce.lab.populations.real_data import REAL
from sottovoce.mechanisms import MECHANISMS, FiniteMechanism
from sottovoce.strategies import STRATEGIES
from sottovoce.workloads.stack import FAMILIES

DOCS = Path(__file__).parents[2] / "docs"
PACKAGES = (
    *("adaptive", "analyst", "auditing", "device", "disclosure", "domain", "expressions", "lab.fleet", "mechanisms"),
    *("projections", "questions", "strategies", "workloads"),
)
DEPLOYED = [name for name, kind in MECHANISMS.items() if kind.deployable]


def read(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")


THEORY = {page.name: page.read_text(encoding="utf-8") for page in (DOCS / "contributors" / "theory").glob("*.md")}


def own_page(name: str) -> str:
    """The page that opens with a mechanism's name; a family's opens with all of theirs."""
    opening = re.compile(rf"# .+\n\n(`\w+`, )*`{name}`")
    (found,) = (text for text in THEORY.values() if opening.match(text))
    return found


def own_part(name: str) -> str:
    """What a page says of one mechanism: all of it, or on a family's page what is under its own heading or mark.

    `unary_optimized` is the mark **Optimized** under a heading that begins with "Unary".
    """
    text = own_page(name)
    if re.match(rf"# .+\n\n`{name}`(?!, `)", text):
        return text
    marked = re.search(rf"^\* \*\*`{name}`\.\*\*.*?(?=^\* |^\n)", text, re.MULTILINE | re.DOTALL)
    if marked:
        return marked[0] + sections(text)["Proof"]
    first, *others = name.split("_")
    for heading, part in sections(text).items():
        words = heading.lower().split()
        if words[0] == first and all(word in words or f"* **{word.capitalize()}**" in part for word in others):
            return part
    return ""


def proves_privacy(part: str) -> bool:
    """Whether there is a proof of privacy: in a section, in a part without sections, or where it links to."""
    said = re.compile(r"\*Privacy\.\*|\*Proof\.\* Privacy")
    if "\n## " in part:
        found = sections(part).items()
        return any("∎" in text and (heading == "Privacy" or said.search(text)) for heading, text in found)
    linked = re.findall(r"\]\((\w+\.md)#([\w-]+)\)", part)
    elsewhere = [
        text
        for page, anchor in linked
        for heading, text in sections(THEORY[page]).items()
        if heading.lower().replace(" ", "-") == anchor
    ]
    return bool(said.search(part)) or any("worst ratio" in text and "∎" in text for text in elsewhere)


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_mechanism_has_a_statement_a_proof_a_formula_and_a_check(name: str) -> None:
    page, part = own_page(name), own_part(name)
    assert part, "its own part of the family's page"
    assert "\n## Statement\n" in page
    assert "∎" in page
    assert proves_privacy(part)
    assert re.search(r"^ {4}\S|P₁ = .+P₀ = |√q_", part, re.MULTILINE), "its formula"
    checks = "".join(re.findall(r"```python\n(.*?)```", page, re.DOTALL))
    assert re.search(rf'"{name}"|\b{name.title().replace("_", "")}(Strategy)?(\.best)?\(', checks), "code that runs it"


@pytest.mark.parametrize(
    ("part", "proved"),
    [
        ("*Privacy.* The levels are in the ratio e^ε.", True),
        ("Another claim. ∎", False),
        ("\n## Privacy\n\nIt is private.\n\n## Accuracy\n\nIt is accurate. ∎", False),
        ("\n## Privacy\n\nThere are two levels. ∎\n\n## Accuracy\n", True),
        ("See [rounding](rounding.md#thresholds-of-a-unary-encoding).", True),
        ("See [rounding](rounding.md#the-two-draws).", False),
    ],
)
def test_a_proof_of_something_else_is_none_of_privacy(part: str, proved: bool) -> None:
    assert proves_privacy(part) == proved


@pytest.mark.parametrize("name", DEPLOYED)
def test_a_mechanism_can_be_written_anew_from_the_wire_format(name: str) -> None:
    text, own = folder_text("contributors/wire_format"), sections(own_page(name)).get("On the wire")
    parameters = re.search(rf"^\| `{name}` \|(.*)", text, re.MULTILINE)
    if own is not None:
        assert not parameters, "in one place only"
        parameters = re.search(r"^Own parameters: (.*)", own, re.MULTILINE)
        assert re.search(r"^Draws: .*Report: ", own, re.MULTILINE | re.DOTALL), "its draws"
    else:
        assert re.search(rf"^\*\*(\w+\*\*, \*\*)?{name}(\.?\*\*|\*\*, )", text, re.MULTILINE), "its draws"
    assert parameters, "its parameters"
    if issubclass(MECHANISMS[name], FiniteMechanism):
        stated, names = set(re.findall(r"`(\w+)`:", parameters[1])), set(MECHANISMS[name].parameter_names())
        assert stated == names, "its own parameters, written as `name`: from least to most; separated by semicolons"


def test_lists_of_mechanisms_are_up_to_date() -> None:
    for page, text in make_mechanism_tables.texts().items():
        assert page.read_text(encoding="utf-8") == text, "run tools/make_mechanism_tables.py"


def test_a_baseline_is_not_on_the_wire() -> None:
    assert set(MECHANISMS) - set(DEPLOYED) == {"sphere"}
    assert "sphere" not in re.sub(r"```.*?```", "", folder_text("contributors/wire_format"), flags=re.DOTALL)


@pytest.mark.parametrize("kind", FAMILIES)
def test_a_workload_is_explained_and_on_the_wire(kind: str) -> None:
    assert f"\n| `{kind.capitalize()}(" in read("queries.md").split("## The families")[1]
    assert f"\n| `{kind}` |" in read("contributors/wire_format/workloads.md")


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_strategy_is_explained(name: str) -> None:
    page = read("queries.md")
    assert re.search(rf"^{name} +{re.escape(STRATEGIES[name].summary)}$", page, re.MULTILINE), "what it does"
    assert re.search(rf"^\| `{name}` \|", page, re.MULTILINE), "what it costs, in a row of its own"
    assert f"\n| `{name}` |" in read("contributors/wire_format/designs.md")


@pytest.mark.parametrize("name", [*NAMED, *REAL])
def test_a_population_to_try_is_named_where_one_is_chosen(name: str) -> None:
    row = re.search(r"^\| `--population P` \|.*$", read("cli/planning.md"), re.MULTILINE)
    assert row
    assert f"`{name}`" in row[0]


@pytest.mark.parametrize("name", PACKAGES)
def test_what_a_package_offers_is_in_the_reference(name: str) -> None:
    reference = folder_text("api")
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
    mutated = {module for group in GROUPS for module in group.modules}
    assert mutated >= every | {"kernels/finite_field.py"}
    assert [module for module in mutated if not (sources / module).is_file()] == []
    for group in GROUPS:
        for test in group.tests:
            assert (DOCS.parent / "tests" / test.partition("::")[0]).is_file(), test
