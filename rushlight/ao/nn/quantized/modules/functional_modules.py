"""Sums, products and joins as modules, so that their results can be observed."""

# Script reads these bodies: no casts in them.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import Any, Self

from .....nn import functional as F
from .....nn.modules.linear import Identity
from .....nn.modules.module import Module
from .....nn.state import Metadata, StateDict
from .....ops.eager.dispatch import eager_function
from .....ops.tensors.construct import tensor
from .....ops.tensors.tensor import Tensor

__all__ = ["FXFloatFunctional", "FloatFunctional", "QFunctional"]

_add = eager_function("aten::add")
_cat = eager_function("aten::cat")
_matmul = eager_function("aten::matmul")
_mul = eager_function("aten::mul")
_q_add = eager_function("quantized::add")
_q_add_relu = eager_function("quantized::add_relu")
_q_add_scalar = eager_function("quantized::add_scalar")
_q_cat = eager_function("quantized::cat")
_q_matmul = eager_function("quantized::matmul")
_q_mul = eager_function("quantized::mul")
_q_mul_scalar = eager_function("quantized::mul_scalar")


class FloatFunctional(Module):
    """Operators on floats; what they give goes through `activation_post_process`.

    One module stands for one place of a model, since it has one range.
    """

    activation_post_process: Any

    def __init__(self) -> None:
        super().__init__()
        self.activation_post_process = Identity()

    def forward(self, x: Tensor) -> Tensor:
        raise RuntimeError(
            "FloatFunctional is not intended to use the 'forward'. Please use the underlying "
            "operation"
        )

    def add(self, x: Tensor, y: Tensor) -> Tensor:
        """`torch.add`."""
        return self.activation_post_process(_add(x, y))

    def add_scalar(self, x: Tensor, y: float) -> Tensor:
        """`torch.add` of a number, whose result is not observed."""
        return _add(x, y)

    def mul(self, x: Tensor, y: Tensor) -> Tensor:
        """`torch.mul`."""
        return self.activation_post_process(_mul(x, y))

    def mul_scalar(self, x: Tensor, y: float) -> Tensor:
        """`torch.mul` by a number, whose result is not observed."""
        return _mul(x, y)

    def cat(self, x: list[Tensor], dim: int = 0) -> Tensor:
        """`torch.cat`."""
        return self.activation_post_process(_cat(x, dim=dim))

    def add_relu(self, x: Tensor, y: Tensor) -> Tensor:
        """`torch.add`, then ReLU."""
        return self.activation_post_process(F.relu(_add(x, y)))

    def matmul(self, x: Tensor, y: Tensor) -> Tensor:
        """`torch.matmul`."""
        return self.activation_post_process(_matmul(x, y))


class FXFloatFunctional(Module):
    """The operators of `FloatFunctional`, for models that are traced before they are observed."""

    def forward(self, x: Tensor) -> Tensor:
        raise RuntimeError(
            "FloatFunctional is not intended to use the 'forward'. Please use the underlying "
            "operation"
        )

    def add(self, x: Tensor, y: Tensor) -> Tensor:
        """`torch.add`."""
        return _add(x, y)

    def add_scalar(self, x: Tensor, y: float) -> Tensor:
        """`torch.add` of a number."""
        return _add(x, y)

    def mul(self, x: Tensor, y: Tensor) -> Tensor:
        """`torch.mul`."""
        return _mul(x, y)

    def mul_scalar(self, x: Tensor, y: float) -> Tensor:
        """`torch.mul` by a number."""
        return _mul(x, y)

    def cat(self, x: list[Tensor], dim: int = 0) -> Tensor:
        """`torch.cat`."""
        return _cat(x, dim=dim)

    def add_relu(self, x: Tensor, y: Tensor) -> Tensor:
        """`torch.add`, then ReLU."""
        return F.relu(_add(x, y))

    def matmul(self, x: Tensor, y: Tensor) -> Tensor:
        """`torch.matmul`."""
        return _matmul(x, y)


class QFunctional(Module):
    """The operators of `FloatFunctional` over quantized tensors.

    `scale` and `zero_point` are those of the result.
    """

    activation_post_process: Any

    def __init__(self) -> None:
        super().__init__()
        self.scale = 1.0
        self.zero_point = 0
        self.activation_post_process = Identity()

    def _save_to_state_dict(self, destination: StateDict, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[f"{prefix}scale"] = tensor(self.scale)
        destination[f"{prefix}zero_point"] = tensor(self.zero_point)

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
        self.scale = float(state_dict.pop(f"{prefix}scale"))
        self.zero_point = int(state_dict.pop(f"{prefix}zero_point"))
        lists = (missing_keys, unexpected_keys, error_msgs)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, False, *lists)

    def _get_name(self) -> str:
        return "QFunctional"

    def extra_repr(self) -> str:
        return f"scale={self.scale}, zero_point={self.zero_point}"

    def forward(self, x: Tensor) -> Tensor:
        raise RuntimeError(
            "Functional is not intended to use the 'forward'. Please use the underlying operation"
        )

    def add(self, x: Tensor, y: Tensor) -> Tensor:
        """`quantized::add`."""
        return self.activation_post_process(
            _q_add(x, y, scale=self.scale, zero_point=self.zero_point)
        )

    def add_scalar(self, x: Tensor, y: float) -> Tensor:
        """`quantized::add_scalar`, whose result has a scale that follows from its input's."""
        return _q_add_scalar(x, y)

    def mul(self, x: Tensor, y: Tensor) -> Tensor:
        """`quantized::mul`."""
        return self.activation_post_process(
            _q_mul(x, y, scale=self.scale, zero_point=self.zero_point)
        )

    def mul_scalar(self, x: Tensor, y: float) -> Tensor:
        """`quantized::mul_scalar`, whose result has a scale that follows from its input's."""
        return _q_mul_scalar(x, y)

    def cat(self, x: list[Tensor], dim: int = 0) -> Tensor:
        """`quantized::cat`."""
        return self.activation_post_process(
            _q_cat(x, scale=self.scale, zero_point=self.zero_point, dim=dim)
        )

    def add_relu(self, x: Tensor, y: Tensor) -> Tensor:
        """`quantized::add_relu`."""
        return self.activation_post_process(
            _q_add_relu(x, y, scale=self.scale, zero_point=self.zero_point)
        )

    def matmul(self, x: Tensor, y: Tensor) -> Tensor:
        """`quantized::matmul`; not observed."""
        return _q_matmul(x, y, scale=self.scale, zero_point=self.zero_point)

    @classmethod
    def from_float(cls, mod: Module, use_precomputed_fake_quant: bool = False) -> Self:
        """The module of one in floats that was observed.

        Raises:
            AssertionError: another module.
        """
        if type(mod) is not FloatFunctional:
            raise AssertionError(
                "QFunctional.from_float expects an instance of FloatFunctional, got "
                f"{type(mod).__name__}"
            )
        scale, zero_point = mod.activation_post_process.calculate_qparams()
        made = cls()
        made.scale = float(scale)
        made.zero_point = int(zero_point)
        return made
