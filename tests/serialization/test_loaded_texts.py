"""Graphs and errors of loaded archives are, character by character, those of PyTorch
(`loaded_texts/record.py` wrote them down)."""

from __future__ import annotations

import io
import linecache
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import rushlight as torch

FOLDER = Path(__file__).parent / "loaded_texts"
FILENAME = "callers.py"


@pytest.fixture(scope="module")
def program() -> ModuleType:
    text = (FOLDER / FILENAME).read_text(encoding="utf-8").replace("import torch", "", 1)
    linecache.cache[FILENAME] = (len(text), None, text.splitlines(keepends=True), FILENAME)
    module = ModuleType("callers")
    module.__dict__["torch"] = torch
    exec(compile(text, FILENAME, "exec", dont_inherit=True), module.__dict__)
    return module


def _expected() -> dict[str, str]:
    parts = (FOLDER / "expected.txt").read_text(encoding="utf-8").split("==== ")[1:]
    return dict(part.split("\n", 1) for part in parts)


def _texts(loaded: Any) -> str:
    with pytest.raises((RuntimeError, torch.jit.Error)) as caught:
        loaded(torch.ones(2), torch.ones(3))
    graphs = f"{loaded.graph}---- inlined\n{loaded.inlined_graph}"
    return f"{graphs}---- error\n{caught.value}\n"


@pytest.mark.filterwarnings("ignore:sizes differ")
@pytest.mark.parametrize("name", _expected())
def test_loaded_texts_are_those_of_torch(
    name: str, program: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "callers", program)
    buffer = io.BytesIO()
    torch.jit.save(torch.jit.script(getattr(program, name)()), buffer)
    buffer.seek(0)
    found, wanted = (
        re.sub(r"warn_id=\d+", "warn_id=0", text)  # which counts those of the process
        for text in (_texts(torch.jit.load(buffer)), _expected()[name])
    )
    assert found.strip() == wanted.strip()
