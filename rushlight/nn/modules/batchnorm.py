"""Batch normalisation."""

# Script reads these bodies: they keep to its types.
# mypy: disable-error-code="arg-type"
# ruff: noqa: SIM102
from __future__ import annotations

from typing import ClassVar

from ...module_names import names_of
from ...ops.eager.dispatch import eager_function
from ...ops.memory.dtype import DTYPES, Device, DType
from ...ops.tensors.tensor import Parameter, Tensor
from .. import functional, init
from ..sizes import is_scripting
from ..state import Metadata, StateDict
from .module import Module
from .synchronised import is_shared, normalised

__all__ = ["BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "SyncBatchNorm"]

_empty = eager_function("aten::empty")
_zeros = eager_function("aten::zeros")
_ones = eager_function("aten::ones")


class _NormBase(Module):
    """What batch and instance normalisation have: a scale, a shift and running statistics."""

    _version = 2
    __constants__: ClassVar[list[str]] = [
        "track_running_stats",
        "momentum",
        "eps",
        "num_features",
        "affine",
    ]
    num_features: int
    eps: float
    momentum: float | None
    affine: bool
    track_running_stats: bool

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Device | str | None = None,
        dtype: DType | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        made: dict[str, object] = {"device": device, "dtype": dtype}
        scale = Parameter(_empty(num_features, **made)) if affine else None
        shift = Parameter(_empty(num_features, **made)) if affine and bias else None
        self.register_parameter("weight", scale)
        self.register_parameter("bias", shift)
        if track_running_stats:
            self.register_buffer("running_mean", _zeros(num_features, **made))
            self.register_buffer("running_var", _ones(num_features, **made))
            count = _zeros([], dtype=DTYPES["int64"], device=device)
            self.register_buffer("num_batches_tracked", count)
        else:
            for name in ("running_mean", "running_var", "num_batches_tracked"):
                self.register_buffer(name, None)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Forget the statistics of the batches seen."""
        if self.track_running_stats:
            for name, start in (("mean", 0), ("var", 1)):
                getattr(self, f"running_{name}").fill_(start)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Forget the statistics, scale by one, shift by nothing."""
        self.reset_running_stats()
        scale, shift = self.weight, self.bias
        if self.affine:
            init.ones_(scale)
        if self.affine and shift is not None:
            init.zeros_(shift)

    def _check_input_dim(self, input: Tensor) -> None:
        raise NotImplementedError

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )

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
        version = local_metadata.get("version")
        count = prefix + "num_batches_tracked"
        if (version is None or version < 2) and self.track_running_stats:
            # version 2 brought the count of batches: what was saved before has none
            own = self.num_batches_tracked
            fresh = _zeros([], dtype=DTYPES["int64"]) if own is None else own
            state_dict.setdefault(count, fresh)
        lists = missing_keys, unexpected_keys, error_msgs
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, *lists)


class _BatchNorm(_NormBase):
    """Each channel with its mean over the batch taken off, divided by its deviation."""

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        share = self._count_batch()
        by_batch = self.training or (self.running_mean is None and self.running_var is None)
        kept = self.track_running_stats or not self.training
        return functional.batch_norm(
            input,
            self.running_mean if kept else None,
            self.running_var if kept else None,
            self.weight,
            self.bias,
            by_batch,
            share,
            self.eps,
        )

    def _count_batch(self) -> float:
        """Count a batch to train on; how far it moves the running statistics."""
        seen = self.num_batches_tracked
        if seen is not None:
            if self.training and self.track_running_stats:
                seen.add_(1)
                if self.momentum is None:  # a plain mean of all batches
                    return 1.0 / float(seen)
        return 0.0 if self.momentum is None else self.momentum


class BatchNorm1d(_BatchNorm):
    """Batch normalisation of (N, C) or (N, C, L)."""

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() != 2 and input.dim() != 3:
            raise ValueError(f"expected 2D or 3D input (got {input.dim()}D input)")


class BatchNorm2d(_BatchNorm):
    """Batch normalisation of (N, C, H, W)."""

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() != 4:
            raise ValueError(f"expected 4D input (got {input.dim()}D input)")


class BatchNorm3d(_BatchNorm):
    """Batch normalisation of (N, C, D, H, W)."""

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() != 5:
            raise ValueError(f"expected 5D input (got {input.dim()}D input)")


class SyncBatchNorm(_BatchNorm):
    """Batch normalisation by the batches of all processes of a group in training; scripted, and in
    one process, by its own.

    Args:
        process_group: the group; that of all processes if None.
    """

    _by_itself = _BatchNorm.forward

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: object | None = None,
        device: Device | str | None = None,
        dtype: DType | None = None,
        *,
        bias: bool = True,
    ) -> None:
        statistics = affine, track_running_stats
        super().__init__(num_features, eps, momentum, *statistics, device, dtype, bias=bias)
        self.process_group = process_group

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        if not is_scripting():
            if self.training and is_shared(self.process_group):
                self._check_input_dim(input)
                return normalised(self, input, self._count_batch())
        return self._by_itself(input)

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: object | None = None) -> Module:
        """A module with all batch normalisations below it, or itself, replaced by this class.

        Parameters and buffers are shared with what is replaced.
        """
        made = module
        if isinstance(module, _BatchNorm):
            statistics = module.affine, module.track_running_stats
            shape = module.num_features, module.eps, module.momentum, *statistics
            made = SyncBatchNorm(*shape, process_group, bias=module.bias is not None)
            for name in ("weight", "bias") if module.affine else ():
                setattr(made, name, getattr(module, name))
            for name in ("running_mean", "running_var", "num_batches_tracked"):
                setattr(made, name, getattr(module, name))
            made.training = module.training
            if hasattr(module, "qconfig"):  # what quantization asks of it
                made.qconfig = module.qconfig
        for name, child in module.named_children():
            made.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return made


__getattr__ = names_of(__name__)
