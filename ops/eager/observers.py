"""Who hears of an eager call, in this order.

1. Classes and modes with a `__torch_function__` may do it themselves (`tensors/overriding.py`).
2. `OBSERVERS` ready its arguments: autocast casts them, a device that was entered is filled in.
3. An overload is chosen and run, by the tape where gradients are wanted (`tensors/tape_port.py`).
4. The thread's tracer is told of the result (`tensors/tracing.py`, `finish` in `calls.py`).

None costs anything before it is first on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from ..memory.at_first import AtFirst
from ..memory.dtype import DTYPES, DType, dtype_by_number
from ..memory.entered import AT_FIRST_DEVICE, ENTERED
from ..table.autocast import AT_FIRST_AUTOCAST, autocast_state, eager_policy
from ..table.table import TABLE, Operator
from ..tensors.overriding import askers
from ..tensors.tensor import Tensor
from .calls import tensors_in

__all__ = ["OBSERVERS", "Arguments", "Observer"]

Arguments = tuple[tuple[object, ...], dict[str, object]]
"""By position and by name."""


class Observer(NamedTuple):
    """Something that changes the arguments of eager calls while it is on."""

    first: AtFirst
    """What is done before it is first on."""
    concerns: Callable[[str], bool]
    """Whether it has to do with an operator, `aten::mm`."""
    ready: Callable[[str, tuple[object, ...], dict[str, object]], Arguments]
    """Gives the arguments of a call of that operator as they are to be."""


# --------------------------------------------------------------------------- devices


def _makes_tensors(entry: Operator) -> bool:
    arguments, _, _ = entry.schema.rpartition("->")
    return "Device? device" in arguments and "Tensor" not in arguments


def _is_elsewhere(entry: Operator) -> bool:
    """Whether the device is that of something given."""
    arguments, _, _ = entry.schema.rpartition("->")
    return "Device? device" not in arguments and "out" not in entry.overload


def _is_factory(name: str) -> bool:
    """Whether a function makes tensors on the device that was entered last.

    `torch.normal` is none: it takes a device in one form only, and makes tensors of others too.
    """
    return bool(TABLE.said(name, _makes_tensors)) and not TABLE.said(name, _is_elsewhere)


def _on_entered(name: str, args: tuple[object, ...], kwargs: dict[str, object]) -> Arguments:
    if ENTERED.devices and kwargs.get("device") is None:
        kwargs["device"] = ENTERED.devices[-1]
    return args, kwargs


# --------------------------------------------------------------------------- autocast

_FLOAT: Final = DTYPES["float32"]
_ELIGIBLE: Final = (_FLOAT, DTYPES["bfloat16"], DTYPES["float16"])


def _is_cast(name: str) -> bool:
    return eager_policy(name) != ""


def _autocast(name: str, args: tuple[object, ...], kwargs: dict[str, object]) -> Arguments:
    """The arguments with their tensors in the dtype that the operator's policy asks for."""
    state = autocast_state()
    if not state.cpu or "out" in kwargs or askers(args, kwargs) is not None:
        return args, kwargs
    policy = eager_policy(name)
    target = dtype_by_number(state.cpu_dtype)
    if policy == "full" or (
        policy == "widest" and any(t.dtype is _FLOAT for t in tensors_in((args, *kwargs.values())))
    ):
        target = _FLOAT
    given = tuple([_cast(each, target) for each in args])
    return given, {key: _cast(each, target) for key, each in kwargs.items()}


def _cast(value: object, target: DType) -> object:
    """The value with its tensors of float32 or lower in the dtype."""
    if isinstance(value, Tensor):
        dtype = value.dtype
        return value.to(target) if dtype in _ELIGIBLE and dtype is not target else value
    if type(value) is list:
        return [_cast(each, target) for each in value]
    if type(value) is tuple:
        return tuple([_cast(each, target) for each in value])
    return value


OBSERVERS: Final = (
    Observer(AT_FIRST_DEVICE, _is_factory, _on_entered),
    Observer(AT_FIRST_AUTOCAST, _is_cast, _autocast),
)
"""An operator has to do with one at most."""
