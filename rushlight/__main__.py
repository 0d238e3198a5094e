"""The command line: `rushlight COMMAND`, or `python -m rushlight`."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from importlib import metadata

from .cli import audit, check, convert, diff, explain, run, show, what
from .cli.failure import BAD_INPUT, CommandError, diagnostics_of, one_line, report

__all__ = ["main"]

INTERRUPTED = 130
BROKEN_PIPE = 141
INTERNAL = 70


def _version() -> str:
    try:
        return metadata.version("rushlight")
    except metadata.PackageNotFoundError:  # run from a checkout that is not installed
        return "(not installed)"


def make_parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="rushlight", description="Compile, check, run and read TorchScript without PyTorch."
    )
    parser.add_argument("--version", action="version", version=f"rushlight {_version()}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in (run, show, check, what, audit, diff, convert, explain):
        command.add(commands)
    return parser


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    """Parse the arguments; inputs of `run` may come after options, where argparse leaves them."""
    parser = make_parser()
    arguments, rest = parser.parse_known_args(argv)
    marked = "--" in rest
    if marked:
        rest.remove("--")
    options = [word for word in rest if not marked and re.match(r"-[^\d.]", word)]
    if options or (rest and "inputs" not in arguments):
        parser.error(f"unrecognized arguments: {' '.join(options or rest)}")
    if rest:
        arguments.inputs.extend(rest)
    return arguments


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; the result is the exit status.

    0: all well; 1: the program under the tool has errors; 2: bad input to the tool.
    """
    arguments = _parse(sys.argv[1:] if argv is None else argv)
    try:
        status = int(arguments.execute(arguments))
        sys.stdout.flush()
        return status
    except CommandError as error:
        print(f"rushlight: {one_line(error)}", file=sys.stderr)
        return BAD_INPUT
    except BrokenPipeError:
        # Python flushes standard output once more at exit; give it somewhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        if diagnostics_of(error):  # about an archive, or the code in it
            report(error)
            return BAD_INPUT
        if os.environ.get("RUSHLIGHT_TRACEBACK") == "full":
            raise
        told = f"{type(error).__name__}: {one_line(error)}"
        hint = "please report it; RUSHLIGHT_TRACEBACK=full shows where"
        print(f"rushlight: internal error: {told} ({hint})", file=sys.stderr)
        return INTERNAL


if __name__ == "__main__":
    sys.exit(main())
