"""`sottovoce audit`: is it private? The exact epsilon of what leaves the device, and a certified lower bound."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from sottovoce.audit import DEFAULT_DELTA
from sottovoce.cli.arguments import Commands, add_json, number, whole_number
from sottovoce.cli.output import console, print_json, progress, titled_table

if TYPE_CHECKING:
    from sottovoce.audit import AuditResult

__all__ = ["register"]

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
    add_json(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from sottovoce.audit import audit
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
    results: list[AuditResult] = []
    with progress("auditing", len(names), "mechanisms") as advance:
        for name in names:
            results.append(audit(name, arguments.epsilon, **given))
            advance(1)
    sound = all(result.sound for result in results)
    if arguments.published:
        results += [
            audit_published_gaussian(arguments.epsilon, arguments.delta),
            audit_published_rejection(arguments.epsilon),
        ]
    if arguments.json:
        print_json({"results": [result.to_dict() for result in results]})
    else:
        _show(results, arguments.epsilon)
    return 0 if sound else 1


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
