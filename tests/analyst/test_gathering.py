"""A collector that only gathers: its export is counted by an engine, handed in, and estimated from as if it counted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import sottovoce as sv
from analyst.conftest import counted, send
from collector.service import Service, running
from commands import Run
from sottovoce.core.errors import ServiceError


@pytest.fixture(scope="module")
def gathering(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    data = tmp_path_factory.mktemp("gathering") / "data"
    with running(data, "--minimum-reports", "1", "--max-counters", "0") as service:
        yield service


def test_the_estimate_is_the_same(gathering: Service, tmp_path: Path, run: Run) -> None:
    survey = sv.Survey(sv.shares(["red", "green", "blue"]), epsilon=1.0, title="Gathered")
    live = sv.connect(gathering.url, gathering.token).publish(survey)
    reports = survey.simulate(["red"] * 600 + ["blue"] * 400, seed=3)
    ids = send(gathering.url, survey, reports)
    send(gathering.url, survey, reports, ids)  # again, as after a lost acknowledgement: counted once
    counted(live)
    with pytest.raises(ServiceError) as refused:
        live.estimate()
    assert refused.value.code == "counted_elsewhere"
    folder = tmp_path / "export"
    there = ("--url", gathering.url, "--token", gathering.token)
    assert run("export", "Gathered", "--parquet", str(folder), *there).status == 0
    out = str(tmp_path / "aggregate.bin")
    words = ("aggregate", "Gathered", "--reports", str(folder), "--out", out, "--hand-in", "--json", *there)
    early = run(*words)
    assert early.status == 2
    assert early.err.endswith(f"; the counts were not handed in; they are in {out!r}\n")
    live.seal()
    done = run(*words)
    assert done.status == 0, done.err
    told = json.loads(done.out)
    assert (told["counted"], told["duplicates"], told["handed_in"]) == (1000, 0, True)
    assert live.aggregate() == survey.aggregate().add(reports)
    assert np.array_equal(live.estimate().raw, survey.estimate(reports).raw)
