"""Strict reading of what devices send: every report is judged before anything is stored.

A body is refused as a whole when it is no batch of this survey's; else each report has its own verdict, reached for
all of them at once, so that a hostile batch costs no more than an honest one.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from itertools import repeat
from typing import Final, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sottovoce.collector.epoch import epoch_of
from sottovoce.collector.json_reports import FieldCode, JsonBodyError, base64url_letters, parse_reports, read_report
from sottovoce.collector.store.base import Arrival
from sottovoce.collector.stored import Shelf, survey_of
from sottovoce.errors import MismatchError, ReportError
from sottovoce.mechanisms.codecs import Codec
from sottovoce.surveys.statement import TAG_BYTES, is_digest
from sottovoce.surveys.survey import Survey
from sottovoce.wire import BATCH_HEADER_BYTES, REPORT_ID_BYTES, batch_rows, encode_batch

__all__ = ["BodyCode", "BodyRefusedError", "Intake", "Refused", "ReportCode", "Taken"]

BodyCode: TypeAlias = Literal[
    "unknown_survey",
    "survey_deleted",
    "survey_adaptive",
    "wrong_survey",
    "bad_batch",
    "bad_json",
    "empty_batch",
    "too_many_reports",
]
"""Why a whole body is refused."""

ReportCode: TypeAlias = Literal["wrong_survey", "bad_report"] | FieldCode
"""Why one report of a body is refused."""

_MOST_SURVEYS: Final = 256
"""Surveys kept ready; one that is not costs a look into the store and the reading of its statement."""

_SHORT: Final = 8
"""Payloads up to so many bytes are judged one by one in Python's own integers; longer ones always as arrays."""

_TAG_END: Final = REPORT_ID_BYTES + TAG_BYTES


class BodyRefusedError(ReportError):
    """A body of which nothing was taken; `code` says why in one word, `status` is the fitting answer in HTTP."""

    _STATUS: Final[Mapping[BodyCode, int]] = {
        "unknown_survey": 404,
        "survey_deleted": 410,
        "too_many_reports": 413,
        "bad_json": 400,
        "bad_batch": 400,
    }

    def __init__(self, message: str, code: BodyCode) -> None:
        super().__init__(message)
        self.code: BodyCode = code
        self.status = self._STATUS.get(code, 422)


Refused: TypeAlias = tuple[int, ReportCode, str]
"""Position, code and message of a report that was not taken; the message never holds any of its bytes."""


class Taken(NamedTuple):
    """What is left of a body: the good reports on their way into the store, and why others are none."""

    arrival: Arrival | None
    refused: list[Refused]
    """In the order of their positions."""


class _Known:
    """All that judging a report takes, made once a survey."""

    def __init__(self, survey: Survey) -> None:
        self.id = survey.id
        self.tag = survey.tag
        self.codec: Codec = survey.mechanism.codec
        self.width = self.codec.width
        self.row_bytes = _TAG_END + self.width
        self.header = encode_batch(survey.id, ())
        self.letters = base64url_letters(TAG_BYTES + self.width)
        self.tag_word = np.frombuffer(survey.tag, dtype=np.uint32)[0]
        # As two fields a row, ids and payloads are copied much faster than as a table of bytes.
        fields = (("id", f"V{REPORT_ID_BYTES}"), ("tag", f"V{TAG_BYTES}"), ("payload", f"V{self.width}"))
        self.sent_row = np.dtype(list(fields))
        self.kept_row = np.dtype([fields[0], fields[2]])
        here = f"survey {survey.id[:12]}"
        self.wrong_survey = f"the report's first {TAG_BYTES} bytes are not those of {here}: it answers another one"
        self.bad_report = f"no device that follows {here} can have sent this report; randomize and encode it anew"

    def foreign(self, rows: NDArray[np.bool_]) -> Iterator[Refused]:
        """The refusals of these rows, for their tag."""
        return zip(np.flatnonzero(rows).tolist(), repeat("wrong_survey"), repeat(self.wrong_survey), strict=False)

    def bad(self, rows: NDArray[np.bool_]) -> Iterator[Refused]:
        """The refusals of these rows, for their payload."""
        return zip(np.flatnonzero(rows).tolist(), repeat("bad_report"), repeat(self.bad_report), strict=False)

    def takes(self, payload: bytes) -> bool:
        """Whether one payload of the right width is good."""
        if self.width > _SHORT:
            return bool(self.codec.good_rows(np.frombuffer(payload, dtype=np.uint8)[None, :])[0])
        try:
            self.codec.decode(payload)
        except ReportError:
            return False
        return True


class Intake:
    """Bodies in, checked reports out. Safe to use from several threads.

    Only what never changes is remembered of a survey. Whether it still takes reports is decided by the store, in the
    transaction that would keep them. A report id is any 16 bytes; the same one twice in a body is taken twice here and
    counted once later.

    Parameters
    ----------
    shelf
        Where surveys are found: a `Store`.
    max_batch_reports
        Most reports in one body.
    time_precision
        Seconds of the collector's coarse time: nothing finer is noted of a report.
    clock
        Seconds since 1970.
    """

    def __init__(
        self,
        shelf: Shelf,
        max_batch_reports: int = 10_000,
        time_precision: int = 3600,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._shelf = shelf
        self._most = max_batch_reports
        self._precision = time_precision
        self._clock = clock
        self._surveys: OrderedDict[str, _Known | None] = OrderedDict()
        self._lock = threading.Lock()
        self._reading = threading.Lock()

    # --- surveys ----------------------------------------------------------------------------

    def knows(self, survey_id: str) -> bool:
        """Whether a body for this survey is read at once; if not, the first one waits for the store and may be slow."""
        return survey_id in self._surveys

    def learn(self, survey_id: str) -> None:
        """Make a survey ready, from the store; `BodyRefusedError` when there is none or it is deleted."""
        if not is_digest(survey_id):
            raise _unknown()
        record = self._shelf.survey(survey_id)
        if record is None:
            raise _unknown()
        if record.state == "deleted":
            raise BodyRefusedError(
                f"survey {survey_id[:12]} has been deleted; delete the report too, it will not be wanted again",
                "survey_deleted",
            )
        with self._reading:  # once, however many devices come at the same moment
            if survey_id in self._surveys:
                return
            survey = survey_of(self._shelf, record)
            with self._lock:
                self._surveys[survey_id] = _Known(survey) if isinstance(survey, Survey) else None
                if len(self._surveys) > _MOST_SURVEYS:
                    self._surveys.popitem(last=False)

    def _known(self, survey_id: str) -> _Known:
        while True:
            with self._lock:
                if survey_id in self._surveys:
                    self._surveys.move_to_end(survey_id)
                    known = self._surveys[survey_id]
                    break
            self.learn(survey_id)
        if known is None:
            raise BodyRefusedError(
                f"survey {survey_id[:12]} is adaptive and takes no reports itself: a device answers the round it drew, "
                f"whose own id is at /v1/surveys/{survey_id}/rounds/{{its number}}, and sends its report there",
                "survey_adaptive",
            )
        return known

    # --- bodies -----------------------------------------------------------------------------

    def read_batch(self, survey_id: str, body: bytes) -> Taken:
        """The reports of a binary body, as `wire.encode_batch` makes it.

        Raises
        ------
        BodyRefusedError
            Nothing of the body was taken.
        StoreError
            The survey could not be read from the store.
        """
        known = self._known(survey_id)
        if len(body) == BATCH_HEADER_BYTES + known.row_bytes and body.startswith(known.header):
            return self._one(known, body[BATCH_HEADER_BYTES:])
        try:
            rows = batch_rows(body, survey_id, known.width)
        except MismatchError as error:
            raise BodyRefusedError(str(error), "wrong_survey") from error
        except ReportError as error:
            raise BodyRefusedError(str(error), "bad_batch") from error
        self._check_number(len(rows))
        # The tags as one column of integers, wherever they lie in memory.
        tags = np.ndarray(
            (len(rows),), np.uint32, body, BATCH_HEADER_BYTES + REPORT_ID_BYTES, strides=(known.row_bytes,)
        )
        return self._judged(known, rows, tags == known.tag_word)

    def read_json(self, survey_id: str, body: bytes) -> Taken:
        """The reports of a JSON body: ``{"id": hex, "report": base64url}``, or ``{"reports": [...]}`` of these.

        Ids are lower-case hexadecimal; reports are base64url without padding. Whatever else would decode to the same
        bytes is refused: a report has one writing. Raises as `read_batch` does.
        """
        known = self._known(survey_id)
        try:
            reports, alone = parse_reports(body)
        except JsonBodyError as error:
            raise BodyRefusedError(str(error), "bad_json") from None
        self._check_number(len(reports))
        if alone:
            row = read_report(reports[0], known.letters)
            return Taken(None, [(0, *row)]) if isinstance(row, tuple) else self._one(known, row)
        refused: list[Refused] = []
        kept: list[bytes] = []
        places: list[int] = []
        for position, report in enumerate(reports):
            row = read_report(report, known.letters)
            if isinstance(row, tuple):
                refused.append((position, *row))
            else:
                kept.append(row)
                places.append(position)
        if not kept:
            return Taken(None, refused)
        rows = np.frombuffer(b"".join(kept), dtype=np.uint8).reshape(len(kept), known.row_bytes)
        tags = np.ascontiguousarray(rows[:, REPORT_ID_BYTES:_TAG_END]).view(np.uint32)[:, 0]
        arrival, bad = self._judged(known, rows, tags == known.tag_word)
        refused += [(places[at], code, message) for at, code, message in bad]
        return Taken(arrival, sorted(refused))

    def _check_number(self, n: int) -> None:
        if not n:
            raise BodyRefusedError("the body holds no report; send at least one", "empty_batch")
        if n > self._most:
            raise BodyRefusedError(
                f"the body holds {n:,} reports, more than the {self._most:,} that are taken at once; send them in "
                "several bodies",
                "too_many_reports",
            )

    # --- verdicts ---------------------------------------------------------------------------

    def _one(self, known: _Known, row: bytes) -> Taken:
        """The verdict on one row of the right length."""
        payload = row[_TAG_END:]
        if row[REPORT_ID_BYTES:_TAG_END] != known.tag:
            return Taken(None, [(0, "wrong_survey", known.wrong_survey)])
        if not known.takes(payload):
            return Taken(None, [(0, "bad_report", known.bad_report)])
        return Taken(Arrival(known.id, self._epoch(), 1, row[:REPORT_ID_BYTES] + payload), [])

    def _judged(self, known: _Known, rows: NDArray[np.uint8], tagged: NDArray[np.bool_]) -> Taken:
        """The verdicts on rows of the right length, of which `tagged` have the survey's tag."""
        good = tagged & known.codec.good_rows(rows[:, _TAG_END:])
        refused: list[Refused] = []
        if np.count_nonzero(good) < len(good):
            refused = sorted([*known.foreign(~tagged), *known.bad(tagged & ~good)])
            rows = rows[good]
            if not len(rows):
                return Taken(None, refused)
        sent = rows.view(known.sent_row)[:, 0]
        kept = np.empty(len(rows), known.kept_row)
        kept["id"], kept["payload"] = sent["id"], sent["payload"]
        return Taken(Arrival(known.id, self._epoch(), len(rows), kept.tobytes()), refused)

    def _epoch(self) -> int:
        return epoch_of(self._clock(), self._precision)


def _unknown() -> BodyRefusedError:
    return BodyRefusedError(
        "there is no survey of that id here; /v1/surveys lists those that there are", "unknown_survey"
    )
