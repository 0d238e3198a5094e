"""Write docs/coverage.md: for each public name of torch 2.13 whether it is here.

    python tools/make_coverage.py [--print]

`tools/torch_names.txt` holds the names, a module a line.  A name is present; or refused by name: it
exists and says why it does nothing; or planned.
"""

from __future__ import annotations

import importlib
import sys
import textwrap
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import rushlight
from rushlight.refused_names import reason_of

NAMES = ROOT / "tools" / "torch_names.txt"
PAGE = ROOT / "docs" / "coverage.md"
HEAD = """# Names of torch 2.13

What `import torch` gives, module by module, and what of it is here. *Present* means that it works
as in torch on a CPU, or says at the call what of it does not; *refused* names exist, and whoever
calls one is told why; *planned* ones are not here yet. A number in brackets says how many modules a
row stands for. Written by `python tools/make_coverage.py`.
"""


class Row(NamedTuple):
    """The modules of one row, and their names (`module name`) by what they are."""

    modules: list[str]
    present: list[str]
    refused: dict[str, str]
    planned: list[str]

    def told(self) -> str:
        """The row of the table."""
        more = f" ({len(self.modules)})" if len(self.modules) > 1 else ""
        counts = " | ".join(str(len(part)) for part in self[1:])
        return f"| `{_package(self.modules[0])}`{more} | {counts} |"


def _package(module: str) -> str:
    return ".".join(module.split(".")[:3])


def _module(name: str) -> Any:
    """rushlight's module of that name, or `Tensor`; None if there is none."""
    if name == "torch.Tensor":
        return rushlight.Tensor
    try:
        return importlib.import_module("rushlight" + name.removeprefix("torch"))
    except ModuleNotFoundError:
        return None


def _reason(module: Any, name: str) -> str | None:
    """Why a name is refused; None if it is not.

    Raises:
        AttributeError: there is no such name.
    """
    try:
        return reason_of(getattr(module, name))
    except NotImplementedError:  # an attribute of tensors, which says so
        return None


def _sort(row: Row, name: str, words: str) -> None:
    """Put the names of a module into a row."""
    module = _module(name)
    row.modules.append(name)
    if module is None:
        row.planned.append(f"{name} (module)")
    for word in words.split():
        try:
            reason = _reason(module, word)
        except AttributeError:
            row.planned.append(f"{name} {word}")
            continue
        if reason is None:
            row.present.append(f"{name} {word}")
        else:
            row.refused[f"{name} {word}"] = reason


def _rows() -> list[Row]:
    found = dict[str, Row]()
    for line in NAMES.read_text(encoding="utf-8").splitlines():
        name, _, words = line.partition(":")
        _sort(found.setdefault(_package(name), Row([], [], {}, [])), name, words)
    return list(found.values())


def _listed(names: list[str]) -> Iterator[str]:
    """Paragraphs of names, a module each."""
    for module, group in groupby((name.split(" ", 1) for name in names), lambda pair: pair[0]):
        told = f"`{module}`: " + " ".join(name for _, name in group)
        yield from textwrap.wrap(told, 140, break_on_hyphens=False)
        yield ""


def page() -> str:
    """The page's text."""
    rows, reasons = _rows(), dict[str, list[str]]()
    for row in rows:
        for name, reason in row.refused.items():
            reasons.setdefault(reason, []).append(name)
    table = ["| module | present | refused | planned |", "|---|---|---|---|"]
    sums = " | ".join(str(sum(len(row[at]) for row in rows)) for at in (1, 2, 3))
    parts = [HEAD, *table, *(row.told() for row in rows), f"| all | {sums} |", "", "## Refused", ""]
    for reason, names in reasons.items():
        parts += [f"### {reason}", "", *_listed(names)]
    planned = list(_listed([name for row in rows for name in row.planned]))
    return "\n".join([*parts, "## Planned", "", *planned]).rstrip() + "\n"


def main(words: list[str]) -> None:
    """Write or print the page."""
    if "--print" in words:
        print(page(), end="")
        return
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    main(sys.argv[1:])
