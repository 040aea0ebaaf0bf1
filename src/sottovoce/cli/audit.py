"""`sottovoce audit`: is it private? The exact epsilon of what leaves the device, and a certified lower bound."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from sottovoce.audit import DEFAULT_DELTA
from sottovoce.cli.arguments import Commands, add_json, check_place, number, whole_number
from sottovoce.cli.output import console, print_json, progress, titled_table

if TYPE_CHECKING:
    from sottovoce.audit import AuditResult

__all__ = ["register"]

GRID = (0.25, 0.5, 1.0, 2.0, 4.0)
"""The epsilons of `--all`."""

SAMPLES = (100, 10**9)
"""Fewer reports certify nothing, more would take days."""

_DESCRIPTION = """\
Audit mechanisms at a stated epsilon. The device code is run on every outcome of its randomness where that
is possible, which gives the exact epsilon of the bytes it sends; beside it stands a lower bound that is
certified from sampled reports alone. The exit status is 1 if any deployable mechanism reveals more than
it states.
"""

_EXAMPLES = """\
examples:
  sottovoce audit
  sottovoce audit hadamard subset_selection --epsilon 0.5
  sottovoce audit randomized_response --epsilon 2 --domain-size 5
  sottovoce audit codebook gaussian --published
  sottovoce audit --all --html soundness.html          every mechanism at several epsilons, on one page
  sottovoce audit --json | jq '.results[] | select(.sound | not)'
"""


def register(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "audit", help="check that mechanisms are as private as they say", description=_DESCRIPTION, epilog=_EXAMPLES
    )
    parser.add_argument("mechanisms", nargs="*", metavar="MECHANISM", help="which to audit (default: all)")
    parser.add_argument("--epsilon", type=number, default=1.0, metavar="E", help="the stated epsilon (default: 1)")
    parser.add_argument(
        "--domain-size", type=whole_number, metavar="J", help="how many values there are (default: a small domain)"
    )
    parser.add_argument(
        "--samples", type=whole_number, metavar="N", help="reports drawn for each value of a pair (default: 20,000)"
    )
    parser.add_argument(
        "--delta",
        type=number,
        default=DEFAULT_DELTA,
        metavar="D",
        help=f"what gaussian, and the printed Gaussian, may leave out (default: {DEFAULT_DELTA:g})",
    )
    parser.add_argument(
        "--published", action="store_true", help="add the paper's printed algorithms, which are never deployed"
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

    from sottovoce.audit import audit
    from sottovoce.audit.page import PUBLISHED_PREFIX, render
    from sottovoce.audit.published import audit_published_gaussian, audit_published_rejection
    from sottovoce.limits import check_integer
    from sottovoce.mechanisms import MECHANISMS
    from sottovoce.mechanisms.channel_registry import CHANNELS
    from sottovoce.mechanisms.vector_registry import VECTOR_MECHANISMS

    deployable = [name for name, kind in VECTOR_MECHANISMS.items() if kind.deployable]
    names = list(dict.fromkeys(arguments.mechanisms)) or [*MECHANISMS, *deployable, *CHANNELS]
    if arguments.samples is not None:
        check_integer("samples", arguments.samples, *SAMPLES)
    settings = {"domain_size": arguments.domain_size, "samples": arguments.samples, "delta": arguments.delta}
    given = {name: setting for name, setting in settings.items() if setting is not None}
    epsilons = GRID if arguments.all else (arguments.epsilon,)
    if arguments.html is not None:
        check_place(arguments.html, "page")
    results: list[AuditResult] = []
    with progress("auditing", len(names) * len(epsilons), "audits") as advance:
        for epsilon in epsilons:
            for name in names:
                results.append(audit(name, epsilon, **given))
                advance(1)
            if arguments.published or arguments.all:
                results += [
                    audit_published_gaussian(epsilon, arguments.delta),
                    audit_published_rejection(epsilon),
                ]
    if arguments.html is not None:
        arguments.html.write_text(render(results), encoding="utf-8")
    if arguments.json:
        print_json({"results": [result.to_dict() for result in results]})
    else:
        for epsilon in epsilons:
            _show([result for result in results if result.epsilon == epsilon], epsilon)
        if arguments.html is not None:
            console().print(f"[bold]{escape(str(arguments.html))}[/]: all of it on one page")
    return 0 if all(result.sound for result in results if not result.mechanism.startswith(PUBLISHED_PREFIX)) else 1


def _show(results: list[AuditResult], epsilon: float) -> None:
    table = titled_table(
        f"audit at stated epsilon {epsilon:g}",
        "exact: the epsilon of the bytes that leave the device; certified: what sampled reports prove, at least",
    )
    table.add_column("mechanism", style="bold", no_wrap=True)
    table.add_column("exact", justify="right", no_wrap=True)
    table.add_column("certified", justify="right", no_wrap=True)
    table.add_column("sound", justify="center", no_wrap=True)
    table.add_column("how")
    for result in results:
        how = result.method if result.sound or not result.witness else f"{result.method}; {result.witness}"
        verdict = "[green]yes[/]" if result.sound else "[bold red]NO[/]"
        exact, certified = f"{result.exact_epsilon:.6f}", f"{result.certified_lower_bound:.3f}"
        table.add_row(result.mechanism, exact, certified, verdict, how)
    console().print(table)
