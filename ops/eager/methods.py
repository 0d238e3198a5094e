"""The operators of tensors in Python: `x.tanh()`, `x + y`, `x += y`, from the operator table.

Importing this gives them to `Tensor`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from typing import Any, Final, Literal, overload

import numpy as np

from ...typecheck.definitions.signs import BETWEEN, COMPARING, IN_FRONT, Sign
from ...typecheck.types.scalar_types import OLD_NAMES
from ..memory.dtype import CPU, DTYPES, PYTHON_DTYPES, QSCHEMES, Device, DType, QScheme, dtype_of
from ..table.table import TABLE
from ..tensors.construct import from_numpy, new_tensor
from ..tensors.overriding import (
    PLAIN,
    ask_for,
    ask_operator,
    asks,
)
from ..tensors.tensor import Tensor
from .aten import aten
from .binding import type_name, wrong_keyword
from .callables import when_native
from .dispatch import (
    EagerFunction,
    eager_function,
    make_function,
)
from .functional import METHODS
from .looks import is_left_alone, made_by_look, members_by_look
from .rare_methods import ATTRIBUTES
from .rare_methods import METHODS as RARE
from .subclasses import as_subclass, make_subclass, make_wrapper_subclass
from .typed_storage import new, set_, storage
from .unknown_names import UnknownName

__all__ = ["is_sign", "members_replaced", "operator_methods", "sign_methods", "signs_between"]

_NUMBERS: Final = (Tensor, bool, int, float, complex, np.number, np.bool_)

_SIGNS: Final = (*BETWEEN.values(), *COMPARING.values())
_IN_FRONT: Final = (*IN_FRONT.values(), Sign("abs", "abs"))

_SWAPPED: Final = ("add", "mul", "and", "or", "xor")
"""Where `2 + x` is `x + 2`."""


_SHIFTS: Final = {"lshift": "aten::bitwise_left_shift", "rshift": "aten::bitwise_right_shift"}
"""The shifts by name that take a number on the left."""


def _binary(function: EagerFunction, fast: bool) -> Callable[[Tensor, object], object]:
    shortcuts = function.shortcuts if fast else {}
    kinds = (Tensor,) if function.__name__ == "matmul" else _NUMBERS
    compares = function.__name__ == "eq"  # the one sign of torch that takes arrays by itself
    front: Callable[..., object] | None = None
    is_short = fast

    def method(self: Tensor, other: object) -> object:
        nonlocal front
        try:
            if front is not None:
                return front(self, other)
            if is_short and function.front is not None:
                front = function.front.falling_to(slowly)
            return slowly(self, other)
        except Exception as error:
            raise function.told(error)  # noqa: B904

    def observed() -> None:
        nonlocal front, is_short
        is_short, front = False, None

    def slowly(self: Tensor, other: object) -> object:
        short = shortcuts.get((type(self), type(other))) if is_short else None
        if short is not None:
            return short(self, other)
        if not isinstance(self, Tensor):
            raise TypeError(
                f"descriptor '{method.__name__}' for 'torch._C.TensorBase' objects doesn't apply "
                f"to a '{type_name(self)}' object"
            )
        if type(other) not in PLAIN and asks(other):
            return ask_operator(method.__name__, self, other)
        if isinstance(other, kinds):
            return function(self, other)
        if compares and isinstance(other, np.ndarray) and other.dtype.kind in "biufc":
            return function(self, from_numpy(other.copy()))
        return NotImplemented

    function.before_observed(observed)
    return method


def _reflected(
    name: str, function: EagerFunction, fast: bool
) -> Callable[[Tensor, object], object]:
    if name in _SWAPPED:
        return _binary(function, fast)
    rsub = eager_function("aten::rsub")

    def method(self: Tensor, other: object) -> object:
        if type(other) not in PLAIN and asks(other):
            return ask_operator(method.__name__, self, other)
        if name == "truediv" and isinstance(other, np.ndarray):
            return self.reciprocal() * other
        if not isinstance(other, _NUMBERS):
            return NotImplemented
        if name != "truediv" and not isinstance(self, Tensor):
            return NotImplemented
        if name == "sub":
            return rsub(self, other)
        if name == "truediv":
            return self.reciprocal() * other
        if name in _SHIFTS:
            return eager_function(_SHIFTS[name])(other, self)
        return function(other, self)

    return method


def _unary(function: EagerFunction, fast: bool) -> Callable[[Tensor], object]:
    def method(self: Tensor) -> object:
        if fast and function.front is not None:
            try:
                return function.front.call(self)
            except Exception:  # of a tensor that lies elsewhere, or one to be told as others are
                return function(self)
        return function(self)

    return method


def _inverted(function: EagerFunction, fast: bool) -> Callable[[Tensor], object]:
    invert = _unary(function, fast)

    def method(self: Tensor) -> object:
        if self.dtype.kind not in "biu":
            raise TypeError(
                "~ (operator.invert) is only implemented on integer and Boolean-type tensors"
            )
        return invert(self)

    return method


def _give(name: str, method: Callable[..., object]) -> None:
    method.__name__ = name
    method.__qualname__ = f"Tensor.{name}"
    setattr(Tensor, name, method)


@cache
def operator_methods() -> dict[str, str]:
    """The methods that are called as Python's operators, where they have other names."""
    signs = {sign.word: sign for sign in (*_SIGNS, *_IN_FRONT)}
    plain = [sign for word, sign in signs.items() if word not in ("floordiv", "eq", "invert")]
    found = {sign.method: sign.operator for sign in plain}
    for word in ("add", "mul", "and", "or", "xor"):
        found[f"__r{word}__"] = signs[word].in_place.rstrip("_")
    written = {f"__i{word}__": sign.in_place for word, sign in signs.items() if sign.in_place}
    found |= {name: method for name, method in written.items() if not method.startswith("bitwise_")}
    return found | {"__rtruediv__": "__rdiv__"}


@cache
def signs_between() -> frozenset[str]:
    """The methods of signs between two operands, which may know nothing of the other one."""
    return frozenset(f"__{side}{sign.word}__" for side in ("", "r") for sign in _SIGNS)


@cache
def is_sign(name: str) -> bool:
    """Whether a method is that of a sign between two operands, or of one that writes the first."""
    writing = {f"__i{sign.word}__" for sign in _SIGNS if sign.in_place}
    return name in signs_between() or name in writing or name == "__rdiv__"


def members_replaced(members: Mapping[str, object]) -> dict[str, object]:
    """Put members into the class of tensors, or take those out that are None.

    Gives what was there.
    """
    before = {name: vars(Tensor).get(name) for name in members}
    for name, member in members.items():
        if member is None:
            delattr(Tensor, name)
        else:
            setattr(Tensor, name, member)
    return before


def sign_methods(fast: bool) -> Iterator[tuple[str, Any]]:
    """The methods that are called as Python's operators; fast ones take shortcuts, by which nobody
    else learns of the call."""
    for sign in _SIGNS:
        function = eager_function(f"aten::{sign.operator}")
        yield sign.method, _binary(function, fast)
        if sign not in COMPARING.values():
            yield f"__r{sign.word}__", _reflected(sign.word, function, fast)
    yield "__rdiv__", _reflected("truediv", eager_function("aten::div"), fast)
    for sign in _SIGNS:
        if sign.in_place:
            function = eager_function(f"aten::{sign.in_place}")
            yield f"__i{sign.word}__", _binary(function, fast)
    for sign in _IN_FRONT:
        make = _inverted if sign.word == "invert" else _unary
        yield sign.method, make(eager_function(f"aten::{sign.operator}"), fast)


def _give_methods() -> None:
    """Operators that are methods, unless written by hand."""
    for qualified, face in TABLE.faces().items():
        name = qualified.removeprefix("aten::")
        if face in ("method", "both") and not hasattr(Tensor, name):
            make = made_by_look(qualified) or partial(make_function, as_method=True)
            setattr(Tensor, name, make(qualified))


def where(self: Tensor, condition: Tensor, other: object) -> Tensor:
    """This tensor's elements where the condition holds, the other's elsewhere."""
    if type(other) not in PLAIN and asks(other):
        return ask_for(where, locals())
    return aten.where(condition, self, other)


# --------------------------------------------------------------------------- conversions

_CASTS: Final = {
    **OLD_NAMES,
    **{"bfloat16": "bfloat16", "bool": "bool", "char": "int8", "byte": "uint8"},
}


def _cast(name: str) -> Callable[..., Tensor]:
    dtype = DTYPES[name]
    function = eager_function("aten::to")

    def method(self: Tensor, memory_format: object = None) -> Tensor:
        if memory_format is not None:
            return function(self, dtype, memory_format=memory_format)  # type: ignore[no-any-return]
        return self if _has(self, dtype) else function(self, dtype)

    method.__doc__ = f"The tensor as `torch.{name}`."
    return method


def to(self: Tensor, *args: Any, **kwargs: object) -> Tensor:
    """The tensor in another dtype, on another device, or both; itself if nothing changes."""
    if is_left_alone(self):
        first: Any = args[0] if len(args) == 1 and not kwargs else None
        kind = type(first)
        dtype: Any
        if kind is DType:
            dtype = first
        elif (kind is str and first == "cpu") or (
            kind is Device and first.type == "cpu" and first.index is None
        ):
            _ = self._array  # there may be none here
            return self
        else:
            dtype = _dtype_alone(self, *args, **kwargs)
        if dtype is not None:
            return self if dtype_of(self._array) is dtype else _to(self, dtype)
    dtype = kwargs.pop("dtype", None)
    device = kwargs.pop("device", None)
    rest = list(args)
    if rest and isinstance(rest[0], Tensor):
        other = rest.pop(0)
        dtype, device = other.dtype, other.device
    elif rest and _is_dtype(rest[0]):
        dtype = rest.pop(0)
    elif rest:
        device = rest.pop(0)
        if rest and (rest[0] is None or _is_dtype(rest[0])):
            dtype = rest.pop(0)
    names = ("non_blocking", "copy")
    kwargs |= dict(zip(names, rest, strict=False))
    return _to(self, dtype=dtype, device=device, **kwargs)  # type: ignore[no-any-return]


_to: Final = eager_function("aten::to")


def _dtype_alone(
    tensor: Tensor,
    first: object = None,
    second: object = None,
    *rest: object,
    dtype: object = None,
    device: object = None,
    non_blocking: object = False,
    **others: object,
) -> DType | None:
    """The dtype that `to` is asked for, where that is all; None for other calls."""
    if rest or others or type(non_blocking) is not bool:
        return None
    if type(first) is DType or type(first) is Tensor:
        is_all = second is None and dtype is None and device is None
        found = first.dtype if type(first) is Tensor else first
        return found if is_all and isinstance(found, DType) else None
    place, wanted = first if device is None else device, second if dtype is None else dtype
    if (first is not None and device is not None) or (second is not None and dtype is not None):
        return None
    if type(place) is str or type(place) is Device:
        if place != "cpu" and place != CPU:
            return None
    elif place is not None or wanted is None:
        return None
    if wanted is None:
        return tensor.dtype
    return wanted if isinstance(wanted, DType) else None


def _has(tensor: Tensor, dtype: DType) -> bool:
    """Whether such a tensor is of a dtype, so that it is the outcome of its own cast."""
    return is_left_alone(tensor) and dtype_of(tensor._array) is dtype


def _is_dtype(value: object) -> bool:
    return isinstance(value, DType) or (isinstance(value, type) and value in PYTHON_DTYPES)


@overload
def nonzero(
    self: Tensor, *, as_tuple: Literal[False] = False, out: Tensor | None = None
) -> Tensor: ...
@overload
def nonzero(
    self: Tensor, *, as_tuple: Literal[True], out: Tensor | None = None
) -> tuple[Tensor, ...]: ...
def nonzero(self: Tensor, *, as_tuple: bool = False, out: Tensor | None = None) -> object:
    """The positions of the elements that are not zero, as rows or as one tensor a dimension."""
    if as_tuple:
        if not isinstance(out, (Tensor, type(None))):
            raise wrong_keyword("nonzero", "out", "Tensor", out)
        if out is not None:
            raise RuntimeError("nonzero does not support the out kwarg when as_tuple is True")
        return eager_function("aten::nonzero_numpy")(self)
    find = eager_function("aten::nonzero")
    return find(self) if out is None else find(self, out=out)


def split(self: Tensor, split_size: object, dim: int = 0) -> object:
    """Parts of the given size, or sizes, along a dimension."""
    return eager_function("aten::split")(self, split_size, dim)


def norm(
    self: Tensor, p: object = "fro", dim: object = None, keepdim: bool = False, dtype: object = None
) -> object:
    """The norm over some dimensions, or all."""
    if isinstance(p, str) and p != "fro":
        dims = list(range(self.dim())) if dim is None else [dim] if isinstance(dim, int) else dim
        return eager_function("aten::linalg_matrix_norm")(self, p, dims, keepdim, dtype=dtype)
    order = 2 if p is None or p == "fro" else p
    return eager_function("aten::linalg_vector_norm")(self, order, dim, keepdim, dtype=dtype)


def stft(
    self: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Tensor:
    """The Fourier transforms of overlapping pieces of a signal."""
    if center and align_to_window is not None:
        raise RuntimeError("stft align_to_window should only be set when center = false")
    given = (self, n_fft, hop_length, win_length, window, center, pad_mode, normalized)
    find: Callable[..., Tensor] = eager_function("aten::stft")
    return find(*given, onesided, return_complex, align_to_window)


def lu(self: Tensor, pivot: bool = True, get_infos: bool = False) -> tuple[Tensor, ...]:
    """L and U in one matrix, the rows exchanged, and on demand where U has a zero."""
    found = eager_function("aten::_lu_with_info")(self, pivot, not get_infos)
    return tuple(found) if get_infos else tuple(found)[:2]


def qscheme(self: Tensor) -> QScheme:
    """What the numbers of a quantized tensor mean."""
    number = eager_function("aten::qscheme")(self)
    return next(each for each in QSCHEMES.values() if each.number == number)


def slice_inverse(
    self: Tensor,
    src: Tensor,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Tensor:
    """What the tensor is a slice of: a view of the sizes and strides of `src`.

    Raises:
        RuntimeError: the memory holds no such tensor.
    """
    del dim, start, end, step
    made: Tensor = self.as_strided(src.size(), src.stride(), src.storage_offset())
    return made


def _unknown(self: Tensor, name: str) -> object:
    """What there is no method or attribute for."""
    cls = type(self)
    sentence = f"'{cls.__name__}' object has no attribute '{name}'"
    raise UnknownName(sentence, name, lambda: [*dir(cls), *vars(self)])


def _give_conversions() -> None:
    for name, word in _CASTS.items():
        _give(name, _cast(word))
    for method in (
        as_subclass,
        to,
        new_tensor,
        nonzero,
        norm,
        lu,
        qscheme,
        slice_inverse,
        stft,
        split,
        where,
        storage,
        new,
        set_,
    ):
        setattr(Tensor, method.__name__, method)
    for name, method in METHODS.items():
        if method.__name__.startswith("_"):
            _give(name, method)
        setattr(Tensor, name, method)
    for name, member in {**RARE, **ATTRIBUTES}.items():
        if not hasattr(Tensor, name):
            setattr(Tensor, name, member)
    Tensor._make_subclass = staticmethod(make_subclass)  # type: ignore[attr-defined]
    made = staticmethod(make_wrapper_subclass)
    Tensor._make_wrapper_subclass = made  # type: ignore[attr-defined]


_give_conversions()
for _name, _method in sign_methods(True):
    _give(_name, _method)
_give_methods()
_give("__getattr__", _unknown)
when_native(lambda: members_replaced(members_by_look()))
