"""Public groups of a survey: arms of a test, platforms, countries that the asker knows anyway.

A group leaves the device in the open, beside the report and never randomized. Variables and their values are part of
the signed statement, so that a person sees before answering what is sent. The reports of a group belong to a survey of
its own, whose id follows from the statement and the group: they cannot be counted for another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from typing import Any, Final, Self, TypeAlias, final

from sottovoce.core.calls import did_you_mean
from sottovoce.core.errors import SurveyError
from sottovoce.core.limits import check_integer

__all__ = ["MAX_GROUPS", "Group", "GroupName", "Groups", "typed_group"]

MAX_GROUPS: Final = 100
"""Most groups of a survey, all variables crossed. With one for every person a group would say who answered."""

MAX_NAME: Final = 60
"""Most characters of a variable's name and of a value: a person reads them before answering."""

GroupName: TypeAlias = "str | Mapping[str, str] | Group"
"""A group: itself, its value for a survey with one variable, a mapping of variables to values, or its label."""


@final
@dataclass(frozen=True)
class Groups:
    """The public variables of a survey and the values of each; every combination of values is a group.

    Examples
    --------
    >>> groups = Groups.of({"arm": ["A", "B"], "platform": ["phone", "web"]})
    >>> len(groups), groups.find({"arm": "B", "platform": "phone"}).label
    (4, 'arm B, platform phone')
    >>> Groups.of({"arm": ["A", "B"]}).find("B").label
    'arm B'
    """

    variables: tuple[tuple[str, tuple[str, ...]], ...]

    def __post_init__(self) -> None:
        if not self.variables:
            raise SurveyError("groups has no variable; leave it out, or give one: groups={'arm': ['A', 'B']}").at(
                "groups"
            )
        _check_names("the names of variables", [name for name, _ in self.variables])
        for name, values in self.variables:
            _check_names(f"the values of {name!r}", values)
            if len(values) < 2:
                raise SurveyError(
                    f"the variable {name!r} has {len(values)} values; it needs two or more, or is left out"
                ).at("groups")
        if self.size > MAX_GROUPS:
            raise SurveyError(
                f"groups makes {self.size:,} groups; at most {MAX_GROUPS} are allowed, since a small group says who "
                "its people are: merge values, or leave a variable out"
            ).at("groups")

    @classmethod
    def of(cls, given: object) -> Self:
        """The groups with these variables: a mapping of names to lists of values."""
        if isinstance(given, cls):
            return given
        if not isinstance(given, Mapping) or not all(isinstance(values, list | tuple) for values in given.values()):
            raise SurveyError("groups must map names to lists of values, for example {'arm': ['A', 'B']}").at("groups")
        return cls(tuple((name, tuple(values)) for name, values in given.items()))

    @property
    def size(self) -> int:
        """The number of groups."""
        return prod(len(values) for _, values in self.variables)

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[Group]:
        return (Group(self, number) for number in range(1, len(self) + 1))

    def __str__(self) -> str:
        return "; ".join(f"{name} ({', '.join(values)})" for name, values in self.variables)

    @property
    def names(self) -> list[str]:
        """The names of the variables."""
        return [name for name, _ in self.variables]

    def values_of(self, variable: str, argument: str = "variable") -> tuple[str, ...]:
        """The values of a variable."""
        found = dict(self.variables).get(variable)
        if found is None:
            raise SurveyError(
                f"{argument} must be one of {', '.join(map(repr, self.names))}{did_you_mean(variable, self.names)}"
            ).at(argument)
        return found

    def find(self, given: object) -> Group:
        """The group that is meant; `SurveyError` lists those that there are."""
        groups = list(self)
        labels = [group.label for group in groups]
        values = [group.values for group in groups]
        single = self.variables[0][1] if len(self.variables) == 1 else ()
        names: list[list[Any]] = [groups, values, list(single), labels]
        # Values before labels: a value may be spelt like the label of another group.
        for listed in names:
            if listed.count(given) == 1:
                return groups[listed.index(given)]
        shown = ", ".join(labels[:8]) + (f", and {len(labels) - 8} more" if len(labels) > 8 else "")
        what = "no group is given; this survey has groups" if given is None else "there is no such group"
        raise SurveyError(f"{what}: give one of {shown}").at("group")

    def to_statement(self) -> list[Any]:
        """The variables in their order, as plain JSON values."""
        return [[name, list(values)] for name, values in self.variables]

    @classmethod
    def from_statement(cls, statement: object) -> Self:
        """Read groups from JSON, checking every field."""
        well_formed = isinstance(statement, list) and all(
            isinstance(entry, list) and len(entry) == 2 and isinstance(entry[1], list) for entry in statement
        )
        if not well_formed:
            raise SurveyError("the field 'groups' must be a list of names, each with the list of its values").at(
                "groups"
            )
        stated: Any = statement
        return cls(tuple((name, tuple(values)) for name, values in stated))


@final
@dataclass(frozen=True)
class Group:
    """One group of a survey; groups are numbered from 1, the last variable changing fastest."""

    groups: Groups
    number: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "number", check_integer("group", self.number, 1, len(self.groups)))

    @cached_property
    def values(self) -> dict[str, str]:
        """Its value of every variable."""
        chosen = list(product(*(values for _, values in self.groups.variables)))[self.number - 1]
        return dict(zip(self.groups.names, chosen, strict=True))

    @property
    def label(self) -> str:
        """The group in words."""
        return ", ".join(f"{name} {value}" for name, value in self.values.items())


def typed_group(text: str) -> str | dict[str, str]:
    """A group as it is typed and as it stands in links: one value, or values of several variables.

    Examples
    --------
    >>> typed_group("B"), typed_group("arm=B,platform=web")
    ('B', {'arm': 'B', 'platform': 'web'})
    """
    parts = [part.partition("=") for part in text.split(",")]
    return {name: value for name, _, value in parts} if all(equals for _, equals, _ in parts) else text


def _check_names(what: str, names: object) -> None:
    listed: Any = names
    good = all(isinstance(name, str) and name.strip() == name and 0 < len(name) <= MAX_NAME for name in listed)
    if not good or not all(name.isprintable() for name in listed):
        raise SurveyError(f"{what} must be printable text of 1 to {MAX_NAME} characters, without spaces around it").at(
            "groups"
        )
    if len(set(listed)) < len(listed):
        raise SurveyError(f"{what} must be different from each other; name each once").at("groups")
