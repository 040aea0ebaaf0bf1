"""What epsilon does not cover, in sentences of the threat model and the privacy statement; a test compares them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from sottovoce.disclosure.brief import Brief
from sottovoce.disclosure.claim import Chapter, Claim
from sottovoce.disclosure.unread import UnreadSurvey
from sottovoce.surveys.survey import Survey, Tracking

__all__ = ["GAPS", "Gap", "not_covered_chapter"]

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
        "Who can open connections can send reports, and a thousand reports from one hand look like a thousand people "
        "(Sybil).",
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
        "Where a server draws the reports of values that it holds, it has seen them, and so has whoever sent them to "
        "it: ε covers what leaves that server, and nothing before.",
        f"{_MODEL}#a-server-that-randomizes",
        _asked_once,
    ),
    Gap(
        "foreign_code",
        "Code of another package",
        "The battery finds mistakes, not malice: code can behave on small instances and leak on large ones.",
        f"{_MODEL}#a-mechanism-of-another-package",
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
        "docs/privacy_statement.md",
        _every,
    ),
)


def _opened(text: str) -> str:
    """With a capital letter, but for the Greek one of a formula."""
    return f"{text[0].upper()}{text[1:]}" if text[0].isascii() else text


def not_covered_chapter(brief: Brief) -> Chapter:
    """What a reviewer must not read into the guarantee."""
    found = (gap for gap in GAPS if gap.concerns(brief))
    claims = (Claim(gap.name, gap.label, _opened(gap.text), evidence=gap.page) for gap in found)
    return Chapter.of("not_covered", "What is not covered", claims, "In the words of the threat model.")
