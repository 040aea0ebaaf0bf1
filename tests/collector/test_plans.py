"""Plans over HTTP: the library's own numbers, every kind and every unknown, and bounded work for whatever is asked."""

import itertools
import math
from collections.abc import Iterator
from typing import Any

import pytest

from collector.client import Api, running
from sottovoce.collector.api.plan_curves import crowds, epsilons
from sottovoce.strategies.base import Setting
from sottovoce.strategies.registry import create
from sottovoce.theory.adaptive_planner import plan_adaptive
from sottovoce.theory.offers import DistributionOffers, MeanOffers, QueryOffers, priced
from sottovoce.theory.planner import plan
from sottovoce.theory.solving import MAX_USERS
from sottovoce.workloads.parse import parse_workload


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with running(tmp_path_factory.mktemp("plans")) as api:
        yield api


def planned(api: Api, **said: Any) -> Any:
    response = api.ask("POST", "/v1/plan", json=said)
    assert response.status_code == 200, response.text
    return response.json()


def refused(api: Api, said: dict[str, Any], status: int = 422) -> tuple[str, str | None]:
    response = api.ask("POST", "/v1/plan", json=said)
    assert response.status_code == status, response.text
    error = response.json()["error"]
    return error["code"], error["field"]


KINDS: dict[str, dict[str, Any]] = {
    "distribution": {"kind": "distribution", "size": 300},
    "queries": {"kind": "queries", "workload": "prefix:64"},
    "mean": {"kind": "mean", "dimension": 20, "radius": 2.0},
    "adaptive": {"kind": "adaptive", "rounds": 20},
}
UNKNOWN: dict[str, dict[str, Any]] = {
    "error": {"epsilon": 1.0, "users": 100_000},
    "users": {"epsilon": 1.0, "target_error": 0.1},
    "epsilon": {"users": 1_000_000, "target_error": 0.1},
}


# --- the numbers --------------------------------------------------------------------------------


@pytest.mark.parametrize("unknown", UNKNOWN)
@pytest.mark.parametrize("kind", ["distribution", "mean"])
def test_distributions_and_means_are_planned_as_by_the_library(api: Api, kind: str, unknown: str) -> None:
    told = planned(api, **KINDS[kind], **UNKNOWN[unknown])
    about: dict[str, Any] = {"domain": 300} if kind == "distribution" else {"dimension": 20, "radius": 2.0}
    found = plan(**about, **UNKNOWN[unknown])
    assert told["solved_for"] == found.solved_for == unknown
    assert (told["epsilon"], told["users"], told["target_error"]) == (found.epsilon, found.users, found.target_error)
    best = {"name": found.best.name, "report_bytes": found.best.report_bytes, "l2": found.best.l2_bound}
    assert told["best"] == best
    assert (told["margin"], told["reason"], told["rounds"]) == (found.best.margin, found.reason, None)
    assert [one["name"] for one in told["candidates"]] == [one.name for one in found.candidates]
    assert [one["l2"] for one in told["candidates"]] == [one.l2_bound for one in found.candidates]


@pytest.mark.parametrize("unknown", [*UNKNOWN, "rounds"])
def test_adaptive_surveys_are_planned_as_by_the_library(api: Api, unknown: str) -> None:
    given: dict[str, Any] = {"rounds": 20, **UNKNOWN["error"], "target_error": 0.1}
    del given["target_error" if unknown == "error" else unknown]
    told, found = planned(api, kind="adaptive", **given), plan_adaptive(**given)
    assert told["solved_for"] == unknown
    assert (told["rounds"], told["epsilon"], told["users"]) == (found.rounds, found.epsilon, found.users)
    assert told["target_error"] == found.target_error
    assert told["best"] == {"name": "binary", "report_bytes": 1, "l2": found.line.bound}
    assert told["margin"] == found.line.predicted


@pytest.mark.parametrize(
    "text", ["prefix:64", "ranges:12", "identity:30", "bins:40:5", "marginals:a=3,b=4,c=2:2", "parities:5:2"]
)
@pytest.mark.parametrize("epsilon", [0.03, 1.0, 6.0])
def test_strategies_are_priced_by_their_own_noise(text: str, epsilon: float) -> None:
    """Also those whose noise is worked out from two other epsilons."""
    workload, users = parse_workload(text), 50_000
    offers = {offer.name: offer for offer in QueryOffers(workload, 2**20).at(epsilon, users)}
    assert {"direct", "histogram"} < offers.keys()
    for name, offer in offers.items():
        strategy = create(name, Setting(workload, epsilon, 0.0, users))
        raw = math.sqrt(strategy.worst * strategy.sharing_factor(users) / users)
        if name == "direct":
            # The sampling of people is in its figure too, which is the bound that the planner has.
            assert raw <= offer.error(users) or offer.error(users) == 2 * workload.radius
        else:
            assert offer.error(users) == pytest.approx(min(raw, 2 * workload.radius), rel=1e-9)
        assert offer.report_bytes == strategy.mechanism.report_bytes


@pytest.mark.parametrize("unknown", UNKNOWN)
def test_queries_are_solved_for_the_least_that_is_enough(api: Api, unknown: str) -> None:
    told = planned(api, **KINDS["queries"], **UNKNOWN[unknown])
    offers = QueryOffers(parse_workload("prefix:64"), 2**20)

    def error(epsilon: float, users: int) -> float:
        return min(one.l2_raw for one in priced(offers.at(epsilon, users), users) if one.fits)

    reached = error(told["epsilon"], told["users"])
    assert told["best"]["l2"] == reached <= told["target_error"]
    assert told["best"]["name"] == told["candidates"][0]["name"]
    if unknown == "users":
        assert error(told["epsilon"], told["users"] - 1) > told["target_error"]
    if unknown == "epsilon":
        # Three digits: the next smaller epsilon that could be told is not enough.
        assert error(told["epsilon"] * (1 - 0.011), told["users"]) > told["target_error"]


def test_a_short_report_is_kept_to(api: Api) -> None:
    free = planned(api, **KINDS["distribution"], **UNKNOWN["error"], max_report_bytes=2**20)
    short = planned(api, **KINDS["distribution"], **UNKNOWN["error"], max_report_bytes=2)
    assert free["best"]["report_bytes"] > 2 >= short["best"]["report_bytes"]
    assert short["best"]["l2"] > free["best"]["l2"]
    assert {one["name"]: one["fits"] for one in short["candidates"]}[free["best"]["name"]] is False
    queries = planned(api, **KINDS["queries"], **UNKNOWN["error"], max_report_bytes=1)
    assert queries["best"]["report_bytes"] == 1


# --- the curves ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "unknown"), list(itertools.product(KINDS, UNKNOWN)))
def test_curves_go_through_the_plan_and_fall(api: Api, kind: str, unknown: str) -> None:
    told = planned(api, **KINDS[kind], **UNKNOWN[unknown])
    for axis in ("users", "epsilon"):
        curve = told["curves"][axis]
        assert curve["x"] == sorted(set(curve["x"]))
        here = curve["x"].index(told[axis])
        names = [series["name"] for series in curve["series"]]
        assert len(set(names)) == len(names) > 0
        best = told["best"]["name"] if kind != "adaptive" else "proved"
        (line,) = [series["y"] for series in curve["series"] if series["name"] == best]
        assert line[here] == pytest.approx(told["best"]["l2"], rel=1e-9)
        for series in curve["series"]:
            known = [y for y in series["y"] if y is not None]
            assert len(series["y"]) == len(curve["x"])
            assert all(math.isfinite(y) and y > 0 for y in known)
            # Parameters are whole numbers: where one changes, the error may rise a little.
            assert all(b <= a * 1.06 for a, b in itertools.pairwise(known))


def test_grids_stay_within_what_is_allowed() -> None:
    assert crowds(1, MAX_USERS)[0] == 1
    assert crowds(MAX_USERS, MAX_USERS)[-1] == MAX_USERS
    assert epsilons(2.0**-20)[0] == 2.0**-20
    assert epsilons(16.0)[-1] == 16.0


# --- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "field"),
    [
        (KINDS["distribution"], None),
        (KINDS["distribution"] | {"epsilon": 1}, None),
        (KINDS["mean"] | {"epsilon": 1, "users": 10, "target_error": 0.1}, None),
        (KINDS["queries"] | {"users": 10}, None),
        (KINDS["adaptive"] | {"users": 10}, None),
        ({"kind": "distribution"} | UNKNOWN["error"], "size"),
        ({"kind": "queries"} | UNKNOWN["error"], "workload"),
        ({"kind": "mean"} | UNKNOWN["error"], "dimension"),
        ({"kind": "adaptive"} | UNKNOWN["error"], None),
        (KINDS["distribution"] | UNKNOWN["error"] | {"size": 1}, "size"),
        (KINDS["distribution"] | UNKNOWN["error"] | {"size": 2**40 + 1}, "size"),
        (KINDS["distribution"] | UNKNOWN["error"] | {"dimension": 3}, "dimension"),
        (KINDS["distribution"] | UNKNOWN["error"] | {"radius": 1}, "radius"),
        (KINDS["distribution"] | UNKNOWN["error"] | {"max_report_bytes": 0}, "max_report_bytes"),
        (KINDS["adaptive"] | UNKNOWN["error"] | {"max_report_bytes": 9}, "max_report_bytes"),
        (KINDS["mean"] | UNKNOWN["error"] | {"dimension": 2**20 + 1}, "dimension"),
        (KINDS["mean"] | UNKNOWN["error"] | {"radius": 0}, "radius"),
        (KINDS["mean"] | UNKNOWN["error"] | {"radius": 1e300}, "radius"),
        (KINDS["adaptive"] | UNKNOWN["error"] | {"rounds": 65_537}, "rounds"),
        (KINDS["adaptive"] | {"epsilon": 1, "users": 10**13}, "users"),
        (KINDS["queries"] | UNKNOWN["error"] | {"workload": "prefix:1048577"}, "workload"),
        (KINDS["queries"] | UNKNOWN["error"] | {"workload": "dense:/dev/zero"}, "workload"),
        (KINDS["queries"] | UNKNOWN["error"] | {"workload": "bins:999999999999999999:1"}, "workload"),
        (KINDS["queries"] | UNKNOWN["error"] | {"workload": "ranges:99999999"}, "workload"),
        (KINDS["queries"] | UNKNOWN["error"] | {"workload": "parities:60:2"}, "workload"),
        *((KINDS[kind] | {"epsilon": 17, "users": 10}, "epsilon") for kind in KINDS),
        *((KINDS[kind] | {"epsilon": 0, "target_error": 0.1}, "epsilon") for kind in KINDS),
        *((KINDS[kind] | {"epsilon": 1, "users": 0}, "users") for kind in KINDS),
        *((KINDS[kind] | {"epsilon": 1, "users": 10**16}, "users") for kind in KINDS),
        *((KINDS[kind] | {"epsilon": 1, "target_error": 0}, "target_error") for kind in KINDS),
        *((KINDS[kind] | {"epsilon": 1, "target_error": 99}, "target_error") for kind in KINDS),
        *((KINDS[kind] | {"epsilon": 1e-5, "target_error": 1e-6}, "target_error") for kind in KINDS),
        *((KINDS[kind] | {"users": 5, "target_error": 1e-6}, "target_error") for kind in KINDS),
    ],
)
def test_plans_that_cannot_be(api: Api, said: dict[str, Any], field: str | None) -> None:
    assert refused(api, said) == ("invalid_draft", field)


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ({"kind": "census"}, "kind"),
        ({}, "kind"),
        ({"kind": "mean", "users": 1.5}, "users"),
        ({"kind": "mean", "users": 10**30}, "users"),
        ({"kind": "mean", "epsilon": "1"}, "epsilon"),
        ({"kind": "mean", "delta": 1e-6}, None),
    ],
)
def test_other_shapes(api: Api, said: dict[str, Any], field: str | None) -> None:
    assert refused(api, said, 400) == ("invalid_body", field)


def test_too_long_a_body(api: Api) -> None:
    said = {"kind": "queries", "workload": "prefix:" + "1" * 20_000}
    assert refused(api, said, 413)[0] == "body_too_large"


def test_who_may_plan(api: Api) -> None:
    said = KINDS["distribution"] | UNKNOWN["error"]
    assert api.ask("POST", "/v1/plan", json=said, token="").status_code == 401
    assert api.ask("POST", "/v1/plan", json=said, token=api.token("read")).status_code == 200


# --- how much work ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "said",
    [
        {"kind": "distribution", "size": 2**40, "users": 10**15, "target_error": 0.5},
        {"kind": "mean", "dimension": 2**20, "epsilon": 0.01, "target_error": 0.5},
        {"kind": "adaptive", "rounds": 65_536, "users": 10**12, "target_error": 0.5},
        {"kind": "queries", "workload": "bins:1048576:1", "users": 10**9, "target_error": 1.9},
        {"kind": "queries", "workload": "ranges:1447", "epsilon": 1, "target_error": 1000},
        {"kind": "queries", "workload": "parities:52:3", "epsilon": 1, "users": 10**9},
        {
            "kind": "queries",
            "workload": f"marginals:{','.join(f'a{i}=2' for i in range(62))}:3",
            "epsilon": 1,
            "users": 9,
        },
    ],
)
def test_the_largest_that_may_be_asked_is_answered(api: Api, said: dict[str, Any]) -> None:
    told = planned(api, **said)
    assert told["best"]["l2"] > 0
    assert len(told["curves"]["users"]["x"]) <= 50
    assert len(told["curves"]["epsilon"]["x"]) <= 20


def test_what_would_be_slow_is_left_out_and_said(api: Api) -> None:
    small = planned(api, **KINDS["queries"], **UNKNOWN["error"])
    assert [one["name"] for one in small["candidates"]] == ["haar", "hierarchical", "histogram", "direct"]
    assert "factorized, optimized;" in small["notes"][1]
    large = planned(api, kind="queries", workload="parities:16:8", epsilon=1, users=10**6)
    assert [one["name"] for one in large["candidates"]] == ["direct"]
    for name in ("factorized", "optimized", "hierarchical", "haar", "fourier", "histogram"):
        assert name in large["notes"][1]


def test_a_plan_is_worked_out_once(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    said = {"kind": "distribution", "size": 77, "epsilon": 1, "users": 77}
    first = planned(api, **said)
    monkeypatch.setattr("sottovoce.collector.api.plans.planned", lambda asked: pytest.fail("worked out again"))
    assert planned(api, **said) == first


def test_offers_of_mechanisms_are_the_planners_own() -> None:
    found = plan(50, epsilon=1.0, users=5000, max_report_bytes=2**20)
    errors = {offer.name: offer.error(5000) for offer in DistributionOffers(50, 2**20).at(1.0, 5000)}
    assert errors == {one.name: one.l2_bound for one in found.candidates}
    mean = plan(dimension=5, radius=3.0, epsilon=1.0, users=5000)
    errors = {offer.name: offer.error(5000) for offer in MeanOffers(5, 3.0, 2**20).at(1.0, 5000)}
    assert errors == {one.name: one.l2_bound for one in mean.candidates}
