"""Expressions: queries about one record, written as text, stored as a JSON tree, checked before they are evaluated.

>>> from sottovoce.expressions import query
>>> query("age < 30 and country in ('FR', 'DE')")
query("age < 30 and country in ('FR', 'DE')")
"""

from sottovoce.expressions.check import Checked
from sottovoce.expressions.question import Query, numbers, positions, query

__all__ = ["Checked", "Query", "numbers", "positions", "query"]
