"""Integers in JSON: numbers where every reader keeps them exact, decimal strings beyond that."""

from __future__ import annotations

import re
from typing import Final

from sottovoce.core.errors import DomainError

__all__ = ["EXACT_IN_JSON", "integer_from_json", "integer_to_json"]

EXACT_IN_JSON: Final = 2**53 - 1
"""Largest integer that every JSON reader keeps exact (RFC 8785, Sec. 3.2.2.3)."""

_DECIMAL: Final = re.compile(r"-?[1-9][0-9]{15,19}")


def integer_to_json(integer: int) -> int | str:
    """The canonical JSON form of an integer.

    Examples
    --------
    >>> integer_to_json(2**53 - 1), integer_to_json(2**53)
    (9007199254740991, '9007199254740992')
    """
    return integer if abs(integer) <= EXACT_IN_JSON else str(integer)


def integer_from_json(stated: object) -> int:
    """What `integer_to_json` wrote, up to twenty digits; any other form raises `DomainError`.

    Examples
    --------
    >>> integer_from_json("-9007199254740992")
    -9007199254740992
    >>> integer_from_json("5")
    Traceback (most recent call last):
    sottovoce.core.errors.DomainError: an integer of the survey's domain is not in canonical form: ...
    """
    integer = int(stated) if isinstance(stated, str) and _DECIMAL.fullmatch(stated) else stated
    if type(integer) is not int or type(integer_to_json(integer)) is not type(stated):
        raise DomainError(
            "an integer of the survey's domain is not in canonical form: write a number within "
            f"+-{EXACT_IN_JSON}, and a decimal string beyond"
        )
    return integer
