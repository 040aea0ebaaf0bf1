"""Workloads: what each promises by name, at real sizes, under hostile input, and in one pinned statement."""

import copy
import dataclasses
import json
import math
import pickle
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
import rfc8785
from scipy import sparse

from cases import each
from refusing import refuses
from sottovoce import Domain, workloads
from sottovoce.core import errors
from sottovoce.core.errors import CapacityError, ValueOutsideDomainError, WorkloadError
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
HABITS = Domain.product(smokes=["no", "yes"], drinks=["no", "yes"], sings=["no", "yes"])

# A digest is what a device compares: these change only with the format of statements.
PINNED = [
    (Identity(["red", "green", "blue"]), "7ee84154a88127bf46ba78df0a948d1d125b5fe2acac29cd6c75a07f6c3ef7c8"),
    (Prefix(1024), "fd1d7f058e06b2306821c64a61635cbd79f89588fe40fd5d861d6b6b1aae4ff7"),
    (Ranges(64), "9361745857cb07aef794d17f4e0c00531154b83a2e9b07aae7eef4002df038e5"),
    (Bins(PEOPLE, [0, 18, 65, 100], "age"), "382fef881fdbe73167aeb72d3b516fca173fa5de40f0cf6e0807695489becb7e"),
    (Marginals(PEOPLE, 2), "8a7be9885332602b058763cca421ceee9cd8d485568186ca517a4afcf71d1f69"),
    (Parities(10, 3), "409eec158b67dbe9baea3260ccc574108ce4a11ef5f22e8f44cd0e74f159e212"),
    (Dense([[1, 0.5], [0, -2]], names=["a", "b"]), "fd934630991e6608d65a7df0bf8c990c55d0b7d58c4aee828c9dc9c9b0b0bc97"),
    (Sparse(([1, 0], [0, 1], [2, 0.5], (2, 3))), "5812c173b824cf17b3382db01500ae5cfb61d9ae6c865f328a8261adce3c63b3"),
    (
        Features(range(3), lambda v: v * v, ["square"]),
        "e84a9601631a10f4a0296e460b53e7da8012ee40b0f5e20df893233151b1d422",
    ),
    (Stack([Identity(4), Prefix(4)], [2, 1]), "51bb41ef782f94de8ce31e3cca0e13a9176b698605beb7f36187c8642cf181c4"),
]
SMALL = [workload for workload, _ in PINNED]

LARGE = [
    Prefix(10**6),
    Marginals(k=2, a=10, b=10, c=10, d=10, e=10, f=10),
    Marginals({f"q{i}": 2 for i in range(20)}, 2),
    Marginals(k=2, city=1000, age=100, sex=10),
    Parities(16, 3),
    Parities(20, 2),
    Ranges(2000),
    Bins(Domain.product(city=100, age=range(1000), sex=10), [18, 30, 65], "age"),
    Sparse(sparse.random_array((50, 10**6), density=1e-4, rng=3, data_sampler=lambda size: np.full(size, 2.0))),
    Stack([Identity(10**5), Prefix(10**5), Bins(10**5, 4321)], [2, 1, 0.5]),
]


def by_kind(workload):
    return f"{workload.kind}-{workload.shape[1]}"


# --- at real sizes: whole numbers, so every sum below 2^53 is exact and equality is literal ----


@pytest.mark.parametrize("workload", LARGE, ids=by_kind)
def test_products_are_each_others_transpose(workload):
    rng = np.random.default_rng(1)
    x = rng.integers(-8, 9, size=workload.shape[1]).astype(float)
    y = rng.integers(-8, 9, size=workload.shape[0]).astype(float)
    assert workload.matvec(x) @ y == x @ workload.rmatvec(y) != 0


@pytest.mark.parametrize("workload", LARGE, ids=by_kind)
def test_a_column_is_the_product_with_a_point_mass(workload):
    queries, values = workload.shape
    y = np.random.default_rng(2).integers(-8, 9, size=queries).astype(float)
    totals = workload.rmatvec(y)
    for index in (0, 1, values // 3, values - 1):
        mass = np.zeros(values)
        mass[index] = 1
        column = workload.column(index)
        np.testing.assert_array_equal(column, workload.matvec(mass))
        assert column @ y == totals[index]
        assert np.linalg.norm(column) <= workload.radius * (1 + 1e-12)


@pytest.mark.parametrize("workload", LARGE, ids=by_kind)
def test_some_names_of_many_lead_back(workload):
    rows = np.random.default_rng(4).integers(0, workload.n_queries, size=20).tolist()
    assert [workload.find(workload.name(row)) for row in [0, *rows, workload.n_queries - 1]] == [
        0,
        *rows,
        workload.n_queries - 1,
    ]


@pytest.mark.parametrize("workload", [w for w in LARGE if w.kind not in ("sparse", "dense")], ids=by_kind)
def test_structured_statements_are_tiny(workload):
    assert len(rfc8785.dumps(workload.to_statement())) < 1600


def test_records_beyond_any_memory_have_columns():
    domain = Domain.product(**{f"q{i}": 2 for i in range(63)})
    last = domain.size - 1
    tables, parities = Marginals(domain, 2), Parities(domain, 2)
    assert tables.column(last).sum() == math.comb(63, 2)
    assert tables.column(last)[tables.find("q5=1, q62=1")] == 1
    np.testing.assert_array_equal(parities.column(last), [-1.0] * 63 + [1.0] * math.comb(63, 2))
    assert Stack([tables, Bins(domain, 1, "q7")], [1, 2]).radius == pytest.approx(math.sqrt(math.comb(63, 2) + 4))
    with pytest.raises(CapacityError, match="single columns"):
        tables.rmatvec(np.zeros(tables.n_queries))
    with pytest.raises(WorkloadError, match="cover all values"):
        Stack([Bins(domain, [0, 1], "q7"), Bins(domain, [0, 1], "q8")])


def test_what_does_not_fit_is_refused_before_memory_is_taken():
    with pytest.raises(CapacityError, match="written out"):
        Prefix(2**14).dense()
    with pytest.raises(CapacityError, match="fewer people"):
        Prefix(2**20).columns(np.zeros(2**12, dtype=np.int64))
    for ask in (
        lambda: Ranges(10**5),
        lambda: Parities(40, 20),
        lambda: Marginals({f"q{i}": 2 for i in range(60)}, 30),
        lambda: Marginals(a=2**20, b=2**20),
    ):
        with refuses(WorkloadError, "domain"):
            ask()
    # Of shares nothing is listed unless somebody asks for all of them.
    assert Identity(2**40).n_queries == 2**40


# --- what each family promises ------------------------------------------------------------


def test_radii_in_closed_form():
    assert Identity(7).radius == 1
    assert Prefix(49).radius == 7
    assert [round(Ranges(size).radius ** 2) for size in (2, 3, 4, 5)] == [2, 4, 6, 9]
    assert Marginals(k=2, a=3, b=4, c=5, d=6).radius == math.sqrt(6)
    assert Parities(10, 3).radius == math.sqrt(10 + 45 + 120)
    assert Dense([[3, 0], [4, 1]]).radius == 5
    # Neither part's largest column is the stack's: 2 * 1 + 9 * 1 at value 1.
    assert Stack([Prefix(2), Dense([[0, 1]])], [1, 3]).radius == math.sqrt(10)


@pytest.mark.parametrize(
    ("workload", "names"),
    [
        (Prefix(range(16, 19)), ["<= 16", "<= 17", "<= 18"]),
        (Prefix([3, 2, 1]), [">= 3", ">= 2", ">= 1"]),
        (Prefix(["low", "middle", "high"]), ["<= low", "<= middle", "<= high"]),
        (Ranges(3), ["0", "0-1", "0-2", "1", "1-2", "2"]),
        (Ranges(range(-1, 1)), ["-1", "-1 to 0", "0"]),
        (Ranges(["a", "b-c"]), ["a", 'a-"b-c"', '"b-c"']),
        (Bins(PEOPLE, [0, 18, 65, 66, 100], "age"), ["age:0-17", "age:18-64", "age:65", "age:66-99"]),
        (Bins(range(0, 25, 5), [0, 7, 99]), ["0-5", "10-20"]),
        (Bins(25, 10), ["0-9", "10-19", "20-24"]),
        (Bins(range(-4, 2), 3), ["-4 to -2", "-1 to 1"]),
        (Marginals(k=1, age=2, city=["Rome", "York, UK"]), ["age=0", "age=1", "city=Rome", 'city="York, UK"']),
        (Identity(HABITS), Marginals(HABITS, 3).names()),
        (Parities(3, 2), ["bit0", "bit1", "bit2", "bit0 ^ bit1", "bit0 ^ bit2", "bit1 ^ bit2"]),
        (Dense([[1, 2]]), ["query 0"]),
        (Stack([Identity(2), Prefix(2)]), ["0", "1", "<= 0", "<= 1"]),
        (Stack([Identity(2), Identity(2)]), ["0: 0", "0: 1", "1: 0", "1: 1"]),
        (Stack([Dense([[1, 2]], names=["7: x"]), Identity(2)]), ["0: 7: x", "0", "1"]),
    ],
    ids=lambda case: getattr(case, "kind", ""),
)
def test_names_read_like_the_question(workload, names):
    assert list(workload.names()) == list(names)


@pytest.mark.parametrize("attribute", ["age", "year", "score"])
def test_bins_see_their_attribute_wherever_it_stands(attribute):
    domain = Domain.product(age=range(5), year=[1999, 2003, 2004], score=range(-2, 4, 2))
    edges = {"age": [1, 2, 4], "year": [1999, 2000, 2005], "score": [-2, 0, 9]}[attribute]
    place = ["age", "year", "score"].index(attribute)
    values = [int(domain.label(index).split(", ")[place].partition("=")[2]) for index in range(domain.size)]
    expected = [[low <= value < high for value in values] for low, high in pairwise(edges)]
    np.testing.assert_array_equal(Bins(domain, edges, attribute).dense(), expected)


def test_a_radius_is_found_over_many_blocks():
    matrix = np.random.default_rng(5).integers(-8, 9, size=(300, 1000))
    squares = (matrix**2).sum(axis=0)
    assert Dense(matrix).radius == Sparse(matrix).radius == math.sqrt(squares.max())
    first, second = np.random.default_rng(6).integers(-8, 9, size=(2, 1, 600_000))
    for largest in (0, 300_000, 599_999):  # 8^2 + (2 * 20)^2, beyond all others
        first[0, largest], second[0, largest] = 8, 20
        assert Stack([Dense(first), Dense(second)], [1, 2]).radius == math.sqrt(1664)
        second[0, largest] = 0


def test_parities_of_records_follow_the_order_of_attributes():
    habits = Parities(HABITS, 2)
    column = habits.column(HABITS.index({"smokes": "yes", "drinks": "no", "sings": "yes"}))
    signs = dict(zip(habits.names(), column, strict=True))
    assert signs == {
        "smokes": -1,
        "drinks": 1,
        "sings": -1,
        "smokes ^ drinks": -1,
        "smokes ^ sings": 1,
        "drinks ^ sings": -1,
    }
    assert habits.find("sings ^ smokes") == habits.find("smokes ^ sings")


def test_marginals_take_keywords_and_give_tables_back():
    workload = Marginals(k=2, age=3, sex=["F", "M"], city=4)
    assert workload == Marginals(Domain.product(age=3, sex=["F", "M"], city=4))
    answers = np.arange(float(workload.n_queries))
    assert workload.table(answers, "city", "age")[3, 1] == answers[workload.find("age=1, city=3")]

    class Estimate:
        values = answers

    np.testing.assert_array_equal(workload.table(Estimate(), "sex", "city"), workload.table(answers, "sex", "city"))
    for wrong in [(), ("age",), ("age", "age"), ("age", "height"), ("age", "sex", "city")]:
        with refuses(WorkloadError, "attributes"):
            workload.table(answers, *wrong)
    with pytest.raises(WorkloadError, match="one number for every query"):
        workload.table(answers[1:], "age", "sex")


def test_a_stack_comes_apart_with_its_weights_divided_out():
    parts = [Identity(8), Prefix(8), Parities(3, 1)]
    stack = Stack(parts, [2, 0.5, 1])
    x = np.arange(8) / 4
    for part, answers in zip(parts, stack.split(stack.matvec(x)), strict=True):
        np.testing.assert_array_equal(answers, part.matvec(x))


def test_features_hold_a_table_and_no_function():
    calls = []

    def tall(person):
        calls.append(person)
        return person["age"] / 4, person["sex"] == "F"

    workload = Features(PEOPLE, tall, ["quarter age", "is F"])
    assert len(calls) == PEOPLE.size
    assert calls[0] == {"age": 0, "sex": "F"}
    np.testing.assert_array_equal(workload.column(PEOPLE.index({"age": 30, "sex": "F"})), [7.5, 1])
    rebuilt = workload_from_statement(json.loads(json.dumps(workload.to_statement())))
    assert rebuilt == workload
    assert len(calls) == PEOPLE.size
    assert "function" not in workload.to_statement()
    assert not any(callable(getattr(workload, field.name)) for field in dataclasses.fields(workload))


def test_a_sparse_matrix_is_the_same_from_every_source():
    matrix = np.array([[0, 2.5, 0], [1, 0, -3]])
    expected = Sparse(([0, 1, 1], [1, 0, 2], [2.5, 1, -3], (2, 3)))
    twice = Sparse(([1, 0, 1, 0, 1], [2, 1, 0, 1, 1], [-3, 2, 1, 0.5, 0], (2, 3)))
    sources = [matrix, matrix.tolist(), sparse.csr_array(matrix), sparse.coo_matrix(matrix), sparse.lil_array(matrix)]
    assert {twice, *map(Sparse, sources)} == {expected}
    np.testing.assert_array_equal(expected.dense(), matrix)


def test_integers_and_truth_values_are_numbers():
    assert Dense(np.array([[True, False]])) == Dense([[1, 0]]) == Dense(np.array([[1, -0.0]], dtype=np.float32))


@each("workload", SMALL)
@each("bad", [None, "x", 3, [[1.0]], [], [1, 2, 3, 4, 5], [[1], [1, 2]], np.ones(3, dtype=complex), {"a": 1}])
def test_vectors_that_do_not_fit_are_refused(workload, bad):
    for product in (workload.matvec, workload.rmatvec):
        with pytest.raises(WorkloadError, match="expected a vector of"):
            product(bad)


# --- people's values ----------------------------------------------------------------------


@each("workload", SMALL)
@each("index", [-987654321, 987654321, 987654321.5, "987654321", None, True, [987654321]])
def test_an_index_outside_the_domain_is_never_named(workload, index):
    for ask in (lambda: workload.column(index), lambda: workload.columns([0, index]), lambda: workload.columns(index)):
        with pytest.raises(ValueOutsideDomainError) as refusal:
            ask()
        assert "987654321" not in str(refusal.value)
        assert refusal.value.__cause__ is None
        assert refusal.value.__context__ is None


# --- one statement, never changed ---------------------------------------------------------


@pytest.mark.parametrize(("workload", "digest"), PINNED, ids=lambda case: getattr(case, "kind", ""))
def test_digests_are_pinned(workload, digest):
    assert workload.digest == digest
    assert workload_from_statement(json.loads(json.dumps(workload.to_statement()))).digest == digest


def test_every_family_is_pinned_and_exported():
    families = {type(workload) for workload in SMALL}
    assert {family.__name__ for family in families} == set(workloads.__all__) - {
        "Workload",
        "parse_workload",
        "workload_from_statement",
    }
    assert issubclass(errors.WorkloadError, errors.SurveyError)
    assert "WorkloadError" in errors.__all__


@pytest.mark.parametrize("workload", SMALL, ids=by_kind)
def test_workloads_cannot_be_changed(workload):
    for field in dataclasses.fields(workload):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(workload, field.name, None)
        with pytest.raises(dataclasses.FrozenInstanceError):
            delattr(workload, field.name)
    for made in (workload, copy.deepcopy(workload), pickle.loads(pickle.dumps(workload))):  # noqa: S301
        arrays = [getattr(made, field.name) for field in dataclasses.fields(made)]
        assert not any(array.flags.writeable for array in arrays if isinstance(array, np.ndarray))
        assert made == workload
    before = workload.dense()
    x, y = np.ones(workload.shape[1]), np.ones(workload.shape[0])
    for result in (
        workload.column(0),
        workload.columns([0, 1]),
        workload.matvec(x),
        workload.rmatvec(y),
        workload.dense(),
    ):
        result += 1  # ours to change
    assert x.tolist() == [1] * len(x)
    assert y.tolist() == [1] * len(y)
    np.testing.assert_array_equal(workload.dense(), before)


def test_a_dense_matrix_is_a_copy():
    matrix = np.eye(2)
    workload = Dense(matrix)
    matrix[0, 0] = 5
    assert workload.matrix[0, 0] == 1


def test_equal_statements_make_equal_workloads():
    assert Prefix(4) == Prefix(range(4))
    assert Prefix(4) != Ranges(4)
    assert Identity(4) != Prefix(4)
    assert Prefix(4) != "prefix"
    assert len({Prefix(4), Prefix(4), Identity(4)}) == 2


def test_reprs_are_short_and_say_the_size():
    assert repr(Marginals(PEOPLE, 1)) == "<marginals workload: 102 queries over 200 values, radius 1.414>"
    assert repr(Dense([[1, 2]])) == "<dense workload: 1 query over 2 values, radius 2>"


def test_neither_scipy_nor_numba_is_loaded_before_it_is_needed():
    code = "\n".join(
        [
            "import sys",
            "from sottovoce.workloads import *",
            "stack = Stack([Sparse(([0], [1], [1.0], (1, 8))), Parities(3), Prefix(8)])",
            "workload_from_statement(stack.to_statement()).column(3)",
            "print([name for name in ('scipy', 'numba') if name in sys.modules])",
        ]
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
