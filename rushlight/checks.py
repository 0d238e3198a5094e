"""`torch._check` and its kin: conditions that programs state of their arguments."""

from __future__ import annotations

from collections.abc import Callable

from .ops.tensors.tensor import Tensor

__all__ = [
    *("_check", "_check_index", "_check_is_size", "_check_not_implemented", "_check_tensor_all"),
    *("_check_tensor_all_with", "_check_type", "_check_value", "_check_with"),
]

Message = Callable[[], object] | None

_UNSAID = (
    "Expected cond to be True, but got False. (Could this error message be improved? If so, please "
    "report an enhancement request to PyTorch.)"
)
_A_TENSOR = (
    "cond must be a bool, but got a Tensor. For tensor conditions, use torch._check_tensor_all() "
    "to assert that all elements are true."
)


def _raise(error_type: type[Exception], message: object) -> None:
    if message is not None and not callable(message):
        raise TypeError("message must be a callable")
    raise error_type(_UNSAID if message is None else str(message()))


def _check_with(error_type: type[Exception], cond: object, message: Message) -> None:
    """Raise an error of a class, with what `message()` gives, where a condition is False.

    Raises:
        TypeError: the condition is no bool.
    """
    if not isinstance(cond, bool):
        said = (
            _A_TENSOR if isinstance(cond, Tensor) else f"cond must be a bool, but got {type(cond)}"
        )
        raise TypeError(said)
    if not cond:
        _raise(error_type, message)


def _check(cond: bool, message: Message = None) -> None:
    """Raise RuntimeError where a condition is False."""
    _check_with(RuntimeError, cond, message)


def _check_index(cond: bool, message: Message = None) -> None:
    """Raise IndexError where a condition is False."""
    _check_with(IndexError, cond, message)


def _check_value(cond: bool, message: Message = None) -> None:
    """Raise ValueError where a condition is False."""
    _check_with(ValueError, cond, message)


def _check_type(cond: bool, message: Message = None) -> None:
    """Raise TypeError where a condition is False."""
    _check_with(TypeError, cond, message)


def _check_not_implemented(cond: bool, message: Message = None) -> None:
    """Raise NotImplementedError where a condition is False."""
    _check_with(NotImplementedError, cond, message)


def _check_is_size(i: int, message: Message = None, *, max: int | None = None) -> None:
    """Raise RuntimeError where a number is negative, or above `max`."""
    _check(i >= 0, message)
    if max is not None:
        _check(i <= max, message)


def _check_tensor_all_with(
    error_type: type[Exception], cond: Tensor, message: Message = None
) -> None:
    """Raise an error of a class where an element of a tensor of bools is False.

    Raises:
        TypeError: the condition is no tensor, or one of another dtype.
    """
    if not isinstance(cond, Tensor):
        raise TypeError(f"cond must be a tensor, but got {type(cond)}")
    if str(cond.dtype) != "torch.bool":
        raise TypeError(f"cond tensor must have dtype torch.bool, but got {cond.dtype}")
    if not cond.all().item():
        _raise(error_type, message)


def _check_tensor_all(cond: Tensor, message: Message = None) -> None:
    """Raise RuntimeError where an element of a tensor of bools is False."""
    _check_tensor_all_with(RuntimeError, cond, message)


def _check_in_script(condition: bool, message: str = "") -> None:
    assert condition, message


_check._in_script = (_check_in_script,)  # type: ignore[attr-defined]
