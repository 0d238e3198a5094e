"""`rushlight profile`: what calls of a method take, by operator, line and module."""

from __future__ import annotations

import argparse
import os
from contextlib import redirect_stdout
from typing import Any

from ..ops.table.grad_mode import grad_mode_set, is_grad_enabled
from .archive import find_method, open_archive
from .atomic import refuse_existing, replacing
from .failure import FAILED, report
from .inputs import read_inputs
from .json_lines import tell_data
from .speech import tell_lines

__all__ = ["execute"]


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
