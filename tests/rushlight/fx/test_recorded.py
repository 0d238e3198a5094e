"""Graphs, code and errors of `torch.fx` are those of torch 2.13 (`tools/compare_fx.py`)."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

import rushlight
import rushlight.fx.passes.split_module

HERE = Path(__file__).parent
RECORDED = json.loads((HERE / "recorded.json").read_text())


def _cases() -> Any:
    spec = importlib.util.spec_from_file_location("fx_cases", HERE / "cases.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("group", RECORDED)
def test_texts_are_those_of_torch(group: str) -> None:
    assert getattr(_cases(), group)(rushlight) == RECORDED[group]
