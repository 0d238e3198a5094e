"""`rushlight check`: compile every scripted object of files and print all diagnostics."""

from __future__ import annotations

import argparse
import json
import linecache
import re
import sys
from collections.abc import Iterable

from ..frontend.diagnostics import Diagnostic, sorted_by_place
from ..frontend.render import FORMATS, MAXIMUM, render
from ..frontend.terminal import colors_wanted, width_wanted
from .checked_file import Checked, check_file, check_text
from .checked_paths import STDIN, files_of, project_settings
from .failure import FAILED, CommandError
from .fix import apply_fixes
from .progress import progress
from .speech import complain, tell, write

__all__ = ["add", "execute"]


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the command to argparse."""
    parser.description = (
        "Run each file as a module (not as a program: `if __name__ == '__main__'` is skipped) "
        "in which `import torch` gives rushlight, compile what it scripts, and print all "
        "diagnostics. Of a folder the Python files that import torch are taken; without any, the "
        "`paths` of [tool.rushlight] in pyproject.toml, which may also name files to `exclude` and "
        "codes to `ignore`. Exit status 1 if there are errors."
    )
    parser.add_argument(
        "files", nargs="*", metavar="PATH", help="a Python file, a folder, or - for standard input"
    )
    parser.add_argument("--format", choices=list(FORMATS), default="rich", help="default: rich")
    parser.add_argument(
        "--json",
        dest="format",
        action="store_const",
        const="json",
        help="the same as --format json",
    )
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
    parser.add_argument(
        "-q", "--quiet", action="store_true", help="print the diagnostics and nothing else"
    )
    parser.set_defaults(execute=execute)


def _count(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 on")
    return int(text)


def execute(arguments: argparse.Namespace) -> int:
    """Run the command."""
    settings = project_settings()
    files = files_of(arguments.files, settings)
    if arguments.fix and STDIN in files:
        raise CommandError("check: --fix changes files; standard input is none")
    checked = {path: _check(path) for path in progress(files, "checking")}
    found = [d for d in _distinct(checked.values()) if d.code not in settings.ignore]
    if arguments.fix:
        fixed = apply_fixes(sorted_by_place(found))
        if fixed:  # what is left is found anew, in the files as they are now
            complain(f"{fixed} fixed")
            linecache.checkcache()
            arguments.fix = False
            return execute(arguments)
    _print(found, arguments)
    if not arguments.quiet:
        _remark(checked, found, arguments.format)
    return FAILED if any(d.severity != "warning" for d in found) else 0


def _check(path: str) -> Checked:
    return check_text(sys.stdin.read()) if path == STDIN else check_file(path)


def _distinct(checked: Iterable[Checked]) -> list[Diagnostic]:
    """The diagnostics, each once: files import others, and may script one object twice."""
    found = {json.dumps(d.to_dict()): d for each in checked for d in each.diagnostics}
    return list(found.values())


def _print(found: Iterable[Diagnostic], arguments: argparse.Namespace) -> None:
    width, color = width_wanted(sys.stdout), colors_wanted(sys.stdout)
    text = render(
        found, arguments.format, width=width, color=color, max_errors=arguments.max_errors
    )
    write(text.rstrip("\n") + "\n" if text else "", sys.stdout)


def _remark(checked: dict[str, Checked], found: list[Diagnostic], format: str) -> None:
    """Say what the diagnostics do not: files not read to their end, and that all is well."""
    for each in checked.values():
        if each.stopped:
            complain(f"{each.stopped}: not checked from here on, for what failed above")
    scripted = sum(each.scripted for each in checked.values())
    if found or format != "rich":
        return
    files = "1 file" if len(checked) == 1 else f"{len(checked)} files"
    if scripted:
        tell(f"no errors in {files}")
        return
    if not checked:
        tell("there are no Python files that import torch")
        return
    why = '; what stands under `if __name__ == "__main__":` is not run'
    tell(f"nothing is scripted in {files}{why if any(map(_scripts_as_program, checked)) else ''}")


_GUARD = re.compile(r"^if __name__ == .*", re.MULTILINE | re.DOTALL)


def _scripts_as_program(path: str) -> bool:
    """Whether a file scripts or traces something when it is run as a program alone."""
    found = _GUARD.search("".join(linecache.getlines(path)))
    return found is not None and re.search(r"\bjit\.(script|trace)\b", found[0]) is not None
