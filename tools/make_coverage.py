"""Write docs/coverage.md: for each public name of torch 2.13 whether it is here.

    python tools/make_coverage.py [--print]

`tools/torch_names.txt` holds the names, a module a line.  A name is present; or refused by name: it
exists and says why it does nothing; or planned.
"""

from __future__ import annotations

import importlib
import sys
import textwrap
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import rushlight
from rushlight.refused import REASONS, refused

NAMES = ROOT / "tools" / "torch_names.txt"
PAGE = ROOT / "docs" / "coverage.md"
HEAD = """# Names of torch 2.13

What `import torch` gives, module by module, and what of it is here. *Present* means that it works
as in torch on a CPU, or says at the call what of it does not; *refused* names exist, and whoever
calls one is told why; *planned* ones are not here yet. Written by `python tools/make_coverage.py`.
"""


def _module(name: str) -> Any:
    """rushlight's module of that name, or `Tensor`; None if there is none."""
    if name == "torch.Tensor":
        return rushlight.Tensor
    try:
        return importlib.import_module("rushlight" + name.removeprefix("torch"))
    except ModuleNotFoundError:
        return None


def _has(module: Any, name: str) -> bool:
    try:
        return hasattr(module, name)
    except NotImplementedError:
        return True


def page() -> str:
    """The page's text."""
    rows, planned, counts = list[str](), list[str](), [0, 0, 0]
    for line in NAMES.read_text(encoding="utf-8").splitlines():
        module_name, _, words = line.partition(": ")
        names, module = words.split(), _module(module_name)
        turned = {n for n in names if module_name == "torch" and refused(n) is not None}
        present = {n for n in names if module is not None and _has(module, n)} - turned
        missing = sorted(set(names) - present - turned)
        rows.append(f"| `{module_name}` | {len(present)} | {len(turned)} | {len(missing)} |")
        counts = [a + len(b) for a, b in zip(counts, (present, turned, missing), strict=True)]
        if missing:
            told = " ".join(missing) if module is not None else "the whole module"
            planned += [f"**`{module_name}`**", "", *textwrap.wrap(told, 140), ""]
    reasons = [
        line
        for reason, names in REASONS.items()
        for line in (f"**{reason}**", "", *textwrap.wrap(" ".join(names.split()), 140), "")
    ]
    table = ["| module | present | refused | planned |", "|---|---|---|---|", *rows]
    table.append("| all | {} | {} | {} |".format(*counts))
    parts = [HEAD, *table, "", "## Refused names of `torch`", "", *reasons]
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
