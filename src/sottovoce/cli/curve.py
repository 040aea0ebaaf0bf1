"""A curve of a tracking survey, estimated or simulated: as a table, in words, as JSON and as a picture."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any, Final

from sottovoce.cli.arguments import refuse_options
from sottovoce.cli.connection import shown
from sottovoce.cli.estimate_groups import chosen_option, deliver, wants_groups, write_tables
from sottovoce.cli.output import console, print_json, titled_table, written_files
from sottovoce.core.words import plural

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table

    from sottovoce.analyst.live import LiveSurvey
    from sottovoce.cli.parser import Parser
    from sottovoce.estimates.curve import Curve
    from sottovoce.formats.sharded import ShardedAggregate

__all__ = [
    "add_curve",
    "curve_answers",
    "curve_of_files",
    "curve_page",
    "deliver_curve",
    "draw_curve",
    "refuse_curve_options",
    "watch_curve",
]

_ANSWERS: Final = 4
"""Number of answers shown if none is named."""


def add_curve(parser: Parser) -> None:
    """Options for the answer of a tracking survey that is followed."""
    group = parser.add_argument_group("tracking surveys")
    group.add_argument(
        "--answer", metavar="LABEL", help=f"the answer to follow (default: the only one, or a table of {_ANSWERS})"
    )
    group.add_argument(
        "--smooth", action="store_true", help="also a smoothed curve, under an assumption that is printed with it"
    )


def refuse_curve_options(arguments: argparse.Namespace) -> None:
    """A survey that is asked once has no curve."""
    refuse_options(arguments, "is for tracking surveys; this survey is asked once: leave it out", "answer", "smooth")


def curve_of_files(totals: dict[str, ShardedAggregate]) -> Curve:
    """The curve of the periods, or of their groups, that files hold; all must be of one tracking survey."""
    from sottovoce.core.errors import MismatchError

    tracked = {total.survey.tracked.id: total.survey.tracked for total in totals.values() if total.survey.tracked}
    if len(tracked) > 1:
        raise MismatchError(f"the files are periods of {len(tracked)} tracking surveys; give those of one")
    (tracking,) = tracked.values()
    counted: dict[int, Any] = {}
    for total in totals.values():
        period, group = total.survey.period, total.survey.group
        if period is None:
            continue
        if group is not None:
            counted.setdefault(period.number, {})
        if period.number in counted and (group is None) == isinstance(counted[period.number], dict):
            raise MismatchError(f"the files hold {period.label} both whole and by group; give one of them")
        if group is None:
            counted[period.number] = total.aggregate()
        else:
            counted[period.number][group] = total.aggregate()
    return tracking.estimate(counted)


def watch_curve(arguments: argparse.Namespace, live: LiveSurvey) -> None:
    """A curve now, and one more whenever a period closes."""
    for curve in live.watch_curve():
        deliver_curve(arguments, curve)
        sys.stdout.flush()


def deliver_curve(arguments: argparse.Namespace, curve: Curve) -> None:
    """The curve as the options ask for it."""
    if wants_groups(arguments):
        deliver_group_curves(arguments, curve)
        return
    draw_curve(arguments, curve)
    if arguments.csv is not None:
        curve.to_csv(arguments.csv, arguments.answer, arguments.level)
    if arguments.parquet is not None:
        curve.to_parquet(arguments.parquet, arguments.answer, arguments.level)
    if not arguments.json:
        answers, always = curve_answers(arguments, curve), not arguments.fixed
        console().print(curve_page(curve, answers, arguments.level, smooth=arguments.smooth, always=always))
        return
    print_json(_result(arguments, curve), one_line=arguments.watch)


def deliver_group_curves(arguments: argparse.Namespace, curve: Curve) -> None:
    """The curves of groups, or two of them compared in every period."""
    from sottovoce.estimates.comparing import compare
    from sottovoce.estimates.table_files import stacked, write_csv, write_parquet
    from sottovoce.figures.style import save_figure
    from sottovoce.surveys.groups import typed_group

    level = arguments.level
    if chosen_option(arguments) == "compare":
        refuse_options(arguments, "is for curves, and not for their difference: leave it out", "smooth")
        names = None if arguments.answer is None else [arguments.answer]
        looks = False if arguments.fixed else None
        found = compare(curve, *map(typed_group, arguments.compare), answers=names, level=level, always=looks)
        write_tables(arguments, found)
        if arguments.picture is not None:
            save_figure(found.plot(), arguments.picture)
        deliver(arguments, str(found), found.to_dict())
        return
    refuse_options(arguments, "draws one curve, or with --compare two and their difference: leave it out", "picture")
    curves = curve.by(arguments.by)
    tables = {value: own.as_table(arguments.answer, level) for value, own in curves.items()}
    table = stacked(tables, "group", {"survey": curve.tracking.id, "by": arguments.by})
    if arguments.csv is not None:
        write_csv(table, arguments.csv)
    if arguments.parquet is not None:
        write_parquet(table, arguments.parquet)
    if arguments.json:
        groups = {value: _result(arguments, own)["curves"] for value, own in curves.items()}
        about = {"survey": curve.tracking.id, "title": curve.tracking.title, "kind": "tracking", "by": arguments.by}
        print_json({**about, "groups": groups, **written_files(arguments)}, one_line=arguments.watch)
        return
    for value, own in curves.items():
        console().print(f"{arguments.by} {value}", markup=False, highlight=False)
        answers, always = curve_answers(arguments, own), not arguments.fixed
        console().print(curve_page(own, answers, level, smooth=arguments.smooth, always=always))


def draw_curve(arguments: argparse.Namespace, curve: Curve) -> None:
    """The picture, if one is asked for; of the first answer that is shown."""
    if arguments.picture is None:
        return
    from sottovoce.estimates.trend import MIN_PERIODS
    from sottovoce.figures.style import save_figure

    answer = curve_answers(arguments, curve)[0]
    smooth = arguments.smooth and len(curve.closed) >= MIN_PERIODS
    save_figure(curve.plot(answer, arguments.level, smooth=smooth).figure, arguments.picture)


def _result(arguments: argparse.Namespace, curve: Curve) -> dict[str, Any]:
    tracking = curve.tracking
    answers, always = curve_answers(arguments, curve), not arguments.fixed
    curves = [curve.to_dict(answer, arguments.level, arguments.smooth, always) for answer in answers]
    about = {"survey": tracking.id, "title": tracking.title, "kind": "tracking"}
    return {**about, "curves": curves, **written_files(arguments)}


def curve_answers(arguments: argparse.Namespace, curve: Curve) -> list[str | None]:
    """The named answer; the only one; or the first few."""
    if arguments.answer is not None:
        return [arguments.answer]
    # None is refused with what can be named, if no word was found.
    return curve.first_answers(_ANSWERS) or [None]


def curve_page(
    curve: Curve, answers: list[str | None], level: float, *, smooth: bool, truth: Any = None, always: bool = True
) -> Group:
    """One row per period: all figures of one answer, or the values of several.

    `truth` gives the true value of an answer by its name and the number of a period, where people are simulated.
    """
    from rich.console import Group

    curves = [curve.to_dict(answer, level, smooth, always) for answer in answers]
    first = curves[0]
    reports = sum(point["n_reports"] for point in first["points"])
    title = (
        f"{shown(first['title']) or first['survey'][:12]}: {plural(reports, 'report')} in "
        f"{plural(len(first['points']), 'period')}"
    )
    lines = [curve.tracking.promise, f"intervals: {first['method']}"]
    if first["always"] is not None:
        lines.append("open period: its interval holds however often you look, and is shorter once the period is closed")
    if len(curves) > 1:
        more = curve.tracking.question.n_answers - len(curves)
        others = f"{plural(more, 'more answer')}; " if more > 0 else ""
        return Group(_several(title, f"{others}follow one with --answer, for its band and trend", curves), *lines)
    lines.insert(0, _trend_words(curve, answers[0], first, level))
    if first["smooth"] is not None:
        lines.append(f"smoothed: {first['smooth']['assumption']}")
    elif smooth:
        lines.append("smoothed: after three closed periods with reports")
    return Group(
        _single(f"{title}: {shown(first['answer'])}", first, truth, curve.tracking.question.truth_text), *lines
    )


def _trend_words(curve: Curve, answer: str | None, fields: dict[str, Any], level: float) -> str:
    if fields["trend"] is None:
        return "trend: after three closed periods with reports"
    return f"trend: {curve.trend(answer, level)}"


def _single(title: str, fields: dict[str, Any], truth: Any, truth_text: str) -> Table:
    table = titled_table(
        title,
        f"band: holds for all closed periods together; in {fields['unit']}"
        if fields["unit"]
        else "band: holds for all closed periods together",
    )
    level = f"{100 * fields['level']:g} %"
    table.add_column("period", min_width=20)
    table.add_column("reports", justify="right")
    if truth is not None:
        table.add_column(truth_text, justify="right")
    table.add_column("estimate", justify="right", style="bold")
    for heading in (f"{level} interval", f"{level} band"):
        table.add_column(heading, justify="right", no_wrap=True)
    smooth = {} if fields["smooth"] is None else {point["period"]: point for point in fields["smooth"]["points"]}
    if smooth:
        table.add_column("smoothed", justify="right")
    for point in fields["points"]:
        cells = [_named(point), f"{point['n_reports']:,}"]
        cells += [] if truth is None else [f"{truth(fields['answer'], point['period']):.4f}"]
        cells += [
            _figure(point["value"]),
            _ends(point["low"], point["high"]),
            _ends(point["band_low"], point["band_high"]),
        ]
        cells += [_figure(smooth[point["period"]]["value"]) if point["period"] in smooth else ""] if smooth else []
        table.add_row(*cells)
    return table


def _several(title: str, caption: str, curves: list[dict[str, Any]]) -> Table:
    table = titled_table(title, caption)
    table.add_column("period", min_width=20)
    table.add_column("reports", justify="right")
    for column in curves:
        table.add_column(shown(column["answer"]), justify="right")
    for at, point in enumerate(curves[0]["points"]):
        values = [_figure(column["points"][at]["value"]) for column in curves]
        table.add_row(_named(point), f"{point['n_reports']:,}", *values)
    return table


def _named(point: dict[str, Any]) -> str:
    return f"{point['label']}{' (open)' if point['state'] == 'open' else ''}"


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def _ends(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"{low:.4f} to {high:.4f}"
