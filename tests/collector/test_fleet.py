"""A fleet of simulated devices against the real service: everybody answers once, however long it takes."""

from __future__ import annotations

import ast
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import sottovoce as sv
from collector.service import Service, running, until
from sottovoce.analyst.live import LiveSurvey
from sottovoce.cli import main
from sottovoce.core.errors import ServiceError, SimulationError, SurveyError
from sottovoce.device import Device, Http, MemoryStore, Patience
from sottovoce.formats.wire import REPORT_ID_BYTES, batch_rows, encode_batch
from sottovoce.lab import fleet
from sottovoce.lab.fleet.people import Urn, respondents_for
from sottovoce.lab.fleet.sending import BatchSender, SendCounter, bodies

NEVER = 1e-8
"""False alarms of one statistical check."""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with running(tmp_path_factory.mktemp("fleet") / "data", "--minimum-reports", "10") as started:
        yield started


def published(service: Service, survey: sv.Survey) -> LiveSurvey:
    return sv.connect(service.url, service.token).publish(survey)


def counted(live) -> int:
    until(lambda: not live.status().waiting, "everything is counted")
    return live.status().n_reports


# --- people -------------------------------------------------------------------------------------


def test_everybody_is_handed_out_once_and_in_fair_order():
    histogram = np.array([5000, 0, 5000])
    urn = Urn(sv.Domain.of(3), histogram, np.random.default_rng(1))
    survey = sv.Survey(sv.shares(3), epsilon=1.0)
    parts = [np.bincount(urn.take(survey, 1000).between(0, 1000), minlength=3) for _ in range(10)]
    assert urn.left == 0
    assert (np.sum(parts, axis=0) == histogram).all()
    # Hypergeometric, standard deviation sqrt(1000 * 1/4 * 9000/9999) = 15: 6 of them are passed with 2e-9. In the
    # order of values the first thousand would be 1000 to 0.
    assert all(abs(part[0] - 500) < 6 * 15 for part in parts)


def test_everybody_has_one_seat_and_all_rounds_are_alike():
    histogram = np.array([40_000, 20_000])
    urn = Urn(sv.Domain.of(2), histogram, np.random.default_rng(2))
    survey = sv.Survey(sv.shares(2), epsilon=1.0)
    sizes = []
    for seated in urn.seats(5):
        n = seated.left
        sizes.append(np.bincount(seated.take(survey, n).between(0, n), minlength=2))
    assert (np.sum(sizes, axis=0) == histogram).all()
    # Binomial(40,000, 1/5) and Binomial(20,000, 1/5): standard deviations 80 and 57; six of them. A seat drawn with
    # 1/4 in place of 1/5 in the first round would give 10,000.
    assert np.abs(np.array(sizes) - histogram / 5).max() < 6 * 80


@pytest.mark.parametrize("domain", [["tea", "coffee"], range(3, 30, 3), {"a": range(2), "b": ["x", "y"]}, [4, 7]])
def test_single_devices_get_values_of_the_domain(domain):
    survey = sv.Survey(sv.shares(domain), epsilon=1.0)
    crowd, shares = respondents_for(survey, 500, "uniform", 3)
    values = [survey.domain.index(value) for value in crowd.values(500)]
    assert set(values) == set(range(survey.domain.size))
    assert shares is not None
    assert len(shares) == survey.domain.size


def test_a_histogram_is_taken_as_it_is_and_must_fit():
    survey = sv.Survey(sv.shares(["tea", "coffee"]), epsilon=1.0)
    crowd, shares = respondents_for(survey, 4, [3, 1], 1)
    assert sorted(crowd.values(4)) == ["coffee", "tea", "tea", "tea"]
    assert shares is not None
    assert shares.tolist() == [0.75, 0.25]
    for wrong in ([3, 2], [0.5, 0.25, 0.25], [4]):
        with pytest.raises(SimulationError):
            respondents_for(survey, 4, wrong, 1)


def test_bodies_hold_everybody_and_stay_below_a_megabyte():
    survey = sv.Survey(sv.shares(4000), epsilon=1.0, mechanism="unary_optimized")
    crowd, _ = respondents_for(survey, 5000, "zipf", 1)
    made = list(bodies(survey, crowd, 10_000, 1))
    assert sum(n for _, n in made) == 5000
    assert max(len(body) for body, _ in made) <= 2**20
    rows = np.concatenate([batch_rows(body, survey.id, survey.mechanism.report_bytes) for body, _ in made])
    assert len({row[:REPORT_ID_BYTES].tobytes() for row in rows}) == 5000


def test_devices_know_nothing_of_fleets():
    for path in (Path(sv.__file__).parent / "device").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom):
                assert not (node.module or "").startswith("sottovoce.lab.fleet")


# --- on the wire --------------------------------------------------------------------------------


def test_everybody_is_counted_once_although_batches_arrive_twice(service):
    survey = sv.Survey(sv.shares([f"answer {i}" for i in range(8)]), epsilon=1.0, title="Everybody")
    live = published(service, survey)
    done: list[int] = []
    sent = fleet.run(service.url, live.id, 20_000, singles=30, batch=500, seed=7, resend=4, progress=done.append)
    assert (sent.accepted, sent.singles, sent.resent, sent.refused, sent.ended) == (20_000, 30, 2000, {}, "done")
    assert sent.batches == -(-19_970 // 500)
    assert sum(done) == 20_000
    ids = service.counted(survey, survey.mechanism.report_bytes)
    assert (len(ids), max(ids.values())) == (20_000, 1)
    assert counted(live) == 20_000
    low, high = live.estimate().interval(1 - NEVER / 8)
    truth = np.array([value for _, value in sent.truth])
    assert ((low <= truth) & (truth <= high)).all()
    # Power: the same people under another distribution would be noticed.
    assert not ((low <= 1 / 8) & (high >= 1 / 8)).all()


def test_vectors_arrive_too(service):
    survey = sv.Survey(sv.vector(3, 2.0), epsilon=1.0, title="Vectors")
    live = published(service, survey)
    sent = fleet.run(service.url, live.id, 20_000, singles=5, seed=1)
    assert counted(live) == sent.accepted == 20_000
    low, high = live.estimate().interval(1 - NEVER / 3)
    truth = np.array([value for _, value in sent.truth])
    assert ((low <= truth) & (truth <= high)).all()
    assert not ((low <= -truth) & (-truth <= high)).all()


def test_rounds_are_answered_as_they_open_by_those_whose_they_are(service):
    survey = sv.Panel({"age": range(100), "country": ["DE", "FR"]}, rounds=3, epsilon=1.0, title="Turns")
    live, found = published(service, survey), list[fleet.Sent]()
    guest = Device(MemoryStore())

    def drive() -> None:
        guests = [(guest, {"age": 30, "country": "FR"})]
        found.append(fleet.run(service.url, live.id, 3000, singles=20, distribution="uniform", seed=5, guests=guests))

    thread = threading.Thread(target=drive)
    thread.start()
    session = live.session(reports=3001 // 3 - 6 * 26)  # six standard deviations of a round's size below its mean
    answers = [session.ask(query) for query in ("country == 'FR'", "age < 50", "age < 20")]
    thread.join()
    (sent,) = found
    assert sent.rounds == (1, 2, 3)
    assert sent.accepted == sum(answer.n_reports for answer in answers) == 3001 - sum(sent.refused.values())
    assert [entry.state for entry in guest.ledger] == ["sent"]
    for answer, truth in zip(answers, (0.5, 0.5, 0.2), strict=True):
        low, high = answer.interval(1 - NEVER)
        assert low <= truth <= high


def test_nobody_waits_for_a_round_for_ever(service):
    live = published(service, sv.Panel(range(10), rounds=2, epsilon=1.0, title="Silence"))
    assert fleet.run(service.url, live.id, 100, seconds=0.3).ended == "time"
    live.seal()
    sent = fleet.run(service.url, live.id, 100, singles=0)
    assert (sent.ended, sent.accepted) == ("sealed", 0)


def test_a_sealed_survey_ends_it(service):
    live = published(service, sv.Survey(sv.shares(4), epsilon=1.0, title="Sealed"))
    live.seal()
    sent = fleet.run(service.url, live.id, 50_000, singles=3)
    assert (sent.ended, sent.accepted) == ("sealed", 0)
    assert set(sent.refused) == {"survey_sealed"}
    assert sent.refused["survey_sealed"] < 50_000  # it did not go on knocking


def test_a_refused_report_is_told_apart_from_its_batch(service):
    survey = sv.Survey(sv.shares(4), epsilon=1.0, title="Two of three")
    live = published(service, survey)
    good = survey.randomize(1)
    rows = [(bytes([i]) * REPORT_ID_BYTES, report) for i, report in enumerate((good, bytes(len(good)), good))]
    tally, done = SendCounter(), list[int]()
    with ThreadPoolExecutor(1) as pool:
        sender = BatchSender(Http(service.url), survey.id, Patience(attempts=1), pool, 1, tally)
        sender.send(encode_batch(survey.id, rows), 3, done.append)
        sender.send(encode_batch(survey.id, rows[1:2]), 1, done.append)
        sender.finish()
    assert tally.batched == 2
    assert sum(tally.refused.values()) == 2
    assert counted(live) == 2


def test_a_busy_service_gets_the_same_bytes_later(tmp_path):
    with running(tmp_path / "data", "--max-reports-per-second", "4000") as slow:
        live = published(slow, sv.Survey(sv.shares(4), epsilon=1.0, title="Slowly"))
        sent = fleet.run(slow.url, live.id, 9000, singles=0, batch=1000, seed=1)
        assert (sent.accepted, sent.ended) == (9000, "done")
        assert sent.waits > 0
        assert counted(live) == 9000


def test_nobody_there():
    with pytest.raises(ServiceError):
        fleet.run("http://127.0.0.1:9", "ab" * 32, 10, attempts=1)


# --- the command --------------------------------------------------------------------------------


def test_the_command_tells_what_was_sent_and_writes_the_truth(service, tmp_path, capsys):
    live = published(service, sv.Survey(sv.shares(["tea", "coffee"]), epsilon=1.0, title="Drinks"))
    words = ["simulate", "fleet", "--url", service.url, "--survey", "Drinks", "--people", "2e3", "--singles", "10"]
    assert main([*words, "--seed", "3", "--truth", str(tmp_path / "truth.json"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["survey"], told["accepted"], told["singles"], told["seed"]) == (live.id, 2000, 10, 3)
    truth = json.loads((tmp_path / "truth.json").read_text())
    assert [answer["label"] for answer in truth["answers"]] == ["tea", "coffee"]
    assert sum(answer["truth"] for answer in truth["answers"]) == pytest.approx(1)
    assert main([*words[:5], live.id[:8], *words[6:], "--resend", "1"]) == 0
    shown = capsys.readouterr().out
    for expected in ("2,000", "one per request", "acknowledged again", "reports per second"):
        assert expected in shown


@pytest.mark.parametrize("name", ["Nothing of the kind", "abcd" * 3])
def test_an_unknown_survey_is_told(service, name, capsys):
    assert main(["simulate", "fleet", "--url", service.url, "--survey", name, "--people", "10", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["type"] == SurveyError.__name__


def test_mistakes_are_found_before_anything_is_sent(service, capsys):
    live = published(service, sv.Survey(sv.shares(["yes", "no"]), epsilon=1.0, title="Mistakes"))
    words = ["simulate", "fleet", "--url", service.url, "--survey", live.id]
    for wrong in (["--people", "0"], ["--people", "10", "--batch", "0"], ["--people", "10", "--population", "nowhere"]):
        assert main([*words, *wrong, "--json"]) == 2
        assert "error" in json.loads(capsys.readouterr().out)
    assert counted(live) == 0
