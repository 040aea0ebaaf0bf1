"""The chapters on who sees what, and on what is kept for how long."""

from __future__ import annotations

from collections.abc import Iterator

from sottovoce.disclosure.brief import Brief
from sottovoce.disclosure.claim import Chapter, Claim, not_claimed
from sottovoce.disclosure.unread import UnreadSurvey

__all__ = ["observers_chapter", "retention_chapter"]

_MODEL = "docs/threat-model.md"


def observers_chapter(brief: Brief) -> Chapter:
    """From the device outwards."""
    return Chapter.of("who_sees", "Who sees what", _observers(brief))


def _observers(brief: Brief) -> Iterator[Claim]:
    yield Claim(
        "device",
        "The device",
        "The value, while it answers. It keeps its report and a ledger of what it answered, on which day and for how "
        "much; neither the value nor the randomness.",
        evidence=f"{_MODEL}#a-stolen-device",
    )
    yield Claim(
        "network",
        "The network",
        "Addresses, times and sizes. Sizes do not depend on the value.",
        evidence=f"{_MODEL}#somebody-on-the-network",
    )
    yield from _between(brief)
    told = "" if brief.doubt else ", which tells what the local epsilon allows"
    yield Claim(
        "operator",
        "The operator of the collector",
        f"Everything that the collector has: every single report{told}. The software stores no address and no time "
        "finer than time_precision; a hostile operator may.",
        evidence=f"{_MODEL}#a-hostile-collector",
    )
    yield Claim(
        "analyst",
        "An analyst",
        "Counts and estimates; with an admin token single reports. So one must assume that every analyst sees every "
        "report.",
        evidence=f"{_MODEL}#a-hostile-analyst",
    )
    yield Claim(
        "public",
        "The public",
        "The survey's statement, which anybody may fetch, and what is published of the estimates.",
        evidence="docs/privacy_statement.md",
    )


def _between(brief: Brief) -> Iterator[Claim]:
    relay, label, page = brief.relay, "The relay", f"{_MODEL}#a-relay"
    collector = "collector", "The collector"
    if isinstance(brief.survey, UnreadSurvey) and brief.survey.states_relay:
        yield not_claimed("relay", label, "the survey states one, but cannot be read here", page)
    elif relay is None:
        yield Claim("relay", label, "There is none: devices send to the collector.", evidence=page)
    if relay is None:
        straight = (
            "Every report by itself, when it comes, and the address it comes from while the connection lasts. Reports "
            "bear no name and no number of a device."
        )
        yield Claim(*collector, straight, evidence=f"{_MODEL}#a-hostile-collector")
        return
    yield Claim(
        "relay",
        f"The relay at {relay.url}",
        "Which address answers which survey, and when. Not the report, which is sealed to the collector's key.",
        relay.url,
        page,
    )
    batch = f"Reports in batches of {relay.least:,} or more, in random order, without addresses. "
    batch += "A device that fetches the survey from it, and not through a relay, shows its address then."
    yield Claim(*collector, batch, evidence=page)


def retention_chapter(brief: Brief) -> Chapter:
    """What is kept where, and until when."""
    promised = brief.about.retention
    claims = [
        Claim("promised", "As promised by who asks", promised, promised)
        if promised
        else not_claimed(
            "promised", "As promised by who asks", "ask for how long reports are kept, and who deletes them"
        ),
        Claim(
            "collector",
            "On the collector",
            "Reports and counts until the survey is deleted ('sottovoce survey delete'); its id is then not taken "
            "back. Backups and copies in object storage are the operator's to delete.",
            evidence="docs/operations.md",
        ),
        Claim(
            "device",
            "On the device",
            "Its ledger for life: deleting it makes the device forget what it has answered, and it would answer again.",
            evidence="docs/device.md",
        ),
    ]
    if brief.relay is not None:
        words = (
            "Sealed messages until the collector has them. A message that comes again within thirty days is "
            "recognised. No address is kept, and no time finer than time_precision."
        )
        claims.append(Claim("relay", "On the relay", words, evidence="docs/relay.md"))
    return Chapter.of("retention", "What is kept, and for how long", claims)
