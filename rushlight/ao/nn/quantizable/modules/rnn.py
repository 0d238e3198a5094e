"""A long short-term memory of layers that can be observed and quantized one by one."""

# Script reads these bodies: no casts in them.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any, ClassVar, Final, Self

from .....nn.layer_options import Biased
from .....nn.modules import rnn as floats
from .....nn.modules.activation import Sigmoid, Tanh
from .....nn.modules.container import ModuleDict, ModuleList
from .....nn.modules.linear import Linear
from .....nn.modules.module import Module
from .....nn.parameter import Parameter
from .....ops.eager.dispatch import eager_function
from .....ops.memory.dtype import DTYPES, Device, DType
from .....ops.tensors.tensor import Tensor
from ...configuration import Configuration
from ...quantized.modules.functional_modules import FloatFunctional

__all__ = ["LSTM", "LSTMCell"]

_OWN: Final = __name__.partition(".")[0]
_GATES: Final = ("input", "forget", "cell", "output")

_cat = eager_function("aten::cat")
_chunk = eager_function("aten::chunk")
_flip = eager_function("aten::flip")
_quantize = eager_function("aten::quantize_per_tensor")
_stack = eager_function("aten::stack")
_tanh = eager_function("aten::tanh")
_zeros = eager_function("aten::zeros")

Pair = tuple[Tensor, Tensor]


class LSTMCell(Module):
    """One step (B, input_dim) with states (B, hidden_dim): linear layers, sums and products that
    each have a range of their own.

    Args:
        split_gates: a linear layer for each gate, not one for all four.
    """

    _FLOAT_MODULE: ClassVar[type[Module]] = floats.LSTMCell
    __constants__ = ["split_gates"]  # noqa: RUF012  (an annotation would show in archives)

    def __init__(
        self,
        input_dim: int,
        hidden_dim: int,
        bias: bool = True,
        device: Device | str | None = None,
        dtype: DType | None = None,
        *,
        split_gates: bool = False,
    ) -> None:
        super().__init__()
        made: Biased = {"bias": bias, "device": device, "dtype": dtype}
        self.input_size = input_dim
        self.hidden_size = hidden_dim
        self.bias = bias
        self.split_gates = split_gates
        self.igates: Any
        self.hgates: Any
        self.gates: Any
        if split_gates:
            self.igates = ModuleDict({n: Linear(input_dim, hidden_dim, **made) for n in _GATES})
            self.hgates = ModuleDict({n: Linear(hidden_dim, hidden_dim, **made) for n in _GATES})
            self.gates = ModuleDict({n: FloatFunctional() for n in _GATES})
        else:
            self.igates = Linear(input_dim, 4 * hidden_dim, **made)
            self.hgates = Linear(hidden_dim, 4 * hidden_dim, **made)
            self.gates = FloatFunctional()
        self.input_gate = Sigmoid()
        self.forget_gate = Sigmoid()
        self.cell_gate = Tanh()
        self.output_gate = Sigmoid()
        self.fgate_cx = FloatFunctional()
        self.igate_cgate = FloatFunctional()
        self.fgate_cx_igate_cgate = FloatFunctional()
        self.ogate_cy = FloatFunctional()
        self.initial_hidden_state_qparams: tuple[float, int] = (1.0, 0)
        self.initial_cell_state_qparams: tuple[float, int] = (1.0, 0)
        self.hidden_state_dtype: DType = DTYPES["quint8"]
        self.cell_state_dtype: DType = DTYPES["quint8"]

    def forward(self, x: Tensor, hidden: tuple[Tensor, Tensor] | None = None) -> Pair:
        """The states after the step, the hidden one first; zeros come before if none are given."""
        if hidden is None:
            hidden = self.initialize_hidden(x.shape[0], x.is_quantized)
        before, held = hidden
        if self.split_gates:
            parts = [
                self.gates["input"].add(self.igates["input"](x), self.hgates["input"](before)),
                self.gates["forget"].add(self.igates["forget"](x), self.hgates["forget"](before)),
                self.gates["cell"].add(self.igates["cell"](x), self.hgates["cell"](before)),
                self.gates["output"].add(self.igates["output"](x), self.hgates["output"](before)),
            ]
        else:
            parts = _chunk(self.gates.add(self.igates(x), self.hgates(before)), 4, 1)
        taken = self.input_gate(parts[0])
        kept = self.forget_gate(parts[1])
        new = self.cell_gate(parts[2])
        shown = self.output_gate(parts[3])
        state = self.fgate_cx_igate_cgate.add(
            self.fgate_cx.mul(kept, held), self.igate_cgate.mul(taken, new)
        )
        return self.ogate_cy.mul(shown, _tanh(state)), state

    def initialize_hidden(self, batch_size: int, is_quantized: bool = False) -> Pair:
        """States of zeros."""
        h = _zeros([batch_size, self.hidden_size])
        c = _zeros([batch_size, self.hidden_size])
        if is_quantized:
            scale, zero = self.initial_hidden_state_qparams
            h = _quantize(h, scale, zero, self.hidden_state_dtype)
            scale, zero = self.initial_cell_state_qparams
            c = _quantize(c, scale, zero, self.cell_state_dtype)
        return h, c

    def _get_name(self) -> str:
        return "QuantizableLSTMCell"

    @classmethod
    def from_params(
        cls,
        wi: Tensor,
        wh: Tensor,
        bi: Tensor | None = None,
        bh: Tensor | None = None,
        split_gates: bool = False,
    ) -> Self:
        """The cell of weights (4 * hidden, ...) and biases, as float layers hold them.

        Raises:
            AssertionError: one bias is given without the other.
        """
        if (bi is None) != (bh is None):
            raise AssertionError("bi and bh must both be None or both have values")
        made = cls(wi.shape[1], wh.shape[1], bi is not None, split_gates=split_gates)
        for linears, weight, bias in ((made.igates, wi, bi), (made.hgates, wh, bh)):
            several = linears.values() if split_gates else [linears]
            for number, linear in enumerate(several):
                linear.weight = Parameter(_part(weight, number, len(several)))
                if bias is not None:
                    linear.bias = Parameter(_part(bias, number, len(several)))
        return made

    @classmethod
    def from_float(
        cls, other: Module, use_precomputed_fake_quant: bool = False, split_gates: bool = False
    ) -> Self:
        """The cell of a float one that is configured.

        Raises:
            AssertionError: it is another module, or has no configuration.
        """
        if type(other) is not cls._FLOAT_MODULE:
            raise AssertionError(f"Expected module type {cls._FLOAT_MODULE}, got {type(other)}")
        if not hasattr(other, "qconfig"):
            raise AssertionError("The float module must have 'qconfig'")
        cell = other
        parts = cell.weight_ih, cell.weight_hh, cell.bias_ih, cell.bias_hh
        made = cls.from_params(*parts, split_gates)
        made.qconfig = other.qconfig
        for linears in (made.igates, made.hgates):
            for each in linears.values() if split_gates else [linears]:
                each.qconfig = other.qconfig
        return made


def _part(tensor: Tensor, number: int, count: int) -> Tensor:
    """One of so many equal parts of the first dimension."""
    size = tensor.shape[0] // count
    return tensor.detach()[number * size : (number + 1) * size].clone()


class _LSTMSingleLayer(Module):
    """One layer in one direction, over (T, B, input_dim)."""

    def __init__(
        self,
        input_dim: int,
        hidden_dim: int,
        bias: bool = True,
        device: Device | str | None = None,
        dtype: DType | None = None,
        *,
        split_gates: bool = False,
    ) -> None:
        super().__init__()
        self.cell = LSTMCell(input_dim, hidden_dim, bias, device, dtype, split_gates=split_gates)

    def forward(
        self, x: Tensor, hidden: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, Pair]:
        state = hidden
        if state is None:
            state = self.cell.initialize_hidden(x.shape[1], x.is_quantized)
        found: list[Tensor] = []
        for i in range(x.shape[0]):
            state = self.cell(x[i], state)
            found.append(state[0])
        return _stack(found, 0), state

    @classmethod
    def from_params(
        cls,
        wi: Tensor,
        wh: Tensor,
        bi: Tensor | None = None,
        bh: Tensor | None = None,
        split_gates: bool = False,
    ) -> Self:
        """The layer of two weights and two biases."""
        cell = LSTMCell.from_params(wi, wh, bi, bh, split_gates)
        made = cls(cell.input_size, cell.hidden_size, cell.bias, split_gates=split_gates)
        made.cell = cell
        return made


class _LSTMLayer(Module):
    """One layer, in one direction or in both."""

    __constants__ = ["batch_first", "bidirectional"]  # noqa: RUF012  (as in `LSTMCell`)

    def __init__(
        self,
        input_dim: int,
        hidden_dim: int,
        bias: bool = True,
        batch_first: bool = False,
        bidirectional: bool = False,
        device: Device | str | None = None,
        dtype: DType | None = None,
        *,
        split_gates: bool = False,
    ) -> None:
        super().__init__()
        form = input_dim, hidden_dim, bias, device, dtype
        self.batch_first = batch_first
        self.bidirectional = bidirectional
        self.layer_fw = _LSTMSingleLayer(*form, split_gates=split_gates)
        if bidirectional:
            self.layer_bw = _LSTMSingleLayer(*form, split_gates=split_gates)

    def forward(
        self, x: Tensor, hidden: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, Pair]:
        """Results (T, B, directions * hidden), states (B, hidden) or (2, B, hidden)."""
        if self.batch_first:
            x = x.transpose(0, 1)
        if self.bidirectional:
            first: tuple[Tensor, Tensor] | None = None
            second: tuple[Tensor, Tensor] | None = None
            if hidden is not None:
                first = hidden[0][0], hidden[1][0]
                second = hidden[0][1], hidden[1][1]
            there, (h, c) = self.layer_fw(x, first)
            back, (h2, c2) = self.layer_bw(_flip(x, [0]), second)
            result = _cat([there, _flip(back, [0])], there.dim() - 1)
            h, c = _stack([h, h2], 0), _stack([c, c2], 0)
        else:
            result, (h, c) = self.layer_fw(x, hidden)
        if self.batch_first:
            result = result.transpose(0, 1)
        return result, (h, c)

    @classmethod
    def from_float(
        cls,
        other: Module,
        layer_idx: int = 0,
        qconfig: Configuration | None = None,
        *,
        batch_first: bool = False,
        split_gates: bool = False,
    ) -> Self:
        """One layer of a float module."""
        directions = ["", "_reverse"] if other.bidirectional else [""]
        made = []
        for direction in directions:
            ending = f"_l{layer_idx}{direction}"
            wi, wh = [getattr(other, f"weight_{part}{ending}") for part in ("ih", "hh")]
            bi, bh = [getattr(other, f"bias_{part}{ending}", None) for part in ("ih", "hh")]
            made.append(_LSTMSingleLayer.from_params(wi, wh, bi, bh, split_gates))
        cell = made[0].cell
        layer = cls(
            *(cell.input_size, cell.hidden_size, cell.bias, batch_first, other.bidirectional),
            split_gates=split_gates,
        )
        layer.qconfig = getattr(other, "qconfig", qconfig)
        layer.layer_fw = made[0]
        if other.bidirectional:
            layer.layer_bw = made[1]
        return layer


class LSTM(Module):
    """`nn.LSTM` whose steps can be observed; `dropout` is ignored.

    Raises:
        ValueError: a dropout that is no probability.
    """

    _FLOAT_MODULE: ClassVar[type[Module]] = floats.LSTM

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Device | str | None = None,
        dtype: DType | None = None,
        *,
        split_gates: bool = False,
    ) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        _check_dropout(dropout, num_layers)
        width = hidden_size * (2 if bidirectional else 1)
        self.layers = ModuleList(
            _LSTMLayer(
                *(width if number else input_size, hidden_size, bias, False, bidirectional),
                *(device, dtype),
                split_gates=split_gates,
            )
            for number in range(num_layers)
        )

    def forward(
        self, x: Tensor, hidden: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, Pair]:
        """As `nn.LSTM`: results, and states (layers * directions, B, hidden)."""
        if self.batch_first:
            x = x.transpose(0, 1)
        directions = 2 if self.bidirectional else 1
        batch = x.size(1)
        shape = [batch, self.hidden_size]
        every = [self.num_layers, batch, self.hidden_size]
        if self.bidirectional:
            shape = [2, batch, self.hidden_size]
            every = [self.num_layers, 2, batch, self.hidden_size]
        if hidden is None:
            zeros = _zeros(shape, device=x.device)
            if x.is_quantized:
                zeros = _quantize(zeros, 1.0, 0, x.dtype)
            pairs = [(zeros, zeros) for _ in range(self.num_layers)]
        else:
            before, held = hidden[0].reshape(every), hidden[1].reshape(every)
            pairs = [(before[i], held[i]) for i in range(self.num_layers)]
        shown: list[Tensor] = []
        kept: list[Tensor] = []
        for number, layer in enumerate(self.layers):
            x, (h, c) = layer(x, pairs[number])
            shown.append(h)
            kept.append(c)
        last = [self.num_layers * directions, batch, self.hidden_size]
        if self.batch_first:
            x = x.transpose(0, 1)
        return x, (_stack(shown, 0).reshape(last), _stack(kept, 0).reshape(last))

    def _get_name(self) -> str:
        return "QuantizableLSTM"

    @classmethod
    def from_float(
        cls, other: Module, qconfig: Configuration | None = None, split_gates: bool = False
    ) -> Module:
        """The observed layer of a float one.

        Args:
            qconfig: its configuration, unless `other` has one.

        Raises:
            AssertionError: it is another module, or there is no configuration.
            NotImplementedError: its states are projected.
        """
        if not isinstance(other, cls._FLOAT_MODULE):
            raise AssertionError(f"Expected module type {cls._FLOAT_MODULE}, got {type(other)}")
        if not hasattr(other, "qconfig") and not qconfig:
            raise AssertionError("other must have qconfig or qconfig must be provided")
        if getattr(other, "proj_size", 0):
            raise NotImplementedError("quantizable.LSTM: projections (`proj_size`)")
        made = cls(
            *(other.input_size, other.hidden_size, other.num_layers, other.bias),
            *(other.batch_first, other.dropout, other.bidirectional),
            split_gates=split_gates,
        )
        made.qconfig = getattr(other, "qconfig", qconfig)
        made.layers = ModuleList(
            _LSTMLayer.from_float(other, number, qconfig, split_gates=split_gates)
            for number in range(other.num_layers)
        )
        steps: ModuleType = import_module(f"{_OWN}.ao.quantization.quantize")
        made.train(other.training)
        prepare: Callable[..., Module] = steps.prepare_qat if other.training else steps.prepare
        return prepare(made, inplace=True)

    @classmethod
    def from_observed(cls, other: Module) -> Module:
        """Raises: NotImplementedError: this is the observed layer itself."""
        raise NotImplementedError(
            "It looks like you are trying to convert a non-quantizable LSTM module. Please, see "
            "the examples on quantizable LSTMs."
        )


def _check_dropout(dropout: object, layers: int) -> None:
    if not isinstance(dropout, int | float) or isinstance(dropout, bool) or not 0 <= dropout <= 1:
        raise ValueError(
            "dropout should be a number in range [0, 1] representing the probability of an element "
            "being zeroed"
        )
    if dropout > 0:
        warnings.warn(
            "dropout option for quantizable LSTM is ignored. If you are training, please, use "
            "nn.LSTM version followed by `prepare` step.",
            stacklevel=3,
        )
    if dropout > 0 and layers == 1:
        warnings.warn(
            "dropout option adds dropout after all but last recurrent layer, so non-zero dropout "
            f"expects num_layers greater than 1, but got dropout={dropout} and num_layers={layers}",
            stacklevel=3,
        )
