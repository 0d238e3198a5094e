"""The command line: `rushlight COMMAND`, or `python -m rushlight`."""

from __future__ import annotations

import gc
import os
import sys
import warnings
from argparse import Namespace as Arguments
from collections.abc import Callable, Sequence
from typing import TextIO

from .cli.failure import BAD_INPUT, CommandError, diagnostics_of, one_line, report
from .cli.parser import parse, way_of
from .cli.speech import OutputFailed, complain, write
from .cli.wall import status_of_child
from .frontend.diagnostics.cells import clean_lines

__all__ = ["main"]

INTERRUPTED = 130
BROKEN_PIPE = 141
INTERNAL = 70


def _give_up_output() -> None:
    """Python flushes standard output once more at exit; give it somewhere to go."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _failed_file(error: OSError) -> int:
    """Tell what cannot be read or written; without a name it is standard output."""
    if error.filename is None:
        _give_up_output()
    if isinstance(error, BrokenPipeError):
        return BROKEN_PIPE
    what = "the output cannot be written" if error.filename is None else error.filename
    complain(f"{os.fsdecode(what)}: {error.strerror or error}")
    return BAD_INPUT


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Print a warning as Python does, cleaned: its text may come from a script."""
    text = warnings.formatwarning(message, category, filename, lineno, line)
    write(clean_lines(text), sys.stderr if file is None else file)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; the result is the exit status.

    0: all well; 1: the program under the tool has errors; 2: bad input to the tool.
    """
    if argv is None:
        warnings.showwarning = _show_warning
    arguments = parse(sys.argv[1:] if argv is None else argv)
    execute = way_of(arguments)
    if argv is None:
        ended = status_of_child(arguments)
        if ended is not None:
            return ended
    try:
        return _executed(execute, arguments)
    except KeyboardInterrupt:  # perhaps while a failure is told
        return INTERRUPTED
    finally:
        if argv is None:
            gc.freeze()  # what ends would be searched for garbage, which takes long


def _executed(execute: Callable[[Arguments], int], arguments: Arguments) -> int:
    """The exit status of a command, with what went wrong told."""
    try:
        status = int(execute(arguments))
        if sys.stdout is not None:
            sys.stdout.flush()
        return status
    except CommandError as error:
        complain(one_line(error))
        return BAD_INPUT
    except OutputFailed as failed:
        return _failed_file(failed.error)
    except OSError as error:
        return _failed_file(error)
    except Exception as error:
        if diagnostics_of(error):  # about an archive, or the code in it
            report(error)
            return BAD_INPUT
        if os.environ.get("RUSHLIGHT_TRACEBACK") == "full":
            raise
        told = f"{type(error).__name__}: {one_line(error)}"
        hint = "please report it; RUSHLIGHT_TRACEBACK=full shows where"
        complain(f"internal error: {told} ({hint})")
        return INTERNAL


if __name__ == "__main__":
    sys.exit(main())
