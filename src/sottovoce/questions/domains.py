"""Parameters that give a domain: a number of values, labels, a range of integers, or named attributes."""

from __future__ import annotations

from typing import Final

from sottovoce.core.limits import MAX_DOMAIN_SIZE
from sottovoce.questions.parameter import Parameter

__all__ = ["DOMAIN_PARAMETERS"]

_GROUP: Final = "values"

DOMAIN_PARAMETERS: Final = (
    Parameter(
        "values", "integer", "number of values, numbered from 0", "40", low=2, high=MAX_DOMAIN_SIZE, group=_GROUP
    ),
    Parameter("labels", "labels", "the values' names", "red,green,blue", group=_GROUP),
    Parameter("range", "range", "all integers from the first to the last", "18..99", group=_GROUP),
    Parameter("attributes", "attributes", "records of named attributes", "age=0..99 country=DE,FR", group=_GROUP),
)
"""Exactly one of these gives a domain; its value is an argument of `Domain.of`."""
