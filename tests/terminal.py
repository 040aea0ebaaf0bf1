"""A terminal that types what a page of the documentation shows, and compares what comes out.

Commands of this package run in this process, those with ``&`` beside it; a service, with ``&`` or as in a window of its
own, is a process on a free port, which stands wherever the page has the usual one; what watches is ended with Ctrl-C
once it has shown something; all else is the shell's. A command that must fail bears the remark ``# refused``; other
remarks are for the reader.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from collector.service import PATIENCE, environment, kept_port
from sottovoce.analyst import connect
from sottovoce.cli import INTERRUPTED, main

PORT = "8470"
"""Where the pages say that the service is."""

RELAY_PORT = "8471"
"""Where they say that a relay is."""

LOG = "service.log"
"""Where what services log goes, also if a page does not say so."""

TOKEN = "sv_..."
"""What the pages have in the place of a token."""

SAME = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


class Block(NamedTuple):
    """One fenced block of a page."""

    language: str
    text: str


def blocks(page: Path, *headings: str) -> list[Block]:
    """A page's, or those below some of its headings, with the headings below them."""
    text = page.read_text(encoding="utf-8")
    chosen = [below(text, heading) for heading in headings]
    return [Block(*found) for found in FENCE.findall("".join(chosen) if headings else text)]


def below(text: str, heading: str) -> str:
    """What stands below a heading of the second or third level, up to the next one of its level."""
    (mark,) = re.findall(rf"^(##+) {re.escape(heading)}$", text, re.MULTILINE)
    _, _, after = text.partition(f"\n{mark} {heading}\n")
    return re.split(rf"^##{{1,{len(mark) - 1}}} ", after, maxsplit=1, flags=re.MULTILINE)[0]


def words_of(command: str) -> list[str]:
    """A command's words. What a shell takes for a redirection or a pipe stands alone, and then fits no command."""
    reader = shlex.shlex(command, posix=True, punctuation_chars=True)
    reader.whitespace_split = True
    return list(reader)


def agrees(shown: str, printed: str) -> bool:
    """Whether a page shows what was printed: blanks count alike, and ``...`` stands for anything."""
    return doctest.OutputChecker().check_output(shown, printed, SAME)


class Terminal:
    """One person's, in a folder of their own."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch, port: int, relay_port: int) -> None:
        self.port, self.relay_port = str(port), str(relay_port)
        self.token = ""
        self._services: list[subprocess.Popen[str]] = []
        self._patch = patch
        self._python: dict[str, object] = {"__name__": "tutorial"}
        patch.chdir(folder)

    def here(self, text: str) -> str:
        """The page's words, with this terminal's ports."""
        return text.replace(RELAY_PORT, self.relay_port).replace(PORT, self.port)

    def follow(self, page: Path, *headings: str, like: Callable[[str], str] = str) -> str:
        """Type all that the page shows, or what is below some headings, and compare whatever it says comes out.

        Returns what the last block printed. `like` makes alike what may differ from run to run.
        """
        printed = ""
        for block in blocks(page, *headings):
            if block.language == "toml":
                name, _, content = block.text.partition("\n")
                Path(name.removeprefix("# ")).write_text(self.here(content), encoding="utf-8")
            elif block.language == "py":
                out = io.StringIO()
                with contextlib.redirect_stdout(out):
                    exec(self.here(block.text), self._python)  # noqa: S102 (the code is the documentation's own)
                printed = out.getvalue() or printed
            elif block.language == "console":
                printed = "".join(self.type(line.removeprefix("$ ")) for line in block.text.splitlines())
            elif block.language == "text":
                same = agrees(like(self.here(block.text)), like(printed))
                assert same, f"{page.name} shows\n{block.text}\nand it was\n{printed}"
        return printed

    def type(self, command: str) -> str:
        """Run one line; what it printed."""
        line, _, remark = (part.strip() for part in self.here(command).partition("  #"))
        if line.startswith("export "):
            for setting in words_of(line)[1:]:
                name, _, value = setting.partition("=")
                self._patch.setenv(name, self.token if value == TOKEN else value)
            return ""
        if line.startswith(("sottovoce serve", "sottovoce relay")):
            return self._serve(words_of(line.removesuffix(" &").removesuffix(f" 2> {LOG}"))[1:])
        if line.startswith("sottovoce ") and line.endswith(" &"):
            command = [sys.executable, "-m", *words_of(line.removesuffix(" &"))]
            self._services.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment()))
            return ""
        if line == "kill %1":
            assert self._stop() == 0
            return ""
        if line.startswith("sottovoce "):
            words = words_of(line)[1:]
            return self._watch(words) if "--watch" in words else self._run(words, refused=remark == "refused")
        return subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True).stdout

    def _run(self, words: list[str], refused: bool) -> str:
        if words[0] == "estimate" and "--aggregate" not in words:
            self._wait_until_counted(words[1])
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = main(words)
        assert bool(status) == refused, (words, err.getvalue())
        return out.getvalue() + (err.getvalue() if refused else "")

    def _watch(self, words: list[str]) -> str:
        """What it shows first, down to the error of all answers."""
        self._wait_until_counted(words[1])
        command, lines = [sys.executable, "-m", "sottovoce", *words], []
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as watching:
            assert watching.stdout is not None
            for line in watching.stdout:
                lines.append(line)
                if line.startswith("expected L2 error"):
                    watching.send_signal(signal.SIGINT)
            assert watching.wait(PATIENCE) == INTERRUPTED, lines
        return "".join(lines)

    def _wait_until_counted(self, survey: str) -> None:
        live = connect(os.environ["SOTTOVOCE_URL"], os.environ["SOTTOVOCE_TOKEN"]).survey(survey)
        end = time.monotonic() + PATIENCE
        while live.status().waiting:
            assert time.monotonic() < end, "reports are not counted"
            time.sleep(0.05)

    def _serve(self, words: list[str]) -> str:
        port = [] if "--settings" in words else ["--port", self.port if words[0] == "serve" else self.relay_port]
        command = [sys.executable, "-m", "sottovoce", *words, *port]
        with Path(LOG).open("ab") as log:
            service = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, env=environment())
        self._services.append(service)
        assert service.stdout is not None
        lines = []
        for line in service.stdout:
            lines.append(line)
            if line.startswith("admin token"):
                self.token = line.split()[2]
            if line.startswith("ready at"):
                return "".join(lines)
        pytest.fail(f"the service ended: {Path(LOG).read_text(encoding='utf-8')}")

    def _stop(self) -> int:
        service = self._services.pop()
        service.terminate()
        status = service.wait(PATIENCE)
        assert service.stdout is not None
        service.stdout.close()
        return status

    def close(self) -> None:
        """End whatever a page has left running."""
        while self._services:
            self._stop()


@contextlib.contextmanager
def terminal(folder: Path) -> Iterator[Terminal]:
    """A terminal whose services are gone at the end, however that comes."""
    with pytest.MonkeyPatch.context() as patch, kept_port() as port, kept_port() as relay_port:
        opened = Terminal(folder, patch, port, relay_port)
        try:
            yield opened
        finally:
            opened.close()
