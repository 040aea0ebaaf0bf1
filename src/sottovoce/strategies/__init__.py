"""Strategies: which mechanism to apply to what, so that a workload's answers cost the least noise.

>>> from sottovoce.strategies import compare, Setting
>>> from sottovoce.workloads import Prefix
>>> best = compare(Setting(Prefix(256), epsilon=1.0, delta=0.0, users=100_000))[0]
>>> best.name
'haar'
"""

from sottovoce.strategies.base import Setting, Strategy
from sottovoce.strategies.factorize import Factorization, factorize
from sottovoce.strategies.files import load, save
from sottovoce.strategies.lower_bound import mean_variance_bound, worst_variance_bound
from sottovoce.strategies.optimize import Optimized, optimize
from sottovoce.strategies.registry import STRATEGIES, Compared, choose, compare, create

__all__ = [
    "STRATEGIES",
    "Compared",
    "Factorization",
    "Optimized",
    "Setting",
    "Strategy",
    "choose",
    "compare",
    "create",
    "factorize",
    "load",
    "mean_variance_bound",
    "optimize",
    "save",
    "worst_variance_bound",
]
