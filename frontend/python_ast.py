"""Python's own trees of texts, made in one thread at a time.

Python 3.11 counts the depth of trees for all threads together and fails where two threads make
trees at once; and switching its warnings about a text off is a matter of the whole process.
"""

from __future__ import annotations

import ast
import threading
import warnings
from typing import Any

__all__ = ["python_tree"]

_making = threading.Lock()


def python_tree(text: str, mode: str = "exec") -> Any:
    """`ast.parse`, without Python's warnings about the text; raises what that raises."""
    with _making, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text, mode=mode)
