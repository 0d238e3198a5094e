"""The arguments of the command line.

Only what the command that is called takes is read (`arguments/`): help, the version and mistakes in
the arguments do not wait for the compiler.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import Any, Final, NoReturn

from .. import __version__
from ..frontend.diagnostics.cells import clean_lines
from ..frontend.diagnostics.near_miss import near_misses
from .speech import write

__all__ = ["COMMANDS", "all_parsers", "parse", "way_of"]

COMMANDS: Final = {
    "run": "call a method of an archive and print what it returns",
    "map": "call a method for all rows of files, by several processes or machines",
    "show": "print the code, graph, typed tree or register code of a method, or the modules",
    "summary": "print a table of the layers: output shapes, parameters, multiply-adds",
    "profile": "time a method by operator, line and module, and say what runs it",
    "view": "show an archive as a page: modules, graph, code, weights; or compare two",
    "check": "compile every scripted object of a Python file and print all diagnostics",
    "what": "say what kind of file something is",
    "audit": "say what an archive could do, without running it",
    "diff": "compare two archives: code, constants and weights",
    "convert": "write an archive in another form",
    "compile": "compile an archive to an object file and a C header",
    "strip": "list the operators that archives need, and write a bundle with only those",
    "explain": "explain an error code, with examples",
    "lsp": "answer an editor: diagnostics, types, definitions, fixes",
    "warm-up": "compile the kernels of common operators",
    "completions": "print what has a shell complete commands and options",
}
"""The commands, each with what it does.

`arguments/warm_up.py` says what `warm-up` takes, `warm_up.py` does it.
"""


class _Parser(argparse.ArgumentParser):
    """Says what is wrong with the arguments as everything else is said."""

    def _print_message(self, message: str, file: Any = None) -> None:
        write(clean_lines(message), sys.stderr if file is None else file)

    def refuse(self, what: str, word: str, known: Iterable[str]) -> NoReturn:
        """End with an error about a word that is none of those known, and name those near it."""
        near = " or ".join(f"`{name}`" for name in near_misses(word, known))
        self.error(f"{what} {word}" + (f"; did you mean {near}?" if near else ""))


def all_parsers() -> dict[str, argparse.ArgumentParser]:
    """The parser of every command with its arguments."""
    _, each = _parsers(COMMANDS)
    for name, parser in each.items():
        _add_arguments(name, parser)
    return dict(each)


def _add_arguments(name: str, parser: argparse.ArgumentParser) -> None:
    module = import_module(f".arguments.{name.replace('-', '_')}", __package__)
    add: Callable[[argparse.ArgumentParser], None] = module.add
    add(parser)
    parser.set_defaults(command=name)


def way_of(arguments: argparse.Namespace) -> Callable[[argparse.Namespace], int]:
    """What runs the command that was called; its module is imported."""
    module = import_module(f".{arguments.command.replace('-', '_')}", __package__)
    execute: Callable[[argparse.Namespace], int] = module.execute
    return execute


def _parsers(commands: Iterable[str]) -> tuple[_Parser, dict[str, _Parser]]:
    """The parser of some commands, and theirs, which have no arguments yet."""
    parser = _Parser(
        prog="rushlight", description="Compile, check, run and read TorchScript without PyTorch."
    )
    parser.add_argument("--version", action="version", version=f"rushlight {__version__}")
    group = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    return parser, {name: group.add_parser(name, help=COMMANDS[name]) for name in commands}


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Parse the arguments; inputs of `run` may come after options, where argparse leaves them.

    Raises:
        SystemExit: they are wrong, or ask for help or the version alone.
    """
    called = next((word for word in argv if not word.startswith("-")), None)
    comes_first = called is not None and argv[0] == called and called in COMMANDS
    parser, each = _parsers(argv[:1] if comes_first else COMMANDS)  # help shows them all
    if called is not None and called not in each:
        parser.refuse("there is no command", called, each)
    if called is not None:
        _add_arguments(called, each[called])
    arguments, rest = parser.parse_known_args(argv)
    marked = "--" in rest
    if marked:
        rest.remove("--")
    options = [word for word in rest if not marked and re.match(r"-[^\d.]", word)]
    if called is not None and options:
        option = options[0].partition("=")[0]
        each[called].refuse("unrecognized argument", option, each[called]._option_string_actions)
    if rest and "inputs" not in arguments:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    if rest:
        arguments.inputs.extend(rest)
    return arguments
