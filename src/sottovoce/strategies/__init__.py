"""Strategies: which mechanism to apply to what, so that a workload's answers cost the least noise.

>>> from sottovoce.strategies import Setting, options
>>> from sottovoce.workloads import Prefix
>>> best = options(Setting(Prefix(256), epsilon=1.0, delta=0.0, people=100_000), ["direct", "haar"])[0]
>>> best.strategy
'haar'
"""

from sottovoce.strategies.base import Strategy
from sottovoce.strategies.files import load, save
from sottovoce.strategies.laws.variance import Population, Variance
from sottovoce.strategies.linear import LinearStrategy
from sottovoce.strategies.options import Criterion, Option, choose, explain, options
from sottovoce.strategies.reading import Projection, Reading
from sottovoce.strategies.registry import STRATEGIES, register
from sottovoce.strategies.search.factorize import Factorization, factorize
from sottovoce.strategies.search.lower_bound import mean_variance_bound, worst_variance_bound
from sottovoce.strategies.search.optimize import Optimized, optimize
from sottovoce.strategies.setting import Setting, Statement

__all__ = [
    "STRATEGIES",
    "Criterion",
    "Factorization",
    "LinearStrategy",
    "Optimized",
    "Option",
    "Population",
    "Projection",
    "Reading",
    "Setting",
    "Statement",
    "Strategy",
    "Variance",
    "choose",
    "explain",
    "factorize",
    "load",
    "mean_variance_bound",
    "optimize",
    "options",
    "register",
    "save",
    "worst_variance_bound",
]
