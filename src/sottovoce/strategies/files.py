"""Strategies in files, so that a search is done once."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Final

import rfc8785

from sottovoce.core.errors import MechanismError, SurveyError
from sottovoce.core.files import replace_file
from sottovoce.core.limits import check_epsilon
from sottovoce.strategies.base import Strategy
from sottovoce.strategies.registry import STRATEGIES
from sottovoce.workloads import Workload
from sottovoce.workloads.base import check_workload

__all__ = ["load", "save"]

_MAGIC: Final = b"sottovoce strategy 1\n"
_LARGEST: Final = 2**27
"""Maximum size of a file in bytes."""
_DIGEST: Final = hashlib.sha256().digest_size


def save(strategy: Strategy, path: str | os.PathLike[str]) -> None:
    """Write the strategy's channel and weights, with their workload and epsilon.

    The file is replaced atomically.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from sottovoce.strategies.optimized import OptimizedStrategy
    >>> from sottovoce.strategies.search.optimize import optimize
    >>> from sottovoce.workloads import Prefix
    >>> optimized = optimize(Prefix(4), 1.0, cache=False)
    >>> strategy = OptimizedStrategy.of(Prefix(4), 1.0, optimized.matrix, optimized.weights)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(strategy, pathlib.Path(folder) / "prefix.strategy")
    ...     load(pathlib.Path(folder) / "prefix.strategy", Prefix(4), 1.0) == strategy
    True
    """
    attachment = strategy.attachment if isinstance(strategy, Strategy) and strategy.kept_in_files else None
    if attachment is None:
        raise SurveyError("only optimized strategies are saved in files; others follow from the survey's JSON").at(
            "strategy"
        )
    target = _place(path)
    epsilon = strategy.mechanism.epsilon
    stated = {"epsilon": epsilon.hex(), "name": strategy.name, "workload": strategy.workload.digest}
    body = rfc8785.dumps(stated) + b"\n" + attachment
    content = _MAGIC + hashlib.sha256(body).digest() + body
    try:
        replace_file(target, content)
    except OSError as error:
        raise SurveyError(f"{str(target)!r} cannot be written: {error.strerror}; name another file").at(
            "path"
        ) from None


def load(path: str | os.PathLike[str], workload: Workload, epsilon: float) -> Strategy:
    """The strategy in a file that `save` or ``sottovoce optimize --out`` wrote, for this workload and epsilon.

    The file is not trusted: its checksum detects damage, the channel is verified against `epsilon` with integers, and
    its noise is computed again.

    Raises
    ------
    SurveyError
        For a file that cannot be read, or is for another workload or epsilon.
    MechanismError
        For a file that is damaged, or whose channel violates epsilon or does not determine the workload's answers.
    """
    file, stated_epsilon = _place(path), check_epsilon(epsilon)
    check_workload(workload)
    stated, attachment = _parts(_content(file), str(file))
    kind = STRATEGIES.get(str(stated.get("name")))
    if kind is None or not kind.kept_in_files:
        raise SurveyError(f"{str(file)!r} has an unknown kind of strategy, perhaps of a newer version").at("path")
    if stated.get("workload") != workload.digest:
        raise SurveyError(f"{str(file)!r} is for another workload; give the one it was optimized for").at("workload")
    if stated.get("epsilon") != stated_epsilon.hex():
        raise SurveyError(f"{str(file)!r} is for another epsilon; give the one it was optimized for").at("epsilon")
    return kind.from_attachment(workload, stated_epsilon, attachment)


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_LARGEST + 1)
    except OSError as error:
        raise SurveyError(f"{str(path)!r} cannot be read: {error.strerror}; name a strategy file").at("path") from None


def _parts(content: bytes, name: str) -> tuple[dict[str, object], bytes]:
    """The stated workload and epsilon, and the channel; raises if the checksum is wrong."""
    if not content.startswith(_MAGIC):
        raise MechanismError(f"{name!r} is not a strategy file; write one with 'sottovoce optimize --out'").at("path")
    check, body = content[len(_MAGIC) :][:_DIGEST], content[len(_MAGIC) + _DIGEST :]
    if len(content) > _LARGEST or hashlib.sha256(body).digest() != check:
        raise MechanismError(f"{name!r} is damaged: its checksum is wrong; copy it again, or repeat the search").at(
            "path"
        )
    line, _, attachment = body.partition(b"\n")
    try:
        stated = json.loads(line)
    except ValueError:
        stated = None
    if not isinstance(stated, dict) or set(stated) != {"epsilon", "name", "workload"}:
        raise MechanismError(f"{name!r} has a malformed header; write one with 'sottovoce optimize --out'").at("path")
    return stated, attachment


def _place(path: object) -> Path:
    if not isinstance(path, (str, os.PathLike)) or "\0" in str(path):
        raise SurveyError("the path of a strategy must be a text or a pathlib.Path, for example 'curve.strategy'")
    return Path(path)
