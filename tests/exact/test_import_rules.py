"""Who may import whom, and where randomness may come from, read off the source of every module.

In which order rooms may import each other is in test_rooms.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import sottovoce
from import_graph import called, trees, walk
from sottovoce.core.extras import LEFT_OUT

ROOT = Path(sottovoce.__file__).parent


SERVICE = {"granian", "uvloop", "prometheus_client", "psycopg"}
"""What only the collector needs."""

FORBIDDEN = {
    "projections": {"sottovoce.randomness"},
    "protocol": {*SERVICE, "scipy", "numba"},
    "device": {*SERVICE, "scipy", "numba"},
    "analyst": {*SERVICE, "sottovoce.auditing"},
    "service": {"sottovoce.device", "sottovoce.analyst", "sottovoce.disclosure", "psycopg", "scipy", "numba"},
    "collector": {"sottovoce.device", "sottovoce.analyst"},
    "relay": {"sottovoce.analyst", "sottovoce.collector", "psycopg", "scipy", "numba"},
    "engines": {"sottovoce.device", "sottovoce.analyst", "sottovoce.collector"},
    "lab": {*SERVICE, "sottovoce.collector"},
}
"""By room: what it must not import although the order would allow it, not even inside a function."""

BUILDING_BLOCKS = {"Generator", "BitGenerator", "SeedSequence", "SFC64", "PCG64", "PCG64DXSM", "Philox", "default_rng"}
"""What may be taken from numpy.random: generators that are made and handed on, no global state."""


def imports(tree: ast.AST, module: str = "sottovoce.somewhere") -> set[str]:
    """Dotted names of everything imported anywhere in a module, inside functions too."""
    found: set[str] = set()
    for node in walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = module.split(".")[: -node.level] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            found |= {base, *(f"{base}.{alias.name}" for alias in node.names)}
    return found


def breaches(found: set[str], forbidden: set[str]) -> set[str]:
    return {name for name in found for ban in forbidden if name == ban or name.startswith(ban + ".")}


def is_attribute(node: ast.AST, name: str, *owners: str) -> bool:
    """Whether it is that attribute of one of the owners, by their names."""
    return isinstance(node, ast.Attribute) and node.attr == name and getattr(node.value, "id", "") in owners


def numpy_random_uses(tree: ast.AST) -> Iterator[str]:
    """X for every np.random.X and every `from numpy.random import X`."""
    for node in walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "numpy.random":
            yield from (alias.name for alias in node.names)
        if isinstance(node, ast.Attribute) and is_attribute(node.value, "random", "np", "numpy"):
            yield node.attr


def unseeded(tree: ast.AST) -> list[str]:
    """Calls of default_rng or SeedSequence that name no seed."""
    calls = [node for node in walk(tree) if isinstance(node, ast.Call)]
    named = [call for call in calls if called(call) == "default_rng"]
    return [ast.unparse(call) for call in named if not call.args or ast.unparse(call.args[0]) == "None"]


def test_every_rule_is_about_something() -> None:
    assert set(FORBIDDEN) <= {module.split(".")[1] for module in trees(ROOT) if "." in module}


def test_rooms_do_not_reach_where_they_must_not() -> None:
    found = {
        module: breaches(imports(tree, module), FORBIDDEN.get(module.split(".")[1], set()))
        for module, tree in trees(ROOT).items()
        if "." in module
    }
    assert {module: names for module, names in found.items() if names} == {}


def unguarded(tree: ast.AST) -> list[int]:
    """Lines that import what a device install leaves out, and do not stand in a `with full_install`."""
    guarded = {
        inner
        for node in walk(tree)
        if isinstance(node, ast.With) and ast.unparse(node.items[0].context_expr) == "full_install"
        for inner in node.body
    }
    found = [node for node in walk(tree) if isinstance(node, ast.Import | ast.ImportFrom) and node not in guarded]
    return [node.lineno for node in found if breaches(imports(node), set(LEFT_OUT))]


def test_whoever_needs_the_full_install_says_so() -> None:
    """Compiled loops are imported through their package, which imports Numba before they do."""
    assert unguarded(ast.parse("def f():\n    from scipy import fft")) == [2]
    assert unguarded(ast.parse("with full_install:\n    import numba")) == []
    found = {module: lines for module, tree in trees(ROOT).items() if (lines := unguarded(tree))}
    assert {module for module in found if not module.startswith("sottovoce.kernels.compiled.")} == set()
    assert found, "the compiled loops"


def test_only_commands_import_the_laboratory() -> None:
    outside = {module: tree for module, tree in trees(ROOT).items() if not module.startswith("sottovoce.lab")}
    importers = {module for module, tree in outside.items() if breaches(imports(tree, module), {"sottovoce.lab"})}
    assert importers
    assert {module for module in importers if not module.startswith("sottovoce.cli.")} == set()


def test_nothing_that_is_shipped_imports_the_evidence() -> None:
    found = {module for module, tree in trees(ROOT).items() if breaches(imports(tree, module), {"evidence", "tests"})}
    assert found == set()


def test_no_global_randomness() -> None:
    """Devices draw from randomness.source; simulations are handed a seeded generator."""
    assert {module for module, tree in trees(ROOT).items() if breaches(imports(tree), {"random"})} == set()
    assert {name for tree in trees(ROOT).values() for name in numpy_random_uses(tree)} <= BUILDING_BLOCKS
    assert [call for tree in trees(ROOT).values() for call in unseeded(tree)] == []


def checking_asserts(tree: ast.AST) -> list[int]:
    """Lines of asserts, except those that only tell a type checker what is known."""
    return [
        node.lineno
        for node in walk(tree)
        if isinstance(node, ast.Assert) and not ast.unparse(node.test).startswith("isinstance(")
    ]


def test_nothing_is_checked_by_assert() -> None:
    """Python drops them with -O."""
    assert checking_asserts(ast.parse("assert x > 0")) == [1]
    assert {module: lines for module, tree in trees(ROOT).items() if (lines := checking_asserts(tree))} == {}


def test_device_randomness_is_read_in_one_place() -> None:
    readers = {
        module
        for module, tree in trees(ROOT).items()
        for node in walk(tree)
        if is_attribute(node, "urandom", "os") or is_attribute(node, "getrandom", "os")
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


@pytest.mark.parametrize("module", ["sottovoce.protocol.drafts", "sottovoce.device", "sottovoce.analyst.live"])
def test_what_is_imported_imports_nothing_forbidden_either(module: str) -> None:
    """The source of a package is not all it loads: what it imports loads more."""
    program = f"import sys, sottovoce; before = set(sys.modules); import {module}; print(*set(sys.modules) - before)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert module in loaded
    assert not breaches(set(loaded), FORBIDDEN[module.split(".")[1]])


def test_the_reader_is_not_fooled_by_names() -> None:
    innocent = "import sottovoce.devices\nfrom sottovoce import device_notes\nimport randomize\n"
    assert not breaches(imports(ast.parse(innocent)), {"sottovoce.cli", "sottovoce.device", "random"})


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
