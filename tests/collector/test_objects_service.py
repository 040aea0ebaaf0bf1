"""The real service with object storage: reports move out of the database, and every way of reading finds them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import sottovoce as sv
from collector.places import Place
from collector.service import running, until
from collector.test_serve import refusal
from sottovoce import Survey, engines
from sottovoce.analyst import connect
from sottovoce.collector.running.backup import backup, restore
from sottovoce.collector.settings import KEY_FILE

SURVEY = Survey(sv.shares(["tea", "coffee", "water"]), epsilon=2.0, title="What do you drink?")
REPORTS = [(number.to_bytes(16, "big"), SURVEY.randomize("tea")) for number in range(300)]
ALL = SURVEY.aggregate().add([report for _, report in REPORTS])


def objects_in(folder: Path) -> list[Path]:
    return sorted(folder.glob("*/*.parquet"))


@pytest.mark.slow
def test_a_sealed_survey_is_read_from_objects_and_deleted_with_them(place: Place, tmp_path: Path) -> None:
    folder = tmp_path / "objects"
    flags = ("--objects", str(folder), "--log-level", "warning")
    with running(place.data, *flags, database=place.database) as service:
        service.publish(SURVEY)
        assert service.send(SURVEY, REPORTS).status == 200
        service.counted(SURVEY, SURVEY.mechanism.report_bytes)
        assert service.ask("POST", f"/v1/surveys/{SURVEY.id}/seal").status == 200
        token = service.token
        assert service.stop() == 0

    # A worker looks for something to move as soon as it starts.
    with running(place.data, *flags, database=place.database, token=token) as service:
        until(lambda: objects_in(folder), "the survey has moved")
        (object_file,) = objects_in(folder)
        assert object_file.parent.name == SURVEY.id
        counted = service.counted(SURVEY, SURVEY.mechanism.report_bytes)
        assert counted.keys() == {report_id for report_id, _ in REPORTS}
        assert service.ask("GET", f"/v1/surveys/{SURVEY.id}/estimate").json["n_reports"] == len(REPORTS)
        live = connect(service.url, token).survey(SURVEY.id)
        live.export(tmp_path / "exported")
        for reports in (tmp_path / "exported", object_file.parent, f"file://{object_file.parent}"):
            assert engines.local().aggregate(SURVEY, reports) == ALL
        assert backup(place.database, place.data, tmp_path / "backup").objects == 1
        assert service.ask("DELETE", f"/v1/surveys/{SURVEY.id}").status == 200
        assert service.stop() == 0

    if not place.database:
        restore(tmp_path / "backup", "", tmp_path / "restored", str(folder))
        line = refusal("--data", str(tmp_path / "restored"), "--port", "0")
        assert "objects is empty, and counted reports of this database lie in object storage" in line
        shutil.copy(place.data / KEY_FILE, tmp_path / "restored")
        with running(tmp_path / "restored", "--objects", str(tmp_path / "elsewhere"), token=token) as service:
            until(lambda: "objects lacks" in service.log.read_text(), "it says what is missing")
            assert service.stop() == 0

    with running(place.data, *flags, database=place.database, token=token) as service:
        until(lambda: not list(folder.iterdir()), "its object and the folder of it are removed")
        assert "Traceback" not in service.log.read_text()
