"""An adaptive session: ask a question, read its answer, ask the next. What it knows can be kept and taken up again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Final, Self, final

from sottovoce.adaptive.answer import ChoiceAnswer, Ends, RoundAnswer, answer_of
from sottovoce.adaptive.crowd import Crowd, SimulatedCrowd
from sottovoce.adaptive.files import create_text, is_there, place_of, read_text, replace_text
from sottovoce.adaptive.history import AnyAnswer, History
from sottovoce.adaptive.rounds import seat_of
from sottovoce.adaptive.state import Past, State
from sottovoce.errors import SessionError, SurveyError
from sottovoce.expressions import Query
from sottovoce.limits import check_integer
from sottovoce.surveys.estimate import Interval
from sottovoce.surveys.panel import MAX_CHOICES, Panel
from sottovoce.surveys.simulation import Seed
from sottovoce.surveys.survey import Survey
from sottovoce.theory.adaptive_bounds import adaptive_bound
from sottovoce.theory.bounds import Bound

__all__ = ["Session"]

_ALMOST_SURE: Final = 1 - 2.0**-53
"""The largest level below one."""

Progress = Callable[[int], object]


@final
class Session:
    """Questions to the people of a panel, one a round; make one with `Session.simulated`.

    Everything it knows is in `state`: who goes on from it asks the same people. A question is noted before it is
    asked, so that a session that was cut short in the middle of a round finishes that round first and asks nobody
    twice. A file belongs to one session at a time; one that finds it changed stops before it asks.

    Examples
    --------
    >>> import sottovoce as sv
    >>> people = {"age": [20, 70] * 20_000, "country": ["FR"] * 40_000}
    >>> panel = sv.Survey.adaptive({"age": range(100), "country": ["DE", "FR"]}, rounds=2, epsilon=2.0)
    >>> session = Session.simulated(panel, people, seed=7)
    >>> answer = session.ask("age < 30 and country == 'FR'")
    >>> round(answer.value, 1), session.remaining
    (0.5, 1)
    """

    def __init__(
        self,
        panel: Panel,
        crowd: Crowd,
        past: Sequence[Past] = (),
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
    def simulated(
        cls, panel: Panel, values: Any, seed: Seed = None, *, path: str | PathLike[str] | None = None
    ) -> Self:
        """Ask simulated people with these records, one question after another.

        Parameters
        ----------
        values
            Everybody's record: a mapping of columns, a DataFrame, a list of records, or an array of their numbers.
        seed
            Makes the session repeat itself exactly; None for a fresh one.
        path
            A file that keeps the session, written after every answer. If it is there already, the session goes on
            from it; the same values must be given again.
        """
        return cls.start(panel, lambda kept: SimulatedCrowd.of(panel, values, seed, kept), path)

    @classmethod
    def start(
        cls,
        panel: Panel,
        crowd: Callable[[dict[str, Any] | None], Crowd],
        path: str | PathLike[str] | None = None,
    ) -> Self:
        """A new session, or the one that `path` keeps; `crowd` makes its people, from what was kept of them."""
        where = None if path is None else place_of(path)
        if where is None:
            return cls(panel, crowd(None))
        if not is_there(where):
            session = cls(panel, crowd(None), (), where)
            text = session.state.to_json()
            session._written = create_text(where, text)
            if session._written == text:
                return session
        text = read_text(where)
        state = State.from_json(panel, text)
        session = cls(panel, crowd(state.crowd), state.past, where)
        session._written = text
        if state.opened is not None:
            session._gather(state.opened, state.opened_labels)
        return session

    # --- asking -----------------------------------------------------------------------------

    @property
    def remaining(self) -> int:
        """How many questions may still be asked."""
        return self.panel.rounds - len(self._past)

    def ask(self, query: Query | str, *, progress: Progress | None = None) -> RoundAnswer:
        """The mean of a query over the population that people were drawn from, by the people of the next round.

        Parameters
        ----------
        query
            An expression such as ``"age < 30 and country in ('FR', 'DE')"``, or any `sottovoce.query`. Its values
            must stay within the panel's radius.
        progress
            Called with the number of people done since its last call.
        """
        asked = Survey.round(self.panel, self._next(), query)
        seat_of(asked).check_radius()
        answer: RoundAnswer = self._gather(asked, (), progress)
        return answer

    def choose(
        self, query: Query | str, choices: int | Sequence[str], *, progress: Progress | None = None
    ) -> ChoiceAnswer:
        """How the population is distributed over the values 0 .. k-1 of an integer query, by the next round's people.

        Parameters
        ----------
        query
            The number of a person's choice; one beyond the last counts as the last, one below 0 as 0. With
            ``find(country, ('FR', 'DE'))`` the last of three choices is everybody else.
        choices
            Their names, or how many there are.
        """
        labels = _labels(choices)
        size = check_integer("choices", len(labels) if labels else choices, 2, MAX_CHOICES)
        asked = Survey.round(self.panel, self._next(), query, size)
        answer: ChoiceAnswer = self._gather(asked, labels, progress)
        return answer

    def finish(self, *, progress: Progress | None = None) -> AnyAnswer | None:
        """The answer to a question that was cut short, whose people have begun to answer; None when there is none.

        Asking does this by itself before it asks anything new.
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
                f"all {self.panel.rounds} rounds have been asked, and everybody has answered once; make a panel of "
                "more rounds, and ask other people, to go on"
            )
        return len(self._past) + 1

    def _gather(self, asked: Survey, labels: tuple[str, ...], progress: Progress | None = None) -> Any:
        self._opened = asked, labels
        try:
            self._keep()
        except SessionError:
            self._opened = None  # nobody has been asked yet
            raise
        past = Past(asked, labels, self.crowd.answer(asked, progress, labels))
        answer = answer_of(asked, seat_of(asked), past.aggregate, labels)
        self._past.append(past)
        self._answers.append(answer)
        self._opened = None
        self._keep()
        return answer

    # --- what has been learned --------------------------------------------------------------

    @property
    def history(self) -> History:
        """All answers so far."""
        return History(tuple(self._answers))

    @property
    def bound(self) -> Bound:
        """What the expected largest error over all rounds stays below, however the questions were chosen.

        The error is against the population that people were drawn from, each independently; not against the mean over
        these very people, of whom earlier rounds have already told something.
        """
        if not self.crowd.users:
            return Bound(2 * self.panel.radius, "nobody is there to answer: 2 r")
        return adaptive_bound(self.panel.rounds, self.panel.radius, self.panel.epsilon, self.crowd.users)

    def intervals(self, level: float = 0.95, method: Any = "normal") -> list[Ends | Interval | None]:
        """Intervals of all answers that hold together, for all the rounds there may be (Bonferroni over rounds).

        For the population that people were drawn from, each independently, and then valid however each question was
        chosen: given everything before, a round's people are fresh draws from it. A round of choices has an interval a
        choice, all of them holding together too; None when nobody answered it.
        """
        if not isinstance(level, float) or not 0 < level < 1:
            raise SurveyError("level must be a number between 0 and 1, for example 0.95")
        each = min(1 - (1 - level) / self.panel.rounds, _ALMOST_SURE)
        found: list[Ends | Interval | None] = []
        for answer in self._answers:
            if isinstance(answer, RoundAnswer):
                found.append(answer.interval(each, method))
            else:
                estimate = answer.estimate
                found.append(None if estimate is None else estimate.interval(each, simultaneous=True, method=method))
        return found

    # --- keeping ----------------------------------------------------------------------------

    @property
    def state(self) -> State:
        """Everything the session knows: the panel, the questions, the counts of their reports."""
        opened, labels = (None, ()) if self._opened is None else self._opened
        return State(self.panel, self.crowd.state(), tuple(self._past), opened, labels)

    def save(self, path: str | PathLike[str]) -> None:
        """Keep the session in a file, replaced as a whole; `Session.simulated` goes on from it."""
        replace_text(place_of(path), self.state.to_json())

    def _keep(self) -> None:
        if self._path is None:
            return
        if not is_there(self._path) or read_text(self._path) != self._written:
            raise SessionError(
                f"{self._path} has been changed or removed since this session wrote it, perhaps by another one that "
                "goes on from it; nobody was asked: start from the file again, with one session at a time"
            )
        text = self.state.to_json()
        replace_text(self._path, text)
        self._written = text

    def __repr__(self) -> str:
        return (
            f"<session of panel {self.panel.id[:12]}: {len(self._past):,} of {self.panel.rounds:,} rounds asked, "
            f"{self.crowd.users:,} people>"
        )


def _labels(choices: object) -> tuple[str, ...]:
    """The names of choices, where they are named; none where only their number is given."""
    if isinstance(choices, Sequence) and not isinstance(choices, (str, bytes, bytearray)):
        labels = tuple(str(name) for name in choices)
        if len(set(labels)) < len(labels):
            raise SurveyError("two choices have the same name; give every choice its own")
        return labels or ("",)  # too few, and refused as such
    return ()
