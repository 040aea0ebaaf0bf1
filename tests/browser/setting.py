"""What the tests in a browser need of the machine: a Chromium, Node, and the packages that the pages are built with."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
PAGES: Final = ROOT / "clients" / "pages"
MODULES: Final = PAGES / "node_modules"

FLAGS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
"""No request of the browser's own; no sandbox, which containers and root do not have."""


def browser() -> str | None:
    """The path of a Chromium, if there is one."""
    given = os.environ.get("SOTTOVOCE_TEST_BROWSER", "")
    names = (given, "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    return next((path for name in names if name and (path := shutil.which(name))), None)


def missing() -> list[str]:
    """What is not here, in words; `tools/with_browser` finds or installs it."""
    lacking = []
    if browser() is None:
        lacking.append("browser")
    if shutil.which("node") is None or not MODULES.is_dir():
        lacking.append("node")
    return lacking


def required() -> list[str]:
    """What must be here: named by SOTTOVOCE_TEST_REQUIRE, with commas between."""
    return [name for name in os.environ.get("SOTTOVOCE_TEST_REQUIRE", "").split(",") if name]


def pages() -> dict[str, str]:
    """For a service: other pages than those in the package, when somebody tries some out."""
    return {name: value for name, value in os.environ.items() if name == "SOTTOVOCE_TEST_ASSETS"}
