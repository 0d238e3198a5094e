"""`rushlight check`: compile every scripted object of a file and print all diagnostics.

The file is run as a module in which `import torch` gives rushlight; a failing `script(...)` does
not stop it.  What the file prints goes to standard error.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.machinery
import importlib.util
import linecache
import re
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from ..frontend.diagnostics import Diagnostic, sorted_by_place
from ..frontend.render import FORMATS, MAXIMUM, render
from ..frontend.terminal import colors_wanted, width_wanted
from ..jit import collecting
from .alias import torch_is_rushlight
from .failure import BAD_INPUT, FAILED, CommandError, diagnostics_of, one_line
from .fix import apply_fixes
from .speech import complain, write

__all__ = ["Checked", "add", "check_file", "execute"]


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the command to argparse."""
    parser.description = (
        "Run each file as a module (not as a program: `if __name__ == '__main__'` is skipped) "
        "in which `import torch` gives rushlight, compile what it scripts, and print all "
        "diagnostics. Exit status 1 if there are errors."
    )
    parser.add_argument("files", nargs="+", metavar="FILE.py")
    parser.add_argument("--format", choices=list(FORMATS), default="rich", help="default: rich")
    parser.add_argument(
        "--max-errors",
        type=_count,
        default=MAXIMUM,
        metavar="N",
        help=f"print at most N diagnostics in the rich form (default: {MAXIMUM})",
    )
    parser.add_argument(
        "--fix",
        action="store_true",
        help="apply the edits that are sure to be right; a file is changed whole or not at all",
    )
    parser.set_defaults(execute=execute)


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


@dataclass(frozen=True)
class Checked:
    """What was found in a file; `raised` is the file's own error, if it stopped with one."""

    diagnostics: list[Diagnostic]
    raised: str = ""


def execute(arguments: argparse.Namespace) -> int:
    """Run the command."""
    found: list[Diagnostic] = []
    stopped = False
    for path in arguments.files:
        checked = check_file(path)
        found.extend(d for d in checked.diagnostics if d not in found)
        if checked.raised:
            complain(checked.raised)
            stopped = True
    if arguments.fix:
        fixed = apply_fixes(sorted_by_place(found))
        if fixed:  # what is left is found anew, in the files as they are now
            complain(f"{fixed} fixed")
            linecache.checkcache()
            arguments.fix = False
            return execute(arguments)
    width, color = width_wanted(sys.stdout), colors_wanted(sys.stdout)
    text = render(
        found, arguments.format, width=width, color=color, max_errors=arguments.max_errors
    )
    write(text.rstrip("\n") + "\n" if text else "", sys.stdout)
    if stopped:
        return BAD_INPUT
    return FAILED if any(d.severity != "warning" for d in found) else 0


def check_file(path: str) -> Checked:
    """Run one file and gather the diagnostics of all it scripts.

    Raises:
        CommandError: there is no such file.
    """
    if not Path(path).is_file():
        raise CommandError(f"{path}: no such file")
    with torch_is_rushlight(), _as_program(path), collecting() as found:
        try:
            _run(path)
        except SystemExit as stop:
            code = stop.code
            raised = "" if not code else f"{path}: the file called sys.exit({code!r})"
            return Checked(found, raised)
        except Exception as error:
            carried = diagnostics_of(error)
            if carried:
                return Checked([*found, *carried])
            return Checked(found, _story(error, path, after_errors=bool(found)))
    return Checked(found)


def _run(path: str) -> ModuleType:
    name = re.sub(r"\W", "_", Path(path).stem)
    name = name if name.isidentifier() else f"_{name}"  # class names of archives hold it
    while name in sys.modules:  # a file may be called like a module that is loaded already
        name += "_checked"
    loader = importlib.machinery.SourceFileLoader(name, path)
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    loader.exec_module(module)
    return module


@contextlib.contextmanager
def _as_program(path: str) -> Iterator[None]:
    """Let the file find its neighbours, see itself as `sys.argv`, and print to standard error."""
    argv, modules, where = sys.argv, set(sys.modules), list(sys.path)
    cached = sys.dont_write_bytecode
    sys.argv, sys.dont_write_bytecode = [path], True
    sys.path.insert(0, str(Path(path).resolve().parent))
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        sys.argv, sys.path[:], sys.dont_write_bytecode = argv, where, cached
        for name in set(sys.modules) - modules:
            if _is_beside(sys.modules[name], path):
                del sys.modules[name]


def _is_beside(module: ModuleType, path: str) -> bool:
    """Whether a module comes from the file's folder: another file may have one of that name."""
    file = getattr(module, "__file__", None)
    return file is not None and Path(file).resolve().parent == Path(path).resolve().parent


def _story(error: Exception, path: str, *, after_errors: bool) -> str:
    """One line about an error of the file itself, with the line of the file it came from."""
    line = ""
    if isinstance(error, SyntaxError):
        line = f":{error.lineno}" if error.lineno else ""
        text = error.msg
    else:
        text = one_line(error)
        frames = traceback.extract_tb(error.__traceback__)
        own = [frame for frame in frames if Path(frame.filename) == Path(path)]
        line = f":{own[-1].lineno}" if own else ""
    because = "; this may follow from the errors shown" if after_errors else ""
    kind = type(error).__name__
    return f"{path}{line}: the file itself raised {kind}: {text}{because}"
