"""The projections on the page of engines are what their script makes of the rates beside it."""

from __future__ import annotations

import make_scale_page
from sottovoce.engines.cost import Rates


def test_the_page_follows_from_the_rates() -> None:
    rates = Rates.load(make_scale_page.MEASURED)
    assert rates.spark_rows is not None
    assert make_scale_page.PAGE.read_text() == make_scale_page.page(rates)
