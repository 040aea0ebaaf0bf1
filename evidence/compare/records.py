"""Forms of several attributes: tables of records by ours, by `fourier` and `direct`, and by multi-freq-ldpy."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

import sottovoce as sv
from evidence.compare.designs import OURS, ComparedDesign, Floats, Measurement, measure_survey, with_ratios
from evidence.compare.form_peers import FormPeer
from evidence.experiments.census import CensusRecords
from evidence.published.fake_data import audited_epsilon, claimed_epsilon
from sottovoce.core.errors import SottovoceError
from sottovoce.domain import ValueNumbers
from sottovoce.surveys.survey import Survey
from sottovoce.workloads import Marginals

__all__ = ["RECORDS_EPSILONS", "compare_large_form", "compare_records", "table_shares"]

RECORDS_EPSILONS: Final = (1.0, 2.0, 4.0)

_ERROR: Final = "L2 error over all cells"
_FORMS: Final = ("fourier", "direct")


def table_shares(values: NDArray[np.int64], sizes: Sequence[int], order: int) -> Floats:
    """The shares of people in every cell of every table of `order` attributes, in the order of `Marginals`.

    Examples
    --------
    >>> table_shares(np.array([[0, 1], [1, 1]]), (2, 2), 1)
    array([0.5, 0.5, 0. , 1. ])
    """
    found = []
    for places in combinations(range(len(sizes)), order):
        shape = tuple(sizes[place] for place in places)
        cells = np.ravel_multi_index(tuple(values[:, place] for place in places), shape)
        found.append(np.bincount(cells, minlength=math.prod(shape)) / len(values))
    return np.concatenate(found)


def compare_records(
    records: CensusRecords,
    epsilons: Sequence[float] = RECORDS_EPSILONS,
    *,
    peers: Sequence[FormPeer] = (),
    repeats: int = 5,
    seed: int = 7,
    advance: Callable[[int], object] = lambda done: None,
) -> tuple[ComparedDesign, ...]:
    """All one-way tables, beside other packages; and all two-way tables, beside other strategies.

    Parameters
    ----------
    peers
        Solutions of multi-freq-ldpy; each is asked for one-way tables, the only ones it has.
    advance
        Called with 1 for each design done.
    """
    rows: list[ComparedDesign] = []
    for epsilon in epsilons:
        one_way = _ours(records, 1, epsilon, repeats, seed, advance)
        for peer in peers:
            one_way += _theirs(records, one_way[0].section, peer, epsilon, repeats)
            advance(1)
        rows += with_ratios(one_way, "projected")
        rows += with_ratios(_ours(records, 2, epsilon, repeats, seed, advance), "measured")
    return tuple(rows)


def _ours(
    records: CensusRecords, order: int, epsilon: float, repeats: int, seed: int, advance: Callable[[int], object]
) -> list[ComparedDesign]:
    people, sizes = len(records.values), records.sizes
    section = f"all {'one' if order == 1 else 'two'}-way tables of {len(sizes)} attributes, {people:,} people"
    truth = table_shares(records.values, sizes, order)

    def error(answers: Floats) -> float:
        # Tables of fewer attributes come first, and are not compared here.
        return float(np.linalg.norm(answers[-len(truth) :] - truth))

    survey = Survey(sv.records(records.attributes, tables=order), epsilon=epsilon, people=people)
    rows = [
        measure_survey(survey, records.columns(), error, repeats, seed).of(
            ComparedDesign(
                *("records", section, _ERROR, OURS, survey.design.name, epsilon),
                chosen=True,
                report_bytes=survey.mechanism.report_bytes,
            )
        )
    ]
    advance(1)
    numbers = np.ravel_multi_index(tuple(records.values.T), sizes)
    for strategy in _FORMS:
        row = ComparedDesign("records", section, _ERROR, OURS, strategy, epsilon)
        try:
            asked = Survey(
                sv.queries(Marginals(records.attributes, order)), epsilon=epsilon, strategy=strategy, people=people
            )
            found = measure_survey(asked, ValueNumbers(numbers), error, repeats, seed)
            listed = "" if found.projected else "projecting would list all records"
            rows.append(replace(found.of(row), report_bytes=asked.mechanism.report_bytes, note=listed))
        except SottovoceError as refusal:
            rows.append(replace(row, note=str(refusal)))
        advance(1)
    return rows


def _theirs(records: CensusRecords, section: str, peer: FormPeer, epsilon: float, repeats: int) -> list[ComparedDesign]:
    """One row; for RS+FD two: given this epsilon, and given what makes its real epsilon this one."""
    attributes = len(records.sizes)
    row = ComparedDesign("records", section, _ERROR, peer.package, peer.name, epsilon)
    given = {epsilon: row}
    if peer.solution == "RS+FD":
        real = audited_epsilon(attributes, epsilon)
        given = {
            epsilon: replace(row, name=f"{peer.name}, claimed", note=f"its epsilon is really {real:.2f}"),
            claimed_epsilon(attributes, epsilon): replace(row, name=f"{peer.name}, audited"),
        }
    truth = table_shares(records.values, records.sizes, 1)
    return [_measured(peer, records, truth, epsilon_given, row, repeats) for epsilon_given, row in given.items()]


def _measured(
    peer: FormPeer, records: CensusRecords, truth: Floats, epsilon: float, row: ComparedDesign, repeats: int
) -> ComparedDesign:
    found = Measurement()
    try:
        # Import, compile and fill caches before timing, with enough people for every attribute to be drawn.
        peer.estimate(records.values[:1000], records.sizes, epsilon)
        for _ in range(repeats):
            began = time.perf_counter()
            shares = np.concatenate(peer.estimate(records.values, records.sizes, epsilon))
            found.seconds = min(found.seconds, time.perf_counter() - began)
            found.projected.append(float(np.linalg.norm(shares - truth)))
    except Exception as error:  # a failure of another package is a row of the table
        return replace(row, note=f"it raised {type(error).__name__}")
    return found.of(row)


def compare_large_form(
    epsilon: float = 2.0, *, attributes: int = 20, values: int = 4, people: int = 1_000_000, seed: int = 7
) -> ComparedDesign:
    """All one- and two-way tables of a form with very many possible records, once: its error, and how long it takes.

    Every attribute but the first repeats the one before for half of the people.
    """
    rng = np.random.default_rng(seed)
    columns = rng.integers(values, size=(people, attributes))
    for place in range(1, attributes):
        same = rng.random(people) < 0.5
        columns[same, place] = columns[same, place - 1]
    sizes = (values,) * attributes
    truth = np.concatenate([table_shares(columns, sizes, order) for order in (1, 2)])
    form = {f"a{place}": values for place in range(attributes)}
    survey = Survey(sv.records(form, tables=2), epsilon=epsilon, people=people)
    given = {name: columns[:, place] for place, name in enumerate(form)}
    began = time.perf_counter()
    estimate = survey.estimate(survey.simulate_aggregate(given, seed=seed))
    seconds = time.perf_counter() - began
    return ComparedDesign(
        *("records", f"all tables of {attributes} attributes of {values} values, {people:,} people", _ERROR),
        *(OURS, survey.design.name, epsilon),
        chosen=True,
        measured=float(np.linalg.norm(estimate.raw - truth)),
        projected=float(np.linalg.norm(estimate.values - truth)),
        report_bytes=survey.mechanism.report_bytes,
        seconds=seconds,
        note=f"{float(values) ** attributes:.2g} possible records",
    )
