"""The JavaScript client, built once for all processes of a run, and one of it running for each of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from browser.setting import required
from js.bridge import Bridge, NoNodeError, built, node


@pytest.fixture(scope="session")
def client(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bridge]:
    """The client, running. Where Node cannot be had, continuous integration fails, and anybody else is told."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    try:
        running = Bridge(node(), built(shared))
    except NoNodeError as error:
        reason = f"NOT RUN: every test that Python and JavaScript agree. {error}"
        if "node" in required():
            pytest.fail(reason)
        capture = request.config.pluginmanager.getplugin("capturemanager")
        with capture.global_and_fixture_disabled():
            print(f"\n{reason}", file=sys.stderr)
        pytest.skip(reason)
    with running:
        yield running


@pytest.fixture(scope="session")
def compiled(client: Bridge, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The client's modules, one file each."""
    base = tmp_path_factory.getbasetemp()
    return built(base.parent if "PYTEST_XDIST_WORKER" in os.environ else base).parents[1] / "src"
