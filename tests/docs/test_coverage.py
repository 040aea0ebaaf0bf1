"""Whatever there is to use is documented: names, mechanisms, errors, commands and their options."""

from __future__ import annotations

import argparse
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

import sottovoce as sv
from document import every_page, folder_sections, folder_text
from evidence.cli import build_parser as evidence_parser
from sottovoce import device
from sottovoce.cli.parser import build_parser, commands_of
from sottovoce.mechanisms import FiniteMechanism, serving
from sottovoce.surveys.statement import FORMAT
from terminal import words_of

DOCS = Path(__file__).parents[2] / "docs"
README = DOCS.parent / "README.md"


def read(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")


COMMANDS = commands_of(build_parser(), "sottovoce")
CLI = folder_sections("cli")


def options(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    return [action for action in parser._actions if "--help" not in action.option_strings]


def written(action: argparse.Action) -> str:
    """An option as the tables write it: with its metavariable."""
    if not action.option_strings:
        return f"{action.metavar} ..."
    name = action.option_strings[0 if isinstance(action, argparse.BooleanOptionalAction) else -1]
    return f"{name} {action.metavar}" if action.metavar else name


@pytest.mark.parametrize("name", sv.__all__)
def test_public_names_are_in_the_reference(name: str) -> None:
    assert re.search(rf"sottovoce\.{name}\b", folder_text("api"))


@pytest.mark.parametrize("name", device.__all__)
def test_names_of_the_device_are_in_the_reference(name: str) -> None:
    assert re.search(rf"sottovoce\.device\.{name}\b", folder_text("api"))


def test_every_page_is_reachable_from_the_contents() -> None:
    listed = set()
    for page in DOCS.rglob("*.md"):
        for tree in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            names = [line.strip() for line in tree.splitlines() if line.strip() and not line.startswith(":")]
            found = (path for name in names for path in page.parent.glob(f"{name}.md") if path != page)
            listed |= {path.relative_to(DOCS) for path in found}
    there = {page.relative_to(DOCS) for page in DOCS.rglob("*.md") if "_build" not in page.parts}
    assert there - listed == {Path("index.md")}


def drawn_tree() -> dict[str, tuple[str, ...]]:
    """For every error drawn in the tree, the names of its bases."""
    block = re.search(r"```text\n(.*?)```", read("errors.md"), re.DOTALL)
    assert block
    bases, path = {}, []
    for line in block[1].splitlines():
        drawn = re.match(r"([│├└─ ]*)(\w+)(?: \((\w+)\))?", line)
        assert drawn, line
        depth = len(drawn[1]) // 4
        path = [*path[:depth], drawn[2]]
        parent = path[depth - 1] if depth else "Exception"
        bases[drawn[2]] = (parent, drawn[3]) if drawn[3] else (parent,)
    return bases


@pytest.mark.parametrize("name", sv.errors.__all__)
def test_errors_are_drawn_where_they_stand(name: str) -> None:
    assert drawn_tree()[name] == tuple(base.__name__ for base in getattr(sv.errors, name).__bases__)


@pytest.mark.parametrize("words", COMMANDS)
def test_commands_are_documented_with_their_options(words: str) -> None:
    parser, section = COMMANDS[words], CLI[words]
    rows = {}
    for line in section.splitlines():
        cells = re.match(r"\| `([^`]+)` \| (.*?) ?\|", line)
        if cells:
            rows[cells[1]] = cells[2]
    assert set(rows) == {written(action) for action in options(parser)}
    for action in options(parser):
        default = rows[written(action)]
        if getattr(action, "required", False) and action.option_strings:
            assert default == "required"
        elif isinstance(action.default, (int, float)) and not isinstance(action.default, bool):
            assert float(default.replace(",", "")) == action.default
        elif isinstance(action.default, (str, Path)):
            assert default == str(action.default)


def test_no_command_is_documented_that_does_not_exist() -> None:
    assert {heading for heading in CLI if heading.startswith("sottovoce ")} == set(COMMANDS)


OTHERS = {
    *("cd", "chmod", "cp", "curl", "export", "grep", "head", "kill", "kubectl", "ls", "mkdir", "npm", "openssl", "pip"),
    *("podman", "podman-compose", "printf", "python", "rm", "sha256sum", "spark-submit", "tar", "venv-pack"),
}
"""Commands on the pages that are not this project's."""


def check_command(line: str) -> None:
    """Raise unless it is a command that there is, with arguments that it takes."""
    words = words_of(line.removesuffix(" &").removesuffix(" 2> service.log"))
    while re.match(r"[A-Z_]+=", words[0]):
        words = words[1:]
    program, *arguments = words
    if program == "sottovoce" and arguments[0] != "COMMAND":
        build_parser().parse_args(arguments)
    elif arguments[:2] == ["-m", "evidence"]:
        evidence_parser().parse_args(arguments[2:])
    elif program == "make":
        targets = re.findall(r"^([a-z-]+):", (DOCS.parent / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
        assert arguments[0] in targets, line
    else:
        assert program in {*OTHERS, "sottovoce"}, line
        assert arguments[0] != "-m" or program != "python" or find_spec(arguments[1]), line


@pytest.mark.parametrize("page", every_page(), ids=lambda page: page.name)
def test_commands_in_consoles_parse(page: Path) -> None:
    for block in re.findall(r"```console\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        whole = re.sub(r"\\\n\s*", "", block)  # a command may go on on the next line
        for line in re.findall(r"^\s*\$ (.+?)(?:\s+#.*)?$", whole, re.MULTILINE):
            check_command(line)


def test_wire_format_is_the_one_in_force() -> None:
    assert read("contributors/wire_format/index.md").startswith(f"# Wire format {FORMAT}\n")
    assert f"**wire** Format {FORMAT}" in (DOCS.parent / "CHANGELOG.md").read_text(encoding="utf-8")


def test_every_codec_has_its_payload_described() -> None:
    # A new kind of payload must not slip in without a row in the table of the wire format.
    described = {"IndexCodec", "BitmapCodec", "SubsetBitmapCodec", "SubsetCodec"}
    kinds = serving(FiniteMechanism).values()
    assert {type(kind.best(size, 1.0).codec).__name__ for kind in kinds for size in (10, 1000)} <= described
