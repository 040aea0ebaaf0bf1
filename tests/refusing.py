"""How a test says that something is refused: the type of the error and the argument that it blames."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

import pytest

__all__ = ["refuses"]

Refused = TypeVar("Refused", bound=Exception)


@contextmanager
def refuses(
    kind: type[Refused] | tuple[type[Refused], ...], field: str | None
) -> Iterator[pytest.ExceptionInfo[Refused]]:
    """Expect an error of this type that blames this argument, key of JSON or option, or none of them."""
    with pytest.raises(kind) as refusal:
        yield refusal
    assert getattr(refusal.value, "field", None) == field, str(refusal.value)
