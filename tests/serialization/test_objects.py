"""`torch.save` of any Python object, and `torch.load(..., weights_only=False)`."""

from __future__ import annotations

import collections
import datetime
import io
import zipfile
from typing import Any

import pytest

import rushlight as torch
from rushlight import nn
from rushlight.serialization.files.errors import ArchiveError


class Residual(nn.Module):
    """A module with an attribute of every sort."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(2, 2)
        self.same = self.inner
        self.register_buffer("scale", torch.tensor(2.0))
        self.activation = torch.relu
        self.function = nn.functional.gelu
        self.options = {"size": torch.Size([1]), "dtype": torch.float32, "kind": nn.ReLU}

    def forward(self, x: Any) -> Any:
        return x + self.activation(self.inner(x)) * self.scale


class Slotted:
    __slots__ = ("here",)


Pair = collections.namedtuple("Pair", ["first", "second"])


def again(value: Any) -> Any:
    """The value, saved and loaded."""
    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    return torch.load(file, weights_only=False)


def test_classes_of_one_object_come_back() -> None:
    """None of them is found under its name."""
    kinds = [type(None), type(...), type(NotImplemented)]
    assert again({"kinds": kinds})["kinds"] == kinds
    with pytest.raises(ArchiveError, match="not found under that name"):
        again(type(again))


def test_a_module_comes_back() -> None:
    module = Residual().eval()
    loaded = again({"model": module})["model"]
    x = torch.ones(1, 2)
    assert loaded(x).tolist() == module(x).tolist()
    assert type(loaded) is Residual
    assert loaded.same is loaded.inner
    assert loaded.function is nn.functional.gelu
    assert loaded.options == module.options
    assert not loaded.training


def test_parameters_keep_sharing_and_gradients() -> None:
    loaded = again(nn.Sequential(nn.LSTM(2, 2), nn.BatchNorm1d(2).requires_grad_(False)))
    assert isinstance(loaded[0].weight_ih_l0, nn.Parameter)
    assert loaded[0].weight_ih_l0.requires_grad
    assert not loaded[1].weight.requires_grad


@pytest.mark.parametrize(
    "value",
    [
        Pair(1, "a"),
        collections.Counter("aab"),
        collections.defaultdict(list, {1: [2]}),
        datetime.date(2020, 2, 29),
        range(3),
        frozenset({1}),
        bytearray(b"ab"),
        slice(1, 2),
        torch.Size,
        nn.Parameter,
        len,
    ],
    ids=repr,
)
def test_values_come_back(value: Any) -> None:
    loaded = again(value)
    assert loaded == value
    assert type(loaded) is type(value)


def test_objects_may_refer_to_themselves_and_have_slots() -> None:
    value = Slotted()
    value.here = [value]
    loaded = again(value)
    assert loaded.here[0] is loaded


def test_optimizers_come_back() -> None:
    parameter = nn.Parameter(torch.ones(1))
    optimizer = torch.optim.Adam([parameter], lr=0.5)
    parameter.sum().backward()
    optimizer.step()
    loaded = again(optimizer)
    assert loaded.param_groups[0]["lr"] == 0.5
    assert loaded.state_dict()["state"][0]["step"] == 1


def test_ours_go_by_torchs_names() -> None:
    file = io.BytesIO()
    torch.save([nn.Linear(1, 1), nn.LazyLinear(1), nn.functional.relu, torch.relu], file)
    pickled = zipfile.ZipFile(file).read("archive/data.pkl")
    for name in (b"ctorch.nn.modules.linear\nLinear", b"ctorch.nn\nLazyLinear"):
        assert name in pickled
    assert b"ctorch.nn.functional\nrelu" in pickled
    assert b"ctorch\nrelu" in pickled
    assert b"rushlight" not in pickled


def test_objects_are_refused_unless_the_file_is_trusted() -> None:
    file = io.BytesIO()
    torch.save(nn.Linear(1, 1), file)
    for weights_only in (None, True):
        file.seek(0)
        with pytest.raises(RuntimeError, match=r"torch\.nn\.modules\.linear\.Linear.*weights_only"):
            torch.load(file, weights_only=weights_only)


def test_what_cannot_be_found_again_is_not_saved() -> None:
    class Local:
        pass

    for value in (Local(), lambda: 0):
        with pytest.raises(RuntimeError, match="cannot be saved: it is not found"):
            again(value)
    with pytest.raises(RuntimeError, match="cannot pickle 'generator' object"):
        again(i for i in [])


def test_a_name_that_does_not_exist_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.BytesIO()
    torch.save(Pair(1, 2), file)
    file.seek(0)
    monkeypatch.delitem(globals(), "Pair")
    with pytest.raises(RuntimeError, match=r"needs `.*\.Pair`"):
        torch.load(file, weights_only=False)


def test_torchs_own_holder_of_functions_is_this_library() -> None:
    holder = b"ctorch._C\n_VariableFunctionsClass\n"
    named = b"\x80\x02c__builtin__\ngetattr\n(" + holder + b"X\x04\x00\x00\x00relutR."
    file = io.BytesIO()
    torch.save(0, file)
    again = io.BytesIO()
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(again, "w") as new:
        for name in old.namelist():
            new.writestr(name, named if name.endswith("data.pkl") else old.read(name))
    again.seek(0)
    assert torch.load(again, weights_only=False) is torch.relu
