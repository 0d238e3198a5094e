"""Typical mistakes, each a program of its own: one error, of the right code, at the right place;
where there is an edit, it makes the program right.

`mistakes.txt` has them: `#== what | code | the text that is marked | edit`, then the program.
(Of a module that Python has built in, some Pythons find the source, so there are two codes.)
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from rushlight.cli.checked_file import check_file
from rushlight.cli.fix import apply_fixes
from rushlight.frontend.diagnostics.diagnostics import Diagnostic, Help

PRELUDE = (
    "import torch\nfrom torch import nn\n"
    "from typing import Any, Callable, Dict, List, Optional, Tuple, Union\n\n"
)
_numbers = itertools.count()
LOOSE = re.compile(r"[(\[] *,|, *[)\]]|[(\[] |,,| $", re.MULTILINE)
"""What is left behind where an edit removes too little."""


@dataclass(frozen=True)
class Mistake:
    """A program, the code of its error, what is marked, and whether an edit is offered."""

    what: str
    code: str
    marked: str
    edit: bool
    program: str


def mistakes() -> list[Mistake]:
    text = (Path(__file__).parent / "mistakes.txt").read_text(encoding="utf-8")
    found = []
    for part in text.split("#== ")[1:]:
        head, _, program = part.partition("\n")
        what, code, marked, edit = (word.strip() for word in head.split("|"))
        found.append(Mistake(what, code, marked, edit == "edit", PRELUDE + program))
    return found


def errors(folder: Path, program: str) -> list[Diagnostic]:
    """The errors of a program, in a file that was never read before."""
    file = folder / f"mistake_{next(_numbers)}.py"
    file.write_text(program, encoding="utf-8")
    return [d for d in check_file(str(file)).diagnostics if d.severity != "warning"]


def without(folder: Path, found: Diagnostic, help: Help) -> list[Diagnostic]:
    """The errors that are left when the edits of a help are applied."""
    assert found.primary is not None
    file = found.primary.span.filename
    assert file is not None
    before = Path(file).read_text(encoding="utf-8")
    sure = replace(found, helps=(replace(help, applicability="machine"),))
    assert apply_fixes([sure]) == 1
    after = Path(file).read_text(encoding="utf-8")
    assert LOOSE.search(after) is None, after
    Path(file).write_text(before, encoding="utf-8")
    return errors(folder, after)


@pytest.mark.parametrize("mistake", mistakes(), ids=lambda mistake: mistake.what)
def test_one_error_at_its_place_with_an_edit_that_works(mistake: Mistake, tmp_path: Path) -> None:
    (found,) = errors(tmp_path, mistake.program)
    assert found.code in mistake.code.split(" or ")
    assert found.primary is not None
    assert found.primary.span.text.startswith(mistake.marked)
    helps = [help for help in found.helps if help.edits]
    assert bool(helps) == mistake.edit, helps
    for each in helps:
        assert without(tmp_path, found, each) == []


def test_there_are_many() -> None:
    assert len({mistake.what for mistake in mistakes()}) >= 180
