"""State of a process has an owner: no `global`, and no list of one element as a cell."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PARTS = "frontend typecheck ops ir interpreter serialization rushlight".split()
GLOBAL = re.compile(r"^ +global (\w+(?:, \w+)*)$", re.M)
CELL = re.compile(r"^(\w+)(?:: [^=\n]+)? = \[[^\[\],]*\]$", re.M)

KNOWN = {
    # names that programs of torch's users read and set themselves
    "rushlight/backends/opt_einsum.py": {"enabled", "strategy"},
    "rushlight/nn/backward_hooks.py": {"_global_is_full_backward_hook"},
    "rushlight/nn/utils/parametrize.py": {"_cache", "_cache_enabled"},
    "rushlight/utils/data/_utils/signal_handling.py": {"_SIGCHLD_handler_set"},
    "rushlight/utils/data/_utils/worker.py": {"_worker_info"},
    # read at each operator, by code that is written as text too
    "ops/memory/inference.py": {"MADE"},
    "ops/gradients/nodes/packing.py": {"PACKED"},
}


def _is_set_in_a_function(name: str, text: str) -> bool:
    return re.search(rf"^ +(?:.*, )?{name}\[0\](?:, .*)? [-+|]?= ", text, re.M) is not None


def _cells(text: str) -> set[str]:
    """What functions bind anew, or set in place, of a module's names."""
    found = {name for names in GLOBAL.findall(text) for name in names.split(", ")}
    return found | {name for name in CELL.findall(text) if _is_set_in_a_function(name, text)}


@pytest.mark.parametrize("part", PARTS)
def test_state_has_an_owner(part: str) -> None:
    found = {}
    for file in sorted((ROOT / part).rglob("*.py")):
        name = file.relative_to(ROOT).as_posix()
        if cells := _cells(file.read_text(encoding="utf-8")) - KNOWN.get(name, set()):
            found[name] = cells
    assert not found, "see `frontend/foundations/chosen.py`, or make it an object's attribute"


def test_what_is_known_is_there() -> None:
    for name, cells in KNOWN.items():
        assert _cells((ROOT / name).read_text(encoding="utf-8")) == cells


def test_a_cell_is_found() -> None:
    assert _cells("_ON = [True]\n\ndef f():\n    _ON[0] = False\n") == {"_ON"}
    assert _cells("_ON: Final[list[int]] = [3]\n\ndef f():\n    a, _ON[0] = _ON[0], 2\n") == {"_ON"}
    assert _cells("def f():\n    global _A, _B\n") == {"_A", "_B"}
    assert not _cells("_ON = [True]\n\ndef f():\n    return _ON[0]\n")
