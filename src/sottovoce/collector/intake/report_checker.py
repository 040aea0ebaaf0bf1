"""Whether bytes are a report of a survey: everything that is computed once per survey."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.collector.intake.json_reports import base64url_letters
from sottovoce.core.errors import ReportError
from sottovoce.formats.wire import REPORT_ID_BYTES, encode_batch
from sottovoce.mechanisms.codecs import Codec
from sottovoce.protocol.errors import RefusedReport
from sottovoce.surveys.statement import TAG_BYTES
from sottovoce.surveys.survey import Survey

__all__ = ["TAG_END", "ReportChecker"]

TAG_END: Final = REPORT_ID_BYTES + TAG_BYTES

_SHORT: Final = 8
"""Payloads up to so many bytes are checked one by one in Python's own integers; longer ones always as arrays."""


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
