"""Python's own trees of texts, made in one thread at a time.

Python 3.11 counts the depth of trees for all threads together and fails where two threads make
trees at once; and switching its warnings about a text off is a matter of the whole process.
"""

from __future__ import annotations

import ast
import re
import warnings
from typing import Any, Final

from .locks import fork_safe_lock

__all__ = ["python_tree"]

_WARNED: Final = re.compile(r"\\|\d[a-z]")
"""What Python may warn about: escapes in strings, and words that touch numbers."""

_making = fork_safe_lock()


def python_tree(text: str, mode: str = "exec") -> Any:
    """`ast.parse`, without Python's warnings about the text; raises what that raises."""
    with _making:
        if _WARNED.search(text) is None:
            return ast.parse(text, mode=mode)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text, mode=mode)
