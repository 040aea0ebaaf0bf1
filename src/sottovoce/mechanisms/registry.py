"""Every mechanism, by its name in a survey's JSON. To add one: write its file, add its line here.

Mechanisms of other packages are found by their entry points, or registered in this process with `register`.
"""

from __future__ import annotations

import inspect
import re
import warnings
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final, TypeVar

from sottovoce.core.errors import MechanismError, SurveyError
from sottovoce.mechanisms.base import Mechanism
from sottovoce.mechanisms.binary import Binary
from sottovoce.mechanisms.channel import ChannelMechanism
from sottovoce.mechanisms.codebook import Codebook
from sottovoce.mechanisms.finite import FiniteMechanism
from sottovoce.mechanisms.fourier import Fourier
from sottovoce.mechanisms.gaussian import Gaussian
from sottovoce.mechanisms.haar import Haar
from sottovoce.mechanisms.hadamard import Hadamard
from sottovoce.mechanisms.hadamard_blocks import HadamardBlocks
from sottovoce.mechanisms.hashed_prefixes import HashedPrefixes
from sottovoce.mechanisms.hierarchical import Hierarchical
from sottovoce.mechanisms.matrix_channel import MatrixChannel
from sottovoce.mechanisms.one_option import OneOption
from sottovoce.mechanisms.projective_geometry import ProjectiveGeometry
from sottovoce.mechanisms.randomized_response import RandomizedResponse
from sottovoce.mechanisms.rejection import Rejection
from sottovoce.mechanisms.rounded_channel import RoundedChannel
from sottovoce.mechanisms.set_selection import SetSelection
from sottovoce.mechanisms.sets import SetMechanism
from sottovoce.mechanisms.sphere import Sphere
from sottovoce.mechanisms.subset_selection import SubsetSelection
from sottovoce.mechanisms.tables import Tables
from sottovoce.mechanisms.unary_optimized import UnaryOptimized
from sottovoce.mechanisms.unary_symmetric import UnarySymmetric
from sottovoce.mechanisms.vector import VectorMechanism
from sottovoce.mechanisms.wheel import Wheel

__all__ = [
    "ENTRY_POINTS",
    "HOW_TO_BRING_ONE",
    "MECHANISMS",
    "candidates",
    "create",
    "find",
    "is_foreign",
    "lookup",
    "register",
    "registered",
    "serving",
]

M = TypeVar("M", bound=Mechanism)

MECHANISMS: Final[dict[str, type[ChannelMechanism | VectorMechanism | SetMechanism | Tables | HashedPrefixes]]] = {
    kind.name: kind
    for kind in (
        RandomizedResponse,
        Hadamard,
        HadamardBlocks,
        ProjectiveGeometry,
        SubsetSelection,
        UnaryOptimized,
        UnarySymmetric,
        Codebook,
        Gaussian,
        Rejection,
        Sphere,
        Binary,
        Hierarchical,
        Haar,
        Fourier,
        MatrixChannel,
        RoundedChannel,
        Tables,
        HashedPrefixes,
        SetSelection,
        Wheel,
        OneOption,
    )
}
"""Every mechanism of this package; where two are equally good, the first is chosen."""

ENTRY_POINTS: Final = "sottovoce.mechanisms"
"""The group of entry points under which other packages offer mechanisms: the name is the mechanism's."""

HOW_TO_BRING_ONE: Final = "install the package that brings another, or call sottovoce.mechanisms.register"
"""What to do about a name that is not known."""

_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")

_registered: dict[str, type[FiniteMechanism]] = {}


def serving(family: type[M]) -> dict[str, type[M]]:
    """Every mechanism of this package that serves what the family serves.

    Examples
    --------
    >>> from sottovoce.mechanisms import VectorMechanism
    >>> list(serving(VectorMechanism))
    ['codebook', 'gaussian', 'rejection', 'sphere', 'binary']
    """
    return {
        name: kind for name, kind in MECHANISMS.items() if issubclass(kind, family) and kind.serves == family.serves
    }


def lookup(name: object) -> type[ChannelMechanism | VectorMechanism | SetMechanism | Tables | HashedPrefixes] | None:
    """The mechanism of that name: one of this package, one that is registered, or one that an entry point offers.

    Raises
    ------
    MechanismError
        If an entry point of that name cannot be loaded.
    """
    if not isinstance(name, str):
        return None
    return MECHANISMS.get(name) or _registered.get(name) or _loaded(name)


def find(name: object, family: type[M]) -> type[M]:
    """The mechanism of that name, if a survey may use it for what the family serves; else raises `MechanismError`."""
    kind = lookup(name)
    if kind is None or not (kind.deployable and issubclass(kind, family) and kind.serves == family.serves):
        known = ", ".join(name for name, kind in serving(family).items() if kind.deployable)
        remedy = "" if kind is not None else f"; {HOW_TO_BRING_ONE}"
        raise MechanismError(
            f"no mechanism for {family.serves} is named {name!r}; choose among {known}, or 'auto'{remedy}"
        )
    return kind


def create(name: object, domain_size: int, epsilon: float) -> FiniteMechanism:
    """The named mechanism for values, with its own parameters chosen for least error."""
    return find(name, FiniteMechanism).best(domain_size, epsilon)


def candidates(family: type[M], *setting: float) -> list[M]:
    """Every deployable mechanism of this package that can serve the setting, in the registry's order.

    Examples
    --------
    >>> [mechanism.name for mechanism in candidates(FiniteMechanism, 2**24, 1.0)][:2]
    ['randomized_response', 'hadamard']
    """
    found = []
    for kind in serving(family).values():
        if kind.deployable:
            try:
                found.append(kind.best(*setting))  # type: ignore[attr-defined]
            except SurveyError:
                continue
    return found


# --- mechanisms of other packages -------------------------------------------------------------


def is_foreign(kind: type) -> bool:
    """Whether a class is no mechanism of this package."""
    return all(kind is not known for known in MECHANISMS.values())


def register(kind: type[FiniteMechanism]) -> None:
    """Let surveys of this process name a mechanism of another package; a class that is defined anew replaces itself.

    "auto" never chooses it: a survey that is not told otherwise must be answerable by every client.

    Raises
    ------
    MechanismError
        If it is no finished `FiniteMechanism`, is not meant for devices, or bears a name that is taken.
    """
    if not _is_finite_mechanism(kind):
        raise MechanismError(f"{_label(kind)} is no subclass of sottovoce.mechanisms.FiniteMechanism")
    if inspect.isabstract(kind):
        missing = ", ".join(sorted(kind.__abstractmethods__))
        raise MechanismError(f"{_label(kind)} is not finished: it lacks {missing}")
    if not kind.deployable:
        raise MechanismError(f"{_label(kind)} is not deployable: it exists to be measured, and no survey may use it")
    name = getattr(kind, "name", None)
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name == "auto":
        raise MechanismError(f"{_label(kind)} needs a name of at most 64 small letters, digits and underscores")
    holder = MECHANISMS.get(name) or _registered.get(name)
    if holder is kind and name not in MECHANISMS:
        return
    if holder is not None and (name in MECHANISMS or _label(holder) != _label(kind)):
        raise MechanismError(f"{_label(kind)} has the same name, {name!r}, as {_label(holder)}: give it another")
    for point in entry_points(group=ENTRY_POINTS, name=name):
        if _label(_imported(point)) != _label(kind):
            raise MechanismError(
                f"{_label(kind)} has the same name as what {_place(point)} offers: give it another, or uninstall that "
                "package"
            )
    _registered[name] = kind


def registered() -> dict[str, type[FiniteMechanism]]:
    """Every mechanism of another package; an entry point that cannot be loaded is left out with a warning."""
    for name in sorted(entry_points(group=ENTRY_POINTS).names - set(_registered)):
        try:
            _loaded(name)
        except MechanismError as error:
            warnings.warn(str(error), RuntimeWarning, stacklevel=2)
    return dict(_registered)


def _loaded(name: str) -> type[FiniteMechanism] | None:
    """The mechanism that an entry point of this name offers, if there is one."""
    points = {point.value: point for point in entry_points(group=ENTRY_POINTS, name=name)}
    if len(points) > 1:
        raise MechanismError(f"mechanism {name!r} is offered twice, by {' and '.join(sorted(points))}: uninstall one")
    for point in points.values():
        _load(point)
    return _registered.get(name)


def _load(point: EntryPoint) -> None:
    kind = _imported(point)
    if _is_finite_mechanism(kind) and getattr(kind, "name", None) != point.name:
        raise MechanismError(f"{_place(point)} offers {_label(kind)}, which has another name: give both the same")
    try:
        register(kind)
    except MechanismError as error:
        raise MechanismError(f"{_place(point)}: {error}") from error


def _imported(point: EntryPoint) -> Any:
    try:
        return point.load()
    except (Exception, SystemExit) as error:  # whatever another package does when it is imported
        raise MechanismError(
            f"{_place(point)} cannot be loaded ({type(error).__name__}: {error}); repair or uninstall the package"
        ) from error


def _place(point: EntryPoint) -> str:
    return f"entry point {point.name!r} ({point.value})"


def _is_finite_mechanism(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, FiniteMechanism)


def _label(kind: object) -> str:
    return f"{kind.__module__}.{kind.__qualname__}" if isinstance(kind, type) else repr(kind)
