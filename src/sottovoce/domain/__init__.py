"""What one person's value can be: labels, an integer range, a short text, or a record of named attributes.

A domain numbers its values 0 .. size-1. Only labels are stored; for other domains the number is computed from the
value, so a domain of 2**63 values takes no memory.
"""

from sottovoce.domain.base import Domain, Indices, ValueNumbers
from sottovoce.domain.labels import LabelDomain
from sottovoce.domain.number import NumberGrid
from sottovoce.domain.product import ProductDomain
from sottovoce.domain.ranges import RangeDomain
from sottovoce.domain.statement import domain_from_statement
from sottovoce.domain.text import TextDomain

__all__ = [
    "Domain",
    "Indices",
    "LabelDomain",
    "NumberGrid",
    "ProductDomain",
    "RangeDomain",
    "TextDomain",
    "ValueNumbers",
    "domain_from_statement",
]
