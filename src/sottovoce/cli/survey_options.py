"""Options that describe a survey: its question's parameters, its design, its periods and its relay."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sottovoce.cli.arguments import Options, add_integer, add_number, number, whole_number
from sottovoce.core.errors import DomainError, SurveyError
from sottovoce.core.limits import DEFAULT_COUNTERS, DEFAULT_REPORT_BYTES, DEFAULT_STRATEGY
from sottovoce.surveys.relay import DEFAULT_CENTRAL_DELTA, Relay

if TYPE_CHECKING:
    from sottovoce.cli.parser import Parser
    from sottovoce.questions.base import Question
    from sottovoce.questions.parameter import Parameter

__all__ = [
    "add_design",
    "add_groups",
    "add_parameters",
    "add_relay",
    "asked_question",
    "design_words",
    "example_words",
    "given_design",
    "given_groups",
    "given_parameters",
    "given_relay",
    "how_to_write",
    "option_of",
    "parameter_words",
    "parse_values",
]

_LABELS: Final = """\
  --labels red,green,blue                  names separated by commas
  --labels @colours.txt                    names from a file, one per line
"""
_RANGE_FORMS: Final = """\
  --range 18..99                           a range of integers, with both ends
"""
_ATTRIBUTES: Final = """\
  --attributes age=0..99 sex=f,m name=text:8
                                           records; an attribute is a range of integers, labels as above, a number
                                           of values, or text of at most that many letters a to z
  --attributes "plan=free,pro missing as unknown"
                                           an attribute whose missing values count as one
"""
_FIELDS: Final = (
    _ATTRIBUTES.replace("records; an attribute is", "a form; a field is")
    + """\
  --attributes minutes=number:0..600:minutes
                                           a number from 0 to 600, with or without a unit
"""
)
_WORKLOADS: Final = """\
workloads:
  identity:1024                            the share of each value
  prefix:1024                              cumulative shares
  ranges:64                                every interval of values
  bins:100:10                              ranges of width ten
  marginals:age=10,sex=2,country=30:2      every table of two attributes
  parities:10:3                            parities of up to three out of ten bits
  dense:FILE.npy                           a matrix written by numpy.save, one row per query
"""

_ALPHABETS: Final = """\
  --alphabet latin                         the letters a to z, apostrophe, hyphen and space; also digits, hexadecimal,
                                           ascii, or unicode for any text
  --alphabet aeiou                         exactly these characters
  --alphabet bytes                         byte strings, written like 0x00ff
"""

_FORMS: Final = {
    "alphabet": _ALPHABETS,
    "labels": _LABELS,
    "range": _RANGE_FORMS,
    "attributes": _ATTRIBUTES,
    "fields": _FIELDS,
    "workload": _WORKLOADS,
}
"""How parameters that are not plain numbers are written."""

_SECOND: Final = re.compile(r"\s\w+=")
"""The start of a second attribute within the values of one."""
_RANGE: Final = re.compile(r"(-?[0-9]{1,18})\.\.(-?[0-9]{1,18})", re.ASCII)
_TEXT: Final = re.compile(r"text:([0-9]{1,3})", re.ASCII)
_REAL: Final = r"-?[0-9]{1,18}(?:\.[0-9]{1,18})?(?:e-?[0-9]{1,3})?"
_POLICY: Final = re.compile(r"(.*?)\s+missing\s+(as\s.*|refuse)", re.DOTALL)
"""The values of an attribute, and what missing ones count as."""
_NUMBER: Final = re.compile(rf"number:({_REAL})\.\.({_REAL})(?::(.*))?", re.ASCII)
_SIZE: Final = re.compile(r"[0-9]{1,19}", re.ASCII)
_LONGEST_FILE: Final = 2**26


# --- options ------------------------------------------------------------------------------------


def option_of(parameter: Parameter) -> str:
    """How the parameter is written on a command line."""
    return "--" + parameter.name.replace("_", "-")


_TYPES: Final[dict[str, Any]] = {"integer": whole_number, "number": number}
"""How the numbers among parameters are read."""


def add_parameters(parser: Options, parameters: Iterable[Parameter], *, optional: frozenset[str] = frozenset()) -> None:
    """One option per parameter; those in `optional` are not required."""
    for parameter in parameters:
        settings: dict[str, Any] = {"metavar": parameter.name[0].upper(), "help": parameter.help}
        if parameter.kind in _TYPES:
            settings["type"] = _TYPES[parameter.kind]
        elif parameter.kind in ("attributes", "fields"):
            settings["nargs"] = "+"
        elif parameter.kind == "choice":
            settings["choices"] = parameter.choices
        default = parameter.default
        if isinstance(default, str):
            settings |= {"default": default, "help": parameter.help + (default and f" (default: {default})")}
        elif default is not None:
            settings |= {"default": default, "help": f"{parameter.help} (default: {default:,g})"}
        elif parameter.kind in _FORMS:
            settings["help"] = f"{parameter.help}; see below"
        required = parameter.required and parameter.name not in optional
        parser.add_argument(option_of(parameter), required=required, **settings)


def example_words(parameters: Iterable[Parameter]) -> str:
    """The shortest options that give every required parameter, and those without which an example would mislead.

    Examples
    --------
    >>> from sottovoce.questions import Shares, Vector
    >>> example_words(Shares.parameters), example_words(Vector.parameters)
    ('--values 40', '--dimension 20 --radius 5')
    """
    needed, groups = [], set()
    for parameter in parameters:
        if parameter.required or parameter.in_examples or (parameter.group and parameter.group not in groups):
            needed.append(f"{option_of(parameter)} {parameter.example}")
            groups.add(parameter.group)
    return " ".join(needed)


def how_to_write(parameters: Iterable[Parameter]) -> str:
    """The part of `--help` about parameters that one line does not explain; may be empty."""
    blocks: dict[str, str] = {}
    for parameter in parameters:
        option, group = option_of(parameter), parameter.group
        plain = f"  {option} {parameter.example:<{40 - len(option)}}{parameter.help}\n" if group else ""
        start = f"{group}, one of:\n" if group else ""
        blocks[group] = blocks.get(group, start) + _FORMS.get(parameter.kind, plain)
    return "\n".join(filter(None, blocks.values()))


# --- from options to a question ------------------------------------------------------------------


def asked_question(kind: type[Question], arguments: argparse.Namespace) -> Question:
    """The question that the options describe."""
    return kind.of(**given_parameters(kind.parameters, arguments))


def parameter_words(parameters: Iterable[Parameter], arguments: argparse.Namespace) -> list[str]:
    """The options that give the same parameters; defaults are left out."""
    words = []
    for parameter in parameters:
        value = getattr(arguments, parameter.name)
        if value is not None and value != parameter.default:
            listed = value if isinstance(value, list) else [f"{value}".removesuffix(".0")]
            words += [option_of(parameter), *listed]
    return words


def given_parameters(parameters: Iterable[Parameter], arguments: argparse.Namespace) -> dict[str, Any]:
    """The values of the given parameters, as a question takes them."""
    given = ((parameter, getattr(arguments, parameter.name)) for parameter in parameters)
    return {parameter.name: _READ[parameter.kind](words) for parameter, words in given if words is not None}


def _unchanged(value: Any) -> Any:
    """Numbers, texts and choices, which argparse has parsed."""
    return value


def _range(text: str) -> range:
    ends = _RANGE.fullmatch(text)
    if ends is None:
        raise DomainError(f"{text!r} is not a range of integers; write both ends, like 18..99").at("range")
    return range(int(ends[1]), int(ends[2]) + 1)


def _attributes(texts: list[str], read: Callable[[str], Any] | None = None) -> dict[str, Any]:
    attributes: dict[str, Any] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        if not equals or not name or name in attributes:
            message = f"{text!r} is not an attribute, or its name is repeated; write it like age=0..99"
            raise DomainError(message).at("attributes")
        if _SECOND.search(values):
            message = f"attribute {name!r} holds another one; write attributes apart, without quotes around all of them"
            raise DomainError(message).at("attributes")
        attributes[name] = _with_policy(values, read or parse_values)
    return attributes


def _with_policy(text: str, read: Callable[[str], Any]) -> Any:
    """What an attribute holds; with a policy, as in "free,pro missing as unknown", a domain or a number that has it."""
    from sottovoce.domain import Domain, NumberGrid

    policy = _POLICY.fullmatch(text)
    if policy is None:
        return read(text)
    values = read(policy[1])
    held: Domain | NumberGrid = values if isinstance(values, NumberGrid) else Domain.of(values)
    try:
        return held.with_missing(policy[2])
    except DomainError as error:
        raise error.at("attributes") from None


def _fields(texts: list[str]) -> dict[str, Any]:
    return _attributes(texts, _field)


def _field(text: str) -> Any:
    """A number as number:0..600 or number:0..600:minutes; else the values of an attribute."""
    from sottovoce.domain.number import NumberGrid

    match = _NUMBER.fullmatch(text)
    return parse_values(text) if match is None else NumberGrid(float(match[1]), float(match[2]), match[3] or "")


def parse_values(text: str) -> Any:
    """The values of one attribute, for `Domain.of`.

    Examples
    --------
    >>> parse_values("18..99"), parse_values("f,m"), parse_values("100"), parse_values("text:8").max_length
    (range(18, 100), ['f', 'm'], 100, 8)
    """
    from sottovoce.domain import Domain

    if _RANGE.fullmatch(text):
        return _range(text)
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
            problem = "it is too large for a list of labels"
        else:
            return path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        problem = "it is not a text file in UTF-8"
    except (OSError, ValueError) as error:
        problem = getattr(error, "strerror", None) or "it cannot be read"
    raise DomainError(
        f"the labels cannot be read from {str(path)!r}: {problem}; name a file with one label per line"
    ).at("labels")


def _workload(text: str) -> Any:
    from sottovoce.workloads.parse import parse_workload

    return parse_workload(text)


_READ: Final[dict[str, Callable[[Any], Any]]] = {
    "integer": _unchanged,
    "number": _unchanged,
    "text": _unchanged,
    "choice": _unchanged,
    "missing": _unchanged,
    "alphabet": _unchanged,
    "labels": _labels,
    "range": _range,
    "attributes": _attributes,
    "fields": _fields,
    "workload": _workload,
}
"""How each kind of parameter is parsed."""


_DESIGN_DEFAULTS: Final[dict[str, Any]] = {
    "delta": 0.0,
    "strategy": DEFAULT_STRATEGY,
    "mechanism": DEFAULT_STRATEGY,
    "max_report_bytes": DEFAULT_REPORT_BYTES,
    "max_counters": DEFAULT_COUNTERS,
    "criterion": None,
}


def add_design(parser: Parser, kind: type[Question]) -> None:
    """Options for the designs that are compared, and the error by which they are."""
    add_number(parser, "--delta", "DELTA", "if above 0, the gaussian mechanism is a candidate too", 0.0)
    listed = ", ".join(kind.strategies)
    parser.add_argument(
        "--strategy",
        default=DEFAULT_STRATEGY,
        metavar="NAME",
        help=f"{listed}, or auto for the least error (default: auto)",
    )
    parser.add_argument(
        "--mechanism", default=DEFAULT_STRATEGY, metavar="M", help="see 'sottovoce mechanisms' (default: auto)"
    )
    parser.add_argument(
        "--criterion",
        choices=("l2", "margin"),
        metavar="C",
        help="compare designs by l2 over all answers, or by the largest margin of one answer (default: l2)",
    )
    add_integer(parser, "--max-report-bytes", "B", "largest report allowed", DEFAULT_REPORT_BYTES)
    parser.add_argument(
        "--max-counters",
        type=whole_number,
        default=DEFAULT_COUNTERS,
        metavar="C",
        help="largest number of counters; with more of them, fewer people share a rotation of the codebook "
        f"(default: {DEFAULT_COUNTERS:,})",
    )


def given_design(arguments: argparse.Namespace) -> dict[str, Any]:
    """The options of `add_design` under the library's names; a criterion only if it was given."""
    given = {name: getattr(arguments, name) for name in _DESIGN_DEFAULTS}
    return {name: value for name, value in given.items() if value is not None}


def design_words(settings: dict[str, Any]) -> list[str]:
    """The options that give these settings; defaults are left out.

    Examples
    --------
    >>> design_words({"delta": 0.0, "strategy": "haar", "max_report_bytes": 64})
    ['--strategy', 'haar']
    """
    changed = {name: value for name, value in settings.items() if value != _DESIGN_DEFAULTS[name]}
    return [word for name, value in changed.items() for word in (f"--{name.replace('_', '-')}", f"{value}")]


def add_groups(parser: Parser) -> None:
    """`--groups`."""
    parser.add_argument(
        "--groups",
        nargs="+",
        metavar="NAME=VALUES",
        help="public groups, each sent in the open beside the report: arm=A,B platform=phone,web",
    )


def given_groups(arguments: argparse.Namespace) -> dict[str, list[str]] | None:
    """The groups of these options; None if there are none."""
    if arguments.groups is None:
        return None
    groups: dict[str, list[str]] = {}
    for text in arguments.groups:
        name, equals, values = text.partition("=")
        if not equals or name in groups:
            raise SurveyError(
                "--groups takes names, each once, and their values, for example arm=A,B platform=phone,web"
            ).at("groups")
        groups[name] = values.split(",")
    return groups


def add_relay(parser: Parser) -> None:
    """`--relay`, `--least` and `--central-delta`."""
    group = parser.add_argument_group("a relay", "reports go through it, and reach the collector shuffled, in batches")
    group.add_argument("--relay", metavar="URL", help="address of the relay (default: reports are sent directly)")
    add_integer(group, "--least", "N", "smallest batch that the relay forwards; required with --relay")
    shown = f"delta of the central guarantee (default: {DEFAULT_CENTRAL_DELTA:g})"
    add_number(group, "--central-delta", "D", shown)


def given_relay(arguments: argparse.Namespace) -> Relay | None:
    """The relay of these options; None if there is none."""
    from sottovoce.cli.parser import UsageError

    if arguments.relay is None:
        if arguments.least is not None or arguments.central_delta is not None:
            raise UsageError("--least and --central-delta are about a relay: name it with --relay")
        return None
    if arguments.least is None:
        raise UsageError("--relay needs --least N, the smallest batch that it forwards")
    delta = DEFAULT_CENTRAL_DELTA if arguments.central_delta is None else arguments.central_delta
    return Relay(arguments.relay, arguments.least, delta)
