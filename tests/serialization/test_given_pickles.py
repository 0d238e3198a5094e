"""`torch.save` and `torch.load` with a module that pickles in its own way."""

from __future__ import annotations

import io
import pickle
from types import SimpleNamespace
from typing import Any

import pytest

import rushlight as torch
from rushlight.serialization.files.errors import ArchiveError


class Fresh:
    """Stands in for a class that has moved, and for what Python's pickles do not hold."""

    def __init__(self, value: object) -> None:
        self.value = value


class Numbering(pickle.Pickler):
    """Writes functions without a name as the number that they give."""

    def reducer_override(self, value: Any) -> Any:
        if getattr(value, "__name__", "") == "<lambda>":
            return Fresh, (value(),)
        return NotImplemented


class Moving(pickle.Unpickler):
    """Finds a class where it is today."""

    def find_class(self, module: str, name: str) -> Any:
        return Fresh if name == "Stale" else super().find_class(module, name)


OWN = SimpleNamespace(Pickler=Numbering, Unpickler=Moving)


def stored(value: object, module: object = None, in_zip: bool = True) -> io.BytesIO:
    file = io.BytesIO()
    torch.save(value, file, module, _use_new_zipfile_serialization=in_zip)
    file.seek(0)
    return file


@pytest.mark.parametrize("in_zip", [True, False])
@pytest.mark.parametrize("reads", [OWN, pickle])
def test_a_module_writes_what_pickles_cannot_hold(reads: object, in_zip: bool) -> None:
    a = torch.arange(6.0).view(2, 3)
    parameter = torch.nn.Parameter(a[0])
    value = {"a": a, "row": a[1], "p": parameter, "f": lambda: 3, "t": a.T, "e": torch.empty(0)}
    found = torch.load(stored(value, OWN, in_zip), pickle_module=reads)
    assert found["f"].value == 3
    assert torch.equal(found["a"], a)
    assert torch.equal(found["p"], a[0])
    assert type(found["p"]) is torch.nn.Parameter
    assert found["p"].requires_grad
    assert found["t"].stride() == (1, 3)
    found["a"][1, 0] = 9.0  # they share their memory, as they did
    assert found["row"][0] == 9.0
    assert found["t"][0, 1] == 9.0


class Stale(Fresh):
    """What such classes were called."""


@pytest.mark.parametrize("in_zip", [True, False])
def test_a_module_finds_what_others_cannot(in_zip: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    file = stored({"x": Stale(torch.ones(2)), "layer": torch.nn.Linear(2, 2)}, None, in_zip)
    monkeypatch.delitem(globals(), "Stale")
    found = torch.load(file, pickle_module=OWN)
    assert type(found["x"]) is Fresh
    assert found["x"].value.tolist() == [1.0, 1.0]
    assert found["layer"](torch.ones(1, 2)).shape == (1, 2)


def test_rarer_tensors_keep_what_they_are() -> None:
    named = torch.nn.Parameter(torch.ones(2))
    named.note = "here"
    value = [torch.ones(2, 2).to_sparse(), torch.ones(2, dtype=torch.bfloat16), named]
    sparse, half, parameter = torch.load(stored(value, OWN), pickle_module=OWN)
    assert torch.equal(sparse.to_dense(), torch.ones(2, 2))
    assert half.dtype == torch.bfloat16
    assert parameter.note == "here"


def test_what_a_module_raises_comes_out() -> None:
    class Throwing(pickle.Unpickler):
        def load(self) -> object:
            raise RuntimeError("rumpelstiltskin")

    throwing = SimpleNamespace(Unpickler=Throwing)
    for in_zip in (True, False):
        with pytest.raises(RuntimeError, match="rumpelstiltskin"):
            torch.load(stored(torch.ones(2), None, in_zip), pickle_module=throwing)
    with pytest.raises(AttributeError, match="Pickler"):
        torch.save(1, io.BytesIO(), throwing)
    with pytest.raises(ArchiveError, match="without their data"):
        torch.load(stored(torch.ones(2)), "meta", OWN)
