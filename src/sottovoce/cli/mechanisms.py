"""`sottovoce mechanisms`: what there is to choose from, compared at one size, epsilon and delta."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from sottovoce.cli.arguments import Commands, add_json, number, whole_number
from sottovoce.cli.output import console, print_json, titled_table

if TYPE_CHECKING:
    from sottovoce.mechanisms import FiniteMechanism, VectorMechanism

    AnyMechanism = FiniteMechanism | VectorMechanism

__all__ = ["register"]

_DESCRIPTION = """\
List every mechanism: what it guarantees, what one report is and how long, how large its error is beside the
best one's, and when to use it. The first table is for values that can be
listed (shares, and queries by a histogram), the second for vectors (means, and queries asked directly).
"""

_EXAMPLES = """\
error: expected L2 error of the raw estimate for the worst population, relative to the least of the table. Its
square is how many times more people it takes for the same error (relative_people in --json).

examples:
  sottovoce mechanisms
  sottovoce mechanisms --values 100000 --epsilon 4
  sottovoce mechanisms --dimension 1000 --epsilon 2 --delta 1e-9
  sottovoce mechanisms --json | jq '.mechanisms[].name'
"""

_FINITE: Final = "finite"
_VECTORS: Final = "vector"
_PURE: Final = "pure epsilon-LDP"


def register(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "mechanisms", help="list the mechanisms and compare them", description=_DESCRIPTION, epilog=_EXAMPLES
    )
    parser.add_argument(
        "--values", type=whole_number, default=1024, metavar="J", help="how many values there are (default: 1024)"
    )
    parser.add_argument(
        "--dimension",
        type=whole_number,
        default=256,
        metavar="D",
        help="how many queries or coordinates (default: 256)",
    )
    parser.add_argument(
        "--epsilon", type=number, default=1.0, metavar="E", help="what one report may reveal (default: 1)"
    )
    parser.add_argument(
        "--delta", type=number, default=1e-6, metavar="DELTA", help="for the one that needs it (default: 1e-06)"
    )
    add_json(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from sottovoce.limits import check_delta, check_dimension, check_domain_size, check_epsilon

    domain_size, epsilon = check_domain_size(arguments.values), check_epsilon(arguments.epsilon)
    dimension, delta = check_dimension(arguments.dimension), check_delta(arguments.delta)
    finite, vector = _finite(domain_size, epsilon), _vector(dimension, epsilon, delta)
    if arguments.json:
        stated = {"values": domain_size, "dimension": dimension, "epsilon": epsilon, "delta": delta}
        print_json({**stated, "mechanisms": finite, "vector_mechanisms": vector})
    else:
        _show(finite, f"mechanisms for {domain_size:,} values at epsilon {epsilon:g}, best first")
        _show(vector, f"mechanisms for vectors of {dimension:,} numbers at epsilon {epsilon:g}, best first")
    return 0


def _finite(domain_size: int, epsilon: float) -> list[dict[str, Any]]:
    from sottovoce.errors import MechanismError
    from sottovoce.mechanisms import MECHANISMS

    serving: list[AnyMechanism] = []
    unable: list[dict[str, Any]] = []
    for kind in MECHANISMS.values():
        try:
            serving.append(kind.best(domain_size, epsilon))
        except MechanismError as error:
            unable.append({**_described(kind, _FINITE, _PURE), "serves": False, "reason": str(error)})
    return _compared(serving, _FINITE) + unable


def _vector(dimension: int, epsilon: float, delta: float) -> list[dict[str, Any]]:
    from sottovoce.errors import SurveyError
    from sottovoce.limits import DEFAULT_USERS
    from sottovoce.mechanisms.vector_registry import VECTOR_MECHANISMS

    serving: list[AnyMechanism] = []
    unable: list[dict[str, Any]] = []
    for kind in VECTOR_MECHANISMS.values():
        try:
            serving.append(kind.best(dimension, 1.0, epsilon, delta, DEFAULT_USERS))
        except SurveyError as error:
            guarantee = _guarantee(
                kind.best(1, 1.0, 1.0, delta or 1e-6, DEFAULT_USERS), f"{delta:g}" if delta else "delta"
            )
            unable.append({**_described(kind, _VECTORS, guarantee), "serves": False, "reason": str(error)})
    return _compared(serving, _VECTORS) + unable


def _compared(serving: Sequence[AnyMechanism], family: str) -> list[dict[str, Any]]:
    """One row per mechanism, best first."""
    from sottovoce.mechanisms import FiniteMechanism

    ordered = sorted(serving, key=lambda m: (m.worst_total_variance, m.report_bits))
    least = min((m.worst_total_variance for m in ordered if m.deployable), default=math.nan)
    return [
        {
            **_described(type(mechanism), family, _guarantee(mechanism)),
            "serves": mechanism.deployable,
            "report_bits": mechanism.report_bits,
            "report_bytes": mechanism.report_bytes,
            "worst_total_variance": mechanism.worst_total_variance,
            "relative_error": math.sqrt(mechanism.worst_total_variance / least),
            "relative_people": mechanism.worst_total_variance / least,
            **({} if mechanism.deployable else {"reason": mechanism.use_when}),
            **({"exact_epsilon": mechanism.exact_epsilon} if isinstance(mechanism, FiniteMechanism) else {}),
        }
        for mechanism in ordered
    ]


def _guarantee(mechanism: AnyMechanism, shown: str = "") -> str:
    if not mechanism.deployable:
        return "none on a device"
    delta = getattr(mechanism, "delta", 0.0)
    return f"(epsilon, {shown or f'{delta:g}'})-LDP" if delta else _PURE


def _described(kind: type[AnyMechanism], family: str, guarantee: str) -> dict[str, Any]:
    return {
        "name": kind.name,
        "family": family,
        "guarantee": guarantee,
        "report": kind.summary,
        "use_when": kind.use_when,
    }


def _show(rows: list[dict[str, Any]], title: str) -> None:
    table = titled_table(title, "error: expected L2 error for the worst population, relative to the best mechanism's")
    table.add_column("name", style="bold", no_wrap=True)
    table.add_column("guarantee", no_wrap=True)
    table.add_column("size", justify="right", no_wrap=True)
    table.add_column("error", justify="right", no_wrap=True)
    table.add_column("a report is; use it when")
    for row in rows:
        guarantee, told = row["guarantee"].replace("epsilon", "ε"), row["use_when"]
        size = f"{row['report_bytes']:,} B" if "report_bytes" in row else ""
        error = f"× {row['relative_error']:,.2f}" if "relative_error" in row else ""
        if row["serves"]:
            table.add_row(row["name"], guarantee, size, error, f"{row['report']};\n[dim]{told}[/]")
        else:
            why = told if error else f"cannot serve here: {row['reason']}"
            table.add_row(row["name"], guarantee, size, error, f"{row['report']};\n{why}", style="dim")
    console().print(table)
