"""The numbered changes that lead from an empty database to the present tables, one folder a kind of database.

A file is applied once, in one transaction together with the note that it was; it is never edited afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final, Literal, TypeAlias

from sottovoce.core.errors import StoreError

__all__ = ["COLUMNS", "NOT_IN_BACKUPS", "Dialect", "Migration", "latest", "migrations", "missing"]

Dialect: TypeAlias = Literal["sqlite", "postgresql"]

COLUMNS: Final[dict[str, tuple[str, ...]]] = {
    "surveys": (
        *("number", "id", "canonical", "signature", "title", "kind", "epsilon", "minimum_reports", "epoch"),
        *("parent", "round", "labels", "state"),
    ),
    "log_entries": ("position", "event", "survey"),
    "signer": ("single", "public"),
    "attachments": ("digest", "content"),
    "survey_attachments": ("survey", "digest"),
    "waiting": ("number", "survey", "epoch", "n", "content"),
    "leases": ("survey", "holder", "token", "expires"),
    "objects": ("name", "survey", "sha256", "length", "expires", "due"),
    "segments": ("number", "survey", "epoch", "n", "checkpointed", "object"),
    "segment_parts": ("segment", "field", "part", "content"),
    "checkpoints": ("survey", "n"),
    "checkpoint_parts": ("survey", "part", "content"),
    "tokens": ("number", "id", "digest", "scopes", "note", "epoch", "revoked", "expires"),
}
"""The present tables, each after those it refers to: what a backup holds."""


NOT_IN_BACKUPS: Final[dict[Dialect, dict[str, tuple[str, ...]]]] = {
    "sqlite": {"erasures": ("survey",)},
    "postgresql": {
        "erasures": ("survey",),
        "reserve": ("bytes",),
        "ballast": ("content",),
        "headroom": ("content",),
    },
}
"""Tables of one database alone. What is to be erased is left out of backups."""


@dataclass(frozen=True)
class Migration:
    """One change of the tables."""

    number: int
    name: str
    script: str


@cache
def migrations(dialect: Dialect) -> tuple[Migration, ...]:
    """All changes this version knows, first to last.

    Examples
    --------
    >>> [(change.number, change.name) for change in migrations("sqlite")][0]
    (1, 'first')
    """
    changes = []
    for file in resources.files(__name__).joinpath(dialect).iterdir():
        if file.name.endswith(".sql"):
            number, name = file.name.removesuffix(".sql").split("_", 1)
            changes.append(Migration(int(number), name, file.read_text(encoding="utf-8")))
    return tuple(sorted(changes, key=lambda change: change.number))


def latest(dialect: Dialect) -> int:
    """The number of the newest change."""
    return migrations(dialect)[-1].number


def missing(dialect: Dialect, applied: Iterable[int]) -> list[Migration]:
    """What a database lacks; refuses one that a newer version has changed."""
    present = set(applied)
    known = {change.number for change in migrations(dialect)}
    if present - known:
        raise StoreError(
            f"the database has schema {max(present)}, and this version of Sottovoce knows schema {max(known)} at "
            "most; nothing was changed: run the version that wrote it, or a newer one"
        )
    return [change for change in migrations(dialect) if change.number not in present]
