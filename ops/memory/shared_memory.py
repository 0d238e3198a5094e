"""Memory that processes share: those that are forked see it, and others are told its descriptor."""

from __future__ import annotations

import mmap
import os
import sys
from tempfile import TemporaryFile
from typing import Final
from weakref import WeakValueDictionary

import numpy as np

from ...frontend.foundations.locks import fork_safe_lock
from .dtype import Array
from .growing import FOLLOWING
from .metadata import become
from .storage import address, memory_of, storage_of, view_of
from .versions import moved

__all__ = ["SharedMemory", "attached", "share", "shared_by"]

_HOLDERS: Final = 3
"""The references to an array that only one tensor has, or that lends its memory to that alone,
while this is found out."""

_KNOWN: Final[WeakValueDictionary[tuple[int, int], Array]] = WeakValueDictionary()
"""The shared memory that this process has, by what the system calls it."""
_ATTACHING: Final = fork_safe_lock()


class SharedMemory(mmap.mmap):
    """Pages behind a descriptor, which is closed when nothing lies in them any more."""

    descriptor: int = -1

    def __del__(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)


def share(array: Array) -> None:
    """Move the storage of an array, with all that lies in it, to memory that processes share.

    Raises:
        OSError: there is no such memory, or no descriptor is left.
    """
    if shared_by(array) is not None:
        return
    holder = storage_of(array)[0]
    is_own = holder is array
    is_alone = sys.getrefcount(array) <= _HOLDERS + is_own  # with `holder`
    if not is_own:
        is_alone = is_alone and array.base is holder and sys.getrefcount(holder) <= _HOLDERS
    memory = memory_of(array)  # which is one more
    if not memory.size:
        return
    begin = address(memory)
    fresh = attached(_descriptor(memory.size), memory.size)
    fresh[:] = memory
    moved(array, fresh)
    if is_alone or FOLLOWING.installed is None:
        at = address(array) - begin
        become(array, view_of(fresh, array.shape, array.strides, at, array.dtype))
    else:
        FOLLOWING.installed(holder, memory, fresh)


def shared_by(array: Array) -> SharedMemory | None:
    """What the memory of an array belongs to, if processes share it."""
    lender = storage_of(array)[0].base
    pages = lender.obj if isinstance(lender, memoryview) else lender
    return pages if isinstance(pages, SharedMemory) else None


def attached(descriptor: int, size: int) -> Array:
    """The bytes behind a descriptor, which belongs to them from now on."""
    said = os.fstat(descriptor)
    name = said.st_dev, said.st_ino
    with _ATTACHING:  # two threads get one and the same
        known = _KNOWN.get(name)
        if known is not None:
            os.close(descriptor)
            return known
        pages = SharedMemory(descriptor, size)
        pages.descriptor = descriptor
        made: Array = np.frombuffer(pages, np.uint8)
        _KNOWN[name] = made
        return made


def _descriptor(size: int) -> int:
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("rushlight")
    else:
        with TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
    os.ftruncate(descriptor, size)
    return descriptor
