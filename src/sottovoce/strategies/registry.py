"""The registry of strategies. To add one: write its file, add its line here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sottovoce.core.errors import SurveyError
from sottovoce.strategies.base import Strategy
from sottovoce.strategies.direct import Direct
from sottovoce.strategies.factorized import FactorizedStrategy
from sottovoce.strategies.fourier import FourierStrategy
from sottovoce.strategies.histogram import Histogram
from sottovoce.strategies.minimax import MinimaxStrategy
from sottovoce.strategies.optimized import OptimizedStrategy
from sottovoce.strategies.sets import SetStrategy
from sottovoce.strategies.setting import Statement
from sottovoce.strategies.tables.strategy import TablesStrategy
from sottovoce.strategies.trees.haar import HaarStrategy
from sottovoce.strategies.trees.hierarchical import HierarchicalStrategy
from sottovoce.strategies.words.prefixes import PrefixStrategy
from sottovoce.workloads import Workload
from sottovoce.workloads.base import Body

__all__ = ["STRATEGIES", "find", "restore"]

STRATEGIES: Final[dict[str, type[Strategy]]] = {
    kind.name: kind
    for kind in (
        Direct,
        FactorizedStrategy,
        OptimizedStrategy,
        HierarchicalStrategy,
        HaarStrategy,
        FourierStrategy,
        TablesStrategy,
        Histogram,
        SetStrategy,
        MinimaxStrategy,
        PrefixStrategy,
    )
}
"""Every strategy, by its name in JSON."""


def find(name: object) -> type[Strategy]:
    """The strategy with that name; raises `SurveyError` with the known names."""
    kind = STRATEGIES.get(name) if isinstance(name, str) else None
    if kind is None:
        raise SurveyError(f"strategy must be one of {', '.join(STRATEGIES)}, or 'auto'")
    return kind


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
    kind = STRATEGIES.get(name) if isinstance(name, str) else None
    if kind is None:
        raise SurveyError(f"the design's strategy must be one of {', '.join(STRATEGIES)}")
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
    found = kind.restore(Statement(workload, epsilon, delta, mechanism["name"], parameters, attachment))
    if found.digest != statement.get("digest"):
        raise SurveyError("the design's attachment does not match its digest: fetch it again")
    return found


def _attached(digest: object, attachments: Mapping[str, bytes]) -> bytes:
    found = attachments.get(digest) if isinstance(digest, str) else None
    if found is None:
        raise SurveyError(
            "the survey's attachment is missing: give it with attachments={digest: bytes}, from "
            "survey.attachments or from where the survey was published"
        )
    return found
