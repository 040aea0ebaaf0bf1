"""A real Chromium before a real collector. Where the machine has none, nothing here is run, and that is said.

Playwright keeps an event loop in the thread it was started from, where nobody else can then run one: it lives no longer
than one file of tests.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from browser import setting
from browser.visitor import Visitor, Visitors
from collector.service import PATIENCE, Service, running

_LACKING = setting.missing()
if unmet := [name for name in setting.required() if name in _LACKING]:
    raise pytest.UsageError(f"SOTTOVOCE_TEST_REQUIRE asks for {', '.join(unmet)}: tools/with_browser tells more")
collect_ignore_glob = ["test_*.py"] if _LACKING else []

_MILLISECONDS = 1000 * PATIENCE

expect.set_options(timeout=_MILLISECONDS)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if _LACKING:
        terminalreporter.write_line(f"NOT RUN: the tests in a real browser; missing: {', '.join(_LACKING)}", red=True)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for a file."""
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(
            executable_path=setting.browser(), args=list(setting.FLAGS), timeout=_MILLISECONDS
        )
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A collector for all tests of a process that do it no harm."""
    with running(tmp_path_factory.mktemp("collector") / "data", **setting.pages()) as started:
        yield started


@pytest.fixture
def visitors(browser: Browser, service: Service) -> Iterator[Visitors]:
    """Makes people with browsers of their own; each is checked when the test ends."""
    made: list[Visitor] = []

    def make(origin: str = "", **options: Any) -> Visitor:
        made.append(Visitor(browser, origin or service.url, **options))
        return made[-1]

    yield make
    for visitor in made:
        visitor.context.close()
    assert [trouble for visitor in made for trouble in visitor.troubles()] == []


@pytest.fixture
def visitor(visitors: Visitors) -> Visitor:
    """One person."""
    return visitors()
