"""`rushlight strip`: the operators that archives need, and a bundle with these alone."""

from __future__ import annotations

import argparse
import shlex

from ..bundling.write import BundleError, Report, find_needs, make_bundle
from ..jit.module import RecursiveScriptModule
from .archive import find_method, open_archive
from .atomic import refuse_existing
from .failure import CommandError
from .speech import tell

__all__ = ["execute"]


def execute(arguments: argparse.Namespace) -> int:
    """Run the command."""
    if arguments.output is not None:
        refuse_existing([arguments.output], arguments.force)
    if len(arguments.input) > len(arguments.archives):
        raise CommandError("there are more --input than archives")
    runs = []
    for number, archive in enumerate(arguments.archives):
        module = open_archive(archive)  # what is no archive is told as always
        given = arguments.input[number] if number < len(arguments.input) else None
        runs.append([archive, *_words(archive, module, given)])
    try:
        if arguments.output is None:
            for name in find_needs(runs)["operators"]:
                tell(name)
            return 0
        _tell(arguments.output, make_bundle(arguments.output, runs))
    except BundleError as error:
        raise CommandError(str(error)) from None
    except OSError as error:
        raise CommandError(f"{arguments.output}: {error.strerror or error}") from None
    return 0


def _words(archive: str, module: RecursiveScriptModule, given: str | None) -> list[str]:
    if given is not None:
        return shlex.split(given)
    if len(find_method(module, "forward")._rushlight_function.signature.arguments) == 1:
        return []
    raise CommandError(f"{archive}: --input has to say what it is run with, to see what it needs")


def _tell(path: str, report: Report) -> None:
    tell(
        f"{path}: {report.size / 1e6:.2f} MB, {report.files} files of the library "
        f"({report.files_left_out} left out), {len(report.operators)} operators"
    )
    tell(
        f"run: {report.start:.2f} s of processor time (with the whole library: "
        f"{report.start_of_library:.2f} s)"
    )
    tell("needs Python 3.11 or newer and NumPy; uses llvmlite where it is installed")
