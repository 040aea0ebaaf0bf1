"""How the values of a survey are written on a command line: so many, labels, or records of named attributes."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sottovoce.cli.arguments import whole_number
from sottovoce.errors import DomainError

if TYPE_CHECKING:
    from sottovoce.cli.parser import Parser

__all__ = ["DOMAINS", "add_domain", "domain_of", "parse_values"]

DOMAINS: Final = """\
values, one of:
  --domain-size 100                        the integers 0 .. 99
  --labels red,green,blue                  names with commas between
  --labels @colours.txt                    names from a file, one a line
  --attributes age=0..99 sex=f,m name=text:8
                                           records; an attribute is a range of integers with both ends, labels as
                                           above, a number of values, or text of so many letters a to z
"""

_RANGE: Final = re.compile(r"(-?[0-9]{1,18})\.\.(-?[0-9]{1,18})", re.ASCII)
_TEXT: Final = re.compile(r"text:([0-9]{1,3})", re.ASCII)
_SIZE: Final = re.compile(r"[0-9]{1,19}", re.ASCII)
_LONGEST_FILE: Final = 2**26


def add_domain(parser: Parser) -> None:
    """`--domain-size`, `--labels` and `--attributes`, of which one is to be given."""
    parser.add_argument("--domain-size", type=whole_number, metavar="J", help="so many values, numbered from 0")
    parser.add_argument("--labels", metavar="L", help="the values' names, with commas between, or @FILE")
    parser.add_argument("--attributes", nargs="+", metavar="A", help="records of named attributes; see below")


def domain_of(arguments: argparse.Namespace) -> Any:
    """What the one option that was given means, for `Domain.of`."""
    given = [name for name in ("domain_size", "labels", "attributes") if getattr(arguments, name) is not None]
    if len(given) != 1:
        raise DomainError("give the values in exactly one way: --domain-size, --labels or --attributes")
    if given == ["domain_size"]:
        return arguments.domain_size
    if given == ["labels"]:
        return _labels(arguments.labels)
    attributes: dict[str, Any] = {}
    for text in arguments.attributes:
        name, equals, values = text.partition("=")
        if not equals or not name or name in attributes:
            raise DomainError(f"{text!r} is no attribute, or its name was given before; write it like age=0..99")
        attributes[name] = parse_values(values)
    return attributes


def parse_values(text: str) -> Any:
    """The values of one attribute, for `Domain.of`.

    Examples
    --------
    >>> parse_values("18..99"), parse_values("f,m"), parse_values("100"), parse_values("text:8").max_length
    (range(18, 100), ['f', 'm'], 100, 8)
    """
    from sottovoce.domain import Domain

    if ends := _RANGE.fullmatch(text):
        return range(int(ends[1]), int(ends[2]) + 1)
    if length := _TEXT.fullmatch(text):
        return Domain.text(int(length[1]))
    return int(text) if _SIZE.fullmatch(text) else _labels(text)


def _labels(text: str) -> list[str]:
    listed = _lines(Path(text[1:])) if text.startswith("@") else text.split(",")
    return [label.strip() for label in listed if label.strip()]


def _lines(path: Path) -> list[str]:
    problem = ""
    try:
        if path.is_file() and path.stat().st_size > _LONGEST_FILE:
            problem = "it is longer than any list of labels"
        else:
            return path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        problem = "it is not a text file in UTF-8"
    except (OSError, ValueError) as error:
        problem = getattr(error, "strerror", None) or "it cannot be read"
    raise DomainError(f"the labels cannot be read from {str(path)!r}: {problem}; name a file with one label a line")
