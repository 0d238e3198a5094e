"""Recurrent layers and cells over floats, with quantized weights."""

# Script reads these bodies: no casts in them.
# mypy: disable-error-code="no-any-return, no-untyped-def, no-untyped-call"

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Final

from ......nn.modules import rnn as floats
from ......nn.modules.container import ModuleList
from ......nn.modules.module import Module
from ......nn.modules.rnn import _lstm_of_packed, _lstm_of_tensor, _of_packed, _of_tensor
from ......nn.sizes import declares
from ......nn.state import Metadata, StateDict
from ......nn.utils.rnn import PackedSequence
from ......ops.eager.dispatch import eager_function
from ......ops.memory.dtype import DTYPES, DType
from ......ops.tensors.tensor import Tensor
from .rnn_cell import (
    GRUCell,
    LSTMCell,
    RNNCell,
    RNNCellBase,
    _check_dtype,
    _packed,
    _weight_observer,
    pack_weight_bias,
)

__all__ = [
    "GRU",
    "GRUCell",
    "LSTM",
    "LSTMCell",
    "PackedParameter",
    "RNNBase",
    "RNNCell",
    "RNNCellBase",
    "apply_permutation",
    "pack_weight_bias",
]

_gru = eager_function("aten::quantized_gru")
_lstm = eager_function("aten::quantized_lstm")
_make_dynamic = eager_function("quantized::make_quantized_cell_params_dynamic")
_make_fp16 = eager_function("quantized::make_quantized_cell_params_fp16")
_prepack = eager_function("quantized::linear_prepack")
_prepack_fp16 = eager_function("quantized::linear_prepack_fp16")
_quantize = eager_function("aten::quantize_per_tensor")
_randn = eager_function("aten::randn")
_unpack = eager_function("quantized::linear_unpack")
_zeros = eager_function("aten::zeros")

_FLOAT16: Final = DTYPES["float16"]
_QINT8: Final = DTYPES["qint8"]
_CHUNKS: Final = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


def _apply_permutation(tensor: Tensor, permutation: Tensor, dim: int = 1) -> Tensor:
    return tensor.index_select(dim, permutation)


def apply_permutation(tensor: Tensor, permutation: Tensor, dim: int = 1) -> Tensor:
    """A tensor with a dimension in another order; deprecated."""
    return _apply_permutation(tensor, permutation, dim)


class PackedParameter(Module):
    """The packed weights of a layer and direction."""

    def __init__(self, param: object) -> None:
        super().__init__()
        self.param = param

    def _save_to_state_dict(self, destination: StateDict, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[f"{prefix}param"] = self.param

    def _load_from_state_dict(
        self,
        state_dict: StateDict,
        prefix: str,
        local_metadata: Metadata,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        self.param = state_dict[f"{prefix}param"]
        lists = (missing_keys, unexpected_keys, error_msgs)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, False, *lists)


class RNNBase(Module):
    """Recurrent layers whose weights are quantized, or of half precision.

    Args:
        mode: `LSTM` or `GRU`; the others are those of the float layer.
        dtype: that of the weights: qint8, or float16.

    Raises:
        ValueError: `dropout` is no probability.
    """

    _FLOAT_MODULE: ClassVar[type[Module]] = floats.RNNBase
    _version = 2
    batch_first: bool
    bidirectional: bool

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        dtype: DType = _QINT8,
    ) -> None:
        super().__init__()
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.dtype = dtype
        self.version = 2
        self.training = False
        if isinstance(dropout, bool) or not 0 <= dropout <= 1:
            raise ValueError(
                "dropout should be a number in range [0, 1] representing the probability of an "
                "element being zeroed"
            )
        if mode not in ("LSTM", "GRU"):
            raise ValueError(f"Unrecognized RNN mode: {mode}")
        gates = _CHUNKS[mode] * hidden_size
        made = []
        for layer in range(num_layers):
            for _ in range(2 if bidirectional else 1):
                width = input_size if layer == 0 else hidden_size * (2 if bidirectional else 1)
                made.append(PackedParameter(self._drawn(gates, width)))
        self._all_weight_values = ModuleList(made)

    def _drawn(self, gates: int, width: int) -> object:
        """Weights of no meaning, which others take the place of."""
        packed: list[object] = []
        biases: list[Tensor | None] = []
        for size in (width, self.hidden_size):
            weight, bias = _randn([gates, size]), _randn([gates])
            if self.dtype is not _FLOAT16:
                weight = _quantize(weight, 0.1, 0, _QINT8)
                packed.append(_prepack(weight, bias))
            else:
                packed.append(_prepack_fp16(weight, bias))
            biases.append(bias)
        return (
            _make_fp16(*packed) if self.dtype is _FLOAT16 else _make_dynamic(*packed, *biases, True)
        )

    def _get_name(self) -> str:
        return "DynamicQuantizedRNN"

    def extra_repr(self) -> str:
        said = [str(self.input_size), str(self.hidden_size)]
        plain = {
            **{"num_layers": 1, "bias": True, "batch_first": False, "dropout": 0},
            "bidirectional": False,
        }
        for name, usual in plain.items():
            value = getattr(self, name)
            if value != usual:
                said.append(f"{name}={value}")
        return ", ".join(said)

    def __repr__(self) -> str:
        return f"{self._get_name()}({self.extra_repr()})"

    def check_input(self, input: Tensor, batch_sizes: Tensor | None) -> None:
        """Raises: RuntimeError: the input does not fit the layer."""
        wanted = 2 if batch_sizes is not None else 3
        if input.dim() != wanted:
            raise RuntimeError(f"input must have {wanted} dimensions, got {input.dim()}")
        if self.input_size != input.size(-1):
            raise RuntimeError(
                "input.size(-1) must be equal to input_size. "
                f"Expected {self.input_size}, got {input.size(-1)}"
            )

    def get_expected_hidden_size(
        self, input: Tensor, batch_sizes: Tensor | None
    ) -> tuple[int, int, int]:
        """(layers * directions, B, width of the state)."""
        if batch_sizes is not None:
            batch = int(batch_sizes[0])
        else:
            batch = input.size(0) if self.batch_first else input.size(1)
        directions = 2 if self.bidirectional else 1
        return self.num_layers * directions, batch, self.hidden_size

    def check_hidden_size(
        self,
        hx: Tensor,
        expected_hidden_size: tuple[int, int, int],
        msg: str = "Expected hidden size {}, got {}",
    ) -> None:
        """Raises: RuntimeError: a state of another size."""
        if hx.size() != expected_hidden_size:
            raise RuntimeError(msg.format(expected_hidden_size, list(hx.size())))

    def set_weight_bias(self, weight_bias_dict: dict[str, tuple[Tensor, Tensor | None]]) -> None:
        """Exchange the weights: pairs of quantized weight and bias by the float layer's names."""
        values = []
        for layer in range(self.num_layers):
            for direction in range(2 if self.bidirectional else 1):
                ending = f"_l{layer}{'_reverse' if direction else ''}"
                pairs = [weight_bias_dict[f"weight_{k}{ending}"] for k in ("ih", "hh")]
                packed = [pack_weight_bias(*pair, self.dtype) for pair in pairs]
                values.append(PackedParameter(self._cell(packed, [bias for _, bias in pairs])))
        self._all_weight_values = ModuleList(values)

    def _cell(self, packed: Sequence[object], biases: list[Tensor | None]) -> object:
        if self.dtype is _FLOAT16:
            return _make_fp16(*packed)
        gates = _CHUNKS[self.mode] * self.hidden_size
        held = [_zeros([gates]) if bias is None else bias for bias in biases]
        return _make_dynamic(*packed, *held, True)

    @classmethod
    def from_float(cls, mod: Module, use_precomputed_fake_quant: bool = False) -> RNNBase:
        """The layer of one in floats.

        Raises:
            AssertionError: another module; no configuration.
            RuntimeError: weights that are to be neither qint8 nor float16.
        """
        if type(mod) not in (floats.LSTM, floats.GRU):
            raise AssertionError(
                "nn.quantized.dynamic.RNNBase.from_float only works for nn.LSTM and nn.GRU"
            )
        if not hasattr(mod, "qconfig"):
            raise AssertionError("Input float module must have qconfig defined")
        observer = _weight_observer(mod)
        dtype: DType = observer().dtype
        _check_dtype(dtype, "Dynamic LSTM quantization")
        kind = LSTM if mod.mode == "LSTM" else GRU
        made = kind(
            mod.input_size,
            mod.hidden_size,
            mod.num_layers,
            mod.bias,
            mod.batch_first,
            mod.dropout,
            mod.bidirectional,
            dtype,
        )
        values = []
        for layer in range(mod.num_layers):
            for direction in range(2 if mod.bidirectional else 1):
                ending = f"_l{layer}{'_reverse' if direction else ''}"
                weights = [getattr(mod, f"weight_{k}{ending}") for k in ("ih", "hh")]
                biases = [getattr(mod, f"bias_{k}{ending}", None) for k in ("ih", "hh")]
                packed = [
                    _packed(weight, bias, observer())
                    for weight, bias in zip(weights, biases, strict=True)
                ]
                values.append(PackedParameter(made._cell(packed, biases)))
        made._all_weight_values = ModuleList(values)
        return made

    def _weight_bias(self) -> dict[str, dict[str, object]]:
        """Weights and biases by the float layer's names."""
        made: dict[str, dict[str, object]] = {"weight": {}, "bias": {}}
        values = iter(self._all_weight_values)
        for layer in range(self.num_layers):
            for direction in range(2 if self.bidirectional else 1):
                ending = f"_l{layer}{'_reverse' if direction else ''}"
                packed = next(values).param.packed
                for name, each in zip(("ih", "hh"), packed, strict=True):
                    weight, bias = _unpack(each)
                    made["weight"][f"weight_{name}{ending}"] = weight
                    made["bias"][f"bias_{name}{ending}"] = bias
        return made

    def get_weight(self) -> dict[str, object]:
        """The weights by the float layer's names."""
        return self._weight_bias()["weight"]

    def get_bias(self) -> dict[str, object]:
        """The biases by the float layer's names."""
        return self._weight_bias()["bias"]


class LSTM(RNNBase):
    """`nn.LSTM` with quantized weights; values are quantized by the range of each call."""

    _FLOAT_MODULE: ClassVar[type[Module]] = floats.LSTM

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)

    def _get_name(self) -> str:
        return "DynamicQuantizedLSTM"

    @declares(_lstm_of_tensor, _lstm_of_packed)
    def forward(self, input, hx=None):
        """(T, B, E), (B, T, E) with `batch_first`, or packed sequences."""
        if isinstance(input, PackedSequence):
            return self.forward_packed(input, hx)
        return self.forward_tensor(input, hx)

    def forward_impl(
        self,
        input: Tensor,
        hx: tuple[Tensor, Tensor] | None,
        batch_sizes: Tensor | None,
        max_batch_size: int,
        sorted_indices: Tensor | None,
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """The steps, over a tensor or over the data of packed sequences."""
        if hx is None:
            directions = 2 if self.bidirectional else 1
            zeros = _zeros(
                [self.num_layers * directions, max_batch_size, self.hidden_size],
                dtype=input.dtype,
                device=input.device,
            )
            hx = (zeros, zeros)
        else:
            hx = self.permute_hidden(hx, sorted_indices)
        self.check_forward_args(input, hx, batch_sizes)
        params = [value.param for value in self._all_weight_values]
        if batch_sizes is None:
            output, hidden, cell = _lstm(
                input,
                [hx[0], hx[1]],
                params,
                self.bias,
                self.num_layers,
                self.dropout,
                self.training,
                self.bidirectional,
                self.batch_first,
                dtype=self.dtype,
                use_dynamic=True,
            )
        else:
            output, hidden, cell = _lstm(
                input,
                batch_sizes,
                [hx[0], hx[1]],
                params,
                self.bias,
                self.num_layers,
                self.dropout,
                self.training,
                self.bidirectional,
                dtype=self.dtype,
                use_dynamic=True,
            )
        return output, (hidden, cell)

    def forward_tensor(
        self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Over a tensor."""
        batch = input.size(0) if self.batch_first else input.size(1)
        output, hidden = self.forward_impl(input, hx, None, batch, None)
        return output, self.permute_hidden(hidden, None)

    def forward_packed(
        self, input: PackedSequence, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[PackedSequence, tuple[Tensor, Tensor]]:
        """Over packed sequences."""
        data, batch_sizes, order, back = input
        made, hidden = self.forward_impl(data, hx, batch_sizes, int(batch_sizes[0]), order)
        return PackedSequence(made, batch_sizes, order, back), self.permute_hidden(hidden, back)

    def permute_hidden(
        self, hx: tuple[Tensor, Tensor], permutation: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """The state with its batch in another order."""
        if permutation is None:
            return hx
        return _apply_permutation(hx[0], permutation), _apply_permutation(hx[1], permutation)

    def check_forward_args(
        self, input: Tensor, hidden: tuple[Tensor, Tensor], batch_sizes: Tensor | None
    ) -> None:
        """Raises: RuntimeError: input and state do not fit the layer."""
        self.check_input(input, batch_sizes)
        sizes = self.get_expected_hidden_size(input, batch_sizes)
        self.check_hidden_size(hidden[0], sizes, "Expected hidden[0] size {}, got {}")
        self.check_hidden_size(hidden[1], sizes, "Expected hidden[1] size {}, got {}")


class GRU(RNNBase):
    """`nn.GRU` with quantized weights; values are quantized by the range of each call."""

    _FLOAT_MODULE: ClassVar[type[Module]] = floats.GRU

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("GRU", *args, **kwargs)

    def _get_name(self) -> str:
        return "DynamicQuantizedGRU"

    @declares(_of_tensor, _of_packed)
    def forward(self, input, hx=None):
        """(T, B, E), (B, T, E) with `batch_first`, or packed sequences."""
        if isinstance(input, PackedSequence):
            return self.forward_packed(input, hx)
        return self.forward_tensor(input, hx)

    def forward_impl(
        self,
        input: Tensor,
        hx: Tensor | None,
        batch_sizes: Tensor | None,
        max_batch_size: int,
        sorted_indices: Tensor | None,
    ) -> tuple[Tensor, Tensor]:
        """The steps, over a tensor or over the data of packed sequences."""
        if hx is None:
            directions = 2 if self.bidirectional else 1
            hx = _zeros(
                [self.num_layers * directions, max_batch_size, self.hidden_size],
                dtype=input.dtype,
                device=input.device,
            )
        else:
            hx = self.permute_hidden(hx, sorted_indices)
        self.check_forward_args(input, hx, batch_sizes)
        params = [value.param for value in self._all_weight_values]
        if batch_sizes is None:
            output, hidden = _gru(
                input,
                hx,
                params,
                self.bias,
                self.num_layers,
                self.dropout,
                self.training,
                self.bidirectional,
                self.batch_first,
            )
        else:
            output, hidden = _gru(
                input,
                batch_sizes,
                hx,
                params,
                self.bias,
                self.num_layers,
                self.dropout,
                self.training,
                self.bidirectional,
            )
        return output, hidden

    def forward_tensor(self, input: Tensor, hx: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Over a tensor."""
        batch = input.size(0) if self.batch_first else input.size(1)
        output, hidden = self.forward_impl(input, hx, None, batch, None)
        return output, self.permute_hidden(hidden, None)

    def forward_packed(
        self, input: PackedSequence, hx: Tensor | None = None
    ) -> tuple[PackedSequence, Tensor]:
        """Over packed sequences."""
        data, batch_sizes, order, back = input
        made, hidden = self.forward_impl(data, hx, batch_sizes, int(batch_sizes[0]), order)
        return PackedSequence(made, batch_sizes, order, back), self.permute_hidden(hidden, back)

    def permute_hidden(self, hx: Tensor, permutation: Tensor | None) -> Tensor:
        """The state with its batch in another order."""
        if permutation is None:
            return hx
        return _apply_permutation(hx, permutation)

    def check_forward_args(self, input: Tensor, hidden: Tensor, batch_sizes: Tensor | None) -> None:
        """Raises: RuntimeError: input and state do not fit the layer."""
        self.check_input(input, batch_sizes)
        sizes = self.get_expected_hidden_size(input, batch_sizes)
        self.check_hidden_size(hidden, sizes, "Expected hidden size {}, got {}")
