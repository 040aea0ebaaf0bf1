"""A session over Spark Connect: no Java here, a server elsewhere that others may use as well."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from sottovoce.core.errors import MissingExtraError, ServiceError
from sottovoce.engines.cluster.errors import translating_errors
from sottovoce.engines.cluster.masters import unanswered

__all__ = ["connected"]

_MODE: Final = "SPARK_CONNECT_MODE_ENABLED"
"""What pyspark sets, and leaves set, in the environment of a process with such a session."""

_RETRY_EVERY: Final = 1.0


@contextmanager
def connected(sql: Any, url: str, settings: Mapping[str, str], seconds: float) -> Iterator[Any]:
    """A session for a with-block; a server that is gone for so many seconds is given up."""
    _check_ready(url, seconds)
    builder = sql.SparkSession.builder.remote(url)
    for name, value in settings.items():
        builder = builder.config(name, value)
    mode = os.environ.get(_MODE)
    try:
        with translating_errors():
            begun = builder.getOrCreate()
        begun.client.set_retry_policies(_retries(seconds))
        try:
            yield begun
        finally:
            _end(begun)
    finally:
        if mode is None:
            os.environ.pop(_MODE, None)


def _end(begun: Any) -> None:
    begun.client.set_retry_policies([])  # a server that is gone is not waited for
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of the way in which pyspark says that it is gone
        begun.stop()


def _check_ready(url: str, seconds: float) -> None:
    """Raise unless a Spark Connect server, and not just anything, answers there."""
    try:
        import grpc
        from pyspark.sql.connect.client import DefaultChannelBuilder
    except ImportError:
        raise MissingExtraError(
            "Spark Connect needs grpcio and others: pip install 'sottovoce[spark-connect]'"
        ) from None
    try:
        channel = DefaultChannelBuilder(url).toChannel()
    except ValueError:  # pyspark's own; its text would quote a token
        raise ServiceError(
            "master is no address of a Spark Connect server: write it like sc://host:15002 or "
            "sc://host:443/;use_ssl=true;token=...",
            code="bad_master",
        ) from None
    try:
        grpc.channel_ready_future(channel).result(timeout=seconds)
    except grpc.FutureTimeoutError:
        raise unanswered(url) from None
    finally:
        channel.close()


def _retries(seconds: float) -> list[Any]:
    """Spark's own would try for ten minutes."""
    from pyspark.sql.connect.client.retries import DefaultPolicy

    every = int(1000 * _RETRY_EVERY)
    return [
        DefaultPolicy(
            max_retries=max(1, round(seconds / _RETRY_EVERY)), initial_backoff=every, max_backoff=every, jitter=0
        )
    ]
