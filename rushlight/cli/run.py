"""`rushlight run`: call a method of an archive."""

from __future__ import annotations

import argparse
from typing import Any

from .archive import add_trust, find_method, open_archive
from .failure import FAILED, report
from .inputs import read_inputs
from .output import write_output

__all__ = ["add", "execute"]


def add(commands: Any) -> None:
    """Describe the command to argparse."""
    parser = commands.add_parser(
        "run",
        help="call a method of an archive and print what it returns",
        description=(
            "Call a method of an archive and print what it returns. An input is a Python literal "
            "(nested lists become tensors where the method takes one), an .npy file, an .npz file "
            "(arrays by parameter name, or arr_0, arr_1 ... in order), FILE.npz:NAME, or "
            "NAME=INPUT. Write -- before inputs that begin with a minus sign."
        ),
    )
    parser.add_argument("archive", help="a TorchScript archive (.pt)")
    parser.add_argument(
        "--method", default="forward", help="the method, also of a submodule: encoder.forward"
    )
    parser.add_argument("--output", metavar="FILE.npz", help="also write the tensors there")
    parser.add_argument("inputs", nargs="*", metavar="INPUT", help="the arguments, in order")
    add_trust(parser)
    parser.set_defaults(execute=execute)


def execute(arguments: argparse.Namespace) -> int:
    """Run the command."""
    method = find_method(open_archive(arguments.archive, arguments.trust), arguments.method)
    parameters = method._rushlight_function.signature.arguments[1:]
    args, kwargs = read_inputs(arguments.inputs, parameters)
    try:
        result = method(*args, **kwargs)
    except Exception as error:  # whatever the script raises is the user's to read
        report(error)
        return FAILED
    print(repr(result))
    if arguments.output is not None:
        write_output(arguments.output, result)
    return 0
