"""The pages and the device client in a real Chromium: reports a second, a chart's update, first paint, bytes.

Every figure is a share of the most it may be, or of the least. What a chart's update costs is read from the browser's
own trace: the time that the page's thread is busy between new data and the frame that shows them.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import sottovoce as sv
from evidence.benchmarks.collector_servers import Target, collector

__all__ = ["run"]

Row = dict[str, object]

HERE = Path(__file__).resolve().parent
MODULES = HERE.parents[1] / "clients" / "pages" / "node_modules"

FLAGS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync")

DRINKS = sv.Survey(sv.shares(["tea", "coffee", "water", "none of these"]), epsilon=1.0, title="What do you drink?")
HADAMARD = sv.Survey(sv.shares(1024), epsilon=1.0, mechanism="hadamard")
CODEBOOK = sv.Survey(sv.vector(1000, 1.0), epsilon=0.5, mechanism="codebook")
"""With 32 candidates."""

CATEGORIES = ["blink.user_timing", "disabled-by-default-devtools.timeline"]
"""Of the browser's trace: our marks, and every task of the page's main thread."""

_UPDATES = 30
_VISITS = 5


def run() -> list[Row]:
    """One row a figure."""
    browser = next((path for name in _names() if (path := shutil.which(name))), None)
    if browser is None or not MODULES.is_dir():
        return [{"name": "browser", "note": "not measured: Chromium or Node's packages are missing; try `make test`"}]
    with (
        tempfile.TemporaryDirectory() as folder,
        collector(DRINKS, Path(folder) / "data") as served,
        _launched(browser) as launched,
    ):
        return [*_randomizers(launched, served), *_charts(launched, served), *_visits(launched, served)]


def _names() -> Iterator[str]:
    if given := os.environ.get("SOTTOVOCE_TEST_BROWSER"):
        yield given
    yield from ("chromium", "chromium-browser", "google-chrome")


@contextmanager
def _launched(path: str) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        browser.close()


def _page(browser: Any, served: Target, script: str) -> Any:
    """The dashboard before anybody has signed in, with its own styles and a script of ours."""
    options = ["--bundle", "--format=iife", "--target=es2022", "--minify", "--log-level=error"]
    command = [str(MODULES / ".bin" / "esbuild"), str(HERE / "pages" / script), *options]
    bundled = subprocess.run(command, capture_output=True, text=True, check=True, env=_with_modules()).stdout
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(f"http://127.0.0.1:{served.port}/")
    page.get_by_role("button", name="Sign in").wait_for()
    page.evaluate(bundled)
    return page


def _with_modules() -> dict[str, str]:
    return os.environ | {"NODE_PATH": str(MODULES)}


def _randomizers(browser: Any, served: Target) -> list[Row]:
    page = _page(browser, served, "randomizers.ts")
    assert '"candidates":32,' in CODEBOOK.to_json()
    each = "([statement, value]) => perReport(statement, value)"
    hadamard = 1000 / page.evaluate(each, [HADAMARD.to_json(), 17])
    codebook = page.evaluate(each, [CODEBOOK.to_json(), [0.01] * 1000])
    page.close()
    return [
        _at_least("hadamard in Chromium, reports/s", hadamard, 200_000, "200,000 a second"),
        _at_most("codebook in Chromium, d = 1000, M = 32, ms a report", codebook, 5, "5 ms"),
    ]


def _charts(browser: Any, served: Target) -> list[Row]:
    rows = []
    for name, call in (("10,000 bars", "updateBars(10000"), ("1,000 points", "updateLines(1000")):
        page = _page(browser, served, "charts.ts")
        page.evaluate(f"() => {call}, 3)")
        browser.start_tracing(page=page, categories=CATEGORIES)
        page.evaluate(f"() => {call}, {_UPDATES})")
        busy = _busy(json.loads(browser.stop_tracing())["traceEvents"])
        page.close()
        rows.append(_at_most(f"update of {name}, ms the page is busy, median", median(busy), 50, "50 ms"))
        rows.append(_at_most(f"update of {name}, ms the page is busy, longest of {len(busy)}", max(busy), 50, "50 ms"))
    return rows


def _busy(events: list[dict[str, Any]]) -> list[float]:
    """Milliseconds that the page's main thread worked in each update."""
    marks = [event for event in events if event["name"] in ("update begins", "update ends")]
    thread = (marks[0]["pid"], marks[0]["tid"])
    tasks = [
        (event["ts"], event["ts"] + event["dur"])
        for event in events
        if event["name"] == "RunTask" and event.get("ph") == "X" and (event["pid"], event["tid"]) == thread
    ]
    if not tasks:
        raise RuntimeError("this browser's trace tells no tasks: its events have other names")
    times = sorted(mark["ts"] for mark in marks)
    spans = list(zip(times[::2], times[1::2], strict=True))
    return [sum(max(0, min(stop, end) - max(start, begin)) for begin, end in tasks) / 1000 for start, stop in spans]


def _visits(browser: Any, served: Target) -> list[Row]:
    dashboard = [_visit(browser, served, "/") for _ in range(_VISITS)]
    survey = [_visit(browser, served, f"/s/{DRINKS.id}") for _ in range(_VISITS)]
    paints = (("dashboard", dashboard), ("survey page", survey))
    return [
        *(
            _at_most(f"{name}'s first contentful paint, ms, median", median(paint for paint, _ in visits), 1000, "1 s")
            for name, visits in paints
        ),
        _at_most("survey page, bytes in all", max(size for _, size in survey), 68_000, "68 kB"),
    ]


def _visit(browser: Any, served: Target, path: str) -> tuple[float, float]:
    """First paint in milliseconds and bytes received, with nothing kept from an earlier visit."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    address = f"http://127.0.0.1:{served.port}"
    context.add_cookies([{"name": "sottovoce_session", "value": served.token, "url": address}])
    page = context.new_page()
    developer = context.new_cdp_session(page)
    received: list[float] = []
    developer.on("Network.loadingFinished", lambda told: received.append(told["encodedDataLength"]))
    developer.send("Network.enable")
    page.goto(address + path)
    page.locator("main h1").first.wait_for()
    paint = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
    page.wait_for_function(paint)
    told = page.evaluate(paint)
    context.close()
    return told, sum(received)


def _at_least(name: str, value: float, least: float, against: str) -> Row:
    ratio = value / least
    return {"name": name, "ratio": ratio, "against": against, "target": ">= 1", "met": ratio >= 1, "measured": value}


def _at_most(name: str, value: float, most: float, against: str) -> Row:
    ratio = value / most
    return {"name": name, "ratio": ratio, "against": against, "target": "<= 1", "met": ratio <= 1, "measured": value}


if __name__ == "__main__":
    for found in run():
        print(found)
