"""`rushlight show`: print what an archive's methods were compiled to."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from ..jit import ScriptMethod
from ..typecheck.dump import dump
from .archive import find_method, open_archive
from .failure import CommandError

__all__ = ["add", "execute"]


def _code(method: ScriptMethod) -> str:
    text, constants = method.code_with_constants
    lines = [text.rstrip("\n")]
    lines.extend(f"CONSTANTS.{name} = {value!r}" for name, value in constants.items())
    return "\n".join(lines)


def _graph(method: ScriptMethod) -> str:
    return str(method.graph).rstrip("\n")


def _inlined_graph(method: ScriptMethod) -> str:
    return str(method.inlined_graph).rstrip("\n")


def _instructions(method: ScriptMethod) -> str:
    return method.instructions.rstrip("\n")


def _tree(method: ScriptMethod) -> str:
    function = method._rushlight_function
    function.ensure_defined()  # a loaded method is compiled when it is first needed
    if function.typed is None:
        raise CommandError(f"there is no typed tree of `{method.name}`")
    return dump(function.typed).rstrip("\n")


VIEWS: dict[str, tuple[Callable[[ScriptMethod], str], str]] = {
    "code": (_code, "the source text, as the archive holds it (the default)"),
    "graph": (_graph, "the graph, calls not inlined"),
    "inlined-graph": (_inlined_graph, "the graph with calls inlined"),
    "instructions": (_instructions, "the register code, each instruction with its meaning"),
    "tree": (_tree, "the typed tree: every expression with its type"),
}
"""What can be shown of a method."""


def add(commands: Any) -> None:
    """Describe the command to argparse."""
    parser = commands.add_parser(
        "show",
        help="print the code, graph, typed tree or register code of a method",
        description="Print what a method of an archive was compiled to.",
    )
    parser.add_argument("archive", help="a TorchScript archive (.pt)")
    views = parser.add_mutually_exclusive_group()
    for view, (_, help) in VIEWS.items():
        option = f"--{view}"
        views.add_argument(option, dest="view", action="store_const", const=view, help=help)
    parser.add_argument(
        "--method", default="forward", help="the method, also of a submodule: encoder.forward"
    )
    parser.set_defaults(execute=execute, view="code")


def execute(arguments: argparse.Namespace) -> int:
    """Run the command."""
    method = find_method(open_archive(arguments.archive), arguments.method)
    view, _ = VIEWS[arguments.view]
    print(view(method))
    return 0
