"""What `sottovoce demo` prints, part by part."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sottovoce.cli.output import plain, titled_table
from sottovoce.core.words import plural

if TYPE_CHECKING:
    from rich.console import Console

    from sottovoce.device import Ledger
    from sottovoce.estimates.influence import Influence
    from sottovoce.lab.demo.adaptive import AskedQuestion
    from sottovoce.lab.demo.ages import Ages
    from sottovoce.lab.demo.demo import MusicResult, SampleReport
    from sottovoce.lab.demo.forms import FormAnswer
    from sottovoce.lab.demo.habit import Habit
    from sottovoce.lab.demo.service import DemoService
    from sottovoce.lab.demo.shuffled import ShuffledCrowd
    from sottovoce.lab.demo.wire import DemoSurveys, ServiceMetrics
    from sottovoce.lab.fleet import Sent
    from sottovoce.surveys.survey import Survey

__all__ = [
    "show_ages",
    "show_asked",
    "show_estimate",
    "show_forms",
    "show_guarantee",
    "show_habit",
    "show_influence",
    "show_ledger",
    "show_metrics",
    "show_samples",
    "show_sent",
    "show_service",
    "show_shuffled",
]

_AT_LEAST = 62
"""Least width of a narrow table, so that its title stays on one line."""


def show_service(out: Console, service: DemoService, stage: DemoSurveys) -> None:
    """The service and its surveys."""
    from sottovoce.surveys.survey import Survey

    out.print()
    out.print(f"[bold]The collector[/] runs at {service.url} in its own process (pid {service.pid}), with SQLite.")
    out.print(f"[dim]Its signing key has the fingerprint {service.fingerprint[:16]}…; devices pin it.[/]")
    out.print(f"[bold]Its dashboard[/] shows the reports as they arrive: {service.url}/")
    out.print(f"[dim]Sign in with[/] {service.token}", soft_wrap=True)
    epsilon = stage.music.survey.epsilon
    table = titled_table(f"Seven surveys, epsilon {epsilon:g} each; a survey's id is the SHA-256 of its statement")
    table.add_column("survey", no_wrap=True)
    table.add_column("title")
    table.add_column("asks for")
    others = zip(stage.forms, ("the mean of a number", "shares of {} options", "{} cells of tables"), strict=True)
    for live, asks in (
        (stage.music, "shares of {} answers"),
        (stage.ages, "{} queries"),
        (stage.turns, "adaptive questions"),
        *others,
        (stage.habit, "a share, every month"),
    ):
        survey = live.survey
        words = asks.format(survey.n_answers) if isinstance(survey, Survey) else asks
        table.add_row(f"[dim]{survey.id[:12]}[/]", survey.title, words)
    out.print()
    out.print(table)


def show_guarantee(out: Console, survey: Survey) -> None:
    """What epsilon means to a person who answers."""
    out.print()
    out.print(
        f"[bold]The guarantee[/] (epsilon = {survey.epsilon:g}): whatever you answer, any report you send is at most "
        f"{math.exp(survey.epsilon):.2f} times likelier than it would be under any other answer."
    )


def show_samples(out: Console, survey: Survey, samples: tuple[SampleReport, ...]) -> None:
    """What three devices sent."""
    largest = max(sample.largest_ratio for sample in samples)
    table = titled_table(
        f"Three people from operas answer the first survey with {plural(len(samples[0].report), 'byte')} each",
        f"The grey bytes identify the survey. Over all {survey.n_answers} answers, none of these reports is more than "
        f"{largest:.2f} times likelier from one than from another.",
    )
    table.add_column("who", no_wrap=True)
    table.add_column("would love to play", style="bold", no_wrap=True)
    table.add_column("report", no_wrap=True)
    table.add_column("the same report from another answer")
    for sample in samples:
        tag, rest = sample.report[: len(survey.tag)].hex(), sample.report[len(survey.tag) :].hex()
        other = f"{sample.other_answer}: {sample.compared}"
        table.add_row(sample.person, sample.answer, f"[dim]{tag}[/] [cyan]{rest}[/]", other)
    out.print()
    out.print(table)
    out.print()


def show_sent(out: Console, sent: Sent) -> None:
    """How the fleet's reports were collected."""
    out.print(
        f"[bold]{plural(sent.accepted, 'device')}[/] answered over HTTP in {sent.seconds:.1f} s: {sent.singles:,} sent "
        "requests of their own (fetch, verify, draw, record, send), the others came in "
        f"{plural(sent.batches, 'batch', 'batches')}; {sent.rate:,.0f} reports per second, each on disk before it "
        "was acknowledged."
    )
    refused = sum(sent.refused.values())
    if refused:
        reasons = ", ".join(f"{n:,} {code}" for code, n in sent.refused.items())
        out.print(f"[yellow]{refused:,} were refused[/]: {reasons}", markup=True)
    out.print()


def show_estimate(out: Console, demo: MusicResult) -> None:
    """Estimates and the truth."""
    table = titled_table(
        f"Estimate from {plural(demo.people, 'report')}: the twelve most common answers",
        "Per cent of the people. The collector sees the two middle columns; only this simulation knows the truth.",
    )
    table.add_column("answer", style="bold", no_wrap=True)
    for heading in ("truth", "estimate", "95 % interval"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("contains truth", justify="center")
    for row in demo.top(12):
        table.add_row(
            row.answer,
            f"{100 * row.truth:.2f}",
            f"[cyan]{100 * row.value:.2f}[/]",
            f"{100 * row.low:.2f} to {100 * row.high:.2f}",
            _mark(row.hit),
        )
    out.print(table)
    out.print()
    errors, size = demo.errors, demo.survey.n_answers
    out.print(
        f"[bold]{demo.covered} of {size}[/] intervals contain the truth: {100 * demo.covered / size:.1f} % "
        "(nominal: 95 %)."
    )
    out.print(
        f"[bold]Projection[/] removes negative shares and makes the total 100 %: the L2 error falls from "
        f"{plain(errors.l2_raw)} to [bold]{plain(errors.l2_projected)}[/]. Its expectation is proved to be below "
        f"{plain(demo.estimate.bound.value)} (the paper's Theorem 4.2: {plain(demo.l2_bound_paper)})."
    )


def show_influence(out: Console, influence: Influence) -> None:
    """How far malicious devices could have moved the estimate."""
    share = f"{100 * influence.largest:.2f}"
    out.print(
        f"[bold]If {100 * influence.fraction:.3g} % of the devices were malicious[/] ({influence.hostile:,} of them), "
        f"they could move an answer by {'' if influence.exact else 'at most '}{share} percentage points.\n"
    )


def show_ages(out: Console, ages: Ages) -> None:
    """The estimates of the second survey."""
    table = titled_table(
        "How old are they? A hundred questions, one report per person",
        "The age that this share of the people do not exceed.",
    )
    table.min_width = _AT_LEAST
    for heading in ("share", "truth", "estimate"):
        table.add_column(heading, justify="right")
    for row in ages.quantiles:
        table.add_row(f"{100 * row.share:.0f} %", f"up to {row.truth}", f"up to [cyan]{row.estimate}[/]")
    out.print(table)
    out.print(
        f"\n{plural(ages.people, 'device')} sent {plural(ages.report_bytes, 'byte')} each "
        f"({ages.mechanism}) about {ages.n_queries} questions: how many are at most 0, 1, .., 99 years old? The L2 "
        f"error of all answers is [bold]{ages.l2_projected:.3f}[/] ({ages.l2_raw:.3f} before projection); its "
        f"expectation is proved to be below {ages.l2_bound:.3f}.\n"
    )


def show_forms(out: Console, forms: tuple[FormAnswer, ...]) -> None:
    """Answers of the number, the choices and the form."""
    table = titled_table(
        "A number, choices and a form, one report per person",
        f"{plural(forms[0].reports, 'device')} for each survey.",
    )
    table.add_column("survey", style="bold")
    table.add_column("answer")
    for heading in ("truth", "estimate", "95 % interval"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("contains truth", justify="center")
    for form in forms:
        ends = f"{form.low:.1f} to {form.high:.1f} {form.unit}"
        table.add_row(form.title, form.answer, f"{form.truth:.1f}", f"[cyan]{form.value:.1f}[/]", ends, _mark(form.hit))
    out.print(table)
    out.print()


def show_habit(out: Console, habit: Habit) -> None:
    """The curve of the tracking survey."""
    from sottovoce.lab.demo.habit import HABIT, PATH_OPENS

    table = titled_table(
        "A habit over twelve months: who cycled to work?",
        "Per cent of the people. Everybody answers in one month, drawn once. The band holds for all months together.",
    )
    table.add_column("month", style="bold", no_wrap=True)
    for heading in ("answered", "truth", "estimate", "95 % band"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("contains truth", justify="center")
    for month in habit.months:
        ends = f"{100 * month.band_low:.1f} to {100 * month.band_high:.1f}"
        figures = (f"{100 * month.truth:.1f}", f"[cyan]{100 * month.value:.1f}[/]", ends)
        table.add_row(month.label, f"{month.reports:,}", *figures, _mark(month.hit))
    out.print(table)
    drawn = "; ".join(f"{name}'s device answers in {label}" for name, label in habit.drawn)
    out.print(
        f"\n{habit.promise}. {drawn}. The year was simulated without the service.\n[bold]A cycle path opened[/] in "
        f"{habit.months[PATH_OPENS - 1].label}: {100 * habit.change:+.1f} points since the month before, 95 % from "
        f"{100 * habit.change_low:.1f} to {100 * habit.change_high:.1f} (in truth {100 * habit.true_change:+.1f}). "
        f"The trend: {habit.curve.trend(HABIT)}.\n",
        highlight=False,
    )


def show_shuffled(out: Console, crowd: ShuffledCrowd) -> None:
    """Show one question asked at one central guarantee, without and with a shuffler."""
    table = titled_table(
        f"The first question again, by {plural(crowd.people, 'person', 'people')}: without and with a shuffler",
        "Per cent of the people: truth, and estimates with their 95 % intervals.",
    )
    table.add_column("answer", style="bold", no_wrap=True)
    for heading in ("truth", "without", "95 % interval", "with", "95 % interval"):
        table.add_column(heading, justify="right", no_wrap=True)
    for rows in list(zip(*crowd.rows, strict=True))[:6]:
        cells = [
            cell
            for row in rows
            for cell in (f"[cyan]{100 * row.value:.2f}[/]", f"{100 * row.low:.2f} to {100 * row.high:.2f}")
        ]
        table.add_row(rows[0].answer, f"{100 * rows[0].truth:.2f}", *cells)
    out.print(table)
    (without, shuffled), (direct, both) = crowd.errors, crowd.promises
    out.print(
        f"\nWithout: {direct}; L2 error {plain(without.l2_projected)}.\nWith: {both}; L2 error "
        f"[bold]{plain(shuffled.l2_projected)}[/].\n"
    )


def show_asked(out: Console, asked: tuple[AskedQuestion, ...], people: int) -> None:
    """The questions and answers of the third survey."""
    table = titled_table(
        "Adaptive questions: each is chosen after the earlier answers",
        f"Per cent of the people. {plural(people, 'device')}, each in one round, drawn once. The intervals hold "
        "simultaneously, however the questions are chosen.",
    )
    table.add_column("the analyst asks", style="bold")
    for heading in ("answered", "truth", "estimate", "95 % interval"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("contains truth", justify="center")
    for question in asked:
        low, high = f"{100 * question.low:.1f}", f"{100 * question.high:.1f}"
        table.add_row(
            question.words,
            f"{question.reports:,}",
            f"{100 * question.truth:.1f}",
            f"[cyan]{100 * question.value:.1f}[/]",
            f"{low} to {high}",
            _mark(question.hit),
        )
    out.print(table)
    out.print()


def show_ledger(out: Console, owner: str, ledger: Ledger) -> None:
    """The ledger of one person's device."""
    out.print(f"[bold]The ledger of {owner}'s device[/], which only its owner sees:\n")
    for line in str(ledger).splitlines():
        out.print(f"  {line}", markup=False, soft_wrap=True)
    out.print()


def show_metrics(out: Console, figures: ServiceMetrics, resent: int) -> None:
    """The service's own metrics."""
    table = titled_table("The service's own metrics (/metrics)")
    table.add_column("")
    table.add_column("", justify="right", style="bold")
    mean = 1000 * figures.commit_seconds / max(1, figures.commits)
    for what, figure in (
        ("reports acknowledged, each durable first", f"{figures.accepted:,}"),
        ("sent twice on purpose, as after a lost acknowledgement", f"{resent:,}"),
        ("acknowledged again, not counted again", f"{figures.duplicates:,}"),
        ("reports counted, each exactly once", f"{figures.counted:,}"),
        ("requests refused: the round was closed", f"{figures.refused.get('survey_sealed', 0):,}"),
        ("transactions", f"{figures.commits:,} of {mean:.1f} ms"),
    ):
        table.add_row(what, figure)
    table.show_header = False
    out.print(table)
    out.print()


def _mark(hit: bool) -> str:
    return "[green]✓[/]" if hit else "[red]✗[/]"
