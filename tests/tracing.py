"""Which lines of the package run: for tests that these do not depend on a private value."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import sottovoce

HOME = str(Path(sottovoce.__file__).parent)


def lines_run(call: Callable[[], object]) -> list[tuple[str, int]]:
    """Function and line of everything in the package that runs during a call, in order.

    The garbage collector is kept out: what it calls when it happens to run is nobody's doing.
    """
    run: list[tuple[str, int]] = []

    def note(frame: Any, event: str, argument: object) -> Any:
        if not frame.f_code.co_filename.startswith(HOME):
            return None
        run.append((frame.f_code.co_name, frame.f_lineno))
        return note

    before, collecting = sys.gettrace(), gc.isenabled()
    gc.disable()
    sys.settrace(note)
    try:
        call()
    finally:
        sys.settrace(before)
        if collecting:
            gc.enable()
    return run
