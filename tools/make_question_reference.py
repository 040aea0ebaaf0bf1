"""Brings the tables of docs/questions.md up to date: `python tools/make_question_reference.py`.

A question declares its parameters once, and the command line, HTTP, forms and this page derive theirs from that. A test
keeps the page equal to what this writes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from sottovoce.questions.parameter import Parameter
from sottovoce.questions.registry import QUESTIONS
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.survey import Tracking

PAGE = Path(__file__).resolve().parents[1] / "docs" / "questions.md"

WORDS = "| thing | Python | command | JSON | page |\n|---|---|---|---|---|\n"
KINDS = "| kind | what is to be known | parameters | strategies | projected on |\n|---|---|---|---|---|\n"
PARAMETERS = "| parameter | questions | what it is | allowed | default | example |\n|---|---|---|---|---|---|\n"

_ALLOWED = {
    "text": "one line",
    "missing": "`refuse`, or `as` and a value",
    "fields": "a name and labels, a range, a text or a number for each",
    "labels": "distinct texts",
    "range": "integers, first and last included",
    "attributes": "a name and labels, a range or a text for each",
    "workload": "a set of queries, [see here](queries.md#workloads)",
}


def words() -> str:
    """One row for each thing that a person who asks meets, with its word in every place."""
    rows = [
        (one.summary, f"sv.{one.kind}(...)", f"plan {one.kind}", f'"kind": "{one.kind}"', one.called)
        for one in QUESTIONS.values()
    ]
    rows += [
        (
            "the same question in every period",
            "sv.Tracking(question, ...)",
            "--every week",
            '"calendar"',
            Tracking.called,
        ),
        (Panel.summary, "sv.Panel(...)", f"plan {Panel.kind}", '"panel"', Panel.called),
        ("the privacy parameter", "epsilon=", "--epsilon", '"epsilon"', "Epsilon"),
        ("how many people answer", "people=", "--people", '"people"', "People"),
        ("the error of one answer", "margin=", "--margin", '"margin"', "Margin"),
        ("what missing values count as", "missing=", "--missing", '"missing"', "No answer"),
    ]
    return WORDS + "".join(_row(thing, *(f"`{word}`" for word in places), page) for thing, *places, page in rows)


def kinds() -> str:
    """One row for each question, and one for a panel."""
    rows = [
        (one.kind, one.summary, _names(one.parameters), _coded(one.strategies), one.projected_on)
        for one in QUESTIONS.values()
    ]
    rows.append((Panel.kind, Panel.summary, _names(Panel.parameters), "", ""))
    return KINDS + "".join(_row(f"`{kind}`", *cells) for kind, *cells in rows)


def parameters() -> str:
    """One row for each declaration, with the questions that share it."""
    used: dict[Parameter, list[str]] = {}
    for kind, declared in [*((one.kind, one.parameters) for one in QUESTIONS.values()), (Panel.kind, Panel.parameters)]:
        for one in declared:
            used.setdefault(one, []).append(kind)
    return PARAMETERS + "".join(
        _row(f"`{one.name}`", _coded(kinds), one.help, allowed(one), default(one), f"`{_option(one)}`")
        for one, kinds in used.items()
    )


def allowed(one: Parameter) -> str:
    """The range of a number, or what else may be given."""
    if one.choices:
        return " or ".join(f"`{word}`" for word in one.choices)
    if one.low is None or one.high is None:
        return _ALLOWED[one.kind]
    what = "an integer" if one.kind == "integer" else "a number"
    return f"{what} from {_number(one.low)} to {_number(one.high)}"


def default(one: Parameter) -> str:
    """What holds where it is not given."""
    if one.default is not None:
        return f"`{one.default}`" if isinstance(one.default, str) else f"{one.default:g}"
    if one.optional:
        return "none"
    return f"one way to give the {one.group}" if one.group else "required"


def page() -> str:
    """The page as it should be."""
    text = PAGE.read_text(encoding="utf-8")
    for table in (words(), kinds(), parameters()):
        head = table[: table.index("\n") + 1]
        before, found, after = text.partition(head)
        if not found:
            raise ValueError(f"the page has no table that begins with: {head.strip()}")
        text = before + table + re.sub(r"\A(?:\|.*\n)*", "", after)
    return text


def _row(*cells: str) -> str:
    return re.sub(r"\|  (?=\|)", "| ", f"| {' | '.join(cells)} |") + "\n"


def _coded(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _names(declared: tuple[Parameter, ...]) -> str:
    """Names in the order of their declaration; ways to say the same stand together."""
    groups: dict[str, list[str]] = {}
    for one in declared:
        groups.setdefault(one.group or one.name, []).append(f"`{one.name}`")
    return ", ".join(" or ".join(names) for names in groups.values())


def _option(one: Parameter) -> str:
    return f"--{one.name.replace('_', '-')} {one.example}"


def _number(number: float | int) -> str:
    power = float(number).hex()
    if number >= 2**16 and power.startswith("0x1.0000000000000p"):
        return f"2^{int(power.partition('p')[2])}"
    return f"{number:g}"


def main() -> None:
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
