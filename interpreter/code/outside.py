"""Telling a program's own exceptions from those that reach it from elsewhere."""

from __future__ import annotations

import os
from types import FrameType

from ...frontend.diagnostics.paths import is_library_file
from ...ops.memory.errors import OperatorError

__all__ = ["comes_from_outside"]


def comes_from_outside(cause: Exception) -> bool:
    """Whether an exception is none of the operators': the handler of a signal raised it, or another
    thread sent it.

    Its class, or a function of the user's that raised it, is the sign: operators have neither, and
    what is left to Python is called in one place.
    """
    traceback, called = cause.__traceback__, False
    while traceback is not None:
        frame = traceback.tb_frame
        called = called or frame.f_code.co_name == "_run_python"
        if not called and _is_users(frame):
            return True
        traceback = traceback.tb_next
    home = type(cause).__module__.partition(".")[0]  # for some that of torch's class of the name
    return not (called or home in _HOMES or isinstance(cause, OperatorError))


def _is_users(frame: FrameType) -> bool:
    """Whether a function of the user's runs there: from a file, `python -c` or a prompt."""
    filename = frame.f_code.co_filename
    if os.path.isabs(filename):
        return not is_library_file(filename)
    return frame.f_globals.get("__name__") == "__main__"


_HOMES = frozenset("builtins rushlight torch numpy ml_dtypes ctypes concurrent struct".split())
"""Where the classes of the exceptions that operators raise are defined."""
