"""`sottovoce answer`: be a device, answer one survey, and see what that cost."""

from __future__ import annotations

import argparse
import contextlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sottovoce.cli.arguments import Commands, add_json, number
from sottovoce.cli.output import print_json
from sottovoce.limits import DEFAULT_BUDGET, DEFAULT_CAP
from sottovoce.surveys.statement import is_digest

if TYPE_CHECKING:
    from sottovoce.client import Collector, Device, Receipt

__all__ = ["DEFAULT_STORE", "fit_for_a_terminal", "register"]

DEFAULT_STORE: Final = Path("device.db")

_DESCRIPTION = """\
Answer a survey as a device does: fetch it, check its signature, check your budget, randomize the value here, write
that down, send the report. Asked again, it sends the same bytes until they have arrived, and never draws again.
"""

_EXAMPLES = """\
SURVEY is an id, the first 8 or more digits of one, or a title. VALUE is a label, an integer, a record such as
age=31,country=FR, or for the mean of vectors numbers such as 0.5,-1,2; "-" reads it from standard input, where other
users of this machine cannot see it. Write -- before a value that begins with a dash.

examples:
  sottovoce answer http://127.0.0.1:8470 Colours red
  sottovoce answer https://stats.example.org 3f2a9c41 age=31,country=FR --budget 4
  echo red | sottovoce answer https://stats.example.org Colours - --otherwise blue --json
"""

_SHORTEST_PREFIX: Final = 8
_MOST_SHOWN: Final = 8
_LONGEST_ERROR: Final = 1000


def register(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "answer", help="answer a survey, as a device does", description=_DESCRIPTION, epilog=_EXAMPLES
    )
    parser.hides_words = True
    parser.add_argument("url", metavar="URL", help="address of the collector")
    parser.add_argument("survey", metavar="SURVEY", help="id of the survey, the beginning of one, or a title")
    parser.add_argument("value", metavar="VALUE", help="the private value, or - to read it from standard input")
    parser.add_argument(
        "--otherwise", metavar="VALUE", help="stands for any value that the survey does not have; else that is refused"
    )
    parser.add_argument(
        "--store", type=Path, default=DEFAULT_STORE, metavar="FILE", help="the device's records (default: device.db)"
    )
    parser.add_argument("--key", metavar="KEY", help="the collector's public key; else the first one seen is trusted")
    parser.add_argument(
        "--cap", type=number, default=DEFAULT_CAP, metavar="E", help="largest epsilon of one survey (default: 2)"
    )
    parser.add_argument(
        "--budget", type=number, default=DEFAULT_BUDGET, metavar="E", help="largest sum of all epsilons (default: 8)"
    )
    parser.add_argument("--insecure", action="store_true", help="allow plain http to another machine")
    add_json(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from sottovoce.client import Device

    text = _line(sys.stdin.buffer.readline()) if arguments.value == "-" else arguments.value
    settings = {"cap": arguments.cap, "budget": arguments.budget, "insecure": arguments.insecure}
    with fit_for_a_terminal(), Device(arguments.store, key=arguments.key, **settings) as device:
        before = len(device.ledger)
        receipt = _answer(device, arguments, text)
        _show(device, receipt, anew=len(device.ledger) > before, as_json=arguments.json)
    return 0 if receipt.state in ("sent", "waiting") else 2


@contextlib.contextmanager
def fit_for_a_terminal() -> Iterator[None]:
    """Errors of a device may repeat a stranger's words: on the way to the screen they become one short line."""
    from sottovoce.client.text import one_line
    from sottovoce.errors import SottovoceError

    try:
        yield
    except SottovoceError as error:
        error.args = (one_line(str(error), _LONGEST_ERROR),)
        raise


def _line(raw: bytes) -> str:
    """A line as a command line would have it: bytes that are no UTF-8 are kept, and are in no domain."""
    return raw.rstrip(b"\r\n").decode("utf-8", "surrogateescape")


def _answer(device: Device, arguments: argparse.Namespace, text: str) -> Receipt:
    from sottovoce.cli.private_value import read_value
    from sottovoce.client import REFUSE
    from sottovoce.errors import SignatureError

    survey_id = _find(device.collector(arguments.url), arguments.survey)
    if _has_answered(device, survey_id):
        return device.answer(arguments.url, survey_id, None)
    survey = device.survey(arguments.url, survey_id)
    if arguments.survey not in (survey.title, survey_id[: len(arguments.survey)]):
        raise SignatureError("the collector lists another title for this survey than the one that was signed")
    otherwise = REFUSE if arguments.otherwise is None else read_value(survey, arguments.otherwise)
    return device.answer(arguments.url, survey_id, read_value(survey, text), otherwise=otherwise)


def _has_answered(device: Device, survey_id: str) -> bool:
    return any(entry.survey == survey_id for entry in device.ledger)


def _find(collector: Collector, wanted: str) -> str:
    """The id that is meant. The list is unsigned; whatever is found is checked before it is answered."""
    from sottovoce.errors import SurveyError

    if not wanted:
        raise SurveyError("no survey is named; give its title or its id")
    if is_digest(wanted):
        return wanted
    is_prefix = re.fullmatch(rf"[0-9a-f]{{{_SHORTEST_PREFIX},63}}", wanted) is not None
    found = {
        listed.id
        for listed in collector.surveys()
        if is_digest(listed.id) and (listed.title == wanted or (is_prefix and listed.id.startswith(wanted)))
    }
    if len(found) == 1:
        return found.pop()
    if found:
        shown = ", ".join(sorted(found)[:_MOST_SHOWN]) + (", and more" if len(found) > _MOST_SHOWN else "")
        raise SurveyError(f"{len(found)} surveys are called that; name one by its id: {shown}")
    raise SurveyError(
        f"the collector has no survey of that title or id; give a title, or {_SHORTEST_PREFIX} to 64 hexadecimal digits"
    )


def _show(device: Device, receipt: Receipt, *, anew: bool, as_json: bool) -> None:
    ledger = device.ledger
    if as_json:
        print_json({**receipt.to_dict(), "ledger": ledger.to_dict()})
        return
    print(f"{receipt.title or 'survey'} ({receipt.survey[:12]}), asked by {receipt.collector}")
    print(f"  {receipt}")
    if receipt.state != "waiting" and not anew:
        print("  this device had answered before: the first value stands, nothing was drawn again")
    elif receipt.state != "waiting":
        delta = f" and delta {receipt.delta:.3g}" if receipt.delta else ""
        print(f"  it was randomized on this device with epsilon {receipt.epsilon:.4g}{delta}, once and for all")
    print()
    print(ledger)
