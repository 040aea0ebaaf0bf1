"""A registry: the classes of one concept by their names, those of this package and those that other packages bring.

Mechanisms, strategies and questions have one registry each. Another package offers a class by an entry point whose name
is the class's, or registers it in this process.
"""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable, Iterable
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final, Generic, TypeVar

from sottovoce.core.errors import SurveyError

__all__ = ["Registry"]

T = TypeVar("T")

_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")
_RESERVED: Final = ("auto",)


def _accept(_: Any) -> None:
    """No further condition."""


class Registry(Generic[T]):
    """Classes by name. To add one to this package: write its file, add it to `ours`.

    Parameters
    ----------
    concept
        What the classes are, for messages: "mechanism".
    base
        What another package's class must extend.
    ours
        The classes of this package, in order of preference.
    name
        The attribute that holds a class's name.
    error
        What is raised for a class that cannot be used, or an entry point that cannot be loaded.
    check
        Raises `error` for a class that is finished but not allowed.

    Examples
    --------
    >>> class Animal:
    ...     name: str
    >>> class Cat(Animal):
    ...     name = "cat"
    >>> class Dog(Animal):
    ...     name = "dog"
    >>> animals = Registry("animal", Animal, [Cat])
    >>> animals.register(Dog)
    >>> list(animals.ours), list(animals.everything()), animals.is_foreign(Dog)
    (['cat'], ['cat', 'dog'], True)
    """

    def __init__(
        self,
        concept: str,
        base: Any,
        ours: Iterable[type[T]],
        *,
        name: str = "name",
        error: type[SurveyError] = SurveyError,
        check: Callable[[Any], None] = _accept,
    ) -> None:
        self.concept: Final = concept
        self._plural: Final = f"{concept[:-1]}ies" if concept.endswith("y") else f"{concept}s"
        self.group: Final = f"sottovoce.{self._plural}"
        """The group of entry points under which other packages offer such a class."""
        self.ours: Final[dict[str, type[T]]] = {getattr(kind, name): kind for kind in ours}
        """Every class of this package."""
        self._base, self._name, self._error, self._check = base, name, error, check
        self._registered: dict[str, type[T]] = {}

    def lookup(self, name: object) -> type[T] | None:
        """The class of that name: ours, a registered one, or one that an entry point offers; None if there is none.

        Raises the registry's error if an entry point of that name cannot be loaded.
        """
        if not isinstance(name, str):
            return None
        return self.ours.get(name) or self._registered.get(name) or self._loaded(name)

    def others(self) -> dict[str, type[T]]:
        """Every class of another package; an entry point that cannot be loaded is left out with a warning."""
        for name in sorted(entry_points(group=self.group).names - set(self._registered)):
            try:
                self._loaded(name)
            except self._error as error:
                warnings.warn(str(error), RuntimeWarning, stacklevel=2)
        return dict(self._registered)

    def everything(self) -> dict[str, type[T]]:
        """Every class by its name, those of other packages last."""
        return {**self.ours, **self.others()}

    def is_foreign(self, kind: type) -> bool:
        """Whether a class belongs to another package."""
        return all(kind is not known for known in self.ours.values())

    @property
    def remedy(self) -> str:
        """What to do about a name that is not known."""
        return f"install the package that brings another, or call sottovoce.{self._plural}.register"

    @staticmethod
    def lacking(name: object) -> str:
        """Words on a name that is not known, for messages: only what could be one is repeated."""
        return f", not {name!r}" if isinstance(name, str) and _NAME.fullmatch(name) else ""

    def register(self, kind: Any) -> None:
        """Let surveys of this process name a class of another package; a class that is defined anew replaces itself.

        Raises the registry's error if it is unfinished, not allowed, or bears a name that is taken.
        """
        if not self._is_kind(kind):
            raise self._error(f"{_label(kind)} is not a subclass of {_label(self._base)}")
        if inspect.isabstract(kind):
            missing = ", ".join(sorted(kind.__abstractmethods__))
            raise self._error(f"{_label(kind)} is not finished: it lacks {missing}")
        self._check(kind)
        name = getattr(kind, self._name, None)
        if not isinstance(name, str) or not _NAME.fullmatch(name) or name in _RESERVED:
            raise self._error(
                f"{_label(kind)} needs a {self._name} of at most 64 small letters, digits and underscores"
            )
        holder = self.ours.get(name) or self._registered.get(name)
        if holder is kind and name not in self.ours:
            return
        if holder is not None and (name in self.ours or _label(holder) != _label(kind)):
            raise self._error(f"{_label(kind)} has the same name, {name!r}, as {_label(holder)}: give it another")
        for point in entry_points(group=self.group, name=name):
            if _label(self._imported(point)) != _label(kind):
                raise self._error(
                    f"{_label(kind)} has the same name as what {_place(point)} offers: give it another, or uninstall "
                    "that package"
                )
        self._registered[name] = kind

    def forget(self) -> None:
        """Forget what was registered or loaded; entry points are looked up again."""
        self._registered.clear()

    def _loaded(self, name: str) -> type[T] | None:
        """What an entry point of this name offers, if there is one."""
        points = {point.value: point for point in entry_points(group=self.group, name=name)}
        if len(points) > 1:
            offers = " and ".join(sorted(points))
            raise self._error(f"{self.concept} {name!r} is offered twice, by {offers}: uninstall one")
        for point in points.values():
            self._load(point)
        return self._registered.get(name)

    def _load(self, point: EntryPoint) -> None:
        kind = self._imported(point)
        if self._is_kind(kind) and getattr(kind, self._name, None) != point.name:
            raise self._error(f"{_place(point)} offers {_label(kind)}, which has another name: give both the same")
        try:
            self.register(kind)
        except self._error as error:
            raise self._error(f"{_place(point)}: {error}") from error

    def _imported(self, point: EntryPoint) -> Any:
        try:
            return point.load()
        except (Exception, SystemExit) as error:  # whatever another package does when it is imported
            raise self._error(
                f"{_place(point)} cannot be loaded ({type(error).__name__}: {error}); repair or uninstall the package"
            ) from error

    def _is_kind(self, kind: object) -> bool:
        return isinstance(kind, type) and issubclass(kind, self._base)


def _place(point: EntryPoint) -> str:
    return f"entry point {point.name!r} ({point.value})"


def _label(kind: object) -> str:
    return f"{kind.__module__}.{kind.__qualname__}" if isinstance(kind, type) else repr(kind)
