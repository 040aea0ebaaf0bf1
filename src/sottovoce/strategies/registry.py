"""The registry of strategies. To add one: write its file, add its line here.

Strategies of other packages are found by their entry points, or registered in this process with `register`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from sottovoce.core.calls import did_you_mean
from sottovoce.core.errors import SurveyError
from sottovoce.core.registry import Registry
from sottovoce.mechanisms.finite import FiniteMechanism
from sottovoce.mechanisms.registry import REGISTRY as MECHANISM_REGISTRY
from sottovoce.strategies.base import Strategy
from sottovoce.strategies.direct import Direct
from sottovoce.strategies.factorized import FactorizedStrategy
from sottovoce.strategies.fourier import FourierStrategy
from sottovoce.strategies.histogram import Histogram
from sottovoce.strategies.minimax import MinimaxStrategy
from sottovoce.strategies.optimized import OptimizedStrategy
from sottovoce.strategies.relations.strategy import ProductsStrategy
from sottovoce.strategies.sets import SetStrategy
from sottovoce.strategies.setting import Statement
from sottovoce.strategies.tables.strategy import TablesStrategy
from sottovoce.strategies.trees.haar import HaarStrategy
from sottovoce.strategies.trees.hierarchical import HierarchicalStrategy
from sottovoce.strategies.words.prefixes import PrefixStrategy
from sottovoce.workloads import Workload
from sottovoce.workloads.base import Body

__all__ = ["REGISTRY", "STRATEGIES", "check_design", "find", "register", "restore"]

REGISTRY: Final[Registry[Strategy]] = Registry(
    "strategy",
    Strategy,
    (
        Direct,
        FactorizedStrategy,
        OptimizedStrategy,
        HierarchicalStrategy,
        HaarStrategy,
        FourierStrategy,
        TablesStrategy,
        ProductsStrategy,
        Histogram,
        SetStrategy,
        MinimaxStrategy,
        PrefixStrategy,
    ),
)
"""Strategies: of this package and of others."""

STRATEGIES: Final = REGISTRY.ours
"""Every strategy of this package, by its name in JSON."""


def register(kind: type[Strategy]) -> None:
    """Let surveys of this process name a strategy of another package.

    "auto" never chooses it: every client must be able to answer a survey that names no strategy. Raises `SurveyError`
    if the class is unfinished, or has a name that is taken.
    """
    REGISTRY.register(kind)


def find(name: object) -> type[Strategy]:
    """The strategy with that name; raises `SurveyError` with the known names."""
    kind = REGISTRY.lookup(name)
    if kind is None:
        known = ", ".join(STRATEGIES)
        hint = REGISTRY.lacking(name) + did_you_mean(name, STRATEGIES)
        message = f"strategy must be one of {known}, or 'auto'{hint}; {REGISTRY.remedy}"
        raise SurveyError(message).at("strategy")
    return kind


def check_design(design: Strategy, epsilon: float, delta: float) -> Strategy:
    """The design of a strategy of any package, if it keeps what the survey promises.

    A mechanism of another package passes its battery first. Raises `SurveyError` or `MechanismError` otherwise.
    """
    if design.epsilon > epsilon or design.delta > delta:
        raise SurveyError(f"the design of strategy {design.name!r} spends more than the survey states")
    if MECHANISM_REGISTRY.is_foreign(type(design.mechanism)):
        from sottovoce.auditing.conformance import admit

        admit(cast(FiniteMechanism, design.mechanism))
    return design


def restore(
    statement: Any, workload: Workload | Body, epsilon: float, delta: float, attachments: Mapping[str, bytes]
) -> Strategy:
    """The design from a survey's JSON; anything missing, extra or changed is refused.

    Examples
    --------
    >>> from sottovoce.workloads import Prefix
    >>> design = HaarStrategy.best(Prefix(8), 1.0)
    >>> statement = design.to_statement()
    >>> statement
    {'strategy': 'haar', 'mechanism': {'name': 'haar', 'tilt': 1}}
    >>> restore(statement, Prefix(8), 1.0, 0.0, {}) == design
    True
    """
    name = statement.get("strategy") if isinstance(statement, dict) else None
    kind = REGISTRY.lookup(name)
    if kind is None:
        raise SurveyError(f"the design's strategy must be one of {', '.join(STRATEGIES)}; {REGISTRY.remedy}")
    if set(statement) != {"strategy", "mechanism"} | ({"digest"} if kind.attached else set()):
        raise SurveyError(
            "a design must have a strategy and a mechanism, a digest if and only if it has an attachment, and no other "
            "field"
        )
    mechanism = statement["mechanism"]
    if not isinstance(mechanism, dict) or not isinstance(mechanism.get("name"), str):
        raise SurveyError("the design's mechanism must be an object with a name and the mechanism's own parameters")
    parameters = {key: value for key, value in mechanism.items() if key != "name"}
    attachment = _attached(statement["digest"], attachments) if kind.attached else b""
    strategy = kind.restore(Statement(workload, epsilon, delta, mechanism["name"], parameters, attachment))
    if strategy.digest != statement.get("digest"):
        raise SurveyError("the design's attachment does not match its digest: fetch it again")
    return check_design(strategy, epsilon, delta)


def _attached(digest: object, attachments: Mapping[str, bytes]) -> bytes:
    attachment = attachments.get(digest) if isinstance(digest, str) else None
    if attachment is None:
        raise SurveyError(
            "the survey's attachment is missing: give it with attachments={digest: bytes}, from "
            "survey.attachments or from where the survey was published"
        ).at("attachments")
    return attachment
