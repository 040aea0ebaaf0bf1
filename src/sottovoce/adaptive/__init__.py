"""Adaptive sessions, in which a question may depend on earlier answers, and strategies that choose the questions."""

from sottovoce.adaptive.answer import ChoiceAnswer, RoundAnswer
from sottovoce.adaptive.heavy_hitters import HeavyHitter, HeavyHitters, HeavyHittersResult
from sottovoce.adaptive.history import History
from sottovoce.adaptive.maximize import Maximize, MaximizeResult
from sottovoce.adaptive.quantile import Quantile, QuantileResult
from sottovoce.adaptive.session import Session
from sottovoce.adaptive.strategy import AdaptiveStrategy, StrategyPlan
from sottovoce.surveys.rounds import round_of

__all__ = [
    "AdaptiveStrategy",
    "ChoiceAnswer",
    "HeavyHitter",
    "HeavyHitters",
    "HeavyHittersResult",
    "History",
    "Maximize",
    "MaximizeResult",
    "Quantile",
    "QuantileResult",
    "RoundAnswer",
    "Session",
    "StrategyPlan",
    "round_of",
]
