"""A survey: the frozen statement of one collection, from which both sides derive everything.

Its id is the SHA-256 of its canonical JSON (RFC 8785), so a survey cannot be changed
without becoming another survey.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import msgspec
import numpy as np
import rfc8785
from numpy.typing import ArrayLike, NDArray

from sottovoce.aggregate import Aggregate, Reports
from sottovoce.domain import Domain, domain_from_statement
from sottovoce.errors import DomainError, MechanismError, SimulationError, SurveyError
from sottovoce.estimate import Estimate
from sottovoce.limits import (
    DEFAULT_REPORT_BYTES,
    MAX_DOMAIN_SIZE,
    check_domain_size,
    check_epsilon,
    check_integer,
)
from sottovoce.mechanisms import Mechanism, choose, create, restore
from sottovoce.randomness import os_source
from sottovoce.simulation import MAX_PEOPLE, People, Seed, count_reports, draw_reports

__all__ = ["Survey"]

FORMAT = 1
"""Version of the survey's JSON; a device refuses one it does not know."""

TAG_BYTES = 4
"""How much of the survey's id stands before every report, so that a stray one is noticed."""

MAX_TITLE = 200


@final
@dataclass(frozen=True, repr=False)
class Survey:
    """What is asked, of what domain, at what epsilon, by which mechanism.

    Examples
    --------
    >>> survey = Survey.distribution(["red", "green", "blue"], epsilon=1.0)
    >>> reports = survey.simulate(["red"] * 5000 + ["green"] * 3000 + ["blue"] * 2000, seed=7)
    >>> estimate = survey.estimate(reports)
    >>> [label for label, *_ in estimate.top(1)]
    ['red']
    """

    kind: str
    domain: Domain
    epsilon: float
    mechanism: Mechanism
    title: str = ""

    def __post_init__(self) -> None:
        if self.kind != "distribution":
            raise SurveyError("kind must be 'distribution', the only one this version knows")
        if (self.mechanism.domain_size, self.mechanism.epsilon) != (self.domain.size, self.epsilon):
            raise SurveyError(
                "the mechanism is for another domain size or epsilon than the survey states; "
                "make surveys with Survey.distribution or Survey.from_json"
            )
        if not isinstance(self.title, str) or len(self.title) > MAX_TITLE or not self.title.isprintable():
            raise SurveyError(f"title must be one line of printable text, at most {MAX_TITLE} characters")

    @classmethod
    def distribution(
        cls,
        domain: object,
        epsilon: float,
        mechanism: str = "auto",
        *,
        title: str = "",
        max_report_bytes: int = DEFAULT_REPORT_BYTES,
    ) -> Survey:
        """Ask how people are distributed over a domain, under pure epsilon-LDP.

        Parameters
        ----------
        domain
            Labels, an integer size, a range, a mapping of named attributes, or a `Domain`.
        epsilon
            What one report may reveal: any two values make any report equally likely up to e**epsilon.
        mechanism
            A name from `sottovoce.mechanisms.MECHANISMS`, or "auto": the least exact expected error
            among those whose report fits into `max_report_bytes`; `explain` tells why.
        """
        values = Domain.of(domain)
        if values.size > MAX_DOMAIN_SIZE:
            raise DomainError(
                f"the domain has {values.size:,} values; a distribution can be asked over at most {MAX_DOMAIN_SIZE:,}"
            )
        epsilon = check_epsilon(epsilon)
        limit = check_integer("max_report_bytes", max_report_bytes, 1, 2**20)
        chosen = choose(values.size, epsilon, limit) if mechanism == "auto" else create(mechanism, values.size, epsilon)
        return cls("distribution", values, epsilon, chosen, title)

    # --- identity -------------------------------------------------------------------------

    def to_statement(self) -> dict[str, Any]:
        """Everything both sides need, as plain JSON values."""
        return {
            "format": FORMAT,
            "kind": self.kind,
            "title": self.title,
            "domain": self.domain.to_statement(),
            "epsilon": self.epsilon,
            "mechanism": {"name": self.mechanism.name, **self.mechanism.parameters()},
        }

    @cached_property
    def canonical(self) -> bytes:
        """The survey's canonical JSON (RFC 8785): sorted keys, no spaces, shortest numbers."""
        return rfc8785.dumps(self.to_statement())

    @cached_property
    def id(self) -> str:
        """SHA-256 of the canonical JSON, in hexadecimal."""
        return hashlib.sha256(self.canonical).hexdigest()

    @cached_property
    def tag(self) -> bytes:
        """The first bytes of the id; they stand before every report."""
        return bytes.fromhex(self.id)[:TAG_BYTES]

    def to_json(self) -> str:
        """The canonical JSON as text."""
        return self.canonical.decode()

    @classmethod
    def from_json(cls, text: str | bytes) -> Survey:
        """The survey behind its JSON. Every field is checked again; unknown ones are refused."""
        if not isinstance(text, (str, bytes)):
            raise SurveyError(f"a survey is read from text or bytes, not from {type(text).__name__}")
        try:
            statement = msgspec.json.decode(text)
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            raise SurveyError(f"the survey is not valid JSON: {error}") from error
        expected = {"format", "kind", "title", "domain", "epsilon", "mechanism"}
        if not isinstance(statement, dict) or set(statement) != expected:
            raise SurveyError(f"a survey must hold exactly these fields: {', '.join(sorted(expected))}")
        if statement["format"] != FORMAT or type(statement["format"]) is not int:
            raise SurveyError(f"this survey has a format this version does not know; it knows format {FORMAT}")
        if statement["kind"] != "distribution":
            raise SurveyError("this survey is of a kind this version does not know; it knows 'distribution'")
        domain = domain_from_statement(statement["domain"])
        if domain.size > MAX_DOMAIN_SIZE:
            raise DomainError(f"a distribution can be asked over at most {MAX_DOMAIN_SIZE:,} values")
        epsilon = check_epsilon(statement["epsilon"])
        mechanism = _mechanism_from(statement["mechanism"], domain.size, epsilon)
        return cls("distribution", domain, epsilon, mechanism, statement["title"])

    def __repr__(self) -> str:
        return (
            f"<{self.kind} survey {self.id[:12]}: {self.domain.size:,} values, epsilon {self.epsilon:g}, "
            f"{self.mechanism.name}>"
        )

    # --- the device's side ----------------------------------------------------------------

    def randomize(self, value: object) -> bytes:
        """One device's report, as bytes, from the operating system's entropy.

        Every call draws again and spends epsilon again: a device calls this once and keeps the bytes.
        """
        report = self.mechanism.randomize(self.domain.index(value), os_source())
        return self.tag + self.mechanism.encode(report)

    # --- the collector's side -------------------------------------------------------------

    def aggregate(self) -> Aggregate:
        """The empty aggregate; add reports to it, merge it with others."""
        return Aggregate(self, 0, self.mechanism.empty())

    def estimate(self, reports: Aggregate | Reports | Iterable[bytes]) -> Estimate:
        """Raw and projected answers, with intervals, from an aggregate or from reports."""
        from sottovoce.protocols import distribution

        if isinstance(reports, Aggregate):
            return distribution.estimate(self.aggregate().merge(reports))
        return distribution.estimate(self.aggregate().add(reports))

    # --- simulation -----------------------------------------------------------------------

    def simulate(self, values: Any, seed: Seed = None) -> Reports:
        """Reports of simulated people with these values: vectorised, the device's law, reproducible."""
        people = People.with_values(self.domain.indices(values))
        return Reports(self, draw_reports(self.mechanism, people, seed))

    def simulate_aggregate(
        self,
        values: Any = None,
        *,
        histogram: ArrayLike | None = None,
        seed: Seed = None,
        progress: Callable[[int], object] | None = None,
    ) -> Aggregate:
        """Like `simulate`, but reports are only counted: memory does not grow with the number of people.

        Give `values`, one a person, or `histogram`, the number of people with each value.
        `progress` is called with the number of people done since its last call.
        """
        if (values is None) == (histogram is None):
            raise SimulationError("give either values (one a person) or histogram (people per value)")
        if histogram is not None:
            people = People.with_histogram(self._histogram(histogram))
        else:
            people = People.with_values(self.domain.indices(values))
        counts = count_reports(self.mechanism, people, seed, progress)
        return Aggregate(self, people.n, counts)

    def _histogram(self, histogram: ArrayLike) -> NDArray[np.int64]:
        try:
            array = np.asarray(histogram)
        except ValueError:  # rows of different lengths
            array = np.empty(0)
        if array.shape != (self.domain.size,) or array.dtype.kind not in "iu" or (array < 0).any():
            raise SimulationError(
                f"histogram must hold {self.domain.size} non-negative integers, the number of people with each value"
            )
        if array.sum(dtype=np.float64) > MAX_PEOPLE:
            raise SimulationError(f"histogram holds too many people: at most {MAX_PEOPLE:,} can be simulated")
        return array.astype(np.int64)

    # --- advice ---------------------------------------------------------------------------

    def explain(self, users: int = 1_000_000) -> str:
        """Why this mechanism, compared with every other that can serve."""
        from sottovoce.theory.planner import compare, explain

        return explain(compare(self.domain.size, self.epsilon, users), self.mechanism.name)


def _mechanism_from(statement: object, domain_size: int, epsilon: float) -> Mechanism:
    if not isinstance(statement, dict) or "name" not in statement:
        raise MechanismError("the survey's mechanism must hold a name and its own parameters")
    parameters = {key: number for key, number in statement.items() if key != "name"}
    return restore(statement["name"], check_domain_size(domain_size), epsilon, parameters)
