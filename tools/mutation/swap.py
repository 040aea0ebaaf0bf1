"""Puts a mutant into a running process: the code of the function that changed, or a module before its import."""

from __future__ import annotations

import ast
import gc
import importlib.abc
import importlib.util
import sys
from collections.abc import Sequence
from functools import _lru_cache_wrapper
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Protocol

__all__ = ["Cached", "Functions", "functions_of", "import_mutated", "package_caches", "reached_lines"]


class Cached(Protocol):
    """A function that remembers."""

    def cache_clear(self) -> None:
        """Forget."""


_OPTIMIZED = 1  # CO_OPTIMIZED: set for functions, not for the bodies of modules and classes


def _own(code: CodeType) -> tuple[object, ...]:
    """What a code object does by itself, apart from the code objects it holds."""
    constants = tuple(None if isinstance(c, CodeType) else (type(c), c) for c in code.co_consts)
    return code.co_code, constants, code.co_names, code.co_varnames


def _inner(code: CodeType) -> list[CodeType]:
    return [constant for constant in code.co_consts if isinstance(constant, CodeType)]


def _changed(before: CodeType, after: CodeType) -> list[CodeType] | None:
    """New code of the functions that differ; None where the body of a module or class does, as that runs at import."""
    if before.co_flags & _OPTIMIZED:
        return [after] if before != after else []
    if _own(before) != _own(after):
        return None
    found = []
    for old, new in zip(_inner(before), _inner(after), strict=True):
        inside = _changed(old, new)
        if inside is None:
            return None
        found += inside
    return found


class Functions:
    """The functions that the process has from one source file."""

    def __init__(self, file: Path) -> None:
        self._file, self._original = str(file), compile(file.read_bytes(), str(file), "exec")
        self._by_place: dict[tuple[str, int], list[FunctionType]] = {}

    def add(self, function: FunctionType) -> None:
        """Note one of them."""
        place = function.__code__.co_qualname, function.__code__.co_firstlineno
        self._by_place.setdefault(place, []).append(function)

    def put(self, source: str) -> bool:
        """Change the functions that `source` changes; False, and nothing done, where only a new import would do."""
        changed = _changed(self._original, compile(source, self._file, "exec"))
        if not changed:
            return False
        targets = [(code, self._by_place.get((code.co_qualname, code.co_firstlineno), [])) for code in changed]
        if not all(functions for _, functions in targets):
            return False
        for code, functions in targets:
            for function in functions:
                function.__code__ = code
        return True


def reached_lines(file: Path, line: int) -> set[int]:
    """Lines of which one is traced whenever the mutated `line` is: those of the statement it belongs to."""
    best: ast.stmt | None = None
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.stmt) or not node.lineno <= line <= (node.end_lineno or line):
            continue
        if best is None or node.lineno >= best.lineno:
            best = node
    return set(range(best.lineno, (best.end_lineno or line) + 1)) if best else {line}


def functions_of(files: set[Path]) -> dict[Path, Functions]:
    """The functions that are there now, by file: methods, properties and wrapped ones too."""
    found = {str(file): Functions(file) for file in files}
    for thing in gc.get_objects():
        if isinstance(thing, FunctionType) and thing.__code__.co_filename in found:
            found[thing.__code__.co_filename].add(thing)
    return {file: found[str(file)] for file in files}


def package_caches() -> list[Cached]:
    """Cached functions of the package: they must forget what they computed before a mutant came."""
    package = "sottovoce."
    return [
        thing
        for thing in gc.get_objects()
        if isinstance(thing, _lru_cache_wrapper) and getattr(thing, "__module__", "").startswith(package)
    ]


class _Mutated(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    def __init__(self, name: str, file: Path, source: str) -> None:
        self._name, self._file, self._source = name, file, source

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self._name:
            return None
        return importlib.util.spec_from_file_location(fullname, self._file, loader=self)

    def get_source(self, fullname: str) -> str:
        return self._source

    def get_code(self, fullname: str) -> CodeType:
        return compile(self._source, str(self._file), "exec")


def import_mutated(name: str, file: Path, source: str) -> None:
    """Whoever imports module `name` from now on gets `source`; nothing is written to a disk."""
    sys.meta_path.insert(0, _Mutated(name, file, source))
