"""What a process printed before it has mpiexec end all processes."""

from __future__ import annotations

import sys
import time
from contextlib import suppress

__all__ = ["wait_until_read"]


def wait_until_read(seconds: float = 1.0) -> None:
    """Wait until mpiexec has read what was printed to stderr, for so long at most.

    Hydra passes on nothing of what still lies in the pipe when a process wishes the end of all.
    """
    if sys.platform != "linux":
        return
    import fcntl
    import termios

    until, unread = time.monotonic() + seconds, bytearray(4)
    with suppress(OSError):  # it is no pipe
        while fcntl.ioctl(2, termios.FIONREAD, unread) == 0 and any(unread):
            if time.monotonic() > until:
                return
            time.sleep(0.005)
