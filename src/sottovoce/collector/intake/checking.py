"""Strict reading of what devices send: every report is checked before anything is stored.

A body is refused as a whole when it is not a batch of this survey; else each report has its own verdict, reached for
all of them at once, so that a hostile batch costs no more than an honest one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sottovoce.collector.intake.report_checker import (
    TAG_END,
    FieldCode,
    JsonBodyError,
    ReportChecker,
    parse_reports,
    read_report,
)
from sottovoce.collector.intake.survey_cache import CachedSurvey, SurveyCache
from sottovoce.collector.store.records import SurveyRecord, epoch_of
from sottovoce.core.errors import MismatchError, ReportError
from sottovoce.formats.wire import BATCH_HEADER_BYTES, REPORT_ID_BYTES, batch_rows
from sottovoce.protocol.errors import RefusedReport
from sottovoce.service.refusal import Refusal
from sottovoce.service.storage.committer import Arrival
from sottovoce.surveys.statement import is_digest
from sottovoce.surveys.survey import Survey, Tracking

__all__ = ["CheckedBody", "Intake", "ReportCode"]

ReportCode: TypeAlias = Literal["wrong_survey", "bad_report"] | FieldCode
"""Why one report of a body is refused."""


class CheckedBody(NamedTuple):
    """The verdict on a body: the good reports on their way into the store, and why others are refused."""

    arrival: Arrival | None
    refused: list[RefusedReport]
    """Refused reports, in the order of their positions."""


class Intake:
    """Bodies in, checked reports out. Safe to use from several threads.

    Only what never changes is remembered of a survey. Whether it still takes reports is decided by the store, in the
    transaction that would keep them. A report id is any 16 bytes; the same one twice in a body is taken twice here and
    counted once later.

    Parameters
    ----------
    surveys
        The source of surveys.
    max_batch_reports
        Most reports in one body.
    time_precision
        Seconds of the collector's coarse time: nothing finer is noted of a report.
    clock
        Seconds since 1970.
    find_period
        Stores a period that has just begun, and returns its record; refuses one that has not; None for others.
    check_clock
        Raises if the time is in doubt: devices delete what comes too late.
    """

    def __init__(
        self,
        surveys: SurveyCache,
        max_batch_reports: int = 10_000,
        time_precision: int = 3600,
        clock: Callable[[], float] = time.time,
        find_period: Callable[[str], SurveyRecord | None] | None = None,
        check_clock: Callable[[], object] = lambda: None,
    ) -> None:
        self._surveys = surveys
        self._most = max_batch_reports
        self._precision = time_precision
        self._clock = clock
        self._find_period = find_period
        self._check_clock = check_clock

    # --- surveys ----------------------------------------------------------------------------

    def knows(self, survey_id: str) -> bool:
        """Whether a body for this survey is read at once; if not, the first one waits for the store and may be slow."""
        return survey_id in self._surveys

    def learn(self, survey_id: str) -> CachedSurvey:
        """Make a survey ready, from the store; `Refusal` when there is none or it is deleted."""
        record = self._surveys.source.survey(survey_id) if is_digest(survey_id) else None
        if record is None and self._find_period is not None:
            record = self._find_period(survey_id)
        if record is None:
            message = "no survey has that id; /v1/surveys lists all surveys"
            raise Refusal(404, "unknown_survey", message)
        if record.state == "deleted":
            raise Refusal(410, "survey_deleted", f"survey {survey_id[:12]} has been deleted; delete the report too")
        return self._surveys.load(record)

    def _checker(self, survey_id: str) -> ReportChecker:
        survey, checker = self._surveys.get(survey_id) or self.learn(survey_id)
        if checker is None and isinstance(survey, Tracking):
            raise Refusal(
                422,
                "survey_tracking",
                f"survey {survey_id[:12]} accepts no reports itself: a device answers the period it drew, whose own id "
                "is that of the survey with this period, and sends its report there",
            )
        if checker is None and isinstance(survey, Survey):
            raise Refusal(
                422,
                "survey_grouped",
                f"survey {survey_id[:12]} accepts no reports itself: a device answers for its group, whose own id is "
                "that of the survey with this group, and sends its report there",
            )
        if checker is None:
            raise Refusal(
                422,
                "survey_panel",
                f"survey {survey_id[:12]} is a panel and accepts no reports itself: a device answers the round it "
                f"drew once that is at /v1/surveys/{survey_id}/rounds/latest, and sends its report to the round's id",
            )
        if self._clock() >= checker.closes:
            self._check_clock()
            # Whether or not its record says so already: it may just have closed, or come from an old backup.
            raise Refusal(
                409, "survey_sealed", f"{checker.here} is closed: it accepts no more reports; delete the report"
            )
        return checker

    def _checker_of_direct(self, survey_id: str) -> ReportChecker:
        """The checker of reports that came straight from devices; a refusal if the survey has a relay."""
        checker = self._checker(survey_id)
        if checker.relay:
            raise Refusal(
                422,
                "relay_only",
                f"{checker.here} takes reports through its relay alone, {checker.relay}, and nothing was stored: seal "
                "each one and send it there, as the clients do",
            )
        return checker

    # --- bodies -----------------------------------------------------------------------------

    def read_batch(self, survey_id: str, body: bytes) -> CheckedBody:
        """The reports of a binary body, as `wire.encode_batch` makes it.

        Raises
        ------
        Refusal
            Nothing of the body was accepted.
        StoreError
            The survey could not be read from the store.
        """
        checker = self._checker_of_direct(survey_id)
        if len(body) == BATCH_HEADER_BYTES + checker.row_bytes and body.startswith(checker.header):
            return self._one(checker, body[BATCH_HEADER_BYTES:])
        try:
            rows = batch_rows(body, survey_id, checker.width)
        except MismatchError as error:
            raise Refusal(422, "wrong_survey", str(error)) from error
        except ReportError as error:
            raise Refusal(400, "bad_batch", str(error)) from error
        self._check_number(len(rows))
        # The tags as one column of integers, wherever they lie in memory.
        tags = np.ndarray(
            (len(rows),), np.uint32, body, BATCH_HEADER_BYTES + REPORT_ID_BYTES, strides=(checker.row_bytes,)
        )
        return self._judged(checker, rows, tags == checker.tag_word)

    def read_json(self, survey_id: str, body: bytes) -> CheckedBody:
        """The reports of a JSON body: ``{"id": hex, "report": base64url}``, or ``{"reports": [...]}`` of these.

        Ids are lower-case hexadecimal; reports are base64url without padding. Whatever else would decode to the same
        bytes is refused: a report has one writing. Raises as `read_batch` does.
        """
        checker = self._checker_of_direct(survey_id)
        try:
            reports, alone = parse_reports(body)
        except JsonBodyError as error:
            raise Refusal(400, "bad_json", str(error)) from None
        self._check_number(len(reports))
        if alone:
            row = read_report(reports[0], checker.letters)
            return CheckedBody(None, [RefusedReport(0, *row)]) if isinstance(row, tuple) else self._one(checker, row)
        return self._judged_alone(checker, [read_report(report, checker.letters) for report in reports])

    def read_rows(self, survey_id: str, rows: Sequence[bytes]) -> CheckedBody:
        """Reports that were sent one by one, each a row of a batch; raises as `read_batch` does.

        Their number is bounded by the caller.
        """
        checker = self._checker(survey_id)
        wrong: tuple[ReportCode, str] = ("wrong_length", f"a row of {checker.here} has {checker.row_bytes} bytes")
        return self._judged_alone(checker, [row if len(row) == checker.row_bytes else wrong for row in rows])

    def _check_number(self, n: int) -> None:
        if not n:
            raise Refusal(422, "empty_batch", "the body holds no report; send at least one")
        if n > self._most:
            raise Refusal(
                413,
                "too_many_reports",
                f"the body holds {n:,} reports, and at most {self._most:,} are accepted at once; send several bodies",
            )

    # --- verdicts ---------------------------------------------------------------------------

    def _one(self, checker: ReportChecker, row: bytes) -> CheckedBody:
        """The verdict on one row of the right length."""
        payload = row[TAG_END:]
        if row[REPORT_ID_BYTES:TAG_END] != checker.tag:
            return CheckedBody(None, [RefusedReport(0, "wrong_survey", checker.wrong_survey)])
        if not checker.accepts(payload):
            return CheckedBody(None, [RefusedReport(0, "bad_report", checker.bad_report)])
        return CheckedBody(Arrival(checker.id, self._epoch(), 1, row[:REPORT_ID_BYTES] + payload), [])

    def _judged_alone(self, checker: ReportChecker, parsed: Sequence[bytes | tuple[ReportCode, str]]) -> CheckedBody:
        """The verdicts on rows of the right length; some could not be read at all."""
        refused = [RefusedReport(at, *row) for at, row in enumerate(parsed) if isinstance(row, tuple)]
        kept = [(at, row) for at, row in enumerate(parsed) if isinstance(row, bytes)]
        if not kept:
            return CheckedBody(None, refused)
        joined = b"".join([row for _, row in kept])
        rows = np.frombuffer(joined, dtype=np.uint8).reshape(len(kept), checker.row_bytes)
        tags = np.ascontiguousarray(rows[:, REPORT_ID_BYTES:TAG_END]).view(np.uint32)[:, 0]
        arrival, bad = self._judged(checker, rows, tags == checker.tag_word)
        refused += [RefusedReport(kept[refusal.position][0], refusal.code, refusal.message) for refusal in bad]
        return CheckedBody(arrival, sorted(refused, key=_position))

    def _judged(self, checker: ReportChecker, rows: NDArray[np.uint8], tagged: NDArray[np.bool_]) -> CheckedBody:
        """The verdicts on rows of the right length; `tagged` says which have the survey's tag."""
        good = tagged & checker.codec.good_rows(rows[:, TAG_END:])
        refused: list[RefusedReport] = []
        if np.count_nonzero(good) < len(good):
            refused = sorted([*checker.foreign(~tagged), *checker.bad(tagged & ~good)], key=_position)
            rows = rows[good]
            if not len(rows):
                return CheckedBody(None, refused)
        sent = rows.view(checker.sent_row)[:, 0]
        kept = np.empty(len(rows), checker.kept_row)
        kept["id"], kept["payload"] = sent["id"], sent["payload"]
        return CheckedBody(Arrival(checker.id, self._epoch(), len(rows), kept.tobytes()), refused)

    def _epoch(self) -> int:
        return epoch_of(self._clock(), self._precision)


def _position(report: RefusedReport) -> int:
    return report.position
