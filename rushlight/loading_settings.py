"""`torch.serialization`: what `torch.load` may make of files that nobody vouches for as a whole."""

from __future__ import annotations

import pickletools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from typing import Any, Final, TypeAlias

from .frontend.foundations.chosen import Chosen
from .ops.memory.dtype import Device
from .ops.tensors.untyped_storage import Storage
from .serialization.files.container import ArchiveReader
from .serialization.files.errors import ArchiveError
from .serialization.pickles.object_names import present_name
from .serialization.weights.load import UNSAID
from .serialization.weights.pickle import WeightsReader
from .serialization.weights.skipping import skip_data
from .serialization.weights.vouched import SAFE, Vouched, named
from .weights import load, save

__all__ = [
    "DEFAULT_PROTOCOL",
    "LoadEndianness",
    "MAGIC_NUMBER",
    "MAP_LOCATION",
    "PROTOCOL_VERSION",
    "add_safe_globals",
    "clear_safe_globals",
    "default_restore_location",
    "get_default_load_endianness",
    "get_default_mmap_options",
    "get_safe_globals",
    "get_unsafe_globals_in_checkpoint",
    "load",
    "safe_globals",
    "save",
    "set_default_load_endianness",
    "set_default_mmap_options",
    "skip_data",
]

DEFAULT_PROTOCOL: Final = 2
"""The protocol that pickles in files are of."""
MAGIC_NUMBER: Final = 0x1950A86A20F9469CFC6C
PROTOCOL_VERSION: Final = 1001
"""What files from before archives begin with."""

MAP_LOCATION: TypeAlias = Callable[[Storage, str], Storage] | Device | str | dict[str, str] | None
"""What `map_location` of `load` takes."""


def add_safe_globals(safe_globals: list[Vouched]) -> None:
    """Vouch for classes and functions: files that are not trusted may name and call them.

    Args:
        safe_globals: each, or a tuple of each and the full name that files have for it.

    Raises:
        ValueError: a tuple of something else.
    """
    SAFE.update(named(safe_globals))


def get_safe_globals() -> list[Any]:
    """What is vouched for."""
    return list(SAFE.values())


def clear_safe_globals() -> None:
    """Vouch for nothing any more."""
    SAFE.clear()


@contextmanager
def safe_globals(safe_globals: list[Vouched]) -> Iterator[None]:
    """A block in which classes and functions are vouched for; those from before stay so."""
    before = dict(SAFE)
    SAFE.update(named(safe_globals))
    try:
        yield
    finally:
        SAFE.clear()
        SAFE.update(before)


def get_unsafe_globals_in_checkpoint(f: Any) -> list[str]:
    """The names in a file of `torch.save` that would have to be vouched for; nothing is made.

    Raises:
        ValueError: it is no zip file with a `data.pkl`, or is damaged.
        OSError: it cannot be opened.
    """
    if hasattr(f, "seek"):
        f.seek(0)  # wherever it stands: a zip file is read from its end
    try:
        with ArchiveReader(f) as archive:
            if "data.pkl" not in archive:
                raise ValueError("the file has no data.pkl")
            pickled = archive.read("data.pkl")
    except ArchiveError as error:
        raise ValueError(str(error)) from None
    reader = WeightsReader(pickled, str(f), None)  # type: ignore[arg-type]
    found = []
    for module, name in _names(pickled):
        full = ".".join(present_name(module, name))
        if full not in SAFE and not reader.is_known(module, name) and full not in found:
            found.append(full)
    return found


def _names(pickled: bytes) -> Iterator[tuple[str, str]]:
    """The classes and functions that a pickle names."""
    texts: list[str] = []
    for opcode, argument, _ in pickletools.genops(pickled):
        if opcode.name == "GLOBAL":
            module, _, name = str(argument).partition(" ")
            yield module, name
        elif opcode.name == "STACK_GLOBAL" and len(texts) >= 2:
            yield texts[-2], texts[-1]
        elif isinstance(argument, str):
            texts.append(argument)


class LoadEndianness(Enum):
    """The byte order that files without one are read in."""

    NATIVE = 1
    LITTLE = 2
    BIG = 3


_chosen: Final[Chosen[LoadEndianness | None]] = Chosen(None)


def get_default_load_endianness() -> LoadEndianness | None:
    """What was chosen; None: files say theirs, and others are little endian."""
    return _chosen.now


def set_default_load_endianness(endianness: LoadEndianness | None) -> None:
    """Choose the byte order of files that do not say theirs.

    Raises:
        TypeError: it is no `LoadEndianness`.
    """
    if endianness is not None and not isinstance(endianness, LoadEndianness):
        raise TypeError("Invalid argument type in function set_default_load_endianness")
    _chosen.choose(endianness)
    orders = {LoadEndianness.BIG: "big", LoadEndianness.NATIVE: sys.byteorder}
    UNSAID.byteorder = "little" if endianness is None else orders.get(endianness, "little")


def get_default_mmap_options() -> int:
    """How files are mapped: changes stay in memory (`mmap.MAP_PRIVATE`)."""
    return 2


def set_default_mmap_options(flags: int) -> None:
    """Choose how files are mapped.

    Raises:
        ValueError: anything but `mmap.MAP_PRIVATE`.
    """
    if flags != get_default_mmap_options():
        raise ValueError("files are mapped by MAP_PRIVATE only")


def default_restore_location(storage: Storage, location: str) -> Storage:
    """Where a storage goes whose file says a device: to the CPU."""
    del location
    return storage
