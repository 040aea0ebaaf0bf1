"""What tests of the intake share: a shelf of surveys in memory, one survey a codec, and a slow reading of bodies.

The slow reading knows nothing of arrays: one report after the other, through `mechanism.decode`.
"""

from __future__ import annotations

import base64
import json
from functools import cache
from typing import Any

import numpy as np

import sottovoce as sv
from sottovoce.collector.store.records import SurveyRecord
from sottovoce.core.errors import ReportError
from sottovoce.formats.wire import BATCH_HEADER_BYTES, REPORT_ID_BYTES
from sottovoce.surveys.survey import Survey
from sottovoce.workloads import Prefix

Verdict = str | tuple[bytes, list[tuple[int, str]]]
"""The code of a refused body; else the rows that are taken, and position and code of each one that is not."""


class Shelf:
    """Surveys and attachments by name; counts how often it was asked."""

    def __init__(self, *surveys: Any) -> None:
        self.records: dict[str, SurveyRecord] = {}
        self.attachments: dict[str, bytes] = {}
        self.asked = 0
        for survey in surveys:
            self.put(survey)

    def put(self, survey: Any, **changed: Any) -> None:
        fields = {"title": survey.title, "kind": survey.kind, "epsilon": survey.epsilon} | changed
        self.records[survey.id] = SurveyRecord(
            survey.id, changed.pop("canonical", survey.canonical), b"", minimum_reports=0, epoch=0, **fields
        )
        self.attachments |= survey.attachments

    def survey(self, survey_id: str) -> SurveyRecord | None:
        self.asked += 1
        return self.records.get(survey_id)

    def attachment(self, digest: str) -> bytes | None:
        return self.attachments.get(digest)


@cache
def adaptive() -> Any:
    return sv.Panel(range(100), rounds=5, epsilon=1.0)


@cache
def surveys() -> dict[str, Survey]:
    """One survey a codec or family, each with byte strings of the right width that are no report."""
    prefixes = Prefix(12)
    return {
        "hadamard": Survey(sv.shares(300), epsilon=2.0, mechanism="hadamard"),
        "randomized_response": Survey(sv.shares(300), epsilon=2.0, mechanism="randomized_response"),
        "unary": Survey(sv.shares(19), epsilon=1.0, mechanism="unary_optimized"),
        "subset_list": Survey(sv.shares(1000), epsilon=6.0, mechanism="subset_selection"),
        "subset_bitmap": Survey(sv.shares(21), epsilon=1.0, mechanism="subset_selection"),
        "codebook": Survey(sv.queries(prefixes), epsilon=1.0, mechanism="codebook", strategy="direct"),
        "gaussian": Survey(sv.queries(prefixes), epsilon=1.0, delta=1e-6, mechanism="gaussian", strategy="direct"),
        "rejection": Survey(sv.queries(prefixes), epsilon=1.0, mechanism="rejection", strategy="direct"),
        "optimized": Survey(sv.queries(prefixes), epsilon=1.0, strategy="optimized"),
        "hierarchical": Survey(sv.queries(prefixes), epsilon=1.0, strategy="hierarchical"),
        "question": sv.adaptive.round_of(adaptive(), 1, "value < 30"),
        "choice": sv.adaptive.round_of(adaptive(), 2, "value // 10", 10),
    }


@cache
def reports(name: str, n: int = 40) -> tuple[bytes, ...]:
    """Honest reports, reproducible."""
    return tuple(surveys()[name].simulate(np.arange(n) % 10, seed=5))


def ids(n: int, seed: int = 1) -> list[bytes]:
    return [row.tobytes() for row in np.random.default_rng(seed).integers(0, 256, (n, REPORT_ID_BYTES), np.uint8)]


def base64url(report: bytes) -> str:
    return base64.urlsafe_b64encode(report).decode().rstrip("=")


def json_report(report_id: bytes, report: bytes) -> dict[str, str]:
    return {"id": report_id.hex(), "report": base64url(report)}


def judge(survey: Survey, report: bytes) -> str:
    """'' for a report a device can have sent, else why it is none."""
    if report[:4] != bytes.fromhex(survey.id)[:4]:
        return "wrong_survey"
    try:
        decoded = survey.mechanism.decode(report[4:])
    except ReportError:
        return "bad_report"
    assert survey.mechanism.encode(decoded) == report[4:]
    return ""


def _verdict(survey: Survey, rows: list[tuple[bytes, bytes] | str]) -> Verdict:
    taken, refused = b"", []
    for position, row in enumerate(rows):
        code = row if isinstance(row, str) else judge(survey, row[1])
        if code:
            refused.append((position, code))
        else:
            taken += row[0] + row[1][4:]
    return taken, refused


def slow_batch(survey: Survey, body: bytes, most: int) -> Verdict:
    if body[:4] != b"SVR1" or len(body) < BATCH_HEADER_BYTES:
        return "bad_batch"
    if body[4:36] != bytes.fromhex(survey.id):
        return "wrong_survey"
    width, rest = 16 + 4 + survey.mechanism.report_bytes, body[36:]
    if len(rest) % width:
        return "bad_batch"
    rows = [rest[at : at + width] for at in range(0, len(rest), width)]
    if not rows or len(rows) > most:
        return "too_many_reports" if rows else "empty_batch"
    return _verdict(survey, [(row[:16], row[16:]) for row in rows])


def slow_json(survey: Survey, body: bytes, most: int) -> Verdict:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) != len(pairs):
            raise ValueError("twice")
        return dict(pairs)

    try:
        found = json.loads(body.decode(), object_pairs_hook=once)
        entries = found["reports"] if list(found) == ["reports"] else [found]
        assert isinstance(entries, list)
        for entry in entries:
            assert set(entry) == {"id", "report"}
            assert all(isinstance(entry[key], str) and entry[key].encode() is not None for key in entry)
    except (ValueError, RecursionError, AssertionError, TypeError):
        return "bad_json"
    if not entries or len(entries) > most:
        return "too_many_reports" if entries else "empty_batch"
    return _verdict(survey, [_slow_fields(survey, entry["id"], entry["report"]) for entry in entries])


def _slow_fields(survey: Survey, report_id: str, report: str) -> tuple[bytes, bytes] | str:
    if len(report_id) != 32 or set(report_id) - set("0123456789abcdef"):
        return "bad_id"
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    if set(report) - set(letters):
        return "bad_encoding"
    length = 4 + survey.mechanism.report_bytes
    if len(report) != len(base64url(bytes(length))):
        return "wrong_length"
    bits = "".join(f"{letters.index(letter):06b}" for letter in report)
    if "1" in bits[8 * length :]:
        return "bad_encoding"
    return bytes.fromhex(report_id), int(bits[: 8 * length], 2).to_bytes(length, "big")
