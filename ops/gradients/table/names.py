"""The names of nodes, where torch's differ from the operators'.

torch computes some operators by others, whose last one gives its name; and it counts overloads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ...memory.complex_parts import is_complex
from ...tensors.tensor import Tensor
from .rows import ROWS, Ints

_PLAIN = """
remainder.Tensor Remainder1; remainder.Scalar_Tensor Remainder1; rsub.Tensor Rsub0
clamp.Tensor Clamp0; clamp_max.Tensor ClampMax1; clamp_min.Tensor ClampMin1; div.Tensor_mode Div2
div.Scalar_mode Div3; fmod.Tensor Fmod1; ldexp.Tensor Ldexp0; masked_fill.Tensor MaskedFill1
max.other Maximum0; min.other Minimum0; median.dim Median1; nanmedian.dim Nanmedian1; bilinear View0
ravel View0; repeat_interleave View0; round.decimals Round1; sort.stable Sort1; sort Sort0
tile Repeat0; split.sizes SplitWithSizes0; split SplitWithSizes0; unsafe_chunk UnsafeSplit0
rms_norm Mul0; scaled_dot_product_attention UnsafeView0; lstm_cell Mul0; rnn_relu_cell Relu0
rnn_tanh_cell Tanh0; cdist View0; adaptive_avg_pool1d Squeeze1; avg_pool1d Squeeze1; diff Sub0
max_pool1d Squeeze1; adaptive_max_pool1d Squeeze1; max_pool1d_with_indices Squeeze1; kron View0
pairwise_distance Norm1; linalg_matrix_norm Sum1; square Pow0; float_power Pow0; matrix_power Mm0
linalg_matrix_power Mm0; split.Tensor Split0; linalg_inv LinalgInvEx0; diagflat DiagEmbed0
linalg_diagonal Diagonal0; pinverse LinalgPinv0; linalg_norm LinalgVectorNorm0; combinations Stack0
nanmean Div0; msort Sort0; fft_fftshift Roll0; fft_ifftshift Roll0; fft_rfft2 FftR2C0
fft_rfftn FftR2C0; fft_irfft2 FftC2R0; fft_irfftn FftC2R0; fft_fft2 FftC2C0; fft_fftn FftC2C0
fft_ifft2 FftC2C0; fft_ifftn FftC2C0; float_power.Tensor_Tensor Pow1; lerp.Tensor Lerp1
copysign.Scalar Copysign1; grid_sampler_3d GridSampler3D0; index_fill.int_Tensor IndexFill1
scatter.value Scatter1; special_ndtr Mul1; tensordot View0; linalg_multi_dot View0
xlogy.Scalar_Self Xlogy1; xlogy.Scalar_Other Xlogy2
"""

_REDUCED = {"cosine_embedding_loss": "Add", "hinge_embedding_loss": "Add",
            "margin_ranking_loss": "ClampMin", "poisson_nll_loss": "Sub", "l1_loss": "Abs",
            "triplet_margin_loss": "ClampMin", "multilabel_soft_margin_loss": "Div"}  # fmt: skip
"""Losses by the operator before the reduction, which names the node if there is one."""


def _node(word: str) -> str:
    """`Mul0` stands for `MulBackward0`."""
    return f"{word[:-1]}Backward{word[-1]}" if word != "Expm1" else "Expm1Backward0"


def _rename(operator: str, name: str | Callable[..., str]) -> None:
    row = ROWS.get(f"aten::{operator}") or ROWS.get(f"aten::{operator.partition('.')[0]}")
    if row is not None:
        ROWS[f"aten::{operator}"] = replace(row, name=name)


def _by_reduction(plain: str) -> Callable[..., str]:
    def name(*args: object) -> str:
        reduction = args[-1] if isinstance(args[-1], int) else 1
        return ("Mean" if reduction == 1 else "Sum" if reduction == 2 else plain) + "Backward0"

    return name


def _convolution(input: Tensor, weight: Tensor, *rest: object) -> str:
    """A single sample goes through as a batch of one."""
    return "SqueezeBackward1" if input.ndim < weight.ndim else "ConvolutionBackward0"


def _padding(self: Tensor, pad: Ints, mode: str = "constant", value: object = None) -> str:
    if mode == "constant":
        return "ConstantPadNdBackward0"
    if mode == "circular":
        return "CopySlices"
    kind = "Reflection" if mode == "reflect" else "Replication"
    return f"{kind}Pad{len(pad) // 2}DBackward0"


def _by_kind(real: str, complex: str) -> Callable[..., str]:
    def name(self: Tensor, *rest: object) -> str:
        return complex if is_complex(self._array.dtype) else real

    return name


def _by_rank(other: str, **named: str) -> Callable[..., str]:
    """Named by the rank of the first argument: `one="DivBackward0"`."""
    words = ("none", "one", "two")

    def name(self: Tensor, *rest: object) -> str:
        return named.get(words[self.ndim], other) if self.ndim < len(words) else other

    return name


def _inner(self: Tensor, other: Tensor) -> str:
    return "ViewBackward0" if self.ndim and other.ndim else "MulBackward0"


def _divergence(self: Tensor, target: Tensor, reduction: int, log_target: bool) -> str:
    plain = "Mul" if log_target else "Sub"
    return ("Mean" if reduction == 1 else "Sum" if reduction == 2 else plain) + "Backward0"


def _matrix_norm(self: Tensor, order: str | float, dim: Ints, keepdim: bool, dtype: object) -> str:
    if order == "fro":
        return "LinalgVectorNormBackward0"
    if isinstance(order, str):
        return "PermuteBackward0" if keepdim else "SumBackward1"
    return "AmaxBackward0" if order > 0 else "AminBackward0"


def _recurrent(*args: object) -> str:
    return "TransposeBackward0" if args[-1] else "StackBackward0"


def _recurrent_layer(*args: object) -> str:
    """torch has layers of its own for LSTMs that are not packed; others are made of steps."""
    if args[8]:
        return "CatBackward0"
    return "MkldnnRnnLayerBackward0" if args[9] == 2 else "StackBackward0"


for _line in _PLAIN.replace(";", "\n").split("\n"):
    if _line.strip():
        _operator, _word = _line.split()
        _rename(_operator, _node(_word))
for _loss, _before in _REDUCED.items():
    _rename(_loss, _by_reduction(_before))
for _name in ("conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d",
              "conv_transpose3d"):  # fmt: skip
    _rename(_name, _convolution)
_rename("pad", _padding)
for _name in ("lstm.input", "gru.input", "rnn_tanh.input", "rnn_relu.input"):
    _rename(_name, _recurrent)
for _name, _function in (
    ("mkldnn_rnn_layer", _recurrent_layer),
    ("diag", _by_rank("DiagonalBackward0_copy", one="DiagEmbedBackward0")),
    ("fft_fft", _by_kind("FftR2CBackward0", "FftC2CBackward0")),
    ("fft_ifft", _by_kind("ConjBackward0", "FftC2CBackward0")),
    ("logdet", _by_kind("WhereBackward0", "AddBackward0")),
    ("linalg_vecdot", _by_rank("SumBackward1", one="VdotBackward0")),
    ("inner", _inner),
    ("kl_div", _divergence),
    ("linalg_matrix_norm", _matrix_norm),
):
    _rename(_name, _function)
for _view in ("alias", "as_strided", "diagonal", "expand", "permute", "split_with_sizes", "squeeze",
              "t", "transpose", "unbind", "unfold", "unsqueeze", "view"):  # fmt: skip
    _words = "".join(word[:1].upper() + word[1:] for word in _view.split("_"))
    _rename(f"{_view}_copy", f"{_words}Backward0_copy")
_rename("squeeze_copy.dim", "SqueezeBackward1_copy")
