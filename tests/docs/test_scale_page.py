"""The page of projections is what its script makes of the rates beside it."""

from __future__ import annotations

import sys
from pathlib import Path

from sottovoce.engines.rates import Rates

ROOT = Path(__file__).parents[2]


def test_the_page_follows_from_the_rates() -> None:
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        import make_scale_page
    finally:
        sys.path.remove(str(ROOT / "tools"))
    rates = Rates.load(make_scale_page.MEASURED)
    assert rates.spark_rows is not None
    assert make_scale_page.PAGE.read_text() == make_scale_page.page(rates)
