"""Tensors of Python data: shapes, dtypes and errors are torch's; so are conversions to numbers."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops.tensors.python_data import _one_by_one, array_of_data

T = torch.tensor
INDEX = "only integer tensors of a single element can be converted to an index"
OVERFLOW = "value cannot be converted to type {} without overflow"


class Seen(list[Any]):
    pass


@pytest.mark.parametrize(
    ("data", "dtype", "values"),
    [
        ([T(1), T(2.5)], torch.float32, [1.0, 2.5]),
        ([T(1), 2], torch.int64, [1, 2]),
        ([2.5, T(1.0, dtype=torch.float64)], torch.float64, [2.5, 1.0]),
        ([2.5, np.float64(1)], torch.float64, [2.5, 1.0]),
        ([np.float32(1), 2.5], torch.float32, [1.0, 2.5]),
        ([np.float16(1), 2], torch.float16, [1.0, 2.0]),
        ([T(1), T(2.0), True, 1j], torch.complex64, [1 + 0j, 2 + 0j, 1 + 0j, 1j]),
        ([[3, 4], T([1, 2])], torch.int64, [[3, 4], [1, 2]]),
        ([[T(1), T(2)], [T(3), 4.5]], torch.float32, [[1.0, 2.0], [3.0, 4.5]]),
        ([np.array([1], np.int32), np.array([3.0], np.float32)], torch.float32, [[1.0], [3.0]]),
        ([[], [1]], torch.float32, [[], []]),
        ([[], [1j]], torch.complex64, [[], []]),
        ([[[]], [[1]]], torch.float32, [[[]], [[]]]),
        ([True, 1.5], torch.float32, [1.0, 1.5]),
        (range(3), torch.int64, [0, 1, 2]),
        (bytearray(b"ab"), torch.int64, [97, 98]),
        (Seen([1, 2]), torch.int64, [1, 2]),
    ],
)
@pytest.mark.filterwarnings("ignore:Creating a tensor from a list of numpy.ndarrays")
def test_the_dtype_is_common_to_all(data: Any, dtype: Any, values: list[Any]) -> None:
    made = T(data)
    assert made.dtype is dtype
    assert made.tolist() == values


@pytest.mark.parametrize(
    ("data", "dtype", "values"),
    [
        ([2**60 + 1, 1.5], torch.int64, [2**60 + 1, 1]),
        ([[1, 2], {3: 0, 4: 0}], torch.int32, [[1, 2], [3, 4]]),
        ([Fraction(1, 2)], torch.float32, [0.5]),
        ([-255, 3], torch.uint8, [1, 3]),
        ([1.00048828125001], torch.float16, [1.0]),
        ([1e6, -math.inf], torch.float8_e4m3fn, [448.0, -448.0]),
        ([1, 2.5], float, [1.0, 2.5]),
        ([1, 0], bool, [True, False]),
        (2**64 - 1, torch.uint64, 2**64 - 1),
        ([2**70, True], torch.float64, [2.0**70, 1.0]),
    ],
)
def test_numbers_go_into_a_given_dtype(data: Any, dtype: Any, values: Any) -> None:
    assert T(data, dtype=dtype).tolist() == values


@pytest.mark.parametrize(
    ("data", "dtype", "error", "sentence"),
    [
        ([[1], 2], None, TypeError, "not a sequence"),
        ([1, [2]], None, TypeError, "'list' object cannot be interpreted as an integer"),
        ([1.5, [2]], None, TypeError, "must be real number, not list"),
        ([[1], []], None, ValueError, "expected sequence of length 1 at dim 1 (got 0)"),
        ([[1], [1, None]], None, RuntimeError, "Could not infer dtype of NoneType"),
        ([[], ["a"]], None, TypeError, "new(): invalid data type 'str'"),
        (["a"], None, ValueError, "too many dimensions 'str'"),
        ([1, "a"], torch.float32, TypeError, "must be real number, not str"),
        ({1: 2}, None, RuntimeError, "Could not infer dtype of dict"),
        ([T([1, 2]), 3], None, TypeError, INDEX),
        ([T(1.5), 2], torch.int64, TypeError, INDEX),
        ([T([]), T([])], None, ValueError, "only one element tensors can be converted to Python"),
        ([2**63], None, ValueError, "Overflow when unpacking long long"),
        (1j, torch.float32, TypeError, "must be real number, not complex"),
        ([1j], torch.int64, TypeError, "'complex' object cannot be interpreted as an integer"),
        ([-1], torch.uint64, OverflowError, "can't convert negative int to unsigned"),
        (1.5, torch.uint64, TypeError, "an integer is required"),
        ([-0.5], torch.uint8, RuntimeError, OVERFLOW.format("uint8")),
        ([math.nan], torch.int64, RuntimeError, OVERFLOW.format("int64")),
        ([np.array(1.5)], None, TypeError, "len() of unsized object"),
        ([1], torch.qint8, RuntimeError, "store_scalar: invalid type"),
        ([1], "int", TypeError, "tensor(): argument 'dtype' must be torch.dtype, not str"),
    ],
)
def test_refusals(data: Any, dtype: Any, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error) as caught:
        T(data, dtype=dtype)
    assert type(caught.value).__name__ == error.__name__
    assert str(caught.value).startswith(sentence)


def test_a_list_in_itself_is_refused() -> None:
    data: list[Any] = [1]
    data.append(data)
    with pytest.raises(TypeError, match="self-referential lists are incompatible"):
        T(data)


def test_tensors_to_numbers() -> None:
    assert int(T(1 + 0j)) == 1
    assert float(T([2 + 0j])) == 2.0
    with pytest.raises(RuntimeError, match="converted to type double without overflow"):
        float(T(1 + 1j))
    with pytest.raises(ValueError, match="only one element tensors can be converted"):
        int(T([1, 2]))
    with pytest.raises(RuntimeError, match="converted to type int64_t without overflow"):
        int(T(2**63, dtype=torch.uint64))


def test_script_makes_tensors_of_numbers_that_fit() -> None:
    def f(x: float):  # type: ignore[no-untyped-def]
        return torch.tensor(x, dtype=torch.float64)

    with pytest.raises(RuntimeError, match="converted to type float without overflow"):
        torch.jit.script(f)(1e39)
    assert torch.jit.script(f)(math.inf).item() == math.inf


def test_script_reads_complex_tensors_as_numbers() -> None:
    def real(n: float) -> float:
        return n

    def both(n: complex) -> complex:
        return n

    def f(x: torch.Tensor):  # type: ignore[no-untyped-def]
        return real(x), both(x)

    assert torch.jit.script(f)(T(1 + 0j)) == (1.0, 1 + 0j)
    with pytest.raises(RuntimeError, match="dimension other than 0 as a scalar argument"):
        torch.jit.script(f)(T([1 + 0j]))


def test_old_classes_take_sizes_or_numbers() -> None:
    size = torch.Size([2, 3])
    like = torch.ones(1, dtype=torch.float64)
    for made in (torch.FloatTensor(size), torch.Tensor(np.int64(2), 3), like.new(size)):
        assert made.shape == size
    assert torch.LongTensor(torch.Size([])).shape == ()
    assert torch.LongTensor((2, 3)).tolist() == [2, 3]
    assert like.new([0.1]).item() == 0.1  # not by way of float32
    assert like.new(like).data_ptr() == like.data_ptr()
    with pytest.raises(TypeError):
        like.new(torch.ones(1))
    with pytest.raises(TypeError, match=r"data must be a sequence \(got float\)"):
        torch.LongTensor(2.5)


def test_script_sorts_no_tuples_with_lists_whatever_these_hold() -> None:
    def f(pairs: list[tuple[int, list[int]]]) -> list[tuple[int, list[int]]]:
        return sorted(pairs)

    for lists in ([[3], []], [[], []], [[1], [2]]):
        shown = "int" if lists[0] else ""
        with pytest.raises(RuntimeError, match=rf"{shown}.*\) are not sortable"):
            torch.jit.script(f)([(1, each) for each in lists])


_EDGES = (
    *(0, -1, (1 << 24) + 1, (1 << 53) + 1, (1 << 63) - 1, -(1 << 63), 1 << 70, 10**400),
    *(0.1, 1e40, -1e300, 1e-50, math.nan, math.inf, True, False, 1j, None, []),
)


@pytest.mark.parametrize("dtype", [None, *"f4 f8 i8 i4 u1 ? c8 f2".split()])
@pytest.mark.parametrize("number", _EDGES, ids=repr)
@pytest.mark.filterwarnings("error")
def test_numbers_at_once_are_those_one_by_one(number: Any, dtype: str | None) -> None:
    wanted = None if dtype is None else np.dtype(dtype)
    forms = [number, [number], [[number]], [number, number], (number,), [(number,), (number,)]]
    forms += [([number], [number]), [number, 1], [[number, 0.5]], [[number], [number, number]]]
    for data in forms:
        found, expected = (
            _outcome(lambda make=make, data=data: make(data, wanted))
            for make in (array_of_data, _one_by_one)
        )
        assert found == expected


def _outcome(make: Any) -> object:
    try:
        with np.errstate(all="ignore"):
            made = make()
    except Exception as error:
        return type(error), str(error)
    return made.dtype, made.shape, made.tobytes()


SORTING = """
def in_place(x: List[Tensor], reverse: bool) -> List[Tensor]:
    x.sort(reverse=reverse)
    return x


def made(x: List[Tensor]) -> List[Tensor]:
    return sorted(x)


def equal(x: List[Tensor], y: List[Tensor]) -> bool:
    return x == y
"""


def test_script_sorts_tensors_by_their_one_element() -> None:
    unit = torch.jit.CompilationUnit(SORTING)
    given: list[Any] = [torch.tensor(each) for each in (3, 1, 2, [1.0])]
    assert [each.tolist() for each in unit.made(given)] == [1, [1.0], 2, 3]
    for reverse, wanted in ((False, [1, [1.0], 2, 3]), (True, [3, 2, [1.0], 1])):
        assert [each.tolist() for each in unit.in_place(list(given), reverse)] == wanted
    for sizes, said in ((2, "more than one value"), (0, "no values")):
        others = [torch.ones(sizes), torch.ones(sizes)]
        for call in (lambda: unit.made(others), lambda: unit.equal(others, others)):  # noqa: B023
            with pytest.raises(RuntimeError, match=f"Boolean value of Tensor with {said} is amb"):
                call()
    assert [each.tolist() for each in unit.made([torch.ones(2)])] == [[1, 1]]
