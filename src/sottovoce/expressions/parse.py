"""Expressions as text: parsed by Python's own parser, then translated node by node; unlisted nodes are refused.

Nothing is executed. The result is the raw tree that `read_tree` checks, and the column of each of its parts.
"""

from __future__ import annotations

import ast
import math
import re
from typing import Any, Final

from sottovoce.expressions.limits import LARGEST, MAX_DEPTH, MAX_NODES, MAX_TEXT, SMALLEST, Path, PlacedError, shown
from sottovoce.expressions.tree import integer_node

__all__ = ["CALLS", "parse"]

CALLS: Final = {
    **dict.fromkeys(("abs", "min", "max", "clip", "bit", "prefix", "letter", "attribute"), 0),
    "find": 2,
    "table": 1,
    "sparse": 1,
}
"""Operations written as calls, and the first argument that is a list (0: none)."""

_BINARY: Final[dict[type[ast.operator], str]] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
}
_COMPARISONS: Final[dict[type[ast.cmpop], str]] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}
_REMEDIES: Final[dict[type[ast.AST], str]] = {
    ast.Pow: "powers are not supported: write a product",
    ast.BitAnd: "& is not supported: write and",
    ast.BitOr: "| is not supported: write or",
    ast.BitXor: "^ is not supported: write != between two truth values",
    ast.LShift: "shifts are not supported: write * or //",
    ast.RShift: "shifts are not supported: write * or //",
    ast.MatMult: "@ is not supported",
    ast.Invert: "~ is not supported: write not",
    ast.UAdd: "a plus sign in front of a value is not supported: leave it out",
    ast.Is: "is not supported: write ==",
    ast.IsNot: "is not supported: write !=",
    ast.Attribute: "dots are not supported: write an attribute by its name alone",
    ast.Subscript: "square brackets after a value are not supported: write bit, letter or find",
    ast.Lambda: "functions cannot be defined in an expression",
    ast.JoinedStr: "write texts in plain quotes",
    ast.NamedExpr: "names cannot be assigned in an expression",
    ast.Starred: "stars are not supported: write the members out",
    ast.Tuple: "a list can only be used after in, and inside find, table and sparse",
    ast.List: "a list can only be used after in, and inside find, table and sparse",
    ast.Set: "a list can only be used after in, and inside find, table and sparse",
}
_OFFERED: Final = (
    "an expression consists of attributes, numbers, quoted texts, + - * / // %, comparisons, in, and, or, not, "
    f"`x if c else y` and calls of {', '.join(CALLS)}"
)

_QUOTED: Final = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""", re.DOTALL)
_PREFIXED: Final = re.compile(r"(?<!\w)[rRbBuUfFtT]{1,2}$")
_ESCAPE: Final = re.compile(r"""\\(?:[\\'"nrt]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})|(\\)""")
_STUCK: Final = re.compile(
    r"(?<![\w.])(?>0[xX][0-9a-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+|(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9_]+)(?:[eE][+-]?[0-9_]+)?)"
    r"(?=[^\W0-9])"
)


def parse(text: str) -> tuple[object, dict[Path, int]]:
    """The raw tree of a text, and the column at which each of its parts begins; raises `PlacedError`.

    Examples
    --------
    >>> parse("age < 30 and country in ('FR', 'DE')")[0]
    ['and', ['<', ['attribute', 'age'], 30], ['in', ['attribute', 'country'], ['FR', 'DE']]]
    """
    if len(text) > MAX_TEXT:
        raise PlacedError(
            f"the expression has {len(text)} characters; at most {MAX_TEXT} are allowed: use in, find or a tree"
        )
    if not text.strip():
        raise PlacedError(f"the expression is empty; {_OFFERED}", column=1)
    line = _one_line(text)
    # Python refuses an expression that begins with a space.
    stripped = line.lstrip(" ")
    margin = len(line) - len(stripped)
    try:
        body = ast.parse(stripped, mode="eval").body
    except SyntaxError as error:
        # If the text ends too early, Python points at the next line.
        column = margin + error.offset if error.lineno == 1 and error.offset else len(text)
        raise PlacedError(f"syntax error ({error.msg[:80]}); {_OFFERED}", column=column) from None
    except (RecursionError, MemoryError):
        raise PlacedError(f"the expression is far more than {MAX_DEPTH} levels deep; use a simpler one") from None
    translator = _Translator(stripped, margin)
    return translator.tree(body, ()), translator.columns


def _one_line(text: str) -> str:
    """The text on one line, with all columns unchanged.

    Refuses what Python accepts but this grammar does not: comments, other spaces, words directly after a number,
    quotes with prefixes, other escapes, and adjacent quotes, which Python would join.
    """
    for position, letter in enumerate(text):
        if "\ud800" <= letter <= "\udfff" or letter == "\0":
            raise PlacedError(f"{shown(letter)} is not allowed in an expression; remove it", column=position + 1)
    end, pieces = 0, []
    for quoted in _QUOTED.finditer(text):
        between, start = text[end : quoted.start()], quoted.start() + 1
        pieces += [_between(between, end), quoted[0]]
        if _PREFIXED.search(between) or (end and not between.strip()):
            raise PlacedError("write each text in one pair of plain quotes", column=start)
        for escape in _ESCAPE.finditer(quoted[0]):
            if escape[1]:
                allowed = r"\\ \' \" \n \r \t \x.. \u.... \U........"
                raise PlacedError(f"a backslash in a text must begin one of {allowed}", column=start + escape.start())
        if "\n" in quoted[0] or "\r" in quoted[0]:
            raise PlacedError(r"a text must end on the line it begins on: write \n for a newline", column=start)
        end = quoted.end()
    return "".join([*pieces, _between(text[end:], end)])


def _between(text: str, start: int) -> str:
    """The text outside quotes from that position on, with plain spaces only."""
    for column, letter in enumerate(text, start + 1):
        if letter in "#\\'\"" or (letter.isspace() and letter not in " \t\r\n"):
            what = "this quote is not closed" if letter in "'\"" else f"{shown(letter)} is not supported here"
            raise PlacedError(f"{what}; {_OFFERED}", column=column)
    stuck = _STUCK.search(text)
    if stuck:
        # Python reads `30and`, with a warning.
        raise PlacedError(
            "a letter follows directly after a number; put a space between them", column=start + stuck.end() + 1
        )
    return re.sub(r"[\t\r\n]", " ", text)


class _Translator:
    """One walk over one syntax tree, recording columns and enforcing the limits."""

    def __init__(self, line: str, margin: int) -> None:
        self.margin = margin
        # Python counts columns in bytes of UTF-8.
        self.bytes = line.encode()
        self.columns: dict[Path, int] = {}
        self.nodes = 0

    def column(self, node: ast.expr) -> int:
        return self.margin + len(self.bytes[: node.col_offset].decode()) + 1

    def refused(self, node: ast.expr, kind: ast.AST | None = None) -> PlacedError:
        remedy = _REMEDIES.get(type(kind or node), _OFFERED)
        return PlacedError(remedy, column=self.column(node))

    def tree(self, node: ast.expr, path: Path, above: int = 0) -> Any:
        column = self.column(node)
        self.columns[path] = column
        self.nodes += 1
        if above >= MAX_DEPTH or self.nodes > MAX_NODES:
            raise PlacedError(
                f"the expression has more than {MAX_NODES} parts or {MAX_DEPTH} levels; "
                "group long sums with brackets, as in (a + b) + (c + d), or use in, find or a table",
                column=column,
            )
        match node:
            case ast.Constant():
                return self.constant(node)
            case ast.Name(id=name):
                return self.attribute(node, name)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant() as number) if self.adjacent(node, number):
                return self.constant(number, -1)
            case ast.UnaryOp(op=ast.USub() | ast.Not() as op, operand=operand):
                return ["not" if isinstance(op, ast.Not) else "neg", self.tree(operand, (*path, 1), above + 1)]
            case ast.BinOp(left=a, op=op, right=b) if type(op) in _BINARY:
                return [_BINARY[type(op)], *self.trees([a, b], path, above)]
            case ast.BoolOp(op=op, values=values):
                return ["and" if isinstance(op, ast.And) else "or", *self.trees(values, path, above)]
            case ast.IfExp(test=condition, body=a, orelse=b):
                return ["if", *self.trees([condition, a, b], path, above)]
            case ast.Compare(left=first, ops=ops, comparators=others):
                return self.comparison(node, [first, *others], ops, path, above)
            case ast.Call():
                return self.call(node, path, above)
            case ast.BinOp(op=op) | ast.UnaryOp(op=op):
                raise self.refused(node, op)
            case _:
                raise self.refused(node)

    def trees(self, nodes: list[ast.expr], path: Path, above: int) -> list[Any]:
        return [self.tree(node, (*path, i), above + 1) for i, node in enumerate(nodes, 1)]

    def adjacent(self, node: ast.expr, number: ast.Constant) -> bool:
        """Whether a minus sign is directly before a number, and so belongs to it."""
        return type(number.value) in (int, float) and number.col_offset == node.col_offset + 1

    def constant(self, node: ast.Constant, sign: int = 1) -> Any:
        value = node.value
        if type(value) in (bool, str):
            return value
        if type(value) is int:
            if not SMALLEST <= sign * value <= LARGEST:
                raise PlacedError(
                    f"{shown(sign * value)} is not a 64-bit integer; write it with a decimal point for a real number",
                    column=self.column(node),
                )
            return integer_node(sign * value)
        if type(value) is float:
            if not math.isfinite(value):
                raise PlacedError("this number is too large for a 64-bit float", column=self.column(node))
            return sign * value
        raise PlacedError(
            f"a constant must be a number, a quoted text, True or False, not {type(value).__name__}",
            column=self.column(node),
        )

    def attribute(self, node: ast.expr, name: str) -> list[str]:
        # Python normalizes names (NFKC): the text must be the name itself.
        if self.bytes[node.col_offset : node.end_col_offset].decode() != name:
            raise PlacedError(
                "this name contains letters that Python normalizes; write attribute('...')", (), self.column(node)
            )
        return ["attribute", name]

    def comparison(self, node: ast.expr, sides: list[ast.expr], ops: list[ast.cmpop], path: Path, above: int) -> Any:
        if len(ops) == 1:
            return self.pair(node, sides[0], ops[0], sides[1], path, above)
        links = zip(sides, ops, sides[1:], strict=False)
        return ["and", *(self.pair(node, a, op, b, (*path, i), above + 1) for i, (a, op, b) in enumerate(links, 1))]

    def pair(self, node: ast.expr, a: ast.expr, op: ast.cmpop, b: ast.expr, path: Path, above: int) -> Any:
        self.columns[path] = self.column(a)
        match op:
            case ast.In():
                return ["in", self.tree(a, (*path, 1), above + 1), self.members(b, (*path, 2))]
            case ast.NotIn():
                return ["not", self.pair(node, a, ast.In(), b, (*path, 1), above + 1)]
            case _ if type(op) in _COMPARISONS:
                return [_COMPARISONS[type(op)], *self.trees([a, b], path, above)]
            case _:
                raise self.refused(node, op)

    def call(self, node: ast.Call, path: Path, above: int) -> Any:
        name = node.func.id if isinstance(node.func, ast.Name) else None
        if name not in CALLS:
            raise PlacedError(f"unknown function; the functions are {', '.join(CALLS)}", column=self.column(node))
        if node.keywords:
            raise PlacedError(
                "arguments are positional: leave out their names", column=self.column(node.keywords[0].value)
            )
        if name == "attribute":
            return ["attribute", *(a.value if isinstance(a, ast.Constant) else None for a in node.args)]
        lists_from = CALLS[name] or len(node.args) + 1
        arguments: list[Any] = []
        for i, argument in enumerate(node.args, 1):
            here = (*path, i)
            arguments.append(self.members(argument, here) if i >= lists_from else self.tree(argument, here, above + 1))
        return [name, *arguments]

    def members(self, node: ast.expr, path: Path) -> list[Any]:
        self.columns[path] = self.column(node)
        if not isinstance(node, (ast.Tuple, ast.List, ast.Set)):
            raise PlacedError("expected a list of constants, such as ('FR', 'DE') or (1,)", column=self.column(node))
        return [self.member(member, (*path, i)) for i, member in enumerate(node.elts)]

    def member(self, node: ast.expr, path: Path) -> Any:
        self.columns[path] = self.column(node)
        match node:
            case ast.Constant():
                return self.constant(node)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant() as number) if self.adjacent(node, number):
                return self.constant(number, -1)
            case _:
                raise PlacedError("lists can contain only constants: numbers or quoted texts", column=self.column(node))
