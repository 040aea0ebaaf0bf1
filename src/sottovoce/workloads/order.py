"""Ordered domains, which prefix sums, ranges and bins need."""

from __future__ import annotations

from itertools import pairwise

from sottovoce.core.errors import WorkloadError
from sottovoce.domain import Domain, LabelDomain, ProductDomain, RangeDomain

__all__ = ["is_decreasing", "is_increasing", "ordered_domain"]


def ordered_domain(domain: object, asked: str) -> Domain:
    """The domain, if it has an order: sorted integers, or labels in the order given."""
    values = Domain.of(domain)
    if isinstance(values, ProductDomain):
        raise WorkloadError(
            f"records have no order, so {asked} cannot be asked of them; "
            "give a range or a list of labels, or use Marginals, or Bins of one attribute"
        )
    if (
        not is_increasing(values)
        and not is_decreasing(values)
        and isinstance(values, LabelDomain)
        and isinstance(values.names[0], int)
    ):
        raise WorkloadError(f"the integer labels are not sorted, so {asked} would be misleading; sort them first")
    return values


def is_increasing(domain: Domain) -> bool:
    """Whether the values are strictly increasing integers."""
    if isinstance(domain, LabelDomain):
        return all(isinstance(a, int) and isinstance(b, int) and a < b for a, b in pairwise(domain.names))
    return isinstance(domain, RangeDomain) and domain.step > 0


def is_decreasing(domain: Domain) -> bool:
    """Whether the values are strictly decreasing integers."""
    if isinstance(domain, LabelDomain):
        return all(isinstance(a, int) and isinstance(b, int) and a > b for a, b in pairwise(domain.names))
    return isinstance(domain, RangeDomain) and domain.step < 0
