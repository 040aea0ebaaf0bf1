"""Static checks of an expression: the kind of its result, and bounds that hold for every record.

Bounds come from interval arithmetic with the evaluator's own operations at the corners. Rounding is
monotone, so no computed value lies outside. No private value is read here.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sottovoce.domain import Domain, LabelDomain, RangeDomain, TextDomain
from sottovoce.expressions.limits import MAX_LABELS, Path, PlacedError, shown
from sottovoce.expressions.part import (
    ConstantLookup,
    Kind,
    Part,
    Scalar,
    alike,
    alternatives,
    as_number,
    as_real,
    bounded,
    constant,
    named,
    numbers_array,
    text_position,
)
from sottovoce.expressions.tree import ParsedTree, Tree, value_of

__all__ = ["Checked", "CompiledExpression", "check"]


@dataclass(frozen=True)
class Checked:
    """The kind and bounds of an expression over a domain.

    Attributes
    ----------
    kind
        "integer", "real" or "truth".
    low, high
        Bounds of the result over all records; 0 and 1 for a truth value.
    nodes, depth
        Size of the expression.
    """

    kind: Kind
    low: Scalar
    high: Scalar
    nodes: int
    depth: int


@dataclass(frozen=True)
class CompiledExpression:
    """An expression checked against a domain, and the sizes of the attributes it uses."""

    checked: Checked
    part: Part
    uses: Mapping[str, int]


def check(reading: ParsedTree, domain: Domain) -> CompiledExpression:
    """Check a tree against a domain; raises `PlacedError` at the first part that could fail for some record."""
    checker = _Checker(domain)
    part = checker.part(reading.tree, ())
    if part.kind == "text":
        raise PlacedError(
            "a query must give a number or a truth value, not a text; compare the text, or use find or letter"
        )
    checked = Checked(part.kind, part.low, part.high, reading.nodes, reading.depth)
    return CompiledExpression(checked, part, {name: checker.attributes[name].size for name in checker.columns})


class _Checker:
    """One walk over one tree: arguments before their operation.

    Parts that depend on one attribute alone are made once per attribute.
    """

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self.attributes = dict(Domain.attributes_of(domain))
        self.columns: dict[str, Part] = {}
        self.values: dict[str, Part] = {}
        self.labels = 0
        self.equal: dict[tuple[int, int], bool] = {}
        self.search = ConstantLookup()

    def part(self, tree: Tree, path: Path) -> Part:
        if isinstance(tree, tuple):
            return _RULES[tree[0]](self, tree, path)
        if isinstance(tree, bool):
            return Part("constant", "truth", 0, 1, data=np.bool_(tree))
        if isinstance(tree, str):
            raise PlacedError(f"the text {shown(tree)} can only be used with ==, != or in a list", path)
        return constant(tree)

    def number(self, tree: Tree, path: Path, what: str) -> Part:
        return as_number(self.part(tree, path), path, what)

    def numbers(self, tree: tuple[Any, ...], path: Path) -> list[Part]:
        """All arguments of an operation, as numbers of one kind."""
        return alike([self.number(a, (*path, i), str(tree[0])) for i, a in enumerate(tree[1:], 1)])

    def integer(self, tree: Tree, path: Path, what: str) -> Part:
        part = self.number(tree, path, what)
        if part.kind == "real":
            raise PlacedError(f"{what} takes integers, not real numbers", path)
        return part

    def truth(self, tree: Tree, path: Path, what: str) -> Part:
        part = self.part(tree, path)
        if part.kind != "truth":
            raise PlacedError(f"{what} takes truth values, not {named(part.kind)}; write a comparison", path)
        return part

    def attribute(self, tree: tuple[Any, ...], path: Path) -> Part:
        name = tree[1]
        domain = self.attributes.get(name)
        if domain is None:
            known = list(self.attributes)
            more = f" and {len(known) - 8} more" if len(known) > 8 else ""
            raise PlacedError(
                f"unknown attribute {shown(name)}; the attributes are {', '.join(map(shown, known[:8]))}{more}", path
            )
        if name not in self.values:
            self.values[name] = self.value(name, domain, path)
        return self.values[name]

    def value(self, name: str, domain: Domain, path: Path) -> Part:
        """An attribute's value: a number, or the index of a text."""
        column = self.column(name)
        if isinstance(domain, RangeDomain):
            if (domain.start, domain.step) == (0, 1):
                return column
            ends = (domain.start, domain.start + domain.step * (domain.size - 1))
            # A step may exceed int64; modulo 2**64 it gives the same values.
            data = (np.int64(domain.start), np.uint64(domain.step % 2**64).astype(np.int64))
            return Part("range", "integer", min(ends), max(ends), (column,), data)
        if isinstance(domain, LabelDomain) and isinstance(domain.names[0], int):
            self.labels += domain.size
            if self.labels > MAX_LABELS:
                raise PlacedError(
                    f"an expression may use attributes with at most {MAX_LABELS} integer labels in all; "
                    "use fewer attributes, or make this one a range",
                    path,
                )
            labels = np.array(domain.names, dtype=np.int64)
            return Part("gather", "integer", int(labels.min()), int(labels.max()), (column,), labels)
        return Part("column", "text", 0, 0, data=name, domain=domain)

    def column(self, name: str) -> Part:
        """An attribute's index in its own domain."""
        if name not in self.columns:
            self.columns[name] = Part("column", "integer", 0, self.attributes[name].size - 1, data=name)
        return self.columns[name]

    def arithmetic(self, tree: tuple[Any, ...], path: Path) -> Part:
        a, b = self.numbers(tree, path)
        operation = _CORNERS[tree[0]]
        corners = [operation(x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
        return bounded(tree[0], a.kind, corners, (a, b), path)

    def division(self, tree: tuple[Any, ...], path: Path) -> Part:
        a, b = (as_real(part) for part in self.numbers(tree, path))
        if b.low <= 0 <= b.high:
            raise PlacedError(
                f"the divisor may be 0: it lies between {b.low:g} and {b.high:g}; keep it away from 0 with max or clip",
                (*path, 2),
            )
        corners: list[Scalar] = [x / y for x in (a.low, a.high) for y in (b.low, b.high)]
        return bounded("/", "real", corners, (a, b), path)

    def steps(self, tree: tuple[Any, ...], path: Path) -> Part:
        a, k = self.integer(tree[1], (*path, 1), tree[0]), int(self.part(tree[2], (*path, 2)).low)
        corners: list[Scalar] = [a.low // k, a.high // k] if tree[0] == "//" else [0, k - 1]
        return bounded(tree[0], "integer", corners, (a,), path, np.int64(k))

    def sign(self, tree: tuple[Any, ...], path: Path) -> Part:
        (a,) = self.numbers(tree, path)
        if tree[0] == "neg":
            return bounded("neg", a.kind, [-a.low, -a.high], (a,), path)
        through_zero: list[Scalar] = [0 if a.kind == "integer" else 0.0] if a.low <= 0 <= a.high else []
        return bounded("abs", a.kind, [abs(a.low), abs(a.high), *through_zero], (a,), path)

    def extreme(self, tree: tuple[Any, ...], path: Path) -> Part:
        parts = self.numbers(tree, path)
        best = min if tree[0] == "min" else max
        return Part(tree[0], parts[0].kind, best(p.low for p in parts), best(p.high for p in parts), tuple(parts))

    def clip(self, tree: tuple[Any, ...], path: Path) -> Part:
        a, low, high = self.numbers(tree, path)
        if low.high > high.low:
            raise PlacedError("clip takes the lower limit first, and it must never exceed the upper limit", path)
        ends = (min(max(a.low, low.low), high.low), min(max(a.high, low.high), high.high))
        return Part("clip", a.kind, *ends, (a, low, high))

    def comparison(self, tree: tuple[Any, ...], path: Path) -> Part:
        op, *sides = tree
        if all(isinstance(side, str) for side in sides):
            raise PlacedError("both sides are constant texts; put an attribute on one side", path)
        parts = [None if isinstance(side, str) else self.part(side, (*path, i)) for i, side in enumerate(sides, 1)]
        kinds: list[Kind] = ["text" if part is None else part.kind for part in parts]
        if "text" not in kinds:
            return Part(op, "truth", 0, 1, tuple(alike([as_number(part, path, op) for part in parts if part])))
        if kinds != ["text", "text"]:
            raise PlacedError(f"cannot compare {named(kinds[0])} with {named(kinds[1])}", path)
        if op not in ("==", "!="):
            raise PlacedError(f"texts have no order, so {op} does not apply; use ==, != or in", path)
        domains = [part.domain for part in parts if part and part.domain]
        if not self.same(domains[0], domains[-1]):
            raise PlacedError("the two texts have different domains; compare each with constants", path)
        positions = [
            part or constant(text_position(domains[0], str(side), (*path, i)))
            for i, (side, part) in enumerate(zip(sides, parts, strict=True), 1)
        ]
        return Part(op, "truth", 0, 1, tuple(positions))

    def same(self, a: Domain, b: Domain) -> bool:
        """Whether two attributes have equal domains; cached, since there may be many labels."""
        pair = id(a), id(b)
        if pair not in self.equal:
            self.equal[pair] = a == b
        return self.equal[pair]

    def logic(self, tree: tuple[Any, ...], path: Path) -> Part:
        parts = tuple(self.truth(a, (*path, i), tree[0]) for i, a in enumerate(tree[1:], 1))
        return Part(tree[0], "truth", 0, 1, parts)

    def choice(self, tree: tuple[Any, ...], path: Path) -> Part:
        condition = self.truth(tree[1], (*path, 1), "if")
        a, b = (self.part(side, (*path, i)) for i, side in enumerate(tree[2:], 2))
        if a.kind != "truth" or b.kind != "truth":
            a, b = alike([as_number(part, (*path, i), "if") for i, part in enumerate((a, b), 2)])
        return Part("if", a.kind, min(a.low, b.low), max(a.high, b.high), (condition, a, b))

    def membership(self, tree: tuple[Any, ...], path: Path) -> Part:
        a = self.part(tree[1], (*path, 1))
        a = a if a.kind == "text" else as_number(a, (*path, 1), tree[0])
        a, listed = alternatives(a, tree[2], (*path, 2), distinct=tree[0] == "find")
        return self.search.held(a, listed) if tree[0] == "in" else self.search.place(a, listed)

    def bit(self, tree: tuple[Any, ...], path: Path) -> Part:
        a = self.integer(tree[1], (*path, 1), "bit")
        if a.low < 0:
            raise PlacedError(
                f"bit takes integers from 0, and this may be {a.low}; add an offset, or use max", (*path, 1)
            )
        if tree[2] > 62:
            raise PlacedError("bits are counted from 0 to 62", (*path, 2))
        return Part("bit", "truth", 0, 1, (a,), tree[2])

    def prefix(self, tree: tuple[Any, ...], path: Path) -> Part:
        self.part(tree[1], (*path, 1))
        (_, name), k = tree[1:]
        domain = self.attributes[name]
        if isinstance(domain, TextDomain):
            if k > domain.max_length:
                raise PlacedError(f"these texts have at most {domain.max_length} characters", (*path, 2))
            return Part("prefix", "text", 0, 0, (self.column(name),), (domain, k), domain)
        if isinstance(domain, RangeDomain):
            width = (domain.size - 1).bit_length()
            if k > width:
                raise PlacedError(f"the indices of this attribute have {width} bits", (*path, 2))
            return Part("shift", "integer", 0, (domain.size - 1) >> (width - k), (self.column(name),), width - k)
        raise PlacedError("prefix applies to ranges and texts, not to labels; use in or find", (*path, 1))

    def letter(self, tree: tuple[Any, ...], path: Path) -> Part:
        self.part(tree[1], (*path, 1))
        (_, name), i = tree[1:]
        domain = self.attributes[name]
        if not isinstance(domain, TextDomain):
            raise PlacedError("letter applies to texts over an alphabet, not to labels or numbers", (*path, 1))
        if i >= domain.max_length:
            raise PlacedError(f"letters of these texts are counted from 0 to {domain.max_length - 1}", (*path, 2))
        return Part("letter", "integer", 0, len(domain.alphabet), (self.column(name),), (domain, i))

    def table(self, tree: tuple[Any, ...], path: Path) -> Part:
        listed = numbers_array(tree[1])
        if len(listed) != self.domain.size:
            raise PlacedError(
                f"the table has {len(listed)} numbers for {self.domain.size} values; give one per value", path
            )
        return _gathered(listed, self.record)

    def sparse(self, tree: tuple[Any, ...], path: Path) -> Part:
        last = value_of(tree[1][-1])
        if last is None or last >= self.domain.size:
            raise PlacedError(f"an index of sparse is not below the {self.domain.size} values", (*path, 1))
        # An index that is not listed is mapped to the end, where the 0 is.
        return _gathered(numbers_array((*tree[2], 0)), self.search.place(self.record, numbers_array(tree[1])))

    @cached_property
    def record(self) -> Part:
        """The record's number."""
        columns = tuple(map(self.column, self.attributes))
        sizes = tuple(domain.size for domain in self.attributes.values())
        return Part("record", "integer", 0, self.domain.size - 1, columns, sizes)


def _gathered(listed: NDArray[Any], index: Part) -> Part:
    kind: Kind = "integer" if listed.dtype.kind == "i" else "real"
    return Part("gather", kind, listed.min().item(), listed.max().item(), (index,), listed)


_CORNERS: Final[dict[str, Callable[[Any, Any], Any]]] = {"+": operator.add, "-": operator.sub, "*": operator.mul}

_Rule: TypeAlias = Callable[[_Checker, tuple[Any, ...], Path], Part]
_RULES: Final[dict[str, _Rule]] = {
    "attribute": _Checker.attribute,
    "integer": lambda _, tree, path: constant(int(tree[1])),
    **dict.fromkeys(("+", "-", "*"), _Checker.arithmetic),
    "/": _Checker.division,
    **dict.fromkeys(("//", "%"), _Checker.steps),
    **dict.fromkeys(("neg", "abs"), _Checker.sign),
    **dict.fromkeys(("min", "max"), _Checker.extreme),
    "clip": _Checker.clip,
    **dict.fromkeys(("<", "<=", ">", ">=", "==", "!="), _Checker.comparison),
    **dict.fromkeys(("and", "or", "not"), _Checker.logic),
    "if": _Checker.choice,
    **dict.fromkeys(("in", "find"), _Checker.membership),
    "bit": _Checker.bit,
    "prefix": _Checker.prefix,
    "letter": _Checker.letter,
    "table": _Checker.table,
    "sparse": _Checker.sparse,
}
"""The checker of each operation of the grammar."""
