"""`sottovoce mechanisms`: what there is to choose from, compared at one domain size and epsilon."""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING, Any

from sottovoce.cli.arguments import Commands, add_json, number, whole_number
from sottovoce.cli.output import console, print_json, titled_table

if TYPE_CHECKING:
    from sottovoce.mechanisms import FiniteMechanism

__all__ = ["register"]

_DESCRIPTION = """\
List every mechanism a survey can use: what it guarantees, what one report is and how long, how large its
error is beside the best one's, and when to use it.
"""

_EXAMPLES = """\
error: expected L2 error of the raw estimate for the worst distribution, relative to the least of them. Its
square is how many times more people it takes for the same error (relative_people in --json).

examples:
  sottovoce mechanisms
  sottovoce mechanisms --domain-size 100000 --epsilon 4
  sottovoce mechanisms --json | jq '.mechanisms[].name'
"""

_GUARANTEE = "pure epsilon-LDP"


def register(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "mechanisms", help="list the mechanisms and compare them", description=_DESCRIPTION, epilog=_EXAMPLES
    )
    parser.add_argument(
        "--domain-size", type=whole_number, default=1024, metavar="J", help="how many values there are (default: 1024)"
    )
    parser.add_argument(
        "--epsilon", type=number, default=1.0, metavar="E", help="what one report may reveal (default: 1)"
    )
    add_json(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from sottovoce.limits import check_domain_size, check_epsilon

    domain_size, epsilon = check_domain_size(arguments.domain_size), check_epsilon(arguments.epsilon)
    rows = _compare(domain_size, epsilon)
    if arguments.json:
        print_json({"domain_size": domain_size, "epsilon": epsilon, "mechanisms": rows})
    else:
        _show(rows, domain_size, epsilon)
    return 0


def _compare(domain_size: int, epsilon: float) -> list[dict[str, Any]]:
    """One row a mechanism, best first; those that cannot serve this domain come last, with the reason."""
    from sottovoce.errors import MechanismError
    from sottovoce.mechanisms import MECHANISMS, create

    serving: list[FiniteMechanism] = []
    unable: list[dict[str, Any]] = []
    for name, kind in MECHANISMS.items():
        try:
            serving.append(create(name, domain_size, epsilon))
        except MechanismError as error:
            unable.append({**_described(kind), "serves": False, "reason": str(error)})
    serving.sort(key=lambda m: (m.worst_total_variance, m.report_bits))
    least = serving[0].worst_total_variance if serving else math.nan
    rows = [
        {
            **_described(type(mechanism)),
            "serves": True,
            "report_bits": mechanism.report_bits,
            "report_bytes": mechanism.report_bytes,
            "worst_total_variance": mechanism.worst_total_variance,
            "relative_error": math.sqrt(mechanism.worst_total_variance / least),
            "relative_people": mechanism.worst_total_variance / least,
            "exact_epsilon": mechanism.exact_epsilon,
        }
        for mechanism in serving
    ]
    return rows + unable


def _described(kind: type[FiniteMechanism]) -> dict[str, Any]:
    return {"name": kind.name, "guarantee": _GUARANTEE, "report": kind.summary, "use_when": kind.use_when}


def _show(rows: list[dict[str, Any]], domain_size: int, epsilon: float) -> None:
    table = titled_table(
        f"mechanisms over {domain_size:,} values at epsilon {epsilon:g}, best first",
        "error: expected L2 error for the worst distribution, relative to the best mechanism's",
    )
    table.add_column("name", style="bold", no_wrap=True)
    table.add_column("guarantee", no_wrap=True)
    table.add_column("size", justify="right", no_wrap=True)
    table.add_column("error", justify="right", no_wrap=True)
    table.add_column("a report is; use it when")
    for row in rows:
        guarantee = row["guarantee"].replace("epsilon", "ε")
        if row["serves"]:
            size, error = f"{row['report_bytes']:,} B", f"× {row['relative_error']:,.2f}"
            table.add_row(row["name"], guarantee, size, error, f"{row['report']};\n[dim]{row['use_when']}[/]")
        else:
            table.add_row(row["name"], guarantee, "", "", f"{row['report']};\ncannot serve this domain", style="dim")
    console().print(table)
