"""What commands say: the one way from texts to the terminal.

Names, code and values of files hold what their makers liked.  What could move the cursor, hide text
or turn its direction is replaced by a mark, and what the terminal's encoding does not have is
escaped; only our own colours are exempt.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import TextIO

from ..frontend.diagnostics.cells import clean, clean_lines

__all__ = ["OutputFailed", "complain", "script_output", "tell", "tell_lines", "write"]


def write(text: str, stream: TextIO | None) -> None:
    """Write a text that is clean already; a stream that was closed takes nothing."""
    if stream is None:
        return
    encoding = getattr(stream, "encoding", None) or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))


def tell(text: str) -> None:
    """Print a text of one or more lines."""
    write(clean_lines(text) + "\n", sys.stdout)


def tell_lines(lines: Iterable[str]) -> None:
    """Print lines; a line end inside one is no line end."""
    write("".join(clean(line) + "\n" for line in lines), sys.stdout)


def complain(text: str) -> None:
    """Print to standard error; further lines of `text` stay lines."""
    write(f"rushlight: {clean_lines(text)}\n", sys.stderr)


class OutputFailed(BaseException):
    """What a script prints cannot be written: no error of the script, which must not catch it."""

    def __init__(self, error: OSError) -> None:
        super().__init__(error)
        self.error = error


class ScriptOutput(io.TextIOBase):
    """What scripts print to: passes it on to another stream, by way of `cleaned`."""

    def __init__(self, stream: TextIO | None, cleaned: Callable[[str], str]) -> None:
        self._stream = stream
        self._cleaned = cleaned

    def writable(self) -> bool:
        """True: it is there to be written to."""
        return True

    def write(self, text: str, /) -> int:
        """Write a text, cleaned."""
        try:
            write(self._cleaned(text), self._stream)
        except OSError as error:
            raise OutputFailed(error) from None
        return len(text)

    def flush(self) -> None:
        """Flush the other stream."""
        if self._stream is not None:
            self._stream.flush()


@contextmanager
def script_output(trust: str) -> Iterator[None]:
    """While a script runs: what one that is not trusted prints is cleaned."""
    with redirect_stdout(ScriptOutput(sys.stdout, str if trust == "full" else clean_lines)):
        yield
