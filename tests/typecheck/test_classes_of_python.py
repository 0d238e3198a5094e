"""Python's own classes, which script takes for functions over tensors that Python runs."""

from __future__ import annotations

import io
import zipfile

import pytest

import rushlight as torch


def checked(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    if len(x.shape) != len(y.shape):
        raise ValueError(f"not alike: {type(x)} and {type(y)}")
    return x + y


def test_an_error_that_is_worded_with_a_class_is_no_hindrance() -> None:
    scripted = torch.jit.script(checked)
    assert scripted(torch.ones(2), torch.ones(2)).tolist() == [2, 2]
    assert '"not alike: {} and {}", ^type()(x), ^type()(y))' in scripted.code
    with pytest.raises(RuntimeError, match="expected value of type Tensor for return value"):
        scripted(torch.ones(2), torch.ones(2, 2))


def test_of_other_values_there_are_no_classes() -> None:
    def counted(n: int) -> str:
        return f"{type(n)}"

    with pytest.raises(RuntimeError, match=r"type\(Tensor 0\) -> Tensor 0"):
        torch.jit.script(counted)


class Same(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        return x


def test_archives_have_no_way_to_python() -> None:
    file, changed = io.BytesIO(), io.BytesIO()
    torch.jit.save(torch.jit.script(Same()), file)
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(changed, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            new.writestr(name, data.replace(b"return x", b"return type(x)"))
    changed.seek(0)
    with pytest.raises(RuntimeError, match="type"):
        torch.jit.load(changed)(torch.ones(2))
    with pytest.raises(RuntimeError, match="Could not export Python function call 'type'"):
        torch.jit.save(torch.jit.script(checked), io.BytesIO())
