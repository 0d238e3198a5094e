"""Decorators of functions of tensors: results into given tensors, operands of one dtype."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Sequence
from functools import wraps
from inspect import Parameter, signature
from typing import Any

from ..ops.memory.dtype import DType, MemoryFormat
from ..ops.tensors.tensor import Tensor
from .dtypes import (
    ELEMENTWISE_TYPE_PROMOTION_KIND,
    can_safe_cast_to,
    dtype_to_type_ctor,
    elementwise_dtypes,
    is_grad_dtype,
)

__all__ = ["elementwise_type_promotion_wrapper", "out_wrapper"]

Function = Callable[..., Any]

# --------------------------------------------------------------------------- dtypes


def _maybe_convert_to_dtype(a: Any, dtype: DType) -> Any:
    """A tensor, a number or what is in a list, of a dtype, or of its kind; None stays.

    Raises:
        ValueError: it is something else.
    """
    if a is None:
        return None
    if isinstance(a, Tensor):
        return a if a.dtype is dtype else a.to(dtype)
    if isinstance(a, (int, float, complex)):
        return dtype_to_type_ctor(dtype)(a) if is_grad_dtype(dtype) else a
    if isinstance(a, Sequence):
        return tuple(_maybe_convert_to_dtype(each, dtype) for each in a)
    raise ValueError(
        f"Received unsupported type {type(a)}. Expected TensorLike, Number, or Sequence."
    )


def elementwise_type_promotion_wrapper(
    *,
    type_promotion_kind: ELEMENTWISE_TYPE_PROMOTION_KIND,
    type_promoting_args: Sequence[str] | None = None,
) -> Callable[[Function], Function]:
    """Have a function get the named operands in the dtype in which they are computed together, and
    its results become of the dtype that these have then."""
    names = tuple(type_promoting_args or ())

    def decorate(function: Function) -> Function:
        own = signature(function)

        @wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            bound = own.bind(*args, **kwargs)
            given = {name: bound.arguments[name] for name in names if name in bound.arguments}
            operands = [each for value in given.values() for each in _operands(value)]
            computed, result = elementwise_dtypes(
                *operands, type_promotion_kind=type_promotion_kind
            )
            for name, value in given.items():
                bound.arguments[name] = _maybe_convert_to_dtype(value, computed)
            made = function(*bound.args, **bound.kwargs)
            if isinstance(made, Tensor):
                return _maybe_convert_to_dtype(made, result)
            if isinstance(made, Sequence):
                return tuple(_maybe_convert_to_dtype(each, result) for each in made)
            return made

        vars(run)["__signature__"] = own
        return run

    return decorate


def _operands(value: object) -> list[object]:
    if isinstance(value, (list, tuple)):
        return [each for part in value for each in _operands(part)]
    return [] if value is None else [value]


# --------------------------------------------------------------------------- given tensors


def _maybe_resize_out(
    out: Tensor, shape: Sequence[int], memory_format: MemoryFormat | None = None
) -> Tensor:
    """A tensor of other sizes, if it has others."""
    if tuple(out.shape) == tuple(shape):
        return out
    return out.resize_(tuple(shape), memory_format=memory_format)


def _safe_copy_out(*, copy_from: Tensor, copy_to: Tensor, exact_dtype: bool = False) -> Tensor:
    """A tensor with the elements of another one.

    Raises:
        RuntimeError: it lies elsewhere, or its dtype cannot hold them.
    """
    if copy_from.device != copy_to.device:
        raise RuntimeError(
            f"Attempting to copy from device {copy_from.device} to device {copy_to.device}, but "
            "cross-device copies are not allowed!"
        )
    if exact_dtype and copy_from.dtype is not copy_to.dtype:
        raise RuntimeError(
            f"Expected out tensor to have dtype {copy_from.dtype} but got {copy_to.dtype} instead"
        )
    if not can_safe_cast_to(cast_from=copy_from.dtype, cast_to=copy_to.dtype):
        raise RuntimeError(
            f"Attempting to cast from {copy_from.dtype} to out tensor with dtype {copy_to.dtype}, "
            "but this can't be cast because it is not safe!"
        )
    return copy_to.copy_(copy_from)


def out_wrapper(
    *out_names: str,
    exact_dtype: bool = False,
    pass_is_out: bool = False,
    preserve_memory_format: bool = False,
) -> Callable[[Function], Function]:
    """Have a function take `out=`, or keywords for each of several results.

    Args:
        exact_dtype: such tensors must have the dtypes of the results.
        pass_is_out: the function wants to be told whether there are any, as `is_out`.
        preserve_memory_format: torch has such tensors take the results' memory format then.
    """
    names = out_names or ("out",)
    several = len(names) > 1

    def decorate(function: Function) -> Function:
        own = signature(function)
        kinds = namedtuple(f"return_types_{function.__name__}", names) if several else None

        @wraps(function)
        def run(*args: Any, out: Any = None, **kwargs: Any) -> Any:
            if several and out is None and any(name in kwargs for name in names):
                out = tuple(kwargs.pop(name, None) for name in names)
            if several and out is not None and any(each is None for each in out):
                raise TypeError(f"{names} must all be given, or none of them")
            if pass_is_out:
                kwargs["is_out"] = out is not None
            made = function(*args, **kwargs)
            if out is not None:
                for result, target in zip(
                    made if several else (made,), out if several else (out,), strict=True
                ):
                    _maybe_resize_out(target, result.shape)
                    _safe_copy_out(copy_from=result, copy_to=target, exact_dtype=exact_dtype)
                made = out
            return made if kinds is None else kinds(*made)

        more = [] if several else [Parameter("out", Parameter.KEYWORD_ONLY, default=None)]
        more += [Parameter(name, Parameter.KEYWORD_ONLY, default=None) for name in names if several]
        vars(run)["__signature__"] = own.replace(
            parameters=_in_order([*own.parameters.values(), *more])
        )
        return run

    return decorate


def _in_order(parameters: list[Parameter]) -> list[Parameter]:
    return sorted(parameters, key=lambda each: each.kind)
