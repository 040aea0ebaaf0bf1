"""What can happen to a device: its owner's calls, what collector and relay do meanwhile, time, crashes and restarts.

A history is a sequence of such events, written as their names with semicolons between them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, final

__all__ = ["PANEL", "PLAIN", "RELAYED", "TRACKING", "Call", "Event"]

Call: TypeAlias = Literal[
    "answer", "answer_due", "flush", "join", "refuse_renewals", "restart", "wait", "open_round", "none"
]


@final
@dataclass(frozen=True)
class Event:
    """One thing that happens.

    Attributes
    ----------
    name
        How it is written in a history.
    call
        What the owner does, or what else happens.
    value
        Which of two values the person has.
    fault
        What collector, relay or network do during the call; see `World`.
    crash
        When the process dies: before or after a method of its store, such as "after record".
    meanwhile
        What happens while the person is asked for the value: another process of the same device answers, or days pass.
    periods, windows
        How far both clocks move, in periods and windows of the survey's calendar.
    other
        Whether another survey is answered, the next one that this device has not.
    """

    name: str
    call: Call
    value: int = 0
    fault: str = ""
    crash: str = ""
    meanwhile: Literal["", "another process", "days pass"] = ""
    periods: int = 0
    windows: int = 0
    other: bool = False


_ANSWERS: Final = (
    Event("answer a", "answer"),
    Event("answer b", "answer", value=1),
    Event("flush", "flush"),
    Event("restart", "restart"),
    Event("answer a, the request is lost", "answer", fault="request lost"),
    Event("answer b, the response is lost", "answer", value=1, fault="response lost"),
    Event("answer a, it is refused", "answer", fault="refused"),
    Event("answer a, crash before it is recorded", "answer", crash="before record"),
    Event("answer a, crash after it is recorded", "answer", crash="after record"),
    Event("answer b, crash after it is sent", "answer", value=1, crash="before mark"),
    Event("answer a while another process answers b", "answer", meanwhile="another process"),
)

_SHOWN: Final = (
    Event("answer a, another survey is shown", "answer", fault="another survey"),
    Event("answer a, it is signed with another key", "answer", fault="another key"),
)

PLAIN: Final = (*_ANSWERS, *_SHOWN, Event("answer another survey", "answer", other=True))

RELAYED: Final = (
    *_ANSWERS,
    Event("answer a, the relay fails", "answer", fault="relay fails"),
    Event("answer b, the relay is gone", "answer", value=1, fault="relay gone"),
    Event("answer a, the relay shows keys of its own", "answer", fault="relay keys"),
    Event("flush, the relay is gone", "flush", fault="relay gone"),
    Event("flush, the relay shows keys of its own", "flush", fault="relay keys"),
)

PANEL: Final = (
    *_ANSWERS,
    *_SHOWN,
    Event("the next round opens", "open_round"),
    Event("answer a, the round asks another question", "answer", fault="another question"),
)

TRACKING: Final = (
    *_ANSWERS,
    Event("a period passes", "wait", periods=1),
    Event("a window passes", "wait", windows=1),
    Event("both clocks fall back by a window", "wait", windows=-1),
    Event("answer a, the collector's clock is ahead", "answer", fault="clock ahead"),
    Event("answer a, days pass meanwhile", "answer", meanwhile="days pass"),
    Event("answer b, another calendar is shown", "answer", value=1, fault="another survey"),
    Event("join", "join"),
    Event("answer what is due", "answer_due"),
    Event("refuse renewals", "refuse_renewals"),
)
