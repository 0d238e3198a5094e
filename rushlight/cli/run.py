"""`rushlight run`: call a method of an archive."""

from __future__ import annotations

import argparse

from .archive import find_method, open_archive
from .atomic import refuse_existing
from .failure import FAILED, report
from .inputs import read_inputs
from .json_lines import tell_data
from .output import plain_data, write_output
from .progress import progress
from .speech import complain, script_output, tell

__all__ = ["execute"]


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
