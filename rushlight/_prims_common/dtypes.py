"""What there is to ask of dtypes: their kinds, those beside them, and what operands give."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any, Final

from ..ops.memory.dtype import DTYPES, DType, get_default_dtype
from ..ops.tensors.tensor import Tensor

__all__ = [
    *("ELEMENTWISE_TYPE_PROMOTION_KIND", "REDUCTION_OUTPUT_TYPE_KIND", "RETURN_TYPE"),
    *("can_safe_cast_to", "check_same_dtype", "corresponding_complex_dtype"),
    *("corresponding_real_dtype", "dtype_or_default", "dtype_to_type", "dtype_to_type_ctor"),
    *("elementwise_dtypes", "get_computation_dtype", "get_dtype", "get_higher_dtype"),
    *("get_higher_type", "is_boolean_dtype", "is_complex_dtype", "is_float_dtype"),
    *("is_grad_dtype", "is_integer_dtype", "is_low_precision_dtype", "is_weakly_lesser_type"),
    *("number_type", "reduction_dtypes", "type_to_dtype"),
]


class ELEMENTWISE_TYPE_PROMOTION_KIND(Enum):
    """What the results of an operator are, by what its operands are together."""

    DEFAULT = (0,)
    NO_OPMATH = (1,)
    INT_TO_FLOAT = (2,)
    ALWAYS_BOOL = (3,)
    COMPLEX_TO_FLOAT = (4,)
    BOOL_TO_LONG = (5,)


class REDUCTION_OUTPUT_TYPE_KIND(Enum):
    """What the results of a fold are."""

    SAME = (0,)
    COMPLEX_TO_FLOAT = (1,)
    KEEP_PROMOTED_TYPE = (2,)
    ALWAYS_BOOL = (3,)


class RETURN_TYPE(Enum):
    """Whether results are new, or views, or what was written."""

    NEW = (0,)
    VIEW = (1,)
    INPLACE = (2,)
    NONE = (3,)


_TYPES: Final[tuple[type[complex], ...]] = (bool, int, float, complex)
"""The kinds of numbers, the lower first."""

# --------------------------------------------------------------------------- kinds


def is_boolean_dtype(dtype: DType) -> bool:
    """Whether elements are bools."""
    return dtype.name == "bool"


def is_integer_dtype(dtype: DType) -> bool:
    """Whether elements are whole numbers."""
    return dtype.kind in ("i", "u")


def is_float_dtype(dtype: DType) -> bool:
    """Whether elements are floats."""
    return dtype.is_floating_point


def is_complex_dtype(dtype: DType) -> bool:
    """Whether elements are complex numbers."""
    return dtype.is_complex


def is_grad_dtype(dtype: DType) -> bool:
    """Whether tensors can require gradients."""
    return dtype.is_floating_point or dtype.is_complex


def is_low_precision_dtype(dtype: DType) -> bool:
    """Whether elements, or their parts, are floats of 16 bits."""
    return dtype.name in ("bfloat16", "float16", "complex32")


def number_type(x: object) -> type:
    """The kind of a number."""
    return type(x)


def dtype_to_type(dtype: DType) -> type[complex]:
    """The kind of Python's numbers that elements of a dtype are.

    Raises:
        ValueError: it is not a dtype.
    """
    if not isinstance(dtype, DType):
        raise ValueError(f"Invalid dtype: {dtype}")
    if dtype.is_complex:
        return complex
    if dtype.is_floating_point:
        return float
    return bool if dtype.name == "bool" else int


def dtype_to_type_ctor(dtype: DType) -> Callable[[Any], Any]:
    """What makes a number of that kind of another one."""
    return dtype_to_type(dtype)


def type_to_dtype(typ: type) -> DType:
    """The dtype that numbers of a kind have by themselves.

    Raises:
        ValueError: it is no kind of numbers.
    """
    default = get_default_dtype()
    known = {bool: DTYPES["bool"], int: DTYPES["int64"], float: default}
    known[complex] = corresponding_complex_dtype(default)
    if typ not in known:
        raise ValueError(f"Invalid type {typ}!")
    return known[typ]


def get_dtype(x: Tensor | complex) -> DType:
    """The dtype of a tensor, or of a number by itself."""
    return x.dtype if isinstance(x, Tensor) else type_to_dtype(type(x))


def dtype_or_default(dtype: DType | None) -> DType:
    """A dtype, or the default one."""
    return get_default_dtype() if dtype is None else dtype


# --------------------------------------------------------------------------- beside each other

_COMPLEX: Final = {
    **{"float16": "complex32", "bfloat16": "complex64", "float32": "complex64"},
    **{"float64": "complex128"},
}
_REAL: Final = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}
_WIDER: Final = {"float16": "float32", "bfloat16": "float32", "complex32": "complex64"}
_ORDER: Final = (
    ("bool",),
    ("uint8", "int8"),
    *(("int16",), ("int32",), ("int64",)),
    ("float16", "bfloat16"),
    *(("float32",), ("float64",), ("complex32",), ("complex64",), ("complex128",)),
)


def corresponding_complex_dtype(dtype: DType) -> DType:
    """The complex dtype whose parts are of a dtype."""
    return DTYPES[_COMPLEX[dtype.name]]


def corresponding_real_dtype(dtype: DType) -> DType:
    """The dtype of a complex dtype's parts."""
    return DTYPES[_REAL[dtype.name]]


def get_computation_dtype(dtype: DType) -> DType:
    """The dtype in which elements are computed: twice as wide for those of 16 bits."""
    return DTYPES[_WIDER.get(dtype.name, dtype.name)]


def get_higher_type(a: type, b: type) -> type:
    """The higher of two kinds of numbers.

    Raises:
        RuntimeError: one of them is none.
    """
    if a not in _TYPES or b not in _TYPES:
        raise RuntimeError(f"Expected builtin numeric types, found {a}, {b}")
    return max(a, b, key=_TYPES.index)


def is_weakly_lesser_type(a: type, b: type) -> bool:
    """Whether one kind of numbers is another, or below it.

    Raises:
        RuntimeError: one of them is none.
    """
    return get_higher_type(a, b) is b


def can_safe_cast_to(*, cast_to: DType, cast_from: DType) -> bool:
    """Whether elements stay of their kind, or of a higher one."""
    return is_weakly_lesser_type(dtype_to_type(cast_from), dtype_to_type(cast_to))


def get_higher_dtype(a: Any, b: Any) -> DType | None:
    """The lowest dtype that is not below those of two tensors, numbers or dtypes; None is none.

    Raises:
        RuntimeError: one of them has no place in the order.
    """
    first, second = (
        each if each is None or isinstance(each, DType) else get_dtype(each) for each in (a, b)
    )
    if first is None or second is None or first is second:
        return second if first is None else first
    places = [
        next((at for at, names in enumerate(_ORDER) if each.name in names), None)
        for each in (first, second)
    ]
    if None in places:
        raise RuntimeError("Unexpected termination!")
    if places[0] == places[1]:
        return DTYPES[_ORDER[(places[0] or 0) + 1][0]]
    return first if (places[0] or 0) > (places[1] or 0) else second


def check_same_dtype(*args: object) -> None:
    """Refuse tensors of several dtypes; numbers may be any.

    Raises:
        RuntimeError: they are, or something is neither.
    """
    wanted = None
    for each in args:
        if isinstance(each, Tensor):
            wanted = each.dtype if wanted is None else wanted
            if each.dtype is not wanted:
                raise RuntimeError(
                    f"Tensor with dtype {each.dtype} is not the expected dtype of {wanted}!"
                )
        elif number_type(each) not in _TYPES:
            raise RuntimeError(f"Unexpected type when checking for same dtype, {type(each)}!")


# --------------------------------------------------------------------------- results


def elementwise_dtypes(
    *_args: object, type_promotion_kind: ELEMENTWISE_TYPE_PROMOTION_KIND
) -> tuple[DType, DType]:
    """The dtype in which operands are computed together, and that of the result.

    Tensors with dimensions go before those without, and these before numbers, unless their kind is
    lower.

    Raises:
        ValueError: an operand is neither a tensor nor a number, or there is no such kind of
            results.
    """
    kinds = ELEMENTWISE_TYPE_PROMOTION_KIND
    found = _together([each for each in _args if each is not None])
    computed = get_computation_dtype(found)
    if type_promotion_kind is kinds.DEFAULT:
        return computed, found
    if type_promotion_kind is kinds.NO_OPMATH:
        return found, found
    if type_promotion_kind is kinds.INT_TO_FLOAT:
        floats = found if is_grad_dtype(found) else get_default_dtype()
        return get_computation_dtype(floats), floats
    if type_promotion_kind is kinds.COMPLEX_TO_FLOAT:
        return computed, corresponding_real_dtype(found) if found.is_complex else found
    if type_promotion_kind is kinds.BOOL_TO_LONG:
        whole = DTYPES["int64"]
        return (whole, whole) if is_boolean_dtype(found) else (computed, found)
    if type_promotion_kind is kinds.ALWAYS_BOOL:
        return computed, DTYPES["bool"]
    raise ValueError(f"Unknown type promotion kind {type_promotion_kind}")


def _together(operands: Iterable[object]) -> DType:
    """The dtype that operands have together."""
    highest: type[complex] = bool
    tensors = list[Tensor]()
    for each in operands:
        if isinstance(each, Tensor):
            tensors.append(each)
            kind = dtype_to_type(each.dtype)
        else:
            kind = number_type(each)
        if kind not in _TYPES:
            raise ValueError(
                f"Unexpected type {type(each)} when computing elementwise type promotion!"
            )
        highest = get_higher_type(highest, kind)
    by_rank: dict[bool, DType | None] = {True: None, False: None}
    for each in tensors:
        dtype: DType | None = each.dtype
        assert dtype is not None
        if highest is complex and dtype.is_floating_point:
            dtype = corresponding_complex_dtype(dtype)
        if dtype_to_type(dtype) is highest:
            by_rank[each.dim() > 0] = get_higher_dtype(by_rank[each.dim() > 0], dtype)
    return by_rank[True] or by_rank[False] or type_to_dtype(highest)


def reduction_dtypes(
    arg: Tensor, output_dtype_kind: REDUCTION_OUTPUT_TYPE_KIND, dtype: DType | None = None
) -> tuple[DType, DType | None]:
    """The dtype in which a tensor is folded, and that of the result; None where it is the same."""
    kinds = REDUCTION_OUTPUT_TYPE_KIND
    given = arg.dtype if dtype is None else dtype
    result: DType | None = given
    if output_dtype_kind is kinds.COMPLEX_TO_FLOAT and given.is_complex:
        result = corresponding_real_dtype(given)
    elif output_dtype_kind is kinds.KEEP_PROMOTED_TYPE:
        result = None
    elif output_dtype_kind is kinds.ALWAYS_BOOL:
        result = DTYPES["bool"]
    return get_computation_dtype(given), result
