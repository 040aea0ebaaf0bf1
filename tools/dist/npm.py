"""The npm package, built and packed by npm from the copy of the source, with the compilers that its lock file pins."""

from __future__ import annotations

from pathlib import Path

from tools.dist.processes import output

__all__ = ["pack", "with_node"]


def with_node(source: Path, within: Path, *words: str | Path) -> bytes:
    """The output of a command that has Node on its path."""
    return output(source / "tools" / "with_node", *words, within=within, npm_config_loglevel="error")


def pack(source: Path, to: Path) -> None:
    """`npm pack`, whose script `prepack` builds the package; npm gives every file the same time."""
    client = source / "clients" / "js"
    with_node(source, client, "npm", "ci", "--no-audit", "--no-fund")
    with_node(source, client, "npm", "pack", "--pack-destination", to.resolve())
