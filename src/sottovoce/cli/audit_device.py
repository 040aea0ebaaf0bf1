"""`sottovoce audit --device`: the verdict on a device, from the histories that it was run through."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from sottovoce.cli.arguments import refuse_options
from sottovoce.cli.output import console, print_json

if TYPE_CHECKING:
    from sottovoce.cli.parser import Parser

__all__ = ["add_device_options", "run_device_audit"]


def add_device_options(parser: Parser) -> None:
    """The options of an audit of a device."""
    parser.add_argument(
        "--device",
        action="store_true",
        help="audit the device, Python's or that of --client: all short histories of answers, losses, crashes, "
        "restarts, clocks and hostile collectors, for --seconds (default: 120)",
    )
    parser.add_argument(
        "--history", metavar="TEXT", help="with --device: run this one history, as an audit has printed it"
    )


def run_device_audit(arguments: argparse.Namespace) -> int:
    """Audit the device; 1 if a history breaks a rule."""
    from sottovoce.cli.parser import UsageError
    from sottovoce.cli.survey_create import stated_in_file
    from sottovoce.histories import audit_device

    if arguments.mechanisms:
        raise UsageError("--device audits a device: leave MECHANISM out (see: sottovoce audit --help)")
    reason = "says nothing about histories: leave it out beside --device"
    refuse_options(arguments, reason, "epsilon", "values", "samples", "delta", "all", "html")
    survey = None if arguments.survey is None else stated_in_file(arguments.survey, arguments.attachment)
    result = audit_device(survey, client=arguments.client, seconds=arguments.seconds, history=arguments.history)
    if arguments.json:
        print_json({"sound": result.sound, "device": result.to_dict()})
    else:
        console().print(str(result), markup=False, soft_wrap=True)
    return 0 if result.sound else 1
