"""What reading and writing archives raises."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pickle import UnpicklingError
from typing import ParamSpec, TypeVar

from ...frontend.diagnostics.cells import clean_lines
from ...frontend.diagnostics.diagnostics import Diagnostic, Help
from ...frontend.diagnostics.exceptions import attach
from ...frontend.limits.bounds import bounded_call

__all__ = ["ArchiveError", "NoDirectory", "RefusedPickle", "archive_error", "within_limits"]


_P = ParamSpec("_P")
_R = TypeVar("_R")


class ArchiveError(RuntimeError):
    """A file cannot be read as an archive, or a module cannot be written as one.

    `diagnostics` holds all that was found.
    """

    diagnostics: list[Diagnostic]

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        first = diagnostics[0]
        lines = [first.torch_message, first.message] if first.torch_message else [first.message]
        super().__init__(clean_lines("\n".join(lines)))
        attach(self, diagnostics)

    @property
    def code(self) -> str:
        """The slug of the first diagnostic."""
        return self.diagnostics[0].code


class RefusedPickle(ArchiveError, UnpicklingError):
    """A file asks for more than tensors and plain values, and nobody vouches for it.

    Programs that try such a file once more with `weights_only=False` catch the second class.
    """


class NoDirectory(FileNotFoundError, RuntimeError):
    """The folder that a file is to be written into is not there."""

    def __str__(self) -> str:
        return f"Parent directory {os.path.dirname(self.filename)} does not exist."


def archive_error(code: str, message: str, *, help: str = "", torch: str = "") -> ArchiveError:
    """An error with one diagnostic that has no place in a source; `torch` is torch's sentence."""
    helps = (Help(help),) if help else ()
    return ArchiveError([Diagnostic(code, message, None, helps=helps, torch_message=torch)])


def within_limits(what: str) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Around what reads and writes: asking for too much is an ArchiveError about `what`."""
    return bounded_call(what, lambda sentence: archive_error("limit-exceeded", sentence))
