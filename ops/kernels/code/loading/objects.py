"""Native functions by what they are made from: from memory, from disk, or compiled.

The folder of objects is the user's own (`cache_folder`); a file that is not understood is made
anew.  A warm process imports no compiler, and writes no text.  An object has two names: one by what
asks for it, which another version of this library asks for otherwise, and one by its text, which
most versions have alike.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Final

from .....frontend.foundations.locks import fork_safe_lock
from .....frontend.foundations.started import started
from ....memory.allocation import uncounted
from ...cache_folder import cache_folder
from ...kept_files import keep, read_kept
from ...source_stamps import digest_of_contents
from ..language.target import Target, host
from . import elf

if TYPE_CHECKING:
    from .assemble import Care

__all__ = [
    *("COMPILE_VARIABLE", "is_kept", "is_marked", "is_possible", "kernel", "made_at", "mark"),
    *("native_addresses", "text_of"),
]

COMPILE_VARIABLE: Final = "RUSHLIGHT_COMPILE"
"""The environment variable that, set to `quickly`, has all native code compiled with little care:
in half of the time, to run up to six times as long."""

_Key = tuple[str | int, ...]
_MADE: Final[dict[_Key, tuple[dict[str, int], Callable[[Target], str]]]] = {}
"""The code of a process: where functions are, and what writes the text that they are made from."""
_MAKING: Final = fork_safe_lock()


def kernel(
    name: str,
    parameters: tuple[str | int, ...],
    text: Callable[[Target], str],
    care: Care = "usual",
) -> int:
    """The address of a kernel that native code has under `name`, for `code.run`.

    `text` writes the module for a CPU, and must say the same for the same `name` and `parameters`,
    with which `care` goes.

    Raises:
        OSError: the system lets no memory of ours be executed (see `is_possible`).
    """
    return native_addresses(name, parameters, (name,), text, care)[name]


def native_addresses(
    name: str,
    parameters: tuple[str | int, ...],
    functions: tuple[str, ...],
    text: Callable[[Target], str],
    care: Care = "usual",
) -> dict[str, int]:
    """The addresses of several functions of one module, as `kernel` says, compiled with `care`,
    which goes with the name."""
    key = (name, *parameters)
    try:
        return _MADE[key][0]
    except KeyError:
        with _MAKING, uncounted():
            if key not in _MADE:
                spent: Care = "little" if _is_quick() else care
                _MADE[key] = _addresses(functions, key, text, spent), text
            return _MADE[key][0]


def made_at(address: int) -> tuple[_Key, str]:
    """The key of the module that native code at an address belongs to, and the function's name.

    Raises:
        LookupError: there is none.
    """
    # a copy: making pairs may collect garbage, amid which other threads make code
    for key, (functions, _) in _MADE.copy().items():
        for name, place in functions.items():
            if place == address:
                return key, name
    raise LookupError(f"there is no code at {address:#x}")


def text_of(key: _Key) -> Callable[[Target], str]:
    """What writes the text of a module that has been made."""
    return _MADE[key][1]


def is_kept(name: str, parameters: tuple[str | int, ...]) -> bool:
    """Whether a kernel has been compiled before, here or by another process."""
    key = (name, *parameters)
    if key in _MADE:
        return True
    file = _file(key)
    return file is not None and os.path.exists(file)


def is_marked(name: str, parameters: tuple[str | int, ...]) -> bool:
    """Whether there is such a mark."""
    key = (name, *parameters)
    return read_kept(_file(key)) is not None


def mark(name: str, parameters: tuple[str | int, ...]) -> None:
    """Have `is_marked` say that there is something of this name, here and in other processes."""
    keep(_file((name, *parameters)), b"")


def is_possible() -> bool:
    """Whether there is a compiler, and the system lets memory of ours be executed."""
    return _compiler() is not None and (not elf.is_known() or elf.can_execute())


def _addresses(
    functions: tuple[str, ...], key: _Key, text: Callable[[Target], str], care: Care
) -> dict[str, int]:
    file = _file(key)
    kept = read_kept(file)
    if kept is not None:
        with suppress(elf.ForeignObject, RuntimeError):
            return _placed(kept, functions)
    target = host()
    program = text(target)
    same = _file_of_text(key, program, care)
    kept = read_kept(same)
    if kept is not None:
        with suppress(elf.ForeignObject, RuntimeError):
            found = _placed(kept, functions)
            _keep_as(file, same, kept)
            return found
    made = _undisturbed(partial(_assembler().assembled, program, target, care))
    found = _placed(made, functions)
    keep(same, made)
    _keep_as(file, same, made)
    return found


def _keep_as(file: Path | None, same: Path | None, made: bytes) -> None:
    """Give a file that is kept a second name, or write it again where there is no such thing."""
    if file is None or same is None:
        return
    try:
        file.unlink(missing_ok=True)  # what is there was not understood
        os.link(same, file)
    except OSError:
        keep(file, made)


def _undisturbed(work: Callable[[], bytes]) -> bytes:
    """What some work gives, in a thread where no handler of a signal can raise amid it: llvmlite's
    lock would stay taken for ever."""
    found = list[bytes | Exception]()

    def run() -> None:
        try:
            found.append(work())
        except Exception as error:
            found.append(error)

    is_main = threading.current_thread() is threading.main_thread()
    thread = started("rushlight-assembling", run) if is_main else None
    if thread is None:
        return work()
    thread.join()
    if not found:  # it was ended from outside
        return work()
    if isinstance(found[0], Exception):
        raise found[0]
    return found[0]


def _assembler() -> ModuleType:
    """llvmlite's side, imported when something is compiled."""
    return import_module(".assemble", __package__)


def _placed(data: bytes, functions: tuple[str, ...]) -> dict[str, int]:
    if elf.is_known():
        return elf.placed(data, functions)
    found: dict[str, int] = _assembler().placed(data, functions)
    return found


# ------------------------------------------------------------------------------------ on disk


@cache
def _is_quick() -> bool:
    return os.environ.get(COMPILE_VARIABLE, "").lower() == "quickly"


@cache
def _stamp() -> str:
    """What all code depends on beside its key: the writer of it, its compiler and the CPU."""
    version = _compiler()
    assert version is not None
    digest = hashlib.sha256(version + host().description.encode() + b"little" * _is_quick())
    digest.update(digest_of_contents(Path(__file__).parent.parent).encode())
    return digest.hexdigest()


def _file_of_text(key: _Key, program: str, care: Care) -> Path | None:
    """Where the object of a text lies, whichever version of this library has written that."""
    folder = cache_folder()
    if folder is None:
        return None
    digest = hashlib.sha256(_assembling())
    digest.update(f"{care}\0{program}".encode())
    return folder / f"{key[0]}-{digest.hexdigest()[:32]}.o"


@cache
def _assembling() -> bytes:
    """What an object depends on beside its text."""
    compiler = Path(__file__).with_name("assemble.py").read_bytes()
    return (_compiler() or b"") + host().description.encode() + compiler


@cache
def _compiler() -> bytes | None:
    """What tells versions of the compiler apart, None where there is none; to ask
    `importlib.metadata` takes ten times as long."""
    found = find_spec("llvmlite")
    if found is None:
        return None
    return Path(found.origin or "").with_name("_version.py").read_bytes()


def _file(key: _Key) -> Path | None:
    folder = cache_folder()
    if folder is None:
        return None
    words = "\0".join((_stamp(), *map(repr, key)))
    return folder / f"{key[0]}-{hashlib.sha256(words.encode()).hexdigest()[:32]}.o"
