"""Tracking surveys for analysts: periods, curves as periods close, exports; of the application in this process."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import sottovoce as sv
from collector.tracked import TrackedApi, tracking_api, weekly
from refusing import refuses
from sottovoce.analyst import crowd as crowd_module
from sottovoce.analyst.live import LiveSurvey
from sottovoce.collector.store import open_store
from sottovoce.core.errors import NoReportsError, ServiceError, SessionError, SurveyError
from sottovoce.surveys.survey import Tracking


class HereHttp:
    """The requests of an analyst's client, answered by the application."""

    def __init__(self, api: TrackedApi) -> None:
        self._api = api
        self.asked: list[str] = []
        self.changed: dict[str, Any] = {}

    def _ask(self, path: str) -> Any:
        self.asked.append(path)
        response = self._api.ask("GET", path)
        if response.status_code >= 400:
            told = response.json()["error"]
            raise ServiceError(told["message"], told["code"], response.status_code)
        return response

    def get(self, path: str) -> Any:
        return {**self._ask(path).json(), **(self.changed if "/periods" in path else {})}

    def get_bytes(self, path: str, *, most: int) -> bytes:
        content: bytes = self._ask(path).content
        assert len(content) <= most
        return content


@pytest.fixture
def api(tmp_path: Path) -> Iterator[TrackedApi]:
    store = open_store("", tmp_path / "data")
    with tracking_api(tmp_path / "data", store, 0) as found:
        yield found
    store.close()


def live_of(api: TrackedApi, survey: Any) -> tuple[LiveSurvey, HereHttp]:
    http = HereHttp(api)
    connection: Any = SimpleNamespace(http=http)
    return LiveSurvey(connection, survey), http


def answer(api: TrackedApi, tracking: Tracking, number: int, n: int) -> None:
    period = tracking.period(number)
    assert api.send(period, [(secrets.token_bytes(16), period.randomize("yes")) for _ in range(n)]).status_code == 200
    api.count()


def filled(api: TrackedApi) -> Tracking:
    tracking = weekly()
    api.publish(tracking, minimum_reports=10)
    answer(api, tracking, 1, 30)
    api.at(1)
    answer(api, tracking, 2, 5)
    return tracking


def test_periods_and_one_of_them(api: TrackedApi) -> None:
    tracking = filled(api)
    live, _ = live_of(api, tracking)
    assert [(one.number, one.state, one.n_reports) for one in live.periods()] == [(1, "open", 30), (2, "open", 5)]
    assert live.period(1).id == tracking.period(1).id
    assert live.period(1).status().n_reports == 30
    assert live.period(1).estimate().n_reports == 30
    assert live.status().asked == 2


def test_the_curve_marks_what_is_open_and_fetches_what_is_closed_once(api: TrackedApi) -> None:
    tracking = filled(api)
    live, http = live_of(api, tracking)
    curve = live.curve()
    assert (list(curve.estimates), list(curve.periods), curve.unfinished) == ([1], [1, 2], {1, 2})
    api.at(1, 3)
    closed = live.curve()
    assert (list(closed.estimates), closed.unfinished, closed.closed) == ([1], {2}, [1])
    assert closed.series("yes").points[1].n_reports == 0, "too few reports are a gap"
    before = [path for path in http.asked if path.endswith(f"{tracking.period(1).id}/aggregate")]
    assert live.curve().estimates[1].n_reports == 30
    after = [path for path in http.asked if path.endswith(f"{tracking.period(1).id}/aggregate")]
    assert before == after


def test_no_period_with_enough_reports(api: TrackedApi) -> None:
    tracking = weekly()
    api.publish(tracking, minimum_reports=10)
    live, _ = live_of(api, tracking)
    with pytest.raises(NoReportsError, match="no period has as many reports"):
        live.curve()


def test_a_curve_whenever_a_period_closes(api: TrackedApi, monkeypatch: pytest.MonkeyPatch) -> None:
    """Time passes while the analyst waits: to the next boundary, as far as the pause goes."""
    tracking = filled(api)
    live, _ = live_of(api, tracking)
    pauses: list[float] = []
    weeks = iter([(1, 2.0), (2, 0.0), (2, 2.0), (3, 0.0), (3, 2.0)])

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        api.at(*next(weeks))

    monkeypatch.setattr(crowd_module.time, "sleep", sleep)
    curves = list(live.watch_curve(seconds=3600))
    assert [curve.closed for curve in curves] == [[], [1], [1], [1]]
    assert [len(curve.periods) for curve in curves] == [2, 2, 3, 3]
    assert len(pauses) == 5
    assert max(pauses) < 1, "short pauses first"


def test_a_collector_with_other_periods_is_refused(api: TrackedApi) -> None:
    tracking = filled(api)
    live, http = live_of(api, tracking)
    listed = http.get(f"/v1/surveys/{tracking.id}/periods")["periods"]
    for changed in ([{**listed[0], "id": "0" * 64}, listed[1]], listed[1:], [listed[1], listed[0]]):
        http.changed = {"periods": changed}
        with pytest.raises(ServiceError, match="is not one of survey"):
            live.periods()


def test_other_surveys_have_no_curve_and_tracking_ones_no_estimate(api: TrackedApi) -> None:
    live, _ = live_of(api, sv.Survey(sv.shares(3), epsilon=1.0))
    for ask in (live.curve, live.periods, lambda: live.period(1), lambda: next(live.watch_curve())):
        with pytest.raises(SessionError, match="no calendar"):
            ask()
    tracking, _ = live_of(api, weekly())
    with pytest.raises(SessionError, match=r"use curve\(\)"):
        tracking.estimate()
    with refuses(SurveyError, "seconds"):
        next(tracking.watch_curve(seconds=0))


def test_a_period_is_not_published_by_hand() -> None:
    collector = sv.connect("http://127.0.0.1:8470", "sv_0123abcd_" + "A" * 43)
    with refuses(SurveyError, "survey"):
        collector.publish(weekly().period(1))


def test_an_export_has_a_folder_for_each_period(api: TrackedApi, tmp_path: Path) -> None:
    tracking = filled(api)
    live, _ = live_of(api, tracking)
    done = live.export(tmp_path / "out")
    assert (done.files, done.reports, done.kept) == (2, 35, 0)
    assert sorted(one.name for one in (tmp_path / "out").iterdir()) == ["period-00001", "period-00002"]
    assert live.export(tmp_path / "out").kept == 2
