"""multi-freq-ldpy's solutions for forms: called once per person, with the sizes and the epsilon that they are given."""

from __future__ import annotations

import sys
from types import ModuleType

import numpy as np
import pytest

from evidence.compare.form_peers import FORM_PEERS, installed_form_peers

RECORDS = np.array([[0, 2], [1, 2], [1, 0], [1, 1]])


@pytest.fixture
def package(monkeypatch):
    """A stand-in with the package's names, whose reports are the truth and whose estimates count them."""
    calls = []

    def client(family):
        def report(record, sizes, attributes, epsilon, *variant):
            assert (sizes, attributes, epsilon) == ([2, 3], 2, 1.5)
            assert all(type(value) is int for value in [*record, *sizes])
            calls.append((family, *variant))
            return record

        return report

    def aggregator(family):
        def shares(reports, *settings):
            assert settings[:-2] if family == "SMP_UE" else settings[0] == [2, 3]
            counted = [
                np.bincount(column, minlength=size) for column, size in zip(np.array(reports).T, (2, 3), strict=True)
            ]
            return np.array([one / len(reports) for one in counted], dtype="object")

        return shares

    solutions = ModuleType("multi_freq_ldpy.mdim_freq_est")
    for name, families in (
        ("SMP_solution", ("SMP_GRR", "SMP_UE", "SMP_LH", "SMP_SS", "SMP_ADP")),
        ("RSpFD_solution", ("RSpFD_GRR", "RSpFD_UE_zero", "RSpFD_ADP")),
    ):
        solution = ModuleType(f"{solutions.__name__}.{name}")
        for family in families:
            setattr(solution, f"{family}_Client", client(family))
            setattr(solution, f"{family}_Aggregator_MI", aggregator(family))
        monkeypatch.setitem(sys.modules, solution.__name__, solution)
    monkeypatch.setitem(sys.modules, "multi_freq_ldpy", ModuleType("multi_freq_ldpy"))
    monkeypatch.setitem(sys.modules, solutions.__name__, solutions)
    return calls


def test_every_solution_is_called_once_for_each_person(package):
    for peer in FORM_PEERS:
        found = peer.estimate(RECORDS, (2, 3), 1.5)
        assert [one.tolist() for one in found] == [[0.25, 0.75], [0.25, 0.25, 0.5]]
        assert [one.dtype for one in found] == [np.float64, np.float64]
    assert len(package) == len(FORM_PEERS) * len(RECORDS)
    assert {call for call in package if call[0] == "SMP_UE"} == {("SMP_UE", True), ("SMP_UE", False)}
    assert ("RSpFD_UE_zero", True) in package


def test_names_say_the_solution_and_its_oracle():
    assert [peer.name for peer in FORM_PEERS][::3] == ["SMP[GRR]", "SMP[OLH]", "RS+FD[GRR]"]


def test_they_take_part_where_the_package_is(monkeypatch, tmp_path):
    monkeypatch.setattr("evidence.compare.form_peers.find_spec", lambda name: None)
    assert installed_form_peers() == ()
    monkeypatch.setattr("evidence.compare.form_peers.find_spec", lambda name: name)
    assert installed_form_peers() == FORM_PEERS
