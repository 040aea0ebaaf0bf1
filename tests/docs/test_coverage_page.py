"""The page of measured intervals is what its script makes of the figures beside it, and all was as expected."""

from __future__ import annotations

import json

import make_coverage_page


def test_the_page_follows_from_the_figures() -> None:
    found = json.loads(make_coverage_page.MEASURED.read_text())
    cases = json.loads(make_coverage_page.CASES.read_text())
    assert make_coverage_page.PAGE.read_text() == make_coverage_page.page(found, cases)
    assert all(check["holds"] for check in found["checks"])
