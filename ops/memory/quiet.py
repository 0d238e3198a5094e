"""Switching NumPy's floating-point warnings off around a forward.

`numpy.errstate` does the same for eight times the cost, which would double that of a small call;
it is what is used should NumPy's context variable be gone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["QUIET", "enter", "leave"]

try:
    from numpy._core.umath import _extobj_contextvar, _make_extobj

    enter = _extobj_contextvar.set
    leave = _extobj_contextvar.reset
    QUIET: Any = _make_extobj(all="ignore")
except ImportError:  # another NumPy
    QUIET = None

    def enter(state: object) -> Any:
        """Switch warnings off; what it returns goes to `leave`."""
        switched = np.errstate(all="ignore")
        switched.__enter__()
        return switched

    def leave(switched: Any) -> None:
        """Go back to the state before."""
        switched.__exit__(None, None, None)
