"""An adaptive session: one question after another. Its state can be saved and continued, by one process at a time."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Final, Self, final

from sottovoce.adaptive.answer import ChoiceAnswer, RoundAnswer, RoundInterval, answer_of, seat_of
from sottovoce.adaptive.crowd import Crowd, SimulatedCrowd
from sottovoce.adaptive.history import AnyAnswer, History
from sottovoce.adaptive.state import FinishedRound, SessionState
from sottovoce.core.calls import with_clear_calls
from sottovoce.core.errors import SessionError, SurveyError
from sottovoce.core.files import create_file, replace_file, sync
from sottovoce.core.limits import check_integer
from sottovoce.core.progress import steps
from sottovoce.core.words import plural
from sottovoce.estimates.intervals import Interval, check_level
from sottovoce.expressions import Query
from sottovoce.surveys.panel import MAX_CHOICES, Panel
from sottovoce.surveys.rounds import round_of
from sottovoce.surveys.simulation import Seed
from sottovoce.surveys.survey import Survey
from sottovoce.theory.adaptive_bounds import adaptive_bound
from sottovoce.theory.bounds import Bound

__all__ = ["Session", "create_text", "exists", "read_durably", "read_text", "replace_text", "resolve_path"]

_MODE: Final = 0o600
"""Readable by the owner only."""


def resolve_path(path: Any) -> Path:
    """The absolute path with links resolved."""
    try:
        return Path(os.fspath(path)).resolve()
    except (TypeError, ValueError, OSError, RuntimeError):
        pass
    raise SessionError("path must be a text or a pathlib.Path, for example 'session.json'")


def exists(path: Path) -> bool:
    """Whether the path exists."""
    try:
        path.lstat()
    except FileNotFoundError:
        return False
    except (OSError, ValueError) as error:
        raise SessionError(f"{path} cannot be accessed: {_reason(error)}") from error
    return True


def read_text(path: Path) -> str:
    """The content of a file."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise SessionError(f"{path} cannot be read: {_reason(error)}") from error


def read_durably(path: Path) -> str:
    """The content of a file, after syncing its folder: its creator may not have done so yet."""
    text = read_text(path)
    try:
        sync(path.parent)
    except OSError as error:
        raise SessionError(f"the folder of {path} cannot be synced: {_reason(error)}") from error
    return text


def replace_text(path: Path, text: str) -> None:
    """Replace the content of a file; after a crash it is either the old or the new content."""
    with _written(path):
        replace_file(path, text.encode(), _MODE)


def create_text(path: Path, text: str) -> str:
    """Create a file unless another process has created it; return its content.

    Linking a finished file to its name succeeds for exactly one process, and never replaces anything.
    """
    with _written(path):
        try:
            create_file(path, text.encode(), _MODE)
        except OSError:
            # Another process was faster.
            if not exists(path):
                raise
            return read_durably(path)
    return text


@contextlib.contextmanager
def _written(path: Path) -> Iterator[None]:
    try:
        yield
    except SessionError:
        raise
    except (OSError, ValueError) as error:
        raise SessionError(f"{path} cannot be written: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or "invalid text or name"


_ALMOST_SURE: Final = 1 - 2.0**-53
"""The largest level below one."""

Progress = Callable[[int], object]


@final
class Session:
    """Questions to the people of a panel, one per round; make one with `Session.simulated`.

    `state` is the complete state: a session that continues from it asks the same people. A question is recorded before
    it is asked, so a session interrupted in the middle of a round finishes that round first and asks nobody twice. A
    file belongs to one session at a time; a session that finds its file changed stops before it asks.

    Examples
    --------
    >>> import sottovoce as sv
    >>> people = {"age": [20, 70] * 20_000, "country": ["FR"] * 40_000}
    >>> panel = sv.Panel({"age": range(100), "country": ["DE", "FR"]}, rounds=2, epsilon=2.0)
    >>> session = Session.simulated(panel, people, seed=7)
    >>> answer = session.ask("age < 30 and country == 'FR'")
    >>> round(answer.value, 1), session.remaining
    (0.5, 1)
    """

    def __init__(
        self,
        panel: Panel,
        crowd: Crowd,
        past: Sequence[FinishedRound] = (),
        path: Path | None = None,
        opened: tuple[Survey, tuple[str, ...]] | None = None,
    ) -> None:
        self.panel = panel
        self.crowd = crowd
        self._past = list(past)
        self._path = path
        self._written = ""
        self._opened = opened
        self._answers: list[AnyAnswer] = [answer_of(p.asked, seat_of(p.asked), p.aggregate, p.labels) for p in past]

    @classmethod
    @with_clear_calls("sv.Session.simulated(panel, people, seed=7)")
    def simulated(
        cls, panel: Panel, values: Any, seed: Seed = None, *, path: str | PathLike[str] | None = None
    ) -> Self:
        """Ask simulated people with these records, one question after another.

        Parameters
        ----------
        values
            The records: a mapping of columns, a DataFrame, a list of records, or an array of their numbers.
        seed
            Makes the session reproducible; None for a random one.
        path
            A file with the session's state, written after every answer. If it exists, the session continues from it;
            the same values must be given again.
        """
        with steps("assigning people to rounds"):
            return cls.start(panel, lambda kept: SimulatedCrowd.of(panel, values, seed, kept), path)

    @classmethod
    def start(
        cls,
        panel: Panel,
        crowd: Callable[[dict[str, Any] | None], Crowd],
        path: str | PathLike[str] | None = None,
    ) -> Self:
        """A new session, or the one saved in `path`; `crowd` makes the people from their saved state."""
        where = None if path is None else resolve_path(path)
        if where is None:
            return cls(panel, crowd(None))
        if not exists(where):
            session = cls(panel, crowd(None), (), where)
            text = session.state.to_json()
            session._written = create_text(where, text)
            if session._written == text:
                return session
        text = read_text(where)
        state = SessionState.from_json(panel, text)
        session = cls(panel, crowd(state.crowd), state.past, where)
        session._written = text
        if state.opened is not None:
            session._gather(state.opened, state.opened_labels)
        return session

    # --- asking -----------------------------------------------------------------------------

    @property
    def remaining(self) -> int:
        """The number of rounds left."""
        return self.panel.rounds - len(self._past)

    def ask(self, query: Query | str, *, progress: Progress | None = None) -> RoundAnswer:
        """Estimate the mean of a query over the population, from the people of the next round.

        Parameters
        ----------
        query
            An expression such as ``"age < 30 and country in ('FR', 'DE')"``, or any `sottovoce.query`. Its values
            must stay within the panel's radius.
        progress
            Called with the number of people done since the last call.
        """
        asked = round_of(self.panel, self._next(), query)
        seat_of(asked).check_radius()
        answer: RoundAnswer = self._gather(asked, (), progress)
        return answer

    def choose(
        self, query: Query | str, choices: int | Sequence[str], *, progress: Progress | None = None
    ) -> ChoiceAnswer:
        """Estimate the distribution of an integer query over 0 .. k-1, from the people of the next round.

        Parameters
        ----------
        query
            The number of a person's choice; larger numbers count as the last choice, negative ones as 0. With
            ``find(country, ('FR', 'DE'))`` the last of three choices is everybody else.
        choices
            Their names, or their number.
        """
        labels = _labels(choices)
        size = check_integer("choices", len(labels) if labels else choices, 2, MAX_CHOICES)
        asked = round_of(self.panel, self._next(), query, size)
        answer: ChoiceAnswer = self._gather(asked, labels, progress)
        return answer

    def finish(self, *, progress: Progress | None = None) -> AnyAnswer | None:
        """Finish an interrupted question; None if there is none.

        `ask` and `choose` do this first.
        """
        if self._opened is None:
            return None
        asked, labels = self._opened
        answer: AnyAnswer = self._gather(asked, labels, progress)
        return answer

    def _next(self) -> int:
        self.finish()
        if not self.remaining:
            raise SessionError(
                f"all {self.panel.rounds} rounds have been asked, and everybody has answered once; to continue, make a "
                "panel with more rounds and ask other people"
            )
        return len(self._past) + 1

    def _gather(self, asked: Survey, labels: tuple[str, ...], progress: Progress | None = None) -> Any:
        self._opened = asked, labels
        try:
            self._keep()
        except SessionError:
            self._opened = None  # nobody has been asked yet
            raise
        past = FinishedRound(asked, labels, self.crowd.answer(asked, progress, labels))
        answer = answer_of(asked, seat_of(asked), past.aggregate, labels)
        self._past.append(past)
        self._answers.append(answer)
        self._opened = None
        self._keep()
        return answer

    # --- results --------------------------------------------------------------

    @property
    def history(self) -> History:
        """All answers so far."""
        return History(tuple(self._answers))

    @property
    def bound(self) -> Bound:
        """Upper bound on the expected largest error over all rounds, for any choice of questions.

        The error is relative to the population from which people were drawn independently, not to the mean over these
        people, about whom earlier rounds already carry information.
        """
        if not self.crowd.people:
            return Bound(2 * self.panel.radius, "without people: 2 r")
        return adaptive_bound(self.panel.rounds, self.panel.radius, self.panel.epsilon, self.crowd.people)

    def intervals(self, level: float = 0.95) -> list[RoundInterval | Interval | None]:
        """Simultaneous intervals of all answers (Bonferroni over all rounds of the panel).

        For the population from which people were drawn independently, and valid for any choice of questions: given
        earlier rounds, a round's people are fresh draws. A round of choices has one interval per choice, also
        simultaneous; None if nobody answered it.
        """
        check_level(level)
        each = min(1 - (1 - level) / self.panel.rounds, _ALMOST_SURE)
        intervals: list[RoundInterval | Interval | None] = []
        for answer in self._answers:
            if isinstance(answer, RoundAnswer):
                intervals.append(answer.interval(each))
            else:
                estimate = answer.estimate
                intervals.append(None if estimate is None else estimate.interval(each, simultaneous=True))
        return intervals

    # --- saving ----------------------------------------------------------------------------

    @property
    def state(self) -> SessionState:
        """The panel, the questions, and the counts of their reports."""
        opened, labels = (None, ()) if self._opened is None else self._opened
        return SessionState(self.panel, self.crowd.state(), tuple(self._past), opened, labels)

    def save(self, path: str | PathLike[str]) -> None:
        """Save the session in a file, replaced atomically; `Session.simulated` continues from it."""
        replace_text(resolve_path(path), self.state.to_json())

    def _keep(self) -> None:
        if self._path is None:
            return
        if not exists(self._path) or read_text(self._path) != self._written:
            raise SessionError(
                f"{self._path} has been changed or removed since this session wrote it, perhaps by another session; "
                "nobody was asked: start again from the file, with one session at a time"
            )
        text = self.state.to_json()
        replace_text(self._path, text)
        self._written = text

    def __repr__(self) -> str:
        return (
            f"<session of panel {self.panel.id[:12]}: {len(self._past):,} of {plural(self.panel.rounds, 'round')} "
            f"asked, {plural(self.crowd.people, 'person', 'people')}>"
        )


def _labels(choices: object) -> tuple[str, ...]:
    """The names of the choices; empty if only their number is given."""
    if isinstance(choices, Sequence) and not isinstance(choices, (str, bytes, bytearray)):
        labels = tuple(str(name) for name in choices)
        if len(set(labels)) < len(labels):
            raise SurveyError("two choices have the same name; give every choice its own")
        return labels or ("",)  # refused later as too few
    return ()
