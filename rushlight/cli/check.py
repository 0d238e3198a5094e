"""`rushlight check`: compile every scripted object of files and print all diagnostics."""

from __future__ import annotations

import argparse
import json
import linecache
import re
import sys
from collections.abc import Iterable

from ..frontend.diagnostics.diagnostics import Diagnostic, sorted_by_place
from ..frontend.diagnostics.render import render
from ..frontend.diagnostics.terminal import colors_wanted, width_wanted
from .checked_file import Checked, check_file, check_text
from .checked_paths import STDIN, files_of, project_settings
from .failure import FAILED, CommandError
from .fix import apply_fixes
from .progress import progress
from .speech import complain, tell, write

__all__ = ["execute"]


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
