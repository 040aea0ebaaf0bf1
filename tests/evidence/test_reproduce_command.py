"""What `reproduce` says and how it ends, whatever was found."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib import import_module


def test_findings_say_how_they_were_found(run, tmp_path):
    done = run("reproduce", "findings", "--out", str(tmp_path))
    assert done.status == 0
    assert "1.576" in done.out
    assert "exact (Balle and Wang 2018); at least 1.0" in " ".join(done.out.split())


def test_another_verdict_than_the_findings_is_a_failure(run, tmp_path, monkeypatch):
    from evidence.reproduce.findings import geometry

    (stands,) = geometry()
    module = import_module("evidence.reproduce.run")
    monkeypatch.setattr(module, "findings", lambda seed: (replace(stands, stands=False),))
    done = run("reproduce", "findings", "--out", str(tmp_path))
    assert done.status == 1
    assert "NOT as in the findings" in done.out


def test_points_above_a_bound_are_told(run, tmp_path, monkeypatch):
    module = import_module("evidence.reproduce.run")
    honest = module.measure_adaptive

    def lowered(case, *given):
        found = honest(case, *given)
        planted = (case.along, case.population, case.people) == ("people", "overfit", 1000)
        return replace(found, standard_error=1e-9, bound=found.error / 2) if planted else found

    monkeypatch.setitem(module._MEASURES, "adaptive", lowered)
    done = run("reproduce", "adaptive", "--quick", "--out", str(tmp_path))
    assert done.status == 1
    for words in ("points above a bound", "adaptive-people", "2.000", "not explained", "NO", "not checked"):
        assert words in done.out
    told = json.loads((tmp_path / "reproduction.json").read_text())
    assert [one["ratio"] for one in told["exceeding"]] == [2.0]
    assert told["made"]["NumPy"]
