"""What reading and writing archives raises."""

from __future__ import annotations

from collections.abc import Iterable

from ..frontend.diagnostics import Diagnostic, Help

__all__ = ["ArchiveError", "archive_error"]


class ArchiveError(RuntimeError):
    """A file cannot be read as an archive, or a module cannot be written as one.

    `str(e)` is the first diagnostic's torch sentence, or its message where torch has none that
    would help; `diagnostics` holds all that was found.
    """

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = list(diagnostics)
        first = self.diagnostics[0]
        super().__init__(first.torch_message or first.message)

    @property
    def code(self) -> str:
        """The slug of the first diagnostic."""
        return self.diagnostics[0].code


def archive_error(
    code: str, message: str, *, notes: tuple[str, ...] = (), help: str = "", torch: str = ""
) -> ArchiveError:
    """An error with one diagnostic that has no place in a source."""
    helps = (Help(help),) if help else ()
    text = f"{torch}\n{message}" if torch else ""
    return ArchiveError(
        [Diagnostic(code, message, None, notes=notes, helps=helps, torch_message=text)]
    )
