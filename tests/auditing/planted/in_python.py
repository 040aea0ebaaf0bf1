"""Faults of the Python device: at one value, seed or set, in special values, in its memory and its entropy."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any
from unittest import mock

import sottovoce as sv
from auditing.planted.fault import PlantedFault
from auditing.planted.surveys import number, sets, values, vectors, wheel, words
from sottovoce.mechanisms.gaussian import Gaussian
from sottovoce.mechanisms.hashed_prefixes import HashedPrefixes
from sottovoce.mechanisms.rejection import Rejection
from sottovoce.mechanisms.set_selection import SetSelection
from sottovoce.mechanisms.wheel import Wheel
from sottovoce.randomness import ByteSource
from sottovoce.surveys import survey as survey_module

__all__ = ["PYTHON"]

SOUND = sv.Survey.randomize


def told(report: bytes) -> bytes:
    """Another report."""
    return report[:-1] + bytes([report[-1] ^ 1])


def in_survey(make: Callable[[], Callable[[sv.Survey, Any], bytes]]) -> Callable[[], Any]:
    """Another `Survey.randomize`, made anew for every audit, so that what it remembers begins with it."""
    return lambda: mock.patch.object(sv.Survey, "randomize", make())


def where(telling: Callable[[Any], bool]) -> Callable[[], Any]:
    """The values of which that is true are told."""
    return in_survey(lambda: lambda self, value: told(SOUND(self, value)) if telling(value) else SOUND(self, value))


def in_mechanism(kind: type, method: str, device: Callable[..., Any]) -> Callable[[], Any]:
    """Another device of one mechanism, at deployed sizes only; it gets the sound one first."""
    sound = getattr(kind, method)

    def randomize(self: Any, value: Any, source: Any) -> Any:
        small = self in type(self).miniatures(self.epsilon) if method == "_randomize" else self.bits < 9
        report = sound(self, value, source)
        return report if small else device(self, value, report)

    return lambda: mock.patch.object(kind, method, randomize)


def counting(telling: Callable[[int], bool]) -> Callable[[], Any]:
    """Reports are told by how many there were before."""

    def make() -> Any:
        count = iter(range(10**9))
        return lambda self, value: told(SOUND(self, value)) if telling(next(count)) else SOUND(self, value)

    return in_survey(make)


def same_value_again() -> Any:
    kept: dict[str, Any] = {"value": object()}

    def randomize(self: sv.Survey, value: Any) -> bytes:
        if value != kept["value"]:
            kept.update(value=value, report=SOUND(self, value))
        return bytes(kept["report"])

    return randomize


def value_that_comes_back() -> Any:
    seen: list[Any] = [None, None]

    def randomize(self: sv.Survey, value: Any) -> bytes:
        back = seen[-2] == value != seen[-1]
        seen.append(value)
        return told(SOUND(self, value)) if back else SOUND(self, value)

    return randomize


def report_before() -> Any:
    """Every report but the first has the last byte of the one before, one time in 64."""
    kept = [b"\0"]

    def randomize(self: sv.Survey, value: Any) -> bytes:
        report = SOUND(self, value)
        leaking = report[-1] % 64 == 7
        kept.append(report)
        return report[:-1] + kept[-2][-1:] if leaking else report

    return randomize


@contextmanager
def one_block_again() -> Iterator[None]:
    """From the second report on, the bytes of the first are read again."""
    first: list[bytes] = []

    def source() -> ByteSource:
        system = vars(sys.modules["sottovoce.randomness.source"])["os"]
        if len(first) < 40:
            return ByteSource(lambda n: first.append(system.urandom(n)) or first[-1])
        pieces = iter(first)
        return ByteSource(lambda n: next(pieces, b"").ljust(n, b"\0")[:n])

    with mock.patch.object(survey_module, "os_source", source):
        yield


@contextmanager
def words_twice() -> Iterator[None]:
    """Two coins in a row read the same eight bytes."""

    def source() -> ByteSource:
        system, kept = vars(sys.modules["sottovoce.randomness.source"])["os"], list[bytes]()

        def read(n: int) -> bytes:
            kept.append(kept[-1] if kept and len(kept) % 2 and len(kept[-1]) == n else system.urandom(n))
            return kept[-1]

        return ByteSource(read)

    with mock.patch.object(survey_module, "os_source", source):
        yield


FIRST_REPORT = """
import sottovoce as sv
sound, calls = sv.Survey.randomize, []
def randomize(self, value):
    calls.append(value)
    report = sound(self, value)
    return report[:-1] + bytes([report[-1] ^ 1]) if len(calls) == 1 else report
sv.Survey.randomize = randomize
"""


@contextmanager
def first_of_a_process() -> Iterator[None]:
    """The first report of every new process is told; those of this one are not any more."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        (Path(folder) / "sitecustomize.py").write_text(FIRST_REPORT)
        paths = os.pathsep.join([folder, *sys.path])
        stack.enter_context(mock.patch.dict(os.environ, {"PYTHONPATH": paths}))
        yield


def noise_of_the_last_report() -> Any:
    sound, kept = Gaussian._randomize, list[int]()

    def randomize(self: Gaussian, vector: Any, source: Any) -> Any:
        report, grid = list(sound(self, vector, source)), self.on_grid(vector)
        noise = report[-1] - grid[-1]
        if kept and len(kept) % 2:
            report[-1] = max(-self.bound, min(self.bound, grid[-1] + kept[-1]))
        kept.append(noise)
        return tuple(report)

    return mock.patch.object(Gaussian, "_randomize", randomize)


def is_negative_zero(value: Any) -> bool:
    return isinstance(value, float) and str(value) == "-0.0"


PYTHON = [
    PlantedFault("one value in 50,000 is told", values, where(lambda value: value == 31_337), seconds=12),
    PlantedFault(
        "values from 2^15 on are told one time in two", values, where(lambda v: v >= 2**15 and time.time_ns() % 2)
    ),
    PlantedFault("the number -0.0 is told", number, where(is_negative_zero)),
    PlantedFault("subnormal numbers are told", number, where(lambda value: 0 < abs(value) < 2.3e-308)),
    PlantedFault("a Decimal is told", number, where(lambda value: isinstance(value, Decimal))),
    PlantedFault(
        "numbers beyond all doubles are told",
        number,
        where(lambda value: isinstance(value, int) and abs(value) > 10**308),
    ),
    PlantedFault("the number just below a grid point is told", number, where(lambda v: v == 39.99999999999999)),
    PlantedFault(
        "one pair of options is told",
        sets,
        in_mechanism(
            SetSelection,
            "_randomize",
            lambda m, row, sent: (
                tuple(sorted({*range(m.subset_size)})) if row[:2] == (7, 33) and row[2] >= 60 else sent
            ),
        ),
        seconds=30,
    ),
    PlantedFault(
        "one seed in 2,048 sends its first bin",
        lambda: wheel(2048),
        in_mechanism(Wheel, "_randomize", lambda m, row, sent: 1234 * m.bins if sent // m.bins == 1234 else sent),
        seconds=20,
    ),
    PlantedFault(
        "one seed in 65,536 sends its first bin",
        lambda: wheel(65_536),
        in_mechanism(Wheel, "_randomize", lambda m, row, sent: 54_321 * m.bins if sent // m.bins == 54_321 else sent),
        seconds=400,
        long=True,
    ),
    PlantedFault(
        "words of the longest length are told",
        words,
        in_mechanism(HashedPrefixes, "randomize", lambda m, code, sent: sent ^ 1 if code[-1] else sent),
    ),
    PlantedFault("the same value twice at once sends one report", values, in_survey(same_value_again)),
    PlantedFault("a value that comes back after another is told", values, in_survey(value_that_comes_back)),
    PlantedFault("sets: the same set twice at once sends one report", sets, in_survey(same_value_again)),
    PlantedFault("a byte of the report before is sent", values, in_survey(report_before)),
    PlantedFault("every 5,000th report is told", values, counting(lambda number: number % 5000 == 4999), seconds=4),
    PlantedFault("every report from the second on is told", values, counting(lambda number: number > 0)),
    PlantedFault("the random bytes of the first reports are used again", values, one_block_again),
    PlantedFault("two draws in a row read the same bytes", lambda: values(64, "unary_optimized"), words_twice),
    PlantedFault("the first report of a process is told", lambda: values(64), first_of_a_process, seconds=6),
    PlantedFault("noise of the last report is used again", lambda: vectors("gaussian"), noise_of_the_last_report),
    PlantedFault(
        "one seed in a thousand sends 1",
        lambda: vectors("rejection"),
        in_mechanism(Rejection, "_randomize", lambda m, vector, sent: (sent[0], 1) if sent[0] % 1000 == 77 else sent),
        seconds=20,
    ),
    PlantedFault(
        "one seed in 65,536 of 2^64 sends 1",
        lambda: vectors("rejection"),
        in_mechanism(Rejection, "_randomize", lambda m, vector, sent: (sent[0], 1) if sent[0] % 65_536 == 77 else sent),
        seconds=4,
        missed="2^64 seeds cannot be swept: some 70,000 random ones, minutes of `--seconds`, would have to be run",
    ),
    PlantedFault(
        "a report is told from the 10,000,000th on",
        values,
        counting(lambda number: number > 10**7),
        missed="an audit makes fewer reports than that in its time",
    ),
    PlantedFault(
        "reports are told from 2100 on",
        values,
        where(lambda value: time.time() > 4_102_444_800),
        missed="the clock is not changed by an audit of surveys",
    ),
    PlantedFault(
        "one value together with one of its reports is told",
        values,
        in_survey(
            lambda: (
                lambda self, value: (lambda sent: told(sent) if value == 12_345 and sent[-2:] == b"\x17\x42" else sent)(
                    SOUND(self, value)
                )
            )
        ),
        missed="too many pairs of a value and a draw; `fault_size` says what would have been seen",
    ),
]
