"""Designs beside others: that what is measured agrees with the formulas, and that ratios are to what `auto` takes.

Alpha: the measured variance of a number is tested two-sided at 1e-9.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import chi2

from evidence.compare import choices as choices_module
from evidence.compare import records as records_module
from evidence.compare.choices import compare_choices
from evidence.compare.designs import ComparedDesign, with_ratios
from evidence.compare.form_peers import FormPeer
from evidence.compare.number import PROGRAM_OPTIMA, compare_number
from evidence.compare.records import compare_large_form, compare_records, table_shares
from evidence.experiments.census import CensusRecords
from evidence.published.fake_data import audited_epsilon
from sottovoce.workloads import Marginals

pytestmark = pytest.mark.slow

RECORDS = CensusRecords(
    {"a": ("x", "y", "z"), "b": ("0", "1"), "c": ("p", "q")},
    np.random.default_rng(3).integers((3, 2, 2), size=(400, 3)),
)


def test_a_number_beside_the_closed_forms():
    repeats = 60
    found = {one.name: one for one in compare_number([1.0], people=200, repeats=repeats)}
    ours = found["minimax"]
    assert ours.chosen
    assert ours.expected == pytest.approx(PROGRAM_OPTIMA[1.0], rel=0.02)
    assert (ours.ratio, ours.report_bytes) == (1.0, 1)
    assert found["hybrid"].ratio == pytest.approx(4.289 / 3.991, rel=0.02)
    assert found["two points"].ratio == pytest.approx(4.683 / 3.991, rel=0.02)
    # A mean of 200 bounded reports is close to normal, so the sum of squared errors is close to chi-square; the
    # level leaves a factor of a thousand for what is not.
    low, high = chi2.ppf([0.5e-9, 1 - 0.5e-9], repeats) / repeats
    for one in found.values():
        if one.measured is not None:
            assert low < one.measured / one.expected < high
            assert one.seconds > 0


def test_shares_of_tables_come_in_the_order_of_marginals():
    for order in (1, 2):
        workload = Marginals(RECORDS.attributes, order)
        numbers = np.ravel_multi_index(tuple(RECORDS.values.T), RECORDS.sizes)
        expected = workload.columns(numbers).mean(axis=0)
        assert table_shares(RECORDS.values, RECORDS.sizes, order) == pytest.approx(expected, abs=1e-12)


def test_ratios_are_to_what_auto_takes():
    def row(name: str, expected: float | None, **more: bool) -> ComparedDesign:
        return ComparedDesign("number", "s", "n·Var", "sottovoce", name, 1.0, expected=expected, **more)

    found = with_ratios([row("a", 2.0, chosen=True), row("b", 3.0), row("c", None)])
    assert [one.ratio for one in found] == [1.0, 1.5, None]
    assert [one.ratio for one in with_ratios([row("b", 3.0)])] == [None]
    assert found[0].to_dict()["chosen"] is True


class TellingPeer(FormPeer):
    """Estimates the truth, plus an error that tells the epsilon it was given."""

    def _estimate(self, records, sizes, epsilon):
        columns = zip(np.array(records).T, sizes, strict=True)
        shares = [np.bincount(column, minlength=size) / len(records) for column, size in columns]
        shares[0] = shares[0] + np.array([epsilon, 0, 0])
        return shares


class FailingPeer(FormPeer):
    def _estimate(self, records, sizes, epsilon):
        raise ImportError


@pytest.fixture(scope="module")
def compared():
    peers = [TellingPeer("SMP", "GRR"), TellingPeer("RS+FD", "ADP"), FailingPeer("SMP", "SS")]
    return compare_records(RECORDS, [2.0], peers=peers, repeats=2)


def test_one_way_tables_beside_other_packages(compared):
    one_way = {one.name: one for one in compared if "one-way" in one.section}
    ours = one_way["tables"]
    assert ours.chosen
    assert ours.ratio == 1
    assert 0 < ours.projected <= ours.measured * (1 + 1e-9)
    assert one_way["SMP[GRR]"].projected == pytest.approx(2.0)
    assert one_way["SMP[GRR]"].ratio == pytest.approx(2.0 / ours.projected)
    assert one_way["SMP[SS]"].note == "it raised ImportError"
    # RS+FD stands there twice: what it claims at this epsilon is more, and it must be given less to have it.
    claimed, audited = one_way["RS+FD[ADP], claimed"], one_way["RS+FD[ADP], audited"]
    assert claimed.projected == pytest.approx(2.0)
    assert claimed.note == f"its epsilon is really {audited_epsilon(3, 2.0):.2f}"
    assert audited.projected == pytest.approx(math.log1p(math.expm1(2.0) / 3))


def test_two_way_tables_beside_other_strategies(compared):
    two_way = {one.name: one for one in compared if "two-way" in one.section}
    assert {"tables", "fourier", "direct"} == set(two_way)
    assert two_way["fourier"].ratio == pytest.approx(two_way["fourier"].measured / two_way["tables"].measured)
    assert all(one.projected <= one.measured * (1 + 1e-9) for one in two_way.values())


def test_a_strategy_that_cannot_serve_is_a_row(monkeypatch):
    def refuse(*given, **settings):
        raise records_module.SottovoceError("too many records")

    monkeypatch.setattr(records_module.sv, "queries", refuse)
    found = {one.name: one for one in compare_records(RECORDS, [1.0], repeats=2) if "one-way" in one.section}
    assert (found["direct"].note, found["direct"].measured) == ("too many records", None)


def test_a_form_of_very_many_records_is_asked():
    found = compare_large_form(attributes=12, values=10, people=2000)
    assert found.note == "1e+12 possible records"
    assert 0 < found.projected <= found.measured * (1 + 1e-9)


def test_choices_beside_the_closed_forms():
    found = {one.name: one for one in compare_choices([(200, 3)], [2.0], people=2000, repeats=2)}
    subsets, ours = found["set_selection"], [one for one in found.values() if one.chosen]
    assert [one.ratio for one in ours] == [1.0]
    assert subsets.expected == pytest.approx(found["PrivSet, sets padded"].expected, rel=0.03)
    assert found["PrivSet, exactly m ticked"].expected < found["PrivSet, sets padded"].expected
    assert found["padding and sampling"].ratio > 1
    assert found["codebook on 0/1 vectors"].ratio > 1
    # A mean of squares over 180 options that nobody ticked, twice: a relative error of some 7 %, and as much again for
    # options that share reports.
    assert subsets.measured == pytest.approx(subsets.expected, rel=0.5)


def test_what_would_take_long_or_tell_nothing_is_not_measured(monkeypatch):
    monkeypatch.setattr(choices_module, "MOST_BITS", 0)
    rows = compare_choices([(30, 2)], [1.0], people=40, repeats=2)
    notes = {one.name: one.note for one in rows if one.note.startswith("not measured")}
    assert notes == {
        "set_selection": "not measured: too few people",
        "wheel": "not measured: too few people",
        "one_option": "not measured: too few people",
    }
    rows = compare_choices([(30, 2)], [6.0], people=10_000, repeats=2)
    assert {one.note for one in rows if one.report_bytes and one.name != "codebook on 0/1 vectors"} == {
        "not measured: its reports are long"
    }
