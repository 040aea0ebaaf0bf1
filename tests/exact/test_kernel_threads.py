"""Spreading work over cores where helpers cannot be had: every piece is done all the same, once."""

from __future__ import annotations

import os

import pytest

from sottovoce.kernels import threads


class Closed:
    """A pool of an interpreter that is shutting down; it may have taken some tasks before."""

    def __init__(self, pool: object, takes: int) -> None:
        self.pool, self.takes = pool, takes

    def submit(self, task: object) -> object:
        if not self.takes:
            raise RuntimeError("cannot schedule new futures after interpreter shutdown")
        self.takes -= 1
        return self.pool.submit(task)  # type: ignore[attr-defined]


@pytest.mark.parametrize("takes", [0, 1])
def test_a_pool_that_is_closed(monkeypatch: pytest.MonkeyPatch, takes: int) -> None:
    pool = Closed(threads._pool(), takes)
    monkeypatch.setattr(threads, "cores", lambda: 4)
    monkeypatch.setattr(threads, "_pool", lambda: pool)
    done: list[int] = []
    threads.for_each_piece(done.append, 9)
    assert sorted(done) == list(range(9))


@pytest.mark.parametrize(("counted", "cores"), [(6, 6), (None, 1)])
def test_cores_where_the_system_does_not_say_which_are_allowed(
    monkeypatch: pytest.MonkeyPatch, counted: int | None, cores: int
) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: counted)
    assert threads.cores() == cores
