"""Every strategy a survey of queries may name. To add one: write its file, add its line here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sottovoce.errors import CapacityError, MechanismError, SurveyError
from sottovoce.strategies.base import Setting, Statement, Strategy
from sottovoce.strategies.direct import Direct
from sottovoce.strategies.factorized import FactorizedStrategy
from sottovoce.strategies.fourier import FourierStrategy
from sottovoce.strategies.haar import HaarStrategy
from sottovoce.strategies.hierarchical import HierarchicalStrategy
from sottovoce.strategies.histogram import Histogram
from sottovoce.strategies.optimized import OptimizedStrategy
from sottovoce.workloads import Workload

__all__ = ["STRATEGIES", "Compared", "choose", "compare", "create", "restore"]

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

MAX_ATTACHMENT_BYTES: Final = 2**22
"""What "auto" lets a device fetch besides the survey (4 MiB); a strategy named outright may ask for more."""

SEARCHED_VALUES: Final = 32
"""Up to so many values "auto" searches for a channel on the spot, in a second or two; beyond, only if one is kept."""


FACTORIZED_VALUES: Final = 512
"""Up to so many values "auto" factorizes, in about a second; beyond it is minutes, and hardly better than others."""


@dataclass(frozen=True)
class Compared:
    """One strategy beside the others: what it is, or why it cannot be chosen.

    Attributes
    ----------
    error
        `Strategy.expected_error` for the setting's users.
    """

    name: str
    strategy: Strategy | None
    error: float
    reason: str = ""

    @property
    def fits(self) -> bool:
        """Whether it can be chosen."""
        return not self.reason


def compare(setting: Setting) -> list[Compared]:
    """Every strategy, the least error first; those that cannot be chosen last, with the reason."""
    found = [_compared(name, setting) for name in STRATEGIES]
    return sorted(found, key=lambda one: (not one.fits, one.error))


def _compared(name: str, setting: Setting) -> Compared:
    if name == OptimizedStrategy.name and not _searchable(setting):
        reason = "no channel is kept for these queries: search for one first, with 'sottovoce optimize'"
        return Compared(name, None, float("inf"), reason)
    if name == FactorizedStrategy.name and setting.workload.domain.size > FACTORIZED_VALUES:
        reason = f"factorizing over more than {FACTORIZED_VALUES} values takes minutes: name it to have it"
        return Compared(name, None, float("inf"), reason)
    try:
        strategy = create(name, setting)
        error = strategy.expected_error(setting.users)
    except (SurveyError, CapacityError) as refusal:
        return Compared(name, None, float("inf"), str(refusal))
    size, fetched = strategy.mechanism.report_bytes, len(strategy.attachment or b"")
    reason = ""
    if size > setting.max_report_bytes:
        reason = f"its report takes {size:,} bytes; {setting.max_report_bytes:,} are allowed"
    elif fetched > MAX_ATTACHMENT_BYTES:
        reason = f"a device would have to fetch {fetched:,} bytes, above {MAX_ATTACHMENT_BYTES:,}: name it to have it"
    return Compared(name, strategy, error, reason)


def _searchable(setting: Setting) -> bool:
    from sottovoce.strategies.optimize import is_kept

    return setting.workload.domain.size <= SEARCHED_VALUES or is_kept(setting.workload, setting.epsilon)


def create(name: object, setting: Setting) -> Strategy:
    """The named strategy, its own parameters chosen for the least error.

    "auto" takes the best; with a mechanism named it is the direct one, the only one that leaves the choice.
    """
    if name == "auto":
        return choose(setting) if setting.mechanism == "auto" else Direct.make(setting)
    kind = STRATEGIES.get(name) if isinstance(name, str) else None
    if kind is None:
        raise SurveyError(f"strategy must be one of {', '.join(STRATEGIES)}, or 'auto'")
    if kind is not Direct and setting.mechanism != "auto":
        raise MechanismError(f"strategy {name!r} brings its own mechanism; name one only with strategy='direct'")
    return kind.make(setting)


def choose(setting: Setting) -> Strategy:
    """The strategy of least error among those that can serve."""
    compared = compare(setting)
    best = compared[0].strategy
    if not compared[0].fits or best is None:
        reasons = "; ".join(f"{one.name}: {one.reason}" for one in compared)
        raise MechanismError(f"no strategy can serve these queries: {reasons}")
    return best


def restore(
    statement: Any,
    workload: Workload,
    epsilon: float,
    delta: float,
    mechanism: tuple[object, dict[str, Any]],
    attachments: Mapping[str, bytes],
) -> Strategy:
    """The strategy that a survey states; anything missing, extra or tampered with is refused."""
    name = statement.get("name") if isinstance(statement, dict) else None
    kind = STRATEGIES.get(name) if isinstance(name, str) else None
    if kind is None:
        raise SurveyError(f"the survey's strategy must be one of {', '.join(STRATEGIES)}")
    if set(statement) != ({"name", "digest"} if kind.attached else {"name"}):
        raise SurveyError("the survey's strategy must hold its name, and a digest if and only if it has an attachment")
    attachment = _attached(statement["digest"], attachments) if kind.attached else b""
    found = kind.restore(Statement(workload, epsilon, delta, *mechanism, attachment))
    if found.digest != statement.get("digest"):
        raise SurveyError("the strategy's attachment is not the one that the survey names: fetch it again")
    return found


def _attached(digest: object, attachments: Mapping[str, bytes]) -> bytes:
    found = attachments.get(digest) if isinstance(digest, str) else None
    if found is None:
        raise SurveyError(
            "the survey needs an attachment that is not here: give it with attachments={digest: bytes}, from "
            "survey.attachments or wherever the survey was published"
        )
    return found
