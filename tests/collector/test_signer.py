"""A service whose signing key is not the one of its database does not start, unless it is told to."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

import sottovoce as sv
from collector.client import DRINKS
from collector.places import Place
from sottovoce.collector.running.signer import key_advice, own_key
from sottovoce.collector.settings import KEY_FILE
from sottovoce.collector.surveys.log import CHECKPOINT_FILE, SurveyLog
from sottovoce.collector.surveys.published import signed_record
from sottovoce.core.errors import SettingsError
from sottovoce.core.signing import SigningKey, fingerprint, verify
from sottovoce.surveys.survey import Survey

FRUIT = Survey(sv.shares(["apple", "pear"]), epsilon=1.0, title="Which fruit?")


@pytest.fixture
def one(tmp_path: Path) -> Path:
    return tmp_path / "one"


@pytest.fixture
def two(tmp_path: Path) -> Path:
    return tmp_path / "two"


def test_the_first_key_is_the_databases_from_then_on(place: Place, one: Path, two: Path) -> None:
    """Several services on one database need one key; it need not have signed anything yet."""
    with contextlib.closing(place.open()) as store:
        key = own_key(store, one)
        assert store.signer() == key.public == own_key(store, one).public
        with pytest.raises(SettingsError) as caught:
            own_key(store, two)
        assert fingerprint(key.public) in str(caught.value)
        assert "has no signing.key, and the surveys" in str(caught.value)
        assert not two.exists(), "no key was made"
        other = SigningKey.load_or_create(two / KEY_FILE)
        with pytest.raises(SettingsError) as caught:
            own_key(store, two)
        for words in (fingerprint(key.public), fingerprint(other.public), "--accept-new-key", str(two / KEY_FILE)):
            assert words in str(caught.value)
        (two / KEY_FILE).write_bytes((one / KEY_FILE).read_bytes())
        assert own_key(store, two).public == key.public


def test_a_database_of_an_earlier_version_is_known_by_its_newest_survey(place: Place, one: Path, two: Path) -> None:
    with contextlib.closing(place.open()) as store:
        key = SigningKey.load_or_create(one / KEY_FILE)
        store.publish(signed_record(key, DRINKS, 0, 1), {})
        SigningKey.load_or_create(two / KEY_FILE)
        with pytest.raises(SettingsError, match="are signed with another key"):
            own_key(store, two)
        assert store.signer() is None
        with pytest.raises(SettingsError, match=r"has no signing\.key"):
            own_key(store, two.parent / "three")
        assert own_key(store, one).public == store.signer() == key.public


def test_a_new_key_is_accepted_when_the_operator_says_so(
    place: Place, one: Path, two: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with contextlib.closing(place.open()) as store:
        old = own_key(store, one)
        store.publish(signed_record(old, DRINKS, 0, 1), {})
        SurveyLog(one, old, store).checkpoint()
        (one / KEY_FILE).unlink()
        new = own_key(store, one, accept_new=True)
        assert new.public != old.public
        assert fingerprint(new.public) in caplog.text
        assert fingerprint(old.public) in caplog.text
        assert not (one / CHECKPOINT_FILE).exists(), "another key signs another log"
        assert own_key(store, one).public == store.signer() == new.public
        SurveyLog(one, new, store).checkpoint()


def test_what_a_restored_database_needs(place: Place, one: Path, two: Path) -> None:
    with contextlib.closing(place.open()) as store:
        key = own_key(store, one)
        assert key_advice(store, one) == ""
        missing = key_advice(store, two)
        assert "A backup does not hold the signing key" in missing
        assert fingerprint(key.public) in missing
        store.publish(signed_record(key, DRINKS, 0, 1), {})
        other = Place("", two.parent / "longer")
        with contextlib.closing(other.open()) as longer:
            for survey in (FRUIT, DRINKS):
                longer.publish(signed_record(key, survey, 0, 1), {})
            SurveyLog(one, key, longer).checkpoint()
        assert "does not continue the log of surveys: a checkpoint of 2 entries" in key_advice(store, one)
        (one / CHECKPOINT_FILE).write_text("nonsense")
        assert "is damaged, or of another signing key" in key_advice(store, one)
        SigningKey.load_or_create(two / KEY_FILE)
        assert "is not the key that signed these surveys" in key_advice(store, two)


def test_the_key_verifies_what_it_signed(one: Path) -> None:
    with contextlib.closing(Place("", one).open()) as store:
        record = signed_record(own_key(store, one), DRINKS, 0, 1)
        signer = store.signer()
        assert signer is not None
        verify(signer, record.canonical, record.signature)
