"""NumPy has many objects for one dtype; arrays get a tensor's own one where they come in."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rushlight as torch

BIG = 2**53 + 1

MADE: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "unpickled": lambda a: pickle.loads(pickle.dumps(a)),
    "dtype from a pickle": lambda a: a.astype(pickle.loads(pickle.dumps(a.dtype))),
    "with metadata": lambda a: a.view(np.dtype(a.dtype, metadata={"unit": "m"})),
    "longlong": lambda a: a.astype(np.longlong),
    "of a subclass": lambda a: a.view(np.matrix)[0].view(np.dtype(a.dtype, metadata={"a": 1})),
}
BORDERS: dict[str, Callable[[Any], Any]] = {
    "from_numpy": torch.from_numpy,
    "tensor": torch.tensor,
    "as_tensor": torch.as_tensor,
    "as_tensor of a dtype": lambda a: torch.as_tensor(a, dtype=torch.int64),
    "asarray": torch.asarray,
    "from_dlpack": torch.from_dlpack,
    "of a list": lambda a: torch.tensor([a])[0],
    "new_tensor": lambda a: torch.zeros(1, dtype=torch.int64).new_tensor(a),
    "LongTensor": torch.LongTensor,
}


@pytest.mark.filterwarnings("ignore:Creating a tensor from a list of numpy.ndarrays")
@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("made", MADE)
def test_whole_numbers_stay_exact(made: str, border: str) -> None:
    array = MADE[made](np.array([BIG, -3, 0]))
    if border == "from_dlpack" and array.dtype.metadata:
        pytest.skip("NumPy does not export it")
    found = BORDERS[border](array)
    assert found.reshape(-1).tolist() == [BIG, -3, 0]
    assert found.dtype is torch.int64
    assert found._array.dtype is np.dtype(np.int64)
    assert (found + 1).reshape(-1).tolist() == [BIG + 1, -2, 1]


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bool, torch.bfloat16])
def test_pickled_tensors_have_a_tensors_dtype(dtype: torch.dtype) -> None:
    tensor = torch.tensor([1, 0]).to(dtype)
    again = pickle.loads(pickle.dumps(tensor))
    assert again._array.dtype is tensor._array.dtype
    assert again.tolist() == tensor.tolist()


def test_memory_stays_shared() -> None:
    array = pickle.loads(pickle.dumps(np.zeros(2, np.float32)))
    torch.from_numpy(array).add_(1)
    assert array.tolist() == [1, 1]


@pytest.mark.parametrize("border", [b for b in BORDERS if b not in ("from_dlpack", "of a list")])
def test_foreign_bytes_are_refused(border: str) -> None:
    with pytest.raises(ValueError, match="byte order different from the native byte order"):
        BORDERS[border](np.array([1, 2], ">i8"))
    with pytest.raises(ValueError, match="stride in the given numpy array is negative"):
        BORDERS[border](np.arange(3)[::-1])
    odd = np.ndarray((3,), np.float64, np.zeros(20, np.uint8), 0, (3,))
    with pytest.raises(ValueError, match="strides not a multiple of the element byte size"):
        BORDERS[border](odd)


def test_scalars_of_numpy_keep_their_dtype() -> None:
    assert torch.tensor([np.uint8(3), np.uint8(200)]).dtype is torch.uint8
    assert torch.tensor(np.float16(0.1)).dtype is torch.float16
    assert torch.tensor(np.array([BIG], np.uint64)[0]).item() == BIG
    with pytest.raises(TypeError, match=r"can't convert np.ndarray of type numpy.datetime64"):
        torch.tensor([np.datetime64("2020-01-01")])


@pytest.mark.parametrize("data", [[np.ones(1), np.ones(1)], [1, [np.ones(1)]], [[np.ones(1)]]])
def test_lists_of_arrays_are_warned_of(data: list[Any]) -> None:
    torch.set_warn_always(True)
    try:
        with pytest.warns(UserWarning, match="list of numpy.ndarrays is extremely slow"):
            torch.tensor(data[-1:])
    finally:
        torch.set_warn_always(False)
