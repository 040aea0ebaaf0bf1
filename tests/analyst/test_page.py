"""The documentation's page on live surveys: its blocks run in order, against a real collector and real devices."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from analyst.conftest import counted, devices, send

PAGE = Path(__file__).parents[2] / "docs" / "analyst.md"


def test_the_page(service, collector, monkeypatch, capsys):
    monkeypatch.setenv("SOTTOVOCE_URL", service.url)
    monkeypatch.setenv("SOTTOVOCE_TOKEN", service.token)
    blocks = re.findall(r"^```py\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    connect, read, watch, publish, ask, strategy, export, elsewhere = (
        compile(block, str(PAGE), "exec") for block in blocks
    )
    page: dict[str, object] = {}

    def run(code: object) -> None:
        exec(code, page)  # noqa: S102 (the code is the documentation's own)

    run(connect)
    colours = page["survey"]
    send(service.url, colours, colours.simulate(["red"] * 600 + ["blue"] * 400, seed=1))
    counted(page["live"])
    run(read)
    run(watch)
    run(publish)
    records = {"age": np.arange(12_000) % 100, "country": ["DE", "FR", "FR"] * 4000}
    with devices(service.url, page["people"], records):
        run(ask)
        run(strategy)
    run(export)
    run(elsewhere)
    printed = capsys.readouterr().out
    assert "1000 reports, each counted once" in printed
    assert "is the median age" in printed
    # Half of all people are up to 49. The share up to a value is known to 1.32 / 2 / sqrt(200) = 0.047 from each round,
    # so ages that are six of these away, 28 years, are never taken for the median.
    assert page["median"].value == pytest.approx(49.5, abs=28)
