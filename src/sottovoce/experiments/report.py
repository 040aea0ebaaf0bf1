"""The demonstration's page: one file of HTML that needs neither network nor script."""

from __future__ import annotations

import math
from html import escape
from importlib.resources import files
from string import Template

from sottovoce.experiments.demo import Demo, Row, Whisper, percent
from sottovoce.experiments.instruments import INSTRUMENTS, QUESTION, STYLES, answer_text
from sottovoce.experiments.pictures import bars, curves, heat_map
from sottovoce.plotting import STYLE

__all__ = ["render"]

_COUNTS_SHOWN = 6


def render(demo: Demo) -> str:
    """The page as text. All figures come from `demo`; everything is escaped."""
    from sottovoce import __version__

    mechanism, size = demo.survey.mechanism, demo.survey.domain.size
    errors = demo.errors
    largest = max(float(demo.truth.max()), float(demo.estimate.raw.max()))
    tables = (("truth", demo.truth), ("raw estimate", demo.estimate.raw), ("projected estimate", demo.estimate.values))
    words = {
        "users": f"{demo.users:,}",
        "plain_users": str(demo.users),
        "domain_size": f"{size}",
        "report_bytes": f"{len(demo.whispers[0].report)} bytes",
        "report_bits": f"{mechanism.report_bits}",
        "epsilon": f"{demo.survey.epsilon:g}",
        "ratio": f"{math.exp(demo.survey.epsilon):.2f}",
        "largest_ratio": f"{max(w.largest_ratio for w in demo.whispers):.2f}",
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
    }
    drawn = {
        "whispers": "\n".join(_whisper(w, len(demo.survey.tag)) for w in demo.whispers),
        "rows": "\n".join(_row(row) for row in demo.top(12)),
        "bars": bars(demo.top(20)),
        "maps": "\n".join(
            f"<figure><h3>{escape(title)}</h3>{heat_map(table, INSTRUMENTS, STYLES, largest, answer_text)}</figure>"
            for title, table in tables
        ),
        "curves": curves(demo.crowds),
    }
    template = Template(files("sottovoce.experiments").joinpath("report.html.template").read_text(encoding="utf-8"))
    return template.substitute({key: escape(word) for key, word in words.items()} | drawn | STYLE)


def _whisper(whisper: Whisper, tag_bytes: int) -> str:
    tag, rest = whisper.report[:tag_bytes].hex(), whisper.report[tag_bytes:].hex()
    return (
        f'<div class="whisper"><span class="muted">{escape(whisper.person)}</span><b>{escape(whisper.answer)}</b>'
        f"<code><span>{tag}</span> {rest}</code>"
        f"From {escape(whisper.other_answer)} the same report would have been {escape(whisper.compared)}.</div>"
    )


def _row(row: Row) -> str:
    mark = '<span class="yes">✓</span>' if row.hit else '<span class="no">✗</span>'
    return (
        f"<tr><td>{escape(row.answer)}</td><td>{100 * row.truth:.2f}</td>"
        f'<td class="value">{100 * row.value:.2f}</td><td>{100 * row.low:.2f} to {100 * row.high:.2f}</td>'
        f"<td>{mark}</td></tr>"
    )
