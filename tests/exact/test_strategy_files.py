"""Strategy files: what was saved comes back, and what is damaged, forged or for something else does not."""

from __future__ import annotations

import hashlib
import json
import math
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from refusing import refuses
from sottovoce.core.errors import MechanismError, SurveyError
from sottovoce.strategies.files import load, save
from sottovoce.strategies.optimized import OptimizedStrategy
from sottovoce.strategies.search.optimize import optimize
from sottovoce.strategies.trees.haar import HaarStrategy
from sottovoce.workloads import Dense, Prefix


@cache
def searched() -> OptimizedStrategy:
    found = optimize(Prefix(5), 1.0, cache=False)
    return OptimizedStrategy.of(Prefix(5), 1.0, found.matrix, found.weights)


def test_files_give_the_strategy_back(tmp_path: Path) -> None:
    path = tmp_path / "prefix.strategy"
    save(searched(), path)
    save(searched(), path)  # over what is there
    again = load(str(path), Prefix(5), 1)
    assert (again, again.digest) == (searched(), searched().digest)
    assert sv.Survey(sv.queries(Prefix(5)), epsilon=1.0, strategy=again).design == searched()
    assert [entry.name for entry in tmp_path.iterdir()] == ["prefix.strategy"]


def test_files_for_something_else_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "prefix.strategy"
    save(searched(), path)
    with refuses(SurveyError, "workload"):
        load(path, Dense(Prefix(5).dense() + 1), 1.0)
    with refuses(SurveyError, "workload"):
        load(path, Prefix(6), 1.0)
    with refuses(SurveyError, "epsilon"):
        load(path, Prefix(5), 1.5)
    with refuses(SurveyError, "path"):
        load(tmp_path / "missing", Prefix(5), 1.0)
    with refuses(SurveyError, "workload"):
        load(path, "prefix:5", 1.0)  # type: ignore[arg-type]
    with refuses(SurveyError, "strategy"):
        save(HaarStrategy.best(Prefix(5), 1.0), path)  # type: ignore[arg-type]
    for place in (tmp_path / "nowhere" / "file", tmp_path):
        with refuses(SurveyError, "path"):
            save(searched(), place)
    assert [entry.name for entry in tmp_path.iterdir()] == ["prefix.strategy"]


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "prefix.strategy"
    save(searched(), path)
    content = path.read_bytes()
    for damaged in (b"", b"#!/bin/sh\n", content[:-1], content[:40], content + b"\n"):
        path.write_bytes(damaged)
        with pytest.raises(MechanismError, match=r"no strategy file|damaged"):
            load(path, Prefix(5), 1.0)
    for at in range(len(content)):
        flipped = bytearray(content)
        flipped[at] ^= 1
        path.write_bytes(flipped)
        with pytest.raises(MechanismError):
            load(path, Prefix(5), 1.0)


def test_files_that_were_forged_are_refused(tmp_path: Path) -> None:
    """Whoever forges the checksum too gains nothing: the channel is verified against the epsilon that is asked for."""
    path = tmp_path / "prefix.strategy"
    save(searched(), path)
    content = path.read_bytes()
    start = content.index(b"\n") + 1
    line, _, attachment = content[start + 32 :].partition(b"\n")

    def forge(**changes: Any) -> None:
        told = json.dumps(json.loads(line) | changes).encode()
        body = told + b"\n" + attachment
        path.write_bytes(content[:start] + hashlib.sha256(body).digest() + body)

    forge()
    assert load(path, Prefix(5), 1.0) == searched()
    forge(epsilon=(0.8).hex())
    with pytest.raises(MechanismError):
        load(path, Prefix(5), 0.8)
    forge(workload=Prefix(6).digest)
    with pytest.raises(SurveyError):
        load(path, Prefix(6), 1.0)
    forge(name="haar")
    with pytest.raises(SurveyError, match="unknown kind"):
        load(path, Prefix(5), 1.0)
    forge(more=1)
    with pytest.raises(MechanismError, match="malformed header"):
        load(path, Prefix(5), 1.0)
    blind = Dense(np.random.default_rng(1).normal(size=(3, 5)))
    forge(workload=blind.digest)
    assert math.isfinite(load(path, blind, 1.0).worst)
