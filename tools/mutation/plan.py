"""Which sources are mutated, and which tests have to notice: for each group the exact and fast ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

__all__ = ["GROUPS", "Group"]

_SOURCES = Path(__file__).resolve().parents[2] / "src" / "sottovoce"


@dataclass(frozen=True)
class Group:
    """Modules below src/sottovoce, and the tests below tests that are run against their mutants."""

    name: str
    modules: tuple[str, ...]
    tests: tuple[str, ...]
    deselect: tuple[str, ...] = ()


def _in(folder: str, names: str) -> tuple[str, ...]:
    return tuple(f"{folder}/{name}.py" for name in names.split())


def _room(folder: str) -> tuple[str, ...]:
    """Every module of a room, whatever is added to it."""
    files = sorted((_SOURCES / folder).rglob("*.py"))
    return tuple(str(file.relative_to(_SOURCES)) for file in files if file.name != "__init__.py")


_SOLVER = _in("planning", "central solve")
_LEDGER = _in("device", "allowance ledger")

_GROUPS = (
    Group(
        "randomness",
        _in("randomness", "thresholds source philox discrete_gaussian scripts"),
        (
            "exact/test_scripted_draws.py",
            "exact/test_discrete_gaussian.py",
            "exact/test_enclosures.py",
            "exact/test_thresholds.py",
            "exact/test_philox.py",
        ),
    ),
    Group("codecs", _in("mechanisms", "codecs"), ("exact/test_codec_bytes.py",)),
    Group(
        "channels",
        _in(
            "mechanisms",
            "two_level hadamard randomized_response subset_selection unary channel support symmetric finite base",
        ),
        (
            "exact/test_small_channels.py",
            "exact/test_second_moments.py",
            "exact/test_choices.py",
            "exact/test_kernel_channels.py",
            "exact/test_vector_codec_bytes.py",
            "property/test_count_encoded.py",
        ),
        deselect=("property/test_count_encoded.py::test_rows_of_any_width_are_counted_or_refused",),
    ),
    Group(
        "numbers",
        _in("mechanisms", "binary gaussian"),
        (
            "exact/test_binary_numbers.py",
            "exact/test_vector_numbers.py",
            "exact/test_vector_steps.py",
            "exact/test_binary.py",
            "exact/test_gaussian.py",
            "exact/test_gaussian_bias.py",
            "exact/test_refusals.py",
            "exact/test_plan.py",
        ),
    ),
    Group(
        "codebook",
        _in("mechanisms", "codebook codebook_reference"),
        (
            "exact/test_codebook_numbers.py",
            "exact/test_vector_steps.py",
            "exact/test_codebook.py",
            "exact/test_kernel_channels.py",
            "exact/test_refusals.py",
            "exact/test_sharded.py",
            "exact/test_plan.py",
        ),
        deselect=("exact/test_codebook.py::test_layers_leave_no_bias_worth_naming",),
    ),
    Group("shards", _in("mechanisms", "shards"), ("exact/test_sharded.py",)),
    Group(
        "rejection",
        _in("mechanisms", "rejection sphere"),
        (
            "exact/test_sphere_draws.py",
            "exact/test_vector_numbers.py",
            "exact/test_rejection.py",
            "exact/test_sphere.py",
            "exact/test_plan.py",
            "exact/test_refusals.py",
        ),
    ),
    Group(
        "fields",
        _in("kernels", "finite_field") + _in("mechanisms", "projective_space projective_geometry hadamard_blocks"),
        (
            "exact/test_searches.py",
            "exact/test_choices.py",
            "exact/test_field_numbers.py",
            "exact/test_small_channels.py",
            "exact/test_second_moments.py",
            "exact/test_finite_field.py",
            "exact/test_projective_space.py",
            "exact/test_kernel_channels.py",
            "exact/test_refusals.py",
        ),
    ),
    Group("registry", _in("mechanisms", "registry"), ("exact/test_choices.py", "exact/test_refusals.py")),
    Group(
        "vectors",
        _in("mechanisms", "vector vector_codecs"),
        (
            "exact/test_vector_codec_bytes.py",
            "exact/test_vector_numbers.py",
            "exact/test_vector_steps.py",
            "exact/test_binary.py",
            "exact/test_gaussian.py",
            "exact/test_gaussian_bias.py",
            "exact/test_rejection.py",
            "exact/test_bad_input.py",
            "exact/test_refusals.py",
            "exact/test_conformance.py",
            "exact/test_sharded.py",
            "property/test_codecs.py",
            "property/test_count_encoded.py",
        ),
        deselect=("property/test_count_encoded.py::test_rows_of_any_width_are_counted_or_refused",),
    ),
    Group(
        "matrices",
        _in("mechanisms", "channel_matrix matrix_channel fourier haar hierarchical sampled"),
        (
            "exact/test_matrix_numbers.py",
            "exact/test_channel_matrix.py",
            "exact/test_structured_strategies.py",
            "exact/test_optimized.py",
            "exact/test_strategy_mischief.py",
            "exact/test_refusals.py",
        ),
    ),
    Group(
        "sets",
        _in("mechanisms", "sets set_selection wheel one_option"),
        ("exact/test_sets.py", "vectors/test_set_vectors.py"),
    ),
    Group(
        "simplex",
        _in("projections", "simplex ball checks"),
        ("exact/test_projection_edges.py", "exact/test_ball.py", "exact/test_sets.py"),
    ),
    Group(
        "hull",
        _in("projections", "hull active_set hull_points operator"),
        (
            "exact/test_hull_numbers.py",
            "exact/test_active_set_steps.py",
            "exact/test_hull.py",
            "exact/test_hull_gram.py",
        ),
        deselect=(
            "exact/test_hull_gram.py::test_random_matrices_give_the_same",
            "exact/test_hull_gram.py::test_inner_products_of_levels",
            "exact/test_hull_gram.py::test_levels_give_the_same",
        ),
    ),
    Group(
        "strategies",
        _room("strategies"),
        tuple(
            f"exact/test_{name}.py"
            for name in (
                *("structured_strategies", "variance", "variance_of_vectors", "tables", "sets", "influence", "options"),
                *("lower_bound", "factorize", "optimized", "strategy_files", "word_recall", "tails", "bounds"),
            )
        ),
    ),
    Group(
        "estimates",
        _room("estimates"),
        tuple(
            f"exact/test_{name}.py"
            for name in (
                *("estimate", "combinations", "tables", "numbers", "influence", "likeliest", "curve"),
                *("words_estimate", "words_over_time", "results_in_words"),
            )
        ),
    ),
    Group("solver", _SOLVER, ("exact/test_central_goal.py", "exact/test_solve.py")),
    Group(
        "planning",
        tuple(module for module in _room("planning") if module not in _SOLVER),
        tuple(f"exact/test_{name}.py" for name in ("plan", "tracking_plan", "shuffled_plan", "word_recall")),
    ),
    Group("ledger", _LEDGER, ("device/test_allowance.py", "device/test_ledger.py")),
    Group(
        "device",
        tuple(module for module in _room("device") if module not in _LEDGER),
        tuple(
            f"device/test_{name}.py"
            for name in (
                *("device", "stores", "store_file", "privacy", "signing", "tracking", "adaptive", "log"),
                *("relay", "hostile", "effort", "foreign", "deadline", "http"),
            )
        ),
    ),
)


def _with_new_mechanisms(groups: tuple[Group, ...]) -> tuple[Group, ...]:
    """The groups, with every file of a mechanism that is in none of them among the channels."""
    named = {module for group in groups for module in group.modules}
    files = sorted(f"mechanisms/{file.name}" for file in (_SOURCES / "mechanisms").glob("[!_]*.py"))
    new = tuple(module for module in files if module not in named)
    return tuple(replace(group, modules=group.modules + new) if group.name == "channels" else group for group in groups)


GROUPS = _with_new_mechanisms(_GROUPS)
