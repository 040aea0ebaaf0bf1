"""Workloads: sets of linear queries as operators. One family per file; see `Workload` for the common interface.

>>> from sottovoce import workloads
>>> workloads.Prefix(range(100)).find("<= 17")
17
"""

from sottovoce.workloads.base import Workload
from sottovoce.workloads.bins import Bins
from sottovoce.workloads.dense import Dense
from sottovoce.workloads.features import Features
from sottovoce.workloads.identity import Identity
from sottovoce.workloads.marginals import Marginals
from sottovoce.workloads.parities import Parities
from sottovoce.workloads.parse import parse_workload
from sottovoce.workloads.prefix import Prefix
from sottovoce.workloads.ranges import Ranges
from sottovoce.workloads.sparse import Sparse
from sottovoce.workloads.stack import Stack
from sottovoce.workloads.statement import workload_from_statement

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
