"""Cases give what real torch gives: `recorded.json`, by tools/record_cases.py."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parent
if str(FOLDER) not in sys.path:
    sys.path.insert(0, str(FOLDER))

FILES = import_module("values").FILES


def recorded() -> dict[str, Any]:
    """What torch gave, by file and case."""
    held: dict[str, Any] = json.loads((FOLDER / "recorded.json").read_text(encoding="utf-8"))
    return held


def _close(ours: Any, theirs: Any) -> bool:
    """Whether values agree; floats to the digits that are kept, but for the last."""
    if isinstance(theirs, float) and isinstance(ours, float):
        return ours == theirs or abs(ours - theirs) <= 3e-5 * max(abs(ours), abs(theirs))
    if isinstance(theirs, list) and isinstance(ours, list):
        return len(ours) == len(theirs) and all(map(_close, ours, theirs))
    if isinstance(theirs, dict) and isinstance(ours, dict):
        return list(ours) == list(theirs) and all(_close(ours[k], theirs[k]) for k in theirs)
    return bool(ours == theirs)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("file", FILES)
def test_as_recorded(file: str) -> None:
    import rushlight as torch

    wanted = recorded()
    for name, case in import_module(file).CASES.items():
        torch.manual_seed(0)
        ours, theirs = json.loads(json.dumps(case(torch))), wanted[f"{file}.{name}"]
        for place, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            assert _close(one, other), (name, place, one, other)
