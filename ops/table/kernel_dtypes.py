"""Refusals of dtypes for operators whose computation here would take more dtypes than torch's.

One row an operator: its name, the classes of dtypes refused (see `refusals.letter`) or their names
after `=`, and the kernel's name in torch's sentence, or `-` where the refusal is that of a
subtraction of bools.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import Any, Final

import numpy as np

from ..memory.dtype import Array, dtype_of, of_numpy
from ..memory.errors import OperatorError, UnsupportedDtype
from .refusals import letter

__all__ = ["refusing"]

_ROWS: Final = """
_safe_softmax qc softmax_kernel_impl
_softmax_backward_data biuqc softmax_backward_lastdim_kernel_impl
_log_softmax_backward_data biuqc log_softmax_backward_lastdim_kernel_impl
_upsample_bilinear2d_aa h compute_index_ranges_weights
_upsample_bicubic2d_aa h compute_index_ranges_weights
avg_pool3d h avg_pool3d_out_frame
binary_cross_entropy biuqc binary_cross_entropy
cdist h cdist
conv_transpose1d =Byte,Char,Short,Int slow_conv_transpose2d_out_cpu
conv_transpose2d =Byte,Char,Short,Int slow_conv_transpose2d_out_cpu
conv_transpose3d =Byte,Char,Short,Int slow_conv_transpose3d_out_cpu
cross b cross
dist b -
hash_tensor qc xor_sum_cpu
im2col iu im2col_out_cpu
index_reduce bqc index_func_
l1_loss b -
linalg_cond h linalg_svd_cpu
linalg_cross b cross
linalg_ldl_solve h ldl_solve_kernel_cpu
linalg_lu_solve h linalg.lu_solve_cpu
lu_solve h linalg.lu_solve_cpu
margin_ranking_loss b -
max_pool1d iu max_pool1d_impl
max_unpool2d biuqc max_unpool2d
max_unpool3d biuqc max_unpool3d
multi_margin_loss bihuqc multi_margin_loss_cpu_kernel
multilabel_margin_loss bihuqc multilabel_margin_loss_forward_out_frame
nll_loss biuqc nll_loss_out_frame
nll_loss2d biuqc nll_loss2d_out_frame
nll_loss_forward biuqc nll_loss_out_frame
nll_loss2d_forward biuqc nll_loss2d_out_frame
pairwise_distance b -
prelu biuqc prelu_cpu
reflection_pad1d b reflection_pad1d
reflection_pad2d b reflection_pad2d
reflection_pad3d b reflection_pad3d
replication_pad1d b replication_pad1d
replication_pad2d b replication_pad2d
replication_pad3d b replication_pad3d
segment_reduce biuqc _segment_reduce_cpu
threshold qc threshold_cpu
triplet_margin_loss b -
upsample_linear1d =Byte compute_indices_weights_linear
upsample_trilinear3d =Byte compute_indices_weights_linear
"""

_HALVES: Final = "{name}: Low precision dtypes not supported. Got {word}"
_PLAIN: Final = "This function doesn't handle types other than float and double"
_PSEUDO: Final = (
    "linalg.pinv({word}{{{shape}}}): expected a tensor with 2 or more dimensions of float, "
    "double, cfloat or cdouble types"
)
_FLOATS: Final = "{name}: Expected a floating point or complex tensor as input. Got {word}"

_SENTENCES: Final[dict[str, tuple[str, str, str]]] = {
    **dict.fromkeys(("linalg_cholesky", "linalg_cholesky_ex"), ("biu", "linalg.cholesky", _FLOATS)),
    **dict.fromkeys(
        ("linalg_eig", "linalg_eigvals"), ("biu", "", "Unknown Complex ScalarType for {word}")
    ),
    **dict.fromkeys(
        ("linalg_inv", "linalg_inv_ex", "linalg_tensorinv"), ("h", "linalg.inv", _HALVES)
    ),
    "linalg_slogdet": ("h", "linalg.slogdet", _HALVES),
    "logdet": ("h", "logdet", _HALVES),
    **dict.fromkeys(("nuclear_norm",), ("h", "linalg.matrix_norm", _HALVES)),
    **dict.fromkeys(("linalg_pinv", "pinverse"), ("h", "", _PSEUDO)),
    "linalg_matrix_rank": ("biuh", "", _PLAIN),
    "linalg_lstsq": ("biu", "", _PLAIN),
    "isin": ("bqc", "", "Unsupported input type encountered for isin(): {word}"),
    "kl_div": ("biu", "", "kl_div: Integral inputs not supported."),
    "linalg_vander": (
        "bh",
        "",
        "linalg.vander supports floating point, complex, and integer tensors, but got {word}",
    ),
    "cosine_similarity": (
        "qc",
        "",
        "expected common dtype to be floating point, yet common dtype is {word}",
    ),
}
"""Refusals told as plain failures: classes of dtypes, `name` in the sentence, the sentence."""


@cache
def _rows() -> dict[str, tuple[str, str]]:
    """By name, without the trailing underscore of in-place forms: (dtypes, kernel)."""
    split = (line.split() for line in _ROWS.split("\n") if line)
    return {name: (dtypes, kernel) for name, dtypes, kernel in split}


def _refuse(array: Array, name: str, kernel: str) -> OperatorError:
    given = dtype_of(array)
    if name in _SENTENCES:
        _, called, sentence = _SENTENCES[name]
        text = sentence.format(name=called, word=given.scalar_name, shape=list(array.shape))
        headline = f"this function does not work on `{given}`"
        return OperatorError(text, code="dtype-mismatch", headline=headline)
    if kernel == "-":
        return OperatorError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` "
            "or `logical_xor()` operator instead.",
            code="dtype-mismatch",
            headline="bools cannot be subtracted",
        )
    return UnsupportedDtype(
        f"\"{kernel}\" not implemented for '{given.scalar_name}'",
        headline=f"this function does not work on `{given}`",
        roles={"self": f"is `{given}`"},
    )


def refusing(name: str, forward: Callable[..., Any]) -> Callable[..., Any]:
    """The forward of an operator (`aten::cross`), refusing by the dtype of its first tensor."""
    short = name.partition("::")[2].removesuffix("_")
    dtypes, kernel = _rows().get(short) or (_SENTENCES[short][0] if short in _SENTENCES else "", "")
    if not dtypes:
        return forward
    known: set[np.dtype[Any]] = set()

    def is_refused(dtype: np.dtype[Any]) -> bool:
        if dtypes[0] == "=":
            return of_numpy(dtype).scalar_name in dtypes[1:].split(",")
        return letter(dtype) in dtypes

    @wraps(forward)
    def checked(self: Any, *rest: Any) -> Any:
        if type(self) is np.ndarray and self.dtype not in known:
            if is_refused(self.dtype):
                raise _refuse(self, short, kernel)
            known.add(self.dtype)
        return forward(self, *rest)

    return checked
