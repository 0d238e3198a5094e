"""Recurrent cells over floats, with quantized weights, and how weights are packed."""

# Script reads these bodies: no casts in them.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Final

from ......nn.modules import rnn as floats
from ......nn.modules.module import Module
from ......nn.state import Metadata, StateDict
from ......ops.eager.dispatch import eager_function
from ......ops.memory.dtype import DTYPES, DType
from ......ops.tensors.tensor import Tensor
from ...modules.weighted import _quantize_weight

__all__ = ["GRUCell", "LSTMCell", "RNNCell", "RNNCellBase", "pack_weight_bias"]

_gru_cell = eager_function("quantized::quantized_gru_cell_dynamic")
_lstm_cell = eager_function("quantized::quantized_lstm_cell_dynamic")
_prepack = eager_function("quantized::linear_prepack")
_prepack_fp16 = eager_function("quantized::linear_prepack_fp16")
_quantize = eager_function("aten::quantize_per_tensor")
_randn = eager_function("aten::randn")
_rnn_relu_cell = eager_function("quantized::quantized_rnn_relu_cell_dynamic")
_rnn_tanh_cell = eager_function("quantized::quantized_rnn_tanh_cell_dynamic")
_unpack = eager_function("quantized::linear_unpack")
_zeros = eager_function("aten::zeros")

_FLOAT16: Final = DTYPES["float16"]
_QINT8: Final = DTYPES["qint8"]


def pack_weight_bias(qweight: Tensor, bias: Tensor | None, dtype: DType) -> object:
    """A weight and a bias, packed: quantized to qint8, or of half precision."""
    return (_prepack if dtype is _QINT8 else _prepack_fp16)(qweight, bias)


def _packed(weight: Tensor, bias: Tensor | None, observer: Module) -> object:
    """A float weight as its observer says, packed."""
    dtype: DType = observer.dtype
    if dtype is _QINT8:
        observer(weight)
        weight = _quantize_weight(weight.float(), observer)
    return pack_weight_bias(weight if dtype is _QINT8 else weight.float(), bias, dtype)


def _check_dtype(dtype: DType, what: str) -> None:
    if dtype not in (_QINT8, _FLOAT16):
        raise RuntimeError(f"Unsupported dtype specified for {what}: {dtype}")


def _weight_observer(mod: Module) -> Callable[[], Module]:
    """What makes the observer of a layer's weights: of half precision, or to qint8."""
    if mod.qconfig is not None and mod.qconfig.weight is not None:
        make: Callable[[], Module] = mod.qconfig.weight
        return make
    raise AssertionError("Input float module must have qconfig defined")


class RNNCellBase(Module):
    """Cells whose weights are quantized, or of half precision.

    Args:
        num_chunks: how many gates.
        dtype: that of the weights: qint8, or float16.
    """

    __module__ = f"{__package__}.rnn"  # as archives know it

    __constants__: ClassVar[list[str]] = ["input_size", "hidden_size", "bias"]
    bias_ih: Tensor
    bias_hh: Tensor

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        num_chunks: int = 4,
        dtype: DType = _QINT8,
    ) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        self.weight_dtype = dtype
        gates = num_chunks * hidden_size
        if bias:
            self.bias_ih, self.bias_hh = _randn([gates]), _randn([gates])
        else:
            self.register_parameter("bias_ih", None)
            self.register_parameter("bias_hh", None)
        weights = [_randn([gates, size]) for size in (input_size, hidden_size)]
        if dtype is _QINT8:
            weights = [_quantize(weight, 1.0, 0, _QINT8) for weight in weights]
        self._packed_weight_ih = pack_weight_bias(weights[0], self.bias_ih, dtype)
        self._packed_weight_hh = pack_weight_bias(weights[1], self.bias_hh, dtype)

    def _get_name(self) -> str:
        return "DynamicQuantizedRNNBase"

    def extra_repr(self) -> str:
        said = f"{self.input_size}, {self.hidden_size}"
        if not self.bias:
            said += f", bias={self.bias}"
        kind = getattr(self, "nonlinearity", "tanh")
        return said if kind == "tanh" else f"{said}, nonlinearity={kind}"

    def check_forward_input(self, input: Tensor) -> None:
        """Raises: RuntimeError: the input does not fit the cell."""
        if input.size(1) != self.input_size:
            raise RuntimeError(
                f"input has inconsistent input_size: got {input.size(1)}, "
                f"expected {self.input_size}"
            )

    def check_forward_hidden(self, input: Tensor, hx: Tensor, hidden_label: str = "") -> None:
        """Raises: RuntimeError: the state does not fit the cell or its input."""
        if input.size(0) != hx.size(0):
            raise RuntimeError(
                f"Input batch size {input.size(0)} doesn't match hidden{hidden_label} "
                f"batch size {hx.size(0)}"
            )
        if hx.size(1) != self.hidden_size:
            raise RuntimeError(
                f"hidden{hidden_label} has inconsistent hidden_size: got {hx.size(1)}, "
                f"expected {self.hidden_size}"
            )

    @classmethod
    def from_float(cls, mod: Module, use_precomputed_fake_quant: bool = False) -> RNNCellBase:
        """The cell of one in floats.

        Raises:
            AssertionError: another module; no configuration; no biases.
            RuntimeError: weights that are to be neither qint8 nor float16.
        """
        if type(mod) not in (floats.LSTMCell, floats.GRUCell, floats.RNNCell):
            raise AssertionError(
                "nn.quantized.dynamic.RNNCellBase.from_float only works for nn.LSTMCell, "
                "nn.GRUCell and nn.RNNCell"
            )
        if not hasattr(mod, "qconfig"):
            raise AssertionError("Input float module must have qconfig defined")
        if not mod.bias:
            raise AssertionError("mod.bias must be True")
        observer = _weight_observer(mod)
        dtype: DType = observer().dtype
        _check_dtype(dtype, "Dynamic LSTM quantization")
        kinds: dict[type, Callable[..., RNNCellBase]] = {
            floats.LSTMCell: LSTMCell,
            floats.GRUCell: GRUCell,
        }
        args: dict[str, Any] = {"dtype": dtype}
        if type(mod) is floats.RNNCell:
            args["nonlinearity"] = mod.nonlinearity
        made = kinds.get(type(mod), RNNCell)(mod.input_size, mod.hidden_size, **args)
        # No parameters: they are part of what is packed.
        made.bias_ih, made.bias_hh = mod.bias_ih.detach(), mod.bias_hh.detach()
        made._packed_weight_ih = _packed(mod.weight_ih, mod.bias_ih, observer())
        made._packed_weight_hh = _packed(mod.weight_hh, mod.bias_hh, observer())
        return made

    def _weight_bias(self) -> dict[str, dict[str, object]]:
        """Weights and biases by the float cell's names."""
        made: dict[str, dict[str, object]] = {"weight": {}, "bias": {}}
        held = {"ih": self._packed_weight_ih, "hh": self._packed_weight_hh}
        for name, packed in held.items():
            weight, bias = _unpack(packed)
            made["weight"][f"weight_{name}"], made["bias"][f"bias_{name}"] = weight, bias
        return made

    def get_weight(self) -> dict[str, object]:
        """The weights by the float cell's names."""
        return self._weight_bias()["weight"]

    def get_bias(self) -> dict[str, object]:
        """The biases by the float cell's names."""
        return self._weight_bias()["bias"]

    def set_weight_bias(self, weight_bias_dict: dict[str, tuple[Tensor, Tensor | None]]) -> None:
        """Exchange the weights: pairs of quantized weight and bias by the float cell's names."""
        for name in ("ih", "hh"):
            packed = pack_weight_bias(*weight_bias_dict[f"weight_{name}"], self.weight_dtype)
            setattr(self, f"_packed_weight_{name}", packed)

    def _save_to_state_dict(self, destination: StateDict, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[f"{prefix}_packed_weight_ih"] = self._packed_weight_ih
        destination[f"{prefix}_packed_weight_hh"] = self._packed_weight_hh

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
        self._packed_weight_ih = state_dict.pop(f"{prefix}_packed_weight_ih")
        self._packed_weight_hh = state_dict.pop(f"{prefix}_packed_weight_hh")
        lists = (missing_keys, unexpected_keys, error_msgs)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, False, *lists)


class RNNCell(RNNCellBase):
    """`nn.RNNCell` with quantized weights; values are quantized by the range of each call."""

    __module__ = f"{__package__}.rnn"  # as archives know it

    __constants__: ClassVar[list[str]] = ["input_size", "hidden_size", "bias", "nonlinearity"]

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        dtype: DType = _QINT8,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, num_chunks=1, dtype=dtype)
        self.nonlinearity = nonlinearity

    def _get_name(self) -> str:
        return "DynamicQuantizedRNNCell"

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        self.check_forward_input(input)
        if hx is None:
            hx = _zeros([input.size(0), self.hidden_size], dtype=input.dtype, device=input.device)
        self.check_forward_hidden(input, hx, "")
        if self.nonlinearity == "tanh":
            made = _rnn_tanh_cell(
                input,
                hx,
                self._packed_weight_ih,
                self._packed_weight_hh,
                self.bias_ih,
                self.bias_hh,
            )
        elif self.nonlinearity == "relu":
            made = _rnn_relu_cell(
                input,
                hx,
                self._packed_weight_ih,
                self._packed_weight_hh,
                self.bias_ih,
                self.bias_hh,
            )
        else:
            made = input
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return made


class LSTMCell(RNNCellBase):
    """`nn.LSTMCell` with quantized weights; values are quantized by the range of each call."""

    __module__ = f"{__package__}.rnn"  # as archives know it

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{**kwargs, "num_chunks": 4})

    def _get_name(self) -> str:
        return "DynamicQuantizedLSTMCell"

    def forward(
        self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, Tensor]:
        self.check_forward_input(input)
        if hx is None:
            zeros = _zeros(
                [input.size(0), self.hidden_size], dtype=input.dtype, device=input.device
            )
            hx = (zeros, zeros)
        self.check_forward_hidden(input, hx[0], "[0]")
        self.check_forward_hidden(input, hx[1], "[1]")
        return _lstm_cell(
            input,
            [hx[0], hx[1]],
            self._packed_weight_ih,
            self._packed_weight_hh,
            self.bias_ih,
            self.bias_hh,
        )


class GRUCell(RNNCellBase):
    """`nn.GRUCell` with quantized weights; values are quantized by the range of each call."""

    __module__ = f"{__package__}.rnn"  # as archives know it

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, dtype: DType = _QINT8
    ) -> None:
        super().__init__(input_size, hidden_size, bias, num_chunks=3, dtype=dtype)

    def _get_name(self) -> str:
        return "DynamicQuantizedGRUCell"

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        self.check_forward_input(input)
        if hx is None:
            hx = _zeros([input.size(0), self.hidden_size], dtype=input.dtype, device=input.device)
        self.check_forward_hidden(input, hx, "")
        return _gru_cell(
            input, hx, self._packed_weight_ih, self._packed_weight_hh, self.bias_ih, self.bias_hh
        )
