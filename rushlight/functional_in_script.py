"""What script compiles for functions of `torch.functional` that take arguments of several types, or
give results of several kinds: one function for each."""

# mypy: disable-error-code="empty-body"
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .nn.flag_dispatch import FlagDispatch
from .nn.sizes import declares
from .ops.eager.dispatch import eager_function
from .ops.tensors.tensor import Tensor

__all__ = ["lu", "norm", "stft", "tensordot", "unique", "unique_consecutive"]

_stft: Callable[..., Tensor] = eager_function("aten::stft")
_lu_with_info: Callable[..., tuple[Tensor, Tensor, Tensor]] = eager_function("aten::_lu_with_info")
_tensordot: Callable[..., Tensor] = eager_function("aten::tensordot")
_matrix_norm: Callable[..., Tensor] = eager_function("aten::linalg_matrix_norm")
_vector_norm: Callable[..., Tensor] = eager_function("aten::linalg_vector_norm")
_unique2: Callable[..., tuple[Tensor, Tensor, Tensor]] = eager_function("aten::_unique2")
_unique_dim: Callable[..., tuple[Tensor, Tensor, Tensor]] = eager_function("aten::unique_dim")
_unique_runs: Callable[..., tuple[Tensor, Tensor, Tensor]] = eager_function(
    "aten::unique_consecutive"
)


# --------------------------------------------------------------------------- norms


def _norm_0(
    input: Tensor, p: str = "fro", dim: list[int] | None = None, keepdim: bool = False,
    out: Tensor | None = None, dtype: int | None = None,
) -> Tensor: ...  # fmt: skip


def _norm_1(
    input: Tensor, p: float | None, dim: list[int] | None = None, keepdim: bool = False,
    out: Tensor | None = None, dtype: int | None = None,
) -> Tensor: ...  # fmt: skip


def _norm_2(
    input: Tensor, p: int, dim: list[int] | None = None, keepdim: bool = False,
    out: Tensor | None = None, dtype: int | None = None,
) -> Tensor: ...  # fmt: skip


def _norm_3(
    input: Tensor, p: float | None, dim: int | None = None, keepdim: bool = False,
    out: Tensor | None = None, dtype: int | None = None,
) -> Tensor: ...  # fmt: skip


def _norm_4(
    input: Tensor, p: int, dim: int | None = None, keepdim: bool = False,
    out: Tensor | None = None, dtype: int | None = None,
) -> Tensor: ...  # fmt: skip


def _norm_5(
    input: Tensor, p: str = "fro", dim: int | None = None, keepdim: bool = False,
    out: Tensor | None = None, dtype: int | None = None,
) -> Tensor: ...  # fmt: skip


def _named_norm(
    input: Tensor, p: str, dims: list[int] | None, keepdim: bool, out: Tensor | None,
    dtype: int | None,
) -> Tensor:  # fmt: skip
    both: list[int] = []
    if dims is None:
        for dim in range(input.dim()):
            both.append(dim)
    else:
        both = dims
    if p == "fro" and (dims is None or len(dims) <= 2):
        return _plain_norm(input, 2.0, dims, keepdim, out, dtype)
    if out is None:
        return _matrix_norm(input, p, both, keepdim, dtype=dtype)
    return _matrix_norm(input, p, both, keepdim, dtype=dtype, out=out)


def _plain_norm(
    input: Tensor, p: float, dims: list[int] | None, keepdim: bool, out: Tensor | None,
    dtype: int | None,
) -> Tensor:  # fmt: skip
    if out is None:
        return _vector_norm(input, p, dims, keepdim, dtype=dtype)
    return _vector_norm(input, p, dims, keepdim, dtype=dtype, out=out)


@declares(_norm_0, _norm_1, _norm_2, _norm_3, _norm_4, _norm_5)
def norm(
    input: Any, p: Any = "fro", dim: Any = None, keepdim: Any = False, out: Any = None,
    dtype: Any = None,
) -> Tensor:  # fmt: skip
    """The norm over some dimensions, or all, as script has it."""
    if dim is None:
        dims = None
    elif isinstance(dim, int):
        dims = [dim]
    else:
        dims = dim
    if isinstance(p, str):
        return _named_norm(input, p, dims, keepdim, out, dtype)
    elif p is None:
        return _plain_norm(input, 2.0, dims, keepdim, out, dtype)
    else:
        return _plain_norm(input, float(p), dims, keepdim, out, dtype)


# --------------------------------------------------------------------------- products


def _tensordot_0(a: Tensor, b: Tensor, dims: int = 2, out: Tensor | None = None) -> Tensor: ...


def _tensordot_1(
    a: Tensor, b: Tensor, dims: tuple[list[int], list[int]], out: Tensor | None = None
) -> Tensor: ...


def _tensordot_2(
    a: Tensor, b: Tensor, dims: list[list[int]], out: Tensor | None = None
) -> Tensor: ...


def _tensordot_3(a: Tensor, b: Tensor, dims: Tensor, out: Tensor | None = None) -> Tensor: ...


def _counted(a: Tensor, b: Tensor, count: int) -> tuple[list[int], list[int]]:
    if count < 0:
        raise RuntimeError(f"tensordot expects dims >= 0, but got dims={count}")
    if count > a.dim() or count > b.dim():
        raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={count}")
    last: list[int] = []
    first: list[int] = []
    for dim in range(count):
        last.append(dim - count)
        first.append(dim)
    return last, first


@declares(_tensordot_3, _tensordot_0, _tensordot_1, _tensordot_2)  # a tensor fits an int too
def tensordot(a: Any, b: Any, dims: Any = 2, out: object = None) -> Tensor:
    """Sums of products over pairs of dimensions, as script has it."""
    first: list[int] = []
    second: list[int] = []
    if isinstance(dims, Tensor):
        if dims.numel() > 1:
            pairs: list[list[int]] = dims.tolist()
            first, second = pairs[0], pairs[1]
        else:
            first, second = _counted(a, b, int(dims.item()))
    elif isinstance(dims, int):
        first, second = _counted(a, b, dims)
    else:
        first, second = dims[0], dims[1]
    if out is None:
        return _tensordot(a, b, first, second)
    return _tensordot(a, b, first, second, out=out)


# --------------------------------------------------------------------------- transforms


def stft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Tensor:
    """The Fourier transforms of overlapping pieces of a signal, as script has it."""
    if center and align_to_window is not None:
        raise RuntimeError("stft align_to_window should only be set when center = false")
    return _stft(
        input, n_fft, hop_length, win_length, window, center, pad_mode, normalized, onesided,
        return_complex, align_to_window,
    )  # fmt: skip


# --------------------------------------------------------------------------- factors


def _lu_with_infos(
    A: Tensor, pivot: bool = True, get_infos: bool = False, out: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    return _lu_with_info(A, pivot, not get_infos)


def _lu_no_infos(
    A: Tensor, pivot: bool = True, get_infos: bool = False, out: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    packed, pivots, _ = _lu_with_info(A, pivot, not get_infos)
    return packed, pivots


lu = FlagDispatch("lu", "get_infos", 2, _lu_with_infos, _lu_no_infos)


# --------------------------------------------------------------------------- unique elements


def _unique(
    input: Tensor, sorted: bool, return_inverse: bool, return_counts: bool, dim: int | None
) -> tuple[Tensor, Tensor, Tensor]:
    if dim is None:
        return _unique2(input, sorted, return_inverse, return_counts)
    return _unique_dim(input, dim, sorted, return_inverse, return_counts)


def _return_inverse_and_counts(
    input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False,
    dim: int | None = None,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    return _unique(input, sorted, return_inverse, return_counts, dim)


def _return_inverse(
    input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False,
    dim: int | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    found, places, _ = _unique(input, sorted, return_inverse, return_counts, dim)
    return found, places


def _return_counts(
    input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False,
    dim: int | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    found, _, counts = _unique(input, sorted, return_inverse, return_counts, dim)
    return found, counts


def _return_output(
    input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False,
    dim: int | None = None,
) -> Tensor:  # fmt: skip
    found, _, _ = _unique(input, sorted, return_inverse, return_counts, dim)
    return found


unique = FlagDispatch(
    "unique",
    "return_inverse",
    2,
    FlagDispatch("unique", "return_counts", 3, _return_inverse_and_counts, _return_inverse),
    FlagDispatch("unique", "return_counts", 3, _return_counts, _return_output),
)


def _consecutive_return_inverse_and_counts(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    return _unique_runs(input, return_inverse, return_counts, dim)


def _consecutive_return_inverse(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> tuple[Tensor, Tensor]:
    found, places, _ = _unique_runs(input, return_inverse, return_counts, dim)
    return found, places


def _consecutive_return_counts(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> tuple[Tensor, Tensor]:
    found, _, counts = _unique_runs(input, return_inverse, return_counts, dim)
    return found, counts


def _consecutive_return_output(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Tensor:
    found, _, _ = _unique_runs(input, return_inverse, return_counts, dim)
    return found


unique_consecutive = FlagDispatch(
    "unique_consecutive",
    "return_inverse",
    1,
    FlagDispatch(
        "unique_consecutive",
        "return_counts",
        2,
        _consecutive_return_inverse_and_counts,
        _consecutive_return_inverse,
    ),
    FlagDispatch(
        "unique_consecutive",
        "return_counts",
        2,
        _consecutive_return_counts,
        _consecutive_return_output,
    ),
)
