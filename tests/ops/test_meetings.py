"""Tensors that meet 0-d tensors and numbers: dtypes and values as torch's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import rushlight as torch
from tools.record_meetings import OPERATORS, call, cases, outcome

RECORDED = json.loads((Path(__file__).parent / "data" / "meetings.json").read_text("utf-8"))


def _close(wanted: Any, found: Any) -> bool:
    if isinstance(wanted, str) or isinstance(found, str) or wanted[0] != found[0]:
        return bool(wanted == found)
    pairs = zip(wanted[1].split(), found[1].split(), strict=True)
    return all(a == b or abs(float(a) - float(b)) <= 1e-5 * abs(float(a)) for a, b in pairs)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", OPERATORS)
def test_as_torch(name: str) -> None:
    function = call(name)
    different = [
        (label, wanted, found)
        for (label, a, b), wanted in zip(cases(torch), RECORDED[name], strict=True)
        if not _close(wanted, found := outcome(torch, function, a, b))
    ]
    assert not different


def test_whole_numbers_become_floats_before_they_are_divided() -> None:
    found = torch.tensor([1, 200], dtype=torch.uint8) / torch.tensor(-3)
    assert found.tolist() == pytest.approx([-1 / 3, -200 / 3])
    assert (torch.tensor([3], dtype=torch.uint8) > -1).tolist() == [False]  # -1 becomes 255


def test_numbers_too_large() -> None:
    half, bytes_ = torch.ones(2, dtype=torch.float16), torch.ones(2, dtype=torch.uint8)
    for call_, name in (
        (lambda: half.clamp(1e30), "c10::Half"),
        (lambda: bytes_.clamp(max=300), "uint8_t"),
        (lambda: torch.full((2,), 1e300), "float"),
        (lambda: torch.add(half, half, alpha=1e30), "c10::Half"),
        (lambda: half.fill_(70000), "c10::Half"),
    ):
        with pytest.raises(RuntimeError, match=f"cannot be converted to type {name} without"):
            call_()
    with pytest.raises(OverflowError, match="int too big to convert"):
        half + 2**70
