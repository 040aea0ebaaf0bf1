"""Comparing on one's own data: read strictly, shown to nobody, measured right."""

from __future__ import annotations

import csv
import gzip
import io
import os
from pathlib import Path

import numpy as np
import pytest

from evidence.compare.column_data import read_column
from evidence.compare.compare import compare, comparison_figure, sampled
from evidence.compare.peers import Peer, PeerCost
from refusing import refuses
from sottovoce.core.errors import SimulationError
from sottovoce.figures.style import save_figure
from sottovoce.mechanisms import FiniteMechanism, create, serving

SECRET = "Zanzibar"


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    rows = [f'{number},"{city}"' for number, city in enumerate(["Rome", "Oslo", SECRET, "Rome", "", " Oslo "] * 20)]
    path.write_bytes(("\ufeffid,city\n" + "\n".join(rows) + "\n\n").encode())
    return path


def test_a_column_is_read_with_its_people(people):
    column = read_column(people, "city")
    assert column.labels == ("Oslo", "Rome", SECRET)
    assert np.bincount(column.values).tolist() == [40, 40, 20]
    assert column.left_out == 20
    assert column.alone == 0
    assert SECRET not in repr(column)


def test_values_of_one_person_alone_are_counted(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("city\nParis\nParis\nRome\n")
    assert read_column(path, "city").alone == 1


@pytest.mark.parametrize(
    ("content", "column", "message"),
    [
        (b"", "city", "is empty; its first line must name the columns, 'city' among them"),
        (f"id,City \n1,{SECRET}\n".encode(), "city", "one differs only in capitals or spaces; write the name as"),
        (f"{SECRET},Rome\n1,2\n".encode(), "city", "no column 'city' among the 2"),
        (f"{SECRET}\n1\n".encode(), "city", "no column 'city' but a single other one; write the name as"),
        (f"city,city\n{SECRET},Rome\n".encode(), "city", "2 columns called 'city'"),
        (f"id,city\n1,{SECRET}\n2,{SECRET}\n".encode(), "city", "only one value; at least two are needed"),
        (b"id,city\n", "city", "no values; at least two are needed"),
        (b"id,city\n1,\xff\xfe\n", "city", "not text in UTF-8; export it again"),
        (f'id,city\n1,"{SECRET}\n'.encode(), "city", "not a valid CSV file: a quote is not closed"),
        (
            f"id,city\n1,{SECRET * 200}\n".encode(),
            "city",
            "row 1 below the heading: a value of 1,600 characters in column 'city'",
        ),
    ],
    ids=[
        "empty",
        "capitals",
        "no heading",
        "one column",
        "twice",
        "one value",
        "no rows",
        "not text",
        "open quote",
        "texts",
    ],
)
def test_bad_files_are_told_without_their_contents(tmp_path, content, column, message):
    path = tmp_path / "people.csv"
    path.write_bytes(content)
    with pytest.raises(SimulationError, match=message) as raised:
        read_column(path, column)
    assert SECRET not in str(raised.value)


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("packed", [False, True])
def test_whatever_stands_between_cells_and_packed_too(tmp_path, separator, packed):
    rows = [["id", "città, paese"], ["1", "Rome; IT"], ["2", "Oslo"], ["3"], ["4", "Oslo", "more"]]
    into = io.StringIO(newline="")
    csv.writer(into, delimiter=separator).writerows(rows)
    content = into.getvalue().encode("utf-8-sig")
    path = tmp_path / "people"
    path.write_bytes(gzip.compress(content) if packed else content)
    column = read_column(path, "città, paese")
    assert (column.labels, column.values.tolist(), column.left_out) == (("Oslo", "Rome; IT"), [1, 0, 0], 1)


def test_a_damaged_gzip_file_is_told(tmp_path):
    path = tmp_path / "people.csv.gz"
    path.write_bytes(gzip.compress(b"city\nRome\nOslo\n" * 100)[:40])
    with pytest.raises(SimulationError, match="damaged or truncated gzip file"):
        read_column(path, "city")


def test_a_pipe_is_read(tmp_path):
    ends = os.pipe()
    os.write(ends[1], b"id;city\n1;Rome\n2;Oslo\n")
    os.close(ends[1])
    try:
        assert read_column(Path(f"/dev/fd/{ends[0]}"), "city").labels == ("Oslo", "Rome")
    finally:
        os.close(ends[0])


def test_reports_as_long_as_a_large_domain_are_left_out_and_not_waited_for(monkeypatch):
    monkeypatch.setattr("evidence.compare.compare.MOST_BITS", 100 * 64 * 2)
    people = np.arange(200) % 64
    found = {one.mechanism: one for one in compare(people, 64, [1.0, 1.0], repeats=2)}
    assert len(found) == len(serving(FiniteMechanism))
    assert found["unary_optimized"].problem == "left out above 100 people"
    assert (found["unary_optimized"].l2, found["unary_optimized"].report_bytes) == (None, 8)
    assert found["hadamard"].problem == ""
    assert found["hadamard"].l2 > 0


def test_a_missing_file_is_told(tmp_path):
    with pytest.raises(
        SimulationError, match="cannot be read: No such file or directory; --data must name a readable CSV file"
    ):
        read_column(tmp_path / "nowhere.csv", "city")


def test_raw_errors_are_those_of_the_exact_variance():
    """About the column, people are not drawn: the raw error's mean square is the channel's variance alone."""
    rng = np.random.default_rng(1)
    people = rng.choice(5, size=4000, p=[0.5, 0.2, 0.2, 0.05, 0.05])
    shares = np.bincount(people) / len(people)
    repeats = 40
    for one in compare(people, 5, [0.5, 2.0], repeats=repeats):
        # With data sampling the variance has sum p(1-p)/n more than without.
        with_sampling = create(one.mechanism, 5, one.epsilon).expected_l2(len(people), shares)
        without = np.sqrt(with_sampling**2 - (1 - (shares**2).sum()) / len(people))
        # An L2 norm over 5 coordinates varies by at most its own size/sqrt(2): six sigmas of the mean of 40, and
        # Jensen's gap between mean and root mean square, which is below an eighth for five coordinates.
        assert without * (1 - 1 / 8 - 6 / np.sqrt(2 * repeats) / 2) < one.l2_raw < without * (1 + 3 / np.sqrt(repeats))
        assert one.l2 <= one.l2_raw * (1 + 1e-12)
        assert one.report_bytes >= 1
    assert {one.mechanism for one in compare(people, 5, [1.0], repeats=2)} == set(serving(FiniteMechanism))


class Fake(Peer):
    package, module, projects = "fake", "fake", "not at all"

    def report_bits(self, size, epsilon):
        return 9

    def work(self, size, epsilon):
        return PeerCost(each=1e-6)


class Broken(Fake):
    def _estimate(self, values, size, epsilon):
        raise RuntimeError(SECRET)


class Perfect(Fake):
    def _estimate(self, values, size, epsilon):
        return np.bincount(values, minlength=size) / len(values)


class Slow(Fake):
    """Its first call takes a hundred seconds, and each thereafter one, by a clock of its own."""

    clock = 0.0

    def _estimate(self, values, size, epsilon):
        self.clock += 1.0 if self.clock else 100.0
        return np.full(size, 1 / size)


def test_a_peer_that_fails_is_a_row_and_not_the_end(tmp_path):
    people = np.arange(600) % 3
    found = compare(people, 3, [1.0], peers=[Broken("X"), Perfect("Y")], repeats=2)
    broken, perfect = found[-2:]
    assert (broken.l2, broken.problem) == (None, "it raised RuntimeError")
    assert (perfect.l2, perfect.largest, perfect.report_bytes, perfect.problem) == (0.0, 0.0, 2, "")
    assert (perfect.projection, perfect.name) == ("not at all", "fake Y")
    save_figure(comparison_figure(found), tmp_path / "compared.png")
    assert (tmp_path / "compared.png").read_bytes()[:4] == b"\x89PNG"


def test_the_first_call_of_a_peer_is_in_nobody_s_time(monkeypatch):
    slow = Slow("Z")
    monkeypatch.setattr("evidence.compare.compare.time.perf_counter", lambda: slow.clock)
    found = compare(np.arange(600) % 3, 3, [1.0, 2.0], peers=[slow], repeats=3)
    theirs = [one for one in found if one.package == "fake"]
    assert [(one.seconds, one.seconds_standard_error) for one in theirs] == [(1.0, 0.0), (1.0, 0.0)]


def test_every_mean_has_its_standard_error():
    for one in compare(np.arange(600) % 3, 3, [1.0], repeats=5):
        for name in ("l2", "l2_raw", "largest", "seconds"):
            assert 0 < getattr(one, f"{name}_standard_error") < 2 * getattr(one, name)


def test_the_picture_says_who_does_not_project():
    found = compare(np.arange(600) % 3, 3, [1.0], peers=[Perfect("Y")], repeats=2)
    (axes,) = comparison_figure(found).axes
    assert "projected (fake: not at all)" in axes.get_xlabel()
    (axes,) = comparison_figure(found[:-1]).axes
    assert "(" not in axes.get_xlabel()


def test_a_sample_is_the_same_for_a_seed():
    people = np.arange(1000)
    assert sampled(people, None, 1) is people
    assert sampled(people, 5000, 1) is people
    few = sampled(people, 100, 1)
    assert len(set(few.tolist())) == 100
    assert np.array_equal(few, sampled(people, 100, 1))
    assert not np.array_equal(few, sampled(people, 100, 2))
    with refuses(SimulationError, "sample"):
        sampled(people, 0, 1)
