"""What needs no package `onnx`: the table of ONNX forms, its page, and what is said without it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import rushlight as torch
from rushlight.onnx.families import load_operators
from rushlight.onnx.table import COMPLEX, EXPORTS, PARTS, TAKING_COMPLEX
from rushlight.ops.table.table import TABLE

PAGE = Path(__file__).resolve().parents[3] / "docs" / "onnx.md"


def test_every_form_is_of_an_operator() -> None:
    load_operators()
    assert torch.ops.torchvision.nms  # declared when it is first asked for
    assert set(EXPORTS) | set(COMPLEX) <= set(TABLE.names())


def test_the_page_lists_the_table() -> None:
    load_operators()
    text, _, plain = PAGE.read_text(encoding="utf-8").partition("## Operators\n")
    _, _, over_complex = text.partition("## Operators over complex numbers\n")
    names = {*COMPLEX, *PARTS, *TAKING_COMPLEX}
    for listed, wanted in ((plain, set(EXPORTS)), (over_complex, names)):
        found = listed.replace("`", "").replace(",", "").split()
        assert found == sorted(name.removeprefix("aten::") for name in wanted)


def test_the_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(torch.onnx.OnnxExporterError, match=r"pip install rushlight\[onnx\]"):
        torch.onnx.export(torch.nn.ReLU(), (torch.ones(1),), "never.onnx")
    assert not Path("never.onnx").exists()


def test_what_is_not_supported_is_named() -> None:
    with pytest.raises(torch.onnx.OnnxExporterError, match="`custom_opsets`"):
        torch.onnx.export(torch.nn.ReLU(), (torch.ones(1),), custom_opsets={"mine": 1})
