"""The relay that a survey wants its reports to go through, and what it promises to hold back."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final, Self, final

from sottovoce.core.addresses import is_loopback
from sottovoce.core.errors import SurveyError
from sottovoce.core.limits import MAX_PEOPLE, check_central_delta, check_integer
from sottovoce.surveys.statement import check_fields

__all__ = ["DEFAULT_CENTRAL_DELTA", "LEAST_BATCH", "Relay", "relay_url"]

DEFAULT_CENTRAL_DELTA: Final = 1e-6

LEAST_BATCH: Final = 2
"""One report alone is shuffled with nothing."""

MAX_RELAYED_BYTES: Final = 64_000
"""Longest report that fits into the largest sealed message, with everything around it."""

MAX_URL: Final = 200

# One spelling per address, simple enough for every client to check: no user, query, fragment, escapes or dot segments.
_URL: Final = re.compile(
    r"(https?)://"
    r"([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])"
    r"(:[1-9][0-9]{0,4})?"
    r"((?:/[a-z0-9_~-][a-z0-9._~-]*)*)/?",
    re.ASCII | re.IGNORECASE,
)
_DEFAULT_PORTS: Final = {"https": ":443", "http": ":80"}
_MAX_PORT: Final = 65_535


@final
@dataclass(frozen=True)
class Relay:
    """Reports go to this relay, which never forwards fewer than `least` of this survey at once.

    The collector sees batches, so the people who hide one another are those of one batch: the central guarantee is that
    of `least` honest answers, at `delta`, and holds while the relay and the collector do not share what they see.

    Attributes
    ----------
    url
        The relay's address: https, or plain http on this machine.
    least
        The smallest batch.
    delta
        The delta of the central guarantee.

    Examples
    --------
    >>> Relay("https://Relay.example.org/", least=10_000).to_statement()
    {'url': 'https://relay.example.org', 'least': 10000, 'delta': 1e-06}
    """

    url: str
    least: int
    delta: float = DEFAULT_CENTRAL_DELTA

    def __post_init__(self) -> None:
        object.__setattr__(self, "url", relay_url(self.url))
        object.__setattr__(self, "least", check_integer("least", self.least, LEAST_BATCH, MAX_PEOPLE))
        object.__setattr__(self, "delta", check_central_delta(self.delta))

    def to_statement(self) -> dict[str, Any]:
        """The relay as plain JSON values."""
        return {"url": self.url, "least": self.least, "delta": self.delta}

    @classmethod
    def from_statement(cls, statement: object) -> Self:
        """Read a relay from JSON; every field is checked, unknown fields are refused."""
        check_fields(statement, "a survey's relay", {"url", "least", "delta"})
        stated: Any = statement
        relay = cls(stated["url"], stated["least"], stated["delta"])
        if relay.url != stated["url"]:
            raise SurveyError(f"url must be in canonical form, which is {relay.url}").at("url")
        return relay

    def __str__(self) -> str:
        return f"through {self.url} in batches of {self.least:,} or more"


def relay_url(url: object) -> str:
    """The canonical form of a relay's address.

    Examples
    --------
    >>> relay_url("HTTPS://Relay.Example.org:443/ldp/"), relay_url("http://127.0.0.1:8471")
    ('https://relay.example.org/ldp', 'http://127.0.0.1:8471')
    >>> relay_url("http://relay.example.org")
    Traceback (most recent call last):
    sottovoce.core.errors.SurveyError: url must be the relay's address, ...
    """
    match = _URL.fullmatch(url) if isinstance(url, str) and len(url) <= MAX_URL else None
    scheme, host, port, path = ("", "", None, "") if match is None else match.groups()
    scheme, host = scheme.lower(), host.lower()
    if not host or (scheme == "http" and not is_loopback(host)) or int((port or ":1")[1:]) > _MAX_PORT:
        raise SurveyError(
            "url must be the relay's address, for example https://relay.example.org: https (plain http only on this "
            f"machine), without a user, a ?query or a #fragment, and at most {MAX_URL} characters"
        ).at("url")
    return f"{scheme}://{host}{'' if port in (None, _DEFAULT_PORTS[scheme]) else port}{path}"
