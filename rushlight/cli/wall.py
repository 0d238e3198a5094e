"""The last wall around archives that are not trusted: a process with limits of its own.

A command that opens one does so in a child, forked before any thread runs.  The system refuses the
child more memory than the bounds could ever need, and ends it when a guarded call overruns its time
and cannot be interrupted.  The parent waits, and tells what became of it.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Final

from .failure import BAD_INPUT
from .speech import complain

__all__ = ["status_of_child", "unconfined"]

OVERRUN: Final = 10.0
"""Seconds that a call may overrun its time, in an operator that cannot be interrupted."""

SPARE: Final = 2 << 30
"""Bytes for the interpreter, its libraries and their threads."""

_WHY: Final = {
    "SIGALRM": "it ran for longer than it may",
    "SIGKILL": "the system killed it, perhaps for want of memory",
}


def status_of_child(arguments: argparse.Namespace) -> int | None:
    """In the parent: the exit status of the child.  None where the command is to be executed: in
    the child, or if nothing is opened that is not trusted, or the system has no fork."""
    files = _untrusted(arguments)
    if not files or not hasattr(os, "fork"):
        return None
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    # a terminal sends it to the child as well, which ends as ever
    interrupted = signal.signal(signal.SIGINT, signal.SIG_IGN)
    child = os.fork()
    if not child:
        signal.signal(signal.SIGINT, interrupted)
        _confine(files)
        return None
    return _wait(child)


def _untrusted(arguments: argparse.Namespace) -> list[str]:
    """The archives that are opened and not trusted."""
    if arguments.command == "audit":
        return list(arguments.files)
    if getattr(arguments, "trust", "full") != "none":
        return []
    found: list[str] = []
    for name in ("archive", "archives", "sources", "first", "second"):
        value = getattr(arguments, name, None) or []
        found += [value] if isinstance(value, str) else value
    return found


def _confine(files: list[str]) -> None:
    """Limit this process."""
    from ..interpreter.bounds.watch import WALL  # with the command, not for help and versions
    from ..serialization.files.limits import DEFAULT_LIMITS

    WALL.append(OVERRUN)
    size = sum(sorted(_sizes(files))[-2:])  # no command holds more than two at a time
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[0])
        bounds = DEFAULT_LIMITS.running
        most = pages * resource.getpagesize() + 2 * bounds.memory + SPARE + 4 * size
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        if hard == resource.RLIM_INFINITY or most < hard:
            resource.setrlimit(resource.RLIMIT_AS, (most, hard))
    except (ImportError, OSError, ValueError):
        return  # no such limits here: what counts inside the process holds all the same


def _sizes(files: list[str]) -> Iterator[int]:
    """The sizes of files, and of those in folders."""
    for file in files:
        for folder, _, names in os.walk(file):
            for name in names:
                with suppress(OSError, ValueError):
                    yield os.stat(os.path.join(folder, name)).st_size
        with suppress(OSError, ValueError):
            yield os.stat(file).st_size


@contextmanager
def unconfined() -> Iterator[None]:
    """What is started in this block, when nothing of an archive runs any more, has all the memory
    that there is."""
    try:
        import resource
    except ImportError:
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _wait(child: int) -> int:
    """The exit status of the child, which gets the signals that are meant to end the command."""

    def pass_on(number: int, frame: FrameType | None) -> None:
        with suppress(ProcessLookupError):
            os.kill(child, number)

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, pass_on)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status >= 0:
        return status
    name = signal.Signals(-status).name
    if name in _WHY or name in ("SIGSEGV", "SIGBUS", "SIGABRT"):
        complain(f"the archive was closed: {_WHY.get(name, f'its process ended by {name}')}")
        return BAD_INPUT
    signal.signal(-status, signal.SIG_DFL)
    os.kill(os.getpid(), -status)
    return 128 - status
