"""Write docs/operators.md and docs/errors.md: `python tools/make_docs.py [FOLDER] [--print]`.

FOLDER holds a schemas.txt with one schema of torch's a line; with it, docs/operators.md also says
which of those names do not exist here.  `--print` prints the list of operators and writes nothing.
"""

from __future__ import annotations

import json
import re
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

import numpy as np
from spelling import returned, signatures

import rushlight.ops
import rushlight.ops.tensor_lists.calls  # noqa: F401  (fills the table, as all of ops does)
from rushlight.frontend.diagnostics.codes import CODES
from rushlight.ops.eager.dispatch import eager_function
from rushlight.ops.table.table import TABLE

SAMPLES = ROOT / "tests" / "ops" / "data" / "operators.npz"
HEADING = "## Operators that do not exist here"


def _overloads(name: str) -> list[str]:
    """The overloads of a name in Python's spelling; in schema words for script's own."""
    function = eager_function(name)
    lines = []
    for given, form in signatures(function):
        words = ", ".join(given)
        lines.append(f"({words}) -> {returned(form)[0]}")
    lines = [re.sub(r"(?<!\w)_(?=[A-Za-z])(?!\w*:)", "", line) for line in lines]
    eager = {form.entry.full_name for form in function.forms}
    for entry in TABLE.operators(name):
        if entry.full_name not in eager and not entry.schema.endswith("out) -> Tensor(a!)"):
            lines.append("in script: (" + entry.schema.partition("(")[2])
    return list(dict.fromkeys(lines))


def _tested() -> dict[str, list[str]]:
    """By operator name: the dtypes of the first tensors of its recorded samples."""
    found: dict[str, set[str]] = {}
    for function, samples in json.loads(np.load(SAMPLES)["text"].tobytes()):
        words = function.removeprefix("nn.functional.").removeprefix("Tensor.").split(".")
        dtypes = {
            part["t"][0]
            for sample in samples
            for part in _flat(sample["a"])
            if "r" in sample and isinstance(part, dict) and "t" in part
        }
        for name in ("_".join(words), words[-1]):
            if TABLE.operators(f"aten::{name}"):
                found.setdefault(f"aten::{name}", set()).update(dtypes)
                break
    return {name: sorted(dtypes) for name, dtypes in found.items() if dtypes}


def _flat(records: list[object]) -> list[object]:
    """The first argument, and the first element of it if it is a list."""
    first = records[0] if records else None
    if isinstance(first, dict) and next(iter(first)) in "lu":
        inner = next(iter(first.values()))
        return inner[:1]
    return [first]


def existing_text() -> str:
    """The part of docs/operators.md that follows from the table and the recorded samples."""
    tested = _tested()
    names = sorted(name for name in TABLE.names() if name.startswith("aten::"))
    lines = [
        "# Operators",
        "",
        "Written by tools/make_docs.py: change the operator table, not this file.",
        "",
        f"{len(names)} operators exist, each with these overloads. Where dtypes follow a name, the",
        f"tests compare the operator with torch for these ({len(tested)} operators; more tests are",
        "by family).",
        "",
        "## Operators that exist",
        "",
    ]
    for name in names:
        dtypes = f": {', '.join(tested[name])}" if name in tested else ""
        lines.append(f"- `{name.removeprefix('aten::')}`{dtypes}")
        lines += [f"  - `{overload}`" for overload in _overloads(name)]
    return "\n".join(lines) + "\n"


def missing_text(folder: Path) -> str:
    """The names of a list of torch's schemas that the table lacks."""
    schemas = (folder / "schemas.txt").read_text(encoding="utf-8").splitlines()
    named = {line.partition("(")[0].partition(".")[0].strip() for line in schemas}
    missing = sorted(n for n in named if n.startswith("aten::") and not TABLE.operators(n))
    words = ", ".join(f"`{name.removeprefix('aten::')}`" for name in missing)
    wrapped = textwrap.fill(words, 100, break_long_words=False, break_on_hyphens=False)
    return f"\n{HEADING}\n\nOf torch 2.13's, these {len(missing)} names:\n\n{wrapped}\n"


def errors_text() -> str:
    """docs/errors.md: every error code with its reason and its two examples."""
    parts = ["# Error codes\n\nWritten by tools/make_docs.py from frontend/codes.py.\n"]
    for slug in sorted(CODES):
        code = CODES[slug]
        bad, good = (textwrap.dedent(text).strip("\n") for text in (code.bad, code.good))
        why = textwrap.fill(code.why, 100)
        parts.append(
            f"## {slug}\n\n{code.line}\n\n{why}\n\nThis has the error:\n\n```python\n{bad}\n```\n\n"
            f"This does not:\n\n```python\n{good}\n```\n"
        )
    return "\n".join(parts)


def _kept_missing(file: Path) -> str:
    """The part on missing operators that was written before."""
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    return "\n" + text[text.index(HEADING) :] if HEADING in text else ""


def main(words: list[str]) -> None:
    """Write both pages."""
    if "--print" in words:
        print(existing_text(), end="")
        return
    page = ROOT / "docs" / "operators.md"
    missing = missing_text(Path(words[0])) if words else _kept_missing(page)
    page.write_text(existing_text() + missing, encoding="utf-8")
    (ROOT / "docs" / "errors.md").write_text(errors_text(), encoding="utf-8")
    print("wrote docs/operators.md and docs/errors.md")


if __name__ == "__main__":
    main(sys.argv[1:])
