"""A registry of Prometheus metrics that tells no moment, and what two services' metrics share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, final

from prometheus_client import CollectorRegistry, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST

__all__ = ["COMMIT_SECONDS", "METRICS_TYPE", "TimelessRegistry"]

METRICS_TYPE: Final = CONTENT_TYPE_LATEST

COMMIT_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)


@final
class TimelessRegistry(CollectorRegistry):
    """A registry without the start times of counters: they would date somebody's request to the microsecond."""

    def collect(self) -> Iterator[Metric]:
        for family in super().collect():
            family.samples = [sample for sample in family.samples if not sample.name.endswith("_created")]
            yield family
