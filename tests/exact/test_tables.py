"""Tables of records: the channel on every outcome, estimates against least squares written out, and what is refused."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from refusing import refuses
from sottovoce.auditing.channel import worst_pair, wrong_miniature
from sottovoce.core.errors import ReportError, SurveyError, ValueOutsideDomainError
from sottovoce.domain import ValueNumbers
from sottovoce.estimates.influence import influence
from sottovoce.mechanisms.projective_geometry import ProjectiveGeometry
from sottovoce.mechanisms.randomized_response import RandomizedResponse
from sottovoce.mechanisms.subset_selection import SubsetSelection
from sottovoce.mechanisms.tables import TableResponse, Tables
from sottovoce.randomness import within_epsilon
from sottovoce.randomness.scripts import row_of
from sottovoce.strategies.laws.variance import Population
from sottovoce.strategies.setting import Setting
from sottovoce.strategies.tables.allocation import best_shares
from sottovoce.strategies.tables.components import Components, project_tables
from sottovoce.strategies.tables.strategy import TablesStrategy
from sottovoce.workloads import Marginals
from sottovoce.workloads.record_tables import RecordTables, checked_fields
from tracing import lines_run

SIZES = (2, 3, 4)
PAIRS = tuple(combinations(range(3), 2))


def design_of(epsilon: float = 2.0, order: int = 2, **fields: Any) -> TablesStrategy:
    fields = fields or {"a": 2, "b": 3, "c": 4}
    (made,) = TablesStrategy.designs(Setting(RecordTables(checked_fields(fields), order), epsilon, 0.0, 1000))
    return made


# --- the mechanism ------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_every_outcome_of_the_miniatures_is_as_stated(epsilon: float) -> None:
    for small in Tables.miniatures(epsilon):
        assert within_epsilon(small.privacy_ratio(), epsilon)
        assert small.exact_epsilon > 0.99 * epsilon
    assert wrong_miniature(Tables.miniatures(epsilon)[0], attained=True) is None


def test_a_number_is_rounded_without_bias_and_mixtures_keep_the_ratio() -> None:
    inner = RandomizedResponse(3, 1.0)
    m = Tables((3,), (4,), 1.0, (TableResponse((0,), 1, inner),))
    for position in range(9):
        low, rest = divmod(position, 4)
        for report in range(3):
            up = inner.probability(report, min(low + 1, 2))
            mixed = inner.probability(report, low) * Fraction(4 - rest, 4) + up * Fraction(rest, 4)
            assert m.probability((0, report), (position,)) == mixed
    rows = {p: row_of(lambda s, p=p: m.encode(m.randomize((p,), s))) for p in range(9)}
    assert worst_pair(rows).ratio == m.privacy_ratio() == inner.privacy_ratio()


def test_the_same_lines_and_draws_for_every_record() -> None:
    m = Tables.typical(16, 2.0)

    class Alike:
        def __init__(self, share: float, coin: bool) -> None:
            self.share, self.coin, self.asked = share, coin, []

        def below(self, n: int) -> int:
            self.asked.append(n)
            return int(self.share * n)

        def bernoulli(self, threshold: int) -> bool:
            self.asked.append("coin")
            return self.coin

    for share in (0.0, 0.37, 0.999):  # the table that is drawn is public
        m.randomize((0, 0, 0), Alike(share, True))  # what is made once is made
        runs, asked = set(), set()
        for record in [(0, 0, 0), (15, 2, 2**17), (7, 1, 65_537), (3, 2, 100_000)]:
            for coin in (True, False):
                source = Alike(share, coin)
                runs.add(tuple(lines_run(lambda r=record, s=source: m.randomize(r, s))))
                asked.add(tuple(source.asked))
        assert len(asked) == len(runs) == 1


@pytest.mark.parametrize(
    "record", [(0, 0), (0, 0, 0, 0), (16, 0, 0), (0, -1, 0), (0, 0, 2**17 + 1), (0, 0, 0.0), "abc"]
)
def test_records_that_are_refused_are_not_named(record: Any) -> None:
    with pytest.raises(ValueOutsideDomainError) as caught:
        Tables.typical(16, 2.0).randomize(record, None)  # type: ignore[arg-type]
    assert not any(str(entry) in str(caught.value) for entry in (16, 2**17 + 1))


def test_reports_travel_and_wrong_ones_are_refused() -> None:
    m = Tables.miniatures(1.0)[0]
    for report in m.outputs():
        assert m.decode(m.encode(report)) == report
    rng = np.random.default_rng(1)
    records = np.array(list(m.miniature_inputs()) * 50)
    batch = m.randomize_many(records, rng)
    counts = m.empty()
    m.count_into(counts, m.codec.decode_many(batch))
    assert int(m.reports_on(counts).sum()) == len(records)
    one_by_one = m.empty()
    for row in batch:
        m.count_encoded(one_by_one, row[None])
    assert np.array_equal(counts, one_by_one)
    table, width = bytes([2]), m.report_bytes
    subset = m.encode((2, 0, 1))
    for bad in (
        b"",
        subset[:-1],
        subset + b"\0",
        bytes([3]) + subset[1:],
        bytes([0, 2]).ljust(width, b"\0"),
        table + b"\x07".ljust(width - 1, b"\0"),
    ):
        with pytest.raises(ReportError):
            m.decode(bad)
        if len(bad) == width:
            with pytest.raises(ReportError, match="no report of the batch"):
                m.codec.decode_many(np.frombuffer(subset + bad, dtype=np.uint8).reshape(2, -1))
    wide = Tables(
        (2, 9),
        (1, 1),
        1.0,
        (TableResponse((0,), 1, RandomizedResponse(2, 1.0)), TableResponse((1,), 1, SubsetSelection(9, 1.0, 4))),
    )
    with pytest.raises(ReportError, match="padding"):
        wide.decode(bytes([0, 1, 1]))


def test_the_simulation_has_the_law_of_the_device() -> None:
    """Frequencies of 200,000 simulated reports; each within 6 standard deviations, one in 10^8 for some 60 of them."""
    m = Tables.miniatures(2.0)[1]
    record, n = (1, 3), 200_000
    batch = m.randomize_many(np.tile(record, (n, 1)), np.random.default_rng(5))
    seen: dict[bytes, int] = {}
    for row, count in zip(*np.unique(batch, axis=0, return_counts=True), strict=True):
        seen[row.tobytes()] = int(count)
    for report in m.outputs():
        p = float(m.probability(report, record))
        assert abs(seen.get(m.encode(report), 0) - n * p) <= 6 * math.sqrt(n * p * (1 - p)) + 1e-9


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"weight": 0}, "weight"),
        ({"weight": 2**20 + 1}, "weight"),
        ({"attributes": []}, "tables"),
        ({"attributes": [1, 0]}, "attributes"),
        ({"attributes": [0, 0]}, "attributes"),
        ({"attributes": [3]}, "attributes"),
        ({"mechanism": {"name": "hadamard"}}, "mechanism"),
        ({"mechanism": {"name": "randomized_response", "more": 1}}, "parameters"),
        ({"extra": 1}, "tables"),
    ],
)
def test_tables_that_are_refused(change: dict[str, Any], field: str) -> None:
    stated = {"attributes": [0, 1], "weight": 1, "mechanism": {"name": "randomized_response"}, **change}
    with refuses(SurveyError, field):
        Tables(SIZES, (1, 1, 1), 1.0, (stated,))  # type: ignore[arg-type]


def test_two_tables_of_the_same_attributes_are_refused() -> None:
    table = TableResponse((0,), 1, RandomizedResponse(2, 1.0))
    with refuses(SurveyError, "tables"):
        Tables(SIZES, (1, 1, 1), 1.0, (table, table))
    with refuses(SurveyError, "mechanism"):
        Tables(SIZES, (1, 1, 1), 2.0, (table,))


# --- least squares ------------------------------------------------------------------------------


def incidence(tables: tuple[tuple[int, ...], ...]) -> np.ndarray:
    """Cells of tables (rows) and records (columns)."""
    records = list(product(*(range(size) for size in SIZES)))
    rows = [
        [float(all(record[p] == c for p, c in zip(table, cell, strict=True))) for record in records]
        for table in tables
        for cell in product(*(range(SIZES[p]) for p in table))
    ]
    return np.array(rows)


def test_components_give_the_generalised_least_squares_estimate() -> None:
    """Against the normal equations over all records, with other noise in every table."""
    rng = np.random.default_rng(3)
    tables = ((0,), *PAIRS)
    components = Components(SIZES, PAIRS)
    from sottovoce.strategies.tables.components import TableSet

    measured = TableSet(SIZES, tables)
    precision = rng.uniform(0.5, 3.0, len(tables))
    M, A = incidence(tables), incidence(PAIRS)
    seen = rng.normal(size=measured.cells)
    # Every table sums to one: only its contrasts are data, and the total is known.
    for table in tables:
        seen[measured.slice(table)] += (1 - seen[measured.slice(table)].sum()) / measured.count(table)
    root = np.sqrt(measured.repeat(precision))[:, None]
    sure = 1e4 * np.ones((1, M.shape[1]))
    x, *_ = np.linalg.lstsq(np.vstack([root * M, sure]), np.append(root[:, 0] * seen, 1e4), rcond=None)
    sums = components.contrasts(components.synthesis(measured).T @ (measured.repeat(precision) * seen))
    found = components.rebuild(sums / components.parts.repeat(components.incidence(measured) @ precision))
    assert np.allclose(found, A @ x, atol=1e-6)


def test_answers_are_unbiased_and_have_the_stated_variance_given_the_numbers_of_reports() -> None:
    """Expectation and variance of the raw answers, summed over all reports of each table, for one population."""
    design, rng = design_of(), np.random.default_rng(4)
    m = design.mechanism
    p = rng.dirichlet(np.ones(24))
    truth = np.concatenate(
        [
            p.reshape(SIZES).sum(axis=tuple(a for a in range(3) if a not in table)).reshape(-1)
            for table in design.combination.components.tables
        ]
    )
    shares = m.shares
    weights = np.vstack([np.eye(len(truth)), rng.normal(size=(3, len(truth)))])
    rows = design.combination.row_weights(weights, shares / design.combination.noise)
    mean, variance = weights @ design.combination.components.uniform, np.zeros(len(weights))
    for number, table in enumerate(m.tables):
        own = design.combination.shares_of(truth, table.attributes)
        h = rows[:, design.combination.measured.slice(table.attributes)]
        first, second = np.zeros(len(weights)), np.zeros(len(weights))
        for report, estimate in table.mechanism.single_estimates():
            chance = sum(float(table.mechanism.probability(report, v)) * own[v] for v in range(len(own)))
            first, second = first + chance * (h @ estimate), second + chance * (h @ estimate) ** 2
        mean, variance = mean + first, variance + (second - first**2) / shares[number]
    assert np.allclose(mean, weights @ truth)
    people = Population(answers=truth)
    assert np.allclose(design.variance(None, people).value, variance[: len(truth)])
    assert np.allclose(design.variance(weights, people).value, variance)
    assert np.isclose(design.total_variance(people).value, variance[: len(truth)].sum())
    assert (design.variance().value >= variance[: len(truth)] * (1 - 1e-9)).all()
    assert design.total_variance().value >= variance[: len(truth)].sum() * (1 - 1e-9)


def test_the_worst_total_variance_is_that_of_uniform_people() -> None:
    design = design_of()
    even = design.combination.components.uniform
    assert np.isclose(design.total_variance(Population(answers=even)).value, design.total_variance().value)


def test_the_allocation_is_optimal_and_generalises_neyman() -> None:
    costs = np.array([1.0, 4.0, 9.0])
    assert np.allclose(best_shares(np.eye(3), costs), np.sqrt(costs) / 6, atol=1e-3)
    rng = np.random.default_rng(1)
    precisions = rng.uniform(0, 1, (6, 5))
    shares = best_shares(precisions, np.ones(6))
    value = np.sum(1 / (precisions @ shares))
    for _ in range(200):
        assert np.sum(1 / (precisions @ rng.dirichlet(np.ones(5)))) >= value * (1 - 2e-4)


def test_wide_tables_have_short_reports() -> None:
    (design,) = TablesStrategy.designs(
        Setting(RecordTables(checked_fields({"a": 40, "b": 40}), 2), 1.0, 0.0, 1000, max_report_bytes=64)
    )
    (table,) = [one for one in design.mechanism.tables if len(one.attributes) == 2]
    assert isinstance(table.mechanism, ProjectiveGeometry)
    assert design.mechanism.report_bytes <= 64


# --- the projection -------------------------------------------------------------------------------


def test_the_projection_is_the_nearest_consistent_point() -> None:
    """Against a general solver, and never farther from a possible truth than what was projected."""
    from scipy.optimize import LinearConstraint, minimize

    components, rng = Components(SIZES, PAIRS), np.random.default_rng(2)
    A = incidence(PAIRS)
    basis = np.linalg.svd(np.eye(len(A)) - A @ np.linalg.pinv(A))[0]
    rank = len(A) - np.linalg.matrix_rank(A)
    for scale in (0.05, 0.5):
        truth = A @ rng.dirichlet(np.full(24, 0.3))
        raw = truth + rng.normal(scale=scale, size=len(truth))
        found = project_tables(components, raw)
        assert (found.values >= 0).all()
        assert np.allclose(components.consistent(found.values), found.values, atol=1e-9)
        assert found.gap <= 1e-8
        assert np.linalg.norm(found.values - truth) <= np.linalg.norm(raw - truth) + 1e-6
        rows = np.vstack([basis[:, :rank].T, np.repeat([1.0, 0.0], [6, len(A) - 6])])
        solved = minimize(
            lambda x, raw=raw: float((x - raw) @ (x - raw)),
            components.uniform,
            jac=lambda x, raw=raw: 2 * (x - raw),
            bounds=[(0, None)] * len(A),
            constraints=LinearConstraint(rows, np.append(np.zeros(rank), 1.0), np.append(np.zeros(rank), 1.0)),
            method="SLSQP",
            options={"maxiter": 500, "ftol": 1e-14},
        )
        assert np.linalg.norm(solved.x - found.values) < 1e-4


# --- surveys ----------------------------------------------------------------------------------------


FIELDS = {"country": ["DE", "FR", "IT"], "plan": ["free", "pro"], "minutes": sv.number(0, 600, "minutes")}


def people(n: int, seed: int = 1) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    country = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    plan = (rng.random(n) < np.array([0.1, 0.3, 0.6])[country]).astype(int)
    return {
        "country": np.array(["DE", "FR", "IT"])[country].tolist(),
        "plan": np.array(["free", "pro"])[plan].tolist(),
        "minutes": rng.uniform(0, 300, n) * (1 + (country == 2)),
    }


def truth_of(survey: sv.Survey, columns: dict[str, Any]) -> np.ndarray:
    rows = survey.question.people(columns).between(0, len(columns["plan"]))
    return survey.question.workload.columns(rows).mean(axis=0)


def test_a_survey_of_records_from_json_to_tables() -> None:
    survey = sv.Survey(sv.records(FIELDS), epsilon=2.0)
    assert sv.Survey.from_json(survey.to_json()) == survey
    columns = people(60_000)
    truth = truth_of(survey, columns)
    estimate = survey.estimate(survey.simulate_aggregate(columns, seed=1))
    # One in 10^6 for some 30 answers.
    assert (np.abs(estimate.raw - truth) < 5.5 * estimate.standard_errors).all()
    low, high = estimate.interval(1 - 1e-6)
    assert ((low <= truth) & (truth <= high)).all()
    table = estimate.table("plan", "country")
    assert table.raw.shape == (2, 3)
    assert np.allclose(table.values.sum(axis=0), estimate.table("country").values)
    assert np.allclose(table.raw.sum(axis=0), estimate.table("country").raw)
    assert table.independence().p_value < 1e-6
    among = [m for c, m in zip(columns["country"], columns["minutes"], strict=True) if c == "IT"]
    found = estimate.table("country", "minutes").mean("minutes", given={"country": "IT"}, level=1 - 1e-6)
    assert found.low <= np.mean(among) <= found.high
    assert found.high - found.low < 300
    whole = estimate.mean("minutes", level=1 - 1e-6)
    assert whole.low <= columns["minutes"].mean() <= whole.high
    with pytest.raises(SurveyError, match="declare"):
        table.mean("plan")
    assert list(table.to_pandas().columns) == ["value", "raw", "low", "high"]


def test_tables_that_stand_alone_have_exact_intervals() -> None:
    survey = sv.Survey(sv.records({"a": 3, "b": 5}, tables=1), epsilon=1.0)
    estimate = survey.estimate(survey.simulate([(0, 1)] * 300 + [(2, 4)] * 100, seed=3))
    assert estimate.interval().method.startswith("Feldman and Cousins")
    whole = survey.estimate(survey.simulate([(0, 1)], seed=3)).interval()
    assert "nobody was asked" in whole.method
    assert (whole.high - whole.low > 0.9).sum() >= 3


def test_marginals_are_answered_by_tables_with_the_same_estimate() -> None:
    workload = Marginals(k=2, a=2, b=3, c=4)
    survey = sv.Survey(sv.queries(workload), epsilon=2.0, strategy="tables")
    assert sv.Survey.from_json(survey.to_json()) == survey
    values = np.random.default_rng(1).integers(0, 24, 20_000)
    truth = workload.matvec(np.bincount(values, minlength=24) / len(values))
    estimate = survey.estimate(survey.simulate(ValueNumbers(values), seed=2))
    assert (np.abs(estimate.raw - truth) < 5.5 * estimate.standard_errors).all()
    assert estimate.table("a", "c").values.sum() == pytest.approx(1)
    assert estimate.combine({"a=0, b=0": 1, "a=0, b=1": -1}).low < 0.1


def test_records_are_never_listed() -> None:
    """More than 2^63 records, and a report of everyone."""
    survey = sv.Survey(sv.records({f"a{i}": 16 for i in range(20)}, tables=1), epsilon=1.0)
    record = tuple(i % 16 for i in range(20))
    assert len(survey.randomize(record)) == 4 + survey.mechanism.report_bytes
    estimate = survey.estimate(survey.simulate([record] * 500, seed=1))
    assert len(estimate.values) == 320


def test_what_hostile_devices_can_do_stays_within_what_is_said() -> None:
    survey = sv.Survey(sv.records({"a": 2, "b": 3, "c": 2}), epsilon=2.0)
    base = survey.aggregate().add(survey.simulate([(0, 1, 0), (1, 2, 1)] * 1000, seed=1))
    said, honest = influence(survey, 2020, 20), survey.estimate(base).raw
    for report in survey.mechanism.outputs():
        moved = survey.estimate(base.add([survey.tag + survey.mechanism.encode(report)] * 20)).raw
        assert (np.abs(moved - honest) <= said.per_answer).all()


@pytest.mark.parametrize(
    ("fields", "tables", "field"),
    [
        ({"a": ["x"]}, 1, "attributes"),
        ({}, 1, "attributes"),
        ({"a b": 2}, 1, "attributes"),
        ({"a": {"b": 2}}, 1, "attributes"),
        ({"a": 2, "b": 2}, 3, "tables"),
        ({"a": 2, "b": 2}, 0, "tables"),
        ({"a": 10**5, "b": 10**5}, 2, "tables"),
    ],
)
def test_records_that_cannot_be_asked_for(fields: Any, tables: int, field: str) -> None:
    with refuses(SurveyError, field):
        sv.Survey(sv.records(fields, tables), epsilon=1.0)


@pytest.mark.parametrize(
    "record",
    [
        {"country": "DE", "plan": "pro"},
        {"country": "DE", "plan": "pro", "minutes": 5, "more": 1},
        {"country": "XYZ", "plan": "pro", "minutes": 5},
        {"country": "DE", "plan": "pro", "minutes": "77.25"},
        {"country": "DE", "plan": "pro", "minutes": math.nan},
        ("DE", "pro"),
        "DE",
        None,
    ],
)
def test_values_that_are_refused_are_not_named(record: Any) -> None:
    survey = sv.Survey(sv.records(FIELDS), epsilon=2.0)
    for call in (survey.randomize, lambda one: survey.simulate([one])):
        with pytest.raises(ValueOutsideDomainError) as caught:
            call(record)
        assert not any(text in str(caught.value) for text in ("XYZ", "77.25", "nan"))


def test_few_people_are_told_what_to_expect() -> None:
    survey = sv.Survey(sv.records({f"a{i}": 4 for i in range(8)}), epsilon=1.0, people=10)
    assert survey.design.margin(10) > 1
    assert "tell next to nothing" in survey.explain(people=10)
    assert "tell next to nothing" not in survey.explain(people=10**6)


def test_cells_are_answered_by_mechanisms_of_this_package_alone() -> None:
    """Others would pass no battery inside a table."""

    class Leaky(RandomizedResponse):  # type: ignore[misc]
        """It could send anything."""

    table = TableResponse((0,), 1, Leaky(2, 1.0))
    with refuses(SurveyError, "mechanism"):
        Tables((2, 2), (1, 1), 1.0, (table,))
