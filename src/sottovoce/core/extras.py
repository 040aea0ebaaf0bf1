"""Packages that not every install brings: those of extras, and those that the device install leaves out."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import TracebackType
from typing import Any, Final

from sottovoce.core.errors import MissingExtraError

__all__ = ["LEFT_OUT", "FullInstall", "full_install", "import_pandas"]

LEFT_OUT: Final = ("numba", "llvmlite", "scipy", "array_api_compat")
"""What `pip install sottovoce` brings and `pip install sottovoce-core`, the device install, leaves out."""


class FullInstall:
    """Imports of packages that the device install leaves out; where one is missing, the error says what to install.

    Examples
    --------
    >>> with full_install:
    ...     raise ModuleNotFoundError(name="scipy.special")  # as `from scipy.special import ndtr` does without SciPy
    Traceback (most recent call last):
        ...
    sottovoce.core.errors.MissingExtraError: this needs scipy, which a device install leaves out: pip install sottovoce
    """

    def __enter__(self) -> None:
        """Nothing is looked up beforehand, so an import that succeeds costs no more than before."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, ModuleNotFoundError) and error.name is not None:
            package = error.name.partition(".")[0]
            if package in LEFT_OUT:
                raise MissingExtraError(
                    f"this needs {package}, which a device install leaves out: pip install sottovoce"
                ) from None


full_install: Final = FullInstall()


def import_pandas() -> Any:
    """The pandas module; raises `MissingExtraError`, which says what to install, where it is missing."""
    if find_spec("pandas") is None:
        raise MissingExtraError("to_pandas needs pandas: pip install 'sottovoce[pandas]'")
    return import_module("pandas")
