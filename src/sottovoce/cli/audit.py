"""`sottovoce audit`: the exact epsilon of what leaves the device, and a certified lower bound."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sottovoce.auditing import DEFAULT_DELTA
from sottovoce.cli.arguments import add_epsilon, add_integer, add_json, add_number
from sottovoce.cli.output import console, print_json, progress, titled_table

if TYPE_CHECKING:
    from sottovoce.auditing import AuditResult
    from sottovoce.cli.parser import Parser

__all__ = ["register"]

GRID = (0.25, 0.5, 1.0, 2.0, 4.0)
"""The epsilons of `--all`."""

SAMPLES = (100, 10**9)
"""Fewer samples certify nothing; more would take days."""

_DESCRIPTION = """\
Audit mechanisms at a stated epsilon. Where possible the device code is run on every outcome of its randomness, which
gives the exact epsilon of the bytes it sends; a lower bound is certified from sampled reports alone. The exit status
is 1 if the exact epsilon of a deployable mechanism is above the stated one.
"""

_EXAMPLES = """\
examples:
  sottovoce audit
  sottovoce audit hadamard subset_selection --epsilon 0.5
  sottovoce audit randomized_response --epsilon 2 --values 5
  sottovoce audit codebook gaussian --published
  sottovoce audit --all --html soundness.html          every mechanism at several epsilons, as one page
  sottovoce audit --json | jq '.results[] | select(.sound | not)'
"""


def register(parser: Parser) -> None:
    """Describe the command and add its options."""
    parser.description, parser.epilog = _DESCRIPTION, _EXAMPLES
    parser.add_argument("mechanisms", nargs="*", metavar="MECHANISM", help="which to audit (default: all)")
    add_epsilon(parser, required=False)
    add_integer(parser, "--values", "J", "number of values (default: a small domain)")
    add_integer(parser, "--samples", "N", "sampled reports per value (default: 20,000)")
    add_number(parser, "--delta", "D", "delta of the Gaussian mechanisms", DEFAULT_DELTA)
    parser.add_argument(
        "--published",
        action="store_true",
        help="also audit the paper's algorithms as printed, which are never deployed",
    )
    parser.add_argument(
        "--all",
        action="store_true",
        help=f"at epsilon {', '.join(f'{epsilon:g}' for epsilon in GRID)}, with the printed algorithms; takes minutes",
    )
    parser.add_argument("--html", type=Path, metavar="FILE", help="also write the results as one page")
    add_json(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from rich.markup import escape

    from sottovoce.auditing.page import PUBLISHED_PREFIX, render
    from sottovoce.core.files import check_file, write_file
    from sottovoce.lab.published.audit import audit_published_gaussian, audit_published_rejection

    names, epsilons = _subjects(arguments)
    settings = {"domain_size": arguments.values, "samples": arguments.samples, "delta": arguments.delta}
    given = {name: setting for name, setting in settings.items() if setting is not None}
    printed: list[Callable[[float], AuditResult]] = []
    if arguments.published or arguments.all:
        printed = [lambda epsilon: audit_published_gaussian(epsilon, arguments.delta), audit_published_rejection]
    if arguments.html is not None:
        check_file(arguments.html, "page")
    results: list[AuditResult] = []
    with progress("auditing", (len(names) + len(printed)) * len(epsilons), "audits") as advance:
        for epsilon in epsilons:
            for name in names:
                results.append(_audited(name, epsilon, given))
                advance(1)
            for algorithm in printed:
                results.append(algorithm(epsilon))
                advance(1)
    sound = all(result.sound for result in results if not result.mechanism.startswith(PUBLISHED_PREFIX))
    if not arguments.json:
        for epsilon in epsilons:
            _show([result for result in results if result.epsilon == epsilon], epsilon)
    if arguments.html is not None:
        write_file(arguments.html, render(results))
    if arguments.json:
        page = {} if arguments.html is None else {"page": str(arguments.html)}
        print_json({"sound": sound, "results": [result.to_dict() for result in results], **page})
    elif arguments.html is not None:
        console().print(f"[bold]{escape(str(arguments.html))}[/]: all results on one page", soft_wrap=True)
    return 0 if sound else 1


def _audited(name: str, epsilon: float, given: dict[str, Any]) -> AuditResult:
    from sottovoce.auditing import audit

    try:
        return audit(name, epsilon, **given)
    except MemoryError as error:
        named = {"domain_size": "--values", "samples": "--samples"}
        options = [option for setting, option in named.items() if setting in given]
        if not options:
            raise
        raise MemoryError(f"not enough memory; give a smaller {' or '.join(options)}") from error


def _subjects(arguments: argparse.Namespace) -> tuple[list[str], tuple[float, ...]]:
    """Which mechanisms to audit at which epsilons; all options are checked before the first audit."""
    from sottovoce.auditing import auditable
    from sottovoce.cli.parser import UsageError
    from sottovoce.core.errors import MechanismError
    from sottovoce.core.limits import check_delta, check_epsilon, check_integer

    known = list(auditable())
    names = list(dict.fromkeys(arguments.mechanisms)) or known
    unknown = next((name for name in names if name not in known), None)
    if unknown is not None:
        raise MechanismError(f"mechanism {unknown!r} cannot be audited; choose among {', '.join(known)}")
    check_delta(arguments.delta)
    if arguments.samples is not None:
        check_integer("samples", arguments.samples, *SAMPLES)
    if arguments.all and arguments.epsilon is not None:
        raise UsageError("--all has its own epsilons; leave --epsilon or --all out (see: sottovoce audit --help)")
    if arguments.all:
        return names, GRID
    return names, (check_epsilon(1.0 if arguments.epsilon is None else arguments.epsilon),)


def _show(results: list[AuditResult], epsilon: float) -> None:
    from sottovoce.auditing.page import method_in_words

    table = titled_table(
        f"audit at stated epsilon {epsilon:g}",
        "exact: the epsilon of the bytes that leave the device; certified: a lower bound from sampled reports; –: the "
        "samples prove nothing",
    )
    table.add_column("mechanism", style="bold", no_wrap=True)
    table.add_column("exact", justify="right", no_wrap=True)
    table.add_column("certified", justify="right", no_wrap=True)
    table.add_column("sound", justify="center", no_wrap=True)
    table.add_column("how")
    for result in results:
        verdict = "[green]yes[/]" if result.sound else "[bold red]NO[/]"
        exact = "∞" if math.isinf(result.exact_epsilon) else f"{result.exact_epsilon:.6f}"
        certified = f"{result.certified_lower_bound:.3f}" if result.certified_lower_bound > 0 else "–"
        table.add_row(result.mechanism, exact, certified, verdict, method_in_words(result))
    console().print(table)
