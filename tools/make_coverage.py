"""Write docs/coverage.md: for each public name of torch 2.13 whether it is here.

    python tools/make_coverage.py [--print]

`tools/torch_names.txt` holds the names, a module a line.  A name is present; or refused by name: it
exists and says why it does nothing; or planned.
"""

from __future__ import annotations

import importlib
import math
import re
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

The share says how many of the names that mean something on a CPU are present. Left out of it are:

{left_out}

All other refused and planned names count as missing.
"""

LEFT_OUT = {
    "other devices and their libraries": (
        "torch.cuda torch.xpu torch.mps torch.mtia torch.backends.cuda torch.backends.cudnn "
        "torch.backends.mps torch.backends.cusparselt torch.backends.miopen torch.utils.hipify "
        "torch.sparse.semi_structured torch.utils.mkldnn",
        "steers a device|calls a vendor's library|needs CUDA|stores two of four values for a device"
        "|computes with weights packed for a vendor|says how other devices' storages"
        "|reads what NVIDIA's",
    ),
    "torch's compilers, their tracers and programs exported for them": (
        "torch.compiler torch.export torch.fx.experimental torch.fx.config torch.fx.traceback",
        "belongs to torch's own tracing below|is a pass for torch's own compilers"
        "|reads logs of torch's own compilers|chooses among the checks of torch's compiler"
        "|is a size that torch's tracers leave open|replaces an optimizer's tensors for torch's tr",
    ),
    "several processes": (
        "torch.distributed torch.nn.parallel torch.numa torch.backends.xeon",
        "rushlight runs one process|is an inner part of torch's own processes"
        "|says how other processes read|binds processes",
    ),
    "ONNX and pruning of models, and what is left of quantization, which are planned as a whole": (
        "torch.onnx torch.ao torch.quantization torch.nn.quantized torch.nn.intrinsic torch.nn.qat "
        "torch.nn.quantizable torch.jit.quantized",
        "rushlight runs quantized archives|searches a range for rows of quantized",
    ),
    "inner parts of torch, tests and tools for its own C++ sources, and what torch has removed": (
        "torch.utils.cpp_extension torch.nn.cpp torch.utils.jit",
        "is an inner part of|is an example of torch's|is a test of torch's|logs gradients of torch"
        "|makes random operands for torch's own|counts instructions by valgrind|tells of C\\+\\+"
        "|waits for a file of another process's build|was removed from torch|was a trial of",
    ),
}
"""What has no place in the share: modules, and how reasons for refusing names begin."""


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
        return f"| `{_package(self.modules[0])}`{more} | {counts} | {_share([self])} |"

    def meaningful(self) -> tuple[int, int]:
        """How many names mean something on a CPU and are present, and how many are missing."""
        present = sum(not _is_left_out(name) for name in self.present)
        missing = sum(not _is_left_out(name, why) for name, why in self.refused.items())
        return present, missing + sum(not _is_left_out(name) for name in self.planned)


def _is_left_out(name: str, reason: str = "") -> bool:
    """Whether a name (`module name`), refused for a reason if there is one, has no place in the
    share."""
    module = name.partition(" ")[0]
    for modules, reasons in LEFT_OUT.values():
        if any(module == each or module.startswith(f"{each}.") for each in modules.split()):
            return True
        if reason and re.match(reasons, reason):
            return True
    return False


def _share(rows: list[Row]) -> str:
    present, missing = (sum(counts) for counts in zip(*(r.meaningful() for r in rows), strict=True))
    if not present + missing:
        return "-"
    share = math.floor(1000 * present / (present + missing)) / 10
    return f"{present} of {present + missing}, {share} %"


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
    table = ["| module | present | refused | planned | share |", "|---|---|---|---|---|"]
    sums = " | ".join(str(sum(len(row[at]) for row in rows)) for at in (1, 2, 3))
    left_out = "\n".join(f"- {what}" for what in LEFT_OUT)
    parts = [HEAD.format(left_out=left_out), *table, *(row.told() for row in rows)]
    parts += [f"| all | {sums} | {_share(rows)} |", "", "## Refused", ""]
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
