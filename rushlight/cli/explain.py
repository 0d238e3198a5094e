"""`rushlight explain`: the page of an error code, or of an operator."""

from __future__ import annotations

import argparse

from ..frontend.diagnostics import codes
from .failure import CommandError
from .json_lines import tell_data
from .speech import tell

__all__ = ["execute"]


def execute(arguments: argparse.Namespace) -> int:
    """Run the command."""
    if arguments.op is not None:
        from .operator_page import operator_page  # imports all operators

        page = operator_page(arguments.op)
        if arguments.json:
            tell_data({"operator": arguments.op, "text": page})
        else:
            tell(page)
        return 0
    if arguments.code is None:
        width = max(map(len, codes.CODES))
        for code in codes.CODES.values():
            if arguments.json:
                tell_data({"code": code.slug, "line": code.line})
                continue
            tell(f"{code.slug:{width}}  {code.line}")
        return 0
    try:
        text = codes.explain(arguments.code)
    except KeyError as error:
        raise CommandError(error.args[0]) from None
    if arguments.json:
        tell_data({"asked": arguments.code, "text": text.rstrip("\n")})
    else:
        tell(text.rstrip("\n"))
    return 0
