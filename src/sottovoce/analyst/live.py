"""A survey on a collector: the survey itself, verified, and what its reports say so far."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple, final

from sottovoce.adaptive.rounds import n_choices, seat_of
from sottovoce.adaptive.session import Session
from sottovoce.adaptive.state import Past
from sottovoce.analyst.connection import Connection, check_minimum
from sottovoce.analyst.crowd import CollectorCrowd, Pace, round_aggregate
from sottovoce.analyst.records import RoundInfo, SegmentInfo, Status, read
from sottovoce.errors import MismatchError, ServiceError, SessionError, SurveyError
from sottovoce.surveys.aggregate import Aggregate
from sottovoce.surveys.estimate import Estimate
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.statement import TAG_BYTES
from sottovoce.surveys.survey import Survey
from sottovoce.wire import REPORT_ID_BYTES

__all__ = ["Exported", "LiveSurvey"]

_MOST_LOST: Final = 100
"""How many segments may be merged into others while they are fetched; more is no collector."""

_HEADER: Final = 2**16
"""More than stands before the numbers of an aggregate or the rows of a batch."""


class Exported(NamedTuple):
    """What an export did: files and reports it wrote, and files that stood already."""

    files: int
    reports: int
    kept: int


@final
class LiveSurvey:
    """A published survey; get one with `Collector.publish` or `Collector.survey`.

    Attributes
    ----------
    survey
        The survey. Its id was computed from the statement that came, and the collector's signature over it verified.
    """

    def __init__(self, connection: Connection, survey: Survey | Panel) -> None:
        self._connection = connection
        self.survey = survey

    @property
    def id(self) -> str:
        """The survey's id."""
        return self.survey.id

    @property
    def answerable(self) -> Survey:
        """The survey, if devices answer it itself; raises `SessionError` for an adaptive one."""
        if isinstance(self.survey, Panel):
            raise SessionError(
                "a panel is answered a round at a time and has no estimate of its own: ask with session(), "
                "or with 'sottovoce ask'"
            )
        return self.survey

    @property
    def _path(self) -> str:
        return f"/v1/surveys/{self.survey.id}"

    # --- reading ----------------------------------------------------------------------------

    def status(self) -> Status:
        """Where it stands: open or sealed, and how many reports are counted or wait to be."""
        return read(self._connection.http.get(f"{self._path}/status"), Status)

    def aggregate(self) -> Aggregate:
        """The counts of all reports counted so far."""
        from sottovoce.aggregate_bytes import from_bytes

        survey = self.answerable
        most = 8 * survey.mechanism.cells + _HEADER
        return from_bytes(survey, self._connection.http.get_bytes(f"{self._path}/aggregate", most=most))

    def estimate(self) -> Estimate:
        """Raw and projected answers from all reports counted so far, computed here from the aggregate."""
        return self.answerable.estimate(self.aggregate())

    def watch(self, seconds: float = 2.0) -> Iterator[Estimate]:
        """Estimates as reports come in, a look every so many seconds; ends when the survey is sealed and counted.

        Waits silently while there are fewer reports than the collector's minimum.
        """
        if not isinstance(seconds, (int, float)) or not 0 < seconds <= 86400:
            raise SurveyError("seconds must be a number above 0, at most a day")
        _ = self.answerable
        pace, shown = Pace(longest=seconds), -1
        while True:
            status = pace.ask(self.status)
            if shown < status.n_reports >= max(1, status.minimum_reports):
                estimate = pace.ask(self.estimate)
                shown = estimate.n_reports
                yield estimate
            if status.state != "open" and not status.waiting:
                return
            pace.pause()

    # --- changing ---------------------------------------------------------------------------

    def seal(self) -> None:
        """Take no more reports, for good; sealing twice changes nothing."""
        self._connection.http.post(f"{self._path}/seal")

    def hand_in(self, aggregate: Aggregate) -> None:
        """Hand in the counts that an engine made of all reports of this survey, once it is sealed.

        The collector then answers from them: needed where a survey has more counters than the collector counts itself,
        or where its operator leaves all counting to engines. Needs an admin token.
        """
        from sottovoce.aggregate_bytes import MEDIA_TYPE, to_bytes

        if aggregate.survey.id != self.survey.id:
            raise MismatchError(f"the aggregate is of survey {aggregate.survey.id[:12]}, not of {self.survey.id[:12]}")
        self._connection.http.put(f"{self._path}/aggregate", body=to_bytes(aggregate), content_type=MEDIA_TYPE)

    def delete(self) -> None:
        """Remove all reports and counts, for good. The id stays taken, so that the survey cannot come back."""
        self._connection.http.delete(self._path)

    # --- asking -----------------------------------------------------------------------------

    def rounds(self) -> list[RoundInfo]:
        """The rounds of a panel that have been opened, first to last."""
        self._adaptive()
        answer = self._connection.http.get(f"{self._path}/rounds")
        listed = read(answer, dict[str, list[RoundInfo]])
        return sorted(listed.get("rounds", []), key=lambda one: one.round)

    def open_round(self, asked: Survey, labels: Sequence[str] = (), minimum_reports: int | None = None) -> LiveSurvey:
        """Open a round of a panel; what a session does. One that stands already is left as it is."""
        minimum = check_minimum(minimum_reports)
        body = {"statement": asked.to_json(), "labels": list(labels), "minimum_reports": minimum}
        self._connection.http.post(f"{self._path}/rounds", body)
        return self._round(asked.id)

    def _round(self, round_id: str) -> LiveSurvey:
        return LiveSurvey(self._connection, self._connection.fetch(round_id))

    def session(
        self,
        *,
        reports: int | None = None,
        seconds: float | None = None,
        progress: Callable[[int], object] | None = None,
        finish: bool = True,
    ) -> Session:
        """Ask the devices one question after another; the collector keeps the history.

        Everybody who asks for the session sees all rounds that are over. A round that is still open, because somebody
        was interrupted, is finished first.

        Parameters
        ----------
        reports, seconds
            When a round is over: once so many reports are counted, or after so long, whichever comes first; never
            before the collector's minimum is reached. At least one of the two.
        progress
            Called with the number of reports counted since its last call, while an open round is finished.
        finish
            False to leave an open round to the session's `finish`, or to its first question.
        """
        panel = self._adaptive()
        crowd = CollectorCrowd(self.open_round, panel, self.status().minimum_reports, reports, seconds)
        past: list[Past] = []
        opened: tuple[Survey, tuple[str, ...]] | None = None
        for known in self.rounds():
            live = self._round(known.id)
            asked = live.survey
            seat = asked.seat if isinstance(asked, Survey) else None
            if not isinstance(asked, Survey) or seat is None or seat.panel.id != panel.id:
                raise SessionError(f"the collector's round {known.round} is no round of panel {panel.id[:12]}")
            if seat.round != len(past) + 1 or opened is not None:
                raise SessionError("the collector's rounds are not in order; ask whoever runs it")
            labels = _labels(asked, known.labels)
            if known.state == "open" or known.waiting:
                opened = asked, labels
                continue
            past.append(Past(asked, labels, round_aggregate(live)))
            crowd.note(seat.round, past[-1].aggregate.n_reports)
        session = Session(panel, crowd, past, opened=opened)
        if finish:
            session.finish(progress=progress)
        return session

    def _adaptive(self) -> Panel:
        if not isinstance(self.survey, Panel):
            raise SessionError(
                f"survey {self.survey.id[:12]} asks one thing of everybody and has no rounds: use estimate(), or "
                "'sottovoce estimate'; Survey.adaptive makes one of many rounds"
            )
        return self.survey

    # --- taking away ------------------------------------------------------------------------

    def export(self, folder: str | os.PathLike[str], *, progress: Callable[[int], object] | None = None) -> Exported:
        """Write the counted reports as Parquet files, one a segment; those of a panel in a folder a round.

        Going on after an interruption, or when more reports have come, writes what is missing and nothing else.
        `sottovoce.analyst.parquet.read_export` counts the files anew.
        """
        if not isinstance(self.survey, Panel):
            return self._export(Path(folder), progress)
        done = Exported(0, 0, 0)
        for known in self.rounds():
            one = self._round(known.id)._export(Path(folder) / f"round-{known.round:05d}", progress)
            done = Exported(*(a + b for a, b in zip(done, one, strict=True)))
        return done

    def _export(self, folder: Path, progress: Callable[[int], object] | None) -> Exported:
        from sottovoce.analyst.parquet import Folder

        self.segments()  # asked once beforehand: who may not export shall not find an empty folder either
        held = Folder(self.answerable, folder)
        held.prepare()
        kept, files, reports = len(held.files()), 0, 0
        row = REPORT_ID_BYTES + TAG_BYTES + held.survey.mechanism.report_bytes
        lost = 0
        while missing := held.missing(listed := self.segments()):
            written = held.superseded(listed)
            for segment in missing:
                place, most = f"{self._path}/segments/{segment.number}", _HEADER + row * segment.n
                try:
                    body = self._connection.http.get_bytes(place, most=most)
                except ServiceError as error:
                    lost += 1
                    if error.status != 404 or lost > _MOST_LOST:
                        raise
                    break  # it was merged into another one meanwhile: look at the list again
                reports += held.write(segment, body, written.get(segment.epoch, set()))
                files += 1
                if progress is not None:
                    progress(segment.n)
        return Exported(files, reports, kept)

    def segments(self) -> list[SegmentInfo]:
        """The segments that the survey's counted reports are kept in."""
        answer = self._connection.http.get(f"{self._path}/segments")
        return read(answer, dict[str, list[SegmentInfo]]).get("segments", [])

    def __repr__(self) -> str:
        return f"<live {repr(self.survey).strip('<>')}>"


def _labels(asked: Survey, labels: list[str]) -> tuple[str, ...]:
    """What the collector says the choices are called, if it can be."""
    choices = n_choices(asked)
    if len(labels) not in (0, choices):
        raise SessionError(
            f"the collector names {len(labels):,} choices for round {seat_of(asked).round}, which has {choices:,}"
        )
    return tuple(labels)
