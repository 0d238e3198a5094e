"""The arguments of `rushlight show`."""

from __future__ import annotations

import argparse
from typing import Final

from .options import add_json, add_method, add_trust

__all__ = ["VIEWS", "WHOLE", "add"]

VIEWS: Final = {
    "code": "the source text, as the archive holds it (the default)",
    "graph": "the graph, calls not inlined",
    "inlined-graph": "the graph with calls inlined",
    "instructions": "the register code, each instruction with its meaning",
    "tree": "the typed tree: every expression with its type",
}
"""What can be shown of a method."""

WHOLE: Final = {
    "modules": "the tree of modules with their tensors and sizes",
    "constants": "the constants that code names",
    "extra": "the extra files",
    "bytecode": "the instructions of a mobile archive (the default if it has no code)",
}
"""What can be shown of an archive."""


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the command to argparse."""
    parser.description = "Print what an archive holds and what its methods were compiled to."
    parser.add_argument(
        "archives",
        nargs="+",
        metavar="ARCHIVE",
        help="a TorchScript archive (.pt or .ptl) or flatbuffer (.ff), or a folder of them",
    )
    views = parser.add_mutually_exclusive_group()
    for view, help in {**VIEWS, **WHOLE}.items():
        option = f"--{view}"
        views.add_argument(option, dest="view", action="store_const", const=view, help=help)
    add_method(parser)
    add_json(parser)
    add_trust(parser)
    parser.set_defaults(view="")
