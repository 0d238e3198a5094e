"""Eager calls of operators that meet tensors without data, or are asked for some."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import cache

from ..eager.calls import any_requires_grad, finish, tensors_in
from ..eager.calls import run as run_with_data
from ..eager.elsewhere import Choose
from ..eager.open_operators import OpenOperator
from ..memory.dtype import CPU, Device
from ..memory.errors import OnMeta
from ..random_numbers.random import Generator
from ..table.grad_mode import is_recording
from ..table.table import TABLE, Operator
from ..tensors.tape_port import tape
from ..tensors.tensor import Tensor
from .outcome import meets_elements, outcome
from .tensors import closed, is_meta, on_meta, opened

__all__ = ["call", "run"]


def call(
    operator_name: str, args: tuple[object, ...], kwargs: dict[str, object], choose: Choose
) -> object:
    """What an eager call gives for arguments with tensors on `meta`, or asked to make some.

    Raises:
        NotImplementedError: the result depends on data.
        RuntimeError: tensors on the CPU are among the operands.
    """
    del operator_name, args, kwargs
    with opened():
        return choose(run)


def run(entry: Operator, values: list[object], handles: Sequence[object]) -> object:
    """Run an operator on machine values, which may stand for tensors without data."""
    values = [None if isinstance(value, Generator) else value for value in values]
    given = tensors_in(list(handles))
    places = [value for value in values if isinstance(value, Device)]
    if isinstance(entry, OpenOperator) and all(place.type == "meta" for place in places):
        return _as_registered(entry, values, [each for each in given if not is_meta(each)])
    if entry.full_name == "aten::to.other":
        device: Device | None = given[1].device
    else:
        device = CPU if entry.name == "aten::cpu" else _taken_device(values)
    if device is None or device.type == "meta":
        _check_places(entry, given, device)
        if device is not None and entry.name == "aten::to" and not is_meta(given[0]):
            names = [argument.name for argument in entry.signature.arguments]
            values[names.index("copy")] = True  # what has data keeps them
        return _run(entry, values, handles)
    if any(map(is_meta, given)) and TABLE.said(entry.name, lambda each: each.between_devices):
        raise OnMeta("Cannot copy out of meta tensor; no data!")
    return run_with_data(entry, values, handles)


def _taken_device(values: list[object]) -> Device | None:
    """The device that results shall lie on, if an argument says it, which is taken away."""
    for place, value in enumerate(values):
        if isinstance(value, Device):
            if value.type == "meta":
                values[place] = None
            return value
    return None


def _check_places(entry: Operator, given: list[Tensor], device: Device | None) -> None:
    """Refuse data that go to meta tensors, or come from them.

    Raises:
        RuntimeError: an operand with dimensions lies on the CPU.
        NotImplementedError: a tensor on the CPU is to be written.
    """
    held = [each for each in given if not is_meta(each)]
    if entry.is_in_place and held and held[0] is given[0]:
        raise OnMeta("Cannot copy out of meta tensor; no data!")
    if device is None and meets_elements(entry) and any(each.ndim for each in held):
        raise RuntimeError("Tensor on device cpu is not on the expected device meta!")


def _run(entry: Operator, values: list[object], handles: Sequence[object]) -> object:
    made = entry if entry.unwatched is not None else _of_outcomes(entry)
    if any_requires_grad(handles) and is_recording():
        return on_meta(tape().taped(made, values, handles, True))
    return on_meta(finish(entry, values, made.forward(*values), handles))


def _as_registered(entry: OpenOperator, values: Sequence[object], held: list[Tensor]) -> object:
    """What the function says that was registered for tensors without data; some are `held` in
    memory.

    Raises:
        NotImplementedError: there is none.
    """
    kernel = entry.fake or entry.kernel(("Meta", "CompositeImplicitAutograd"))
    if kernel is None:
        raise OnMeta(
            f"{entry.name}: attempted to run this operator with Meta tensors, but there was no fake"
            " impl or Meta kernel registered; torch.library.register_fake registers one"
        )
    handles = entry.handles(values)
    arrays = [each._array for each in held]
    on_meta([each for each in tensors_in(handles) if all(each._array is not a for a in arrays)])
    with closed():
        return entry.call(kernel, handles)


@cache
def _of_outcomes(entry: Operator) -> Operator:
    """The operator with a forward that computes nothing, for the tape to call."""
    made = copy(entry)
    made.forward = lambda *values: outcome(entry, values)
    return made
