"""What distributions share: parameters of one shape, probabilities and logits, lazy attributes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar, overload

from ..module_names import names_of
from ..ops.eager import namespace as _namespace  # noqa: F401  gives tensors their methods
from ..ops.gradients.table.rows import aten
from ..ops.memory.dtype import Device, DType, get_default_dtype
from ..ops.table.grad_mode import enable_grad
from ..ops.tensors.construct import finfo
from ..ops.tensors.tensor import PLAIN_TENSORS, Tensor
from ..ops.tensors.tracing import ACTIVE

__all__ = [
    "broadcast_all",
    "clamp_probs",
    "lazy_property",
    "logits_to_probs",
    "probs_to_logits",
    "tril_matrix_to_vec",
    "vec_to_tril_matrix",
]

T = TypeVar("T")
euler_constant = 0.57721566490153286060


def _is_parameter(value: object) -> bool:
    return isinstance(value, Tensor | int | float) or hasattr(value, "__torch_function__")


def broadcast_all(*values: Tensor | float) -> tuple[Tensor, ...]:
    """Tensors of one shape from tensors and numbers.

    Numbers take dtype and device of the first tensor; where there is none, the default dtype.

    Raises:
        ValueError: a value that is neither tensor nor number.
    """
    if _are_of_one_shape(values):
        return values  # type: ignore[return-value]
    if not all(map(_is_parameter, values)):
        raise ValueError(
            "Input arguments must all be instances of Number, "
            "torch.Tensor or objects implementing __torch_function__."
        )
    tensors = [value for value in values if not isinstance(value, int | float)]
    dtype, device = get_default_dtype(), None
    if tensors:
        dtype, device = tensors[0].dtype, tensors[0].device
    made = [
        aten.tensor(value, dtype=dtype, device=device) if isinstance(value, int | float) else value
        for value in values
    ]
    return tuple(aten.broadcast_tensors(made))


def _are_of_one_shape(values: Sequence[Any]) -> bool:
    """Whether values are plain tensors that need no broadcasting."""
    first = values[0]
    if type(first) not in PLAIN_TENSORS:
        return False
    shape = first._array.shape
    return all(type(each) in PLAIN_TENSORS and each._array.shape == shape for each in values)


def _in_shape(value: Tensor, shape: Sequence[int]) -> Tensor:
    """A tensor broadcast to a shape, itself if it has that."""
    return value if value.shape == shape else value.expand(shape)


def _standard_normal(
    shape: Sequence[int], dtype: DType | None, device: Device | str | int | None
) -> Tensor:
    """Draws of mean 0 and variance 1."""
    if not ACTIVE:
        return aten.randn(shape, dtype=dtype, device=device)
    zeros = aten.zeros(shape, dtype=dtype, device=device)
    return aten.normal(zeros, aten.ones(shape, dtype=dtype, device=device))


def _sum_rightmost(value: Tensor, dim: int) -> Tensor:
    """The sums over the last `dim` dimensions."""
    return value.flatten(max(value.dim() - dim, 0)).sum(-1) if dim else value


def clamp_probs(probs: Tensor) -> Tensor:
    """Probabilities kept so far from 0 and 1 that their logits are finite."""
    least = finfo(probs.dtype).eps
    return probs.clamp(min=least, max=1 - least)


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """Sigmoids of log-odds (`is_binary`), or the softmax over the last dimension."""
    return logits.sigmoid() if is_binary else logits.softmax(-1)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """Log-odds (`is_binary`) or logarithms of probabilities."""
    inner = clamp_probs(probs)
    return inner.log() - (-inner).log1p() if is_binary else inner.log()


class lazy_property(Generic[T]):
    """An attribute that is computed when first asked for, with gradients, and kept."""

    def __init__(self, wrapped: Callable[[Any], T]) -> None:
        self.wrapped = wrapped
        self.__doc__ = wrapped.__doc__
        self.__name__ = wrapped.__name__

    @overload
    def __get__(self, instance: None, owner: type) -> _lazy_property_and_property[T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> T | _lazy_property_and_property[T]:
        if instance is None:
            return _lazy_property_and_property(self.wrapped)
        with enable_grad():
            kept = vars(instance)[self.__name__] = self.wrapped(instance)
        return kept


class _lazy_property_and_property(lazy_property[T], property):  # type: ignore[misc]
    """A lazy property asked for on the class: for those who look for its docstring, or for it."""

    def __init__(self, wrapped: Callable[[Any], T]) -> None:
        property.__init__(self, wrapped)


def _triangle(size: int, diag: int, device: Device) -> tuple[Tensor, Tensor]:
    rows, columns = aten.tril_indices(size, size, diag, device=device).unbind()
    return rows, columns


def tril_matrix_to_vec(mat: Tensor, diag: int = 0) -> Tensor:
    """The elements of (*, n, n) on and below a diagonal, row by row: (*, elements).

    Raises:
        ValueError: the matrix has no such diagonal.
    """
    size = mat.shape[-1]
    if not -size <= diag < size:
        raise ValueError(f"diag ({diag}) provided is outside [{-size}, {size - 1}].")
    rows, columns = _triangle(size, diag, mat.device)
    return mat[..., rows, columns]


def vec_to_tril_matrix(vec: Tensor, diag: int = 0) -> Tensor:
    """The matrices (*, n, n) whose elements on and below a diagonal are (*, elements), row by row.

    Raises:
        ValueError: a number of elements that makes no such triangle.
    """
    # n rows hold n (n + 1) / 2 elements, and `diag` diagonals of about n more, less a corner
    root = (1 + 2 * diag) ** 2 + 8 * vec.shape[-1] + 4 * abs(diag) * (diag + 1)
    exact = float((root**0.5 - 1 - 2 * diag) / 2)  # sizes are tensors while code is traced
    size = round(exact)
    if size - exact > finfo(vec.dtype).eps:
        raise ValueError(
            f"The size of last dimension is {vec.shape[-1]} which cannot be expressed as "
            "the lower triangular part of a square D x D matrix."
        )
    rows, columns = _triangle(size, diag, vec.device)
    filled = vec.new_zeros(vec.shape[:-1] + (size, size))
    filled[..., rows, columns] = vec
    return filled


__getattr__ = names_of(__name__)
