"""What workloads refuse: names, matrices and sizes that make no sense, hostile statements, words and files."""

import math

import numpy as np
import pytest

from cases import each
from refusing import refuses
from sottovoce import Domain
from sottovoce.core.errors import SurveyError, WorkloadError
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
    workload_from_statement,
)

PEOPLE = Domain.product(age=range(100), sex=["F", "M"])


@pytest.mark.parametrize(
    ("workload", "name"),
    [
        (Prefix(5), "<= 5"),
        (Prefix(5), "<= 04"),
        (Prefix(5), ">= 4"),
        (Ranges(5), "3-2"),
        (Ranges(5), "2-2"),
        (Ranges(5), "1-2-3"),
        (Ranges(["a", "b-c"]), "a-b-c"),
        (Ranges(["a", "b-c"]), '"b-c'),
        (Bins(PEOPLE, 10, "age"), "age:30-40"),
        (Bins(PEOPLE, 10, "age"), "30-39"),
        (Marginals(PEOPLE, 2), "age=3"),
        (Marginals(PEOPLE, 2), "age=3, age=3"),
        (Marginals(PEOPLE, 2), "age=3, sex=X"),
        (Marginals(PEOPLE, 2), "age=3; sex=F"),
        (Parities(4, 2), "bit0 ^ bit0"),
        (Parities(4, 2), "bit0 ^ bit1 ^ bit2"),
        (Parities(4, 2), ""),
        (Dense([[1, 2]]), "query 1"),
        (Dense([[1, 2]]), "query 00"),
        (Dense([[1, 2]], names=["a"]), "query 0"),
        (Stack([Identity(2), Identity(2)]), "0"),
        (Stack([Identity(2), Identity(2)]), "2: 0"),
        (Identity(["a", "b"]), "c" * 1000),
        (Identity(["a", "b"]), 0),
    ],
)
def test_a_name_that_no_query_has_is_refused_with_examples(workload, name):
    with refuses(WorkloadError, "name") as refusal:
        workload.find(name)
    assert len(str(refusal.value)) < 300


def test_a_function_that_raises_is_heard_and_one_that_misfits_is_refused():
    with pytest.raises(ZeroDivisionError):
        Features(3, lambda value: 1 / value, ["inverse"])
    for function in (
        lambda v: (1, 2),
        lambda v: [[1], [1, 2]],
        lambda v: None,
        lambda v: "x",
        lambda v: math.nan,
        lambda v: 1j,
    ):
        with pytest.raises(WorkloadError):
            Features(3, function, ["one"])
    for names in ([], "one", None, ["a", "a"], [1]):
        with refuses(WorkloadError, "names"):
            Features(3, lambda v: v, names)
    with refuses(WorkloadError, "domain"):
        Features(2**20 + 1, lambda v: v, ["value"])


@each("family", [Dense, Sparse])
@each(
    "matrix",
    [
        [[1, math.nan]],
        [[1, math.inf]],
        [[1, 1j]],
        np.zeros((2, 0)),
        np.zeros((0, 2)),
        np.zeros((2, 2)),
        np.zeros((2, 2, 2)),
        [1, 2],
        [[1, 2], [3]],
        [["a", "b"]],
        np.array([[1, None]]),
        np.array([["2020-01-01", "2020-01-02"]], dtype="datetime64[D]"),
        [[1e200, 1]],
        [[1e-200, 0]],
        np.array([[np.finfo(np.longdouble).max, 1]]),
        5,
        None,
        "matrix",
        [[1], [2]],
    ],
)
def test_a_matrix_that_is_none_is_refused(family, matrix):
    with pytest.raises(SurveyError):
        family(matrix)


@pytest.mark.parametrize(
    "triplets",
    [
        ([0], [5], [1], (1, 3)),
        ([-1], [0], [1], (1, 3)),
        ([2**63], [0], [1], (1, 3)),
        ([0], [1.5], [1], (1, 3)),
        ([True], [1], [1], (1, 3)),
        ([0], [1], [1], (True, 3)),
        ([0], [1], [1], (2**40, 3)),
        ([0], [1], [1], 3),
        ([0], [1], [[1]], (1, 3)),
        ([0, 0], [1], [1], (1, 3)),
        ([0, 0], [1, 1], [1, -1], (1, 3)),
        ([0, 0], [1, 1], [1e308, 1e308], (1, 3)),
        ([], [], [], (1, 3)),
        (1, 2, 3, 4),
    ],
    ids=str,
)
def test_triplets_that_are_no_matrix_are_refused(triplets):
    with pytest.raises(WorkloadError):
        Sparse(triplets)


@each(
    "make",
    [
        lambda: Prefix(PEOPLE),
        lambda: Ranges(PEOPLE),
        lambda: Prefix([3, 1, 2]),
        lambda: Ranges([3, 1, 2]),
        lambda: Bins(PEOPLE, 10),
        lambda: Bins(PEOPLE, 1, "sex"),
        lambda: Bins(PEOPLE, 10, "height"),
        lambda: Bins(100, 10, "age"),
        lambda: Bins(["a", "b"], 1),
        lambda: Bins([3, 1, 2], 1),
        lambda: Bins(range(9, 0, -1), 2),
        lambda: Bins(100, 0),
        lambda: Bins(100, 101),
        lambda: Bins(100, [5]),
        lambda: Bins(100, [5, 5]),
        lambda: Bins(100, [9, 5]),
        lambda: Bins(100, [0, 1.5]),
        lambda: Bins(100, [0, True]),
        lambda: Bins(100, [0, 100, 200]),
        lambda: Bins(100, [0, 10**400, 5]),
        lambda: Bins(100, None),
        lambda: Bins(100, 2.5),
        lambda: Bins(range(0, 100, 10), 5),
        lambda: Bins(Domain.of(range(2**53 - 2, 2**53)), 1),
        lambda: Marginals(),
        lambda: Marginals(100),
        lambda: Marginals(PEOPLE, 0),
        lambda: Marginals(PEOPLE, 3),
        lambda: Marginals(PEOPLE, True),
        lambda: Marginals(PEOPLE, 1.0),
        lambda: Marginals(PEOPLE, 2, height=3),
        lambda: Parities(PEOPLE),
        lambda: Parities(0),
        lambda: Parities(53),
        lambda: Parities(True),
        lambda: Parities(4.0),
        lambda: Parities(4, 5),
        lambda: Parities(4, 0),
        lambda: Parities(["no", "yes"], 1),
        lambda: Parities(range(1, 5)),
        lambda: Parities(Domain.of(6)),
        lambda: Dense([[1, 2]], domain=3),
        lambda: Dense([[1, 2]], names=["a", "b"]),
        lambda: Dense([[1, 2], [3, 4]], names=["a", "a"]),
        lambda: Dense([[1, 2]], names=[1]),
        lambda: Dense([[1, 2]], names="a"),
        lambda: Dense([[1, 2]], names=["\ud800"]),
        lambda: Sparse([[1, 2]], domain=3),
        lambda: Stack([]),
        lambda: Stack(None),
        lambda: Stack([Identity(2), "prefix"]),
        lambda: Stack([Identity(2), Identity(3)]),
        lambda: Stack([Stack([Identity(2)])]),
        lambda: Stack([Identity(2)], [0]),
        lambda: Stack([Identity(2)], [-1]),
        lambda: Stack([Identity(2)], [math.nan]),
        lambda: Stack([Identity(2)], [math.inf]),
        lambda: Stack([Identity(2)], [1, 2]),
        lambda: Stack([Identity(2)], [True]),
        lambda: Stack([Identity(2)], ["1"]),
        lambda: Stack([Prefix(2), Prefix(2)], [1e100, 1e100]),
        lambda: Stack([Dense([[1e100, 1]]), Prefix(2)], [1e100, 1]),
        lambda: Ranges(5).row(3, 2),
        lambda: Ranges(5).row(0, 5),
        lambda: Ranges(5).row(0, 1.0),
        lambda: Ranges(5).ends(15),
        lambda: Ranges(5).ends(-1),
        lambda: Identity(5).name(5),
        lambda: Identity(5).name(-1),
        lambda: Identity(5).name(True),
    ],
)
def test_what_cannot_be_asked_is_refused(make):
    with pytest.raises(SurveyError):
        make()


# --- statements from outside --------------------------------------------------------------

LINE = {"start": 0, "step": 1, "size": 4}
ONE, MINUS_ZERO, NAN = "AAAAAAAA8D8=", "AAAAAAAAAIA=", "AAAAAAAA+H8="
ZERO_INTEGER = "AAAAAAAAAAA="


def dense(**changes):
    return {
        "type": "dense",
        "domain": {**LINE, "size": 2},
        "shape": [1, 2],
        "matrix": "AAAAAAAA8D8AAAAAAAAAQA==",
        **changes,
    }


def sparse_statement(**changes):
    entries = {"queries": 1, "rows": ZERO_INTEGER, "columns": ZERO_INTEGER, "values": ONE}
    return {"type": "sparse", "domain": LINE, **entries, **changes}


def test_the_statements_that_are_damaged_below_are_good():
    assert workload_from_statement(dense()).shape == (1, 2)
    assert workload_from_statement(sparse_statement()).shape == (1, 4)


@each(
    "statement",
    [
        None,
        [],
        "prefix",
        {},
        {"type": "prefix"},
        {"domain": LINE},
        {"type": ["prefix"], "domain": LINE},
        {"type": "quantiles", "domain": LINE},
        {"type": "prefix", "domain": None},
        {"type": "prefix", "domain": {"labels": [[1], {}]}},
        {"type": "prefix", "domain": {"labels": ["a", "a"]}},
        {"type": "prefix", "domain": {**LINE, "size": 1}},
        {"type": "prefix", "domain": {**LINE, "size": 2**53}},
        {"type": "prefix", "domain": {**LINE, "size": 2**40}},
        {"type": "prefix", "domain": {**LINE, "size": True}},
        {"type": "prefix", "domain": LINE, "k": 1},
        {"type": "identity", "domain": LINE, "": 0},
        {"type": "ranges", "domain": LINE, "order": []},
        {"type": "ranges", "domain": PEOPLE.to_statement()},
        {"type": "marginals", "domain": PEOPLE.to_statement()},
        {"type": "marginals", "domain": PEOPLE.to_statement(), "k": True},
        {"type": "marginals", "domain": PEOPLE.to_statement(), "k": 2.0},
        {"type": "marginals", "domain": PEOPLE.to_statement(), "k": 10**400},
        {"type": "marginals", "domain": LINE, "k": 1},
        {"type": "parities", "domain": LINE, "order": 3},
        {"type": "parities", "domain": LINE, "order": None},
        {"type": "parities", "domain": {**LINE, "size": 5}, "order": 1},
        {"type": "bins", "domain": LINE},
        {"type": "bins", "domain": LINE, "edges": 2},
        {"type": "bins", "domain": LINE, "edges": [0]},
        {"type": "bins", "domain": LINE, "edges": [0, 2.0]},
        {"type": "bins", "domain": LINE, "edges": [0, 10**30, 2]},
        {"type": "bins", "domain": LINE, "edges": [0, 2], "attribute": None},
        {"type": "bins", "domain": PEOPLE.to_statement(), "edges": [0, 2], "attribute": ["age"]},
        dense(matrix=None),
        dense(matrix=ONE),
        dense(matrix="AAAAAAAA8D8AAAAAAAAAQA"),
        dense(matrix="AAAAAAAA8D8AAAAAAAAAQB=="),
        dense(matrix="AAAAAAAA8D8AAAAAAAAA QA=="),
        dense(matrix="\ud800"),
        dense(matrix="AAAAAAAA8D8AAAAAAAAAgA=="),
        dense(matrix="AAAAAAAA8D8AAAAAAAD4fw=="),
        dense(shape=[True, 2]),
        dense(shape=[2, 1]),
        dense(shape=[1, 2, 1]),
        dense(shape=[-1, -2]),
        dense(shape=[2**40, 2**40]),
        dense(shape=2),
        dense(domain=LINE),
        dense(names=None),
        dense(names=["a", "b"]),
        dense(names="a"),
        dense(names=[1]),
        dense(names=["\ud800"]),
        dense(type="features"),
        sparse_statement(queries=True),
        sparse_statement(queries=0),
        sparse_statement(queries=2**40),
        sparse_statement(rows=ONE),
        sparse_statement(columns="BAAAAAAAAAA="),
        sparse_statement(columns="//////////8="),
        sparse_statement(values=NAN),
        sparse_statement(values=MINUS_ZERO),
        sparse_statement(values=""),
        sparse_statement(rows=ZERO_INTEGER * 2),
        sparse_statement(rows="A" * 22 + "==", columns="AQAAAAAAAAAAAAAAAAAAAA==", values="AAAAAAAA8D8AAAAAAADwPw=="),
        {"type": "stack", "domain": LINE, "parts": [], "weights": []},
        {"type": "stack", "domain": LINE, "parts": [{"type": "prefix"}], "weights": []},
        {"type": "stack", "domain": LINE, "parts": [{"type": "prefix"}], "weights": [0]},
        {"type": "stack", "domain": LINE, "parts": [{"type": "prefix"}], "weights": [True]},
        {"type": "stack", "domain": LINE, "parts": [{"type": "prefix"}], "weights": ["1"]},
        {"type": "stack", "domain": LINE, "parts": [{"type": "prefix", "domain": LINE}], "weights": [1]},
        {"type": "stack", "domain": LINE, "parts": ["prefix"], "weights": [1]},
        {"type": "stack", "domain": LINE, "parts": [{"type": {}}], "weights": [1]},
        {"type": "stack", "domain": LINE, "parts": [{"type": "prefix"}] * 1001, "weights": [1] * 1001},
        {"type": "stack", "domain": LINE, "parts": [{"type": "stack", "parts": [], "weights": []}], "weights": [1]},
    ],
)
def test_hostile_statements_are_refused(statement):
    with pytest.raises(WorkloadError):
        workload_from_statement(statement)


def test_nesting_without_end_is_refused_at_its_first_step():
    statement = {"type": "prefix"}
    for _ in range(10_000):
        statement = {"type": "stack", "parts": [statement], "weights": [1]}
    with refuses(WorkloadError, "workloads"):
        workload_from_statement({**statement, "domain": LINE})
