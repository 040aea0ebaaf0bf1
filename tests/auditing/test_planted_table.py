"""Faults at deployed sizes and in what a device may remember are found, and the page of them is up to date."""

from __future__ import annotations

from pathlib import Path

import pytest

from auditing.planted import FAULTS, PlantedFault
from auditing.planted.in_python import PYTHON

PAGE = Path(__file__).parents[2] / "docs" / "contributors" / "audit_faults.md"
SOME = ("a value that comes back after another is told", "the number -0.0 is told")


def found(fault: PlantedFault) -> None:
    assert fault.found_by()


@pytest.mark.parametrize("fault", [fault for fault in PYTHON if fault.name in SOME], ids=lambda fault: fault.name)
def test_some_are_found(fault: PlantedFault) -> None:
    found(fault)


@pytest.mark.slow
@pytest.mark.parametrize(
    "fault",
    [fault for fault in PYTHON if fault.name not in SOME and not fault.long and not fault.missed],
    ids=lambda fault: fault.name,
)
def test_all_are_found(fault: PlantedFault) -> None:
    found(fault)


def test_the_page_is_of_these_faults() -> None:
    """`tools/make_audit_faults.py` writes it: what it found, and what it did not find, with the reason."""
    lines = [line.split(" | ") for line in PAGE.read_text().splitlines() if line.startswith("| ")][1:]
    assert [(name[2:], language) for name, language, *_ in lines] == [(f.name, f.language) for f in FAULTS]
    for (*_, check), fault in zip(lines, FAULTS, strict=True):
        assert check == (f"**not found**: {fault.missed} |" if fault.missed else check)
        assert check.startswith("**not found**") is bool(fault.missed)
