"""Mechanisms of other packages on a device: loaded and run only where the owner has allowed them by name."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import sottovoce as sv
from device.conftest import MakeDevice
from device.played import Played, as_json
from foreign import LAZY, install
from outside.package import put_on_path, write_package
from refusing import refuses
from sottovoce.cli import main
from sottovoce.core.errors import MechanismError, SurveyError
from sottovoce.device import Device
from sottovoce.device.fetch import CollectorClient, read_survey
from sottovoce.device.foreign import check_foreign_allowed
from sottovoce.device.http import Http
from sottovoce.mechanisms import registry


def published(played: Played, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[sv.Survey, str]:
    """A survey by lazy response; this process has forgotten the class, as another one would not know it."""
    module = install(tmp_path, monkeypatch)
    survey = sv.Survey(sv.shares(["red", "green", "blue"]), epsilon=1.0, mechanism="lazy_response", title="Colours")
    played.publish(survey)
    registry.REGISTRY.forget()
    del sys.modules[module]
    return survey, module


def signed(played: Played) -> Any:
    """The envelope of such a survey from where the class is known."""
    text = sv.Survey(sv.shares(3), epsilon=1.0, mechanism="hadamard").to_json().replace("hadamard", "lazy_response")
    envelope = played.signed(text)
    played.twists["GET", envelope["id"]] = lambda _: as_json(200, envelope)
    return envelope


def test_it_is_not_even_imported_unless_its_name_is_allowed(
    played: Played, device: MakeDevice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    survey, module = published(played, tmp_path, monkeypatch)
    for allowed in ((), ("eager_response",)):
        mine = device(allow_mechanisms=allowed)
        with pytest.raises(MechanismError, match=r"'lazy_response' is not part of sottovoce.*--allow-mechanism"):
            mine.answer(played.url, survey.id, "red")
        assert module not in sys.modules
        assert len(mine.ledger) == 0
        assert played.bodies == []
    mine = device(allow_mechanisms=["lazy_response"])
    assert mine.answer(played.url, survey.id, "red").state == "sent"
    assert module in sys.modules
    assert survey.aggregate().add([row[16:] for row in played.reports(survey)]).n_reports == 1


def test_a_collector_that_is_shared_does_not_get_around_it(
    played: Played, device: MakeDevice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    survey, module = published(played, tmp_path, monkeypatch)
    shared = device(allow_mechanisms=["lazy_response"]).collector
    for i, connect in enumerate((shared, lambda url: CollectorClient(Http(url)))):
        strict = device(tmp_path / f"strict {i}.db", connect=connect)
        with refuses(MechanismError, "allow_mechanisms"):
            strict.survey(played.url, survey.id)
        with refuses(MechanismError, "allow_mechanisms"):
            strict.answer(played.url, survey.id, "red")
        assert module not in sys.modules
    assert played.bodies == []


def test_one_that_is_allowed_and_fails_its_battery_sends_nothing(
    played: Played, device: MakeDevice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = LAZY.replace("return value if truthful else blind", "return value")
    assert bad != LAZY
    install(tmp_path, monkeypatch, bad)
    envelope = signed(played)
    with pytest.raises(MechanismError, match=r"fails its battery of checks and is not used: .*possible for one value"):
        device(allow_mechanisms=["lazy_response"]).answer(played.url, envelope["id"], 1)
    assert played.bodies == []


def test_one_that_is_allowed_and_not_installed_is_refused_with_the_remedy(played: Played, device: MakeDevice) -> None:
    envelope = signed(played)
    with pytest.raises(MechanismError, match="install the package"):
        device(allow_mechanisms=["lazy_response"]).answer(played.url, envelope["id"], 1)


def test_names_are_a_list() -> None:
    with refuses(MechanismError, "allow_mechanisms"):
        Device(allow_mechanisms="lazy_response")


def test_the_command_allows_it_by_name(
    played: Played, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    survey, _ = published(played, tmp_path, monkeypatch)
    words = ("answer", played.url, survey.title, "red", "--store", str(tmp_path / "d.db"))
    assert main(words) == 2
    assert "--allow-mechanism" in capsys.readouterr().err
    assert main((*words, "--allow-mechanism", "lazy_response")) == 0
    assert len(played.reports(survey)) == 1


@pytest.mark.parametrize(
    ("name", "replaced"), [("question", '"kind":"shares"'), ("strategy", '"strategy":"histogram"')]
)
def test_a_question_and_a_strategy_of_another_package_need_the_same_consent(name: str, replaced: str) -> None:
    text = sv.Survey(sv.shares(3), epsilon=1.0).to_json()
    check_foreign_allowed(text.encode(), ())
    assert replaced in text
    foreign = text.replace(replaced, replaced.rsplit(":", 1)[0] + ':"theirs"').encode()
    with pytest.raises(SurveyError, match=f"{name} 'theirs' is not part of sottovoce"):
        check_foreign_allowed(foreign, ("others",))
    check_foreign_allowed(foreign, ("theirs",))


@pytest.mark.parametrize(
    "path", [("question", "kind"), ("design", "strategy"), ("design", "mechanism", "name")], ids=str
)
@pytest.mark.parametrize("name", [5, ["reaching"], {}, None], ids=repr)
def test_a_name_that_is_no_text_loads_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: tuple[str, ...], name: object
) -> None:
    """Neither the check nor the message of the refusal looks for classes of other packages."""
    monkeypatch.setattr("importlib.metadata.EntryPoint.load", lambda _: pytest.fail("it was loaded"))
    with put_on_path(write_package(tmp_path)):
        stated = json.loads(sv.Survey(sv.shares(["yes", "no"]), epsilon=1.0).to_json())
        place = stated
        for field in path[:-1]:
            place = place[field]
        place[path[-1]] = name
        with pytest.raises(SurveyError):
            read_survey(json.dumps(stated).encode(), {}, frozenset())
