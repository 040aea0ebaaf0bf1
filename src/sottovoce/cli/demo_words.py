"""What `sottovoce demo` says on the terminal, part by part."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sottovoce.cli.output import plain, titled_table
from sottovoce.plural import counted

if TYPE_CHECKING:
    from rich.console import Console

    from sottovoce.client import Ledger
    from sottovoce.experiments.demo import Demo, Whisper
    from sottovoce.experiments.demo_adaptive import Asked
    from sottovoce.experiments.demo_ages import Ages
    from sottovoce.experiments.demo_service import Service
    from sottovoce.experiments.demo_wire import Figures, Stage
    from sottovoce.fleet import Sent
    from sottovoce.surveys.influence import Influence
    from sottovoce.surveys.survey import Survey

__all__ = [
    "show_ages",
    "show_asked",
    "show_estimate",
    "show_figures",
    "show_hostile",
    "show_ledger",
    "show_promise",
    "show_sent",
    "show_service",
    "show_whispers",
]

_AT_LEAST = 62
"""Signs that a narrow table is wide, so that its title stays in one line."""


def show_service(out: Console, service: Service, stage: Stage) -> None:
    """The service, and what it asks."""
    from sottovoce.surveys.panel import Panel

    out.print()
    out.print(f"[bold]A collector[/] is up at {service.url}, a process of its own (pid {service.pid}) with SQLite.")
    out.print(f"[dim]It signs with the key {service.fingerprint[:16]}…; devices pin it.[/]")
    out.print(f"[bold]Its dashboard[/] fills as you watch: {service.url}/")
    out.print(f"[dim]Sign in with[/] {service.token}", soft_wrap=True)
    epsilon = stage.music.survey.epsilon
    table = titled_table(f"Three surveys, epsilon {epsilon:g} each; a survey's id is the SHA-256 of its own words")
    table.add_column("survey", no_wrap=True)
    table.add_column("title")
    table.add_column("asks for")
    for live, asks in ((stage.music, "shares of {} answers"), (stage.ages, "{} counts at once"), (stage.turns, "")):
        survey = live.survey
        words = "what is not known yet" if isinstance(survey, Panel) else asks.format(survey.n_answers)
        table.add_row(f"[dim]{survey.id[:12]}[/]", survey.title, words)
    out.print()
    out.print(table)


def show_promise(out: Console, survey: Survey) -> None:
    """What epsilon means to somebody who answers."""
    out.print()
    out.print(
        f"[bold]The promise[/] (epsilon = {survey.epsilon:g}): whatever you answer, any report you send is at most "
        f"{math.exp(survey.epsilon):.2f} times likelier than it would be under any other answer."
    )


def show_whispers(out: Console, survey: Survey, heard: tuple[Whisper, ...]) -> None:
    """What three devices have sent."""
    largest = max(whisper.largest_ratio for whisper in heard)
    table = titled_table(
        f"Three people from operas answer the first, {len(heard[0].report)} bytes each",
        f"The grey bytes name the survey. Over all {survey.n_answers} answers, none of these reports is more than "
        f"{largest:.2f} times likelier from one than from another.",
    )
    table.add_column("who", no_wrap=True)
    table.add_column("would love to play", style="bold", no_wrap=True)
    table.add_column("sends", no_wrap=True)
    table.add_column("the same report from another answer")
    for whisper in heard:
        tag, rest = whisper.report[: len(survey.tag)].hex(), whisper.report[len(survey.tag) :].hex()
        other = f"{whisper.other_answer}: {whisper.compared}"
        table.add_row(whisper.person, whisper.answer, f"[dim]{tag}[/] [cyan]{rest}[/]", other)
    out.print()
    out.print(table)
    out.print()


def show_sent(out: Console, sent: Sent) -> None:
    """How the fleet's reports arrived."""
    out.print(
        f"[bold]{sent.accepted:,} devices[/] have answered over HTTP in {sent.seconds:.1f} s: {sent.singles:,} one by "
        "one (fetch, verify, draw, record, send), the others in "
        f"{counted(sent.batches, 'batch', 'batches')} of relays; {sent.rate:,.0f} reports a second, each on disk "
        "before it was acknowledged."
    )
    refused = sum(sent.refused.values())
    if refused:
        reasons = ", ".join(f"{n:,} {code}" for code, n in sent.refused.items())
        out.print(f"[yellow]{refused:,} were refused[/]: {reasons}", markup=True)
    out.print()


def show_estimate(out: Console, demo: Demo) -> None:
    """Estimates beside the truth."""
    table = titled_table(
        f"What {demo.users:,} whispers say: the twelve answers given most",
        "Per cent of the people. The collector sees the two middle columns; only this simulation knows the truth.",
    )
    table.add_column("answer", style="bold", no_wrap=True)
    for heading in ("truth", "estimate", "95 % interval"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("holds", justify="center")
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
        f"[bold]{demo.covered} of {size}[/] intervals hold the truth: {100 * demo.covered / size:.1f} %; "
        "95 % were promised."
    )
    out.print(
        f"[bold]Projecting[/] on what can be a distribution at all took the L2 error from {plain(errors.l2_raw)} to "
        f"[bold]{plain(errors.l2_projected)}[/], for free. Proved: below {plain(demo.estimate.bound.value)} on average "
        f"(the paper's Theorem 4.2: {plain(demo.l2_bound_paper)})."
    )


def show_hostile(out: Console, influence: Influence) -> None:
    """What liars could have done to it."""
    share = f"{100 * influence.largest:.2f}"
    out.print(
        f"[bold]Were {100 * influence.fraction:.3g} % of the devices hostile[/], {influence.hostile:,} of them, they "
        f"could move an answer by {'' if influence.exact else 'at most '}{share} percentage points; no lie moves one "
        "further.\n"
    )


def show_ages(out: Console, ages: Ages) -> None:
    """The second survey."""
    table = titled_table(
        "How old are they? A hundred questions, one whisper each", "The age up to which that share of the people are."
    )
    table.min_width = _AT_LEAST
    for heading in ("share", "truth", "estimate"):
        table.add_column(heading, justify="right")
    for row in ages.quantiles:
        table.add_row(f"{100 * row.share:.0f} %", f"up to {row.truth}", f"up to [cyan]{row.estimate}[/]")
    out.print(table)
    out.print(
        f"\n{ages.users:,} devices sent {ages.report_bytes} byte{'s' * (ages.report_bytes > 1)} each "
        f"({ages.mechanism}) about {ages.n_queries} questions: how many are at most 0, 1, .., 99 years old? The L2 "
        f"error of all answers together is [bold]{ages.l2_projected:.3f}[/], and {ages.l2_raw:.3f} before projecting "
        f"them on what any population could answer (proved on average: below {ages.l2_bound:.3f}).\n"
    )


def show_asked(out: Console, asked: tuple[Asked, ...], users: int) -> None:
    """The third survey."""
    table = titled_table(
        "One question after another, each chosen after the answers before it",
        f"Per cent of the people. {users:,} devices, each in one round, drawn once and for life. The intervals hold "
        "together, however the questions were chosen.",
    )
    table.add_column("the analyst asks", style="bold")
    for heading in ("answered", "truth", "estimate", "95 % interval"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("holds", justify="center")
    for one in asked:
        low, high = f"{100 * one.low:.1f}", f"{100 * one.high:.1f}"
        table.add_row(
            one.words,
            f"{one.reports:,}",
            f"{100 * one.truth:.1f}",
            f"[cyan]{100 * one.value:.1f}[/]",
            f"{low} to {high}",
            _mark(one.hit),
        )
    out.print(table)
    out.print()


def show_ledger(out: Console, owner: str, ledger: Ledger) -> None:
    """What one person's device shows its owner."""
    out.print(f"[bold]{owner}'s device[/] has kept account, and shows it to nobody else:\n")
    for line in str(ledger).splitlines():
        out.print(f"  {line}", markup=False, soft_wrap=True)
    out.print()


def show_figures(out: Console, figures: Figures, resent: int) -> None:
    """What the service says about itself."""
    table = titled_table("What the service counts about itself (/metrics)")
    table.add_column("")
    table.add_column("", justify="right", style="bold")
    mean = 1000 * figures.commit_seconds / max(1, figures.commits)
    for what, figure in (
        ("reports acknowledged, all of them durable before", f"{figures.accepted:,}"),
        ("sent twice on purpose, as after a lost answer", f"{resent:,}"),
        ("acknowledged again and not counted again", f"{figures.duplicates:,}"),
        ("reports counted, each exactly once", f"{figures.counted:,}"),
        ("bodies refused: too late for their round", f"{figures.refused.get('survey_sealed', 0):,}"),
        ("transactions", f"{figures.commits:,} of {mean:.1f} ms"),
    ):
        table.add_row(what, figure)
    table.show_header = False
    out.print(table)
    out.print()


def _mark(hit: bool) -> str:
    return "[green]✓[/]" if hit else "[red]✗[/]"
