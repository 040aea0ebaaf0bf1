"""`python -m evidence published`: the privacy of the paper's algorithms as printed."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from sottovoce.auditing import DEFAULT_DELTA
from sottovoce.cli.arguments import add_json, add_number
from sottovoce.cli.audit import show_audits
from sottovoce.cli.output import print_json, progress

if TYPE_CHECKING:
    from sottovoce.cli.parser import Parser

__all__ = ["register"]

_DESCRIPTION = """\
Audit the algorithms of the paper as printed, at the epsilon and delta that they claim: their exact epsilon, and a lower
bound certified from draws of the algorithms themselves. No survey can name them. The exit status is 1 if one of them is
as private as it claims, which the findings say it is not.
"""

_EXAMPLES = """\
examples:
  python -m evidence published
  python -m evidence published --epsilon 0.5 --delta 1e-9 --json
"""


def register(parser: Parser) -> None:
    """Describe the command and add its options."""
    parser.description, parser.epilog = _DESCRIPTION, _EXAMPLES
    add_number(parser, "--epsilon", "E", "epsilon that they claim", 1.0)
    add_number(parser, "--delta", "D", "delta that the Gaussian one claims", DEFAULT_DELTA)
    add_json(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from evidence.published.audit import audit_published_gaussian, audit_published_rejection
    from sottovoce.core.limits import check_delta, check_epsilon

    epsilon, delta = check_epsilon(arguments.epsilon), check_delta(arguments.delta)
    results = []
    with progress("auditing", 2, "audits") as advance:
        results.append(audit_published_gaussian(epsilon, delta))
        advance(1)
        results.append(audit_published_rejection(epsilon))
        advance(1)
    if arguments.json:
        print_json({"results": [result.to_dict() for result in results]})
    else:
        show_audits(results, epsilon)
    return 1 if any(result.sound for result in results) else 0
