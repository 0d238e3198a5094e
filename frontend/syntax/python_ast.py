"""Python's own trees of texts, made in one thread at a time.

Python 3.11 counts the depth of trees for all threads together and fails where two threads make
trees at once, be it in a finalizer that garbage collection runs; and switching its warnings about
a text off is a matter of the whole process.
"""

from __future__ import annotations

import ast
import re
import warnings
from itertools import islice
from math import inf
from typing import Any, Final

from ..foundations.garbage import uncollected
from ..foundations.locks import fork_safe_lock
from ..limits.clock import OutOfTime, time_left
from .deep_stack import with_usual_depth

__all__ = ["has_words", "python_tree"]

_WARNED: Final = re.compile(r"\\|\d[a-z]")
"""What Python may warn about: escapes in strings, and words that touch numbers."""

_WORD: Final = re.compile(r"\w+|[^\w\s]")

SPEED: Final = 5e5
"""Words and signs a second that Python's parser is trusted to take."""

_making = fork_safe_lock()


def python_tree(text: str, mode: str = "exec") -> Any:
    """`ast.parse`, without Python's warnings about the text; raises what that raises.

    Raises OutOfTime where the text is too long for the time that is left.
    """
    _afford(text)
    with _making:
        if _WARNED.search(text) is None:
            return _parsed(text, mode)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _parsed(text, mode)


@uncollected
def _parsed(text: str, mode: str) -> object:
    with with_usual_depth():
        try:
            return ast.parse(text, mode=mode)
        except SystemError:  # somebody else made a tree meanwhile
            return ast.parse(text, mode=mode)


def has_words(text: str, count: float) -> bool:
    """Whether a text has more than so many words and signs."""
    if len(text) <= count:
        return False
    return next(islice(_WORD.finditer(text), int(count), None), None) is not None


def _afford(text: str) -> None:
    """Refuse a text that is too long for the time that is left: the parser cannot be stopped."""
    left = time_left()
    if left < inf and has_words(text, max(left, 0) * SPEED):
        raise OutOfTime(
            f"a text of {len(text)} characters is too long for {max(left, 0):.2g} seconds"
        )
