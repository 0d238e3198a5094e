"""Recurrent layers over packed weights, quantized by the range of what they are given."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from ..layers.recurrent import Options, Weights, over_input, over_packed, steps
from ..memory.dtype import Array
from ..memory.errors import OperatorError
from ..table.table import operator
from .linear import dynamic_linear
from .packed_weights import CellParams, PackedLinear

_C: Final = "__torch__.torch.classes.rnn.CellParamsBase"
_L: Final = "__torch__.torch.classes.quantized.LinearPackedParamsBase"
_REST: Final = (
    f"{_C}[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional"
)


def _weights(params: CellParams) -> Weights:
    if params.kind not in ("quantized_dynamic", "quantized_fp16") or len(params.packed) != 2:
        raise OperatorError(f"cell parameters of kind `{params.kind}` are not supported")
    reduce = bool(params.ints[0]) if params.ints else False
    w_ih, w_hh = (partial(_gates, packed, reduce) for packed in params.packed)
    return Weights(w_ih, w_hh, None, None, None)


def _gates(packed: PackedLinear, reduce_range: bool, x: Array) -> Array:
    return dynamic_linear(x, packed, reduce_range)


def _declare_layer(name: str) -> None:
    """Declare a layer for input and for packed data."""
    is_lstm = name == "lstm"
    states = "Tensor[] hx" if is_lstm else "Tensor hx"
    results = "(Tensor, Tensor, Tensor)" if is_lstm else "(Tensor, Tensor)"
    ending = ", *, ScalarType? dtype=None, bool use_dynamic=False" if is_lstm else ""
    step = steps[name]

    def of_input(input: Array, hx: Any, params: list[CellParams], *rest: Any) -> tuple[Array, ...]:
        _, layers, dropout, train, both, batch_first = rest[:6]
        options = Options(layers, dropout, train, both)
        groups = [_weights(each) for each in params]
        return over_input(step, input, hx if is_lstm else [hx], groups, options, batch_first)

    def of_packed(
        data: Array, sizes: Array, hx: Any, params: list[CellParams], *rest: Any
    ) -> tuple[Array, ...]:
        _, layers, dropout, train, both = rest[:5]
        options = Options(layers, dropout, train, both)
        groups = [_weights(each) for each in params]
        return over_packed(step, data, sizes, hx if is_lstm else [hx], groups, options)

    operator(
        f"aten::quantized_{name}.input(Tensor input, {states}, {_REST}, bool batch_first{ending})"
        f" -> {results}",
        out="",
        cost="recurrent",
    )(of_input)
    operator(
        f"aten::quantized_{name}.data(Tensor data, Tensor batch_sizes, {states}, {_REST}{ending})"
        f" -> {results}",
        out="",
        cost="recurrent",
    )(of_packed)


def _declare_cell(name: str) -> None:
    step = steps[name]
    is_lstm = name == "lstm"

    def cell(
        input: Array, hx: Any, w_ih: PackedLinear, w_hh: PackedLinear, b_ih: object, b_hh: object
    ) -> Array | tuple[Array, ...]:
        weights = Weights(None, partial(_gates, w_hh, True), None, None, None)
        state = tuple(hx) if is_lstm else (hx,)
        made = step(_gates(w_ih, True, input), state, weights)
        return made if is_lstm else made[0]

    states, results = ("Tensor[] hx", "(Tensor, Tensor)") if is_lstm else ("Tensor hx", "Tensor")
    bias = "bias" if is_lstm else "b"
    operator(
        f"quantized::quantized_{name}_cell_dynamic(Tensor input, {states}, {_L} w_ih, "
        f"{_L} w_hh, Tensor {bias}_ih, Tensor {bias}_hh) -> {results}",
        cost="recurrent",
    )(cell)


for _name in ("lstm", "gru"):
    _declare_layer(_name)
for _name in ("lstm", "gru", "rnn_tanh", "rnn_relu"):
    _declare_cell(_name)


@operator(
    f"quantized::make_quantized_cell_params_dynamic({_L} w_ih, {_L} w_hh, Tensor bias_ih, "
    f"Tensor bias_hh, bool reduce_range=False) -> {_C}"
)
def make_dynamic(
    w_ih: PackedLinear, w_hh: PackedLinear, b_ih: Array, b_hh: Array, reduce_range: bool
) -> CellParams:
    return CellParams("quantized_dynamic", [b_ih, b_hh], [], [int(reduce_range)], [w_ih, w_hh])


@operator(f"quantized::make_quantized_cell_params_fp16({_L} w_ih, {_L} w_hh) -> {_C}")
def make_half(w_ih: PackedLinear, w_hh: PackedLinear) -> CellParams:
    return CellParams("quantized_fp16", [], [], [], [w_ih, w_hh])
