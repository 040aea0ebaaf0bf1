"""Calls with a missing, doubled or unknown argument: an error that names it and shows the nearest right call."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import ParamSpec, TypeVar

from sottovoce.core.answer import nearest_label
from sottovoce.core.errors import SottovoceError, SurveyError

__all__ = ["did_you_mean", "nearest_name", "with_clear_calls"]

P = ParamSpec("P")
R = TypeVar("R")


def with_clear_calls(
    right: str, *, error: type[SottovoceError] = SurveyError, elsewhere: Mapping[str, str] | None = None
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a function refuse arguments that do not fit its signature with an error that names one of them.

    Parameters
    ----------
    right
        A right call, as it is typed.
    elsewhere
        Arguments that belong to another call, and what to do with them.

    Examples
    --------
    >>> @with_clear_calls("half(of=2)")
    ... def half(*, of):
    ...     return of / 2
    >>> half()
    Traceback (most recent call last):
    sottovoce.core.errors.SurveyError: of is missing; a right call: half(of=2)
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def checked(*positional: P.args, **named: P.kwargs) -> R:
            try:
                return function(*positional, **named)
            except TypeError:
                signature = inspect.signature(function)
                try:
                    signature.bind(*positional, **named)
                except TypeError:
                    field, problem = _fault(signature, positional, named, elsewhere or {})
                else:
                    raise
            raise error(f"{problem}; a right call: {right}").at(field)

        return checked

    return decorate


def nearest_name(name: str, known: list[str]) -> str:
    """The names to choose from, the one most like the given name first."""
    near = nearest_label(name, known)
    return f"did you mean {near}?" if near else f"allowed: {', '.join(known)}"


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """A suggestion for the end of a message, if one of the known names is like the given one.

    Examples
    --------
    >>> did_you_mean("hadamrd", ["hadamard", "binary"]), did_you_mean(5, ["hadamard"])
    ("; did you mean 'hadamard'?", '')
    """
    near = nearest_label(name, known) if isinstance(name, str) else None
    return f"; did you mean {near!r}?" if near else ""


def _fault(
    signature: inspect.Signature,
    positional: tuple[object, ...],
    named: Mapping[str, object],
    elsewhere: Mapping[str, str],
) -> tuple[str, str]:
    """The argument that does not fit, and why; never its value, which may be private."""
    parameters = [parameter for parameter in signature.parameters.values() if parameter.name != "self"]
    given = len(positional) - (len(parameters) < len(signature.parameters))
    by_position = [parameter for parameter in parameters if parameter.kind is parameter.POSITIONAL_OR_KEYWORD]
    names = [
        parameter.name
        for parameter in parameters
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    ]
    for name in named:
        if name in elsewhere:
            return name, elsewhere[name]
    for name in named:
        if name not in names:
            return name, f"{name} is not an argument here; {nearest_name(name, names)}"
    for parameter in by_position[:given]:
        if parameter.name in named:
            return parameter.name, f"{parameter.name} is given twice, once without its name"
    if given > len(by_position):
        by_name = [
            parameter.name
            for parameter in parameters
            if parameter.kind is parameter.KEYWORD_ONLY and parameter.name not in named
        ]
        if not by_name:
            return names[-1], f"there are {given} arguments, and {len(names)} are taken: {', '.join(names)}"
        return by_name[0], f"{by_name[0]} must be given by name: write {by_name[0]}=..."
    missing = [
        parameter.name for parameter in parameters if parameter.default is parameter.empty and parameter.name in names
    ]
    field = next(
        name
        for name in missing
        if name not in named and name not in [parameter.name for parameter in by_position[:given]]
    )
    return field, f"{field} is missing"
