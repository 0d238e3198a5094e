"""The lines of a live function or class.

`inspect.getsourcelines` finds the end of a function with a tokenizer; for most functions the
indentation tells it, which costs a tenth.
"""

from __future__ import annotations

import inspect
import types
from typing import Any

__all__ = ["lines_of"]

_CLOSING = (")", "]", "}")
_NEXT = ("def ", "class ", "async ", "@", "#", "import ")
"""How a line begins that surely is a new statement, or a comment before one."""


def lines_of(obj: Any) -> tuple[list[str], int]:
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
    """The lines up to the first that is indented no more than the `def`; None if in doubt."""
    head = lines[first]
    if not head.lstrip().startswith("def "):
        return None
    margin = len(head) - len(head.lstrip())
    last = first
    for number in range(first + 1, len(lines)):
        line = lines[number]
        text = line.lstrip()
        if not text:
            continue
        if len(line) - len(text) <= margin and not text.startswith(_CLOSING):
            if not text.startswith(_NEXT):
                return None
            break
        last = number
    found = lines[first : last + 1]
    if found[-1].lstrip().startswith("#") or "\t" in head:
        return None
    return found if _is_whole(found) else None


def _is_whole(lines: list[str]) -> bool:
    """Whether they are one definition; a string or bracket may go on further to the left."""
    text = "".join(lines)
    if lines[-1].startswith(_CLOSING) or '"""' in text or "'''" in text or "\\\n" in text:
        return False
    depth = sum(map(text.count, "([{")) - sum(map(text.count, ")]}"))
    return depth == 0
