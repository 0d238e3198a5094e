"""`with torch.jit._IgnoreContextManager(a="inp:int", b="out:int"):`, a block left to Python.

The block becomes a Python function of its own: what comes in are its parameters, what goes out is
returned, and the block is a call of it.  The functions are kept by name as source text, which
whoever looks the name up compiles in the surroundings of the function that holds the block.
"""

from __future__ import annotations

import ast
import re

from .python_ast import python_tree

__all__ = ["IGNORED_BLOCKS", "call_of_block"]

IGNORED_BLOCKS: dict[str, str] = {}
"""The source of the functions that blocks became, by name."""


def call_of_block(node: ast.With, filename: str, first_line: int) -> ast.stmt:
    """Keep the block as a function; the statement that calls it.

    Raises:
        ValueError: an argument is not `"inp:TYPE"` or `"out:TYPE"`.
    """
    context = node.items[0].context_expr
    assert isinstance(context, ast.Call)
    inputs: list[str] = []
    outputs: list[tuple[str, str]] = []
    names = []
    for keyword in context.keywords:
        value = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
        direction, _, type = str(value).partition(":")
        if keyword.arg is None or direction.strip() not in ("inp", "out") or not type:
            raise ValueError(f"{keyword.arg} must be told as 'inp:type' or 'out:type'")
        if direction.strip() == "inp":
            names.append(keyword.arg)
            inputs.append(f"{keyword.arg}: {type}")
        else:
            outputs.append((keyword.arg, type))
    place = re.sub(r"\W", "_", filename)
    name = f"func_ignore_{place}_{first_line + node.lineno - 1}"
    given = ", ".join(output for output, _ in outputs)
    head = f"def {name}({', '.join(inputs)}) -> {_returned([t for _, t in outputs])}:\n"
    lines = "\n".join(ast.unparse(statement) for statement in node.body).split("\n")
    body = "".join(f"    {line}\n" for line in [*lines, f"return {given}"])
    IGNORED_BLOCKS[name] = head + body
    call = f"{name}({', '.join(names)})"
    statement: ast.stmt = python_tree(f"{given} = {call}" if given else call).body[0]
    for part in ast.walk(statement):
        if isinstance(part, ast.expr | ast.stmt):
            ast.copy_location(part, node)
            part.end_lineno, part.end_col_offset = context.end_lineno, context.end_col_offset
    return statement


def _returned(types: list[str]) -> str:
    if not types:
        return "None"
    return types[0] if len(types) == 1 else f"Tuple[{', '.join(types)}]"
