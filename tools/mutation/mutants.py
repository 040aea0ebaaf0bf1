"""Writes every mutant of one source file as a line of JSON; runs inside .venv-mutation, with Cosmic Ray's operators.

A mutant that changes annotations only is left out: the sources postpone them, so nothing could tell.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.ast.ast_query import ASTQuery
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.operator import Operator
from cosmic_ray.plugins import get_operator, operator_names

SWAPS = {
    "Binary": (
        "Add_Sub Sub_Add Mul_Div Mul_Add Div_Mul FloorDiv_Mul FloorDiv_Div Mod_FloorDiv Mod_Add Pow_Mul "
        "LShift_RShift RShift_LShift BitOr_BitAnd BitOr_BitXor BitAnd_BitOr BitXor_BitOr BitXor_BitAnd"
    ),
    "Comparison": (
        "Eq_NotEq Eq_LtE Eq_GtE NotEq_Eq NotEq_Lt NotEq_Gt Lt_LtE Lt_GtE LtE_Lt LtE_Gt Gt_GtE Gt_LtE GtE_Gt GtE_Lt "
        "Is_IsNot IsNot_Is"
    ),
    "Unary": "USub_UAdd Delete_Invert Delete_Not",
}
"""Cosmic Ray knows 11 replacements of every operator; these are the near ones, which tests miss most easily."""

OTHERS = (
    "AddNot ReplaceTrueWithFalse ReplaceFalseWithTrue ReplaceAndWithOr ReplaceOrWithAnd ReplaceBreakWithContinue "
    "ReplaceContinueWithBreak ExceptionReplacer NumberReplacer ZeroIterationForLoop"
)

WANTED = {f"core/Replace{kind}Operator_{swap}" for kind, swaps in SWAPS.items() for swap in swaps.split()}
WANTED |= {f"core/{name}" for name in OTHERS.split()}


class _WithoutAnnotations(ast.NodeTransformer):
    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.annotation = ast.Constant(None)
        return self.generic_visit(node)


def _meaning(source: str) -> str:
    return ast.dump(_WithoutAnnotations().visit(ast.parse(source)))


def mutants(source: str) -> Iterator[dict[str, object]]:
    """Every wanted mutant that still parses, in the order of the lines."""
    tree, original, found = get_ast(source), _meaning(source), []
    for name in sorted(WANTED & set(operator_names())):
        operator: Operator = get_operator(name)()
        places = [(node, *place) for node in ast_nodes(tree) for place in operator.mutation_positions(node)]
        for occurrence, (node, start, _) in enumerate(places):
            mutated = re.sub(
                r"\bCosmicRayTestingException\b", "ZeroDivisionError", mutate_code(source, operator, occurrence)
            )
            try:
                if _meaning(mutated) == original:
                    continue
            except SyntaxError:
                continue
            inside = ASTQuery(node).get_definition_name() or ""
            found.append((start, name.removeprefix("core/"), occurrence, inside, mutated))
    for start, name, occurrence, inside, mutated in sorted(found):
        yield {"line": start[0], "operator": name, "occurrence": occurrence, "inside": inside, "source": mutated}


if __name__ == "__main__":
    for mutant in mutants(Path(sys.argv[1]).read_text(encoding="utf-8")):
        print(json.dumps(mutant))
