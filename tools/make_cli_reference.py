"""Brings the tables of docs/cli.md up to date with the grammar of the command: `python tools/make_cli_reference.py`.

Which commands and options there are, what is required and what the defaults are comes from the grammar. Meanings are
kept as the page has them; a new option gets the words of its ``--help``.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from sottovoce.cli.parser import build_parser, commands_of

PAGE = Path(__file__).resolve().parents[1] / "docs" / "cli.md"
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


def page() -> str:
    """The page as it should be; a command without a section gets one at the end of the commands."""
    text = PAGE.read_text(encoding="utf-8")
    for words, parser in commands_of(build_parser(), "sottovoce").items():
        heading = f"## {words}\n"
        if heading not in text:
            start = f"{heading}\n{(parser.description or '').strip()}\n\n{HEAD}\n"
            text = text.replace("## Exit status\n", f"{start}## Exit status\n")
        before, _, rest = text.partition(heading)
        section, mark, after = rest.partition("\n## ")
        lead, head, body = section.partition(HEAD)
        rows = re.match(r"(?:\|.*\n)*", body)
        kept = body[rows.end() :] if rows and head else ""
        text = before + heading + lead + table(parser, head + (rows[0] if rows else "")) + kept + mark + after
    return text


def main() -> None:
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
