"""What is handed out, built and installed as a stranger would. Where a tool for it is missing, that is said."""

from __future__ import annotations

import shutil

import pytest

from browser import setting

ROOT = setting.ROOT


def _missing() -> list[str]:
    lacking = setting.missing()
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        lacking.append("git")
    return lacking


_LACKING = _missing()
if unmet := [name for name in setting.required() if name in _LACKING]:
    raise pytest.UsageError(f"SOTTOVOCE_TEST_REQUIRE asks for {', '.join(unmet)}: tools/with_browser tells more")
collect_ignore_glob = ["test_dist.py"] if _LACKING else []


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if _LACKING:
        terminalreporter.write_line(f"NOT RUN: the tests of what is handed out; missing: {_LACKING}", red=True)
