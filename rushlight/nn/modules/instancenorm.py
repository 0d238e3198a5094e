"""Instance normalisation: each channel of each sample by itself."""

# Script reads these bodies: they keep to its types.
# mypy: disable-error-code="arg-type, no-any-return"
from __future__ import annotations

import warnings

from ...module_names import names_of
from ...ops.memory.dtype import Device, DType
from ...ops.tensors.tensor import Tensor
from .. import functional
from ..state import Metadata, StateDict
from .batchnorm import _NormBase

__all__ = ["InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d"]


class _InstanceNorm(_NormBase):
    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Device | str | None = None,
        dtype: DType | None = None,
        *,
        bias: bool = True,
    ) -> None:
        statistics = affine, track_running_stats
        super().__init__(num_features, eps, momentum, *statistics, device, dtype, bias=bias)

    def _get_no_batch_dim(self) -> int:
        raise NotImplementedError

    def _handle_no_batch_input(self, input: Tensor) -> Tensor:
        return self._apply_instance_norm(input.unsqueeze(0)).squeeze(0)

    def _apply_instance_norm(self, input: Tensor) -> Tensor:
        return functional.instance_norm(
            input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            self.momentum if self.momentum is not None else 0.0,
            self.eps,
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
        """As any module; statistics of very old files are refused where none are kept."""
        if local_metadata.get("version") is None and not self.track_running_stats:
            keys = [prefix + n for n in ("running_mean", "running_var") if prefix + n in state_dict]
            if keys:
                error_msgs.append(_old_statistics(keys, type(self).__name__))
            for key in keys:
                state_dict.pop(key)
        lists = missing_keys, unexpected_keys, error_msgs
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, *lists)

    def _check_features(self, input: Tensor, dim: int) -> None:
        given = input.size(dim)
        if given == self.num_features:
            return
        if self.affine:
            raise ValueError(
                f"expected input's size at dim={dim} to match num_features"
                f" ({self.num_features}), but got: {given}."
            )
        warnings.warn(
            f"input's size at dim={dim} does not match num_features. "
            "You can silence this warning by not passing in num_features, "
            "which is not used because affine=False",
            stacklevel=3,
        )

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        alone = self._get_no_batch_dim()
        self._check_features(input, input.dim() - alone)
        if input.dim() == alone:
            return self._handle_no_batch_input(input)
        return self._apply_instance_norm(input)


def _old_statistics(keys: list[str], name: str) -> str:
    """torch's message on files from before 0.4, where statistics were always kept."""
    listed = " and ".join(f'"{key}"' for key in keys)
    return (
        f"Unexpected running stats buffer(s) {listed} for {name} with track_running_stats=False. "
        "If state_dict is a checkpoint saved before 0.4.0, this may be expected because "
        f"{name} does not track running stats by default since 0.4.0. Please remove these keys "
        "from state_dict. If the running stats are actually needed, instead set "
        f"track_running_stats=True in {name} to enable them. See the documentation of {name} "
        "for details."
    )


class InstanceNorm1d(_InstanceNorm):
    """Instance normalisation of (N, C, L) or (C, L)."""

    def _get_no_batch_dim(self) -> int:
        return 2

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() not in (2, 3):
            raise ValueError(f"expected 2D or 3D input (got {input.dim()}D input)")


class InstanceNorm2d(_InstanceNorm):
    """Instance normalisation of (N, C, H, W) or (C, H, W)."""

    def _get_no_batch_dim(self) -> int:
        return 3

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() not in (3, 4):
            raise ValueError(f"expected 3D or 4D input (got {input.dim()}D input)")


class InstanceNorm3d(_InstanceNorm):
    """Instance normalisation of (N, C, D, H, W) or (C, D, H, W)."""

    def _get_no_batch_dim(self) -> int:
        return 4

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() not in (4, 5):
            raise ValueError(f"expected 4D or 5D input (got {input.dim()}D input)")


__getattr__ = names_of(__name__)
