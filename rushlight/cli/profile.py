"""`rushlight profile`: what calls of a method take, by operator, line and module."""

from __future__ import annotations

import argparse
import os
from contextlib import redirect_stdout
from math import isfinite
from typing import Any

from ..ops.table.grad_mode import grad_mode_set, is_grad_enabled
from .archive import add_trust, find_method, open_archive
from .atomic import add_force, refuse_existing, replacing
from .failure import FAILED, report
from .inputs import read_inputs
from .json_lines import add_json, tell_data
from .speech import tell_lines

__all__ = ["add", "execute"]


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the command to argparse."""
    parser.description = (
        "Call a method of an archive many times with the same inputs, and print how long "
        "operators, lines and modules take, what runs each function (machine, plan or native "
        "code), and why nothing quicker does. Inputs are written as for `rushlight run`."
    )
    parser.add_argument("archive", help="a TorchScript archive (.pt)")
    parser.add_argument("inputs", nargs="*", metavar="INPUT", help="the arguments, in order")
    parser.add_argument(
        "--method", default="forward", help="the method, also of a submodule: encoder.forward"
    )
    parser.add_argument(
        "--seconds",
        type=_seconds,
        default=0.5,
        metavar="N",
        help="how long to call it, and how long to time it (0.5); three calls there are at least",
    )
    parser.add_argument(
        "--no-grad", action="store_true", help="note nothing for gradients, as in `torch.no_grad()`"
    )
    add_json(parser)
    parser.add_argument(
        "--html",
        metavar="FILE",
        help="also write a page with a flame graph, which needs no network",
    )
    add_force(parser)
    add_trust(parser)
    parser.set_defaults(execute=execute)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not (seconds > 0 and isfinite(seconds)):
        raise argparse.ArgumentTypeError(f"not a positive number of seconds: {text}")
    return seconds


def execute(arguments: argparse.Namespace) -> int:
    """Run the command."""
    from ..profiling import profile  # other commands do without

    if arguments.html is not None:
        refuse_existing([arguments.html], arguments.force)
    method = find_method(open_archive(arguments.archive, arguments.trust), arguments.method)
    parameters = method._rushlight_function.signature.arguments[1:]
    args, kwargs = read_inputs(arguments.inputs, parameters)
    try:
        with (
            open(os.devnull, "w", errors="replace") as nowhere,
            redirect_stdout(nowhere),
            grad_mode_set(is_grad_enabled() and not arguments.no_grad),
        ):
            found = profile(method, args, kwargs, seconds=arguments.seconds)
    except Exception as error:  # whatever the script raises is the user's to read
        report(error)
        return FAILED
    _tell(arguments, found)
    return 0


def _tell(arguments: argparse.Namespace, found: Any) -> None:
    if arguments.html is not None:
        with replacing(arguments.html) as file:
            file.write(found.html().encode("utf-8", "backslashreplace"))
    if arguments.json:
        tell_data({"file": arguments.archive, **found.data()})
    else:
        tell_lines(str(found).split("\n"))
