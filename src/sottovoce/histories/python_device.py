"""The device of this package in a history: the real `Device`, its real store in a file, and real requests over HTTP."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any, final

from sottovoce.core.errors import SottovoceError
from sottovoce.device.device import Device
from sottovoce.device.http import Patience
from sottovoce.device.sqlite_store import SqliteDeviceStore
from sottovoce.device.store import DeviceStore
from sottovoce.histories.events import Event
from sottovoce.histories.rules import Charge
from sottovoce.histories.scenario import Scenario
from sottovoce.histories.world import KEY, World

__all__ = ["PythonDevice"]

_FIELDS = "question, window, survey, report_id, report, epsilon, day"


class _CrashError(BaseException):
    """The process has died: nothing of the device runs any more."""


class _CrashPoints:
    """Passes every call on to the store in the file, and ends the process before or after one of them."""

    def __init__(self, store: DeviceStore, crash: str) -> None:
        self.store, self.crash = store, crash


def _passing(name: str) -> Callable[..., Any]:
    def method(self: _CrashPoints, *given: Any, **named: Any) -> Any:
        if self.crash == f"before {name}":
            raise _CrashError
        result = getattr(self.store, name)(*given, **named)
        if self.crash == f"after {name}":
            raise _CrashError
        return result

    return method


_CrashingStore: Any = type(
    "_CrashingStore", (_CrashPoints, DeviceStore), {name: _passing(name) for name in DeviceStore.__abstractmethods__}
)


@final
class PythonDevice:
    """Runs events on `sottovoce.Device`.

    Parameters
    ----------
    folder
        Where its stores are; one at a time.
    """

    name = "Python device"

    def __init__(self, folder: Path) -> None:
        self._path = folder / "device.db"
        self._new: dict[bytes, bytes] = {}
        """The file of a new device, by its secret."""
        self._url = ""

    def begin(self, scenario: Scenario, world: World, url: str) -> None:
        """A new device at the beginning of a history."""
        if scenario.secret not in self._new:
            self._new[scenario.secret] = self._file_of(scenario.secret)
        self._path.write_bytes(self._new[scenario.secret])
        self._scenario, self._world, self._url = scenario, world, url
        self._others = 0
        self.restart()

    def _file_of(self, secret: bytes) -> bytes:
        self._path.unlink(missing_ok=True)
        SqliteDeviceStore(self._path)
        with contextlib.closing(sqlite3.connect(self._path)) as database, database:
            database.execute("UPDATE secret SET secret = ?", (secret,))
        return self._path.read_bytes()

    def restart(self) -> None:
        """The process ends, and another one opens the store."""
        self._store = SqliteDeviceStore(self._path)
        self._device = self._opened("")

    def _opened(self, crash: str) -> Device:
        return Device(
            _CrashingStore(self._store, crash),
            key=KEY.public,
            patience=Patience(attempts=2, first=0.0),
            timeout=5.0,
            clock=lambda: self._world.now,
            **self._scenario.settings,
        )

    def ledger(self, _header: str = "") -> tuple[Charge, ...]:
        """What its file has of answers, read by SQLite alone."""
        with contextlib.closing(sqlite3.connect(f"{self._path.as_uri()}?mode=ro", uri=True)) as database:
            rows = database.execute(f"SELECT {_FIELDS} FROM answer ORDER BY number").fetchall()
        return tuple(Charge(*row) for row in rows)

    def run(self, event: Event) -> str:
        """Let the owner do something; returns why the device has failed, empty if it has not."""
        device = self._opened(event.crash) if event.crash else self._device
        try:
            self._call(device, event)
        except _CrashError:
            self.restart()
        except SottovoceError:
            pass  # a refusal
        except Exception as error:
            return f"the device fails with {type(error).__name__}"
        return ""

    def _call(self, device: Device, event: Event) -> None:
        asked = self._scenario.asked.id
        match event.call:
            case "answer":
                question = asked
                if event.other:
                    question = self._scenario.others[self._others % len(self._scenario.others)].id
                    self._others += 1
                device.answer(self._url, question, lambda _: self._value(event))
            case "answer_due":
                device.answer_due(lambda _: self._value(event))
            case "join":
                device.join(self._url, asked)
            case "refuse_renewals":
                device.refuse_renewals(asked)
            case "flush":
                device.flush()
            case "restart":
                self.restart()

    def _value(self, event: Event) -> Any:
        """The person is asked; meanwhile something happens."""
        values = self._scenario.values
        if event.meanwhile == "days pass":
            self._world.pass_days()
        elif event.meanwhile == "another process":
            with contextlib.suppress(SottovoceError):
                store = SqliteDeviceStore(self._path)
                other = Device(store, key=KEY.public, clock=lambda: self._world.now, **self._scenario.settings)
                other.answer(self._url, self._scenario.asked.id, values[1 - event.value])
        return values[event.value]

    def close(self) -> None:
        """Nothing is open between calls."""
