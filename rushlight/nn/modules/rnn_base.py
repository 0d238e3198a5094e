"""What recurrent layers have in common: the weights of all layers and directions, and checks."""

# Script reads these bodies: no casts in them.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import math
import numbers
import warnings
import weakref
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Self

from ...ops.eager.dispatch import eager_function
from ...ops.memory.dtype import Device, DType
from ...ops.tensors.tensor import Parameter, Tensor
from .. import init
from ..layer_options import Placed
from ..sizes import is_scripting
from .module import Module

__all__ = ["RNNBase"]

Operator = Callable[..., Tensor]

_empty: Operator = eager_function("aten::empty")

_CHUNKS = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


def _apply_permutation(tensor: Tensor, permutation: Tensor, dim: int = 1) -> Tensor:
    return tensor.index_select(dim, permutation)


_apply_permutation.__module__ = "rushlight.nn.modules.rnn"  # as archives know it


class RNNBase(Module):
    """The weights `weight_ih_l0`, `weight_hh_l0`, ..., which `_flat_weights` holds in order."""

    __module__ = "rushlight.nn.modules.rnn"  # as archives know it

    __constants__: ClassVar[list[str]] = [
        *("mode", "input_size", "hidden_size", "num_layers", "bias", "batch_first", "dropout"),
        *("bidirectional", "proj_size"),
    ]
    __jit_unused_properties__: ClassVar[list[str]] = ["all_weights"]
    mode: str
    input_size: int
    hidden_size: int
    num_layers: int
    bias: bool
    batch_first: bool
    dropout: float
    bidirectional: bool
    proj_size: int

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
        proj_size: int = 0,
        device: Device | str | None = None,
        dtype: DType | None = None,
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
        self.proj_size = proj_size
        self._flat_weight_refs: list[weakref.ref[object] | None] = []
        self._check(dropout)
        self._flat_weights_names: list[str] = []
        self._all_weights: list[list[str]] = []
        made: Placed = {"device": device, "dtype": dtype}
        for layer in range(num_layers):
            for suffix in ("", "_reverse") if bidirectional else ("",):
                self._make_weights(layer, f"_l{layer}{suffix}", made)
        self._init_flat_weights()
        self.reset_parameters()

    def _check(self, dropout: float) -> None:
        """Raises: TypeError, ValueError: an argument is no possible one."""
        _check_dropout(dropout, self.num_layers)
        for name in ("bias", "batch_first"):
            _need_type(name, getattr(self, name), bool)
        for name in ("input_size", "hidden_size"):
            _need_type(name, getattr(self, name), int)
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} must be greater than zero")
        if self.num_layers <= 0:
            raise ValueError("num_layers must be greater than zero")
        if self.proj_size < 0:
            raise ValueError(
                "proj_size should be a positive integer or zero to disable projections"
            )
        if self.proj_size >= self.hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size")
        if self.mode not in _CHUNKS:
            raise ValueError("Unrecognized RNN mode: " + self.mode)

    def _make_weights(self, layer: int, ending: str, made: Placed) -> None:
        """The weights of one direction of a layer."""
        rows = _CHUNKS[self.mode] * self.hidden_size
        state = self.proj_size or self.hidden_size
        width = self.input_size if layer == 0 else state * (2 if self.bidirectional else 1)
        shapes: dict[str, tuple[int, ...]] = {
            "weight_ih": (rows, width),
            "weight_hh": (rows, state),
        }
        if self.bias:
            shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}
        if self.proj_size > 0:
            shapes["weight_hr"] = (self.proj_size, self.hidden_size)
        names = [name + ending for name in shapes]
        for name, shape in zip(names, shapes.values(), strict=True):
            setattr(self, name, Parameter(_empty(shape, **made)))
        self._flat_weights_names.extend(names)
        self._all_weights.append(names)

    def _init_flat_weights(self) -> None:
        self._flat_weights = [getattr(self, name, None) for name in self._flat_weights_names]
        self._flat_weight_refs = _references(self._flat_weights)
        self.flatten_parameters()

    def __setattr__(self, name: str, value: object) -> None:
        names = self.__dict__.get("_flat_weights_names", ())
        if name in names and "_flat_weights" in self.__dict__:
            self._flat_weights[names.index(name)] = value
        super().__setattr__(name, value)

    def flatten_parameters(self) -> None:
        """Nothing on a CPU: weights need not lie in one piece of memory there."""

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        self._flat_weight_refs = []
        result = super()._apply(fn, recurse)
        self._init_flat_weights()
        return result

    def reset_parameters(self) -> None:
        """Draw all weights uniformly from ±1/sqrt(hidden_size)."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    # -- checks of what is given to forward, which are compiled with it ------------------------

    def check_input(self, input: Tensor, batch_sizes: Tensor | None) -> None:
        """Raises: RuntimeError, ValueError: the input does not fit the layer."""
        if not is_scripting():
            wanted = self.all_weights[0][0].dtype
            if input.dtype != wanted:
                raise ValueError(
                    f"RNN input dtype ({input.dtype}) does not match weight dtype ({wanted}). "
                    f"Convert input: input.to({wanted}), or convert model: "
                    f"model.to({input.dtype})"
                )
        dims = 3 if batch_sizes is None else 2
        if input.ndim != dims:
            raise RuntimeError(f"input must have {dims} dimensions, got {input.ndim}")
        if input.size(-1) != self.input_size:
            raise RuntimeError(
                "input.size(-1) must be equal to input_size. "
                f"Expected {self.input_size}, got {input.size(-1)}"
            )

    def get_expected_hidden_size(
        self, input: Tensor, batch_sizes: Tensor | None
    ) -> tuple[int, int, int]:
        """(layers * directions, B, width of the state)."""
        width = self.proj_size if self.proj_size > 0 else self.hidden_size
        return self._count(), self._batch(input, batch_sizes), width

    def _count(self) -> int:
        """How many states there are: one for each layer and direction."""
        return self.num_layers * (2 if self.bidirectional else 1)

    def _batch(self, input: Tensor, batch_sizes: Tensor | None) -> int:
        """How many sequences there are: packed, the number of those that have a first step."""
        if batch_sizes is not None:
            return int(batch_sizes[0])
        return input.size(0 if self.batch_first else 1)

    def check_hidden_size(
        self,
        hx: Tensor,
        expected_hidden_size: tuple[int, int, int],
        msg: str = "Expected hidden size {}, got {}",
    ) -> None:
        """Raises: RuntimeError: the state has another shape."""
        if hx.size() != expected_hidden_size:
            raise RuntimeError(msg.format(expected_hidden_size, list(hx.size())))

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """Raises: RuntimeError, ValueError: input and state do not fit the layer."""
        raise NotImplementedError

    # -- keeping weights and copies in step ----------------------------------------------------

    def _weights_have_changed(self) -> bool:
        """Whether a weight is another object than at the last call."""
        pairs = zip(self._flat_weight_refs, self._flat_weights_names, strict=True)
        for reference, name in pairs:
            weight = getattr(self, name, None)
            if weight is not None and reference is not None and reference() is not weight:
                return True
        return False

    def _update_flat_weights(self) -> None:
        if not is_scripting():  # noqa: SIM102  (only a test by itself is decided in advance)
            if self._weights_have_changed():
                self._init_flat_weights()

    def __getstate__(self) -> dict[str, object]:
        self._update_flat_weights()
        left_out = ("_flat_weight_refs",)  # nobody can pickle references
        return {name: value for name, value in self.__dict__.items() if name not in left_out}

    def __setstate__(self, state: dict[str, object]) -> None:
        super().__setstate__(state)
        self.__dict__.setdefault("proj_size", 0)  # older versions lack it
        self._flat_weight_refs = _references(self._flat_weights)

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The weights of each direction of each layer."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def extra_repr(self) -> str:
        shown = [f"{self.input_size}, {self.hidden_size}"]
        ordinary = {"proj_size": 0, "num_layers": 1, "bias": True, "batch_first": False}
        for name, usual in {**ordinary, "dropout": 0, "bidirectional": False}.items():
            value = getattr(self, name)
            if value != usual:
                shown.append(f"{name}={value}")
        return ", ".join(shown)


def _references(weights: Sequence[object]) -> list[weakref.ref[object] | None]:
    return [None if weight is None else weakref.ref(weight) for weight in weights]


def _need_type(name: str, value: object, wanted: type) -> None:
    if not isinstance(value, wanted):
        kind = type(value).__name__
        raise TypeError(f"{name} should be of type {wanted.__name__}, got: {kind}")


def _check_dropout(dropout: float, num_layers: int) -> None:
    number = isinstance(dropout, numbers.Number) and not isinstance(dropout, bool)
    if not number or not 0 <= dropout <= 1:
        raise ValueError(
            "dropout should be a number in range [0, 1] representing the probability of an "
            "element being zeroed"
        )
    if dropout > 0 and num_layers == 1:
        warnings.warn(
            "dropout option adds dropout after all but last recurrent layer, so non-zero dropout "
            f"expects num_layers greater than 1, but got dropout={dropout} and "
            f"num_layers={num_layers}",
            stacklevel=4,
        )
