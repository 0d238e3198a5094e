"""The lines of a live function or class.

`inspect.getsourcelines` finds the end of a function with a tokenizer; for most functions the
indentation tells it, which costs a tenth.  Of most others Python's parser says whether it does.
"""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Callable

__all__ = ["lines_of"]

_CLOSING = (")", "]", "}")
_NEXT = ("def ", "class ", "async ", "@", "import ")
"""How a line begins that surely is a new statement."""


def lines_of(obj: Callable[..., object] | type) -> tuple[list[str], int]:
    """The lines of a function, method or class, and the number of the first, from 1.

    Raises:
        OSError: the source cannot be had.
        TypeError: the object has none.
    """
    function = inspect.unwrap(obj)
    function = getattr(function, "__func__", function)
    if isinstance(function, types.FunctionType):
        lines, first = inspect.findsource(function)
        found = _by_indentation(lines, first)
        if found is not None:
            return found, first + 1
    return inspect.getsourcelines(obj)


def _by_indentation(lines: list[str], first: int) -> list[str] | None:
    """The lines up to the first statement that is indented no more than the `def`, decorators
    before that included; None if in doubt."""
    start = first
    while lines[start].lstrip().startswith("@") and start + 1 < len(lines):
        start += 1
    head = lines[start]
    if not head.lstrip().startswith("def ") or "\t" in head:
        return None
    margin, is_sure = len(head) - len(head.lstrip()), start == first
    last = start
    for number in range(start + 1, len(lines)):
        line = lines[number]
        text = line.lstrip()
        is_outside = len(line) - len(text) <= margin and not text.startswith(_CLOSING)
        if not text or (is_outside and text.startswith("#")):
            continue  # a comment may stand anywhere
        if is_outside:
            is_sure = is_sure and text.startswith(_NEXT)
            break
        last = number
    found = lines[first : last + 1]
    if found[-1].lstrip().startswith("#"):
        return None
    return found if (is_sure and _is_whole(found)) or _is_statement(found) else None


def _is_whole(lines: list[str]) -> bool:
    """Whether they are one definition; a string or bracket may go on further to the left."""
    text = "".join(lines)
    if lines[-1].startswith(_CLOSING) or '"""' in text or "'''" in text or "\\\n" in text:
        return False
    depth = sum(map(text.count, "([{")) - sum(map(text.count, ")]}"))
    return depth == 0


def _is_statement(lines: list[str]) -> bool:
    """Whether Python's parser takes them for a whole statement: it takes longer than to count
    brackets, and is not asked where it might warn."""
    text = "".join(lines)
    if "\\" in text or "\t" in text:
        return False
    try:
        (found,) = ast.parse("if 1:\n" * text.startswith(" ") + text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return not isinstance(found, ast.If) or len(found.body) == 1
