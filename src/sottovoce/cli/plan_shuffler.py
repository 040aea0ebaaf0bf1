"""`sottovoce plan ... --central-epsilon`: options about the shuffler, and those that publish a survey with a relay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sottovoce.cli.arguments import add_integer, add_number

if TYPE_CHECKING:
    from sottovoce.cli.parser import Parser
    from sottovoce.planning.central import Central

__all__ = ["add_shuffler", "relay_words"]


def add_shuffler(parser: Parser) -> None:
    """The central guarantee to reach, and the smallest batch."""
    group = parser.add_argument_group(
        "with a shuffler that does not collude",
        "--delta is then that of the central guarantee, and --epsilon the largest local epsilon allowed",
    )
    add_number(group, "--central-epsilon", "E", "what the reports of one batch together may reveal of one person")
    add_integer(group, "--least", "N", "people in the smallest batch that is forwarded (default: all of them)")


def relay_words(central: Central) -> list[str]:
    """The options of `survey create` for a relay that holds back as the plan assumes; its address is left open."""
    goal, n = central.goal, central.certificate.n
    return ["--relay", "https://RELAY", "--least", f"{n}", "--central-delta", f"{goal.delta:g}"]
