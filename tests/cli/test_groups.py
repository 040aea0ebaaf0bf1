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
from sottovoce.surveys.aggregate import Aggregate
from sottovoce.surveys.survey import Survey, Tracking


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
    # One report over all groups: asked again for another, the device sends the same, for the first.
    assert "Drinks, arm B" in run(*answer, "--group", "A").out
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
    once, always = (
        run("estimate", "Drinks", "--compare", "arm=A", "B", "--json", *more).json for more in ((), ("--always",))
    )
    assert (once["always"], always["always"]) == (False, True)
    assert always["differences"][0]["low"] < once["differences"][0]["low"]
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


def test_a_sealed_survey_is_exported_counted_and_handed_in_by_group(run: Any, service: Service, tmp_path: Path) -> None:
    service.publish(DRINKS)
    for group, tea in (("A", 30), ("B", 10)):
        member = DRINKS.in_group(group)
        service.send(member, honest(member, "tea", tea) + honest(member, "coffee", 40 - tea))
    until(lambda: service.status(DRINKS)["n_reports"] == 80, "all are counted")
    compared = ("--compare", "A", "B", "--json")
    before = run("estimate", "Drinks", *compared).json
    assert run("survey", "seal", "Drinks").status == 0
    exported = tmp_path / "exported"
    assert run("export", "Drinks", "--parquet", str(exported), "--json").json["reports"] == 80
    files = []
    for number in (1, 2):
        path = tmp_path / f"{number}.bin"
        reports = str(exported / f"group-0000{number}")
        counted = run("aggregate", "--reports", reports, "--out", str(path), "--hand-in", "--json")
        assert (counted.json["counted"], counted.json["handed_in"]) == (40, True)
        files.append(str(path))
    assert run("estimate", "--aggregate", *files, *compared).json == before
    assert run("estimate", "Drinks", *compared).json == before


@pytest.mark.parametrize("groups", ["arm", "arm=A", "arm=A,A"])
def test_bad_groups_are_refused(run: Any, service: Service, groups: str) -> None:
    asked = ("survey", "create", "shares", "--labels", "tea,coffee", "--epsilon", "2", "--groups", groups)
    outcome = run(*asked)
    assert outcome.status == 2
    assert "groups" in outcome.err or "values" in outcome.err


DRINKS = Survey(["tea", "coffee"], epsilon=2.0, title="Drinks", groups={"arm": ["A", "B"]})
TRIAL = Tracking(
    ["yes", "no"], epsilon=2.0, every="week", starts="2027-01-04", periods=2, title="Trial", groups={"arm": ["A", "B"]}
)


def written(aggregate: Aggregate, path: Path) -> str:
    write_aggregate(path, aggregate.survey, aggregate.n_reports, in_shards(aggregate.counts))
    return str(path)


@pytest.fixture
def files(tmp_path: Path) -> tuple[dict[str, Aggregate], list[str]]:
    people = {"A": ["tea"] * 300 + ["coffee"] * 100, "B": ["tea"] * 50 + ["coffee"] * 250}
    counted = DRINKS.simulate_groups(people, seed=3)
    return counted, [written(found, tmp_path / f"{at}.bin") for at, found in enumerate(counted.values())]


def test_files_of_groups(run: Any, files: tuple[dict[str, Aggregate], list[str]], tmp_path: Path) -> None:
    counted, paths = files
    estimate = DRINKS.estimate(counted)
    asked = ("estimate", "--aggregate", *paths)
    assert run(*asked, "--json").json["n_reports"] == 700
    assert run(*asked, "--by", "arm", "--level", "0.9").out.strip() == estimate.by("arm").text(0.9).strip()
    table, picture = tmp_path / "by.csv", tmp_path / "by.png"
    written_to = ("--csv", str(table), "--picture", str(picture))
    told = run("estimate", "Drinks", *asked[1:], "--by", "arm", "--json", "--top", "1", *written_to).json
    assert told["groups"] == estimate.by("arm").to_dict(rows=1)["groups"]
    assert table.read_bytes().decode() == estimate.by("arm").to_csv()
    assert picture.stat().st_size > 1000
    told = run(*asked, "--compare", "A", "B", "--always", "--json").json
    assert told == sv.compare(estimate, "A", "B", always=True).to_dict()
    population = tmp_path / "population.csv"
    population.write_text("variable,value,share\narm,A,0.1\narm,B,0.9\n")
    weighed = run(*asked, "--weights", str(population), "--json").json
    assert weighed["answers"][0]["raw"] == estimate.weighted(population)["tea"].raw
    watched = run(*asked, "--weights", str(population), "--always")
    assert (watched.status, "--always is for --by and --compare" in watched.err) == (2, True)
    alone = run("estimate", "--aggregate", paths[0], "--json").json
    assert (alone["group"], alone["n_reports"]) == ("arm A", 400)


def test_files_that_do_not_belong_together(
    run: Any, files: tuple[dict[str, Aggregate], list[str]], tmp_path: Path
) -> None:
    counted, paths = files
    other = Survey(["tea", "coffee"], epsilon=2.0, title="Others", groups={"arm": ["A", "B"]})
    foreign = written(other.in_group("A").simulate_aggregate(["tea"] * 9, seed=1), tmp_path / "other.bin")
    whole = DRINKS.aggregate()
    together = written(
        Aggregate(whole.survey, 700, sum(found.counts for found in counted.values())),  # type: ignore[arg-type]
        tmp_path / "whole.bin",
    )
    for more, words in (([foreign], "only those of one survey"), ([together], "only those of one survey")):
        outcome = run("estimate", "--aggregate", *paths, *more)
        assert outcome.status == 2
        assert words in outcome.err
    outcome = run("estimate", "--aggregate", together, "--by", "arm")
    assert outcome.status == 2
    assert "one file for each group" in outcome.err
    outcome = run("estimate", "--aggregate", *paths, "--compare", "A", "C")
    assert outcome.status == 2
    assert "no group is named 'C'" in outcome.err
    for option in (("--sum", "tea"), ("--hostile", "3"), ("--likeliest",)):
        outcome = run("estimate", "--aggregate", *paths, "--compare", "A", "B", *option)
        assert outcome.status == 2
        assert option[0] in outcome.err


def test_files_of_groups_of_periods(run: Any, tmp_path: Path) -> None:
    people = {"A": lambda week: ["yes"] * 700 + ["no"] * 300, "B": lambda week: ["yes"] * 200 + ["no"] * 800}
    counted = TRIAL.simulate_groups(people, seed=1)
    paths = [
        written(found, tmp_path / f"{period}-{at}.bin")
        for period, groups in counted.items()
        for at, found in enumerate(groups.values())
    ]
    curve = TRIAL.estimate(counted)
    asked = ("estimate", "--aggregate", *paths)
    picture, table = tmp_path / "trial.png", tmp_path / "trial.csv"
    files = ("--picture", str(picture), "--csv", str(table))
    told = run(*asked, "--compare", "A", "B", "--answer", "no", "--json", *files).json
    compared = sv.compare(curve, "A", "B", answers=["no"])
    assert told["points"] == compared.to_dict()["points"]
    assert table.read_bytes().decode() == compared.to_csv()
    assert picture.stat().st_size > 1000
    assert "yes, arm A less arm B" in run(*asked, "--compare", "A", "B").out
    by = run(*asked, "--by", "arm", "--answer", "yes", "--json", "--csv", str(table)).json
    assert by["groups"]["B"][0]["points"] == curve.by("arm")["B"].to_dict("yes")["points"]
    assert table.read_text().splitlines()[1].split(",")[:2] == ['"week of 4 January 2027"', '"A"']
    shown = run(*asked, "--by", "arm", "--answer", "yes").out
    assert shown.index("arm A") < shown.index("arm B")
    refused = run(*asked, "--weights", "population.csv")
    assert (refused.status, "--weights" in refused.err) == (2, True)
