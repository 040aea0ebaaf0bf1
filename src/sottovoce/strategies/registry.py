"""Every strategy that a survey may name. To add one: write its file, add its line here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sottovoce.errors import SurveyError
from sottovoce.strategies.base import Statement, Strategy
from sottovoce.strategies.direct import Direct
from sottovoce.strategies.factorized import FactorizedStrategy
from sottovoce.strategies.fourier import FourierStrategy
from sottovoce.strategies.haar import HaarStrategy
from sottovoce.strategies.hierarchical import HierarchicalStrategy
from sottovoce.strategies.histogram import Histogram
from sottovoce.strategies.optimized import OptimizedStrategy
from sottovoce.workloads import Workload
from sottovoce.workloads.ball import Ball

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
        Histogram,
    )
}
"""Every strategy, by its name in JSON."""


def find(name: object) -> type[Strategy]:
    """The strategy of that name; raises `SurveyError` with the names there are."""
    kind = STRATEGIES.get(name) if isinstance(name, str) else None
    if kind is None:
        raise SurveyError(f"strategy must be one of {', '.join(STRATEGIES)}, or 'auto'")
    return kind


def restore(
    statement: Any, workload: Workload | Ball, epsilon: float, delta: float, attachments: Mapping[str, bytes]
) -> Strategy:
    """The design that a survey states; anything missing, extra or tampered with is refused.

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
            "a design must hold its strategy and its mechanism, a digest if and only if it has an attachment, and "
            "nothing else"
        )
    mechanism = statement["mechanism"]
    if not isinstance(mechanism, dict) or not isinstance(mechanism.get("name"), str):
        raise SurveyError("the design's mechanism must be an object with a name and the mechanism's own parameters")
    parameters = {key: value for key, value in mechanism.items() if key != "name"}
    attachment = _attached(statement["digest"], attachments) if kind.attached else b""
    found = kind.restore(Statement(workload, epsilon, delta, mechanism["name"], parameters, attachment))
    if found.digest != statement.get("digest"):
        raise SurveyError("the design's attachment is not the one that the survey names: fetch it again")
    return found


def _attached(digest: object, attachments: Mapping[str, bytes]) -> bytes:
    found = attachments.get(digest) if isinstance(digest, str) else None
    if found is None:
        raise SurveyError(
            "the survey needs an attachment that is not here: give it with attachments={digest: bytes}, from "
            "survey.attachments or wherever the survey was published"
        )
    return found
