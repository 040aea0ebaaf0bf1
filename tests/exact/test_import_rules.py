"""Who may import whom, and where randomness may come from, read off the source of every module."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import sottovoce

ROOT = Path(sottovoce.__file__).parent
SOURCES = sorted(ROOT.rglob("*.py"))

ROOMS = {
    f"sottovoce.{room}" for room in ("client", "collector", "analyst", "populations", "fleet", "experiments", "cli")
}
"""What stands on the library; nothing in the library stands on them."""

SERVICE = {"litestar", "granian", "uvloop", "prometheus_client", "psycopg"}
"""What only the collector needs."""

FORBIDDEN = {
    "mechanisms": {*ROOMS, "sottovoce.engines"},
    "projections": {*ROOMS, "sottovoce.randomness"},
    "questions": {*ROOMS, "sottovoce.surveys", "sottovoce.strategies", "sottovoce.planning", "sottovoce.engines"},
    "strategies": {*ROOMS, "sottovoce.questions", "sottovoce.surveys", "sottovoce.planning", "sottovoce.engines"},
    "surveys": {*ROOMS, "sottovoce.planning", "sottovoce.adaptive", "sottovoce.engines"},
    "planning": {*ROOMS, "sottovoce.adaptive", "sottovoce.engines"},
    "adaptive": {*ROOMS, "sottovoce.engines"},
    "randomness": {*ROOMS, "sottovoce.mechanisms", "sottovoce.surveys.survey"},
    "theory": ROOMS,
    "wire.py": ROOMS,
    "signing.py": ROOMS,
    "aggregate_bytes.py": ROOMS,
    "aggregate_file.py": ROOMS,
    "report_files.py": ROOMS,
    "engines": ROOMS,
    "client": {*ROOMS - {"sottovoce.client"}, *SERVICE, "scipy", "numba"},
    "collector": ROOMS - {"sottovoce.collector"},
    "analyst": {*ROOMS - {"sottovoce.client", "sottovoce.analyst"}, *SERVICE},
    "populations": {*ROOMS - {"sottovoce.populations"}, *SERVICE},
    "fleet": {"sottovoce.collector", "sottovoce.experiments", "sottovoce.cli", *SERVICE},
    "experiments": {"sottovoce.cli"},
}
"""By package or module: what its source must not import, not even inside a function."""

MAY_IMPORT_PUBLISHED = {"published", "experiments", "audit"}

BUILDING_BLOCKS = {"Generator", "BitGenerator", "SeedSequence", "SFC64", "PCG64", "PCG64DXSM", "Philox", "default_rng"}
"""What may be taken from numpy.random: generators that are made and handed on, no global state."""


def dotted(path: Path) -> str:
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(tree: ast.AST, module: str = "sottovoce.somewhere") -> set[str]:
    """Dotted names of everything imported anywhere in a module, inside functions too."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = module.split(".")[: -node.level] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            found |= {base, *(f"{base}.{alias.name}" for alias in node.names)}
    return found


def breaches(found: set[str], forbidden: set[str]) -> set[str]:
    return {name for name in found for ban in forbidden if name == ban or name.startswith(ban + ".")}


def numpy_random_uses(tree: ast.AST) -> Iterator[str]:
    """X for every np.random.X and every `from numpy.random import X`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "numpy.random":
            yield from (alias.name for alias in node.names)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("np.random", "numpy.random"):
            yield node.attr


def unseeded(tree: ast.AST) -> list[str]:
    """Calls of default_rng or SeedSequence that name no seed."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    named = [call for call in calls if ast.unparse(call.func).split(".")[-1] == "default_rng"]
    return [ast.unparse(call) for call in named if not call.args or ast.unparse(call.args[0]) == "None"]


every_source = pytest.mark.parametrize("path", SOURCES, ids=dotted)


def test_every_rule_is_about_something() -> None:
    assert set(FORBIDDEN) <= {path.relative_to(ROOT).parts[0] for path in SOURCES}
    assert {room for room in ROOMS if not (ROOT / room.removeprefix("sottovoce.")).is_dir()} == set()


@every_source
def test_packages_do_not_reach_where_they_must_not(path: Path) -> None:
    package = path.relative_to(ROOT).parts[0]
    found = imports(ast.parse(path.read_text("utf-8")), dotted(path))
    assert not breaches(found, FORBIDDEN.get(package, set()))
    if package not in MAY_IMPORT_PUBLISHED:
        assert not breaches(found, {"sottovoce.published"})


@every_source
def test_no_global_randomness(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    assert not breaches(imports(tree), {"random"}), "devices draw from randomness.source"
    assert set(numpy_random_uses(tree)) <= BUILDING_BLOCKS
    assert unseeded(tree) == []


def checking_asserts(tree: ast.AST) -> list[int]:
    """Lines of asserts, except those that only tell a type checker what is known."""
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Assert) and not ast.unparse(node.test).startswith("isinstance(")
    ]


@every_source
def test_nothing_is_checked_by_assert(path: Path) -> None:
    """Python drops them with -O."""
    assert checking_asserts(ast.parse("assert x > 0")) == [1]
    assert checking_asserts(ast.parse(path.read_text("utf-8"))) == []


def test_device_randomness_is_read_in_one_place() -> None:
    readers = {
        dotted(path)
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Attribute) and ast.unparse(node) in ("os.urandom", "os.getrandom")
    }
    assert readers == {"sottovoce.randomness.source"}


@pytest.mark.parametrize(
    "source",
    [
        "import sottovoce.cli",
        "import sottovoce.cli.demo as d",
        "from sottovoce import cli",
        "from sottovoce.cli import main",
        "def f():\n    from sottovoce.cli.demo import x",
        "from ..cli import main",
        "from .. import cli",
        "if TYPE_CHECKING:\n    import sottovoce.cli",
    ],
)
def test_the_reader_finds_every_form_of_import(source: str) -> None:
    assert breaches(imports(ast.parse(source), "sottovoce.mechanisms.hadamard"), {"sottovoce.cli"})


@pytest.mark.parametrize("module", ["sottovoce.client", "sottovoce.analyst.live"])
def test_what_is_imported_imports_nothing_forbidden_either(module: str) -> None:
    """The source of a package is not all it loads: what it imports loads more."""
    program = f"import sys, sottovoce; before = set(sys.modules); import {module}; print(*set(sys.modules) - before)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert module in loaded
    assert not breaches(set(loaded), FORBIDDEN[module.split(".")[1]])


def test_the_reader_is_not_fooled_by_names() -> None:
    innocent = "import sottovoce.clients\nfrom sottovoce import client_notes\nimport randomize\n"
    assert not breaches(imports(ast.parse(innocent)), {"sottovoce.cli", "sottovoce.client", "random"})


@pytest.mark.parametrize(
    "source",
    ["np.random.seed(1)", "x = numpy.random.rand(3)", "from numpy.random import normal", "f(np.random.shuffle)"],
)
def test_the_reader_finds_global_randomness(source: str) -> None:
    assert not set(numpy_random_uses(ast.parse(source))) <= BUILDING_BLOCKS


@pytest.mark.parametrize("source", ["np.random.default_rng()", "default_rng(None)", "numpy.random.default_rng()"])
def test_the_reader_finds_unseeded_generators(source: str) -> None:
    assert unseeded(ast.parse(source))
    assert not unseeded(ast.parse("np.random.default_rng((order, dimension))"))
