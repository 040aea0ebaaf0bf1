"""Who audits a mechanism: its own reference, or the law that it states, and then the result says so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pytest

import sottovoce as sv
from sottovoce.auditing.conformance import ConformanceError, check_mechanism
from sottovoce.auditing.result import NO_REFERENCE, OWN_REFERENCE, STATED_LAW, STATED_PROBABILITIES
from sottovoce.core.errors import MechanismError
from sottovoce.mechanisms import MECHANISMS, Mechanism, register
from sottovoce.mechanisms.binary import Binary
from sottovoce.mechanisms.one_option import OneOption
from sottovoce.mechanisms.randomized_response import RandomizedResponse
from sottovoce.mechanisms.reference import ChannelReference
from sottovoce.mechanisms.registry import REGISTRY, complete


class ForeignResponse(RandomizedResponse):  # type: ignore[misc]
    """A mechanism of another package for values, without a reference."""

    name: ClassVar[str] = "foreign_response"
    audit_reference = Mechanism.audit_reference  # type: ignore[assignment]


class ForeignOption(OneOption):  # type: ignore[misc]
    """A mechanism of another package for sets, without a reference."""

    name: ClassVar[str] = "foreign_option"
    audit_reference = Mechanism.audit_reference  # type: ignore[assignment]


class LyingOption(ForeignOption):
    """Tells the truth, and states that it does not always."""

    name: ClassVar[str] = "lying_option"

    def _randomize(self, row, source):  # type: ignore[no-untyped-def]
        option = source.below(self.options)
        source.bernoulli(1 << 63)
        return 2 * option + (option in row)


@dataclass(frozen=True)
class ForeignNumber(Binary):  # type: ignore[misc]
    """A mechanism of another package for vectors."""

    name: ClassVar[str] = "foreign_number"


def test_every_mechanism_of_this_package_brings_a_reference() -> None:
    for name, kind in MECHANISMS.items():
        reference = kind.typical(5, 1.0, 1e-6).audit_reference()
        assert (reference is not None and reference.independent) or not kind.deployable, name


def test_a_mechanism_of_this_package_without_one_is_refused() -> None:
    with pytest.raises(TypeError, match="audit_reference"):
        complete(ForeignResponse)


@pytest.mark.parametrize(("size", "verdict"), [(5, "proved"), (100_000, "sampled")])
def test_a_verdict_by_the_stated_law_says_so(size: int, verdict: str) -> None:
    found = sv.audit(ForeignResponse(size, 1.0), samples=100, seconds=0.5)
    assert (found.verdict, STATED_LAW in found.method) == (verdict, True)
    assert (STATED_PROBABILITIES in found.assumptions) == (verdict == "sampled")
    ours = sv.audit(RandomizedResponse(size, 1.0), samples=100, seconds=0.5)
    assert (STATED_LAW in ours.method, STATED_PROBABILITIES in ours.assumptions) == (False, False)


def test_sets_are_audited_by_their_stated_law_too() -> None:
    found = sv.audit(ForeignOption(12, 3, 1.0), samples=100, seconds=0.5)
    assert (found.verdict, STATED_LAW in found.method) == ("sampled", True)
    assert STATED_PROBABILITIES in found.assumptions
    assert sv.audit(LyingOption(12, 3, 1.0), samples=100, seconds=0.5).verdict == "broken"


def test_a_survey_may_use_a_foreign_mechanism_for_sets() -> None:
    register(ForeignOption)
    try:
        survey = sv.Survey(sv.choices(5, most=2), epsilon=1.0, mechanism="foreign_option", people=100)
        assert isinstance(survey.mechanism, ForeignOption)
        assert sv.Survey.from_json(survey.to_json()) == survey
    finally:
        REGISTRY.forget()


def test_the_battery_finds_a_set_mechanism_that_lies() -> None:
    check_mechanism(ForeignOption, domain_sizes=(3,), epsilons=(1.0,), simulation=False)
    with pytest.raises(ConformanceError, match="impossible"):
        check_mechanism(LyingOption, domain_sizes=(3,), epsilons=(1.0,), simulation=False)


def test_a_family_without_a_battery_is_refused_with_what_is_possible() -> None:
    with pytest.raises(MechanismError, match=r"FiniteMechanism \(for values\) or SetMechanism \(for sets\)"):
        register(ForeignNumber)


class Blind(ChannelReference):
    """A reference that finds nothing wrong, and knows few values."""

    def __init__(self, mechanism) -> None:  # type: ignore[no-untyped-def]
        super().__init__(5)
        self.mechanism = mechanism

    def requests(self, value):  # type: ignore[no-untyped-def]
        return RandomizedResponse(self.mechanism.domain_size, self.mechanism.epsilon).audit_reference().requests(value)

    def payloads(self, values, draws):  # type: ignore[no-untyped-def]
        raise NotImplementedError

    def ratio(self):  # type: ignore[no-untyped-def]
        return self.mechanism.privacy_ratio()

    def first_wrong(self, values, draws, asked, sent):  # type: ignore[no-untyped-def]
        return None


class BlindResponse(ForeignResponse):
    """Brings a reference that finds nothing wrong."""

    name: ClassVar[str] = "blind_response"

    def audit_reference(self):  # type: ignore[no-untyped-def]
        return Blind(self)


class TruthfulResponse(BlindResponse):
    """Every second value is told as it is in large domains alone."""

    name: ClassVar[str] = "truthful_response"

    def _randomize(self, value, source):  # type: ignore[no-untyped-def]
        found = super()._randomize(value, source)
        return value if self.domain_size > 50_000 and value % 2 == 0 else found


def test_a_foreign_reference_does_not_replace_the_stated_law() -> None:
    found = sv.audit(BlindResponse(100_000, 1.0), samples=100, seconds=0.5)
    assert found.verdict == "sampled"
    assert STATED_LAW in found.method
    assert OWN_REFERENCE in found.method
    assert STATED_PROBABILITIES in found.assumptions
    assert sv.audit(TruthfulResponse(100_000, 1.0), samples=100, seconds=0.5).verdict == "broken"


def test_a_verdict_by_a_foreign_reference_alone_says_whose_it_was() -> None:
    assert OWN_REFERENCE in sv.audit(ForeignNumber.best(1, 1.0, 1.0, 0.0, 100), samples=100, seconds=0.2).method
    assert OWN_REFERENCE not in sv.audit("binary", samples=100, seconds=0.2).method
    assert NO_REFERENCE in sv.audit(ForeignResponse(5, 1.0), samples=100, seconds=0.2).method


class UntriedOption(ForeignOption):
    """Has no miniatures."""

    name: ClassVar[str] = "untried_option"

    @classmethod
    def miniatures(cls, epsilon):  # type: ignore[no-untyped-def]
        return ()


def test_miniatures_are_claimed_only_where_there_are_some() -> None:
    assert "miniatures" in sv.audit(ForeignOption(12, 3, 1.0), samples=100, seconds=0.2).method
    assert "miniatures" not in sv.audit(UntriedOption(12, 3, 1.0), samples=100, seconds=0.2).method
