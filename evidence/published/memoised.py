"""Memoised responses: a permanent random response per value, sent whenever the person holds that value.

The usual way to ask the same people again (Erlingsson, Pihur, Korolova 2014: RAPPOR; Ding, Kulkarni, Yekhanin 2017).
It protects a value that never changes. A transcript shows *when* the value changed, which the guarantee for one value
does not speak of: over histories its loss is infinite, or with a second, instantaneous response grows with every
period. `sottovoce.auditing.history` computes both exactly.
"""

from __future__ import annotations

from sottovoce.auditing.history import History, HistoryDevice
from sottovoce.core.errors import MechanismError
from sottovoce.mechanisms.channel import ChannelMechanism
from sottovoce.randomness import Source

__all__ = ["memoised_device", "rappor_device"]


def memoised_device(mechanism: ChannelMechanism) -> HistoryDevice:
    """One permanent response per value, drawn when the value is first held, and sent in every period."""

    def run(history: History, source: Source) -> bytes:
        permanent: dict[int, bytes] = {}
        sent = bytearray()
        for value in history:
            if value not in permanent:
                permanent[value] = mechanism.encode(mechanism.randomize(value, source))
            sent += permanent[value]
        return bytes(sent)

    return run


def rappor_device(permanent: ChannelMechanism, instantaneous: ChannelMechanism) -> HistoryDevice:
    """A permanent response per value, and in every period a fresh response about that response.

    Both mechanisms must be over the same values, and reports of the permanent one must be values.
    """

    def run(history: History, source: Source) -> bytes:
        kept: dict[int, int] = {}
        sent = bytearray()
        for value in history:
            if value not in kept:
                response = permanent.randomize(value, source)
                if not isinstance(response, int):
                    raise MechanismError("a permanent response must be a value, as randomized_response gives").at(
                        "mechanism"
                    )
                kept[value] = response
            sent += instantaneous.encode(instantaneous.randomize(kept[value], source))
        return bytes(sent)

    return run
