"""Trials of mutants inside one run of pytest: tests are collected once, and every mutant gets a forked child."""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import resource
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from tools.mutation.swap import Cached, Functions, functions_of, import_mutated, package_caches, reached_lines

__all__ = ["KILLED", "SURVIVED", "TIMEOUT", "Forked", "Trial", "fresh_import", "in_a_child"]

KILLED, SURVIVED, TIMEOUT = "killed", "survived", "timeout"

TEST_SECONDS = 0.5
"""Tests that take more processor time than this, measured with tracing, are not run against mutants."""
TRIAL_SECONDS = 0.6
"""Of the tests that reach a mutant the cheapest are run, up to this much processor time in all."""
ALWAYS_SECONDS = 0.01
"""Tests as cheap as this are run however many there are."""
MEMORY = 3 << 30
KERNELS = Path(__file__).resolve().parents[2] / "src" / "sottovoce" / "kernels" / "compiled"
OUT_OF_TIME = (signal.SIGVTALRM, signal.SIGXCPU, signal.SIGALRM, signal.SIGKILL)


@dataclass
class Trial:
    """One mutant: where it is, its source, and what became of it."""

    file: Path
    module: str
    line: int
    operator: str
    occurrence: int
    inside: str
    source: str = field(repr=False)
    version: str
    verdict: str = ""
    by: str = ""
    tests: list[str] = field(default_factory=list, repr=False)
    limit: float = 0.0

    def result(self) -> dict[str, Any]:
        """The line of the results file."""
        kept = ("module", "version", "line", "operator", "occurrence", "inside", "verdict", "by")
        return {name: getattr(self, name) for name in kept} | {"tests": len(self.tests)}


def in_a_child(work: Callable[[int], None], limit: float) -> tuple[str, str]:
    """Fork, run `work` with the writing end of a pipe; the verdict, and the test that was written to the pipe.

    The limit counts the child's own processor time, so that a busy machine turns no mutant into a timeout.
    """
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(read)
            resource.setrlimit(resource.RLIMIT_CPU, (int(limit) + 1, int(limit) + 5))
            resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
            signal.alarm(int(60 * limit) + 60)
            nowhere = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(nowhere, stream)
            work(write)
            status = 0
        finally:
            os._exit(status)
    os.close(write)
    with os.fdopen(read) as pipe:
        by = pipe.read().strip()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return (TIMEOUT if os.WTERMSIG(status) in OUT_OF_TIME else KILLED), by
    return (KILLED if os.WEXITSTATUS(status) else SURVIVED), by


class TooSlow(BaseException):
    """Ends a test that is not worth its time; no ordinary exception, or Hypothesis would try it again."""


class StopAtFailure:
    """Ends the process at the first test that fails, and writes its name to a pipe."""

    def __init__(self, pipe: int) -> None:
        self._pipe, self.forgiving = pipe, False

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> None:
        # Before pytest writes the failure down, which takes longer than most tests.
        if call.excinfo is not None and not self.forgiving:
            os.write(self._pipe, item.nodeid.encode())
            os._exit(1)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            os.write(self._pipe, f"import: {report.nodeid}".encode())
            os._exit(1)


def fresh_import(trial: Trial, arguments: list[str]) -> None:
    """Try a mutant as a user would meet it: the package is imported with it."""

    def work(pipe: int) -> None:
        import_mutated(trial.module, trial.file, trial.source)
        status = pytest.main([*arguments, *trial.tests], plugins=[StopAtFailure(pipe)])
        os._exit(0 if status == pytest.ExitCode.OK else 1)

    trial.verdict, trial.by = in_a_child(work, trial.limit + 2)


class Forked:
    """A plugin that runs no test itself: it traces them in one child, then tries every mutant in a child of its own."""

    def __init__(
        self,
        trials: list[Trial],
        told: Callable[[Trial], None],
        *,
        files: set[Path],
        traced: Path,
        again: Path,
        patience: float,
    ) -> None:
        self._trials, self._told = trials, told
        self._files, self._traced, self._again, self._patience = files, traced, again, patience
        self._items: dict[str, pytest.Item] = {}
        self._kills: Counter[str] = Counter()
        self._seconds: dict[str, float] = {}
        self._caches: list[Cached] = []

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if session.testsfailed:
            raise session.Failed("the tests could not be collected")
        self._items = {item.nodeid: item for item in session.items}
        for module in pkgutil.iter_modules([str(KERNELS)], "sottovoce.kernels.compiled."):
            importlib.import_module(module.name)  # here once, and not in every child
        if not self._traced.exists():
            verdict, by = in_a_child(self._trace, 900)
            if verdict != SURVIVED:
                raise session.Failed(f"without any mutant the tests fail: {by or verdict}")
        reached = json.loads(self._traced.read_text())
        self._seconds = {name: seen["seconds"] for name, seen in reached.items()}
        self._caches = package_caches()
        functions = functions_of({trial.file for trial in self._trials})
        gc.freeze()
        left = []
        for trial in self._trials:
            lines = {f"{trial.file}:{line}" for line in reached_lines(trial.file, trial.line)}
            trial.tests, trial.limit = self._choose(reached, lines)
            if self._try(trial, functions[trial.file]):
                self._told(trial)
            else:
                left.append([self._trials.index(trial), *self._choose(reached, None)])
        self._again.write_text(json.dumps(left))
        return True

    def _choose(self, reached: dict[str, Any], lines: set[str] | None) -> tuple[list[str], float]:
        """The cheapest tests that reach one of the lines, those that killed before first, and twice their time."""
        spent, chosen = 0.0, []
        for name in sorted(reached, key=lambda name: (-self._kills[name], reached[name]["seconds"])):
            seconds = reached[name]["seconds"]
            left = TRIAL_SECONDS * self._patience - spent
            fits = seconds <= ALWAYS_SECONDS or seconds <= min(TEST_SECONDS * self._patience, left)
            if fits and (lines is None or lines & set(reached[name]["lines"])):
                spent += seconds
                chosen.append(name)
        return chosen, 2 * spent + 1

    def _try(self, trial: Trial, functions: Functions) -> bool:
        def work(pipe: int) -> None:
            if not functions.put(trial.source):
                os.write(pipe, b"import")
                return
            for cached in self._caches:
                cached.cache_clear()
            self._run(trial.tests, StopAtFailure(pipe))

        trial.verdict, trial.by = in_a_child(work, trial.limit)
        self._kills[trial.by] += trial.verdict == KILLED
        return trial.by != "import"

    def _run(self, names: list[str], plugin: object) -> None:
        items = [self._items[name] for name in names]
        for item in items[:1]:
            if not item.config.pluginmanager.is_registered(plugin):
                item.config.pluginmanager.register(plugin)
        for item, following in zip_longest(items, items[1:]):
            if self._seconds:
                signal.setitimer(signal.ITIMER_VIRTUAL, 2 * self._seconds[item.nodeid] + 0.4)
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)

    def _trace(self, pipe: int) -> None:
        files = {str(file) for file in self._files}
        lines: set[str] = set()

        def on_line(frame: FrameType, event: str, _: Any) -> Any:
            lines.add(f"{frame.f_code.co_filename}:{frame.f_lineno}")
            return on_line

        def on_call(frame: FrameType, event: str, _: Any) -> Any:
            return on_line(frame, event, None) if frame.f_code.co_filename in files else None

        def give_up(signum: int, frame: FrameType | None) -> None:
            stop.forgiving = True
            raise TooSlow

        signal.signal(signal.SIGVTALRM, give_up)
        stop, reached = StopAtFailure(pipe), {}
        for name in self._items:
            lines.clear()
            stop.forgiving = False
            began = time.process_time()
            signal.setitimer(signal.ITIMER_VIRTUAL, 1.5 * TEST_SECONDS * self._patience)
            sys.settrace(on_call)
            self._run([name], stop)
            sys.settrace(None)
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            reached[name] = {"seconds": time.process_time() - began, "lines": sorted(lines)}
        self._traced.write_text(json.dumps(reached))
