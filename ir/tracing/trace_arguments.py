"""How a trace writes operators whose recorded form differs from the one that was called."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ...frontend.foundations.declared import Declared
from ...ops.eager.aten import aten
from ...ops.eager.binding import takes_numbers
from ...ops.memory.dtype import CPU, Device, dtype_of
from ...ops.table.record import Traced
from ...ops.table.table import TABLE, Operator
from ...ops.tensors.tensor import Tensor
from ...typecheck.definitions.schema import Argument, Signature
from ...typecheck.types.types import BOOL, COMPLEX, DEVICE, FLOAT, INT, STRING, Type

__all__ = ["IN_PARTS", "plain_constant", "recorded", "repeated", "signature_named"]

Recorded = tuple[Signature, Sequence[object], bool]
"""Signature, arguments, and whether results tell that they require gradients."""

_STRIDED: Final = 0
"""The number of the only layout there is."""


def recorded(entry: Operator, values: Sequence[object]) -> Recorded:
    """What a trace writes for an operator."""
    if entry.traced:
        return _FORMS[entry.traced](entry, values)
    name = entry.name.removeprefix("aten::").removesuffix("_")
    if entry.overload.startswith("Scalar") and takes_numbers(name):
        return _with_tensor(entry, list(values))
    names = [a.name for a in entry.signature.arguments]
    if "pin_memory" in names:
        values = _with_options(names, list(values))
    return entry.signature, values, True


def _with_tensor(entry: Operator, values: list[object]) -> Recorded:
    """`x + 1`: the number is a tensor."""
    overload = entry.overload.replace("Scalar", "Tensor")
    overloads = {e.overload: e.signature for e in TABLE.operators(entry.name)}
    if overload not in overloads:
        overload = "out" if overload.endswith("_out") else ""
    if overload in overloads:
        values[1] = np.asarray(values[1])
        return overloads[overload], values, True
    return entry.signature, values, True


def _with_options(names: list[str], values: list[object]) -> list[object]:
    """New tensors: what torch's functions fill in."""
    place = names.index("pin_memory")
    if values[place] is None:
        values[place] = False
    device = names.index("device")
    if values[device] is None and "self" not in names:
        values[device] = CPU
    return values


def signature_named(full_name: str) -> Signature:
    """The signature of an operator's overload."""
    name, _, overload = full_name.partition(".")
    return next(e.signature for e in TABLE.operators(name) if e.overload == overload)


def repeated(value: object, argument: Argument) -> object:
    """A number for each dimension, where one stands for all."""
    is_single = argument.size is not None and isinstance(value, (int, float))
    return [value] * (argument.size or 0) if is_single else value


_EXACT: Final[dict[type, Type]] = {
    bool: BOOL, int: INT, float: FLOAT, complex: COMPLEX, str: STRING,
}  # fmt: skip


def plain_constant(value: Any, type: Type) -> tuple[object, Type]:
    """A plain value as a constant of the wanted type."""
    if isinstance(value, Device) or type == DEVICE:
        return value, DEVICE
    if type == FLOAT:
        return float(value), FLOAT
    if type == INT and not isinstance(value, bool):
        return int(value), INT
    number = getattr(value, "number", None)
    if isinstance(number, int):
        return number, INT
    return value, _EXACT.get(value.__class__, type)


def _convolution(entry: Operator, values: Sequence[Any]) -> Recorded:
    given = dict(zip((a.name for a in entry.signature.arguments), values, strict=True))
    padding, dims = given["padding"], int(entry.name[-2])
    if isinstance(padding, str):
        made = [given[n] for n in "input weight bias stride padding dilation groups".split()]
        return signature_named("aten::_convolution_mode"), made, True

    def each(name: str) -> list[int]:
        found = given.get(name, [0])
        found = [found] if isinstance(found, int) else list(found)
        return found * dims if len(found) == 1 else found

    made = [given["input"], given["weight"], given["bias"]]
    made += [each("stride"), each("padding"), each("dilation"), "output_padding" in given]
    made += [each("output_padding"), given["groups"], False, False, True, True]
    return signature_named("aten::_convolution"), made, False


def _to(entry: Operator, values: Sequence[Any]) -> Recorded:
    """`x.to(...)`: to a dtype, or to a device and a dtype; `x.cpu()` keeps the dtype."""
    given = dict(zip((a.name for a in entry.signature.arguments), values, strict=True))
    rest = [bool(given.get("non_blocking")), bool(given.get("copy")), given.get("memory_format")]
    dtype, device = given.get("dtype"), given.get("device")
    if device is None and dtype is not None:
        return signature_named("aten::to.dtype"), [values[0], dtype, *rest], True
    if device is not None and dtype is not None:
        return signature_named("aten::to.device"), [values[0], device, dtype, *rest], True
    same = dtype_of(values[0]).number
    made = [values[0], same, _STRIDED, device or CPU, given.get("pin_memory"), *rest]
    return signature_named("aten::to.dtype_layout"), made, True


def _by_correction(entry: Operator, values: Sequence[object]) -> Recorded:
    """`x.std()`: the form that is told its correction."""
    if values[1] is not True:
        return entry.signature, values, True
    return signature_named(f"{entry.name}.correction"), [values[0], None, None, False], True


def _upsample(entry: Operator, values: Sequence[object]) -> Recorded:
    """Resizing to sizes, or by factors: the form that takes either.  What its own form could have
    been written with (one dimension, to a size) is known by that one."""
    names = [a.name for a in entry.signature.arguments]
    given = [v for v, n in zip(values, names, strict=True) if n.startswith("scales")]
    aligned = [v for v, n in zip(values, names, strict=True) if n == "align_corners"]
    if given == [None]:
        return entry.signature, values, True
    factors = None if None in given else given
    sizes = values[1] if factors is None else None
    return signature_named(f"{entry.name}.vec"), [values[0], sizes, *aligned, factors], True


def _by_sizes(entry: Operator, values: Sequence[object]) -> Recorded:
    """`x.split([2, 3])`, which Python's `split` hands on to another operator."""
    return signature_named("aten::split_with_sizes"), values, True


_FORMS: Final[dict[Traced, Callable[[Operator, Sequence[object]], Recorded]]] = {
    "convolution": _convolution,
    "correction": _by_correction,
    "factors": _upsample,
    "sizes": _by_sizes,
    "to": _to,
}


# ---------------------------------------------------------------------- cells

IN_PARTS: Final[Declared[str, Callable[..., Tensor | tuple[Tensor, ...]]]] = Declared()
"""Operators of which a trace has the parts."""


@IN_PARTS.of("aten::lstm_cell")
def _lstm_cell(input: Tensor, hidden: Sequence[Tensor], *weights: Tensor) -> tuple[Tensor, Tensor]:
    w_ih, w_hh, b_ih, b_hh = (*weights, None, None)[:4]
    h, c = hidden
    gates = aten.linear(h, w_hh, b_hh)
    gates = gates.add_(aten.linear(input, w_ih, b_ih))
    i, f, g, o = aten.unsafe_chunk(gates, 4, 1)
    i, f, g, o = i.sigmoid_(), f.sigmoid_(), g.tanh_(), o.sigmoid_()
    c = (f * c).add_(i * g)
    return o * c.tanh(), c


@IN_PARTS.of("aten::gru_cell")
def _gru_cell(input: Tensor, h: Tensor, *weights: Tensor) -> Tensor:
    w_ih, w_hh, b_ih, b_hh = (*weights, None, None)[:4]
    from_input = aten.unsafe_chunk(aten.linear(input, w_ih, b_ih), 3, 1)
    from_hidden = aten.unsafe_chunk(aten.linear(h, w_hh, b_hh), 3, 1)
    reset = from_hidden[0].add_(from_input[0]).sigmoid_()
    update = from_hidden[1].add_(from_input[1]).sigmoid_()
    new = from_input[2].add(from_hidden[2].mul_(reset)).tanh_()
    return (h - new).mul_(update).add_(new)


def _plain_cell(activation: str) -> Callable[..., Tensor]:
    def cell(input: Tensor, h: Tensor, *weights: Tensor) -> Tensor:
        w_ih, w_hh, b_ih, b_hh = (*weights, None, None)[:4]
        both = aten.linear(input, w_ih, b_ih).add_(aten.linear(h, w_hh, b_hh))
        activate: Callable[[Tensor], Tensor] = getattr(aten, activation)
        return activate(both)

    return cell


IN_PARTS.of("aten::rnn_tanh_cell")(_plain_cell("tanh"))
IN_PARTS.of("aten::rnn_relu_cell")(_plain_cell("relu"))
