"""Whether bytes or JSON are a report of a survey: strict, with everything that is computed once per survey."""

from __future__ import annotations

import re
from binascii import a2b_base64, b2a_base64
from collections.abc import Iterator
from math import inf
from typing import Final, Literal, TypeAlias, final

import msgspec
import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import ReportError, SurveyError
from sottovoce.formats.wire import REPORT_ID_BYTES, encode_batch
from sottovoce.mechanisms.codecs import Codec
from sottovoce.protocol.errors import RefusedReport
from sottovoce.protocol.reports import SentReport, SentReports
from sottovoce.service.http.validation import find_fault
from sottovoce.surveys.statement import TAG_BYTES, parse_json
from sottovoce.surveys.survey import Survey

__all__ = [
    "TAG_END",
    "FieldCode",
    "JsonBodyError",
    "ReportChecker",
    "base64url_letters",
    "parse_reports",
    "read_report",
]

FieldCode: TypeAlias = Literal["bad_id", "bad_encoding", "wrong_length"]
"""Why the fields of one report cannot be read."""

_BASE64URL: Final = re.compile(r"[0-9A-Za-z_-]*")

_TO_BASE64: Final = bytes.maketrans(b"-_+/=", b"+/...")
"""Maps base64url to what the library reads, and other letters to what it refuses."""

_SHAPES: Final = (
    'one report is {"id": <32 hexadecimal digits>, "report": <base64url>}, many are {"reports": [<such objects>]}, '
    "with no other field and none twice"
)

_ID: Final = f"an id is {2 * REPORT_ID_BYTES} hexadecimal digits in lower case"

_REPORT: Final = (
    "a report is written in base64url (letters, digits, - and _) without padding, its unused last bits zero"
)


class JsonBodyError(ReportError):
    """A body that is not the JSON that is taken; the message quotes nothing of it."""

    def __init__(self, where: str = "") -> None:
        super().__init__(f"the body is not the JSON that is taken{where}: {_SHAPES}")


_decode: Final = msgspec.json.Decoder(SentReports).decode
_decode_loosely: Final = msgspec.json.Decoder().decode


def parse_reports(body: bytes) -> tuple[list[SentReport], bool]:
    """The reports of a body, and whether it is the form of one alone; or `JsonBodyError`."""
    try:
        try:
            sent = _decode(body)
        except msgspec.ValidationError:
            fault = find_fault(_decode_loosely(body), SentReports)
            raise JsonBodyError(f", at {fault.path}" if fault and fault.path else "") from None
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        raise JsonBodyError from None
    if isinstance(sent.id, str) and isinstance(sent.report, str) and sent.reports is msgspec.UNSET:
        _refuse_doubles(body, 8)
        return [SentReport(sent.id, sent.report)], True
    if sent.id is not msgspec.UNSET or sent.report is not msgspec.UNSET or sent.reports is msgspec.UNSET:
        raise JsonBodyError
    _refuse_doubles(body, 2 + 8 * len(sent.reports))
    return sent.reports, False


def _refuse_doubles(body: bytes, quotes: int) -> None:
    """Refuse a name that stands twice in one object; the decoder would keep the last.

    Every name and every value is a string, so that without doubles there are exactly `quotes` quotation marks, unless
    a value holds one. Only then a slower parser has to look.
    """
    if body.count(b'"') != quotes:
        try:
            parse_json(body)
        except SurveyError:
            raise JsonBodyError from None


def base64url_letters(length: int) -> int:
    """The number of letters that `length` bytes take, without padding."""
    return -(-4 * length // 3)


def read_report(sent: SentReport, letters: int) -> bytes | tuple[FieldCode, str]:
    """The bytes of id and report, which must have `letters` letters; or a code and a message that quotes nothing."""
    try:
        report_id = bytes.fromhex(sent.id)
    except ValueError:
        return "bad_id", _ID
    if len(report_id) != REPORT_ID_BYTES or report_id.hex() != sent.id:
        return "bad_id", _ID
    if len(sent.report) != letters:
        if _BASE64URL.fullmatch(sent.report):
            return "wrong_length", f"this survey's reports have {letters} letters of base64url, this one has not"
        return "bad_encoding", _REPORT
    standard = sent.report.encode().translate(_TO_BASE64) + b"=" * (-letters % 4)
    try:
        report = a2b_base64(standard)
    except ValueError:
        return "bad_encoding", _REPORT
    # The library passes over foreign letters and unused bits: only what it would have written itself is taken.
    return report_id + report if b2a_base64(report, newline=False) == standard else ("bad_encoding", _REPORT)


TAG_END: Final = REPORT_ID_BYTES + TAG_BYTES

_SHORT: Final = 8
"""Payloads up to this many bytes are checked one by one in Python's own integers; longer ones always as arrays."""


@final
class ReportChecker:
    """What checking a report takes, computed once per survey."""

    def __init__(self, survey: Survey) -> None:
        self.id = survey.id
        self.tag = survey.tag
        self.codec: Codec = survey.mechanism.codec
        self.width = self.codec.width
        self.row_bytes = TAG_END + self.width
        self.closes = inf if survey.period is None else survey.period.closes.timestamp()
        """Until when reports are taken, in seconds since 1970."""
        self.relay = "" if survey.relay is None else survey.relay.url
        """The only way by which reports are taken; empty where devices send them directly."""
        self.header = encode_batch(survey.id, ())
        self.letters = base64url_letters(TAG_BYTES + self.width)
        self.tag_word = np.frombuffer(survey.tag, dtype=np.uint32)[0]
        # As two fields a row, ids and payloads are copied much faster than as a table of bytes.
        fields = (("id", f"V{REPORT_ID_BYTES}"), ("tag", f"V{TAG_BYTES}"), ("payload", f"V{self.width}"))
        self.sent_row = np.dtype(list(fields))
        self.kept_row = np.dtype([fields[0], fields[2]])
        here = self.here = f"survey {survey.id[:12]}"
        self.wrong_survey = f"the report's first {TAG_BYTES} bytes are not those of {here}: it answers another one"
        self.bad_report = f"no device that follows {here} can have sent this report; randomize and encode it anew"

    def foreign(self, rows: NDArray[np.bool_]) -> Iterator[RefusedReport]:
        """The refusals of these rows, for their tag."""
        return (RefusedReport(at, "wrong_survey", self.wrong_survey) for at in np.flatnonzero(rows).tolist())

    def bad(self, rows: NDArray[np.bool_]) -> Iterator[RefusedReport]:
        """The refusals of these rows, for their payload."""
        return (RefusedReport(at, "bad_report", self.bad_report) for at in np.flatnonzero(rows).tolist())

    def accepts(self, payload: bytes) -> bool:
        """Whether one payload of the right width is good."""
        if self.width > _SHORT:
            return bool(self.codec.good_rows(np.frombuffer(payload, dtype=np.uint8)[None, :])[0])
        try:
            self.codec.decode(payload)
        except ReportError:
            return False
        return True
