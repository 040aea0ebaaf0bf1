"""One battery of checks for every mechanism, ours or yours.

Almost all of it is exact: on a small domain the device code is run on every outcome of its
randomness, and privacy, bias and variance follow by summation, without sampling.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from sottovoce.auditing.blankets import blanket_fault
from sottovoce.auditing.budget import Budget
from sottovoce.auditing.channel import Channel, ExactLaw, stated_channel, worst_ratio
from sottovoce.auditing.runs import LEAST_RUNS, run_device
from sottovoce.auditing.sampled import first_wrong_run
from sottovoce.auditing.subject import Subject, failure
from sottovoce.core.errors import MechanismError, ReportError
from sottovoce.core.extras import full_install
from sottovoce.mechanisms.base import Mechanism
from sottovoce.mechanisms.channel import ChannelMechanism
from sottovoce.mechanisms.finite import FiniteMechanism
from sottovoce.mechanisms.reference import ChannelReference
from sottovoce.mechanisms.registry import register
from sottovoce.mechanisms.sets import SetMechanism
from sottovoce.randomness import Source, epsilon_of, within_epsilon
from sottovoce.randomness.scripts import row_of
from sottovoce.theory.blanket_laws import ListedCover

__all__ = [
    "ConformanceError",
    "admit",
    "admit_class",
    "check_instance",
    "check_mechanism",
]

DOMAIN_SIZES = (3, 6)
EPSILONS = (0.5, 1.0, 3.0)
SIMULATED = 50_000
_PEOPLE: Final = 2**40
"""People whose reports are summed in their exact proportions, to see where an estimate goes."""

FALSE_ALARM = 1e-10
"""Chance that one simulation check rejects a correct mechanism."""


ADMISSION_SECONDS = 0.2
"""Processor time for which a device of another package is run at the size of a survey."""


class ConformanceError(AssertionError):
    """A mechanism breaks its contract; the message says which clause and where."""


def check_mechanism(
    mechanism: type[Mechanism],
    domain_sizes: tuple[int, ...] = DOMAIN_SIZES,
    epsilons: tuple[float, ...] = EPSILONS,
    *,
    simulation: bool = True,
) -> None:
    """Run the whole battery over the miniatures and a grid of small domains; silent when all is well.

    Without `simulation`, the one check that draws samples and needs SciPy is left out: devices do not simulate.

    Examples
    --------
    >>> from sottovoce.mechanisms.hadamard import Hadamard
    >>> check_mechanism(Hadamard, domain_sizes=(3,), epsilons=(1.0,))
    """
    for epsilon in epsilons:
        with _reporting_crashes(mechanism, f"miniatures, epsilon={epsilon:g}"):
            instances = list(mechanism.miniatures(epsilon))
        for domain_size in domain_sizes:
            with _reporting_crashes(mechanism, f"best, J={domain_size}, epsilon={epsilon:g}"):
                instances.append(mechanism.typical(domain_size, epsilon))
        for instance in instances:
            check_instance(instance, simulation=simulation)


def check_instance(mechanism: Mechanism, *, simulation: bool = True) -> None:
    """Run the battery on one small mechanism of known law; what concerns estimates only where it makes them."""
    with _reporting_crashes(type(mechanism), _place(mechanism)):
        for check in _CHECKS:
            check(mechanism)
        for family, check_estimates in _ESTIMATES.items():
            if isinstance(mechanism, family):
                check_estimates(mechanism)
        if simulation:
            _simulation(mechanism)


@contextmanager
def _reporting_crashes(kind: type[Mechanism], where: str) -> Iterator[None]:
    """An error of the mechanism's own code is a failed check too, and the message says for which instance."""
    try:
        yield
    except ConformanceError:
        raise
    except (Exception, SystemExit) as error:
        raise ConformanceError(f"{kind.name} ({where}): its code raises {type(error).__name__}: {error}") from error


def _place(mechanism: Mechanism) -> str:
    sizes = {"domain_size": "J", "options": "J", "most": "most"}
    stated = [f"{short}={getattr(mechanism, name)}" for name, short in sizes.items() if hasattr(mechanism, name)]
    return ", ".join([*stated, f"epsilon={mechanism.epsilon:g}"])


_verdicts: dict[type[Mechanism], str] = {}
"""What the battery said of every mechanism of another package that was used in this process; empty if it passed."""


def admit(mechanism: Mechanism) -> None:
    """Raise `MechanismError` unless a survey may use this mechanism of another package.

    Its class is admitted, this very instance states a likelihood ratio within e^epsilon, and its device, run for a
    moment at this size, does what it states.
    """
    kind = type(mechanism)
    admit_class(kind)
    if not within_epsilon(_law(mechanism).privacy_ratio(), mechanism.epsilon):
        raise MechanismError(f"{kind.name} ({_place(mechanism)}) states a likelihood ratio above e^epsilon")
    wrong = _wrong_at_its_size(mechanism)
    if wrong:
        raise MechanismError(
            f"{kind.name} ({_place(mechanism)}) does not do what it states: {wrong} (run sottovoce.audit on it to see "
            "more)"
        )


@lru_cache(maxsize=256)
def _wrong_at_its_size(mechanism: Mechanism) -> str:
    """What a device does otherwise than stated, at the values and draws where faults are likely and some others."""
    reference, budget = mechanism.stated_reference(), Budget(ADMISSION_SECONDS, runs=LEAST_RUNS)
    if isinstance(reference, ChannelReference):
        wrong = run_device(Subject(mechanism), reference, budget).wrong
        return "" if wrong is None else wrong.words
    if reference is None:
        return "it states no law that its device could be run against"
    try:
        return first_wrong_run(Subject(mechanism), reference, budget)
    except Exception as error:
        return failure(error)


def _law(mechanism: Mechanism) -> ExactLaw:
    """The mechanism as one of known law, as all are that the battery is run on."""
    return cast(ExactLaw, mechanism)


def admit_class(kind: type[Mechanism]) -> None:
    """Raise `MechanismError` unless the class is registered and passes the battery, which runs once in a process."""
    register(kind)
    if kind not in _verdicts:
        try:
            check_mechanism(kind, simulation=False)
        except ConformanceError as error:
            _verdicts[kind] = str(error)
        else:
            _verdicts[kind] = ""
    if _verdicts[kind]:
        raise MechanismError(
            f"mechanism {kind.name!r} fails its battery of checks and is not used: {_verdicts[kind]} (to see where, "
            f"run sottovoce.auditing.conformance.check_mechanism({kind.__name__}))"
        )


def _demand(holds: object, mechanism: Mechanism, clause: str) -> None:
    if not holds:
        raise ConformanceError(f"{mechanism.name} ({_place(mechanism)}): {clause}")


def _device(m: Mechanism) -> None:
    """Every outcome of the device's randomness, run once: what it sends, and what it asks of the source."""
    patterns: set[tuple[tuple[str, int], ...]] = set()

    def sent(value: Any, source: Source) -> bytes:
        recorder = _Recorder(source)
        report = m.randomize(value, recorder)
        patterns.add(tuple(recorder.asked))
        return m.encode(report)

    _privacy(m, {number: row_of(partial(sent, value)) for number, value in enumerate(m.miniature_inputs())})
    # The number and kind of draws is an output too: it must not depend on anything.
    _demand(len(patterns) == 1, m, "the draws asked of the source depend on the value or on earlier draws")


def _privacy(m: Mechanism, channel: Channel) -> None:
    ratio = worst_ratio(channel)
    _demand(ratio is not None, m, "some report is possible for one value and impossible for another")
    if ratio is not None:
        _demand(within_epsilon(ratio, m.epsilon), m, "the device's likelihood ratio exceeds e^epsilon")
        stated = _law(m).privacy_ratio()
        attained = ratio == stated if isinstance(m, ChannelMechanism) else ratio <= stated
        _demand(attained and within_epsilon(stated, m.epsilon), m, "privacy_ratio is not the device's worst ratio")
        _demand(epsilon_of(stated) > 0.99 * m.epsilon, m, "the mechanism wastes more than a hundredth of its epsilon")
    _demand(channel == stated_channel(_law(m)), m, "probability does not state the device's channel")


class _Recorder:
    """Passes draws on and notes what was asked for."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.asked: list[tuple[str, int]] = []

    def below(self, n: int) -> int:
        self.asked.append(("below", n))
        return self._source.below(n)

    def bernoulli(self, threshold: int) -> bool:
        self.asked.append(("bernoulli", 0))
        return self._source.bernoulli(threshold)


def _encoding(m: Mechanism) -> None:
    reports = list(_law(m).outputs())
    encoded = [m.encode(report) for report in reports]
    _demand({len(row) for row in encoded} == {m.report_bytes}, m, "encoded reports differ in length")
    _demand(len(set(encoded)) == len(encoded), m, "two reports share one encoding")
    _demand([m.decode(row) for row in encoded] == reports, m, "decode does not undo encode")
    kinds = {type(m.decode(row)) for row in encoded} | {type(report) for report in reports}
    _demand(len(kinds) == 1, m, "reports differ in type")
    rows = np.frombuffer(b"".join(encoded), dtype=np.uint8).reshape(len(encoded), -1)
    again = m.codec.encode_many(m.codec.decode_many(rows))
    _demand(np.array_equal(again, rows), m, "encode_many and decode_many disagree with encode and decode")
    for bad in (b"", encoded[0] + b"\0", encoded[0][:-1]):
        _demand(_refused(m.decode, bad), m, "decode accepts bytes of the wrong length")
    if m.report_bytes <= 2:
        every = (n.to_bytes(m.report_bytes, "little") for n in range(256**m.report_bytes))
        accepted = {row for row in every if not _refused(m.decode, row)}
        _demand(accepted == set(encoded), m, "decode accepts bytes that no device sends")


def _refused(decode: Callable[[bytes], Any], payload: bytes) -> bool:
    try:
        decode(payload)
    except ReportError:
        return True
    return False


def _single_reports(m: FiniteMechanism) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """P(report | value) and the estimate made from that report alone, for every report."""
    chances, estimates = [], []
    for report, estimate in m.single_estimates():
        estimates.append(estimate)
        chances.append([float(m.probability(report, value)) for value in range(m.domain_size)])
    return np.array(chances), np.array(estimates)


def _frequencies(m: FiniteMechanism) -> Iterator[NDArray[np.float64]]:
    """Point masses, uniform on every prefix, and a few in between."""
    J = m.domain_size
    yield from np.eye(J)
    for k in range(2, J + 1):
        yield np.where(np.arange(J) < k, 1 / k, 0.0)
    yield from np.random.default_rng(1).dirichlet(np.ones(J), size=5)


def _accuracy(m: FiniteMechanism) -> None:
    chances, estimates = _single_reports(m)
    identity = np.eye(m.domain_size)
    _demand(np.allclose(chances.T @ estimates, identity, atol=1e-9), m, "the estimate is biased")
    totals = []
    for p in _frequencies(m):
        variance = (chances @ p) @ estimates**2 - p**2
        _demand(np.allclose(m.variance(p, 1), variance, rtol=1e-9, atol=1e-12), m, "variance is not the exact one")
        _demand(np.allclose(m.variance(p, 7) * 7, variance, rtol=1e-9, atol=1e-12), m, "variance is not 1/n")
        totals.append(float(variance.sum()))
        for scale in (-3.0, -1.0, -0.1, 0.1, 1.0, 3.0):
            step = scale / math.sqrt(m.proxy)
            mgf = np.log((chances @ p) @ np.exp(step * (estimates - p)))
            _demand((mgf <= step**2 * m.proxy / 2 + 1e-12).all(), m, "proxy is not a sub-Gaussian proxy")
    weights = np.random.default_rng(4).normal(size=(3, m.domain_size))
    moments = np.square(weights @ estimates.T) @ chances
    _demand(np.allclose(m.second_moments(weights), moments, rtol=1e-9), m, "second_moments are not the exact ones")
    worst = m.worst_total_variance
    _demand(max(totals) <= worst * (1 + 1e-9), m, "worst_total_variance is exceeded")
    _demand(max(totals) >= worst * 0.98, m, "worst_total_variance is not attained")


def _shares(m: SetMechanism) -> None:
    """Check that very many reports of people who all hold one set, in exact proportions, give that set.

    Not where a public key throws options into bins: such an estimate is unbiased only over all keys.
    """
    if hasattr(m, "key"):
        return
    reports = list(m.outputs())
    counts = []
    for report in reports:
        single, payload = m.empty(), np.frombuffer(m.encode(report), dtype=np.uint8)
        m.count_into(single, m.codec.decode_many(payload[None, :]))
        counts.append(single)
    for row in m.miniature_inputs():
        numbers = np.array([round(m.probability(report, row) * _PEOPLE) for report in reports])
        estimate = m.estimate(numbers @ np.array(counts), int(numbers.sum()))
        held = np.isin(np.arange(m.options), row)
        _demand(np.allclose(estimate, held, atol=1e-5), m, "the estimate is biased")


def _aggregation(m: Mechanism) -> None:
    batch = m.randomize_many(np.array(list(m.miniature_inputs())).repeat(3, axis=0), np.random.default_rng(2))
    whole, parts = m.empty(), m.empty()
    m.count_into(whole, batch)
    for i in reversed(range(len(batch))):
        m.count_into(parts, batch[i : i + 1])
    _demand(np.array_equal(whole, parts), m, "counting depends on order or grouping")
    _demand(whole.dtype == np.int64, m, "counts are not 64-bit integers")


def _simulation(m: Mechanism) -> None:
    """Pearson's test of simulated reports against the exact channel, for every value."""
    with full_install:
        from scipy.stats import chi2

    law = _law(m)
    for number, value in enumerate(m.miniature_inputs()):
        batch = m.randomize_many(np.repeat([value], SIMULATED, axis=0), np.random.default_rng(3 + number))
        rows = np.ascontiguousarray(m.codec.encode_many(batch))
        seen = Counter(rows.view(f"V{rows.shape[1]}").ravel().tolist())
        chances = {m.encode(r): law.probability(r, value) for r in law.outputs()}
        _demand(set(seen) <= {r for r, p in chances.items() if p}, m, "simulation sends an impossible report")
        statistic, cells = _pearson(seen, chances)
        limit = float(chi2.isf(FALSE_ALARM, max(1, cells - 1)))
        _demand(statistic <= limit, m, "randomize_many does not follow the device's law")


def _pearson(seen: dict[bytes, int], chances: dict[bytes, Fraction]) -> tuple[float, int]:
    """The statistic and its number of cells; rare reports share one cell, so that the law of chi^2 applies."""
    expected = {r: float(p) * SIMULATED for r, p in chances.items() if p}
    common = [r for r, mean in expected.items() if mean >= 20]
    cells = [(seen.get(r, 0), expected[r]) for r in common]
    rare = SIMULATED - sum(mean for _, mean in cells)
    if rare >= 20:
        cells.append((SIMULATED - sum(n for n, _ in cells), rare))
    return sum((n - mean) ** 2 / mean for n, mean in cells), len(cells)


def _blanket(m: Mechanism) -> None:
    """The blanket, where it is stated; a listed one states nothing."""
    blanket = None if type(m).blanket is ChannelMechanism.blanket else m.blanket()
    if blanket is not None and not isinstance(blanket.cover, ListedCover):
        values, law = m.miniature_inputs(), _law(m)
        reports = list(law.outputs())
        channel = np.array([[float(law.probability(report, value)) for report in reports] for value in values])
        fault = blanket_fault(blanket, channel)
        _demand(fault is None, m, f"blanket is wrong: {fault}")


def _metadata(m: Mechanism) -> None:
    _demand(m.name and m.summary and m.use_when, m, "name, summary or use_when is missing")
    _demand("@" in m.citation() and "year" in m.citation(), m, "citation is not BibTeX")
    _demand(replace(m, **m.parameters()) == m, m, "parameters do not restore the mechanism")
    _demand(m.report_bits <= 8 * m.report_bytes < m.report_bits + 8, m, "report_bits and report_bytes disagree")


_ESTIMATES: Final[dict[type, Callable[[Any], None]]] = {FiniteMechanism: _accuracy, SetMechanism: _shares}
"""What is checked of a family's estimates."""

_CHECKS: tuple[Callable[[Mechanism], None], ...] = (
    _device,
    _encoding,
    _aggregation,
    _blanket,
    _metadata,
)
