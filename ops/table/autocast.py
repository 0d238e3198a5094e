"""Automatic mixed precision: what is cast, and whether it is on.

While autocast is on, some operators take their tensors in a lower precision, some in float32, some
in the widest dtype of them all.  Float64 tensors, integers and tensors of other devices stay.

`EAGER` is what Python's calls do, `SCRIPT` what the compiler puts into graphs: torch has these two
lists too, and they differ.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from ..memory.dtype import Array, dtype_by_number
from ..memory.errors import OperatorError
from .table import operator

__all__ = [
    *("EAGER", "SCRIPT", "Autocast", "Policy"),
    *("autocast_state", "script_autocasts", "set_autocast_state"),
]

Policy = str
"""`lower`, `full`, `full-unless-dtype`, `widest`, `full-on-gpu`, or `banned`."""


@dataclass(frozen=True, slots=True)
class Autocast:
    """Whether autocast is on for a kind of device, and in which dtypes (their numbers)."""

    cpu: bool = False
    cuda: bool = False
    cpu_dtype: int = 15
    cuda_dtype: int = 5
    cache: bool = True

    def __bool__(self) -> bool:
        return self.cpu or self.cuda

    def enabled(self, device: str) -> bool:
        """Whether it is on for a kind of device."""
        return {"cpu": self.cpu, "cuda": self.cuda}.get(device, False)

    def dtype(self, device: str) -> int:
        """The number of the lower dtype of a kind of device."""
        return self.cpu_dtype if device == "cpu" else self.cuda_dtype

    def caching(self, enabled: bool) -> Autocast:
        """The same, with or without cast weights kept."""
        return replace(self, cache=enabled)

    def switched(self, device: str, enabled: bool, dtype: int | None = None) -> Autocast:
        """The same, switched on or off for a kind of device."""
        if device not in ("cpu", "cuda"):
            return self
        changes: dict[str, Any] = {device: enabled}
        if dtype is not None:
            changes[f"{device}_dtype"] = dtype
        return replace(self, **changes)


_OFF: Final = Autocast()
_STATE: ContextVar[Autocast] = ContextVar("autocast", default=_OFF)

autocast_state: Final[Callable[[], Autocast]] = _STATE.get


def set_autocast_state(state: Autocast) -> None:
    """Have another state from here on."""
    _STATE.set(state)


_script: Final = [True]


def script_autocasts(switched: bool | None = None) -> bool:
    """Whether scripted `with torch.autocast` casts; switches it if told, and gives what was."""
    before = _script[0]
    if switched is not None:
        _script[0] = switched
    return before


def _named(policies: dict[Policy, str]) -> dict[str, Policy]:
    return {name: policy for policy, names in policies.items() for name in names.split()}


EAGER: Final = _named(
    {
        "lower": """conv1d conv2d conv3d bmm mm linalg_vecdot baddbmm addmm _addmm_activation addbmm
        linear _convolution matmul conv_tbc mkldnn_rnn_layer conv_transpose1d conv_transpose2d
        conv_transpose3d prelu scaled_dot_product_attention _native_multi_head_attention
        einsum tensordot inner chain_matmul linalg_multi_dot""",
        "full": """avg_pool3d binary_cross_entropy grid_sampler polar prod quantile nanquantile stft
        cdist grid_sampler_2d grid_sampler_3d trace view_as_complex cholesky cholesky_inverse
        cholesky_solve inverse lu_solve orgqr ormqr pinverse max_pool3d max_unpool2d max_unpool3d
        adaptive_avg_pool3d reflection_pad1d reflection_pad2d replication_pad1d replication_pad2d
        replication_pad3d mse_loss cosine_embedding_loss nll_loss nll_loss2d hinge_embedding_loss
        poisson_nll_loss smooth_l1_loss cross_entropy_loss l1_loss huber_loss margin_ranking_loss
        soft_margin_loss triplet_margin_loss multi_margin_loss ctc_loss kl_div
        multilabel_margin_loss binary_cross_entropy_with_logits fft_fft fft_ifft fft_fft2 fft_ifft2
        fft_fftn fft_ifftn fft_rfft fft_irfft fft_rfft2 fft_irfft2 fft_rfftn fft_irfftn fft_hfft
        fft_ihfft linalg_cond linalg_matrix_rank linalg_solve linalg_cholesky linalg_svdvals
        linalg_eigvals linalg_eigvalsh linalg_inv linalg_householder_product linalg_tensorinv
        linalg_tensorsolve fake_quantize_per_tensor_affine geqrf _lu_with_info qr svd
        triangular_solve fractional_max_pool2d fractional_max_pool3d adaptive_max_pool3d
        multilabel_margin_loss_forward linalg_qr linalg_cholesky_ex linalg_svd linalg_eig
        linalg_eigh linalg_lstsq linalg_inv_ex""",
        "widest": "stack cat index_copy",
    }
)
"""What eager calls on a CPU do, by operator."""

SCRIPT: Final = _named(
    {
        "lower": """_convolution conv1d conv2d conv3d conv_tbc conv_transpose1d convolution
        prelu addmm addmv addr matmul mm mv linear addbmm baddbmm bmm chain_matmul
        _thnn_fused_lstm_cell _thnn_fused_gru_cell lstm_cell gru_cell rnn_tanh_cell
        rnn_relu_cell""",
        "full": """native_layer_norm acos asin cosh erfinv exp expm1 log log10 log2 log1p reciprocal
        rsqrt sinh tan pow softplus gelu layer_norm group_norm frobenius_norm nuclear_norm
        cosine_similarity cosine_embedding_loss nll_loss nll_loss2d hinge_embedding_loss kl_div
        l1_loss smooth_l1_loss mse_loss margin_ranking_loss multilabel_margin_loss soft_margin_loss
        triplet_margin_loss multi_margin_loss binary_cross_entropy_with_logits dist pdist cdist
        renorm logsumexp""",
        "full-unless-dtype": "prod log_softmax cumprod cumsum sum",
        "full-on-gpu": "softmax",
        "widest": """addcdiv addcmul atan2 bilinear cat cross dot equal index_put stack tensordot
        add sub mul div""",
        "banned": "binary_cross_entropy",
    }
)
"""What graphs do, by operator."""


# --------------------------------------------------------------------------- operators


@operator("aten::is_autocast_enabled() -> bool", effects=True)
def is_autocast_enabled() -> bool:
    return _STATE.get().cuda


@operator("aten::is_autocast_cpu_enabled() -> bool", effects=True)
def is_autocast_cpu_enabled() -> bool:
    return _STATE.get().cpu


@operator("aten::get_autocast_dtype(str device_type) -> ScalarType", effects=True)
def get_autocast_dtype(device_type: str) -> int:
    if device_type not in ("cpu", "cuda"):
        raise OperatorError(f"unsupported scalarType for device {device_type}")
    return _STATE.get().dtype(device_type)


@operator(
    "aten::_autocast_to_reduced_precision(Tensor(a) self, bool cuda_enabled, bool cpu_enabled, "
    "ScalarType cuda_dtype, ScalarType cpu_dtype) -> Tensor(a)"
)
def to_reduced_precision(
    array: Array, cuda_enabled: bool, cpu_enabled: bool, cuda_dtype: int, cpu_dtype: int
) -> Array:
    if cpu_enabled and array.dtype == np.float32:
        return array.astype(dtype_by_number(cpu_dtype).numpy)
    return array


_LOWER: Final = ("float16", "bfloat16")


@operator(
    "aten::_autocast_to_full_precision(Tensor(a) self, bool cuda_enabled, bool cpu_enabled) "
    "-> Tensor(a)"
)
def to_full_precision(array: Array, cuda_enabled: bool, cpu_enabled: bool) -> Array:
    return array.astype(np.float32) if cpu_enabled and array.dtype.name in _LOWER else array
