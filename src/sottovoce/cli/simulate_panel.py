"""`sottovoce simulate panel`: simulated sessions of a panel."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from sottovoce.cli.arguments import Commands, add_epsilon, add_integer, add_json
from sottovoce.cli.output import console, plain, print_json, progress, titled_table
from sottovoce.core.words import plural
from sottovoce.surveys.panel import Panel

if TYPE_CHECKING:
    from sottovoce.lab.simulation.adaptive_error import MeasuredAdaptive

__all__ = ["register"]

STRATEGIES = ("random", "overfit", "quantile", "heavy_hitters")

_DESCRIPTION = """\
Everybody draws one round, once, and answers the question of that round with one bit; a question may depend on all
earlier answers. Measures the largest error over all rounds and compares it with the bound that holds however
questions are chosen: new people answer each of them, so an analyst cannot overfit.
"""

_EXAMPLES = """\
strategies:
  random         questions fixed beforehand; every true answer is 0
  overfit        every second question combines the earlier answers so that their errors add up; it gains
                 nothing, because other people answer it
  quantile       the median of a uniform distribution over 2^D values, by bisection: one question per bit
  heavy_hitters  the ten most common of 2^48 values, by growing prefixes; it chooses the number of rounds

Errors are relative to the distribution that people are drawn from. quantile also reports the rank error, the
distance from one half of the share of people up to the value found, and heavy_hitters the recall, the fraction of
the ten that were found, each with its prediction. "proved" holds however questions are chosen; "expected" follows
from the exact variance.

examples:
  sottovoce simulate panel --rounds 20 --people 1e6 --epsilon 1
  sottovoce simulate panel --rounds 20 --people 1e6 --epsilon 1 --strategy overfit --repeats 20
  sottovoce simulate panel --rounds 16 --people 1e6 --epsilon 1 --strategy quantile --seed 7 --json
  sottovoce simulate panel --people 1e6 --epsilon 2 --strategy heavy_hitters
"""


def register(kinds: Commands) -> None:
    """Add the kind."""
    parser = kinds.add_parser(
        Panel.kind,
        help="questions that depend on earlier answers",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
    )
    add_integer(parser, "--rounds", "D", "number of questions; not for heavy_hitters, which chooses it")
    add_integer(parser, "--people", "N", "number of people", required=True)
    add_epsilon(parser)
    parser.add_argument(
        "--strategy",
        default="random",
        choices=STRATEGIES,
        metavar="S",
        help="strategy of the questions; see below (default: random)",
    )
    add_integer(parser, "--repeats", "R", "number of repetitions", 1)
    add_integer(parser, "--seed", "S", "seed, to repeat a simulation (default: random)")
    add_json(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    with progress("simulating", max(1, arguments.people * arguments.repeats)) as advance:
        result = _measure(arguments, advance)
    if arguments.json:
        print_json(result.to_dict())
    else:
        _show(result)
    return 0


def _measure(arguments: argparse.Namespace, advance: object) -> MeasuredAdaptive:
    from sottovoce.core.errors import SimulationError
    from sottovoce.lab.simulation.adaptive_error import measure_adaptive
    from sottovoce.lab.simulation.strategy_error import measure_heavy_hitters, measure_quantile

    asked, strategy = arguments, arguments.strategy
    settings = {"repeats": asked.repeats, "seed": asked.seed, "progress": advance}
    if strategy == "heavy_hitters":
        if asked.rounds is not None:
            raise SimulationError("heavy_hitters chooses the number of rounds itself; leave --rounds out")
        return measure_heavy_hitters(asked.people, asked.epsilon, **settings)
    if asked.rounds is None:
        raise SimulationError(f"--rounds is missing: {strategy} needs the number of questions, for example 20")
    if strategy == "quantile":
        return measure_quantile(asked.rounds, asked.people, asked.epsilon, **settings)
    return measure_adaptive(asked.rounds, asked.people, asked.epsilon, strategy, **settings)


def _show(result: MeasuredAdaptive) -> None:
    often = "once" if result.repeats == 1 else f"{result.repeats:,} times"
    questions = plural(result.rounds, "round")
    table = titled_table(
        f"{plural(result.people, 'person', 'people')} in {questions} of about {result.people_per_round:,.0f}, "
        f"{result.strategy}, epsilon {result.epsilon:g}: simulated {often}",
        f"seed {result.seed}; everybody answers once, in one round; {result.seconds:.2f} s per simulation",
    )
    table.add_column("error")
    table.add_column("measured", justify="right", style="bold")
    table.add_column("theory", justify="right")
    for row in _rows(result):
        table.add_row(*row)
    console().print(table)


def _rows(result: MeasuredAdaptive) -> list[tuple[str, str, str]]:
    def measured(name: str) -> str:
        spread = result.standard_error
        return _with_spread(getattr(result.mean, name), None if spread is None else getattr(spread, name))

    if result.linf_bound is None or result.linf_predicted is None:
        rows = [("largest of the frequencies found", measured("linf_error"), "")]
    else:
        rows = [
            ("largest of all answers", measured("linf_error"), f"{plain(result.linf_predicted)} expected"),
            ("", "", f"below {plain(result.linf_bound)}, proved"),
        ]
    if result.linf_bound_paper is not None:
        rows.append(("", "", f"below {plain(result.linf_bound_paper)}, Theorem 5.2 as printed"))
    if result.mean.linf_error_people is not None:
        rows.append(("the same, relative to these people's means", measured("linf_error_people"), ""))
    if result.mean.bias is not None:
        rows.append(("bias of questions that overfit", measured("bias"), "0: they gain nothing"))
    if result.outcome is not None:
        value = _with_spread(result.outcome.mean, result.outcome.standard_error)
        rows.append((result.outcome.measure, value, f"{plain(result.outcome.predicted)} expected"))
    return rows


def _with_spread(value: float, spread: float | None) -> str:
    return plain(value) if spread is None else f"{plain(value)} ± {spread:.1g}"
