"""The databases that the collector's tests run on: SQLite in a fresh folder, and a fresh database of a real PostgreSQL.

The PostgreSQL server starts when the first test asks for it and serves the whole run. A server of the machine's own is
used instead when SOTTOVOCE_TEST_POSTGRESQL holds its URL (of a user who may create databases).
"""

import os
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest

from collector.places import OwnServer, Place
from sottovoce.collector.store import Store


def _named(url: str, name: str) -> str:
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}"))


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[str]:
    """The URL of a PostgreSQL server that lives as long as the run."""
    given = os.environ.get("SOTTOVOCE_TEST_POSTGRESQL")
    if given:
        yield given
        return
    server = OwnServer()
    yield server.url
    server.close()


@pytest.fixture
def new_postgresql(postgresql_server: str) -> Iterator[Callable[..., str]]:
    """Makes empty databases, and returns their URLs; they are dropped when the test ends."""
    made: list[str] = []
    with psycopg.connect(postgresql_server, autocommit=True) as admin:

        def make(options: str = "") -> str:
            name = f"sottovoce_test_{secrets.token_hex(6)}"
            admin.execute(f"CREATE DATABASE {name} {options}".encode())
            made.append(name)
            return _named(postgresql_server, name)

        yield make
        for name in made:
            admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def own_postgresql() -> Iterator[OwnServer]:
    """A PostgreSQL server of the test's own, to be stopped and started."""
    server = OwnServer()
    yield server
    server.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """Room for one store, of each kind in turn."""
    if request.param == "sqlite":
        return Place("", tmp_path / "data")
    make: Callable[[], str] = request.getfixturevalue("new_postgresql")
    return Place(make(), tmp_path / "data")


@pytest.fixture
def store(place: Place) -> Iterator[Store]:
    """An empty store, of each kind in turn."""
    opened = place.open()
    yield opened
    opened.close()
