"""Other functions that know masks: choices, copies, layouts, and questions about the data."""

from __future__ import annotations

from ...ops.eager.dispatch import eager_function
from ...ops.memory.dtype import DTYPES, DType
from ...ops.tensors.construct import tensor as tensor_of
from ...ops.tensors.tensor import Tensor
from .core import (
    FORMS,
    Called,
    MaskedTensor,
    _masks_match,
    data_of,
    is_masked_tensor,
    layout_of,
    paired,
)

__all__: list[str] = []

_ASKED = """size dim numel nelement ndimension element_size get_device is_floating_point is_complex
    is_signed __len__ stride storage_offset is_same_size backward requires_grad_ retain_grad
    register_hook item __bool__ __float__ __int__ __index__ is_shared data_ptr""".split()
"""What is asked of, or done with, the data."""


def _asked(func: Called, *args: object, **kwargs: object) -> object:
    given = {name: data_of(value) for name, value in kwargs.items()}
    found = func(*map(data_of, args), **given)
    return args[0] if isinstance(found, Tensor) else found


def _with_mask(func: Called, self: MaskedTensor, *args: object, **kwargs: object) -> object:
    """The same of the data, with the mask."""
    return paired(func(self._masked_data, *args, **kwargs), self._masked_mask)


def _cast(func: Called, self: MaskedTensor, *args: object, **kwargs: object) -> object:
    wanted = [each for each in (*args, *kwargs.values()) if isinstance(each, DType)]
    if func.__name__ == "type" and not wanted and not args and not kwargs:
        return func(self._masked_data)
    return _with_mask(func, self, *args, **kwargs)


def _without_masks(value: object) -> MaskedTensor:
    """A pair whose elements all count, of a tensor without a mask."""
    if isinstance(value, MaskedTensor):
        return value
    tensor = value if isinstance(value, Tensor) else tensor_of(value)
    ones = eager_function("aten::ones_like")(tensor, dtype=DTYPES["bool"])
    return MaskedTensor._of_pair(tensor, ones)


def _where(func: object, *args: object, **kwargs: object) -> object:
    if len(args) != 3 or kwargs:
        raise ValueError(
            f"__torch_function__, torch.where: len(args) must be 3 but got {len(args)}"
        )
    where = eager_function("aten::where")
    choice, chosen, other = args if isinstance(args[0], Tensor) else (args[1], args[0], args[2])
    if getattr(func, "__qualname__", "").startswith("Tensor") and is_masked_tensor(args[0]):
        choice, chosen = args[1], args[0]
    first, second = _without_masks(chosen), _without_masks(other)
    return paired(
        where(choice, first._masked_data, second._masked_data),
        where(choice, first._masked_mask, second._masked_mask),
    )


def _softmax(func: Called, self: MaskedTensor, dim: int, *args: object, **kwargs: object) -> object:
    """Of the elements that count; rows in which none does are zeros."""
    data, mask = self._masked_data, self._masked_mask
    counts = mask.any(dim=dim, keepdim=True)
    low = data.masked_fill(~mask & counts, -float("inf"))
    return paired(func(low, dim, *args, **kwargs).masked_fill(~mask, 0), mask)


def _contiguous(func: Called, self: MaskedTensor, *args: object, **kwargs: object) -> object:
    name = func.__name__.partition(".")[0]
    if self.is_sparse:
        raise ValueError(f"MaskedTensors with sparse data do not have {name}")
    found = func(self._masked_data, *args, **kwargs)
    if not isinstance(found, Tensor) or found is self._masked_data:
        return self if isinstance(found, Tensor) else found
    return paired(found, func(self._masked_mask, *args, **kwargs))


def _dense(func: object, self: MaskedTensor, *args: object, **kwargs: object) -> object:
    if not self.is_sparse:
        return self
    return paired(self._masked_data.to_dense(), self._masked_mask.to_dense())


def _sparse(func: Called, self: MaskedTensor, *args: object, **kwargs: object) -> object:
    data, mask = self._masked_data, self._masked_mask
    by_rows = func.__name__.partition(".")[0] == "to_sparse_csr"
    if by_rows and data.dim() != 2:
        raise ValueError(
            f"Only 2D tensors can be converted to the SparseCsr layout but got shape: {data.size()}"
        )
    if layout_of(data) == ("sparse_csr" if by_rows else "sparse_coo"):
        return self
    mask = mask.to_sparse_csr() if by_rows else mask.to_sparse().coalesce()
    return paired(data.sparse_mask(mask), mask)


def _parts(func: Called, self: MaskedTensor) -> object:
    return _without_masks(func(self._masked_data))


def _copy(func: Called, *args: object, **kwargs: object) -> object:
    if not _masks_match(*args[:2]):
        raise ValueError("args[0] mask and args[1] mask must match but do not")
    func(*map(data_of, args), **kwargs)
    return args[0]


def _any_true(func: object, self: MaskedTensor) -> object:
    data, mask = self._masked_data, self._masked_mask
    if data.dtype is not DTYPES["bool"]:
        raise ValueError(f"__torch_dispatch__, {func}: expected a boolean tensor")
    if self.is_sparse:
        raise ValueError(f"MaskedTensors with sparse data do not have {func}")
    return _without_masks((data & mask).any())


FORMS.update(dict.fromkeys(_ASKED, _asked))
FORMS.update(dict.fromkeys(("detach", "clone", "ones_like"), _with_mask))
FORMS.update(
    dict.fromkeys(("to", "type", "half", "float", "double", "int", "long", "short", "bool"), _cast)
)
FORMS.update(where=_where, softmax=_softmax, contiguous=_contiguous, is_contiguous=_contiguous)
FORMS.update(to_dense=_dense, to_sparse=_sparse, to_sparse_coo=_sparse, to_sparse_csr=_sparse)
FORMS.update(indices=_parts, _indices=_parts, values=_parts, _values=_parts)
FORMS.update(copy_=_copy, _is_any_true=_any_true)
