"""How well comparisons of two groups hold: sizes of tests, coverage, power where it was planned, and watched tests.

Yes-no questions by enumeration of all counts, exactly; other questions and watched tests by seeded simulation. Written
as a page of the documentation:

    python -m evidence.experiments.comparisons --out docs/contributors/comparisons.md
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

import sottovoce as sv
from sottovoce.core.files import write_file
from sottovoce.estimates.differences import Arm, difference_of_arms, ratio_of_arms
from sottovoce.estimates.intervals import Observed, uncut_interval
from sottovoce.theory.two_arms import ArmProcess, lasting_p_values
from sottovoce.theory.two_samples import common_answer, two_sided

__all__ = [
    *("EXACT", "KINDS", "PLANNED", "STOPPED", "WATCHED"),
    *("exact", "page", "planned_power", "simulated", "watched", "watched_power"),
]

Floats = NDArray[np.float64]

ALPHA: Final = 0.05
SEED: Final = 20_270_101
YES: Final = ("no", "yes")

SHARES: Final = (0.0, 0.05, 0.3, 0.5, 0.8, 1.0)
"""True shares, of all pairs of which the least coverage is taken; the size is the largest over equal ones."""

Group = tuple[float, int]
"""Epsilon and number of reports."""

EXACT: Final[tuple[tuple[Group, Group], ...]] = (
    *(((epsilon, 50), (epsilon, 50)) for epsilon in (0.5, 1.0, 2.0, 4.0)),
    *(((epsilon, 25), (epsilon, 100)) for epsilon in (0.5, 1.0, 2.0, 4.0)),
    ((0.5, 60), (4.0, 30)),
    ((1.0, 40), (2.0, 60)),
    ((4.0, 25), (4.0, 25)),
)
"""Designs of exact enumerations: equal, unequal and mixed arms, and the least favourable that is known."""

PLANNED: Final = tuple(itertools.product((0.5, 1.0, 2.0, 4.0), ((0.45, 0.53, 1.0), (0.02, 0.07, 1.0), (0.5, 0.6, 3.0))))
"""Epsilon; the two shares, and the ratio of the groups."""

WATCHED: Final = tuple((epsilon, share, ratio) for epsilon in (0.5, 1.0, 4.0) for share, ratio in ((0.5, 1), (0.05, 4)))
"""Epsilon, the share of yes in both groups, and reports of the second group for each of the first."""

STOPPED: Final = ((0.5, (0.45, 0.53)), (1.0, (0.45, 0.53)), (1.0, (0.48, 0.52)), (4.0, (0.05, 0.1)))
"""Epsilon, and the shares of two groups that differ."""

_LOOKS: Final = 100
_MOST: Final = 20_000
"""Reports of the first group at the last look."""

_RUNS: Final = 1_500


class Group2(NamedTuple):
    """The raw answers of all counts, the law of one report, and the arm of each."""

    zero: float
    one: float
    n: int
    raw: Floats
    arms: list[Arm]

    def chances(self, share: float) -> Floats:
        from scipy.stats import binom

        law: Floats = binom.pmf(np.arange(self.n + 1), self.n, (share - self.zero) / (self.one - self.zero))
        return law

    def variance(self, answer: Floats) -> Floats:
        return (answer - self.zero) * (self.one - answer)


def _outcomes(epsilon: float) -> tuple[float, float]:
    """The two numbers that one report of a share can be."""
    mechanism: Any = sv.Survey(sv.shares([*YES]), epsilon=epsilon, mechanism="randomized_response").mechanism
    zero, one = mechanism.two_outcomes
    return zero, one


def _group(epsilon: float, n: int) -> Group2:
    design = sv.Survey(sv.shares([*YES]), epsilon=epsilon, mechanism="randomized_response").design
    zero, one = _outcomes(epsilon)
    raw = zero + (one - zero) * np.arange(n + 1) / n
    arms = []
    for value in raw.tolist():
        uncut = uncut_interval(Observed(design, np.array([1 - value, value]), n, None, 0.0, 1.0), 1 - ALPHA)
        arms.append(Arm(value, float(uncut.low[1]), float(uncut.high[1]), 0.0, uncut.method))
    return Group2(zero, one, n, raw, arms)


def _rejected(first: Group2, second: Group2) -> NDArray[np.bool_]:
    """For every pair of counts, whether the test of no difference is significant."""
    a, b = (grid.ravel() for grid in np.meshgrid(first.raw, second.raw, indexing="ij"))
    sizes = np.full(a.shape, float(first.n)), np.full(a.shape, float(second.n))
    limits = np.zeros(a.shape), np.ones(a.shape)
    common = common_answer((a, b), sizes, (first.variance, second.variance), limits)
    error = np.sqrt(first.variance(common) / first.n + second.variance(common) / second.n)
    return (two_sided(a - b, error) <= ALPHA).reshape(len(first.raw), len(second.raw))


def exact(design: tuple[Group, Group]) -> tuple[float, float, float]:
    """The largest size of the 5 % test, and the least coverage of 95 % intervals of differences and of ratios."""
    first, second = (_group(*group) for group in design)
    laws = [{share: group.chances(share) for share in SHARES} for group in (first, second)]
    rejected = _rejected(first, second)
    size = max(float(laws[0][share] @ rejected @ laws[1][share]) for share in SHARES)
    ends = np.array(
        [
            (*difference_of_arms(a, b, (0.0, 1.0))[:2], *ratio_of_arms(a, b, (0.0, 1.0))[:2])
            for a, b in itertools.product(first.arms, second.arms)
        ]
    ).reshape(len(first.arms), len(second.arms), 4)
    differences: list[float] = []
    ratios: list[float] = []
    for one, other in itertools.product(SHARES, repeat=2):
        for truths, low, high, true in (
            (differences, ends[..., 0], ends[..., 1], one - other),
            *([(ratios, ends[..., 2], ends[..., 3], one / other)] if other else []),
        ):
            held = (low <= true + 1e-9) & (true * (1 - 1e-4) - 1e-9 <= high)
            truths.append(float(laws[0][one] @ held @ laws[1][other]))
    return size, min(differences), min(ratios)


def planned_power(epsilon: float, shares: tuple[float, float, float]) -> tuple[tuple[int, int], float]:
    """The groups of a plan for a power of 80 %, and the exact power that its test has."""
    one, other, ratio = shares
    rows = [[1 - one, one], [1 - other, other]]
    plan = sv.plan([*YES], epsilon=epsilon, difference=abs(one - other), ratio=ratio, population=rows)
    first, second = (_counts_of(epsilon, n) for n in plan.groups)
    laws = first.chances(one), second.chances(other)
    # Counts of less than 1e-9 are left out: there are many.
    kept = [np.flatnonzero(law > 1e-9) for law in laws]
    groups = [group._replace(raw=group.raw[places]) for group, places in zip((first, second), kept, strict=True)]
    rejected = _rejected(groups[0], groups[1])
    return plan.groups, float(laws[0][kept[0]] @ rejected @ laws[1][kept[1]])


def _counts_of(epsilon: float, n: int) -> Group2:
    zero, one = _outcomes(epsilon)
    return Group2(zero, one, n, zero + (one - zero) * np.arange(n + 1) / n, [])


# --- other questions, simulated --------------------------------------------------------------------------


class Kind(NamedTuple):
    """A question, epsilons of both groups, people that both have, and what is compared."""

    name: str
    question: Any
    epsilons: tuple[float, float]
    people: tuple[int, int]
    values: Callable[[np.random.Generator, int], Any]
    answers: list[str] | None = None
    part: float = 1.0
    """Of the runs: searching for words takes long."""


def _one_of(size: int) -> Callable[[np.random.Generator, int], Any]:
    shares = 1 / np.arange(1, size + 1)
    return lambda rng, n: rng.choice(size, size=n, p=shares / shares.sum())


def _sets(rng: np.random.Generator, n: int) -> Any:
    return [[str(option) for option in range(4) if drawn[option]][:2] for drawn in rng.random((n, 4)) < 0.3]


def _records(rng: np.random.Generator, n: int) -> Any:
    return {"country": rng.choice(["DE", "FR"], n, p=[0.7, 0.3]), "plan": rng.choice(["free", "pro", "team"], n)}


def _words(rng: np.random.Generator, n: int) -> Any:
    return rng.choice(["tea", "coffee", "water"], n, p=[0.6, 0.3, 0.1]).tolist()


KINDS: Final = (
    Kind("shares of 8", sv.shares(8), (1.0, 1.0), (1_000, 1_000), _one_of(8)),
    Kind("shares of 8", sv.shares(8), (0.5, 4.0), (4_000, 500), _one_of(8)),
    Kind("shares of 8, nobody has 7 of them", sv.shares(8), (2.0, 2.0), (500, 1_500), lambda _, n: np.zeros(n, int)),
    Kind("mean of a number", sv.number(0, 60), (1.0, 2.0), (1_000, 1_000), lambda rng, n: rng.gamma(2, 8, n)),
    Kind("mean of a number", sv.number(0, 60), (4.0, 4.0), (500, 1_500), lambda rng, n: rng.gamma(2, 8, n)),
    Kind("prefixes of 16", sv.queries(sv.workloads.Prefix(16)), (1.0, 1.0), (2_000, 2_000), _one_of(16)),
    Kind("2 of 4 choices", sv.choices(["0", "1", "2", "3"], most=2), (1.0, 4.0), (1_000, 1_000), _sets),
    Kind(
        "tables of 2 fields",
        sv.records({"country": ["DE", "FR"], "plan": ["free", "pro", "team"]}, tables=2),
        (1.0, 2.0),
        (2_000, 1_000),
        _records,
    ),
    Kind("words", sv.words(6, "latin"), (2.0, 4.0), (3_000, 2_000), _words, ["tea", "water", "cocoa"], 0.1),
)


def simulated(number: int, runs: int) -> tuple[int, float, float, float, float]:
    """One of `KINDS` where nothing differs: answers, shares of significant tests, of one, of all and by Holm; coverage.

    Coverage is that of a difference of zero, which both groups have.
    """
    kind = KINDS[number]
    surveys = [sv.Survey(kind.question, epsilon=epsilon, title=str(at)) for at, epsilon in enumerate(kind.epsilons)]
    single, joint, family, held, answers = [], [], [], [], 0
    for run in range(max(1, int(kind.part * runs))):
        rng = np.random.default_rng((SEED, run))
        estimates = [
            survey.estimate(survey.simulate(kind.values(rng, n), seed=int(rng.integers(2**31))))
            for survey, n in zip(surveys, kind.people, strict=True)
        ]
        comparison = sv.compare(estimates[0], estimates[1], answers=kind.answers)
        low, high = comparison.interval()
        answers = len(comparison)
        single.append(float((comparison.p_values <= ALPHA).mean()))
        family.append(bool(comparison.adjusted_p_values.min() <= ALPHA))
        joint.append(comparison.joint.p_value <= ALPHA)
        held.append(float(((low <= 0) & (high >= 0)).mean()))
    return answers, float(np.mean(single)), float(np.mean(joint)), float(np.mean(family)), float(np.mean(held))


# --- watched tests -----------------------------------------------------------------------------------------


def watched(epsilon: float, share: float, ratio: int, runs: int) -> tuple[float, float, float]:
    """How often a test is significant at some look where nothing differs: of every look, of one look; and ever wrong.

    At 100 looks until 20,000 reports of the first group. The last number is of a true difference of 10 points.
    """
    zero, one = outcomes = _outcomes(epsilon)
    looks = np.unique(np.geomspace(10, _MOST, _LOOKS).astype(np.int64))
    rng = np.random.default_rng((SEED, int(10 * epsilon), int(100 * share), ratio))
    found = []
    for change in (0.0, 0.1):
        arms = []
        for truth, times in ((share + change, 1), (share, ratio)):
            steps = rng.binomial(np.diff(looks * times, prepend=0), (truth - zero) / (one - zero), (runs, len(looks)))
            n = np.broadcast_to((looks * times).astype(np.float64), steps.shape).ravel()
            arms.append((zero + (one - zero) * np.cumsum(steps, axis=1).ravel() / n, n))
        shape = arms[0][0].shape
        ends, sides = (np.zeros(shape), np.ones(shape)), [np.full(shape, side) for side in outcomes]
        first, second = (ArmProcess.of_bits(sides[0], sides[1], raw, n, ends, ALPHA, 10_000) for raw, n in arms)
        excluded = lasting_p_values(first, second, np.full(shape, change)) <= ALPHA
        found.append(float(excluded.reshape(runs, -1).any(axis=1).mean()))
        if change == 0:
            (a, n), (b, m) = arms

            def variance(y: Floats) -> Floats:
                return np.asarray((y - zero) * (one - y))

            common = common_answer((a, b), (n, m), (variance, variance), ends)
            once = two_sided(a - b, np.sqrt(variance(common) * (1 / n + 1 / m))) <= ALPHA
            found.append(float(once.reshape(runs, -1).any(axis=1).mean()))
    return found[0], found[1], found[2]


def watched_power(epsilon: float, shares: tuple[float, float], runs: int) -> tuple[int, list[float], float]:
    """People of a group that are planned for a test of one look, and what a watched test makes of more.

    The shares of tests that are significant until 1, 2 and 3 times as many have come, and how many have when it stops,
    on average over those times what was planned, at 4 times at the latest.
    """
    rows = [[1 - share, share] for share in shares]
    planned = sv.plan([*YES], epsilon=epsilon, difference=abs(shares[0] - shares[1]), population=rows).groups[0]
    zero, one = _outcomes(epsilon)
    looks = np.unique((planned * np.arange(1, 41) / 10).astype(np.int64))
    rng = np.random.default_rng((SEED, int(10 * epsilon), planned))
    arms = []
    for share in shares:
        steps = rng.binomial(np.diff(looks, prepend=0), (share - zero) / (one - zero), (runs, len(looks)))
        n = np.broadcast_to(looks.astype(np.float64), steps.shape).ravel()
        raw, nothing = zero + (one - zero) * np.cumsum(steps, axis=1).ravel() / n, np.zeros(n.shape)
        ends = nothing, nothing + 1
        arms.append(ArmProcess.of_bits(nothing + zero, nothing + one, raw, n, ends, ALPHA, 10_000))
    seen = (lasting_p_values(arms[0], arms[1], np.zeros(runs * len(looks))) <= ALPHA).reshape(runs, -1)
    by_then = [float(seen[:, looks <= times * planned].any(axis=1).mean()) for times in (1, 2, 3)]
    stopped = np.where(seen.any(axis=1), looks[seen.argmax(axis=1)], looks[-1])
    return planned, by_then, float(stopped.mean() / planned)


# --- the page ----------------------------------------------------------------------------------------------


def page(runs: int = _RUNS) -> str:
    """The page of the documentation, measured anew, by as many processes as there are cores."""
    with ProcessPoolExecutor() as pool:
        return "\n".join([*_lines(runs, pool), ""])


def _lines(runs: int, pool: Executor) -> Iterator[str]:
    # All are started at once, the longest first.
    kinds = [pool.submit(simulated, number, runs) for number in reversed(range(len(KINDS)))][::-1]
    sizes = [pool.submit(exact, design) for design in EXACT]
    powers = [pool.submit(planned_power, *case) for case in PLANNED]
    lasting = [pool.submit(watched, *case, runs) for case in WATCHED]
    stopped = [pool.submit(watched_power, *case, runs) for case in STOPPED]
    yield from _HEAD.strip("\n").split("\n")
    headings: tuple[str, ...] = "first group", "second group", "largest size", "difference, least", "ratio, least"
    yield from _table(headings, [_exact_row(*each) for each in zip(EXACT, sizes, strict=True)])
    yield from _text(_POWER)
    headings = "epsilon", "shares", "people planned", "exact power"
    yield from _table(headings, [_power_row(*each) for each in zip(PLANNED, powers, strict=True)])
    yield from _text(_SIMULATED.format(runs=runs))
    headings = "question", "groups", "answers", "one answer", "all together", "any, by Holm", "intervals hold zero"
    yield from _table(headings, [_kind_row(*each) for each in zip(KINDS, kinds, strict=True)])
    yield from _text(_WATCHED.format(runs=runs, most=_MOST, looks=_LOOKS))
    headings = "epsilon", "share", "groups", "test of one look", "`always=True`", "interval ever wrong, 10 points"
    yield from _table(headings, [_watched_row(*each) for each in zip(WATCHED, lasting, strict=True)])
    yield from _text(_STOPPED.format(runs=runs))
    many = "seen with as many", "with twice", "with 3 times"
    headings = "epsilon", "shares", "planned in each group", *many, "stopped at, on average"
    yield from _table(headings, [_stopped_row(*each) for each in zip(STOPPED, stopped, strict=True)])


def _exact_row(design: tuple[Group, Group], found: Future[tuple[float, float, float]]) -> list[str]:
    return [*map(_named, design), *map(_percent, found.result())]


def _power_row(
    case: tuple[float, tuple[float, float, float]], found: Future[tuple[tuple[int, int], float]]
) -> list[str]:
    (epsilon, shares), (groups, power) = case, found.result()
    return [f"{epsilon:g}", _against(*shares[:2]), f"{groups[0]:,} and {groups[1]:,}", _percent(power)]


def _kind_row(kind: Kind, found: Future[tuple[int, float, float, float, float]]) -> list[str]:
    answers, *parts = found.result()
    groups = " and ".join(map(_named, zip(kind.epsilons, kind.people, strict=True)))
    return [kind.name, groups, f"{answers}", *map(_percent, parts)]


def _watched_row(case: tuple[float, float, int], found: Future[tuple[float, float, float]]) -> list[str]:
    (epsilon, share, ratio), (every, once, wrong) = case, found.result()
    return [f"{epsilon:g}", f"{100 * share:g} %", f"1 to {ratio}", *map(_percent, (once, every, wrong))]


def _stopped_row(case: tuple[float, tuple[float, float]], found: Future[tuple[int, list[float], float]]) -> list[str]:
    (epsilon, shares), (planned, by_then, mean) = case, found.result()
    return [f"{epsilon:g}", _against(*shares), f"{planned:,}", *map(_percent, by_then), f"{mean:.1f} times"]


def _against(one: float, other: float) -> str:
    return f"{100 * one:g} % against {100 * other:g} %"


def _text(text: str) -> Iterator[str]:
    yield ""
    yield from text.strip("\n").split("\n")


def _named(group: Group) -> str:
    return f"{group[1]:,} at epsilon {group[0]:g}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield ""
    yield f"| {' | '.join(headings)} |"
    yield "|---" * len(headings) + "|"
    yield from (f"| {' | '.join(row)} |" for row in rows)


_HEAD: Final = """
# Comparisons, measured

How well [comparisons of two groups](../comparing.md) hold. This page is written by its measurement, which is seeded and
takes a few minutes:

```console
$ python -m evidence.experiments.comparisons --out docs/contributors/comparisons.md
```

## Yes or no, exactly

Every pair of counts with its probability, for true shares of 0, 5, 30, 50, 80 and 100 % in each group. *Size*: how
often the 5 % test is significant where both shares are the same, the largest. *Difference* and *ratio*: how often the
95 % interval holds the truth, the least over all pairs of shares. Neither is proved. The test is too large for a few
reports only, where counts are whole numbers: 25 against 25 is 6.5 % at every epsilon, as it is without any noise.
"""

_POWER: Final = """

## Power where it was planned

`sv.plan(..., difference=..., population=...)` for a power of 80 %, and the exact power of the test that `sv.compare`
makes of so many people.
"""

_SIMULATED: Final = """

## Other questions, simulated

Both groups come from one population, {runs:,} times, words a tenth of it. *One answer*: the share of 5 % tests that
are significant, over all answers; *all together*: of `joint`; *any, by Holm*: how often any adjusted p-value is at most
5 %. All should be at most 5 %, but for the simulation's own error: a standard error of half a point, for words of 2.
"""

_WATCHED: Final = """

## Watched tests

{runs:,} tests of a yes-no question that are looked at {looks} times until the first group has {most:,} reports, and
stopped when they are significant. Nothing differs: a test of one look is then wrong far more often than 5 %,
`always=True` is not. The last column is of groups that differ by 10 points: how often the interval excludes the truth
at any look.
"""


_STOPPED: Final = """

How many people a watched test takes: a difference for which so many are planned, for one look with a power of 80 %, in
{runs:,} tests that are looked at 40 times.
"""


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="the page to write")
    parser.add_argument("--runs", type=int, default=_RUNS, help="simulated tests of each case")
    arguments = parser.parse_args()
    write_file(arguments.out, page(arguments.runs).encode())


if __name__ == "__main__":
    main()
