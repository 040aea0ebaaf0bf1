"""`sottovoce simulate`: measure the error on simulated people before asking real ones."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from sottovoce.cli import simulate_adaptive, simulate_fleet, simulate_offline
from sottovoce.cli.arguments import Commands, add_json, add_kind, number, whole_number
from sottovoce.cli.output import console, plain, print_json, progress, titled_table

if TYPE_CHECKING:
    from sottovoce.experiments.distribution_error import MeasuredError

__all__ = ["register"]

_SUMMARY = "measure errors on simulated people"

_DESCRIPTION = """\
Draw people from a true distribution, let each whisper one report, estimate the distribution from the
reports, and measure how far off it is: raw (unbiased) and projected (the nearest distribution), beside
the bound that is proved. Memory does not grow with the number of people.
"""

_ALL_EXAMPLES = """\
examples:
  sottovoce simulate distribution --domain-size 1024 --users 1e6 --epsilon 1
  sottovoce simulate queries --workload prefix:1024 --users 1e5 --epsilon 1
  sottovoce simulate mean --dimension 200 --users 1e5 --epsilon 1
  sottovoce simulate adaptive --rounds 20 --users 1e6 --epsilon 1
  sottovoce simulate fleet --url http://127.0.0.1:8470 --survey Colours --users 1e5
"""

_EXAMPLES = """\
distributions:
  zipf        value v has a share proportional to 1/(v+1)
  uniform     all values alike
  geometric   proportional to 0.95^v
  words, cities, surnames
              real ones, the most common first (pip install 'sottovoce[data]')
  FILE        one non-negative number a value, summing to one: text or CSV without a heading, or a .npy array

examples:
  sottovoce simulate distribution --domain-size 1024 --users 1e6 --epsilon 1
  sottovoce simulate distribution --domain-size 1024 --users 20_000 --epsilon 1 --mechanism hadamard --repeats 20
  sottovoce simulate distribution --domain-size 50 --users 1e5 --epsilon 0.5 --distribution shares.csv --seed 7 --json
"""


def register(commands: Commands) -> None:
    """Add the command."""
    kinds = add_kind(commands, "simulate", _SUMMARY, _ALL_EXAMPLES)
    parser = kinds.add_parser(
        "distribution", help="how people are distributed over values", description=_DESCRIPTION, epilog=_EXAMPLES
    )
    parser.add_argument(
        "--domain-size", type=whole_number, required=True, metavar="J", help="how many values there are"
    )
    parser.add_argument("--users", type=whole_number, required=True, metavar="N", help="how many people answer")
    parser.add_argument("--epsilon", type=number, required=True, metavar="E", help="what one report may reveal")
    parser.add_argument("--mechanism", default="auto", metavar="M", help="see 'sottovoce mechanisms' (default: auto)")
    parser.add_argument("--distribution", default="zipf", metavar="D", help="see below (default: zipf)")
    parser.add_argument(
        "--repeats", type=whole_number, default=1, metavar="R", help="do it again so often (default: 1)"
    )
    parser.add_argument(
        "--seed", type=whole_number, metavar="S", help="for the same people again (default: a fresh one)"
    )
    add_json(parser)
    parser.set_defaults(run=_run)
    simulate_offline.register(kinds)
    simulate_adaptive.register(kinds)
    simulate_fleet.register(kinds)


def _run(arguments: argparse.Namespace) -> int:
    from sottovoce.experiments.distribution_error import measure

    with progress("simulating", max(1, arguments.users * arguments.repeats)) as advance:
        found = measure(
            arguments.domain_size,
            arguments.users,
            arguments.epsilon,
            arguments.mechanism,
            arguments.distribution,
            repeats=arguments.repeats,
            seed=arguments.seed,
            progress=advance,
        )
    if arguments.json:
        print_json(found.to_dict())
    else:
        _show(found)
    return 0


def _show(found: MeasuredError) -> None:
    from rich.markup import escape

    spread = found.standard_error
    often = "once" if found.repeats == 1 else f"{found.repeats:,} times"
    table = titled_table(
        f"{found.users:,} people over {found.domain_size:,} values ({escape(found.distribution)}), epsilon "
        f"{found.epsilon:g}, {found.mechanism}: simulated {often}",
        f"seed {found.seed}; {found.report_bits:,} bits ({found.report_bytes:,} bytes) a report; "
        f"{found.seconds:.2f} s a simulation",
    )
    table.add_column("error")
    table.add_column("measured", justify="right", style="bold")
    table.add_column("what theory says", justify="right")

    def measured(name: str) -> str:
        value = plain(getattr(found.mean, name))
        return value if spread is None else f"{value} ± {getattr(spread, name):.1g}"

    table.add_row("L2, raw", measured("l2_raw"), f"{plain(found.l2_raw_predicted)} root mean square, exact")
    table.add_row("L2, projected", measured("l2_projected"), f"below {plain(found.l2_bound)}, proved")
    table.add_row("", "", f"below {plain(found.l2_bound_paper)}, Theorem 4.2 (Hadamard)")
    table.add_row("largest, raw", measured("linf_raw"), "")
    table.add_row("largest, projected", measured("linf_projected"), "")
    console().print(table)
