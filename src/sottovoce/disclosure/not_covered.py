"""What epsilon does not cover, who sees what, and what is kept for how long.

Sentences are those of the threat model and the privacy statement; a test compares them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from sottovoce.disclosure.brief import Brief, UnreadSurvey
from sottovoce.disclosure.claim import Chapter, Claim, not_claimed
from sottovoce.surveys.survey import Survey, Tracking

__all__ = ["GAPS", "Gap", "not_covered_chapter", "observers_chapter", "retention_chapter"]


_MODEL: Final = "docs/threat-model.md"


class Gap(NamedTuple):
    """Something that is not covered, in the words of its page, and for which surveys it is said."""

    name: str
    label: str
    text: str
    page: str
    concerns: Callable[[Brief], bool]


def _every(_: Brief) -> bool:
    return True


def _direct(brief: Brief) -> bool:
    return brief.relay is None


def _relayed(brief: Brief) -> bool:
    return brief.relay is not None


def _asked_once(brief: Brief) -> bool:
    return brief.relay is None and brief.calendar is None and brief.panel is None


def _tracked(brief: Brief) -> bool:
    return brief.calendar is not None


def _grouped(brief: Brief) -> bool:
    return isinstance(brief.survey, Survey | Tracking) and brief.survey.groups is not None


def _of_words(brief: Brief) -> bool:
    return isinstance(brief.survey, Survey | Tracking) and brief.survey.question.is_searched


def _foreign(brief: Brief) -> bool:
    return brief.foreign or isinstance(brief.survey, UnreadSurvey)


GAPS: Final = (
    Gap(
        "participation",
        "That somebody takes part",
        "Participation is not protected by ε.",
        f"{_MODEL}#somebody-on-the-network",
        _every,
    ),
    Gap(
        "addresses",
        "Addresses, without a relay",
        "Remains: the address, and reports that arrive within seconds of each other.",
        f"{_MODEL}#a-hostile-collector",
        _direct,
    ),
    Gap(
        "collusion",
        "A relay that works with the collector",
        "The central one is much smaller, and holds if the relay does not work with the collector: a report hides "
        "among the honest ones of its batch",
        f"{_MODEL}#a-relay",
        _relayed,
    ),
    Gap(
        "flooding",
        "Invented messages in a batch",
        "The central guarantee is therefore one for the honest messages in a batch: with a share f of invented ones, "
        "that of (1 − f)·least people.",
        f"{_MODEL}#a-relay",
        _relayed,
    ),
    Gap(
        "composition",
        "Surveys beyond the ledger",
        "Surveys about the same thing by collectors that do not share a device's ledger (another phone, another "
        "application) add up without anybody counting.",
        f"{_MODEL}#a-hostile-analyst",
        _every,
    ),
    Gap(
        "small_groups",
        "Few reports",
        "The collector gives no estimate below minimum_reports. This is not a protection: its operator sets it, "
        "anybody can reach it with invented reports",
        f"{_MODEL}#a-hostile-analyst",
        _every,
    ),
    Gap(
        "public_groups",
        "The group that is sent in the open",
        "A group is not randomized: everybody who receives the report knows it for certain.",
        f"{_MODEL}#public-groups",
        _grouped,
    ),
    Gap(
        "periods",
        "When somebody answers",
        "Somebody who watches the network or the collector sees in which period a device sends.",
        f"{_MODEL}#a-tracking-survey",
        _tracked,
    ),
    Gap(
        "silence",
        "Silence that tells something",
        "Silence that depends on the value, as of people who are ill in the week they drew: that is not random, and ε "
        "does not cover it.",
        f"{_MODEL}#a-tracking-survey",
        _tracked,
    ),
    Gap(
        "estimates",
        "Whether the estimates are right",
        "Lies about the estimate, drops or invents reports. Nothing here prevents it.",
        f"{_MODEL}#a-hostile-collector",
        _every,
    ),
    Gap(
        "malicious_devices",
        "Malicious devices",
        "Anybody who can open connections can send reports, and a thousand reports from one attacker look like a "
        "thousand people (Sybil).",
        f"{_MODEL}#malicious-devices",
        _every,
    ),
    Gap(
        "served_code",
        "Code that the collector serves",
        "ε is a claim about code, and here the code comes, at every visit, from the one it protects against.",
        f"{_MODEL}#the-survey-page",
        _every,
    ),
    Gap(
        "server",
        "Values that a server holds",
        "Where a server draws the reports of values that it holds, it has seen them, and so has the sender: ε "
        "covers what leaves that server, and nothing before.",
        f"{_MODEL}#a-server-that-randomizes",
        _asked_once,
    ),
    Gap(
        "foreign_code",
        "Code of another package",
        "The battery finds mistakes, not malice: code can behave on small instances and leak on large ones.",
        f"{_MODEL}#code-of-another-package",
        _foreign,
    ),
    Gap(
        "about_others",
        "Whom a word is about",
        "Privacy of the senders does not protect those whom a word is about.",
        f"{_MODEL}#words",
        _of_words,
    ),
    Gap(
        "device",
        "A device in other hands",
        "A thief who controls the device before it answers sees the value itself. No local mechanism helps against "
        "that.",
        f"{_MODEL}#a-stolen-device",
        _every,
    ),
    Gap(
        "timing",
        "Timing on the device",
        "Somebody who can time the device's own computation to microseconds, on the device or beside it, is outside "
        "the claim.",
        f"{_MODEL}#side-channels",
        _every,
    ),
    Gap(
        "platform",
        "The platform",
        "The operating system's random bytes, Python, NumPy, SQLite, PostgreSQL, OpenSSL and the hardware under them.",
        f"{_MODEL}#out-of-scope",
        _every,
    ),
    Gap(
        "groups",
        "Groups",
        "A frequency about a group can hurt its members, however private every answer was.",
        f"{_MODEL}#out-of-scope",
        _every,
    ),
    Gap(
        "families",
        "People with the same secret",
        "if a family has one value, ε protects each answer, not the family's secret from all of them together.",
        f"{_MODEL}#out-of-scope",
        _every,
    ),
    Gap(
        "deletion",
        "Deleting one person's report",
        "We cannot delete your report, because we cannot tell which one it is.",
        "docs/disclosure.md#a-privacy-statement",
        _every,
    ),
)


def _opened(text: str) -> str:
    """The text with a capital letter at its start, unless a formula begins it."""
    return f"{text[0].upper()}{text[1:]}" if text[0].isascii() else text


def not_covered_chapter(brief: Brief) -> Chapter:
    """The chapter on what the guarantee does not say."""
    gaps = (gap for gap in GAPS if gap.concerns(brief))
    claims = (Claim(gap.name, gap.label, _opened(gap.text), evidence=gap.page) for gap in gaps)
    return Chapter.of("not_covered", "What is not covered", claims, "In the words of the threat model.")


def observers_chapter(brief: Brief) -> Chapter:
    """The chapter on who sees what, from the device outwards."""
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
    allowed = "" if brief.doubt else ", which tells what the local epsilon allows"
    yield Claim(
        "operator",
        "The operator of the collector",
        f"Everything that the collector has: every single report{allowed}. The software stores no address and no time "
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
        evidence="docs/disclosure.md#a-privacy-statement",
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
