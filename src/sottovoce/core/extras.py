"""Packages that are installed by extras."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from sottovoce.core.errors import MissingExtraError

__all__ = ["import_pandas"]


def import_pandas() -> Any:
    """The pandas module; raises `MissingExtraError`, which says what to install, where it is missing."""
    if find_spec("pandas") is None:
        raise MissingExtraError("to_pandas needs pandas: pip install 'sottovoce[pandas]'")
    return import_module("pandas")
