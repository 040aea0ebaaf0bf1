"""A calendar file (iCalendar, RFC 5545) that reminds a person of the device's period.

It holds the survey's title, address and dates, which are public, and which period is this device's; no value. Whoever
reads the file learns when this device will answer.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from sottovoce.device.text import one_line
from sottovoce.surveys.calendar import Period

__all__ = ["calendar_file"]

_LONGEST: Final = 75
"""Octets of a line, after which it is folded."""


def calendar_file(survey_id: str, title: str, collector: str, period: Period, stamp: datetime) -> str:
    """One event that lasts for the period, with a reminder at its beginning; `stamp` is when the file was made.

    The same survey and period give the same UID, so that a calendar that reads the file twice shows one event.
    """
    name = one_line(title) or "a survey"
    told = (
        f"This device's turn: {period.label}. It can be answered until {period.closes:%Y-%m-%d %H:%M} UTC. "
        f"Survey {survey_id}, asked by {one_line(collector)}"
    )
    lines = [
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "PRODID:-//sottovoce//device//EN",
        "BEGIN:VEVENT",
        f"UID:{survey_id}-{period.number}@sottovoce",
        f"DTSTAMP:{stamp.astimezone(UTC):%Y%m%dT%H%M%SZ}",
        f"DTSTART;VALUE=DATE:{period.start:%Y%m%d}",
        f"DTEND;VALUE=DATE:{period.end:%Y%m%d}",
        f"SUMMARY:{_escaped(f'Answer {name}')}",
        f"DESCRIPTION:{_escaped(told)}",
        "TRANSP:TRANSPARENT",
        "BEGIN:VALARM",
        "ACTION:DISPLAY",
        "TRIGGER:PT9H",
        f"DESCRIPTION:{_escaped(f'Answer {name}')}",
        "END:VALARM",
        "END:VEVENT",
        "END:VCALENDAR",
    ]
    return "".join(f"{_folded(line)}\r\n" for line in lines)


def _escaped(text: str) -> str:
    """TEXT of RFC 5545, Sec. 3.3.11."""
    return text.replace("\\", "\\\\").replace(";", "\\;").replace(",", "\\,").replace("\n", "\\n")


def _folded(line: str) -> str:
    """The line in parts of at most 75 octets, none of which splits a character (Sec. 3.1)."""
    parts, part, length = [], "", 0
    for char in line:
        size = len(char.encode())
        if length + size > _LONGEST:
            parts.append(part)
            part, length = " ", 1
        part, length = part + char, length + size
    return "\r\n".join([*parts, part])
