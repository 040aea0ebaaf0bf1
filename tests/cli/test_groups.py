"""A survey with groups from the command line: created, answered for a group, estimated apart, compared and weighed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sottovoce as sv
from collector.client import honest
from collector.service import Service, running, until
from sottovoce.formats.aggregate_file import write_aggregate
from sottovoce.formats.sharded import in_shards
from sottovoce.surveys.survey import Survey


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    with running(tmp_path / "data", "--minimum-reports", "1") as started:
        monkeypatch.setenv("SOTTOVOCE_URL", started.url)
        monkeypatch.setenv("SOTTOVOCE_TOKEN", started.token)
        yield started


def test_from_creating_to_comparing(run: Any, service: Service, tmp_path: Path) -> None:
    asked = ("survey", "create", "shares", "--labels", "tea,coffee", "--epsilon", "2", "--title", "Drinks")
    shown = run(*asked, "--groups", "arm=A,B").out
    assert "sent in the open: arm (A, B)" in shown
    assert "VALUE --group GROUP" in shown
    survey = Survey(["tea", "coffee"], epsilon=2.0, title="Drinks", groups={"arm": ["A", "B"]})
    answer = ("answer", service.url, "Drinks", "tea", "--store", str(tmp_path / "device.db"))
    refused = run(*answer)
    assert refused.status == 2
    assert "arm A, arm B" in refused.err
    assert "Drinks, arm B" in run(*answer, "--group", "B").out
    for group, tea in (("A", 150), ("B", 50)):
        member = survey.in_group(group)
        service.send(member, honest(member, "tea", tea) + honest(member, "coffee", 200 - tea))
    until(lambda: service.status(survey)["n_reports"] == 401, "all are counted")
    assert "arm A" in run("estimate", "Drinks", "--by", "arm").out
    told = run("estimate", "Drinks", "--compare", "A", "B", "--json").json
    assert [difference["label"] for difference in told["differences"]] == ["tea", "coffee"]
    assert told["differences"][0]["p_value"] < 0.01
    population = tmp_path / "population.csv"
    population.write_text("variable,value,share\narm,A,0.1\narm,B,0.9\n")
    weighed = run("estimate", "Drinks", "--weights", str(population), "--json").json
    assert [group["n_reports"] for group in weighed["groups"]] == [200, 201]
    assert weighed["answers"][0]["value"] < 0.5
    both = run("estimate", "Drinks", "--by", "arm", "--compare", "A", "B")
    assert both.status == 2
    assert "one of --by" in both.err


def test_a_form_is_weighed_by_its_private_fields(run: Any, tmp_path: Path) -> None:
    fields = {"age": ["young", "old"], "drink": ["tea", "coffee"]}
    survey = Survey(sv.records(fields), epsilon=4.0)
    people = {"age": ["young"] * 3000 + ["old"] * 1000, "drink": ["tea"] * 3000 + ["coffee"] * 1000}
    counted = tmp_path / "form.bin"
    aggregate = survey.simulate_aggregate(people, seed=1)
    write_aggregate(counted, survey, aggregate.n_reports, in_shards(aggregate.counts))
    population = tmp_path / "population.csv"
    population.write_text("variable,value,share\nage,young,0.5\nage,old,0.5\n")
    weigh = ("estimate", "--aggregate", str(counted), "--weights", str(population))
    told = run(*weigh, "--json").json
    assert told["method"] == "greg"
    assert [row["label"] for row in told["answers"]] == ["drink=tea", "drink=coffee"]
    assert told["answers"][0]["low"] < 0.5 < told["answers"][0]["high"]
    assert "weighed by age (rake)" in run(*weigh, "--method", "rake").out
    for wrong in ((*weigh, "--method", "magic"), (*weigh[:3], "--method", "rake")):
        refused = run(*wrong)
        assert refused.status == 2
        assert "method" in refused.err


@pytest.mark.parametrize("groups", ["arm", "arm=A", "arm=A,A"])
def test_bad_groups_are_refused(run: Any, service: Service, groups: str) -> None:
    asked = ("survey", "create", "shares", "--labels", "tea,coffee", "--epsilon", "2", "--groups", groups)
    outcome = run(*asked)
    assert outcome.status == 2
    assert "groups" in outcome.err or "values" in outcome.err
