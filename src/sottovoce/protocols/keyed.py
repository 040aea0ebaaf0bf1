"""Public randomness from a survey's id."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

from sottovoce.randomness.philox import key_of

__all__ = ["keyed"]

Keyed = TypeVar("Keyed")


def keyed(mechanism: Keyed, survey_id: str) -> Keyed:
    """The mechanism with the key that follows from the id, if it uses one.

    The id covers everything else the survey states; so the key is set last, and is no part of the statement.
    """
    if not hasattr(mechanism, "key"):
        return mechanism
    known: Any = mechanism
    found: Keyed = replace(known, key=key_of(bytes.fromhex(survey_id)))
    return found
