"""What is audited: a mechanism alone, or a survey with all that stands between a person's value and the bytes sent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Protocol

from sottovoce.auditing.system import MOST_WATCHED, ReadTape, play_source, time_left, watch_system
from sottovoce.core.errors import MechanismError, MissingExtraError, ReportError
from sottovoce.core.words import plural
from sottovoce.domain import Domain
from sottovoce.domain.trials import NumberedTrials, Trial, Trials
from sottovoce.mechanisms.base import Mechanism
from sottovoce.mechanisms.reference import ChannelReference, SampledReference
from sottovoce.mechanisms.registry import REGISTRY
from sottovoce.randomness import ByteSource, Source, os_source
from sottovoce.randomness.scripts import unpredictable
from sottovoce.workloads.naming import value_at

__all__ = ["AuditedSurvey", "FramingError", "Subject", "failure", "references_of"]


class AuditedSurvey(Protocol):
    """What an audit needs of a survey."""

    @property
    def id(self) -> str:
        """Its id."""

    @property
    def tag(self) -> bytes:
        """The first bytes of every report."""

    @property
    def mechanism(self) -> Mechanism:
        """What randomizes."""

    @property
    def domain(self) -> Domain | None:
        """The values; None for vectors."""

    @property
    def question(self) -> Any:
        """The question; its `audit_trials` are people's values, for surveys without a domain."""

    @property
    def attachments(self) -> Mapping[str, bytes]:
        """The bytes that its JSON names by digest."""

    def to_json(self) -> str:
        """Its statement, for clients in other languages."""

    def private_input(self, value: object) -> Any:
        """The mechanism's input for a person's value."""

    def randomize(self, value: object) -> bytes:
        """A device's report, called as a device calls it."""


class FramingError(ReportError):
    """Bytes of a device that are not the survey's tag and a payload of the mechanism's width."""


def failure(error: Exception) -> str:
    """The failure of a device in words; a missing package is raised instead, since the device is not at fault."""
    if isinstance(error, MissingExtraError):
        raise error
    return str(error) if isinstance(error, FramingError) else f"the device raises {type(error).__name__}: {error}"


def references_of(mechanism: Mechanism) -> list[ChannelReference | SampledReference]:
    """What the mechanism's device is judged by: its own reference, or else the law that it states.

    By both for a mechanism of another package, whose own reference nobody here has checked.
    """
    references = [mechanism.audit_reference()]
    if references[0] is None or REGISTRY.is_foreign(type(mechanism)):
        references.append(mechanism.stated_reference())
    known = [reference for reference in references if reference is not None]
    if not known:
        raise MechanismError(
            f"{mechanism.name} cannot be audited: no device runs it, or it has neither an audit_reference nor a law "
            "that is stated by exact probabilities"
        ).at("mechanism")
    return known


@dataclass(frozen=True)
class Subject:
    """A mechanism, and the survey that uses it, if one is audited."""

    mechanism: Mechanism
    survey: AuditedSurvey | None = None

    @cached_property
    def trials(self) -> Trials:
        """The values that its device is run on: those that a person may have, or the mechanism's inputs."""
        if self.survey is None:
            reference = references_of(self.mechanism)[-1]
            return NumberedTrials(reference.values, int) if reference.values is not None else reference.trials
        domain = self.survey.domain
        if domain is not None:
            return NumberedTrials(domain.size, partial(value_at, domain))
        trials: Trials | None = self.survey.question.audit_trials()
        if trials is None:
            raise MechanismError(
                f"a survey of kind {self.survey.question.kind!r} cannot be audited: its question states no "
                "audit_trials; audit its mechanism instead"
            )
        return trials

    @property
    def size(self) -> int | None:
        """How many values there are, if they are numbered."""
        return self.trials.size

    def value(self, number: int) -> Any:
        """The value of that number, as a person has it."""
        return self.trials.value(number)

    def input(self, value: Any) -> Any:
        """The mechanism's input for it."""
        return value if self.survey is None else self.survey.private_input(value)

    def randomize(self, value: Any, source: Source) -> bytes:
        """Run the mechanism's device code alone, on its own input."""
        return self.mechanism.encode(self.mechanism.randomize(value, source))

    def draw(self, value: Any) -> bytes:
        """A whole report, drawn with the system's entropy as it is deployed; nothing is replaced."""
        return self.randomize(value, os_source()) if self.survey is None else self.survey.randomize(value)

    def report(self, value: Any, source: Source) -> bytes:
        """The whole report of the same call, with this source in place of the system's."""
        if self.survey is None:
            return self.randomize(value, source)
        with play_source(self.survey, source):
            return self.survey.randomize(value)

    def payload(self, report: bytes) -> bytes:
        """A whole report without the survey's tag."""
        tag, width = b"" if self.survey is None else self.survey.tag, self.mechanism.report_bytes
        if self.survey is not None and not (report.startswith(tag) and len(report) == len(tag) + width):
            raise FramingError(
                f"the device sends {report.hex()[:48]} ({plural(len(report), 'byte')}), where a report is the tag "
                f"{tag.hex()} and {plural(width, 'byte')}"
            )
        return report[len(tag) :]

    def send(self, value: Any, source: Source) -> bytes:
        """Run all that a device runs, with this source in place of the system's, and take off a survey's tag."""
        return self.payload(self.report(value, source))

    def wrong_entropy(self, people: Iterable[Trial] | None = None) -> str:
        """The first of these values whose report a survey does not draw from the system's bytes.

        Unless they are given: random values, each at once again and in turn with another, and those at edges.
        """
        if self.survey is None:
            return ""
        for trial in time_left(self._watched() if people is None else people):
            with watch_system() as read:
                sent = self.draw(trial.value)
            if words := self.wrong_report(trial.value, b"".join(read), sent):
                return f"{trial.name}: {words}"
        return ""

    def _watched(self) -> Iterator[Trial]:
        rng = unpredictable()
        for _ in range(MOST_WATCHED // 4):
            first, second = self.trials.random(rng), self.trials.random(rng)
            yield from (first, first, second, first)
        yield from self.trials.edges()

    def wrong_report(self, value: Any, read: bytes, sent: bytes) -> str:
        """What is wrong with a report that was drawn while these bytes were read: it must be drawn from them again."""
        tape, again = ReadTape(read), b""
        try:
            self.payload(sent)
            again = self.report(value, ByteSource(tape.read))
        except FramingError as error:
            return str(error)
        except EOFError:
            pass
        if again == sent and read and not tape.rest:
            return ""
        return (
            f"the device sends {sent.hex()[:48]}, which is not what it draws from the "
            f"{plural(len(read), 'random byte')} that it has read from the operating system"
        )
