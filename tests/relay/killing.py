"""Relay and collector killed in turns under load, and what became of every message: for tests and the benchmark."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from collector.service import Service, kept_port, until
from relay.service import RelayProcess, SealedLoad, relayed
from sottovoce.relay.store import RELAY_FILE, RelayStore, message_id

FLAGS = ("--part", "50", "--wait", "0", "--time-precision", "1", "--log-level", "warning", "--metrics-token", "secret")


class Outcome(NamedTuple):
    """How many messages were acknowledged by the relay, counted by the collector, still held, and so on."""

    acknowledged: int
    counted: int
    held: int
    lost: int
    twice: int
    invented: int


def kill_in_turns(folder: Path, kills: int, between: Callable[[], int], threads: int = 4) -> Outcome:
    """Kill relay and collector in turns, each after that many acknowledgements, and start them again."""
    survey = relayed(10)
    with kept_port() as port:
        to, same = f"http://127.0.0.1:{port}", ("--port", str(port), "--lease-seconds", "0.5", "--log-level", "warning")
        collector = Service(folder / "data", *same)
        collector.publish(survey)
        relay = RelayProcess(folder / "relay", to, *FLAGS)
        try:
            load = SealedLoad(survey, survey.randomize("tea"), relay.keys()[0], threads)
            with load:
                for kill in range(kills):
                    load.relay = relay
                    load.acknowledges(between())
                    if kill % 2:
                        collector.kill()
                        load.acknowledges(20)  # the relay goes on without it
                        collector = Service(folder / "data", *same, token=collector.token)
                    else:
                        relay.kill()
                        relay = RelayProcess(folder / "relay", to, *FLAGS)
                load.relay = relay
                load.acknowledges(10)
            until(lambda: relay.metric("sottovoce_relay_enough") == 0, "nothing is ripe")
            until(lambda: relay.metric("sottovoce_relay_held") < survey.relay.least, "every batch is forwarded")
            counted = collector.counted(survey, survey.mechanism.report_bytes)
            relay.stop()
            # What came last may be fewer than may be forwarded.
            held = {load.sent[message_id(message)] for message in held_messages(folder / "relay")}
            sent = {*load.sent.values()}
            return Outcome(
                acknowledged=len(load.acknowledged),
                counted=len(counted),
                held=len(held),
                lost=len(load.acknowledged - counted.keys() - held),
                twice=sum(n - 1 for n in counted.values()) + len(held & counted.keys()),
                invented=len(counted.keys() - sent),
            )
        finally:
            relay.kill()
            collector.kill()


def held_messages(folder: Path) -> list[bytes]:
    """What a relay that has stopped still holds."""
    with closing(RelayStore(folder / RELAY_FILE)) as store, store.read() as transaction:
        return [content for (content,) in transaction.rows("SELECT content FROM messages")]
