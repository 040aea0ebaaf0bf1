"""Vectors of numbers: positions and bins, surveys with reports, and what a device must refuse.

Nothing is searched for and nothing is compressed here, because both may differ between machines: see
`vectors_strategies`, whose channel this is.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import sottovoce as sv
from sottovoce.core.errors import SottovoceError
from sottovoce.domain import NumberGrid
from sottovoce.mechanisms.channel_matrix import ChannelMatrix
from sottovoce.mechanisms.haar import Haar
from sottovoce.questions import Number
from sottovoce.randomness import ByteSource
from sottovoce.strategies.minimax import MinimaxStrategy
from sottovoce.strategies.optimized import OptimizedStrategy
from sottovoce.strategies.trees.haar import HaarStrategy
from vectors_strategies import CYCLE, channel_content, channel_digest, pack_channel

__all__ = ["number_vectors"]

Tape = Callable[[str], Any]

ESTIMATES = [-4.25, -1.5, 1.5, 4.25, 0.0]
"""What the five reports of the channel might stand for."""

WEIGHTS = [0.125, 0.25, 0.25, 0.375]

GRIDS = (
    (0, 600, 65),
    (-273.15, 1e4, 33),
    (0.1, 0.7, 4),
    (-1e50, 1e50, 129),
    (1e9, 1e9 + 1e7, 2),
    (5e-40, 1e-39, 7),
)


def number_vectors(tape: Tape) -> dict[str, Any]:
    """Positions, surveys with reports, and refusals; `tape` makes a recorder of known bytes from a label."""
    surveys = list(_surveys())
    return {
        "about": "Numbers. `value` is a hexadecimal float; `position` is that of a grid with so many points, `bin` the "
        "bin of as many that holds it. `input` is what is randomized: a position, or the number of a bin; null is "
        "a missing value.",
        "grids": [_grid(*ends) for ends in GRIDS],
        "surveys": [_survey(survey, attachment, tape) for survey, attachment in surveys],
        "bad_surveys": [_refused(*case) for case in _bad(*surveys[0])],
    }


def _grid(low: float, high: float, points: int) -> dict[str, Any]:
    grid = NumberGrid(low, high, "", points)
    binned = Number(grid, "distribution")
    inside = [low + (high - low) * part for part in (0.0, 0.1, 1 / 3, 0.5, 0.77, 0.999999, 1.0)]
    numbers = [*inside, low - (high - low), high + (high - low), 0.0, 5e-324, 1.5e300, -1.5e300]
    return {
        "number": grid.to_statement(),
        "positions": [
            {"value": float(x).hex(), "position": grid.position(x), "bin": binned.private_input(x)} for x in numbers
        ],
    }


def _surveys() -> Iterator[tuple[sv.Survey, bytes]]:
    """One of each aim; the channel is that of the strategies' vectors."""
    matrix, rows = ChannelMatrix(np.array(CYCLE), 7), CYCLE
    mean = Number(NumberGrid(-20, 40, "degrees", 4))
    yield (
        sv.Survey.of_design(mean, MinimaxStrategy.of(mean.workload, 1.0, matrix, np.array(ESTIMATES))),
        pack_channel(rows, 7, ESTIMATES),
    )
    spread = Number(NumberGrid(0, 1.5, "", 4), "spread")
    yield (
        sv.Survey.of_design(spread, OptimizedStrategy.of(spread.workload, 1.0, matrix, np.array(WEIGHTS))),
        pack_channel(rows, 7, WEIGHTS),
    )
    curve = Number(NumberGrid(0, 600, "minutes", 13), "distribution")
    yield sv.Survey.of_design(curve, HaarStrategy(curve.workload, Haar(13, 1.0, 8))), b""
    gaps = Number(NumberGrid(-20, 40, "degrees", 4, missing=12.5))
    yield (
        sv.Survey.of_design(gaps, MinimaxStrategy.of(gaps.workload, 1.0, matrix, np.array(ESTIMATES))),
        pack_channel(rows, 7, ESTIMATES),
    )
    gaps = Number(NumberGrid(0, 600, "minutes", 13, missing=0), "distribution")
    yield sv.Survey.of_design(gaps, HaarStrategy(gaps.workload, Haar(13, 1.0, 8))), b""


def _survey(survey: sv.Survey, attachment: bytes, tape: Tape) -> dict[str, Any]:
    attachments = {str(survey.design.digest): attachment} if attachment else {}
    if sv.Survey.from_json(survey.to_json(), attachments).id != survey.id:
        raise ValueError("the attachment stands for another survey")
    grid = survey.question.grid
    inside = [grid.low, grid.low + grid.spacing / 3, grid.middle, grid.high - 0.125, grid.high, 1e9, -1e9]
    values, runs = (inside, 3) if grid.missing is None else ([grid.middle, None], 1)
    return {
        "canonical": survey.to_json(),
        "id": survey.id,
        "tag": survey.tag.hex(),
        "wants": survey.question.wants,
        "digest": survey.design.digest,
        "attachment": attachment.hex(),
        "report_bytes": survey.mechanism.report_bytes,
        "reports": [_report(survey, value, run, tape) for value in values for run in range(runs)],
    }


def _report(survey: Any, value: float | None, run: int, tape: Tape) -> dict[str, Any]:
    recorder = tape(f"sottovoce {survey.id} {value!r} {run}")
    given = survey.private_input(value)
    payload = survey.mechanism.encode(survey.mechanism.randomize(given, ByteSource(recorder)))
    return {
        "value": None if value is None else value.hex(),
        "input": given,
        "tape": recorder.read.hex(),
        "report": (survey.tag + payload).hex(),
    }


def _bad(survey: sv.Survey, attachment: bytes) -> Iterator[tuple[str, str, bytes]]:
    """(fault, survey, attachment): the first survey with one fault each."""

    def asked(fault: str, **changes: Any) -> tuple[str, str, bytes]:
        stated = json.loads(survey.to_json())
        question = {**stated["question"], **changes}
        stated["question"] = {name: field for name, field in question.items() if field is not None}
        return fault, json.dumps(stated, separators=(",", ":"), sort_keys=True), attachment

    def attached(fault: str, numbers: list[float]) -> tuple[str, str, bytes]:
        stated = json.loads(survey.to_json())
        stated["design"]["digest"] = channel_digest(channel_content(CYCLE, 7), numbers)
        packed = pack_channel(CYCLE, 7, numbers)
        return fault, json.dumps(stated, separators=(",", ":"), sort_keys=True), packed

    yield asked("low above high", low=41)
    yield asked("low equal to high", low=40)
    yield asked("an end that is a text", low="0")
    yield asked("an end that is a truth value", low=False)
    yield asked("an end out of range", high=1e51)
    yield asked("a range too small for doubles", low=1e9, high=1e9 + 86400)
    yield asked("one point", points=1)
    yield asked("points that are no integer", points=4.5)
    yield asked("other points than the channel's", points=5)
    yield asked("a unit that is no text", unit=7)
    yield asked("a unit of two lines", unit="a\nb")
    yield asked("a unit of 41 characters", unit="x" * 41)
    yield asked("another aim", wants="median")
    yield asked("an aim of another strategy", wants="spread")
    yield asked("no aim", wants=None)
    yield asked("a field too many", step=1)
    yield asked("missing above high", missing=41)
    yield asked("missing as a text", missing="0")
    yield attached("estimates of another number", ESTIMATES[:4])
    yield attached("an estimate that is no number", [float("nan"), *ESTIMATES[1:]])
    yield attached("an estimate too large", [1e10, *ESTIMATES[1:]])
    yield "no attachment", survey.to_json(), struct.pack("<Q", 0)


def _refused(fault: str, survey: str, attachment: bytes) -> dict[str, str]:
    digest = str(json.loads(survey)["design"]["digest"])
    try:
        sv.Survey.from_json(survey, {digest: attachment})
    except SottovoceError as error:
        return {"fault": fault, "survey": survey, "attachment": attachment.hex(), "error": type(error).__name__}
    raise ValueError(f"{fault} is accepted")
