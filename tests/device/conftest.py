"""A played collector, and devices that do not sleep between attempts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import sottovoce as sv
from device.played import Played
from sottovoce.device import Device, Patience
from sottovoce.surveys.survey import Survey

MakeDevice = Callable[..., Device]


@pytest.fixture
def played() -> Iterator[Played]:
    with Played() as collector:
        yield collector


@pytest.fixture
def survey(played: Played) -> Survey:
    """Published, and with reports that two draws hardly ever share: 2**-40 of a chance."""
    made = sv.Survey(sv.shares(2**40), epsilon=1.0, mechanism="hadamard", title="Colours")
    played.publish(made)
    return made


@pytest.fixture
def device(tmp_path: Path) -> Iterator[MakeDevice]:
    """Makes devices on one file; closed afterwards."""
    made: list[Device] = []

    def make(store: Any = None, **settings: Any) -> Device:
        settings.setdefault("patience", Patience(attempts=3, sleep=lambda seconds: None))
        made.append(Device(tmp_path / "device.db" if store is None else store, **settings))
        return made[-1]

    yield make
    for one in made:
        one.close()
