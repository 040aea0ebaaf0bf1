"""Constants in expressions: texts as indices of their domain, lists as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import ValueOutsideDomainError
from sottovoce.domain import Domain, LabelDomain
from sottovoce.expressions.faults import Path, PlacedError, shown
from sottovoce.expressions.part import Part, as_real, named
from sottovoce.expressions.tree import Tree, value_of

__all__ = ["alternatives", "numbers_array", "text_position"]


def text_position(domain: Domain, text: str, path: Path) -> int:
    """The index of a constant text; refused if it is not in the domain."""
    try:
        return domain.index(text)
    except ValueOutsideDomainError:
        allowed = domain._allowed
        if isinstance(domain, LabelDomain):
            rest = f" and {domain.size - 5} more" if domain.size > 5 else ""
            allowed = ", ".join(shown(name) for name in domain.names[:5]) + rest
        raise PlacedError(
            f"the text {shown(text)} is not in the attribute's domain; allowed: {allowed}", path
        ) from None


def numbers_array(members: Sequence[Tree]) -> NDArray[Any]:
    """Numbers of a list: int64 where all are integers, else float64."""
    values = [value_of(member) for member in members]
    return np.array(values, dtype=np.int64 if all(isinstance(value, int) for value in values) else np.float64)


def alternatives(part: Part, members: Sequence[Tree], path: Path, distinct: bool) -> tuple[Part, NDArray[Any]]:
    """The part and the constants it is compared with, converted to one kind."""
    texts = isinstance(members[0], str)
    if texts != (part.kind == "text"):
        raise PlacedError(f"cannot search for {named(part.kind)} among {'texts' if texts else 'numbers'}", path)
    if part.domain is not None:
        found = [text_position(part.domain, str(member), (*path, i)) for i, member in enumerate(members)]
        listed: NDArray[Any] = np.array(found, dtype=np.int64)
    else:
        listed = numbers_array(members)
        if listed.dtype.kind == "f" or part.kind == "real":
            part, listed = as_real(part), listed.astype(np.float64)
    if distinct and len(np.unique(listed)) < len(listed):
        raise PlacedError("find takes distinct constants; two of these are equal", path)
    return part, listed
