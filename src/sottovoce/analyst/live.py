"""A published survey: the verified survey, its status and its estimates."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path
from typing import Final, final

from sottovoce.adaptive.answer import n_choices, seat_of
from sottovoce.adaptive.session import Session
from sottovoce.adaptive.state import FinishedRound
from sottovoce.analyst.connection import Connection, check_minimum, read
from sottovoce.analyst.crowd import CollectorCrowd, Poller, round_aggregate
from sottovoce.analyst.exporting import Exported, export_reports, list_segments
from sottovoce.analyst.periods import PeriodReader
from sottovoce.core.errors import MismatchError, NoReportsError, ServiceError, SessionError, SurveyError
from sottovoce.core.integrity import integrity_of
from sottovoce.core.progress import advancing
from sottovoce.estimates.curve import Curve
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.watched import check_always, still_changing
from sottovoce.estimates.words.estimate import WordAnswer
from sottovoce.estimates.words.search import SearchRule
from sottovoce.protocol.estimates import WordsAnswer
from sottovoce.protocol.surveys import (
    Embedding,
    GroupList,
    GroupStatus,
    PeriodStatus,
    RoundStatus,
    SegmentEntry,
    Status,
)
from sottovoce.surveys.aggregate import Aggregate
from sottovoce.surveys.groups import Group, GroupName
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.survey import Survey, Tracking

__all__ = ["LiveSurvey"]

_LONGEST_SCRIPT: Final = 2**21

_HEADER: Final = 2**16
"""Upper bound on the headers of aggregates and batches."""


@final
class LiveSurvey:
    """A published survey; get one with `Collector.publish` or `Collector.survey`.

    Attributes
    ----------
    survey
        The survey, with id and signature verified.
    """

    def __init__(self, connection: Connection, survey: Survey | Panel | Tracking) -> None:
        self._connection = connection
        self.survey = survey

    @property
    def id(self) -> str:
        """The survey's id."""
        return self.survey.id

    @property
    def answerable(self) -> Survey:
        """The survey that devices answer; raises `SessionError` for a panel or a tracking survey."""
        if isinstance(self.survey, Tracking):
            raise SessionError(
                "a tracking survey is answered period by period and has no estimate of its own: use curve(), or "
                "period(number) for one of them"
            )
        if isinstance(self.survey, Panel):
            raise SessionError(
                "a panel is answered round by round and has no estimate of its own: use session(), or 'sottovoce ask'"
            )
        return self.survey

    @property
    def _path(self) -> str:
        return f"/v1/surveys/{self.survey.id}"

    # --- reading ----------------------------------------------------------------------------

    def status(self) -> Status:
        """Its status: open or sealed, and how many reports are counted or waiting."""
        return read(self._connection.http.get(f"{self._path}/status"), Status)

    def embedding(self) -> Embedding:
        """The lines that show it in another page; raises `ServiceError` if the script is not the one they name."""
        http = self._connection.http
        embedding = read(http.get(f"{self._path}/embedding", {"address": http.url}), Embedding)
        served = integrity_of(http.get_bytes(embedding.script, most=_LONGEST_SCRIPT))
        if served != embedding.integrity or served not in embedding.snippet:
            raise ServiceError(
                "the collector serves another script than it names: something between it and here changes scripts, or "
                "it was exchanged meanwhile; nothing was printed, so that no page trusts it",
                code="other_script",
            )
        return embedding

    def aggregate(self) -> Aggregate:
        """The counts of all reports counted so far."""
        from sottovoce.formats.aggregate_bytes import from_bytes

        survey = self.answerable
        most = 8 * survey.mechanism.cells + _HEADER
        return from_bytes(survey, self._connection.http.get_bytes(f"{self._path}/aggregate", most=most))

    def estimate(
        self, rule: SearchRule | None = None, progress: Callable[[int, int], object] | None = None
    ) -> Estimate:
        """The estimate from all reports counted so far, computed here from the aggregate.

        `rule` and `progress` are those of a search for words. Any word can then be asked for, with `estimate.of`.
        """
        return self.answerable.estimate(self._reports(), rule=rule, progress=progress)

    def groups(self) -> list[GroupStatus]:
        """The public groups of a survey that states some, with their reports."""
        return read(self._connection.http.get(f"{self._path}/groups"), GroupList).groups

    def group(self, name: GroupName) -> LiveSurvey:
        """One group of a survey: its status, its aggregate and its estimate."""
        return LiveSurvey(self._connection, self.answerable.in_group(name))

    def _reports(self) -> Aggregate | dict[Group, Aggregate]:
        """What an estimate is made of: the counts, or those of every group with the collector's minimum of reports."""
        if self.answerable.takes_reports:
            return self.aggregate()
        enough = max(1, self.status().minimum_reports)
        large = {group.number for group in self.groups() if group.n_reports >= enough}
        if not large:
            raise NoReportsError(f"no group has {enough:,} reports yet; ask again later")
        return {group: self.group(group).aggregate() for group in self.answerable.groups or () if group.number in large}

    def shares_of(self, words: Iterable[str], level: float = 0.95) -> list[WordAnswer]:
        """The shares of these words by the collector's own estimate, without fetching the counts.

        Bytes are written as 0x and hexadecimal digits, integers as decimal digits; at most 10,000 words.
        """
        body = {"words": list(words), "level": level}
        answers = read(self._connection.http.post(f"{self._path}/words", body), WordsAnswer).answers
        return [
            WordAnswer(
                label=answer.label,
                value=_number(answer.value),
                low=_number(answer.low),
                high=_number(answer.high),
                raw=_number(answer.raw),
                level=level,
                is_share=True,
                certain=answer.certain is True,
            )
            for answer in answers
        ]

    def watch(
        self, seconds: float = 2.0, rule: SearchRule | None = None, always: bool | str = True
    ) -> Iterator[Estimate]:
        """Estimates as reports arrive, polled every `seconds`; ends when the survey is sealed and counted.

        Until then their intervals hold at every look together, unless `always` is False; the last estimate has those
        of one look, which are shorter. Yields nothing below the collector's minimum number of reports.
        """
        _check_pause(seconds)
        _ = self.answerable
        poller, shown, while_open = Poller(longest=seconds), (-1, False), check_always(always)
        while True:
            status = poller.ask(self.status)
            looks = still_changing(status.state, status.waiting) and while_open
            if shown < (status.n_reports, not looks) and status.n_reports >= max(1, status.minimum_reports):
                with suppress(NoReportsError):  # no group has enough, though all together have
                    estimate = poller.ask(partial(self.estimate, rule)).watched(looks or False)
                    shown = status.n_reports, not looks
                    yield estimate
            if not still_changing(status.state, status.waiting):
                return
            poller.pause()

    # --- over time --------------------------------------------------------------------------

    def periods(self) -> list[PeriodStatus]:
        """The periods of a tracking survey that have begun, first to last, with their times and reports."""
        return self._reader.list().periods

    def period(self, number: int) -> LiveSurvey:
        """One period of a tracking survey: its status, its aggregate and its estimate."""
        return LiveSurvey(self._connection, self._tracking.period(number))

    def curve(self) -> Curve:
        """The curve of a tracking survey so far, computed here from the counts of every period.

        A period with fewer reports than the collector's minimum is a gap; one that is not closed is marked.
        """
        return self._reader.curve(self._reader.list())

    def watch_curve(self, seconds: float = 60.0) -> Iterator[Curve]:
        """A curve now and one more whenever a period is closed and counted; ends with the last period.

        Yields nothing while no period has the collector's minimum number of reports.

        Waits until the next period begins or closes by the collector's clock, and looks at least every `seconds`.
        """
        _check_pause(seconds)
        poller, shown = Poller(longest=seconds), None
        while True:
            listed = poller.ask(self._reader.list)
            if listed.final != shown:
                shown = listed.final
                with suppress(NoReportsError):
                    yield poller.ask(partial(self._reader.curve, listed))
            if listed.pause is None and len(listed.final) == len(listed.periods):
                return
            poller.pause(listed.pause)

    @cached_property
    def _reader(self) -> PeriodReader:
        return PeriodReader(
            self._connection.http, self._tracking, lambda asked: LiveSurvey(self._connection, asked)._reports()
        )

    @property
    def _tracking(self) -> Tracking:
        if not isinstance(self.survey, Tracking):
            raise SessionError(
                f"survey {self.survey.id[:12]} has no calendar, and so neither periods nor a curve: use estimate(); "
                "Tracking makes one that has"
            )
        return self.survey

    # --- changing ---------------------------------------------------------------------------

    def seal(self) -> None:
        """Accept no more reports; this cannot be undone, and is idempotent."""
        self._connection.http.post(f"{self._path}/seal")

    def hand_in(self, aggregate: Aggregate) -> None:
        """Send the counts that an engine made of all reports of this sealed survey; the collector then uses them.

        For surveys with more counters than the collector counts, or if its operator leaves all counting to engines.
        Needs an admin token.
        """
        from sottovoce.formats.aggregate_bytes import MEDIA_TYPE, to_bytes

        if aggregate.survey.id != self.survey.id:
            raise MismatchError(f"the aggregate is of survey {aggregate.survey.id[:12]}, not of {self.survey.id[:12]}")
        self._connection.http.put(f"{self._path}/aggregate", body=to_bytes(aggregate), content_type=MEDIA_TYPE)

    def delete(self) -> None:
        """Delete all reports and counts; this cannot be undone, and the survey cannot be published again."""
        self._connection.http.delete(self._path)

    # --- asking -----------------------------------------------------------------------------

    def rounds(self) -> list[RoundStatus]:
        """The rounds of a panel that have been opened, first to last."""
        self._adaptive()
        answer = self._connection.http.get(f"{self._path}/rounds")
        listed = read(answer, dict[str, list[RoundStatus]])
        return sorted(listed.get("rounds", []), key=lambda listed: listed.round)

    def open_round(self, asked: Survey, labels: Sequence[str] = (), minimum_reports: int | None = None) -> LiveSurvey:
        """Open a round of a panel, as a session does; idempotent."""
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
        """A session of adaptive questions to the devices; the collector stores its history.

        It starts with all closed rounds. A round that is still open after an interruption is finished first.

        Parameters
        ----------
        reports, seconds
            When a round ends: after this number of reports or this time, whichever comes first, but not before the
            collector's minimum. At least one of the two.
        progress
            Called with the number of reports counted since the last call, while an open round is finished.
        finish
            If False, an open round is left to the session's `finish` or first question.
        """
        panel = self._adaptive()
        crowd = CollectorCrowd(self.open_round, panel, self.status().minimum_reports, reports, seconds)
        past: list[FinishedRound] = []
        opened: tuple[Survey, tuple[str, ...]] | None = None
        for known in self.rounds():
            live = self._round(known.id)
            asked = live.survey
            seat = asked.seat if isinstance(asked, Survey) else None
            if not isinstance(asked, Survey) or seat is None or seat.panel.id != panel.id:
                raise SessionError(f"the collector's round {known.round} is not a round of panel {panel.id[:12]}")
            if seat.round != len(past) + 1 or opened is not None:
                raise SessionError("the collector's rounds are not in order; ask its operator")
            labels = _labels(asked, known.labels)
            if known.state == "open" or known.waiting:
                opened = asked, labels
                continue
            past.append(FinishedRound(asked, labels, round_aggregate(live)))
            crowd.note(seat.round, past[-1].aggregate.n_reports)
        session = Session(panel, crowd, past, opened=opened)
        if finish:
            session.finish(progress=progress)
        return session

    def _adaptive(self) -> Panel:
        if not isinstance(self.survey, Panel):
            raise SessionError(
                f"survey {self.survey.id[:12]} is not a panel and has no rounds: use estimate(), or 'sottovoce "
                "estimate'; Panel makes a panel"
            )
        return self.survey

    # --- exporting --------------------------------------------------------------------------

    def export(self, folder: str | os.PathLike[str], *, progress: Callable[[int], object] | None = None) -> Exported:
        """Write the counted reports as Parquet files, one per segment; a round or period has a folder of its own.

        Repeated, it writes only what is missing. `sottovoce.analyst.parquet.read_export` counts the files again.
        """
        with advancing(progress, "exporting", unit="reports") as advance:
            return self._export(Path(folder), advance)

    def _export(self, folder: Path, advance: Callable[[int], object]) -> Exported:
        if isinstance(self.survey, Survey) and self.survey.takes_reports:
            return export_reports(self._connection.http, self.survey, folder, advance)
        parts = (live._export(folder / name, advance) for name, live in self._parts())
        return sum(parts, start=Exported(0, 0, 0))

    def _parts(self) -> Iterator[tuple[str, LiveSurvey]]:
        """The rounds, periods or groups, each with the name of its folder."""
        if isinstance(self.survey, Survey):
            for group in self.survey.groups or ():
                yield f"group-{group.number:05d}", self.group(group)
        elif isinstance(self.survey, Tracking):
            for period in self.periods():
                if period.state != "deleted":
                    yield f"period-{period.number:05d}", self.period(period.number)
        else:
            for known in self.rounds():
                yield f"round-{known.round:05d}", self._round(known.id)

    def segments(self) -> list[SegmentEntry]:
        """The segments of the survey's counted reports."""
        return list_segments(self._connection.http, self.id)

    def __repr__(self) -> str:
        return f"<live {repr(self.survey).strip('<>')}>"


def _number(given: float | None) -> float:
    """JSON has null for a number that is not finite."""
    return math.nan if given is None else given


def _check_pause(seconds: object) -> None:
    if not isinstance(seconds, (int, float)) or not 0 < seconds <= 86400:
        raise SurveyError("seconds must be a number above 0, at most a day").at("seconds")


def _labels(asked: Survey, labels: list[str]) -> tuple[str, ...]:
    """Check the collector's labels of a round's choices."""
    choices = n_choices(asked)
    if len(labels) not in (0, choices):
        raise SessionError(
            f"the collector names {len(labels):,} choices for round {seat_of(asked).round}, which has {choices:,}"
        )
    return tuple(labels)
