"""Before a device answers: is the survey in the collector's log, and is it still the log that was shown before?

A collector that shows some people another survey than others must either leave it out of the log, or show two logs; the
first is refused here, and so is the second by whoever has seen both. The request tells nobody which device asks: see
`sottovoce.transparency.evidence`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

from sottovoce.core.errors import LedgerError, TransparencyError
from sottovoce.device.clock import Clock, day_of
from sottovoce.device.fetch import CollectorClient
from sottovoce.device.store import DeviceStore, LogConflict
from sottovoce.transparency.evidence import block_of, check_log_proof
from sottovoce.transparency.tree_head import read_checkpoint

__all__ = ["LogCheck"]

_ATTEMPTS: Final = 10
"""Other processes with the same store may be remembering as well."""


@final
@dataclass(frozen=True)
class LogCheck:
    """What a device knows of the logs of collectors, and checks.

    A log that was seen once is needed from then on; `required` needs one of collectors that have never shown any.
    """

    store: DeviceStore
    clock: Clock
    required: bool

    def check(self, collector: CollectorClient, key: bytes, survey_id: str) -> None:
        """Raise `TransparencyError` unless the log allows to answer this survey; remember its head.

        The key, and not the address, says whose log it is.
        """
        for _ in range(_ATTEMPTS):
            note = self.store.checkpoint(key)
            remembered = None if note is None else read_checkpoint(note, key)
            proof = collector.log_proof(survey_id, 0 if remembered is None else block_of(remembered.size))
            if proof is None:
                if note is not None or self.required:
                    raise _missing(collector.url, was_there=note is not None)
                return
            try:
                check_log_proof(proof, key, survey_id, remembered)
            except TransparencyError as error:
                if error.conflict and note is not None:
                    conflict = LogConflict(collector.url, key, note, proof.checkpoint, day_of(self.clock))
                    self.store.keep_conflict(conflict)
                    raise _contradiction(collector.url, error) from None
                raise TransparencyError(f"{error}. Nothing was answered; the collector is at {collector.url}") from None
            if self.store.remember(key, note, proof.checkpoint):
                return
        raise LedgerError("other processes keep changing what this device remembers; nothing was answered, try again")


def _missing(url: str, *, was_there: bool) -> TransparencyError:
    why = (
        "although it had one before"
        if was_there
        else "and this device's owner requires one (require_log, --require-log)"
    )
    return TransparencyError(
        f"the collector at {url} shows no log of its surveys, {why}; nothing was answered. Without it nobody can tell "
        "whether all are asked the same: ask its operator, through another channel"
    )


def _contradiction(url: str, error: TransparencyError) -> TransparencyError:
    return TransparencyError(
        f"{error}. The collector at {url} shows this device two lists of surveys, or has lost some of them; nothing "
        "was answered. Both signed checkpoints are kept as evidence: 'sottovoce ledger --json' shows them. Ask its "
        "operator, through another channel, and compare with others ('sottovoce log check')",
        conflict=True,
    )
