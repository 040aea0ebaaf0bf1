"""`sottovoce mechanisms`: all mechanisms, compared at one size, epsilon and delta."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from rich.markup import escape

from sottovoce.cli.arguments import add_integer, add_json, add_number
from sottovoce.cli.output import console, print_json, titled_table
from sottovoce.core.words import plural

if TYPE_CHECKING:
    from sottovoce.cli.parser import Parser
    from sottovoce.mechanisms import FiniteMechanism, VectorMechanism

    AnyMechanism = FiniteMechanism | VectorMechanism

__all__ = ["register"]

_DESCRIPTION = """\
List every mechanism: its guarantee, its report and the size of it, its error relative to the best, and when to use
it. The first table is for finite domains (shares, and queries by a histogram), the second for vectors (means, and
queries asked directly).
"""

_EXAMPLES = """\
error: expected L2 error of the raw estimate for the worst population, relative to the best of the table. Its square
is the factor in people for the same error (relative_people in --json).

examples:
  sottovoce mechanisms
  sottovoce mechanisms --values 100000 --epsilon 4
  sottovoce mechanisms --dimension 1000 --epsilon 2 --delta 1e-9
  sottovoce mechanisms --json | jq '.mechanisms[].name'
"""

_FINITE: Final = "finite"
_VECTORS: Final = "vector"
_PURE: Final = "pure epsilon-LDP"
_NOT_ESTABLISHED: Final = "not established"
"""Guarantee of a mechanism of another package that fails its battery, or does not serve this size."""


def register(parser: Parser) -> None:
    """Describe the command and add its options."""
    parser.description, parser.epilog = _DESCRIPTION, _EXAMPLES
    add_integer(parser, "--values", "J", "number of values", 1024)
    add_integer(parser, "--dimension", "D", "number of queries or coordinates", 256)
    add_number(parser, "--epsilon", "E", "privacy loss of one report", 1.0)
    add_number(parser, "--delta", "DELTA", "delta of the gaussian mechanism", 1e-6)
    add_json(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from sottovoce.core.limits import check_delta, check_dimension, check_domain_size, check_epsilon

    domain_size, epsilon = check_domain_size(arguments.values), check_epsilon(arguments.epsilon)
    dimension, delta = check_dimension(arguments.dimension), check_delta(arguments.delta)
    finite, vector = _finite(domain_size, epsilon), _vector(dimension, epsilon, delta)
    if arguments.json:
        stated = {"values": domain_size, "dimension": dimension, "epsilon": epsilon, "delta": delta}
        print_json({**stated, "mechanisms": finite, "vector_mechanisms": vector})
    else:
        _show(finite, f"mechanisms for {plural(domain_size, 'value')} at epsilon {epsilon:g}, best first")
        _show(vector, f"mechanisms for vectors of {plural(dimension, 'number')} at epsilon {epsilon:g}, best first")
    return 0


def _finite(domain_size: int, epsilon: float) -> list[dict[str, Any]]:
    from sottovoce.core.errors import SurveyError
    from sottovoce.mechanisms import FiniteMechanism, serving
    from sottovoce.mechanisms.registry import REGISTRY

    able: list[AnyMechanism] = []
    unable: list[dict[str, Any]] = []
    others = [kind for kind in REGISTRY.others().values() if issubclass(kind, FiniteMechanism)]
    for kind in (*serving(FiniteMechanism).values(), *others):
        try:
            able.append(
                _admitted(kind, domain_size, epsilon) if REGISTRY.is_foreign(kind) else kind.best(domain_size, epsilon)
            )
        except SurveyError as error:
            guarantee = _NOT_ESTABLISHED if REGISTRY.is_foreign(kind) else _PURE
            unable.append({**_described(kind, _FINITE, guarantee), "serves": False, "reason": str(error)})
    return _compared(able, _FINITE) + unable


def _admitted(kind: type[FiniteMechanism], domain_size: int, epsilon: float) -> FiniteMechanism:
    """The best one of another package; raises `MechanismError` unless a survey may use it."""
    from sottovoce.auditing.conformance import admit, admit_class
    from sottovoce.core.errors import MechanismError, SottovoceError

    admit_class(kind)
    try:
        mechanism = kind.best(domain_size, epsilon)
        admit(mechanism)
    except SottovoceError:
        raise
    except Exception as error:
        raise MechanismError(f"its code raises {type(error).__name__}: {error}") from error
    return mechanism


def _vector(dimension: int, epsilon: float, delta: float) -> list[dict[str, Any]]:
    from sottovoce.core.errors import SurveyError
    from sottovoce.core.limits import DEFAULT_PEOPLE
    from sottovoce.mechanisms import VectorMechanism, serving

    able: list[AnyMechanism] = []
    unable: list[dict[str, Any]] = []
    for kind in serving(VectorMechanism).values():
        try:
            able.append(kind.best(dimension, 1.0, epsilon, delta, DEFAULT_PEOPLE))
        except SurveyError as error:
            guarantee = _guarantee(
                kind.best(1, 1.0, 1.0, delta or 1e-6, DEFAULT_PEOPLE), f"{delta:g}" if delta else "delta"
            )
            unable.append({**_described(kind, _VECTORS, guarantee), "serves": False, "reason": str(error)})
    return _compared(able, _VECTORS) + unable


def _compared(able: Sequence[AnyMechanism], family: str) -> list[dict[str, Any]]:
    """One row per mechanism, best first."""
    from sottovoce.mechanisms import FiniteMechanism

    ordered = sorted(able, key=lambda m: (m.worst_total_variance, m.report_bits))
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
        "package": kind.__module__.partition(".")[0],
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
    table.add_column("report; when to use it")
    for row in rows:
        guarantee, use_when = row["guarantee"].replace("epsilon", "ε"), row["use_when"]
        origin = "" if row["package"] == "sottovoce" else f"from the package {row['package']}: "
        report = escape(f"{origin}{row['report']}")
        size = f"{row['report_bytes']:,} B" if "report_bytes" in row else ""
        error = f"× {row['relative_error']:,.2f}" if "relative_error" in row else ""
        if row["serves"]:
            table.add_row(row["name"], guarantee, size, error, f"{report};\n[dim]{escape(use_when)}[/]")
        else:
            why = use_when if error else f"not available here: {row['reason']}"
            table.add_row(row["name"], guarantee, size, error, f"{report};\n{escape(why)}", style="dim")
    console().print(table)
