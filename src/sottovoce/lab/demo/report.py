"""The demonstration's page: one HTML file without network access and scripts."""

from __future__ import annotations

import math
from collections.abc import Callable
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from sottovoce.core.errors import MissingExtraError
from sottovoce.device import Ledger
from sottovoce.figures.style import STYLE
from sottovoce.lab.demo.adaptive import AskedQuestion
from sottovoce.lab.demo.ages import AgeQuantile
from sottovoce.lab.demo.demo import EstimatedShare, SampleReport, percent
from sottovoce.lab.demo.forms import FormAnswer
from sottovoce.lab.demo.habit import HABIT, PATH_OPENS
from sottovoce.lab.demo.instruments import INSTRUMENTS, QUESTION, STYLES
from sottovoce.lab.demo.pictures import (
    ages_figure,
    answers_figure,
    crowds_figure,
    habit_figure,
    maps_figure,
    shuffled_figure,
    svg_element,
)
from sottovoce.lab.demo.wire import DemoResult

__all__ = ["render"]

_COUNTS_SHOWN = 6


def render(result: DemoResult) -> str:
    """The page as text. All figures come from `result`; everything is escaped."""
    from sottovoce.core.version import __version__

    demo, ages, figures, shuffled = result.music, result.ages, result.figures, result.shuffled
    mechanism, size = demo.survey.mechanism, demo.survey.n_answers
    errors = demo.errors
    largest = max(float(demo.truth.max()), float(demo.estimate.raw.max()))
    words = {
        "people": f"{demo.people:,}",
        "plain_people": str(demo.people),
        "domain_size": f"{size}",
        "report_bytes": f"{len(demo.sample_reports[0].report)} bytes",
        "report_bits": f"{mechanism.report_bits}",
        "epsilon": f"{demo.survey.epsilon:g}",
        "ratio": f"{math.exp(demo.survey.epsilon):.2f}",
        "largest_ratio": f"{max(w.largest_ratio for w in demo.sample_reports):.2f}",
        "coverage": percent(demo.covered / size, 1),
        "covered": f"{demo.covered}",
        "question": QUESTION,
        "instruments": f"{len(INSTRUMENTS)}",
        "styles": f"{len(STYLES)}",
        "l2_raw": f"{errors.l2_raw:.4f}",
        "l2_projected": f"{errors.l2_projected:.4f}",
        "gain": percent(1 - errors.l2_projected / errors.l2_raw, 0),
        "largest_share": percent(largest, 1),
        "cells": f"{mechanism.cells:,}",
        "counts": ", ".join(f"{c:,}" for c in demo.aggregate.counts[:_COUNTS_SHOWN].tolist()) + ", …",
        "survey": demo.survey.id,
        "mechanism": mechanism.name,
        "seed": str(demo.seed),
        "version": __version__,
        "singles": f"{len(demo.sample_reports) + sum(sent.singles for sent in result.sent):,}",
        "batches": f"{sum(sent.batches for sent in result.sent):,}",
        "rate": f"{result.sent[0].rate:,.0f}",
        "acknowledged": f"{figures.accepted:,}",
        "counted": f"{figures.counted:,}",
        "duplicates": f"{figures.duplicates:,}",
        "resent": f"{result.sent[0].resent:,}",
        "commits": f"{figures.commits:,}",
        "hostile": f"{result.influence.hostile:,}",
        "hostile_share": f"{100 * result.influence.fraction:.3g}\N{NARROW NO-BREAK SPACE}%",
        "moved": f"{'' if result.influence.exact else 'at most '}{100 * result.influence.largest:.2f}",
        "ages_people": f"{ages.people:,}",
        "ages_queries": f"{ages.n_queries}",
        "ages_bytes": f"{ages.report_bytes} byte{'s' * (ages.report_bytes > 1)}",
        "ages_error": f"{ages.l2_projected:.3f}",
        "ages_bound": f"{ages.l2_bound:.3f}",
        "forms_people": f"{result.forms[0].reports:,}",
        "habit_promise": result.habit.promise,
        "habit_drawn": "; ".join(f"{name} in {label}" for name, label in result.habit.drawn),
        "habit_month": result.habit.months[PATH_OPENS - 1].label,
        "habit_change": f"{100 * result.habit.change:+.1f}",
        "habit_ends": f"{100 * result.habit.change_low:.1f} to {100 * result.habit.change_high:.1f}",
        "habit_truth": f"{100 * result.habit.true_change:+.1f}",
        "habit_trend": str(result.habit.curve.trend(HABIT)),
        "shuffled_people": f"{shuffled.people:,}",
        "shuffled_epsilon": f"{shuffled.direct.epsilon:g}",
        "direct_promise": shuffled.promises[0],
        "both_promise": shuffled.promises[1],
        "direct_error": f"{shuffled.errors[0].l2_projected:.4f}",
        "shuffled_error": f"{shuffled.errors[1].l2_projected:.4f}",
        "owner": result.owner,
        "left": f"{result.ledger.left:.4g} of {result.ledger.budget:.4g}",
    }
    drawn = {
        "sample_reports": "\n".join(_card(sample, len(demo.survey.tag)) for sample in demo.sample_reports),
        "rows": "\n".join(_row(row) for row in demo.top(12)),
        "bars": _picture(lambda: answers_figure(demo.top(20), 8, 7), "the most common answers, estimated and true"),
        "maps": _picture(lambda: maps_figure(demo), "shares by instrument and style: true, raw and projected"),
        "curves": _picture(lambda: crowds_figure(demo.crowds), "error against the number of people"),
        "ages": _picture(lambda: ages_figure(ages), "share of the people up to every age"),
        "quantiles": "\n".join(_quantile(row) for row in ages.quantiles),
        "asked": "\n".join(_asked(asked) for asked in result.asked),
        "habit": _picture(lambda: habit_figure(result.habit), "share by month"),
        "shuffled_bars": _picture(lambda: shuffled_figure(shuffled), "the same answers without and with a shuffler"),
        "forms": "\n".join(_form(form) for form in result.forms),
        "ledger": _ledger(result.ledger),
    }
    template = Template(files("sottovoce.lab.demo").joinpath("report.html.template").read_text(encoding="utf-8"))
    return template.substitute({key: escape(word) for key, word in words.items()} | drawn | STYLE)


def _picture(draw: Callable[[], Any], name: str) -> str:
    """A figure inside the page; where matplotlib is missing, what to install instead."""
    try:
        return svg_element(draw(), name)
    except MissingExtraError as missing:
        return f'<p class="muted">{escape(str(missing))}</p>'


def _card(sample: SampleReport, tag_bytes: int) -> str:
    tag, rest = sample.report[:tag_bytes].hex(), sample.report[tag_bytes:].hex()
    return (
        f'<div class="card"><span class="muted">{escape(sample.person)}</span><b>{escape(sample.answer)}</b>'
        f"<code><span>{tag}</span> {rest}</code>"
        f"From {escape(sample.other_answer)} the same report would have been {escape(sample.compared)}.</div>"
    )


def _mark(hit: bool) -> str:
    return '<span class="yes">✓</span>' if hit else '<span class="no">✗</span>'


def _quantile(row: AgeQuantile) -> str:
    return f'<tr><td>{percent(row.share, 0)}</td><td>{row.truth}</td><td class="value">{row.estimate}</td></tr>'


def _asked(asked: AskedQuestion) -> str:
    return (
        f'<tr><td class="wraps">{escape(asked.words)}<code>{escape(asked.query)}</code></td><td>{asked.reports:,}</td>'
        f'<td>{100 * asked.truth:.1f}</td><td class="value">{100 * asked.value:.1f}</td>'
        f"<td>{100 * asked.low:.1f} to {100 * asked.high:.1f}</td><td>{_mark(asked.hit)}</td></tr>"
    )


def _form(form: FormAnswer) -> str:
    return (
        f'<tr><td class="wraps">{escape(form.title)}<code>{escape(form.answer)}</code></td><td>{form.truth:.1f}</td>'
        f'<td class="value">{form.value:.1f}</td><td>{form.low:.1f} to {form.high:.1f} {escape(form.unit)}</td>'
        f"<td>{_mark(form.hit)}</td></tr>"
    )


def _ledger(ledger: Ledger) -> str:
    return "\n".join(
        f'<tr><td class="wraps">{escape(entry.title)}</td><td>{escape(entry.day)}</td>'
        f'<td class="value">{entry.epsilon:.4g}</td><td>{escape(entry.state)}</td></tr>'
        for entry in ledger
    )


def _row(row: EstimatedShare) -> str:
    return (
        f"<tr><td>{escape(row.answer)}</td><td>{100 * row.truth:.2f}</td>"
        f'<td class="value">{100 * row.value:.2f}</td><td>{100 * row.low:.2f} to {100 * row.high:.2f}</td>'
        f"<td>{_mark(row.hit)}</td></tr>"
    )
