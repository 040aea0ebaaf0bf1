"""Workloads: sets of linear queries as operators. One family per file; see `Workload` for the common interface.

>>> from sottovoce import workloads
>>> workloads.Prefix(range(100)).find("<= 17")
17
"""

from sottovoce.workloads.base import Workload
from sottovoce.workloads.bins import Bins
from sottovoce.workloads.identity import Identity
from sottovoce.workloads.marginals import Marginals
from sottovoce.workloads.parities import Parities
from sottovoce.workloads.parse import parse_workload
from sottovoce.workloads.ranges import Prefix, Ranges
from sottovoce.workloads.sparse import Sparse
from sottovoce.workloads.stack import Stack, workload_from_statement
from sottovoce.workloads.table import Dense, Features

__all__ = [
    "Bins",
    "Dense",
    "Features",
    "Identity",
    "Marginals",
    "Parities",
    "Prefix",
    "Ranges",
    "Sparse",
    "Stack",
    "Workload",
    "parse_workload",
    "workload_from_statement",
]
