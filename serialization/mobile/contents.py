"""What a file of the lite interpreter holds, however it is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ..files.errors import ArchiveError, archive_error
from ..pickles.nodes import Node
from ..pickles.tensors import StorageReader
from .debug import MobileDebug

__all__ = ["MobileArgument", "MobileContents", "MobileFunction", "NEWEST", "OLDEST"]

OLDEST, NEWEST = 3, 9
"""The versions of bytecode that are read."""


class MobileArgument(NamedTuple):
    """An argument or result: its name, the text of its type, its default (None if it has none)."""

    name: str
    type: str
    default: Node


@dataclass(frozen=True, slots=True)
class MobileFunction:
    """One function as it is written: instructions (name, X, N), operators (name, overload, number
    of arguments or -1), constants and types.  `schema` says whether its arguments are written."""

    name: str
    instructions: tuple[tuple[str, int, int], ...]
    operators: tuple[tuple[str, str, int], ...]
    constants: tuple[Node, ...]
    types: tuple[str, ...]
    register_size: int
    arguments: tuple[MobileArgument, ...] = ()
    returns: tuple[MobileArgument, ...] = ()
    has_schema: bool = False


@dataclass(frozen=True)
class MobileContents:
    """All of a file.

    `version` is that of the bytecode, `operator_version` the file version whose operators it means;
    `root` reads what the module is, whose tensors are in `storages`; those of constants are in
    `constants`.  `code` maps namespaces to code files and `code_constants` are what they call
    `CONSTANTS`: flatbuffers may hold what ordinary archives have in records of their own.  `debug`
    reads where instructions come from.
    """

    title: str
    part: str
    version: int
    operator_version: int
    functions: tuple[MobileFunction, ...]
    root: Callable[[], Node]
    storages: StorageReader
    constants: StorageReader
    extra: Mapping[str, Callable[[], bytes]] = field(default_factory=dict)
    code: Mapping[str, str] = field(default_factory=dict)
    code_constants: tuple[Node, ...] = ()
    debug: Callable[[], MobileDebug | None] | None = None

    def __post_init__(self) -> None:
        if not OLDEST <= self.version <= NEWEST:
            raise self.error(
                "version-too-new" if self.version > NEWEST else "unsupported-value",
                f"has bytecode of version {self.version}; versions {OLDEST} to {NEWEST} are read",
                "Lite Interpreter version number does not match. The model version must be "
                f"between {OLDEST} and {NEWEST} but the model version is {self.version}",
            )

    def error(self, code: str, what: str, torch: str = "") -> ArchiveError:
        """An error that names the file."""
        return archive_error(code, f"{self.title} {what}", torch=torch)

    def damaged(self, what: str) -> ArchiveError:
        """An error in the functions or values."""
        return self.error("damaged-archive", f"is damaged: in {self.part}, {what}")
