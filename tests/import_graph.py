"""Which file imports which, read off the sources: imports inside functions and those for types alone count too."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from os.path import normpath
from pathlib import Path
from typing import TypeVar

__all__ = [
    *("called", "circle", "python_graph", "python_imports", "trees", "typescript_graph", "typescript_imports", "walk"),
]

Node = TypeVar("Node", str, Path)


def circle(graph: Mapping[Node, Iterable[Node]]) -> list[Node]:
    """Files that import each other in a circle, the first one again at the end; empty where there is no circle."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(reversed(error.args[1]))
    return []


def python_graph(package: Path) -> dict[str, set[str]]:
    """Every module of a package by its dotted name, and those of the package that it imports."""
    parsed = trees(package)
    packages = {_dotted(path, package) for path in package.rglob("__init__.py")}
    return {name: _imports(tree, name, set(parsed), is_package=name in packages) for name, tree in parsed.items()}


@cache
def trees(package: Path) -> dict[str, ast.Module]:
    """Every module of a package by its dotted name, parsed when a test asks, and once."""
    return {_dotted(path, package): ast.parse(path.read_text("utf-8")) for path in sorted(package.rglob("*.py"))}


@cache
def walk(tree: ast.AST) -> tuple[ast.AST, ...]:
    """The tree and all below it: many rules ask the same trees."""
    return tuple(ast.walk(tree))


def called(call: ast.Call) -> str:
    """The last name of what is called: f of `f()` and of `a.b.f()`, empty where it has none."""
    return getattr(call.func, "attr", "") or getattr(call.func, "id", "")


def python_imports(source: str, module: str, known: Iterable[str], *, is_package: bool = False) -> set[str]:
    """Which of the `known` modules a module imports: of `from a import b` it is a.b if that is one, and else a."""
    return _imports(ast.parse(source), module, set(known), is_package=is_package)


def _imports(tree: ast.AST, module: str, modules: set[str], *, is_package: bool) -> set[str]:
    found = set()
    for wanted, names in _python_statements(tree, module if is_package else module.rpartition(".")[0]):
        for name in names:
            full = f"{wanted}.{name}" if name else wanted
            while full and full not in modules:
                full = full.rpartition(".")[0]
            found.add(full)
    return found - {""}


def _python_statements(tree: ast.AST, package: str) -> Iterator[tuple[str, list[str]]]:
    """Every import statement: from where, and what of it; the empty name is the module itself."""
    for node in walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, [""]) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            yield ".".join([*above, *([node.module] if node.module else [])]), [alias.name for alias in node.names]
        elif isinstance(node, ast.Call) and called(node).endswith(("import_module", "__import__")):
            yield from ((str(a.value), [""]) for a in node.args[:1] if isinstance(a, ast.Constant))


def _dotted(path: Path, package: Path) -> str:
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


_COMMENT = re.compile(r"/\*.*?\*/|^\s*//[^\n]*", re.DOTALL | re.MULTILINE)
_FROM = re.compile(r"""^\s*(?:import|export)\b[\w$*\s{},]*?\bfrom\s*["']([^"'\n]+)["']""", re.MULTILINE)
_BARE = re.compile(r"""^\s*import\s*["']([^"'\n]+)["']""", re.MULTILINE)
_CALLED = re.compile(r"""\bimport\s*\(\s*["']([^"'\n]+)["']\s*\)""")


def typescript_imports(source: str) -> set[str]:
    """What a file imports or exports from, in its own words: "./x.js" of `import type { A } from "./x.js"`."""
    code = _COMMENT.sub("", source)
    return {place for form in (_FROM, _BARE, _CALLED) for place in form.findall(code)}


def typescript_graph(*folders: Path) -> dict[Path, set[Path]]:
    """Every TypeScript file below the folders, and those that it imports; a path that leads nowhere raises."""
    files = sorted(path for folder in folders for path in folder.rglob("*.ts"))
    graph = {}
    for path in files:
        near = {place for place in typescript_imports(path.read_text("utf-8")) if place.startswith(".")}
        named = {Path(normpath(path.parent / place)) for place in near}
        graph[path] = {to.with_suffix(".ts") if to.suffix == ".js" else to for to in named}
        for lost in [to for to in graph[path] if not to.is_file()]:
            raise FileNotFoundError(f"{path} imports {lost}, which is not there")
    return graph
