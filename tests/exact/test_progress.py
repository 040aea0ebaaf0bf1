"""How far a long call is: shown in terminals and notebooks, after two seconds, on standard error, and nowhere else."""

from __future__ import annotations

import io
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.core import progress
from sottovoce.core.progress import PROGRESS_VARIABLE, advancing, hushed, meanwhile, stepping, steps
from sottovoce.formats.report_files import write_reports
from sottovoce.formats.wire import TAG_BYTES
from sottovoce.strategies.search.optimize import optimize
from sottovoce.workloads import Prefix

PATIENCE = 120.0


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Standard error, of a person who does not wait two seconds."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "110")
    monkeypatch.delenv(PROGRESS_VARIABLE, raising=False)
    monkeypatch.setattr(progress, "_QUIET_SECONDS", 0.0)
    # The module's own view of it: pytest sets the real one anew before a test is called.
    opened = Terminal()
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=opened, modules=sys.modules))
    return opened


def wait_for(words: str, terminal: Terminal) -> None:
    end = time.monotonic() + PATIENCE
    while words not in plain(terminal.getvalue()):
        assert time.monotonic() < end, terminal.getvalue()
        time.sleep(0.01)


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text)


def left_on_screen(text: str) -> str:
    """What remains of one line after the last time that it was erased."""
    return plain(text.rpartition("\x1b[2K")[2]).strip()


def test_a_terminal_shows_what_is_done_and_how_far_and_is_clean_at_the_end(terminal: Terminal) -> None:
    with steps("simulating", 12_000, "people") as shown:
        shown.advance(3_000)
        wait_for("simulating", terminal)
        wait_for("3,000 of 12,000 people", terminal)
        shown.advance(3_000)
        wait_for("6,000 of 12,000 people", terminal)
        wait_for(" left", terminal)
        shown.progress(1, 4, "merging")
        wait_for("merging", terminal)
        shown.say("almost there")
        wait_for("almost there", terminal)
    assert left_on_screen(terminal.getvalue()) == ""
    assert "\x1b[?25l" not in terminal.getvalue(), "a killed process would leave the cursor hidden"


def test_nothing_is_shown_of_a_short_call(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_QUIET_SECONDS", 3600.0)
    with steps("simulating", 10) as shown:
        shown.advance(5)
    assert terminal.getvalue() == ""


@pytest.mark.parametrize("off", ["off", "OFF", "0", "no", "false"])
def test_the_environment_switches_it_off(terminal: Terminal, monkeypatch: pytest.MonkeyPatch, off: str) -> None:
    monkeypatch.setenv(PROGRESS_VARIABLE, off)
    with steps("simulating"), steps("compiling"):
        pass
    assert terminal.getvalue() == ""


def test_nothing_is_shown_where_nobody_looks(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for stream in (io.StringIO(), None):
        monkeypatch.setattr(progress.sys, "stderr", stream)
        with steps("simulating"):
            pass
        assert stream is None or stream.getvalue() == ""
    closed = Terminal()
    closed.close()
    monkeypatch.setattr(progress.sys, "stderr", closed)
    with steps("simulating"):
        pass
    monkeypatch.setattr(progress.sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "dumb")
    with steps("simulating"):
        pass
    assert (terminal.getvalue(), capsys.readouterr()) == ("", ("", ""))


def test_nothing_is_shown_without_rich(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rich.console", None)
    with steps("simulating"):
        pass
    assert terminal.getvalue() == ""


def test_other_threads_and_forked_processes_stay_silent(terminal: Terminal) -> None:
    def work() -> None:
        with steps("in a thread"):
            pass

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert terminal.getvalue() == ""
    with steps("in the parent") as shown:
        wait_for("in the parent", terminal)
        child = os.fork()
        if child == 0:  # pragma: no cover
            before = len(terminal.getvalue())
            with steps("in the child"):
                shown.say("of the parent")
                time.sleep(0.3)
            os._exit(len(terminal.getvalue()) - before)
        assert os.waitpid(child, 0)[1] == 0
        shown.say("the parent goes on")
        wait_for("the parent goes on", terminal)
    assert "child" not in terminal.getvalue()


def test_who_draws_on_the_terminal_is_left_alone(terminal: Terminal) -> None:
    with hushed(), steps("simulating"):
        pass
    assert terminal.getvalue() == ""
    with steps("simulating"):
        pass
    assert "simulating" in terminal.getvalue()


def test_the_outermost_that_says_how_far_it_is_is_shown_and_else_the_innermost(terminal: Terminal) -> None:
    with steps("estimating"):
        with steps("searching") as inner:
            wait_for("searching", terminal)
            inner.say("searching: 40 %")
            wait_for("searching: 40 %", terminal)
        terminal.truncate(0)
        wait_for("estimating", terminal)
    terminal.truncate(0)
    with steps("repeating", 10, "times") as outer:
        for _ in range(3):
            with steps("simulating", 100, "people") as shown:
                shown.advance(50)
            outer.advance(1)
            wait_for(" of 10 times", terminal)
    assert "simulating" not in terminal.getvalue()


def test_what_the_machine_does_meanwhile_is_shown_whichever_thread_does_it(terminal: Terminal) -> None:
    done = threading.Event()

    def work() -> None:
        with meanwhile("compiling"):
            done.wait(PATIENCE)

    thread = threading.Thread(target=work)
    with steps("simulating", 10) as shown:
        thread.start()
        shown.advance(3)
        wait_for("compiling", terminal)
        done.set()
        thread.join()
        terminal.truncate(0)
        wait_for("3 of 10", terminal)


def test_a_function_of_the_callers_own_replaces_it(terminal: Terminal) -> None:
    told: list[Any] = []
    with advancing(told.append, "simulating", 5) as advance:
        advance(5)
    with stepping(lambda *step: told.append(step), "counting") as tell:
        assert tell is not None
        tell(1, 2, "reading")
    assert told == [5, (1, 2, "reading")]
    assert terminal.getvalue() == ""


# --- the functions that take long --------------------------------------------------------------

SURVEY = sv.Survey(sv.shares(8), epsilon=1.0, mechanism="hadamard")
PEOPLE = np.arange(800) % 8
REPORTS = SURVEY.simulate(PEOPLE, seed=1)
PANEL = sv.Panel({"age": range(8)}, rounds=2, epsilon=1.0)
TRACKING = sv.Tracking(sv.questions.Shares(["yes", "no"]), epsilon=1.0, every="day", starts="2026-01-01", periods=2)
CALLS: dict[str, Callable[[], object]] = {
    "simulating": lambda: SURVEY.simulate(PEOPLE, seed=1),
    "of 800 people": lambda: SURVEY.simulate_aggregate(PEOPLE, seed=1),
    "simulating period by period": lambda: TRACKING.simulate([["yes"] * 9, ["no"] * 9], seed=1),
    "estimating": lambda: SURVEY.estimate(REPORTS),
    "computing intervals": lambda: SURVEY.estimate(REPORTS).interval(),
    "likeliest distribution": lambda: SURVEY.estimate(REPORTS).likeliest(),
    "comparing designs": lambda: sv.plan(sv.shares(8), epsilon=1.0, people=1000),
    "searching for a channel": lambda: optimize(Prefix(4), 1.0, cache=False),
    "auditing": lambda: sv.audit(SURVEY, samples=100, seconds=0.1),
    "assigning people to rounds": lambda: sv.Session.simulated(PANEL, {"age": [1, 2, 3]}, seed=1),
}


@pytest.fixture(scope="module")
def compiled() -> None:
    """So that no loop is being compiled when the line is drawn."""
    SURVEY.estimate(REPORTS).likeliest()
    optimize(Prefix(4), 1.0, cache=False)


@pytest.mark.parametrize("words", CALLS)
def test_functions_show_what_they_do(words: str, terminal: Terminal, compiled: None) -> None:
    CALLS[words]()
    assert words in plain(terminal.getvalue())
    assert left_on_screen(terminal.getvalue()) == ""


def test_engines_show_what_they_do(terminal: Terminal, tmp_path: Path, compiled: None) -> None:
    ids = np.random.default_rng(1).integers(256, size=(len(REPORTS), 16), dtype=np.uint8)
    payloads = np.array([np.frombuffer(report[TAG_BYTES:], dtype=np.uint8) for report in REPORTS])
    write_reports(tmp_path / "a.parquet", SURVEY, ids, payloads)
    sv.engines.local().aggregate(SURVEY, tmp_path / "a.parquet")
    assert "counting" in plain(terminal.getvalue())
    assert left_on_screen(terminal.getvalue()) == ""


# --- notebooks ---------------------------------------------------------------------------------


class Output:
    """An output of a cell, as IPython's display handles are used here."""

    def __init__(self, data: dict[str, str]) -> None:
        self.history = [data]

    def update(self, data: dict[str, str], *, raw: bool) -> None:
        assert raw
        self.history.append(data)


def test_a_notebook_shows_it_in_the_cell_and_removes_it(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """IPython is no dependency; this stands for the two of its functions that are called."""
    outputs: list[Output] = []

    def display(data: dict[str, str], *, raw: bool, display_id: bool) -> Output:
        assert raw
        assert display_id
        outputs.append(Output(data))
        return outputs[-1]

    shell = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=display))  # type: ignore[arg-type]
    with steps("a <b>", 4, "people") as shown:
        shown.advance(1)
        end = time.monotonic() + PATIENCE
        while not (outputs and "1 of 4 people" in outputs[0].history[-1]["text/plain"]):
            assert time.monotonic() < end
            time.sleep(0.01)
    (output,) = outputs
    drawn = output.history[-2]
    assert drawn["text/plain"].startswith("a <b>: 1 of 4 people, 0:0")
    assert drawn["text/html"].startswith('<progress value="1" max="4"></progress> a &lt;b&gt;: 1 of 4 people')
    assert output.history[-1] == {"text/plain": "", "text/html": ""}
    assert terminal.getvalue() == ""


def test_an_ipython_in_a_terminal_is_a_terminal(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: SimpleNamespace()))  # type: ignore[arg-type]
    with steps("simulating"):
        pass
    assert "simulating" in terminal.getvalue()


# --- processes of their own --------------------------------------------------------------------


def environment(**more: str) -> dict[str, str]:
    source = str(Path(sv.__file__).parents[1])
    own = {name: value for name, value in os.environ.items() if name not in (PROGRESS_VARIABLE, "NUMBA_CACHE_DIR")}
    return own | {"PYTHONPATH": source, "TERM": "xterm", "COLUMNS": "110", "OPENBLAS_NUM_THREADS": "1"} | more


class Screen:
    """A process whose standard error is a terminal; its standard output is a pipe."""

    def __init__(self, program: str, **more: str) -> None:
        self._master, slave = pty.openpty()
        command = [sys.executable, "-c", f"from sottovoce.core import progress\nprogress._QUIET_SECONDS = 0\n{program}"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=slave, env=environment(**more))
        os.close(slave)
        self.text = ""

    def read(self, until: str | None = None) -> str:
        """All that it shows until then, or until it ends."""
        end = time.monotonic() + PATIENCE
        while until is None or until not in plain(self.text):
            assert time.monotonic() < end, self.text
            if select.select([self._master], [], [], 0.1)[0]:
                try:
                    self.text += os.read(self._master, 1 << 16).decode()
                except OSError:  # the last writer is gone
                    break
        return self.text

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()
        os.close(self._master)


@pytest.fixture
def screens() -> Iterator[Callable[..., Screen]]:
    opened: list[Screen] = []

    def open_screen(program: str, **more: str) -> Screen:
        opened.append(Screen(program, **more))
        return opened[-1]

    yield open_screen
    for screen in opened:
        screen.close()


def test_an_interrupt_leaves_a_clean_terminal(screens: Callable[..., Screen]) -> None:
    program = "import time\nwith progress.steps('simulating', 10, 'people'):\n    time.sleep(600)\n"
    screen = screens(program)
    screen.read("0 of 10 people")
    screen.process.send_signal(signal.SIGINT)
    text = screen.read()
    assert screen.process.wait(PATIENCE) == -signal.SIGINT
    assert "KeyboardInterrupt" in text
    assert "simulating" not in plain(text.rpartition("\x1b[2K")[2]).replace("steps('simulating'", "")
    assert "\x1b[?25l" not in text
    assert screen.process.stdout is not None
    assert screen.process.stdout.read() == b""


ONE_LOOP = """
import sottovoce as sv
survey = sv.Survey(sv.shares(5), epsilon=1.0, mechanism="randomized_response")
print(survey.simulate_aggregate(histogram=[10] * 5, seed=1).n_reports)
"""


def test_the_first_call_says_that_loops_are_compiled_and_the_second_does_not(
    screens: Callable[..., Screen], tmp_path: Path
) -> None:
    cache = str(tmp_path / "cache")
    first, second = (screens(ONE_LOOP, NUMBA_CACHE_DIR=cache).read() for _ in range(2))
    assert "compiling (once on this machine)" in plain(first)
    assert "simulating" in plain(second)
    assert "compiling" not in plain(second)


@pytest.mark.slow
def test_where_no_folder_is_writable_loops_are_compiled_and_a_hint_says_so_once(tmp_path: Path) -> None:
    """A file stands where the folder would be, and the user's cache folder cannot be made."""
    package = tmp_path / "sottovoce"
    shutil.copytree(Path(sv.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__", "assets"))
    (package / "kernels" / "compiled" / "__pycache__").touch()
    own = environment(PYTHONPATH=str(tmp_path), XDG_CACHE_HOME="/proc/none", HOME="/proc/none")
    done = subprocess.run(
        [sys.executable, "-c", ONE_LOOP], env=own, capture_output=True, text=True, check=True, cwd=tmp_path, timeout=300
    )
    assert done.stdout == "50\n"
    assert done.stderr.count("compiled code cannot be kept") == 1
    assert "NUMBA_CACHE_DIR" in done.stderr
