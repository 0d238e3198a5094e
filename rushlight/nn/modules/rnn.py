"""Recurrent layers.

`forward` takes a tensor or a `PackedSequence`; script knows it as two methods, and looks at the
type of the input when it compiles them.
"""

# Script reads these bodies: no casts in them.
# mypy: disable-error-code="no-any-return, override, no-untyped-def, no-untyped-call, empty-body"

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, overload

from ...module_names import names_of
from ...ops.eager.dispatch import eager_function
from ...ops.tensors.tensor import Tensor
from ..sizes import declares
from ..utils.rnn import PackedSequence
from .rnn_base import RNNBase, _apply_permutation
from .rnn_cell import GRUCell, LSTMCell, RNNCell, RNNCellBase

__all__ = [
    "GRU",
    "LSTM",
    "RNN",
    "GRUCell",
    "LSTMCell",
    "RNNBase",
    "RNNCell",
    "RNNCellBase",
]

Operator = Callable[..., Tensor]
Pair = Callable[..., tuple[Tensor, Tensor]]
State = tuple[Tensor, Tensor]

_gru: Pair = eager_function("aten::gru")
_lstm: Callable[..., tuple[Tensor, Tensor, Tensor]] = eager_function("aten::lstm")
_rnn_relu: Pair = eager_function("aten::rnn_relu")
_rnn_tanh: Pair = eager_function("aten::rnn_tanh")
_zeros: Operator = eager_function("aten::zeros")


def _of_tensor(self, input: Tensor, hx: Tensor | None = None) -> tuple[Tensor, Tensor]: ...


def _of_packed(
    self, input: PackedSequence, hx: Tensor | None = None
) -> tuple[PackedSequence, Tensor]: ...


def _lstm_of_tensor(
    self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None
) -> tuple[Tensor, tuple[Tensor, Tensor]]: ...


def _lstm_of_packed(
    self, input: PackedSequence, hx: tuple[Tensor, Tensor] | None = None
) -> tuple[PackedSequence, tuple[Tensor, Tensor]]: ...


def _zeros_for(input: Tensor, size: tuple[int, int, int]) -> Tensor:
    return _zeros(size, dtype=input.dtype, device=input.device)


class _OneState(RNNBase):
    """Layers whose state is one tensor."""

    if TYPE_CHECKING:

        @overload
        def __call__(self, input: Tensor, hx: Tensor | None = None) -> tuple[Tensor, Tensor]: ...
        @overload
        def __call__(
            self, input: PackedSequence, hx: Tensor | None = None
        ) -> tuple[PackedSequence, Tensor]: ...
        def __call__(self, input: object, hx: object = None) -> object: ...

    def __init__(self, mode: str, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        super().__init__(mode, *args, **kwargs)

    def check_forward_args(self, input: Tensor, hidden: Tensor, batch_sizes: Tensor | None) -> None:
        """Raises: RuntimeError, ValueError: input and state do not fit the layer."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx: Tensor, permutation: Tensor | None) -> Tensor:
        """The state of the sequences in another order."""
        return hx if permutation is None else _apply_permutation(hx, permutation)

    @declares(_of_tensor, _of_packed)
    def forward(self, input, hx=None):
        """(T, B, E), (B, T, E) with `batch_first`, (T, E), or packed sequences."""
        self._update_flat_weights()
        if isinstance(input, PackedSequence):
            return self._over_packed(input, hx)
        return self._over_steps(input, hx)

    def _over_packed(
        self, input: PackedSequence, hx: Tensor | None
    ) -> tuple[PackedSequence, Tensor]:
        data, batch_sizes, order, back = input
        output, last = self._run_packed(
            data, batch_sizes, self._first_state(data, batch_sizes, hx, order)
        )
        return PackedSequence(output, batch_sizes, order, back), self.permute_hidden(last, back)

    def _over_steps(self, input: Tensor, hx: Tensor | None) -> tuple[Tensor, Tensor]:
        dims, batch_dim = input.dim(), 0 if self.batch_first else 1
        if dims != 2 and dims != 3:
            end = "D instead" if self.mode == "GRU" else "D tensor instead"
            raise ValueError(f"{self.mode[:3]}: Expected input to be 2D or 3D, got {dims}{end}")
        if hx is not None and hx.dim() != dims:
            raise RuntimeError(
                f"For {'batched' if dims == 3 else 'unbatched'} {dims}-D input, hx should also "
                f"be {dims}-D but got {hx.dim()}-D tensor"
            )
        if dims == 3:
            output, last = self._run(input, self._first_state(input, None, hx, None))
            return output, self.permute_hidden(last, None)
        input = input.unsqueeze(batch_dim)
        hx = None if hx is None else hx.unsqueeze(1)
        output, last = self._run(input, self._first_state(input, None, hx, None))
        return output.squeeze(batch_dim), self.permute_hidden(last.squeeze(1), None)

    def _first_state(
        self, input: Tensor, batch_sizes: Tensor | None, hx: Tensor | None, order: Tensor | None
    ) -> Tensor:
        """The state before the first step: 0 if none is given."""
        if hx is None:
            state = _zeros_for(input, self.get_expected_hidden_size(input, batch_sizes))
        else:
            state = self.permute_hidden(hx, order)
        self.check_forward_args(input, state, batch_sizes)
        return state

    def _run(self, input: Tensor, hx: Tensor) -> tuple[Tensor, Tensor]:
        """All layers over a batch: the outputs, and the states after the last step."""
        raise NotImplementedError

    def _run_packed(self, data: Tensor, batch_sizes: Tensor, hx: Tensor) -> tuple[Tensor, Tensor]:
        """All layers over packed data."""
        raise NotImplementedError


class RNN(_OneState):
    """Layers of `h = tanh(W_ih x + b_ih + W_hh h + b_hh)`, or with relu."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        if len(args) > 3:
            nonlinearity, args = args[3], args[:3] + args[4:]
        else:
            nonlinearity = kwargs.pop("nonlinearity", "tanh")
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(
                f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'."
            )
        self.nonlinearity = nonlinearity
        super().__init__(f"RNN_{nonlinearity.upper()}", *args, **kwargs)

    def _run(self, input: Tensor, hx: Tensor) -> tuple[Tensor, Tensor]:
        weights, bias, layers, dropout = (
            self._flat_weights,
            self.bias,
            self.num_layers,
            self.dropout,
        )
        train, both, batch_first = self.training, self.bidirectional, self.batch_first
        if self.mode == "RNN_TANH":
            return _rnn_tanh(input, hx, weights, bias, layers, dropout, train, both, batch_first)
        return _rnn_relu(input, hx, weights, bias, layers, dropout, train, both, batch_first)

    def _run_packed(self, data: Tensor, batch_sizes: Tensor, hx: Tensor) -> tuple[Tensor, Tensor]:
        weights, bias, layers, dropout = (
            self._flat_weights,
            self.bias,
            self.num_layers,
            self.dropout,
        )
        train, both = self.training, self.bidirectional
        if self.mode == "RNN_TANH":
            return _rnn_tanh(data, batch_sizes, hx, weights, bias, layers, dropout, train, both)
        return _rnn_relu(data, batch_sizes, hx, weights, bias, layers, dropout, train, both)


class GRU(_OneState):
    """Layers of gated recurrent units."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__("GRU", *args, **kwargs)

    def _run(self, input: Tensor, hx: Tensor) -> tuple[Tensor, Tensor]:
        return _gru(
            input,
            hx,
            self._flat_weights,
            self.bias,
            self.num_layers,
            self.dropout,
            self.training,
            self.bidirectional,
            self.batch_first,
        )

    def _run_packed(self, data: Tensor, batch_sizes: Tensor, hx: Tensor) -> tuple[Tensor, Tensor]:
        return _gru(
            data,
            batch_sizes,
            hx,
            self._flat_weights,
            self.bias,
            self.num_layers,
            self.dropout,
            self.training,
            self.bidirectional,
        )


class LSTM(RNNBase):
    """Layers of long short-term memory; the state is a pair of hidden state and cell.

    With `proj_size` the hidden state is made narrower by a projection.
    """

    if TYPE_CHECKING:

        @overload
        def __call__(
            self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None
        ) -> tuple[Tensor, tuple[Tensor, Tensor]]: ...
        @overload
        def __call__(
            self, input: PackedSequence, hx: tuple[Tensor, Tensor] | None = None
        ) -> tuple[PackedSequence, tuple[Tensor, Tensor]]: ...
        def __call__(self, input: object, hx: object = None) -> object: ...

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)

    def get_expected_cell_size(
        self, input: Tensor, batch_sizes: Tensor | None
    ) -> tuple[int, int, int]:
        """(layers * directions, B, hidden_size)."""
        return self._count(), self._batch(input, batch_sizes), self.hidden_size

    def check_forward_args(
        self, input: Tensor, hidden: tuple[Tensor, Tensor], batch_sizes: Tensor | None
    ) -> None:
        """Raises: RuntimeError, ValueError: input and state do not fit the layer."""
        self.check_input(input, batch_sizes)
        of_hidden = self.get_expected_hidden_size(input, batch_sizes)
        of_cell = self.get_expected_cell_size(input, batch_sizes)
        self.check_hidden_size(hidden[0], of_hidden, "Expected hidden[0] size {}, got {}")
        self.check_hidden_size(hidden[1], of_cell, "Expected hidden[1] size {}, got {}")

    def permute_hidden(
        self, hx: tuple[Tensor, Tensor], permutation: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """The state of the sequences in another order."""
        if permutation is None:
            return hx
        return _apply_permutation(hx[0], permutation), _apply_permutation(hx[1], permutation)

    @declares(_lstm_of_tensor, _lstm_of_packed)
    def forward(self, input, hx=None):
        """(T, B, E), (B, T, E) with `batch_first`, (T, E), or packed sequences."""
        self._update_flat_weights()
        if isinstance(input, PackedSequence):
            return self._over_packed(input, hx)
        return self._over_steps(input, hx)

    def _over_packed(
        self, input: PackedSequence, hx: tuple[Tensor, Tensor] | None
    ) -> tuple[PackedSequence, tuple[Tensor, Tensor]]:
        data, batch_sizes, order, back = input
        if hx is None:
            state = self._zero_state(data, batch_sizes)
        else:
            state = self.permute_hidden(hx, order)
        output, hidden, cell = _lstm(
            data,
            batch_sizes,
            state,
            self._flat_weights,
            self.bias,
            self.num_layers,
            self.dropout,
            self.training,
            self.bidirectional,
        )
        last = self.permute_hidden((hidden, cell), back)
        return PackedSequence(output, batch_sizes, order, back), last

    def _over_steps(
        self, input: Tensor, hx: tuple[Tensor, Tensor] | None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        dims, batch_dim = input.dim(), 0 if self.batch_first else 1
        if dims != 2 and dims != 3:
            raise ValueError(f"LSTM: Expected input to be 2D or 3D, got {dims}D instead")
        if dims == 3:
            output, hidden, cell = self._run(input, self._first_state(input, hx, dims))
            return output, self.permute_hidden((hidden, cell), None)
        input = input.unsqueeze(batch_dim)
        output, hidden, cell = self._run(input, self._first_state(input, hx, dims))
        last = self.permute_hidden((hidden.squeeze(1), cell.squeeze(1)), None)
        return output.squeeze(batch_dim), last

    def _first_state(
        self, input: Tensor, hx: tuple[Tensor, Tensor] | None, dims: int
    ) -> tuple[Tensor, Tensor]:
        """The state before the first step: 0 if none is given; `dims` are those it may have."""
        if hx is None:
            state = self._zero_state(input, None)
            self.check_forward_args(input, state, None)
            return state
        hidden, cell = hx[0], hx[1]
        if hidden.dim() != dims or cell.dim() != dims:
            raise RuntimeError(
                f"For {'batched' if dims == 3 else 'unbatched'} {dims}-D input, hx and cx should "
                f"also be {dims}-D but got ({hidden.dim()}-D, {cell.dim()}-D) tensors"
            )
        if dims == 2:
            hx = hidden.unsqueeze(1), cell.unsqueeze(1)
        self.check_forward_args(input, hx, None)
        return self.permute_hidden(hx, None)

    def _zero_state(self, input: Tensor, batch_sizes: Tensor | None) -> tuple[Tensor, Tensor]:
        hidden = _zeros_for(input, self.get_expected_hidden_size(input, batch_sizes))
        return hidden, _zeros_for(input, self.get_expected_cell_size(input, batch_sizes))

    def _run(self, input: Tensor, hx: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor, Tensor]:
        """All layers over a batch: the outputs, and the states after the last step."""
        return _lstm(
            input,
            hx,
            self._flat_weights,
            self.bias,
            self.num_layers,
            self.dropout,
            self.training,
            self.bidirectional,
            self.batch_first,
        )


__getattr__ = names_of(__name__)
