"""The choice of a design: all options with their errors, the best first; "auto" is decided here."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, final

from sottovoce.core.errors import CapacityError, MechanismError, SurveyError
from sottovoce.core.words import figure, plural
from sottovoce.strategies.base import Strategy
from sottovoce.strategies.laws.variance import Status
from sottovoce.strategies.registry import check_design, find
from sottovoce.strategies.setting import AUTO, Setting
from sottovoce.theory.bounds import Bound

__all__ = [
    "MAX_ATTACHMENT_BYTES",
    "Criterion",
    "Option",
    "choose",
    "error_of",
    "evaluate_design",
    "explain",
    "join_reasons",
    "least_error",
    "options",
    "ordered",
    "usable_designs",
]

Criterion = Literal["l2", "margin"]
"""How designs are compared: by the L2 error of all answers, or by the margin of the least certain one."""

MAX_ATTACHMENT_BYTES: Final = 2**22
"""Largest attachment that "auto" allows (4 MiB); a strategy that is named may exceed it."""

_TIE: Final = 1e-9
"""Relative difference below which errors count as equal."""

_WORTH_A_WORD: Final = 1e-3
"""Relative gain from which on `explain` mentions a better design."""


@final
@dataclass(frozen=True)
class Option:
    """One design with its expected error, or the reason why it cannot be chosen.

    Attributes
    ----------
    design
        None if there is none; `reason` then says why.
    margin
        1.96 standard errors of the least certain answer, by which designs are compared; NaN without a design.
    l2
        The expected L2 error of all answers after projection; NaN without a design.
    l2_raw
        The same for the raw answers: the root of their total variance.
    status
        How exact the underlying variance is.
    fetched_bytes
        Size of the attachment.
    reason
        Why it cannot be chosen; empty if it can.
    half_width
        Half the width of the widest interval that the estimate will print, at 95 %, which plans state as the margin;
        None where it was not computed.
    """

    strategy: str
    mechanism: str
    design: Strategy | None
    epsilon: float
    people: int
    margin: float
    l2: float
    l2_raw: float
    status: Status
    report_bytes: int
    fetched_bytes: int
    reason: str = ""
    half_width: float | None = None

    @property
    def name(self) -> str:
        """The strategy, with its mechanism unless it has the same name."""
        return self.strategy if self.mechanism in ("", self.strategy) else f"{self.strategy} with {self.mechanism}"

    @property
    def stated_margin(self) -> float:
        """The margin to show: the half-width of the printed interval where it is known, else 1.96 standard errors."""
        return self.margin if self.half_width is None else self.half_width

    @property
    def fits(self) -> bool:
        """Whether it can be chosen."""
        return not self.reason

    @property
    def bound(self) -> Bound | None:
        """Upper bound on the expected L2 error after projection; None without a design."""
        return None if self.design is None else self.design.bound(self.people)

    def error(self, criterion: Criterion) -> float:
        """The error by one criterion."""
        return self.margin if criterion == "margin" else self.l2

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain values; None without a design."""
        bound = self.bound
        made = self.design is not None
        return {
            "name": self.name,
            "strategy": self.strategy,
            "mechanism": self.mechanism or None,
            "fits": self.fits,
            "reason": self.reason,
            "epsilon": self.epsilon,
            "people": self.people,
            "margin": self.stated_margin if made else None,
            "l2": self.l2 if made else None,
            "l2_raw": self.l2_raw if made else None,
            "status": self.status if made else None,
            "bound": None if bound is None else bound.value,
            "bound_statement": None if bound is None else bound.statement,
            "report_bytes": self.report_bytes if made else None,
            "fetched_bytes": self.fetched_bytes if made else None,
        }


def options(
    setting: Setting, strategies: Sequence[str], criterion: Criterion = "l2", population: Any = None
) -> tuple[Option, ...]:
    """Every design, the least error first; unusable ones last, with the reason.

    Parameters
    ----------
    strategies
        Strategies of the question. If the setting names one of them, only that one is tried, without limits on time and
        attachment. Otherwise all that are quick to compute and have small attachments; the others are listed with the
        reason.
    criterion
        The error to compare. Of errors that are equal up to rounding, the shorter report is first, then the order of
        the registries.
    population
        Shares of the values, or a `Population`; the worst population by default.

    Examples
    --------
    >>> from sottovoce.workloads import Prefix
    >>> ranked = options(Setting(Prefix(256), epsilon=1.0, delta=0.0, people=100_000), ["direct", "haar"])
    >>> ranked[0].strategy, round(ranked[0].margin, 3), round(ranked[0].l2, 2)
    ('haar', 0.038, 0.26)
    """
    tried = list(_designs_or_reasons(setting, strategies))
    usable = [evaluate_design(design, setting, population) for design, _ in tried if design is not None]
    refused = [_unusable_option(setting, *why) for design, why in tried if design is None]
    return (
        *ordered([option for option in usable if option.fits], criterion),
        *(option for option in usable if not option.fits),
        *refused,
    )


def choose(setting: Setting, strategies: Sequence[str], criterion: Criterion = "l2", population: Any = None) -> Option:
    """The best of the `options`; raises `MechanismError` with all reasons if none is usable.

    Examples
    --------
    >>> from sottovoce.workloads import Prefix
    >>> choose(Setting(Prefix(8), 1.0, 0.0, 1000), ["haar"]).design.mechanism.tilt
    1
    """
    ranked = options(setting, strategies, criterion, population)
    if not ranked or not ranked[0].fits:
        refusal = f"no design can serve: {join_reasons(ranked)}"
        if any(option.report_bytes > setting.max_report_bytes for option in ranked):
            raise MechanismError(f"{refusal}; raise max_report_bytes").at("max_report_bytes")
        raise MechanismError(refusal).at("strategy" if setting.mechanism == AUTO else "mechanism")
    return ranked[0]


def usable_designs(setting: Setting, strategies: Sequence[str]) -> list[Strategy]:
    """Every design that can be chosen, without its errors: less work than `options`."""
    tried = (design for design, _ in _designs_or_reasons(setting, strategies))
    return [design for design in tried if design is not None and not _reason_against(design, setting)]


def error_of(design: Strategy, people: int, criterion: Criterion, population: Any = None) -> float:
    """The error of a design by one criterion; infinite if it would take too long to compute."""
    try:
        if criterion == "margin":
            return design.margin(people, population)
        return design.expected_error(people, population)
    except CapacityError:
        return math.inf


def least_error(designs: Sequence[Strategy], people: int, criterion: Criterion, population: Any = None) -> float:
    """The error of the first of the `options`; infinite if there is none."""
    if criterion == "l2":
        first: dict[str, tuple[float, Strategy]] = {}
        for design in designs:
            with contextlib.suppress(CapacityError):
                raw = design.total_variance(population, people).value
                if design.name not in first or raw < first[design.name][0]:
                    first[design.name] = raw, design
        designs = [design for _, design in first.values()]
    return min((error_of(design, people, criterion, population) for design in designs), default=math.inf)


def join_reasons(refused: Sequence[Option]) -> str:
    """Why none of these can be chosen."""
    return "; ".join(f"{option.name}: {option.reason}" for option in refused)


def _designs_or_reasons(
    setting: Setting, strategies: Sequence[str]
) -> Iterator[tuple[Strategy | None, tuple[str, str]]]:
    """Every design of the strategies, or the name and the reason of a strategy without designs."""
    for name in strategies if setting.strategy == AUTO else (setting.strategy,):
        kind = find(name)
        try:
            for design in kind.designs(setting) if setting.strategy != AUTO else kind.quick_designs(setting):
                yield check_design(design, setting.epsilon, setting.delta), ("", "")
        except (SurveyError, CapacityError) as refusal:
            yield None, (name, str(refusal))


def evaluate_design(design: Strategy, setting: Setting, population: Any = None) -> Option:
    """The option of a design, with the reason if it cannot be chosen."""
    try:
        margin = design.margin(setting.people, population)
        l2 = design.expected_error(setting.people, population)
        l2_raw = math.sqrt(design.total_variance(population, setting.people).value)
        status = design.variance(None, population, setting.people).status
    except CapacityError as refusal:
        return replace(_unusable_option(setting, design.name, str(refusal)), mechanism=design.mechanism.name)
    return Option(
        design.name,
        design.mechanism.name,
        design,
        setting.epsilon,
        setting.people,
        margin,
        l2,
        l2_raw,
        status,
        design.mechanism.report_bytes,
        len(design.attachment or b""),
        _reason_against(design, setting),
    )


def _reason_against(design: Strategy, setting: Setting) -> str:
    """Why a design cannot be chosen; empty if it can.

    A named mechanism may have longer reports, and a named strategy a larger attachment, than "auto" allows; and not
    every client need run it.
    """
    size, fetched = design.mechanism.report_bytes, len(design.attachment or b"")
    if size > setting.max_report_bytes and setting.mechanism == AUTO:
        return f"its report takes {size:,} bytes; {setting.max_report_bytes:,} are allowed"
    if fetched > MAX_ATTACHMENT_BYTES and setting.strategy == AUTO:
        return f"a device would have to fetch {fetched:,} bytes, above {MAX_ATTACHMENT_BYTES:,}: name it to have it"
    if not design.mechanism.in_browsers and setting.mechanism == AUTO:
        return "browsers cannot run it: name it to have it"
    return ""


def _unusable_option(setting: Setting, name: str, reason: str) -> Option:
    nothing = math.nan, math.nan, math.nan
    return Option(name, "", None, setting.epsilon, setting.people, *nothing, "exact", 0, 0, reason)


def _ranks(listed: Sequence[Option], criterion: Criterion) -> list[float]:
    """The sort keys of options: their error, but for L2 the designs of one strategy by their raw errors.

    They are projected in the same way, so the least raw variance, which is exact, is the least error; bounds after
    projection are loose to different degrees. Strategies are compared by the error of their first design.
    """
    if criterion == "margin":
        return [option.margin for option in listed]
    first: dict[str, Option] = {}
    for option in sorted(listed, key=lambda option: option.l2_raw):
        first.setdefault(option.strategy, option)
    leaders = (first[option.strategy] for option in listed)
    return [
        a.l2 * option.l2_raw / a.l2_raw if a.l2_raw else option.l2_raw
        for option, a in zip(listed, leaders, strict=True)
    ]


def ordered(listed: Sequence[Option], criterion: Criterion) -> list[Option]:
    """Sorted by rank; equal ones by the size of their reports, then in the given order."""
    ranks = _ranks(listed, criterion)
    ranked = sorted(range(len(listed)), key=ranks.__getitem__)
    result: list[Option] = []
    while ranked:
        limit = ranks[ranked[0]] * (1 + _TIE)
        equal = [index for index in ranked if ranks[index] <= limit]
        result += [listed[index] for index in sorted(equal, key=lambda index: (_bits(listed[index]), index))]
        ranked = ranked[len(equal) :]
    return result


def _bits(option: Option) -> int:
    return 0 if option.design is None else option.design.mechanism.report_bits


def explain(
    ranked: Sequence[Option], chosen: Option, criterion: Criterion = "l2", unit: str = "", *, errors: bool = True
) -> str:
    """The reason for an option in one or two sentences: its error if `errors`, and those of the next ones.

    Examples
    --------
    >>> from sottovoce.workloads import Prefix
    >>> ranked = options(Setting(Prefix(64), 1.0, 0.0, 100_000), ["direct", "haar"])
    >>> first, second = explain(ranked, ranked[0]).split(". ")
    >>> first
    'haar: margin 0.0288 of one answer (95 %), L2 error 0.0999 of all 64, 1 byte per report'
    >>> second
    'The next best that fits, direct with codebook, errs 5.3 times as much.'
    """
    answers = 1 if chosen.design is None else chosen.design.workload.n_queries
    together = f", L2 error {figure(chosen.l2)} of all {answers:,}" if answers > 1 else ""
    size = plural(chosen.report_bytes, "byte")
    margin = f"margin {figure(chosen.stated_margin)} {unit}".rstrip()
    noun = "answer" if chosen.design is None else chosen.design.answer_name
    own = f": {margin} of one {noun} (95 %){together}" if errors else ""
    sentences = [f"{chosen.name}{own}, {size} per report"]
    position = next((number for number, option in enumerate(ranked) if option.name == chosen.name), len(ranked))
    ahead = [
        option
        for number, option in enumerate(ranked)
        if option.design is not None and (number < position or option.reason)
    ]
    for option in [option for option in ahead if _error_ratio(option, chosen, criterion) < 1 - _WORTH_A_WORD][:1]:
        why = (
            f" but cannot be chosen: {option.reason}"
            if option.reason
            else f" in {option.report_bytes:,} bytes per report"
        )
        sentences.append(
            f"{option.name} would err {(1 - _error_ratio(option, chosen, criterion)) * 100:.1f} % less{why}"
        )
    worse = [
        option
        for option in ranked[position + 1 :]
        if option.fits and _error_ratio(option, chosen, criterion) > 1 + _TIE
    ]
    for option in worse[:1]:
        # An error of 0, where everybody has the same answers, has no ratio.
        times = _error_ratio(option, chosen, criterion)
        much = f"{times:.3g} times as much" if math.isfinite(times) else f"by {option.error(criterion):.3g}"
        sentences.append(f"The next best that fits, {option.name}, errs {much}")
    remark = "" if chosen.design is None else chosen.design.remark(chosen.people)
    return ". ".join([*sentences, *([remark] if remark else [])]) + "."


def _error_ratio(option: Option, chosen: Option, criterion: Criterion) -> float:
    """The ratio of an option's error to the chosen one's, as ranked: for L2 by raw errors within a strategy."""
    raw = criterion == "l2" and option.strategy == chosen.strategy
    error, other = (chosen.l2_raw, option.l2_raw) if raw else (chosen.error(criterion), option.error(criterion))
    if error > 0:
        return other / error
    return math.inf if other > 0 else 1.0
