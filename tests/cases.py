"""Many small cases in one test, where pytest's own work for each would take longer than the case itself."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

__all__ = ["each"]

LONGEST = 200
"""Characters of a case that are shown."""


def each(names: str | tuple[str, ...], cases: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Like `pytest.mark.parametrize`, in a loop inside one test; a failure names its case.

    Cases share the test's fixtures: one that needs its own, or takes long, is a test of its own.
    """
    asked = (names,) if isinstance(names, str) else names
    listed = list(cases)
    assert listed

    def over(test: Callable[..., None]) -> Callable[..., None]:
        @wraps(test)
        def every(**given: Any) -> None:
            for number, case in enumerate(listed):
                arguments = dict(zip(asked, case if len(asked) > 1 else (case,), strict=True))
                try:
                    test(**given, **arguments)
                except BaseException as error:
                    error.add_note(f"in case {number} of {', '.join(asked)}: {ascii(case)[:LONGEST]}")
                    raise

        signature = inspect.signature(test)
        left = [one for name, one in signature.parameters.items() if name not in asked]
        assert len(left) + len(asked) == len(signature.parameters), f"{test.__name__} has no argument of that name"
        every.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return every

    return over
