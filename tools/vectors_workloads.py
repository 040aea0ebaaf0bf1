"""Vectors of direct surveys: for every workload a small one, with the columns of some values and their reports.

The reports are such that no rounding decides about them: they stay what they are if a column is off in its ninth digit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import numpy as np

import sottovoce as sv
from sottovoce.mechanisms.codebook import Codebook
from sottovoce.randomness import ByteSource, tape_source
from sottovoce.strategies.direct import Direct
from sottovoce.workloads import (
    Bins,
    Dense,
    Features,
    Identity,
    Marginals,
    Parities,
    Prefix,
    Ranges,
    Sparse,
    Stack,
    Workload,
)

__all__ = ["direct_vectors"]

Tape = Callable[[str], Any]

OFF = 1e-9
"""By how much a column is moved, in every entry, to see whether its report stays."""


def direct_vectors(tape: Tape) -> list[dict[str, Any]]:
    """Surveys with reports; `tape` makes a recorder of known bytes from a label."""
    return [_survey(workload, values, tape) for workload, values in _asked()]


def _asked() -> Iterator[tuple[Workload, list[Any]]]:
    """Workloads, and values of their domains as a person gives them."""
    people = sv.Domain.product(age=range(10, 25, 5), sex=["F", "M"])
    yield Identity(["no", "yes", "perhaps"]), ["no", "perhaps"]
    yield Prefix(range(9, 0, -4)), [9, 5]
    yield Ranges(4), [0, 2]
    yield Bins(range(0, 20, 2), [1, 6, 7, 30]), [0, 6, 18]
    yield Bins(people, [10, 15, 21], attribute="age"), [{"age": 15, "sex": "M"}]
    yield Marginals(people, k=1), [{"age": 10, "sex": "M"}, {"age": 20, "sex": "F"}]
    yield Parities(3, 2), [1, 6]
    yield Parities(sv.Domain.product(a=2, b=2, c=2), 3), [{"a": 1, "b": 0, "c": 0}]
    yield Dense([[0.75, -0.5, 0.25], [2.5, 0.0, 1.5]]), [0, 2]
    yield Features(range(-1, 2), lambda x: (x / 2, x * x / 4), names=["half", "square"]), [-1, 1]
    yield Sparse(([1, 0, 1], [3, 7, 7], [2.0, -3.0, 0.5], (2, 9))), [0, 3, 7]
    yield Stack([Identity(3), Ranges(3)], weights=[2.0, 0.5]), [0, 1]


def _survey(workload: Workload, values: list[Any], tape: Tape) -> dict[str, Any]:
    mechanism = Codebook(workload.n_queries, workload.radius, 1.0, 0.0, 64, 32, 11, 15, 6)
    survey = sv.Survey(sv.queries(workload), epsilon=1.0, strategy=Direct(workload, mechanism))
    return {
        "canonical": survey.to_json(),
        "id": survey.id,
        "queries": workload.n_queries,
        "radius": workload.radius,
        "reports": [next(_reports(survey, value, tape)) for value in values],
    }


def _reports(survey: Any, value: Any, tape: Tape) -> Iterator[dict[str, Any]]:
    column = survey.question.workload.column(survey.domain.index(value))
    shown = np.trim_zeros(column, "b").tolist()
    for run in count():
        recorder = tape(f"sottovoce {survey.id} {value} {run}")
        payload = _payload(survey, column, ByteSource(recorder))
        if _is_settled(survey, column, recorder.read, payload):
            report = (survey.tag + payload).hex()
            yield {"value": value, "vector": shown, "tape": recorder.read.hex(), "report": report}


def _is_settled(survey: Any, column: Any, tape: bytes, payload: bytes) -> bool:
    """Whether columns that are almost the same give the same report."""
    noise = np.random.default_rng(1).uniform(-OFF, OFF, size=(10, len(column)))
    return all(_payload(survey, column + each, tape_source(tape)) == payload for each in noise)


def _payload(survey: Any, vector: Any, source: Any) -> bytes:
    payload: bytes = survey.mechanism.encode(survey.mechanism.randomize(vector, source))
    return payload
