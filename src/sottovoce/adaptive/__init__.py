"""Adaptive sessions: ask, read the answer, ask again; and strategies that do so by themselves."""

from sottovoce.adaptive.answer import ChoiceAnswer, RoundAnswer
from sottovoce.adaptive.heavy_hitters import Found, HeavyHitters, HeavyHittersResult
from sottovoce.adaptive.history import History
from sottovoce.adaptive.maximize import Maximize, MaximizeResult
from sottovoce.adaptive.quantile import Quantile, QuantileResult
from sottovoce.adaptive.session import Session
from sottovoce.adaptive.strategy import Strategy, StrategyPlan

__all__ = [
    "ChoiceAnswer",
    "Found",
    "HeavyHitters",
    "HeavyHittersResult",
    "History",
    "Maximize",
    "MaximizeResult",
    "Quantile",
    "QuantileResult",
    "RoundAnswer",
    "Session",
    "Strategy",
    "StrategyPlan",
]
