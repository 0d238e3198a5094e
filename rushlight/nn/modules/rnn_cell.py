"""One step of a recurrent layer."""

# Script reads these bodies: no casts in them.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import math
from collections.abc import Callable
from typing import ClassVar

from ...ops.eager.dispatch import eager_function
from ...ops.memory.dtype import Device, DType
from ...ops.tensors.tensor import Parameter, Tensor
from .. import init
from .module import Module

__all__ = ["GRUCell", "LSTMCell", "RNNCell", "RNNCellBase"]

Operator = Callable[..., Tensor]
Pair = Callable[..., tuple[Tensor, Tensor]]

_empty: Operator = eager_function("aten::empty")
_gru_cell: Operator = eager_function("aten::gru_cell")
_lstm_cell: Pair = eager_function("aten::lstm_cell")
_rnn_relu_cell: Operator = eager_function("aten::rnn_relu_cell")
_rnn_tanh_cell: Operator = eager_function("aten::rnn_tanh_cell")
_zeros: Operator = eager_function("aten::zeros")


def _check_dims(kind: str, name: str, x: Tensor, place: int = -1) -> None:
    """Check an argument, or what stands in a place of it.

    Raises:
        ValueError: `x` is neither a vector nor a batch of vectors.
    """
    if x.dim() not in (1, 2):
        where = name if place < 0 else f"{name}[{place}]"
        raise ValueError(f"{kind}: Expected {where} to be 1D or 2D, got {x.dim()}D instead")


_check_dims.__module__ = "rushlight.nn.modules.rnn"  # as archives know it


class RNNCellBase(Module):
    """The weights of a cell: those of the input, of the state, and the biases."""

    __module__ = "rushlight.nn.modules.rnn"  # as archives know it

    __constants__: ClassVar[list[str]] = ["input_size", "hidden_size", "bias"]
    input_size: int
    hidden_size: int
    bias: bool
    weight_ih: Tensor
    weight_hh: Tensor

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool,
        num_chunks: int,
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> None:
        made: dict[str, object] = {"device": device, "dtype": dtype}
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        rows = num_chunks * hidden_size
        self.weight_ih = Parameter(_empty(rows, input_size, **made))
        self.weight_hh = Parameter(_empty(rows, hidden_size, **made))
        if bias:
            self.bias_ih = Parameter(_empty(rows, **made))
            self.bias_hh = Parameter(_empty(rows, **made))
        else:
            self.register_parameter("bias_ih", None)
            self.register_parameter("bias_hh", None)
        self.reset_parameters()

    def extra_repr(self) -> str:
        shown = [f"{self.input_size}, {self.hidden_size}"]
        if self.bias is not True:
            shown.append(f"bias={self.bias}")
        nonlinearity = getattr(self, "nonlinearity", "tanh")
        if nonlinearity != "tanh":
            shown.append(f"nonlinearity={nonlinearity}")
        return ", ".join(shown)

    def reset_parameters(self) -> None:
        """Draw all weights uniformly from ±1/sqrt(hidden_size)."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def _as_rows(self, kind: str, input: Tensor, hx: Tensor | None) -> tuple[Tensor, Tensor]:
        """Input and state as batches; the state is 0 if there is none."""
        _check_dims(kind, "input", input)
        is_batch = input.ndim == 2
        rows = input if is_batch else input.unsqueeze(0)
        if hx is None:
            size = (rows.size(0), self.hidden_size)
            return rows, _zeros(size, dtype=rows.dtype, device=rows.device)
        _check_dims(kind, "hidden", hx)
        return rows, hx if is_batch else hx.unsqueeze(0)


class RNNCell(RNNCellBase):
    """`h = tanh(W_ih x + b_ih + W_hh h + b_hh)`, or with relu."""

    __module__ = "rushlight.nn.modules.rnn"  # as archives know it

    __constants__: ClassVar[list[str]] = ["input_size", "hidden_size", "bias", "nonlinearity"]
    nonlinearity: str

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, num_chunks=1, device=device, dtype=dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """(B, input_size) or (input_size), and the state."""
        rows, state = self._as_rows("RNNCell", input, hx)
        weights, biases = (self.weight_ih, self.weight_hh), (self.bias_ih, self.bias_hh)
        if self.nonlinearity == "tanh":
            new = _rnn_tanh_cell(rows, state, *weights, *biases)
        elif self.nonlinearity == "relu":
            new = _rnn_relu_cell(rows, state, *weights, *biases)
        else:
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return new if input.ndim == 2 else new.squeeze(0)


class LSTMCell(RNNCellBase):
    """Long short-term memory: the state is a pair of hidden state and cell."""

    __module__ = "rushlight.nn.modules.rnn"  # as archives know it

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, num_chunks=4, device=device, dtype=dtype)

    def forward(
        self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, Tensor]:
        """(B, input_size) or (input_size), and the state."""
        _check_dims("LSTMCell", "input", input)
        if hx is not None:
            for place, part in enumerate(hx):
                _check_dims("LSTMCell", "hx", part, place)
        weights, biases = (self.weight_ih, self.weight_hh), (self.bias_ih, self.bias_hh)
        rows = input if input.ndim == 2 else input.unsqueeze(0)
        if hx is None:
            zeros = _zeros(rows.size(0), self.hidden_size, dtype=rows.dtype, device=rows.device)
            state = (zeros, zeros)
        else:
            state = hx if input.ndim == 2 else (hx[0].unsqueeze(0), hx[1].unsqueeze(0))
        hidden, cell = _lstm_cell(rows, state, *weights, *biases)
        if input.ndim == 2:
            return hidden, cell
        return hidden.squeeze(0), cell.squeeze(0)


class GRUCell(RNNCellBase):
    """A gated recurrent unit."""

    __module__ = "rushlight.nn.modules.rnn"  # as archives know it

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, num_chunks=3, device=device, dtype=dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """(B, input_size) or (input_size), and the state."""
        rows, state = self._as_rows("GRUCell", input, hx)
        weights, biases = (self.weight_ih, self.weight_hh), (self.bias_ih, self.bias_hh)
        new = _gru_cell(rows, state, *weights, *biases)
        return new if input.ndim == 2 else new.squeeze(0)
