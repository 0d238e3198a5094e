"""`rushlight run`: call a method of an archive."""

from __future__ import annotations

import argparse

from .archive import add_trust, find_method, open_archive
from .atomic import add_force, refuse_existing
from .failure import FAILED, report
from .inputs import read_inputs
from .json_lines import add_json, tell_data
from .output import plain_data, write_output
from .progress import progress
from .speech import complain, script_output, tell

__all__ = ["add", "execute"]


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the command to argparse."""
    parser.description = (
        "Call a method of an archive and print what it returns. An input is a Python literal "
        "(nested lists become tensors where the method takes one), an .npy file, an .npz file "
        "(arrays by parameter name, or arr_0, arr_1 ... in order), FILE.npz:NAME, or "
        "NAME=INPUT. Write -- before inputs that begin with a minus sign."
    )
    parser.add_argument("archive", help="a TorchScript archive (.pt)")
    parser.add_argument(
        "--method", default="forward", help="the method, also of a submodule: encoder.forward"
    )
    parser.add_argument("--output", metavar="FILE.npz", help="also write the tensors there")
    parser.add_argument(
        "--each",
        action="store_true",
        help="call the method once for every INPUT; a terminal shows how far it is",
    )
    parser.add_argument("inputs", nargs="*", metavar="INPUT", help="the arguments, in order")
    add_json(parser)
    add_force(parser)
    add_trust(parser)
    parser.set_defaults(execute=execute)


def execute(arguments: argparse.Namespace) -> int:
    """Run the command."""
    if arguments.output is not None:
        refuse_existing([arguments.output], arguments.force)
    method = find_method(open_archive(arguments.archive, arguments.trust), arguments.method)
    parameters = method._rushlight_function.signature.arguments[1:]
    groups = [[word] for word in arguments.inputs] if arguments.each else [arguments.inputs]
    results: list[object] = []
    for words in progress(groups, "running"):
        args, kwargs = read_inputs(words, parameters)
        try:
            with script_output(arguments.trust):
                results.append(method(*args, **kwargs))
        except Exception as error:  # whatever the script raises is the user's to read
            if arguments.each:
                complain(f"input {len(results)}: {words[0]}")
            report(error)
            return FAILED
    for number, result in enumerate(results):
        if arguments.json:
            data = {"file": arguments.archive, "method": arguments.method}
            told = {"input": arguments.inputs[number]} if arguments.each else {}
            tell_data({**data, **told, "result": plain_data(result)})
            continue
        tell(f"{arguments.inputs[number]}: {result!r}" if arguments.each else repr(result))
    if arguments.output is not None:
        write_output(arguments.output, results if arguments.each else results[0])
    return 0
