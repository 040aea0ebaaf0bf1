"""Faults planted into the aggregator and the store, one at a time, for the simulation to find."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sottovoce.collector.counting.aggregator import Aggregator
from sottovoce.collector.counting.seen import SeenIds
from sottovoce.collector.store.records import Checkpoint, Lease
from sottovoce.collector.store.reports import ReportTables
from sottovoce.core.errors import StoreUnavailableError


def forget_ids(patch: pytest.MonkeyPatch) -> None:
    """No duplicate is dropped."""
    patch.setattr(SeenIds, "new", lambda self, ids: np.ones(len(ids), dtype=bool))


def forget_other_batches(patch: pytest.MonkeyPatch) -> None:
    """A duplicate in the same batch is dropped, one in an earlier batch is not."""
    for name in ("add", "add_new"):
        patch.setattr(SeenIds, name, lambda self, ids: None)


def trust_memory(patch: pytest.MonkeyPatch) -> None:
    """An aggregator never reads what others have settled."""
    patch.setattr(Aggregator, "_read_on", lambda self, state: True)


def ignore_tokens(patch: pytest.MonkeyPatch) -> None:
    """Whoever held a lease once may settle for ever."""
    patch.setattr(ReportTables, "_held", lambda self, transaction, lease: self._locked(transaction, lease.survey)[0])


def acknowledge_first(patch: pytest.MonkeyPatch) -> None:
    """Reports are acknowledged whether they were kept or not."""
    real = ReportTables.append

    def append(self: ReportTables, arrivals: Any) -> Any:
        try:
            return real(self, arrivals)
        except StoreUnavailableError:
            return [None for _ in arrivals]

    patch.setattr(ReportTables, "append", append)


def forget_all_waiting(patch: pytest.MonkeyPatch) -> None:
    """Settling forgets everything that waits, and not only what was taken."""
    real = ReportTables.settle

    def settle(self: ReportTables, lease: Lease, *arguments: Any) -> bool:
        done = real(self, lease, *arguments)
        with self.write() as transaction:
            number = self._locked(transaction, lease.survey)[0]
            transaction.run("DELETE FROM waiting WHERE survey = ?", (number,))
        return done

    patch.setattr(ReportTables, "settle", settle)


def settle_in_two(patch: pytest.MonkeyPatch) -> None:
    """Segments are kept in one transaction, and the waiting list is shortened in the next."""
    real = ReportTables.settle

    def settle(self: ReportTables, lease: Lease, taken: Any, segments: Any, checkpoint: Any = None) -> bool:
        return real(self, lease, taken, [], None) and real(self, lease, [], segments, checkpoint)

    patch.setattr(ReportTables, "settle", settle)


def miscount_checkpoints(patch: pytest.MonkeyPatch) -> None:
    """A checkpoint holds the right number of reports in the wrong cells."""
    patch.setattr("sottovoce.collector.counting.aggregator.as_checkpoint", _shifted)


def _shifted(aggregate: Any) -> Checkpoint:
    return Checkpoint(aggregate.n_reports, np.roll(aggregate.counts, 1).astype("<i8").tobytes())


PLANTS = (
    forget_ids,
    forget_other_batches,
    trust_memory,
    ignore_tokens,
    acknowledge_first,
    forget_all_waiting,
    settle_in_two,
    miscount_checkpoints,
)
