"""Whether values are close: tensors, numbers, and sequences and mappings of them."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from typing_extensions import deprecated

from ..ops.eager.dispatch import eager_function
from ..ops.eager.namespace import promote_types
from ..ops.memory.dtype import DTYPES, STRIDED, Array, DType
from ..ops.table.pointwise import cast
from ..ops.tensors.construct import as_tensor
from ..ops.tensors.tensor import Tensor
from ..ops.tensors.with_memory import with_memory

__all__ = ["assert_close"]

Message = str | Callable[[str], str] | None
Path = tuple[object, ...]

_TOLERANCES: Final = {
    **{"float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5), "float32": (1.3e-6, 1e-5)},
    **{"float64": (1e-7, 1e-7), "complex32": (1e-3, 1e-5), "complex64": (1.3e-6, 1e-5)},
    **{"complex128": (1e-7, 1e-7)},
}
"""The relative and the absolute tolerance of a dtype; none for those not listed."""

_DTYPE_OF_NUMBER: Final = {int: "int64", float: "float64", complex: "complex128", bool: "bool"}


@dataclass(frozen=True, slots=True)
class _Terms:
    """What counts as close."""

    allow_subclasses: bool
    rtol: float | None
    atol: float | None
    equal_nan: bool
    check_device: bool
    check_dtype: bool
    check_layout: bool
    check_stride: bool

    def tolerances(self, dtypes: Sequence[DType]) -> tuple[float, float]:
        """The relative and the absolute tolerance: as told, or the widest of the dtypes."""
        if self.rtol is not None and self.atol is not None:
            return self.rtol, self.atol
        known = [_TOLERANCES.get(dtype.name, (0.0, 0.0)) for dtype in dtypes]
        return max(r for r, _ in known), max(a for _, a in known)


def assert_close(
    actual: object,
    expected: object,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: Message = None,
) -> None:
    """Check that values are close: `|actual - expected| <= atol + rtol * |expected|`.

    Args:
        actual: a tensor, a number, None, or a sequence or mapping of them.
        expected: what it should be.
        allow_subclasses: whether tensors of related but different classes may be compared.
        rtol: the relative tolerance; by the dtype if neither is given.
        atol: the absolute tolerance; by the dtype if neither is given.
        equal_nan: whether two NaN are equal.
        check_device: whether devices must be the same; of the device `meta` there are no values.
        check_dtype: whether dtypes must be the same.
        check_layout: whether layouts must be the same; sparse ones are compared part by part.
        check_stride: whether strides must be the same.
        msg: the text of the error, or a function that makes it from the text it would have.

    Raises:
        AssertionError: the values are not close.
        TypeError: values of these types cannot be compared.
        ValueError: just one of the tolerances is given.
    """
    terms = _Terms(
        *(allow_subclasses, rtol, atol, equal_nan),
        *(check_device, check_dtype, check_layout, check_stride),
    )
    pairs = list(_pairs(actual, expected, (), terms))
    if pairs and (rtol is None) != (atol is None):
        missing = "rtol" if rtol is None else "atol"
        raise ValueError(
            f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {missing}."
            + _place(pairs[0][3])
        )
    for compare, one, other, path in pairs:
        fault = compare(one, other, terms)
        if fault is not None:
            text = fault + _place(path)
            raise AssertionError(msg(text) if callable(msg) else text if msg is None else msg)


# --------------------------------------------------------------------------- what to compare

Comparison = Callable[[Any, Any, _Terms], str | None]
Pair = tuple[Comparison, object, object, Path]


def _pairs(actual: Any, expected: Any, path: Path, terms: _Terms) -> Iterator[Pair]:
    """The single values to compare, each with its place and what compares it."""
    if _are(actual, expected, Sequence) and not isinstance(actual, str):
        if len(actual) != len(expected):
            text = f"The length of the sequences mismatch: {len(actual)} != {len(expected)}"
            raise AssertionError(text + _place(path))
        for index, (one, other) in enumerate(zip(actual, expected, strict=True)):
            yield from _pairs(one, other, (*path, index), terms)
    elif _are(actual, expected, Mapping):
        for key in _keys(actual, expected, path):
            yield from _pairs(actual[key], expected[key], (*path, key), terms)
    else:
        yield _pair(actual, expected, path, terms)


def _are(one: object, other: object, cls: type | tuple[type, ...]) -> bool:
    return isinstance(one, cls) and isinstance(other, cls)


def _in_order(keys: Iterable[Any]) -> list[object]:
    try:
        return sorted(keys)
    except TypeError:
        return list(keys)


def _keys(
    actual: Mapping[object, object], expected: Mapping[object, object], path: Path
) -> list[object]:
    missing, more = expected.keys() - actual.keys(), actual.keys() - expected.keys()
    if missing or more:
        raise AssertionError(
            "The keys of the mappings do not match:\n"
            f"Missing keys in the actual mapping: {_in_order(missing)}\n"
            f"Additional keys in the actual mapping: {_in_order(more)}{_place(path)}"
        )
    return _in_order(actual.keys())


def _pair(actual: object, expected: object, path: Path, terms: _Terms) -> Pair:
    """What compares two single values.

    Raises:
        TypeError: nothing does.
    """
    if actual is None or expected is None:
        return _compare_nones, actual, expected, path
    if _are(actual, expected, (bool, np.bool_)):
        return _compare_booleans, bool(actual), bool(expected), path
    if _are(actual, expected, (int, float, complex, np.number)):
        return _compare_numbers, _plain(actual), _plain(expected), path
    one, other = type(actual), type(expected)
    related = isinstance(actual, other) or isinstance(expected, one)
    if related if terms.allow_subclasses else one is other:
        if isinstance(actual, Tensor):
            return _compare_tensors, actual, expected, path
        if isinstance(actual, np.ndarray):
            return _compare_tensors, as_tensor(actual), as_tensor(expected), path
    raise TypeError(
        f"No comparison pair was able to handle inputs of type {one} and {other}.{_place(path)}"
    )


def _plain(number: object) -> object:
    return number.item() if isinstance(number, np.number) else number


def _place(path: Path) -> str:
    """Where in the sequences and mappings a fault is."""
    if not path:
        return ""
    return f"\n\nThe failure occurred for item {''.join(f'[{each!r}]' for each in path)}"


# --------------------------------------------------------------------------- single values


def _compare_nones(actual: object, expected: object, terms: _Terms) -> str | None:
    return None if actual is expected else f"None mismatch: {actual} is not {expected}"


def _compare_booleans(actual: bool, expected: bool, terms: _Terms) -> str | None:
    return None if actual is expected else f"Booleans mismatch: {actual} is not {expected}"


def _compare_numbers(actual: object, expected: object, terms: _Terms) -> str | None:
    if terms.check_dtype and type(actual) is not type(expected):
        return f"The (d)types do not match: {type(actual)} != {type(expected)}."
    names = [_DTYPE_OF_NUMBER[type(number)] for number in (actual, expected)]
    rtol, atol = terms.tolerances([DTYPES[name] for name in names])
    return _number_fault(actual, expected, rtol, atol, terms.equal_nan)


def _number_fault(
    actual: Any, expected: Any, rtol: float, atol: float, equal_nan: bool
) -> str | None:
    both_nan = cmath.isnan(actual) and cmath.isnan(expected)
    if actual == expected or (equal_nan and both_nan):
        return None
    absolute = abs(actual - expected)
    if cmath.isfinite(absolute) and absolute <= atol + rtol * abs(expected):
        return None
    relative = absolute / abs(expected) if expected else math.inf
    return (
        f"Scalars are not {_close(rtol, atol)}!\n\nExpected {expected} but got {actual}.\n"
        f"Absolute difference: {absolute}{_allowed(atol, rtol, atol)}\n"
        f"Relative difference: {relative}{_allowed(rtol, rtol, atol)}"
    )


def _close(rtol: float, atol: float) -> str:
    return "close" if rtol or atol else "equal"


def _allowed(bound: float, rtol: float, atol: float) -> str:
    return f" (up to {bound} allowed)" if rtol or atol else ""


# --------------------------------------------------------------------------- tensors


def _compare_tensors(actual: Tensor, expected: Tensor, terms: _Terms) -> str | None:
    fault = _attribute_fault(actual, expected, terms)
    if fault is not None or "meta" in (actual.device.type, expected.device.type):
        return fault
    if actual.layout is not expected.layout:
        actual, expected = actual.to_dense(), expected.to_dense()
    if actual.layout is not STRIDED:
        return _sparse_fault(actual, expected, terms)
    if actual.is_quantized:
        actual, expected = actual.dequantize(), expected.dequantize()
        return _value_fault(actual, expected, terms, "Quantized tensor-likes")
    return _value_fault(actual, expected, terms, "Tensor-likes")


def _places(layout: str) -> tuple[str, ...]:
    """The methods that say where the values of a sparse layout stand."""
    if layout == "sparse_coo":
        return ("_indices",)
    by_rows = layout in ("sparse_csr", "sparse_bsr")
    return ("crow_indices", "col_indices") if by_rows else ("ccol_indices", "row_indices")


def _sparse_fault(actual: Tensor, expected: object, terms: _Terms) -> str | None:
    """What differs in the numbers of dimensions and of values, in the places or the values."""
    layout = str(actual.layout).removeprefix("torch.")
    kind = f"sparse {layout[-3:].upper()}"
    counts = {"specified values": "_nnz"}
    if layout == "sparse_coo":
        counts = {"sparse dimensions": "sparse_dim", **counts}
    for what, method in counts.items():
        one, other = getattr(actual, method)(), getattr(expected, method)()
        if one != other:
            return f"The number of {what} in {kind} tensors does not match: {one} != {other}"
    exact = replace(terms, rtol=0.0, atol=0.0)
    values = "_values" if layout == "sparse_coo" else "values"
    for method in (*_places(layout), values):
        what = f"S{kind[1:]} {method.removeprefix('_')}"
        parts = getattr(actual, method)(), getattr(expected, method)()
        fault = _value_fault(*parts, terms if method == values else exact, what)
        if fault is not None:
            return fault
    return None


def _value_fault(actual: Tensor, expected: Tensor, terms: _Terms, what: str) -> str | None:
    """What differs in the elements of two tensors."""
    rtol, atol = terms.tolerances([actual.dtype, expected.dtype])
    actual, expected = with_memory(actual), with_memory(expected)
    if "float8" in actual.dtype.name and actual.dtype is expected.dtype:
        return _bit_fault(actual, expected)
    if actual.dtype is not expected.dtype:
        common = promote_types(actual.dtype, expected.dtype)
        actual, expected = actual.to(common), expected.to(common)
    close = eager_function("aten::isclose")(
        actual, expected, rtol=rtol, atol=atol, equal_nan=terms.equal_nan
    )
    matches = np.atleast_1d(close._array)
    if matches.all():
        return None
    if not actual.ndim:
        return _number_fault(actual.item(), expected.item(), rtol, atol, terms.equal_nan)
    return _tensor_fault(actual, expected, matches, (rtol, atol), what)


def _attribute_fault(actual: Tensor, expected: Tensor, terms: _Terms) -> str | None:
    compared: list[tuple[str, object, object]] = [("shape", actual.shape, expected.shape)]
    if terms.check_layout:
        compared.append(("layout", actual.layout, expected.layout))
    compared.append(("is_quantized", actual.is_quantized, expected.is_quantized))
    if actual.is_quantized and expected.is_quantized:
        compared.append(("qscheme()", actual.qscheme(), expected.qscheme()))
    if terms.check_device:
        compared.append(("device", actual.device, expected.device))
    if terms.check_dtype:
        compared.append(("dtype", actual.dtype, expected.dtype))
    if terms.check_stride:
        compared.append(("stride()", actual.stride(), expected.stride()))
    for name, one, other in compared:
        if one != other:
            return f"The values for attribute '{name}' do not match: {one} != {other}."
    return None


def _count(matches: Any) -> str:
    missed = int(matches.size - np.count_nonzero(matches))
    return f"Mismatched elements: {missed} / {matches.size} ({missed / matches.size:.1%})"


def _bit_fault(actual: Tensor, expected: Tensor) -> str | None:
    """Eight-bit floats are compared bit by bit."""
    bits = [np.atleast_1d(each._array).view(np.uint8) for each in (actual, expected)]
    matches = bits[0] == bits[1]
    if matches.all():
        return None
    first = np.unravel_index(int(np.argmin(matches)), matches.shape)
    return (
        f"Tensor-likes are not 'equal'!\n\n{_count(matches)}\n"
        f"The first mismatched element is at index {tuple(map(int, first))}."
    )


def _tensor_fault(
    actual: Tensor, expected: Tensor, matches: object, bounds: tuple[float, float], what: str
) -> str:
    rtol, atol = bounds
    one, other = actual._array, expected._array
    if one.dtype.kind in "biu":
        one, other = cast(one, np.dtype(np.int64)), cast(other, np.dtype(np.int64))
    with np.errstate(all="ignore"):
        absolute = np.abs(one - other)
        relative = absolute / np.abs(other)
    lines = [f"{what} are not {_close(rtol, atol)}!\n", _count(matches)]
    for name, differences, bound in (("absolute", absolute, atol), ("relative", relative, rtol)):
        differences[matches] = 0
        value, index = _greatest(differences)
        allowed = _allowed(bound, rtol, atol)
        lines.append(f"Greatest {name} difference: {value} at index {index}{allowed}")
    return "\n".join(lines)


def _greatest(differences: Array) -> tuple[object, tuple[int, ...]]:
    """The greatest, or the first that is no number, and its index."""
    absent = np.isnan(differences)
    place = int(np.argmax(absent if absent.any() else differences))
    index = np.unravel_index(place, differences.shape)
    value = differences[index]
    plain = int(value) if differences.dtype.kind in "iu" else float(value)
    return plain, tuple(map(int, index))


_LOOSE: Final = {
    **{DTYPES["float16"]: (1e-3, 1e-3), DTYPES["float32"]: (1e-4, 1e-5)},
    DTYPES["float64"]: (1e-5, 1e-8),
}
"""What `assert_allclose` allows by dtype: relative and absolute."""


@deprecated(
    "`torch.testing.assert_allclose()` is deprecated since 1.12 and will be removed in a future "
    "release. Please use `torch.testing.assert_close()` instead. You can find detailed upgrade "
    "instructions in https://github.com/pytorch/pytorch/issues/61844.",
    category=FutureWarning,
)
def assert_allclose(
    actual: object,
    expected: object,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """Check that values are close, whatever their dtypes: the older form of `assert_close`.

    Raises:
        AssertionError: they are not.
        ValueError: one of `rtol` and `atol` is missing.
    """
    given = actual if isinstance(actual, Tensor) else as_tensor(actual)
    wanted = expected if isinstance(expected, Tensor) else as_tensor(expected, dtype=given.dtype)
    if rtol is None and atol is None:
        bounds = [_LOOSE.get(each.dtype, (0.0, 0.0)) for each in (given, wanted)]
        rtol, atol = (max(pair) for pair in zip(*bounds, strict=True))
    assert_close(
        given,
        wanted,
        rtol=rtol,
        atol=atol,
        equal_nan=equal_nan,
        check_dtype=False,
        msg=msg or None,
    )
