"""Brings the tables of docs/cli/ and docs/contributors/evidence.md up to date: `python tools/make_cli_reference.py`.

Which commands and options there are, what is required and what the defaults are comes from the grammar. Meanings are
kept as the pages have them; a new option gets the words of its ``--help``, a new command a section, and a command that
no page is named for a page of its own.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from evidence.cli import build_parser as evidence_parser
from sottovoce.cli.parser import COMMANDS, build_parser, commands_of

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "cli"
EVIDENCE = FOLDER.parent / "contributors" / "evidence.md"
SUBJECTS = {
    "trying": ("demo", "simulate"),
    "planning": ("plan", "calibrate", "optimize", "strategies", "mechanisms", "amplify"),
    "surveys": ("survey",),
    "estimates": ("estimate", "ask", "export", "aggregate"),
    "devices": ("answer", "ledger", "randomize"),
    "service": ("serve", "relay", "backup", "restore", "token", "keys"),
    "reviewing": ("audit", "disclose", "log"),
}
"""The pages in their order, each with the first words of the commands on it."""
LIST = "| command | what it does |\n|---|---|\n"
TREE = "```{toctree}\n:hidden:\n\n"
HEAD = "| option | default | meaning |\n|---|---|---|\n"
ROW = re.compile(r"^\| `([^`]+)` \| (.*?) ?\| (.*) \|$", re.MULTILINE)


def written(action: argparse.Action) -> str:
    """An option with its metavariable, or a word that must be given."""
    if not action.option_strings:
        return f"{action.metavar} ..."
    # Of --x and --no-x the first.
    name = action.option_strings[0 if isinstance(action, argparse.BooleanOptionalAction) else -1]
    return f"{name} {action.metavar}" if action.metavar else name


def default_of(action: argparse.Action, before: str) -> str:
    """What the grammar says, in the spelling that the page has for the same."""
    if action.required and action.option_strings:
        return "required"
    if isinstance(action.default, bool) or action.default is None:
        return before
    if isinstance(action.default, int | float):
        plain = before.replace(",", "")
        same = re.fullmatch(r"[\d.]+(e-?\d+)?", plain) and float(plain) == action.default
        return before if same else f"{action.default:,}"
    return before if isinstance(action.default, list | tuple) else str(action.default)


def help_of(action: argparse.Action) -> str:
    """The words of `--help`, without a default that has a column of its own."""
    words = (action.help or "").replace("%%", "%")
    return words if action.default is None else re.sub(r" \(default: .*\)$", "", words)


def table(parser: argparse.ArgumentParser, section: str) -> str:
    """The options of one command."""
    before = {option: (default, meaning) for option, default, meaning in ROW.findall(section)}
    known = {written(action): action for action in parser._actions if "--help" not in action.option_strings}
    order = [option for option in before if option in known] + [option for option in known if option not in before]
    rows = []
    for option in order:
        default, meaning = before.get(option, ("", help_of(known[option])))
        cells = [f"`{option}`", default_of(known[option], default), meaning]
        rows.append(re.sub(r"\|  +\|", "| |", f"| {' | '.join(cells)} |"))
    return HEAD + "".join(f"{row}\n" for row in rows)


def subject_of(word: str) -> str:
    """The page that a command is on, by its first word; one that is named nowhere has a page of its own."""
    return next((page for page, words in SUBJECTS.items() if word in words), word)


def subjects() -> list[str]:
    """All pages of commands, those that came by themselves last."""
    return [*SUBJECTS, *sorted({subject_of(word) for word in COMMANDS} - set(SUBJECTS))]


def with_section(text: str, words: str, parser: argparse.ArgumentParser) -> str:
    """The page with a command's table as it should be; a command without a section gets one at the end."""
    heading = f"## {words}\n"
    if f"\n{heading}" not in text:
        text = f"{text.rstrip()}\n\n{heading}\n{(parser.description or '').strip()}\n\n{HEAD}"
    before, _, rest = text.partition(f"\n{heading}")
    section, mark, after = rest.partition("\n## ")
    lead, head, body = section.partition(HEAD)
    rows = re.match(r"(?:\|.*\n)*", body)
    kept = body[rows.end() :] if rows and head else ""
    return f"{before}\n{heading}{lead}{table(parser, head + (rows[0] if rows else ''))}{kept}{mark}{after}"


def index() -> str:
    """The first page, with its list of commands and the order of the pages."""
    text = (FOLDER / "index.md").read_text(encoding="utf-8")
    rows = [
        f"| [`sottovoce {word}`]({subject_of(word)}.md) | {summary} |\n"
        for page in subjects()
        for word, summary in COMMANDS.items()
        if subject_of(word) == page
    ]
    text = re.sub(re.escape(LIST) + r"(?:\|.*\n)*", lambda _: LIST + "".join(rows), text)
    tree = "".join(f"{page}\n" for page in subjects())
    return re.sub(re.escape(TREE) + r"(?:[\w/]+\n)*", lambda _: TREE + tree, text)


def pages() -> dict[Path, str]:
    """Every page of the folder, and the page on evidence, as they should be."""
    found = {FOLDER / "index.md": index()}
    grammar = commands_of(build_parser(), "sottovoce")
    for subject in subjects():
        path = FOLDER / f"{subject}.md"
        text = path.read_text(encoding="utf-8") if path.exists() else f"# Commands: {subject}\n"
        for words, parser in grammar.items():
            if subject_of(words.split()[1]) == subject:
                text = with_section(text, words, parser)
        found[path] = text
    return found | {EVIDENCE: evidence_page()}


def evidence_page() -> str:
    """The page on the commands of the evidence, which are not commands of the package."""
    text = EVIDENCE.read_text(encoding="utf-8")
    for words, parser in commands_of(evidence_parser(), "python -m evidence").items():
        text = with_section(text, words, parser)
    return text


def main() -> None:
    """Write the pages."""
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
