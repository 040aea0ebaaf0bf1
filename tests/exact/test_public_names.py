"""The public face: what it holds, what each module offers, and what importing it costs."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys

import sottovoce as sv

HEAVY = (
    "numba",
    "scipy",
    "matplotlib",
    "pandas",
    "rich",
    "llvmlite",
    "urllib3",
    "msgspec",
    "pyarrow",
    "pyspark",
)

PUBLIC = [
    "MECHANISMS",
    "Aggregate",
    "Device",
    "Domain",
    "Estimate",
    "Mechanism",
    "Panel",
    "Plan",
    "Query",
    "Relay",
    "Reports",
    "Session",
    "Survey",
    "Tracking",
    "__version__",
    "adaptive",
    "audit",
    "audit_device",
    "choices",
    "compare",
    "compose",
    "connect",
    "disclose",
    "engines",
    "errors",
    "number",
    "plan",
    "plan_panel",
    "queries",
    "query",
    "questions",
    "records",
    "relation",
    "shares",
    "vector",
    "words",
    "workloads",
]

ERRORS = [
    "BudgetError",
    "CapacityError",
    "ClockError",
    "DomainError",
    "LedgerError",
    "MechanismError",
    "MismatchError",
    "MissingExtraError",
    "NoReportsError",
    "ObjectStorageError",
    "ObliviousError",
    "PlanError",
    "ProjectionError",
    "QueryError",
    "ReportError",
    "ServiceError",
    "SessionError",
    "SettingsError",
    "SignatureError",
    "SimulationError",
    "SottovoceError",
    "StoreError",
    "StoreFullError",
    "StoreUnavailableError",
    "SurveyError",
    "TransparencyError",
    "UnknownAnswerError",
    "ValueOutsideDomainError",
    "WorkloadError",
]


def test_the_public_names() -> None:
    """Adding one is a decision, removing one breaks somebody: either way this list is changed with it."""
    assert sorted(sv.__all__) == sorted(PUBLIC)
    assert sv.__all__ == sorted(sv.__all__, key=lambda name: (not name.isupper(), not name[0].isupper(), name))
    for name in sv.__all__:
        assert getattr(sv, name) is not None
    assert sv.__version__


def test_the_errors() -> None:
    assert sorted(sv.errors.__all__) == ERRORS
    for name in ERRORS:
        error = getattr(sv.errors, name)
        assert issubclass(error, sv.errors.SottovoceError)
        assert error.__doc__
        assert name in sv.errors.__doc__, "the tree in the module's docstring shows every error"


def modules() -> list[str]:
    found = [m.name for m in pkgutil.walk_packages(sv.__path__, "sottovoce.") if not m.name.endswith("__main__")]
    assert "sottovoce.mechanisms.hadamard" in found
    return found


def test_every_module_has_a_docstring_and_the_names_it_exports() -> None:
    loaded = {name: importlib.import_module(name) for name in modules()}
    assert [name for name, module in loaded.items() if not module.__doc__] == []
    exported = [(module, name) for module in loaded.values() for name in getattr(module, "__all__", [])]
    assert [f"{module.__name__}.{name}" for module, name in exported if not hasattr(module, name)] == []


def test_importing_is_light() -> None:
    program = f"import sys, sottovoce; print(*[m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_a_device_needs_nothing_heavy() -> None:
    """Stating a survey and answering it loads neither a compiler nor SciPy."""
    program = (
        "import sys, sottovoce as sv\n"
        "from sottovoce.mechanisms import FiniteMechanism, serving\n"
        "for name in serving(FiniteMechanism):\n"
        "    survey = sv.Survey(sv.shares(['a', 'b', 'c']), epsilon=1.0, mechanism=name)\n"
        "    survey = sv.Survey.from_json(survey.to_json())\n"
        "    survey.randomize('b')\n"
        "people = sv.Panel({'age': range(100), 'name': sv.Domain.text(5)}, rounds=3, epsilon=1.0)\n"
        "from sottovoce.adaptive import round_of\n"
        "for asked in (round_of(people, 1, 'age < 30'), round_of(people, 2, 'age // 10', 10)):\n"
        "    sv.Survey.from_json(asked.to_json()).randomize((42, 'anna'))\n"
        f"print(*[m for m in {HEAVY!r} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
