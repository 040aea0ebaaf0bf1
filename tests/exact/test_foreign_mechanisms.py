"""Mechanisms of other packages: given, registered or found by an entry point; refused where anything is wrong."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from commands import run_here
from evidence.published import gaussian as published_gaussian
from exact.test_public_names import HEAVY
from foreign import LAZY, install
from refusing import refuses
from sottovoce.auditing import conformance
from sottovoce.core.errors import MechanismError, SurveyError
from sottovoce.mechanisms import FiniteMechanism, find, register, registry
from sottovoce.mechanisms.randomized_response import RandomizedResponse
from sottovoce.mechanisms.support import SupportMechanism
from sottovoce.mechanisms.vector import VectorMechanism
from sottovoce.strategies.histogram import Histogram
from sottovoce.workloads import Identity, Prefix

COLOURS = ["red", "green", "blue"]


def lazy(change: str = "", by: str = "", name: str = "lazy_response") -> Any:
    """The page's class, with one piece of its text changed."""
    assert change in LAZY
    module = ModuleType("lazy_module")
    sys.modules[module.__name__] = module  # dataclasses look up their annotations there
    code = LAZY.replace(change, by) if change else LAZY
    exec(code.replace('"lazy_response"', f'"{name}"'), module.__dict__)  # noqa: S102
    return module.__dict__["LazyResponse"]


# --- found ----------------------------------------------------------------------------------------


def test_an_entry_point_is_found_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = install(tmp_path, monkeypatch)
    survey = sv.Survey(sv.shares(COLOURS), epsilon=2.0, mechanism="lazy_response")
    assert json.loads(survey.to_json())["design"] == {"strategy": "histogram", "mechanism": {"name": "lazy_response"}}
    assert type(survey.mechanism).__module__ == module
    registry.REGISTRY.forget()
    again = sv.Survey.from_json(survey.to_json())
    assert isinstance(again, sv.Survey)
    assert (again, again.id) == (survey, survey.id)
    reports = [again.randomize("blue") for _ in range(30)]
    assert again.estimate(reports).n_reports == 30


def test_a_simulated_survey_is_estimated_as_it_should_be() -> None:
    """Lazy response is randomized response in other words: the same expected errors, and estimates within them."""
    survey = sv.Survey(sv.shares(COLOURS), epsilon=2.0, mechanism=lazy())
    twin = sv.Survey(sv.shares(COLOURS), epsilon=2.0, mechanism="randomized_response")
    assert survey.design.margin(10_000) == pytest.approx(twin.design.margin(10_000), rel=1e-9)
    estimate = survey.estimate(survey.simulate(["red"] * 6000 + ["blue"] * 4000, seed=3))
    assert estimate.standard_errors == pytest.approx(
        twin.estimate(twin.simulate(["red"] * 6000 + ["blue"] * 4000, seed=4)).standard_errors, rel=0.05
    )
    # Six standard errors: a false alarm once in 10^8 runs.
    assert (np.abs(estimate.raw - [0.6, 0.0, 0.4]) < 6 * estimate.standard_errors).all()


def test_an_instance_or_a_class_stands_for_its_name() -> None:
    kind = lazy()
    by_class = sv.Survey(sv.shares(5), epsilon=1.0, mechanism=kind)
    assert (
        sv.Survey(sv.shares(5), epsilon=1.0, mechanism=kind(5, 1.0))
        == by_class
        == sv.Survey(sv.shares(5), epsilon=1.0, mechanism="lazy_response")
    )
    curve = sv.Survey(sv.queries(Prefix(5)), epsilon=1.0, mechanism=kind(5, 1.0))
    assert (curve.design.name, curve.mechanism) == ("histogram", kind(5, 1.0))
    assert sv.Survey.from_json(curve.to_json()) == curve
    exact = RandomizedResponse(5, 1.0)
    assert sv.Survey(sv.shares(5), epsilon=1.0, mechanism=exact).mechanism is exact


def test_auto_never_takes_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch)
    plan = sv.plan(sv.shares(5), epsilon=1.0, people=1000)
    assert "lazy_response" not in {option.mechanism for option in plan.options}
    assert sv.plan(sv.shares(5), epsilon=1.0, people=1000, mechanism="lazy_response").best.mechanism == "lazy_response"


def test_commands_know_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    module = install(tmp_path, monkeypatch)
    run = run_here(capsys)
    rows = {row["name"]: row for row in run("mechanisms", "--json").json["mechanisms"]}
    assert (rows["lazy_response"]["package"], rows["lazy_response"]["guarantee"]) == (module, "pure epsilon-LDP")
    assert rows["hadamard"]["package"] == "sottovoce"
    assert f"from the package {module}: one value" in " ".join(run("mechanisms").out.split())
    audited = run("audit", "lazy_response", "--samples", "200", "--json").json
    assert audited["sound"]
    people = ("--values", "5", "--epsilon", "1", "--people", "1000", "--mechanism", "lazy_response")
    assert run("plan", "shares", *people).out.count("lazy_response") > 0


@pytest.mark.parametrize(
    ("change", "by", "reason"),
    [
        ("return value if truthful else blind", "return value", "fails its battery of checks"),
        (
            "return cls(domain_size, epsilon)\n",
            "return cls(domain_size // (domain_size < 9), epsilon)\n",
            "ZeroDivision",
        ),
    ],
)
def test_one_that_cannot_be_used_is_listed_without_a_guarantee(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    change: str,
    by: str,
    reason: str,
) -> None:
    assert change in LAZY
    install(tmp_path, monkeypatch, LAZY.replace(change, by))
    (row,) = (row for row in run_here(capsys)("mechanisms", "--json").json["mechanisms"] if not row["serves"])
    assert (row["name"], row["guarantee"]) == ("lazy_response", "not established")
    assert reason in row["reason"]


def test_commands_name_a_broken_entry_point_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    install(tmp_path, monkeypatch, "raise RuntimeError('out of\\norder')")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        (line,) = run_here(capsys)("mechanisms").err.splitlines()
    assert line.startswith("sottovoce: warning: entry point 'lazy_response' (")
    assert "(RuntimeError: out of order)" in line


def test_a_device_needs_nothing_heavy_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The battery runs without SciPy and without a compiler."""
    module = install(tmp_path, monkeypatch)
    text = sv.Survey(sv.shares(COLOURS), epsilon=1.0, mechanism="lazy_response").to_json()
    program = (
        f"import sys; sys.path.insert(0, {str(tmp_path / f'site_{module}')!r})\n"
        f"import sottovoce as sv\nsv.Survey.from_json({text!r}).randomize('blue')\n"
        f"print(*[m for m in {HEAVY!r} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


# --- refused --------------------------------------------------------------------------------------


def test_an_unknown_name_is_refused_with_the_remedy() -> None:
    survey = sv.Survey(sv.shares(COLOURS), epsilon=1.0, mechanism=lazy())
    registry.REGISTRY.forget()
    for load in (
        lambda: sv.Survey.from_json(survey.to_json()),
        lambda: sv.Survey(sv.shares(COLOURS), epsilon=1.0, mechanism="lazy_response"),
    ):
        with pytest.raises(MechanismError, match=r"install the package .*or call sottovoce\.mechanisms\.register"):
            load()


def test_an_entry_point_that_cannot_be_imported_hides_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch)
    broken = install(tmp_path, monkeypatch, "raise RuntimeError('out of order')", "broken_response")
    with pytest.warns(
        RuntimeWarning, match=rf"'broken_response' \({broken}:LazyResponse\) .*RuntimeError: out of order"
    ):
        assert list(registry.REGISTRY.others()) == ["lazy_response"]
    with pytest.raises(MechanismError, match=r"'broken_response' .* cannot be loaded .*; repair or uninstall"):
        find("broken_response", FiniteMechanism)
    assert sv.Survey(sv.shares(5), epsilon=1.0, mechanism="lazy_response").mechanism.name == "lazy_response"


def test_an_entry_point_must_bear_the_mechanisms_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch, name="eager_response")
    with pytest.raises(MechanismError, match="has another name: give both the same"):
        sv.Survey(sv.shares(5), epsilon=1.0, mechanism="eager_response")


def test_a_name_that_is_taken_is_refused_and_both_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MechanismError, match=r"LazyResponse has the same name, 'hadamard', as sottovoce\..*\.Hadamard"):
        register(lazy(name="hadamard"))
    register(lazy())
    module = install(tmp_path, monkeypatch)
    with pytest.raises(MechanismError, match=rf"{module}\.LazyResponse has .* as lazy_module\.LazyResponse"):
        register(getattr(__import__(module), "LazyResponse"))  # noqa: B009
    install(tmp_path, monkeypatch, LAZY.replace('"lazy_response"', '"hadamard"'), "hadamard")
    assert (
        sv.Survey(sv.shares(5), epsilon=1.0, mechanism="hadamard").mechanism
        == sv.Survey(sv.shares(5), epsilon=1.0, mechanism="hadamard").mechanism
    )
    assert not registry.REGISTRY.is_foreign(type(sv.Survey(sv.shares(5), epsilon=1.0, mechanism="hadamard").mechanism))


def test_a_name_that_two_packages_offer_is_refused_and_both_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (install(tmp_path, monkeypatch) for _ in range(2))
    for _ in range(2):
        with pytest.raises(MechanismError, match=f"offered twice, by {first}:LazyResponse and {second}:LazyResponse"):
            find("lazy_response", FiniteMechanism)


def test_a_class_defined_anew_replaces_itself() -> None:
    for _ in range(2):
        kind = lazy()
        register(kind)
        assert find("lazy_response", FiniteMechanism) is kind


def test_a_name_that_an_entry_point_offers_is_refused_and_the_entry_point_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = install(tmp_path, monkeypatch)
    words = (
        rf"lazy_module\.LazyResponse has the same name as what entry point 'lazy_response' \({module}:LazyResponse\)"
    )
    for use in (register, lambda kind: sv.Survey(sv.shares(5), epsilon=1.0, mechanism=kind)):
        with pytest.raises(MechanismError, match=words):
            use(lazy())
    kind = __import__(module).LazyResponse
    assert sv.Survey(sv.shares(5), epsilon=1.0, mechanism=kind).mechanism == kind(5, 1.0)


def test_an_entry_point_that_exits_cannot_be_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch, "raise SystemExit(3)")
    with pytest.raises(MechanismError, match=r"'lazy_response' .* cannot be loaded \(SystemExit: 3\); repair"):
        sv.Survey(sv.shares(5), epsilon=1.0, mechanism="lazy_response")
    with pytest.warns(RuntimeWarning, match="SystemExit: 3"):
        assert registry.REGISTRY.others() == {}


@pytest.mark.parametrize(
    "code", ["LazyResponse = 'lazy_response'", "def LazyResponse(): pass", "class LazyResponse: pass"]
)
def test_an_entry_point_must_offer_a_mechanism(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    install(tmp_path, monkeypatch, code)
    with pytest.raises(MechanismError, match=r"entry point 'lazy_response' .* is not a subclass of .*Mechanism"):
        sv.Survey(sv.shares(5), epsilon=1.0, mechanism="lazy_response")


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (VectorMechanism, "is not finished"),
        (int, "int is not a subclass"),
        ("lazy_response", "'lazy_response' is not a subclass"),
        (published_gaussian, "is not a subclass"),
        (SupportMechanism, "is not finished: it lacks .*_support"),
    ],
)
def test_what_is_no_mechanism_is_refused(kind: Any, words: str) -> None:
    with pytest.raises(MechanismError, match=words):
        register(kind)
    if isinstance(kind, type):
        with pytest.raises(MechanismError, match=words) as caught:
            sv.Survey(sv.shares(5), epsilon=1.0, mechanism=kind)
        assert caught.value.field == "mechanism"


def test_what_is_not_for_devices_or_has_no_proper_name_is_refused() -> None:
    with pytest.raises(MechanismError, match="not deployable"):
        register(lazy("    use_when", "    deployable: ClassVar[bool] = False\n    use_when"))
    for name in ("", "auto", "Lazy", "lazy response", "x" * 65, "published.gaussian"):
        with pytest.raises(MechanismError, match="needs a name of"):
            register(lazy(name=name))


def test_an_instance_must_fit_the_survey() -> None:
    kind = lazy()
    with refuses(SurveyError, "mechanism"):
        sv.Survey(sv.shares(6), epsilon=1.0, mechanism=kind(5, 1.0))
    with refuses(SurveyError, "epsilon"):
        sv.Survey(sv.shares(5), epsilon=2.0, mechanism=kind(5, 1.0))
    with refuses(SurveyError, "mechanism"):
        sv.Survey(sv.queries(Prefix(5)), epsilon=1.0, mechanism=kind(5, 1.0), strategy="haar")
    with refuses(SurveyError, "mechanism"):
        sv.Survey(sv.vector(5, 1.0), epsilon=1.0, mechanism=kind(5, 1.0))
    with pytest.raises(MechanismError, match="no mechanism for vectors is named 'lazy_response'"):
        sv.Survey(sv.vector(5, 1.0), epsilon=1.0, mechanism=kind)


# --- the battery ----------------------------------------------------------------------------------

FAULTS = {
    "rounded up": ("self.epsilon)\n\n    def _rand", "self.epsilon) + 1\n\n    def _rand", "ratio exceeds e.epsilon"),
    "a draw saved": (
        "        return value if truthful else blind\n\n    @cached",
        "        return value if truthful else source.below(self.domain_size)\n\n    @cached",
        "the draws asked of the source depend",
    ),
    "an error": (
        "        return counts\n",
        "        raise KeyError('support')\n",
        r"lazy_response \(J=2, epsilon=0.5\): its code raises KeyError: 'support'",
    ),
    "an exit": (
        "        return counts\n",
        "        raise SystemExit(3)\n",
        r"\(J=2, epsilon=0.5\): its code raises SystemExit: 3",
    ),
    "no best": (
        "        return cls(domain_size, epsilon)\n",
        "        return 1 / 0\n",
        r"\(best, J=3, epsilon=0.5\): its code raises ZeroDivisionError",
    ),
    "no miniatures": (
        "        return tuple(cls(size, epsilon) for size in (2, 3, 5))\n",
        "        return tuple(cls(size, epsilon / 2**30) for size in (2, 3, 5))\n",
        r"\(miniatures, epsilon=0.5\): its code raises SurveyError: epsilon is",
    ),
    "a biased estimate": ("        return counts\n", "        return counts + 1\n", "the estimate is biased"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_one_that_fails_its_battery_is_refused_with_its_words(fault: str) -> None:
    change, by, words = FAULTS[fault]
    with pytest.raises(
        MechanismError, match=rf"'lazy_response' fails its battery .*{words}.*check_mechanism\("
    ) as caught:
        sv.Survey(sv.shares(5), epsilon=1.0, mechanism=lazy(change, by))
    assert "no design can serve" in str(caught.value) or caught.value.field == "mechanism"


def test_the_battery_runs_once_for_a_class(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[object] = []
    check = conformance.check_mechanism

    def counted(kind: Any, **given: Any) -> None:
        runs.append(kind)
        check(kind, **given)

    monkeypatch.setattr(conformance, "check_mechanism", counted)
    kind = lazy()
    for size in (3, 4, 5):
        sv.Survey.from_json(sv.Survey(sv.shares(size), epsilon=1.0, mechanism=kind).to_json())
    assert runs == [kind]
    sv.Survey(sv.shares(3), epsilon=1.0, mechanism="hadamard")
    assert runs == [kind], "those of this package are checked by its tests"


def test_one_that_tells_too_much_about_large_domains_only_is_refused() -> None:
    kind = lazy("self.epsilon)\n\n    def _rand", "self.epsilon) + (self.domain_size > 50)\n\n    def _rand")
    assert sv.Survey(sv.shares(50), epsilon=1.0, mechanism=kind).mechanism == kind(50, 1.0)
    with pytest.raises(MechanismError, match=r"J=51, epsilon=1\) states a likelihood ratio above e\^epsilon"):
        sv.Survey(sv.shares(51), epsilon=1.0, mechanism=kind)


# --- what is known of every mechanism ---------------------------------------------------------------


class Lopsided(RandomizedResponse):  # type: ignore[misc]
    """Randomized response that is taken for a mechanism of which nothing is known, and is worse for value 0."""

    values_per_block = None
    report_spread = None

    def probability(self, report: Any, value: int) -> Fraction:
        own = super().probability(value, value)
        if value == 0:
            own = (own + Fraction(1, self.domain_size)) / 2
        return own if report == value else (1 - own) / (self.domain_size - 1)

    def estimate(self, counts: Any, n_reports: int) -> Any:  # type: ignore[override]
        return np.linalg.solve(self._channel, counts / n_reports)

    @property
    def _channel(self) -> Any:
        J = range(self.domain_size)
        return np.array([[float(self.probability(z, v)) for v in J] for z in J])

    def _second_moments(self, rows: Any) -> Any:  # type: ignore[override]
        return FiniteMechanism._second_moments(self, rows)


def test_shares_of_a_mechanism_that_treats_values_differently_have_their_own_variances(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(conformance, "admit", lambda mechanism: None)
    mechanism = Lopsided(4, 1.0)
    design = Histogram(Identity(4), mechanism)
    inverse = np.linalg.inv(mechanism._channel)
    moments = inverse**2 @ mechanism._channel  # E[x_v^2 | u]
    found = design.variance(n_reports=1).value
    # The worst population has one or two values for each share; here all pairs are gone through finely.
    t = np.linspace(0, 1, 2001)
    for v in range(4):
        worst = max(
            (t * moments[v, u] + (1 - t) * moments[v, w] - (t * (u == v) + (1 - t) * (w == v)) ** 2).max()
            for u in range(4)
            for w in range(4)
        )
        assert found[v] == pytest.approx(worst, rel=1e-5)
    assert found[0] > 1.5 * found[1] == pytest.approx(1.5 * found[2])
    assert design.worst_population().sum() == pytest.approx(1)
