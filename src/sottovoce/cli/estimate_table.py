"""The table of an estimate, and the notes below it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sottovoce.cli.connection import shown
from sottovoce.cli.output import plain, titled_table
from sottovoce.core.words import guarantee, plural

if TYPE_CHECKING:
    from rich.console import Group

__all__ = ["estimate_page"]


AT_EVERY_LOOK = (
    "while reports come in: however often you look, the truth is always inside with probability {percent}, if people "
    "come from one population; intervals of a single look are shorter"
)


def estimate_page(result: dict[str, Any], level: float) -> Group:
    """The table, the bound on the error, and the influence of malicious devices."""
    from rich.console import Group

    waiting = f", {result['waiting']:,} waiting" if result.get("waiting") else ""
    more = result["n_answers"] - len(result["answers"])
    table = titled_table(
        f"{shown(result['title']) or result['survey'][:12]}: {plural(result['n_reports'], 'report')}{waiting}; "
        f"{guarantee(result['epsilon'], result['delta'])}, {result['mechanism']}",
        f"{plural(more, 'more answer')}; see --top" if more else "",
    )
    # Wide enough for a title on one line.
    table.add_column("answer", min_width=24)
    unit = f" ({result['unit']})" if result["unit"] else ""
    table.add_column(f"estimate{unit}", justify="right", style="bold")
    table.add_column(f"{100 * level:g} % interval", justify="right")
    beside = any("fixed_low" in answer for answer in result["answers"])
    if beside:
        table.add_column("at one look", justify="right")
    table.add_column("raw", justify="right")
    if "likeliest" in result:
        table.add_column("likeliest", justify="right")
    if "words" in result:
        table.add_column("certain")
    named = result.get("named", ())
    for index, answer in enumerate((*result["answers"], *named)):
        if named and index == len(result["answers"]):
            table.add_section()
            table.add_row("[dim]named by you[/]")
        ends = f"{answer['low']:.4f} to {answer['high']:.4f}"
        last = [f"{answer['likeliest']:.4f}"] if "likeliest" in result else []
        last += ["yes" if answer["certain"] else "no"] if "words" in result else []
        one_look = [f"{answer['fixed_low']:.4f} to {answer['fixed_high']:.4f}" if "fixed_low" in answer else ""]
        cells = [f"{answer['value']:.4f}", ends, *(one_look if beside else []), f"{answer['raw']:.4f}", *last]
        table.add_row(shown(answer["label"]), *cells)
    return Group(table, *_notes(result, level))


def _notes(result: dict[str, Any], level: float) -> list[str]:
    """Notes below the table of answers: sums, errors, and what malicious devices can do."""
    percent = f"{100 * level:g} %"
    lines = [
        f"{shown(' + '.join(part['labels']))}: {_with_ends(part, percent)} ({part['method']})"
        for part in result.get("sums", ())
    ]
    for one in result.get("figures", ()):
        unit = f" {shown(one['unit'])}" if one["unit"] else ""
        lines.append(f"{shown(one['name'])}: {_with_ends(one, percent)}{unit}")
    if result["always"] is not None:
        lines.append(AT_EVERY_LOOK.format(percent=percent))
    words = result.get("words")
    if words is None:
        lines += [
            f"intervals: {result['method']}",
            f"expected L2 error over all answers: at most {plain(result['bound']['l2'])}",
            f"expected L2 error over all raw answers: at most {plain(result['raw_bound']['l2'])}",
        ]
    else:
        lines += [
            f"certain: the probability that any of these words is nobody's is at most "
            f"{100 * words['false_discovery']:.3g} %; about {words['expected_doubtful']:.3g} of the others are "
            "expected by chance",
            f"other, for values that are not words of this survey: {_with_ends(words['other'], percent)}",
            f"intervals: {result['method']}",
        ]
    if "named" in result:
        lines.append(
            "a named word is judged as one that was chosen without looking at the list: for a word that you chose from "
            "the list, quote the interval of the list"
        )
    lines.append(result["influence"]["statement"])
    if "likeliest" in result:
        ended = "" if result["likeliest"]["converged"] else ", not converged"
        lines.append(f"likeliest: within {result['likeliest']['gap']:.2g} of the largest log-likelihood{ended}")
    if words is not None and words["cut"]:
        lines.append("some prefixes were dropped for want of memory: see --most-prefixes")
    return lines


def _with_ends(answer: dict[str, Any], percent: str) -> str:
    return f"{answer['value']:.4f}, {percent} from {answer['low']:.4f} to {answer['high']:.4f}"
