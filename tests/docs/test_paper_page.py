"""The page on the paper: its names can be imported, its tests are there, its commands parse, its verdicts are three."""

from __future__ import annotations

import re
from pkgutil import resolve_name

import pytest

from docs.test_coverage import check_command
from document import ROOT, table

ROWS = table((ROOT / "docs" / "paper.md").read_text(encoding="utf-8"))
STATED = (
    *("Definition 2.1", "Lemma 2.2", "Corollary 2.3", "Theorem 3.1", "Theorem 3.2", "Theorem 3.3", "Lemma 3.5"),
    *("Lemma 3.6", "Theorem 3.4", "Fact 4.1", "Theorem 4.2", "Theorem 5.1", "Theorem 5.2", "Table 1"),
    *(
        "Algorithms 1 and 2",
        "Algorithms 3 and 4",
        "Algorithm 5",
        "Algorithm 6",
        "Section 2",
        "Section 3.3",
        "Section 4",
    ),
)
VERDICTS = ("**Holds", "**Printed wrongly", "**Not deployable")
MARKED = re.compile(r"`([^`]+)`")


def marked(column: int) -> list[str]:
    """What stands between backticks in one column, each once."""
    return sorted({name for row in ROWS for name in MARKED.findall(row[column])})


def test_every_statement_has_one_row_with_a_verdict() -> None:
    text = "\n".join(row[0].partition(":")[0] for row in ROWS)
    assert [name for name in STATED if len(re.findall(rf"{re.escape(name)}\b", text)) != 1] == []
    assert 15 <= len(ROWS) <= 20
    assert [row[0] for row in ROWS if not row[4].startswith(VERDICTS)] == []
    assert [row[0] for row in ROWS for cell in row[1:4] if not MARKED.search(cell)] == []


@pytest.mark.parametrize("name", marked(1))
def test_a_name_can_be_imported(name: str) -> None:
    resolve_name(name)


@pytest.mark.parametrize("name", [name for name in marked(4) if "." in name])
def test_a_replacement_can_be_deployed(name: str) -> None:
    assert resolve_name(name).deployable


@pytest.mark.parametrize("path", marked(2))
def test_a_test_is_there(path: str) -> None:
    assert (ROOT / path).is_file()


@pytest.mark.parametrize("command", marked(3))
def test_a_command_is_known(command: str) -> None:
    check_command(command)
