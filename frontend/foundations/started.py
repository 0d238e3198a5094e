"""Starting threads, where there may be no more."""

from __future__ import annotations

import threading
from collections.abc import Callable

__all__ = ["started"]


def started(name: str, target: Callable[..., object], *args: object) -> threading.Thread | None:
    """A thread that runs a function, and keeps no process alive; None if there can be no more, or
    Python is shutting down."""
    thread = threading.Thread(target=target, args=args, name=name, daemon=True)
    try:
        thread.start()
    except RuntimeError as error:
        if not str(error).startswith("can't"):  # but from the handler of a signal
            raise
        return None
    except KeyError as error:
        if error.args == (thread,) and error.__context__ is not None:  # a handler raised that one
            raise error.__context__ from None  # while Python began what had begun already
        raise
    return thread
