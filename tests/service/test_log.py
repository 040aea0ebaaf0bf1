"""Lines of the log: for people, for machines, and without anybody's words in them."""

import io
import json
import logging
from collections.abc import Iterator

import pytest

from refusing import refuses
from sottovoce.core.errors import SettingsError
from sottovoce.service.running.log import configure_logging, current_level, log_access, set_level


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    root, ours = logging.getLogger(), logging.getLogger("sottovoce")
    handlers, levels = list(root.handlers), (root.level, ours.level)
    yield
    root.handlers = handlers
    root.setLevel(levels[0])
    ours.setLevel(levels[1])


def test_text() -> None:
    lines = io.StringIO()
    configure_logging("info", "text", lines)
    log_access("GET", "/v1/surveys/{survey_id}", 200, 0.01234)
    said = lines.getvalue()
    assert said.endswith("answered method=GET route=/v1/surveys/{survey_id} status=200 ms=12.3\n")
    assert said[10] == "T"
    assert said[19] == "Z"


def test_json() -> None:
    lines = io.StringIO()
    configure_logging("info", "json", lines)
    log_access("GET", "/healthz", 503, 0.001)
    logging.getLogger("sottovoce.serve").warning("two\nlines and a \x1b[31mcolour")
    first, second = map(json.loads, lines.getvalue().splitlines())
    assert {name: first[name] for name in ("level", "method", "route", "status", "ms")} == {
        "level": "info",
        "method": "GET",
        "route": "/healthz",
        "status": 503,
        "ms": 1.0,
    }
    assert (second["message"], second["logger"]) == ("two\nlines and a \x1b[31mcolour", "sottovoce.serve")


def test_no_line_can_pretend_to_be_another() -> None:
    lines = io.StringIO()
    configure_logging("info", "text", lines)
    logging.getLogger("sottovoce").info("one\n2026-01-01T00:00:00Z info forged\r\x1b[2K")
    _, second = lines.getvalue().splitlines()
    assert second.startswith("    ")
    assert "\x1b" not in second


def test_an_exceptions_words_are_not_logged() -> None:
    lines = io.StringIO()
    configure_logging("info", "text", lines)
    try:
        raise ValueError("somebody's words")
    except ValueError:
        logging.getLogger("sottovoce").exception("it failed")
    assert "it failed (ValueError)" in lines.getvalue()
    assert "somebody" not in lines.getvalue()


def test_levels() -> None:
    lines = io.StringIO()
    configure_logging("warning", "text", lines)
    log_access("GET", "/healthz", 200, 0.0)
    logging.getLogger("sottovoce").info("unheard")
    assert (lines.getvalue(), current_level()) == ("", "warning")
    set_level("debug")
    logging.getLogger("sottovoce").debug("heard")
    logging.getLogger("somebody.else").info("unheard")
    assert ("heard" in lines.getvalue(), "unheard" in lines.getvalue(), current_level()) == (True, False, "debug")
    for level in ("", "loud", "INFO"):
        with refuses(SettingsError, "log_level"):
            set_level(level)
    with refuses(SettingsError, "log_format"):
        configure_logging("info", "xml")


def test_configuring_again_replaces() -> None:
    first, second = io.StringIO(), io.StringIO()
    configure_logging("info", "text", first)
    configure_logging("info", "text", second)
    logging.getLogger("sottovoce").info("once")
    assert (first.getvalue(), second.getvalue().count("once")) == ("", 1)
