"""What is not used any more is freed: see also `tools/soak.py`."""

from __future__ import annotations

import copy
import gc
import importlib.util
import linecache
import pickle
import sys
from functools import wraps
from pathlib import Path
from typing import Any
from weakref import ref

import numpy as np
import pytest

import rushlight as torch
from rushlight import nn
from rushlight.frontend.foundations.kept import KeptWith
from rushlight.ops.memory.remembered import remembered

SOURCE = """
import enum
import rushlight as torch
from rushlight import Tensor, nn

class Color(enum.Enum):
    RED = 1

class Point:
    def __init__(self, x: int):
        self.x = x

def helper(x: Tensor) -> Tensor:
    return x + Point(1).x

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.ModuleList([nn.Linear(2, 2)])
        self.color = Color.RED
    def forward(self, x: Tensor) -> Tensor:
        if self.color == Color.RED:
            x = helper(x)
        for layer in self.inner:
            x = layer(x)
        return x

def mistake(x: Tensor) -> Tensor:
    return x.no_such_method()
"""


def last_run(x: int) -> int:
    """What ran last is kept: its graph can be asked for."""
    return x


def test_programs_are_freed(tmp_path: Path) -> None:
    path = tmp_path / "soaked.py"
    path.write_text(SOURCE)
    spec = importlib.util.spec_from_file_location("soaked", path)
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    sys.modules["soaked"] = module
    spec.loader.exec_module(module)
    scripted = torch.jit.script(module.Model())
    assert scripted(torch.ones(1, 2)).shape == (1, 2)
    assert torch.jit.script(module.helper) is not None
    with pytest.raises(RuntimeError, match="no_such_method"):
        torch.jit.script(module.mistake)
    left = [ref(getattr(module, n)) for n in ("Color", "Point", "helper", "Model", "mistake")]
    left += [ref(scripted._c.cls), ref(scripted.forward._rushlight_function)]
    del scripted, module, sys.modules["soaked"]
    torch.jit.script(last_run)(1)
    linecache.clearcache()
    gc.collect()
    assert [each() for each in left] == [None] * len(left)


def test_a_scripted_class_does_not_keep_its_first_module() -> None:
    model = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
    scripted = torch.jit.script(model)
    gone = ref(model)
    del model
    gc.collect()
    assert gone() is None
    assert len(scripted) == 2
    assert torch.jit.script(nn.Sequential(nn.Linear(3, 3), nn.ReLU()))._c.cls is scripted._c.cls


def test_what_is_kept_with_an_object_is_not_copied() -> None:
    table: KeptWith[Any, list[int]] = KeptWith()

    def plain() -> None: ...

    table[plain] = [1]
    assert table.get(plain) == [1]

    @wraps(plain)
    def around() -> None: ...

    assert table.get(around) is None
    table[around] = [2]
    assert (table.get(plain), table.get(around)) == ([1], [2])

    class Base:
        pass

    class Derived(Base):
        pass

    table[Base] = [3]
    assert table.get(Derived) is None
    table[int] = [4]  # has no room of its own
    assert table.pop(int) == [4]
    assert int not in table
    kept = plain.__dict__["__rushlight_kept__"]
    assert pickle.loads(pickle.dumps(kept)).values == {}
    assert copy.deepcopy(kept).values == {}


def test_arrays_are_remembered_up_to_a_number_of_bytes() -> None:
    calls = []

    @remembered(1000)
    def zeros(n: int) -> Any:
        calls.append(n)
        return np.zeros(n, np.int8)

    for n in (100, 200, 100, 900, 900, 250, 249, 248, 100):
        assert len(zeros(n)) == n
    assert calls == [100, 200, 900, 900, 250, 249, 248, 100]
    assert zeros.bytes <= 1000
