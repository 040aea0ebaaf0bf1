"""Every workload against the matrix its definition writes down, over random domains, labels and sizes.

All entries, weights and vectors are small multiples of 1/8, so every sum is exact and equality is meant literally.
"""

import copy
import json
import math
from itertools import combinations, pairwise

import numpy as np
import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sottovoce import Domain
from sottovoce.core.errors import ValueOutsideDomainError, WorkloadError
from sottovoce.domain import LabelDomain, ProductDomain
from sottovoce.domain.labels import as_seen
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
    workload_from_statement,
)

untimed = settings(deadline=None)  # the first Walsh transform compiles

eighths = st.integers(-40, 40).map(lambda numerator: numerator / 8)


# --- domains and workloads ----------------------------------------------------------------

nasty = st.text('ab-", =:^0\\', max_size=4).filter(as_seen)
nasty_labels = st.lists(nasty, min_size=2, max_size=6, unique_by=as_seen)
rising_labels = st.lists(st.integers(-9, 30), min_size=2, max_size=6, unique=True).map(sorted)


@st.composite
def int_ranges(draw, steps):
    start, step, size = draw(st.integers(-12, 12)), draw(steps), draw(st.integers(2, 9))
    return range(start, start + step * size, step)


rising = st.one_of(rising_labels, int_ranges(st.integers(1, 4)))
lines = st.one_of(rising, nasty_labels, int_ranges(st.integers(-4, -1)), rising_labels.map(lambda names: names[::-1]))
attributes = st.one_of(lines, st.just(2), st.lists(st.integers(-9, 30), min_size=2, max_size=4, unique=True))
records = st.lists(st.sampled_from(["age", "sex", "a", "b2"]), min_size=2, max_size=3, unique=True).flatmap(
    lambda names: st.fixed_dictionaries(dict.fromkeys(names, attributes))
)
bits = st.lists(st.sampled_from(["smokes", "drinks", "a", "b2"]), min_size=1, max_size=4, unique=True).map(
    lambda names: {name: ["no", "yes"] for name in names}
)
cubes = st.integers(1, 5).map(lambda count: range(2**count))


def rises(domain):
    if isinstance(domain, ProductDomain) or (isinstance(domain, LabelDomain) and isinstance(domain.names[0], str)):
        return False
    integers = list(map(int, domain.labels()))
    return integers == sorted(integers)


@st.composite
def bins(draw, domain, attribute=None):
    axis = dict(domain.attributes)[attribute] if attribute else domain
    integers = list(map(int, axis.labels()))
    cuts = draw(st.lists(st.sampled_from([*integers, integers[-1] + 1]), min_size=2, max_size=5, unique=True))
    return Bins(domain, sorted(cuts), attribute)


def tables(domain):
    entries = st.integers(1, 4).flatmap(lambda d: arrays(np.float64, (d, domain.size), elements=eighths))
    return entries.filter(lambda matrix: matrix.any())


def named(make):
    """Workloads from a matrix, with names of any kind or without."""

    def with_names(matrix):
        names = st.lists(st.text('ab1: ="\\', max_size=4), min_size=len(matrix), max_size=len(matrix), unique=True)
        return st.one_of(st.none(), names).map(lambda given: make(matrix, given))

    return with_names


def feature(domain, matrix, names):
    rows = dict(zip(map(repr, map(value_of(domain), range(domain.size))), matrix.T.tolist(), strict=True))
    return Features(domain, lambda value: rows[repr(value)], names or [f"f{i}" for i in range(len(matrix))])


def listed(domain):
    """Families that hold numbers, and the identity: any domain admits them."""
    return st.one_of(
        st.just(Identity(domain)),
        tables(domain).flatmap(named(lambda matrix, names: Dense(matrix, domain, names))),
        tables(domain).flatmap(named(lambda matrix, names: Sparse(matrix, domain, names))),
        tables(domain).flatmap(named(lambda matrix, names: feature(domain, matrix, names))),
    )


def ordered(domain):
    """Families of a line."""
    return st.sampled_from([Prefix(domain), Ranges(domain)])


def crossed(domain):
    """Families of records."""
    return st.integers(1, len(domain.attributes)).map(lambda k: Marginals(domain, k))


def cubic(domain):
    """Families of bits."""
    return st.integers(1, domain.size.bit_length() - 1).map(lambda order: Parities(domain, order))


def binned(domain):
    """Bins of any attribute that can have them, or the identity."""
    if rises(domain):
        return bins(domain)
    fit = [name for name, inner in getattr(domain, "attributes", ()) if rises(inner)]
    return st.sampled_from(fit).flatmap(lambda name: bins(domain, name)) if fit else st.just(Identity(domain))


families = {lines: [ordered, binned], records: [crossed, binned], bits: [crossed, cubic], cubes: [ordered, cubic]}
pairs = [(values.map(Domain.of), kinds) for values, kinds in families.items()]


def stacks(domain, kinds):
    weights = st.sampled_from([0.25, 0.5, 1.0, 1.5, 3.0])
    part = st.one_of(*(kind(domain) for kind in (listed, *kinds)))
    parts = st.lists(st.tuples(part, weights), min_size=1, max_size=3)
    return parts.map(lambda chosen: Stack([part for part, _ in chosen], [weight for _, weight in chosen]))


workloads = st.one_of(
    st.one_of(*(values for values, _ in pairs)).flatmap(listed),
    *(values.flatmap(kind) for values, kinds in pairs for kind in kinds),
    *(values.flatmap(lambda domain, kinds=kinds: stacks(domain, kinds)) for values, kinds in pairs),
)


# --- the definition -----------------------------------------------------------------------


def value_of(domain):
    """A value's number to what a person would say, from the domain's own labels."""

    def value(index):
        if not isinstance(domain, ProductDomain):
            text = domain.label(index)
            return text if isinstance(domain, LabelDomain) and isinstance(domain.names[0], str) else int(text)
        digits = np.unravel_index(index, [inner.size for _, inner in domain.attributes])
        pairs = zip(domain.attributes, digits, strict=True)
        return {name: value_of(inner)(int(digit)) for (name, inner), digit in pairs}

    return value


def definition(workload):
    """The matrix, entry by entry, as the class's docstring words it."""
    size = workload.domain.size
    match workload:
        case Identity():
            rows = [[v == k for v in range(size)] for k in range(size)]
        case Prefix():
            rows = [[v <= k for v in range(size)] for k in range(size)]
        case Ranges():
            rows = [[i <= v <= j for v in range(size)] for i in range(size) for j in range(i, size)]
        case Bins(attribute=attribute, edges=edges):
            said = [value_of(workload.domain)(v) for v in range(size)]
            said = [value[attribute] for value in said] if attribute else said
            rows = [[low <= value < high for value in said] for low, high in pairwise(edges)]
        case Marginals(k=k):
            sizes = [inner.size for _, inner in workload.domain.attributes]
            digits = np.array(np.unravel_index(np.arange(size), sizes))
            rows = [
                [tuple(digits[list(table), v]) == cell for v in range(size)]
                for table in combinations(range(len(sizes)), k)
                for cell in np.ndindex(*(sizes[place] for place in table))
            ]
        case Parities(order=order):
            count = size.bit_length() - 1
            of_records = isinstance(workload.domain, ProductDomain)
            shifts = [count - 1 - i if of_records else i for i in range(count)]
            rows = [
                [(-1) ** sum(v >> shift & 1 for shift in chosen) for v in range(size)]
                for members in range(1, order + 1)
                for chosen in combinations(shifts, members)
            ]
        case Dense(matrix=matrix) | Features(matrix=matrix):
            rows = matrix
        case Sparse(rows=places, cols=cols, values=values):
            rows = np.zeros(workload.shape)
            for row, col, value in zip(places, cols, values, strict=True):
                rows[row, col] = value
        case Stack(parts=parts, weights=weights):
            rows = np.concatenate([weight * definition(part) for part, weight in zip(parts, weights, strict=True)])
    return np.array(rows, dtype=np.float64)


def vector(length, seed):
    return np.random.default_rng(seed).integers(-40, 41, size=length) / 8


# --- what holds for all -------------------------------------------------------------------


@untimed
@given(workloads, st.integers(0, 2**32))
def test_the_operator_is_the_matrix_of_its_definition(workload, seed):
    expected = definition(workload)
    assert workload.shape == expected.shape == (workload.n_queries, workload.domain.size)
    np.testing.assert_array_equal(workload.dense(), expected)
    x, y = vector(expected.shape[1], seed), vector(expected.shape[0], seed + 1)
    np.testing.assert_array_equal(workload.matvec(x), expected @ x)
    np.testing.assert_array_equal(workload.rmatvec(y), expected.T @ y)
    people = np.random.default_rng(seed).integers(0, expected.shape[1], size=7)
    np.testing.assert_array_equal(workload.columns(people), expected.T[people])
    np.testing.assert_array_equal(workload.column(int(people[0])), expected[:, people[0]])
    assert workload.columns([]).shape == (0, workload.n_queries)


@untimed
@given(workloads)
def test_the_radius_is_the_largest_norm_of_a_column(workload):
    largest = (definition(workload) ** 2).sum(axis=0).max()  # exact: multiples of 1/64 of some thousands
    # A square root rounds once; a stack's sum of squared roots a few times more.
    assert math.isclose(workload.radius, math.sqrt(largest), rel_tol=2.0**-49)


@untimed
@given(workloads)
def test_names_are_distinct_and_lead_back_to_their_query(workload):
    names = list(workload.names())
    assert len(set(names)) == len(names) == workload.n_queries
    assert [workload.find(name) for name in names] == list(range(workload.n_queries))
    assert [workload.name(query) for query in range(workload.n_queries)] == names


@untimed
@given(workloads, st.text('ab1-", =:^<>', max_size=12))
def test_what_is_found_is_there(workload, text):
    try:
        found = workload.find(text)
    except WorkloadError:
        assert text not in list(workload.names())
    else:
        assert 0 <= found < workload.n_queries


@untimed
@given(workloads)
def test_a_statement_rebuilds_the_very_same_workload(workload):
    text = rfc8785.dumps(workload.to_statement())
    rebuilt = workload_from_statement(json.loads(text))
    assert type(rebuilt) is type(workload)
    assert rfc8785.dumps(rebuilt.to_statement()) == text
    assert rebuilt.digest == workload.digest
    assert rebuilt == workload
    assert hash(rebuilt) == hash(workload)
    assert rebuilt.radius == workload.radius
    np.testing.assert_array_equal(rebuilt.dense(), workload.dense())
    assert list(rebuilt.names()) == list(workload.names())
    assert copy.deepcopy(workload) == workload


@untimed
@given(workloads, st.integers(1, 2**70))
def test_indices_outside_the_domain_are_refused_without_being_named(workload, beyond):
    for index in (-beyond, workload.domain.size - 1 + beyond):
        with pytest.raises(ValueOutsideDomainError) as refusal:
            workload.column(index)
        assert str(index) not in str(refusal.value).replace(f"0 to {workload.domain.size - 1}", "")
        with pytest.raises(ValueOutsideDomainError):
            workload.columns([0, index])


junk = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from(["AAAAAAAA8D8=", "AAAA", "AAAAAAAA+H8=", "stack", "dense"]),
    st.lists(st.one_of(st.integers(-3, 3), st.floats(), st.text(max_size=2), st.none()), max_size=4),
    st.dictionaries(st.text(max_size=4), st.integers(-3, 3), max_size=2),
)


def places(statement, path=()):
    """Every place in a statement, from the whole down to single entries."""
    yield path
    inner = (
        statement.items()
        if isinstance(statement, dict)
        else enumerate(statement)
        if isinstance(statement, list)
        else ()
    )
    for key, part in inner:
        yield from places(part, (*path, key))


@untimed
@given(workloads, st.data())
def test_a_damaged_statement_is_refused_or_means_exactly_what_it_says(workload, data):
    statement = json.loads(rfc8785.dumps(workload.to_statement()))
    *path, last = data.draw(st.sampled_from([place for place in places(statement) if place]))
    holder = statement
    for key in path:
        holder = holder[key]
    if data.draw(st.booleans()) and isinstance(holder, dict):
        del holder[last]
    elif data.draw(st.booleans()) and isinstance(holder, dict):
        holder["extra"] = data.draw(junk)
    else:
        holder[last] = data.draw(junk)
    try:
        rebuilt = workload_from_statement(statement)
    except WorkloadError:
        return
    assert isinstance(rebuilt, Workload)
    assert rfc8785.dumps(rebuilt.to_statement()) == rfc8785.dumps(statement)


@untimed
@given(junk)
def test_what_is_no_statement_is_refused(statement):
    with pytest.raises(WorkloadError):
        workload_from_statement(statement)


@given(st.integers(2, 60))
def test_the_order_of_ranges_is_its_index_arithmetic(size):
    workload = Ranges(size)
    ends = [(i, j) for i in range(size) for j in range(i, size)]
    assert [workload.ends(query) for query in range(workload.n_queries)] == ends
    assert [workload.row(*pair) for pair in ends] == list(range(workload.n_queries))


@untimed
@given(records.map(Domain.of), st.data())
def test_a_table_has_its_axes_in_the_order_asked_for(domain, data):
    names = [name for name, _ in domain.attributes]
    k = data.draw(st.integers(1, len(names)))
    asked = data.draw(st.permutations(names))[:k]
    workload = Marginals(domain, k)
    x = vector(domain.size, 5)
    table = workload.table(workload.matvec(x), *asked)
    whole = x.reshape([inner.size for _, inner in domain.attributes])
    letters = {name: chr(ord("a") + place) for place, name in enumerate(names)}
    pattern = "".join(letters.values()) + "->" + "".join(letters[name] for name in asked)
    np.testing.assert_array_equal(table, np.einsum(pattern, whole))
