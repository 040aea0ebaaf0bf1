"""A tracking survey as it stands after some weeks: what the collector would tell the dashboard of simulated people."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
from playwright.sync_api import BrowserContext, Route

import sottovoce as sv
from sottovoce.surveys.survey import Tracking


class ToldCurve:
    """Answers for the addresses of periods, curve and difference: some weeks closed, one of them empty, one open."""

    def __init__(self, tracking: Tracking, shares: list[list[float]], people: int, *, empty: int = 0):
        rng = np.random.default_rng(20)
        labels = [tracking.question.label(index) for index in range(len(shares[0]))]
        self.tracking, self.labels, self.last = tracking, labels, len(shares)
        self.counts: dict[int, int] = {}
        aggregates: dict[int, Any] = {}
        for number, row in enumerate(shares, 1):
            n = 0 if number == empty else people // 3 if number == self.last else people
            values = [labels[index] for index in rng.choice(len(labels), size=n, p=row)]
            aggregates[number] = self._simulated(number, values)
            self.counts[number] = n
        self.curve = tracking.estimate(aggregates, closed=range(1, self.last))

    def _simulated(self, number: int, values: list[str]) -> Any:
        """What people of one period sent; two groups have half of them each, and the second answers otherwise."""
        period, groups = self.tracking.period(number), self.tracking.groups
        if groups is None:
            return period.simulate_aggregate(values, seed=number)
        (_, names), *_ = groups.variables
        turned = [self.labels[-1 - self.labels.index(value)] for value in values[1::2]]
        return period.simulate_groups({names[0]: values[::2], names[-1]: turned}, seed=number)

    def serve(self, context: BrowserContext) -> None:
        """Answer instead of the collector."""
        path = f"**/v1/surveys/{self.tracking.id}"
        context.route(f"{path}/periods*", lambda route: _answer(route, self.periods()))
        context.route(f"{path}/curve?*", lambda route: _answer(route, self.one(_asked(route))))
        context.route(f"{path}/difference?*", lambda route: _answer(route, self.difference(_asked(route))))

    def periods(self) -> dict[str, Any]:
        calendar = self.tracking.calendar
        now = calendar.start(self.last) + timedelta(days=3)
        following = calendar.periods is None or self.last < calendar.periods
        return {
            "now": _written(now),
            "promise": self.tracking.promise,
            "periods": [
                self._period(number) | {"state": self._state(number), "n_reports": self.counts[number], "waiting": 0}
                for number in range(1, self.last + 1)
            ],
            "next": self._period(self.last + 1) if following else None,
            "total": calendar.periods,
            "page": 1,
            "pages": 1,
        }

    def one(self, asked: dict[str, str]) -> dict[str, Any]:
        answer, level = asked.get("answer", self.labels[0]), float(asked["level"])
        body = self.curve.to_dict(answer, level, asked.get("smooth") == "true")
        if body["trend"] is not None:
            body["trend"]["statement"] = str(self.curve.trend(answer, level))
        return body | {"answers": self.labels} | self._groups(asked, answer, level)

    def _groups(self, asked: dict[str, str], answer: str, level: float) -> dict[str, Any]:
        """The curves of the groups, and two of them compared."""
        if "by" not in asked:
            return {}
        groups = [
            {"value": value, "label": f"{asked['by']} {value}", **curve.to_dict(answer, level)}
            for value, curve in self.curve.by(asked["by"]).items()
        ]
        pair = [asked[name].partition("=")[2] for name in ("first", "second") if name in asked]
        return {"groups": groups, "comparison": self.compared(*pair, answer, level) if pair else None}

    def compared(self, first: str, second: str, answer: str, level: float = 0.95) -> dict[str, Any]:
        return sv.compare(self.curve, first, second, answers=[answer], level=level).to_dict(answer)

    def difference(self, asked: dict[str, str]) -> dict[str, Any]:
        later, earlier, answer = int(asked["later"]), int(asked["earlier"]), asked["answer"]
        found = self.curve.difference(later, earlier, answer, float(asked["level"]))
        picked = self.tracking.question.followed(answer)
        numbers = {"value": found.value, "low": found.low, "high": found.high, "level": found.level}
        named = {"answer": answer, "unit": picked.unit, "share": picked.is_share, "method": found.method}
        return {"later": later, "earlier": earlier, **named, **numbers}

    def _state(self, number: int) -> str:
        return "open" if number == self.last else "sealed"

    def _period(self, number: int) -> dict[str, Any]:
        calendar = self.tracking.calendar
        times = {"starts": calendar.start(number), "ends": calendar.end(number), "closes": calendar.closes(number)}
        named = {"number": number, "id": self.tracking.period(number).id, "label": calendar.label(number)}
        return named | {name: _written(moment) for name, moment in times.items()}


def _asked(route: Route) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(route.request.url).query).items()}


def _answer(route: Route, body: dict[str, Any]) -> None:
    route.fulfill(status=200, content_type="application/json", body=json.dumps(body))


def _written(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
