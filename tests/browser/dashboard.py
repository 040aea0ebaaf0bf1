"""An analyst at the dashboard: signed in, looking at surveys that are being answered."""

from __future__ import annotations

import base64
import re
import secrets
from typing import Any

import numpy as np
from playwright.sync_api import Page, expect

from browser.visitor import Visitor
from collector.service import Service
from sottovoce.surveys.survey import Survey

_REMEMBER = "try { localStorage.setItem('sottovoce.signed-in', 'yes') } catch {}"
"""What the page itself notes, so that it does not ask who is signed in where nobody ever was."""


def signed_in(visitor: Visitor, service: Service, path: str = "/", token: str = "") -> Page:
    """A tab of somebody who signed in before."""
    cookie = {"name": "sottovoce_session", "value": token or service.token, "url": visitor.origin, "httpOnly": True}
    visitor.context.add_cookies([cookie | {"sameSite": "Strict"}])
    visitor.context.add_init_script(_REMEMBER)
    return visitor.open(path)


def sign_in(page: Page, token: str) -> None:
    """By the form."""
    page.get_by_label("token", exact=False).first.fill(token)
    page.get_by_role("button", name="Sign in").click()


def new_token(service: Service, *scopes: str) -> tuple[str, str]:
    """A token, and the id by which it is revoked."""
    answer = service.ask("POST", "/v1/tokens", json={"scopes": list(scopes), "note": "an analyst"})
    assert answer.status == 201, answer
    return answer.json["token"], answer.json["id"]


def revoke(service: Service, token_id: str) -> None:
    assert service.ask("DELETE", f"/v1/tokens/{token_id}").status == 200


def publish(service: Service, survey: Survey, minimum_reports: int = 1) -> None:
    """With whatever the survey names by its digest."""
    attached = {digest: base64.b64encode(content).decode() for digest, content in survey.attachments.items()}
    said = {"statement": survey.to_json(), "attachments": attached, "minimum_reports": minimum_reports}
    answer = service.ask("POST", "/v1/surveys", json=said)
    assert answer.status == 201, answer


def people(survey: Survey, values: list[Any]) -> list[tuple[bytes, bytes]]:
    """A report of each of these people's devices, with its id."""
    return [(secrets.token_bytes(16), survey.randomize(value)) for value in values]


def send(service: Service, survey: Survey, values: list[Any]) -> None:
    """They all answer."""
    answer = service.send(survey, people(survey, values))
    assert answer.json == {"accepted": len(values), "refused": []}


def drawn(labels: list[Any], shares: list[float], n: int, seed: int = 1) -> list[Any]:
    """What is true of n people."""
    chosen = np.random.default_rng(seed).choice(len(labels), size=n, p=shares)
    return [labels[i] for i in chosen]


def too_wide(page: Page) -> int:
    """Pixels by which the page can be scrolled sideways."""
    return int(page.evaluate("() => document.documentElement.scrollWidth - innerWidth"))


def shown_number(page: Page, pattern: str) -> int:
    """The first number in the text of the page that the pattern's group catches."""
    found = re.search(pattern, page.locator("main").inner_text())
    return int(re.sub(r"\D", "", found.group(1))) if found else -1


def expect_count(page: Page, n: int) -> None:
    """The page says that so many reports have come in."""
    expect(page.locator("main")).to_contain_text(re.compile(rf"(?<![\d,]){n:,}(?![\d,])"))
