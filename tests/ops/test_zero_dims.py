"""Results of operators are arrays, never NumPy's numbers, which `become` would take apart."""

from itertools import islice, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops.memory.dtype import Device
from rushlight.ops.memory.metadata import become
from rushlight.ops.table.table import TABLE
from rushlight.typecheck.types.types import ListType, OptionalType, Type

_VALUES: dict[str, list[Any]] = {
    **{"int": [0, 1, -1], "float": [0.5], "number": [1], "bool": [False, True], "complex": [1j]},
    **{"str": ["sum", "mean", "add", "none", "fro", "ij"], "Device": [Device("cpu")]},
}


def _values(type: Type, dtype: type) -> list[Any]:
    """A few arguments of a type; tensors are 0-d."""
    if isinstance(type, OptionalType):
        return [None, *_values(type.element, dtype)]
    if isinstance(type, ListType):
        each = _values(type.element, dtype)
        return [[each[0]], [], [each[0]] * 2]
    return [np.ones((), dtype)] if str(type) == "Tensor" else _VALUES.get(str(type), [None])


def _fresh(value: Any) -> Any:
    return value.copy() if isinstance(value, (np.ndarray, list)) else value


def _numbers(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_numbers, value))
    return isinstance(value, np.generic)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.complex64])
def test_no_operator_makes_a_number_of_a_tensor_without_dimensions(
    dtype: type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # some write files by the names they are given
    ran, wrong = 0, []
    for entry in (each for name in TABLE.names() for each in TABLE.operators(name)):
        choices = [_values(argument.type, dtype) for argument in entry.signature.arguments]
        for arguments in islice(product(*choices), 24):
            try:
                with np.errstate(all="ignore"):
                    result = entry.forward(*map(_fresh, arguments))
            except Exception:  # most have no such overload
                continue
            ran += 1
            if _numbers(result):
                wrong.append(entry.full_name)
    assert ran > 3000
    assert not wrong


def test_only_arrays_become_others() -> None:
    with pytest.raises(TypeError, match="a float32 cannot be changed"):
        become(np.float32(1), np.ones(2))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a recarray cannot be changed"):
        become(np.ones(2).view(np.recarray), np.ones(2))
    with pytest.raises(TypeError, match="a float32 cannot be changed"):
        become(np.ones(2), np.float32(1))  # type: ignore[arg-type]


@pytest.mark.filterwarnings("ignore")
def test_adjoint_of_a_number_is_a_tensor() -> None:
    for x in (torch.adjoint(torch.tensor(1 + 2j)), torch.tensor(1 + 2j).H):
        assert x.unsqueeze_(0).tolist() == [1 - 2j]


@pytest.mark.filterwarnings("ignore")
def test_no_property_of_a_tensor_is_a_number_of_numpy() -> None:
    for x in (torch.tensor(1 + 2j), torch.tensor(2.0), torch.tensor([[1j]])):
        for name in "T mT H mH real imag data".split():
            try:
                found = getattr(x, name)
            except RuntimeError:
                continue
            assert type(found.resolve_conj()._array) is np.ndarray, name


def test_losses_of_single_samples_have_the_shape_of_the_target() -> None:
    loss = torch.nn.functional.multi_margin_loss
    for shape in ((), (1,)):
        target = torch.zeros(shape, dtype=torch.long)
        assert loss(torch.zeros(5), target, reduction="none").shape == shape
