"""Domains with an order: what prefix sums, ranges and bins are about."""

from __future__ import annotations

from itertools import pairwise

from sottovoce.domain import Domain, LabelDomain, ProductDomain, RangeDomain
from sottovoce.errors import WorkloadError

__all__ = ["falls", "line", "rises"]


def line(domain: object, asked: str) -> Domain:
    """The domain, where its values stand in a line: integers in order, or labels in the order given."""
    values = Domain.of(domain)
    if isinstance(values, ProductDomain):
        raise WorkloadError(
            f"records stand in no line, so {asked} cannot be asked of them; "
            "give a range or a list of labels, or ask Marginals, or Bins of one attribute"
        )
    if not rises(values) and not falls(values) and isinstance(values, LabelDomain) and isinstance(values.names[0], int):
        raise WorkloadError(f"the integer labels are out of order, so {asked} would mislead; sort them first")
    return values


def rises(domain: Domain) -> bool:
    """Whether the values are integers, each above the one before."""
    if isinstance(domain, LabelDomain):
        return all(isinstance(a, int) and isinstance(b, int) and a < b for a, b in pairwise(domain.names))
    return isinstance(domain, RangeDomain) and domain.step > 0


def falls(domain: Domain) -> bool:
    """Whether the values are integers, each below the one before."""
    if isinstance(domain, LabelDomain):
        return all(isinstance(a, int) and isinstance(b, int) and a > b for a, b in pairwise(domain.names))
    return isinstance(domain, RangeDomain) and domain.step < 0
