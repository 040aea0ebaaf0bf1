"""Out of a full disk: whoever fills it with reports cannot keep the operator from revoking, sealing and deleting."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

import sottovoce as sv
from collector.disks import fill, small_disk
from collector.places import OwnServer
from collector.service import Load, Service, assert_exactly_once, running, until
from sottovoce.surveys.survey import Survey

pytestmark = pytest.mark.slow

KEPT, GONE, SEALED, LATER = (
    Survey(sv.shares(["tea", "coffee", "water"]), epsilon=2.0, title=title)
    for title in ("kept", "gone", "sealed", "sealed later")
)
FLAGS = ("--lease-seconds", "0.5", "--log-level", "warning")


@dataclass
class Tight:
    """A place with little room."""

    data: Path
    database: str = ""
    flags: tuple[str, ...] = ()
    narrow: Callable[[], object] = lambda: None
    """Leave room for a few thousand reports, so that a test need not send more."""
    fill: Callable[[], object] = lambda: None
    """Take the last byte, where that can be done."""
    free: Callable[[], object] = lambda: None
    crash: Callable[[], object] = lambda: None
    """What else is killed when the service is."""


@contextlib.contextmanager
def tight_sqlite(folder: Path) -> Iterator[Tight]:
    with small_disk(folder / "small", 20) as small:
        if small is None:
            yield Tight(folder / "data", flags=("--max-database-bytes", str(2**23)))
        else:
            yield Tight(small / "data", fill=lambda: fill(small), free=lambda: (small / "ballast").unlink())


@contextlib.contextmanager
def tight_postgresql(folder: Path) -> Iterator[Tight]:
    with small_disk(folder / "small", 160) as small:
        server = OwnServer(small)
        try:
            # Else the server's log takes most of so small a disk.
            server.set("max_wal_size = '48MB'", "min_wal_size = '32MB'")
            if small is None:
                yield _refusing(server, folder)
            else:
                yield Tight(
                    folder / "data",
                    server.url,
                    flags=("--reserve-bytes", str(2**26)),
                    narrow=lambda: fill(small, "others", leave=2**24),
                    fill=lambda: fill(small),
                    free=lambda: (small / "ballast").unlink(),
                    crash=server.crash,
                )
        finally:
            server.close()


def _refusing(server: OwnServer, folder: Path) -> Tight:
    """Where no file system can be made, a server that says its disk is full."""

    def refuse() -> None:
        with psycopg.connect(server.url, autocommit=True) as admin:
            admin.execute(
                "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS "
                "$$ BEGIN RAISE 'could not extend file' USING ERRCODE = '53100'; END $$"
            )
            admin.execute("CREATE TRIGGER full_disk BEFORE INSERT ON sottovoce.waiting EXECUTE FUNCTION full_disk()")

    def allow() -> None:
        with psycopg.connect(server.url, autocommit=True) as admin:
            admin.execute("DROP FUNCTION full_disk CASCADE")

    return Tight(folder / "data", server.url, fill=refuse, free=allow)


def token_of(service: Service) -> str:
    """The id of a new token."""
    answer = service.ask("POST", "/v1/tokens", json={"scopes": ["read"], "note": "for a dashboard"})
    assert answer.status == 201, answer
    return str(answer.json["id"])


def holds_its_reserve(place: Tight) -> bool:
    if not place.database:
        return True
    with psycopg.connect(place.database) as connection:
        return connection.execute("SELECT bytes > 0 FROM sottovoce.reserve").fetchall() == [(True,)]


@pytest.mark.parametrize("filled_by", ["reports", "another program"])
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_the_operator_gets_out_and_no_acknowledged_report_is_lost(kind: str, filled_by: str, tmp_path: Path) -> None:
    with (
        tight_sqlite(tmp_path) if kind == "sqlite" else tight_postgresql(tmp_path) as place,
        Load(KEPT, KEPT.randomize("tea"), batch=1000, threads=1) as kept,
    ):
        flags = (*FLAGS, *place.flags)
        with (
            running(place.data, *flags, database=place.database) as service,
            Load(GONE, GONE.randomize("tea"), batch=9000) as gone,
        ):
            for survey in (KEPT, GONE, SEALED, LATER):
                service.publish(survey)
            tokens = [token_of(service) for _ in range(2)]
            until(lambda: holds_its_reserve(place), "the reserve is held")
            place.narrow()
            kept.service = service
            kept.acknowledges(20_000)
            kept.rest()
            gone.service = service
            gone.acknowledges(50_000)
            if filled_by != "reports":
                gone.rest()
                place.fill()
                gone.service = service
            gone.answers(507)
            until(lambda: service.ask("GET", "/readyz").status == 503, "the service is not ready")
            makes_changes(service, tokens[0], SEALED)
            service.kill()
            place.crash()
        with running(place.data, *flags, database=place.database, token=service.token) as again:
            makes_changes(again, tokens[1], LATER)
            assert answered(again, "DELETE", f"/v1/surveys/{GONE.id}") == 200
            if filled_by != "reports":
                place.free()
            kept.service = again
            kept.acknowledges(20_000)
            kept.rest()
            assert_exactly_once(kept, again.counted(KEPT, KEPT.mechanism.report_bytes))
            assert again.ask("GET", f"/v1/surveys/{GONE.id}/status").status == 410
            assert "Traceback" not in again.log.read_text()


def makes_changes(service: Service, token: str, survey: Survey) -> None:
    """Whoever ends access or a survey is not turned away."""
    assert answered(service, "DELETE", f"/v1/tokens/{token}") == 200
    assert answered(service, "POST", f"/v1/surveys/{survey.id}/seal") == 200


def answered(service: Service, method: str, path: str) -> int:
    """The status; not that of a PostgreSQL server which is coming back: without room for its log, it starts anew."""
    found: list[int] = []
    until(lambda: found.append(service.ask(method, path).status) or found[-1] != 503, "the server is back")
    return found[-1]
