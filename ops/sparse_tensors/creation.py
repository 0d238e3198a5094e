"""`torch.sparse_coo_tensor` and its like: sparse tensors of places and values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NoReturn, TypeVar, cast

from ..eager.aten import aten
from ..memory.dims import sizes_given
from ..memory.dtype import LAYOUTS, Device, DType, Layout, check_device, get_default_dtype
from ..tensors.construct import tensor
from ..tensors.tensor import Tensor
from .forms import form
from .parts import Compressed, flat_places
from .tensors import check_order, compressed, coo, of_parts, parts_of

__all__ = [
    "sparse_bsc_tensor",
    "sparse_bsr_tensor",
    "sparse_compressed_tensor",
    "sparse_coo_tensor",
    "sparse_csc_tensor",
    "sparse_csr_tensor",
]

Numbers = Tensor | Sequence[object]
F = TypeVar("F", bound=Callable[..., Tensor])


def known_as(operator_name: str) -> Callable[[F], F]:
    """Have script take a function for an operator, and calls of that do the same."""

    def mark(function: F) -> F:
        function.operator_name = operator_name  # type: ignore[attr-defined]
        form(operator_name)(
            lambda *args, layout=None, **options: function(*args, **options)  # of one layout
        )
        return function

    return mark


def _as_tensor(given: object, dtype: DType | None) -> Tensor:
    if isinstance(given, Tensor):
        converted: Tensor = given if dtype is None else given.to(dtype)
        return converted
    return tensor(given, dtype=dtype)


def _placed(device: Device | str | None) -> None:
    if device is not None:
        check_device(Device(device))


CHECKED: Final = [False]
"""Whether places are checked when a tensor is made, where its maker is not told."""


def _is_checked(said: bool | None) -> bool:
    return CHECKED[0] if said is None else said


@known_as("aten::sparse_coo_tensor")
def sparse_coo_tensor(
    indices: Any = (),
    values: Numbers | complex | None = None,
    size: Sequence[int] | None = None,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
    is_coalesced: bool | None = None,
) -> Tensor:
    """A tensor by coordinates: `sparse_coo_tensor(indices, values, size)`, or `(size)` of zeros.

    Args:
        indices: the places (sparse dimensions, n).
        values: the elements (n, *dense dimensions).
        size: the sizes; as small as the places allow if there is none.
        dtype: of the values.
        device: the CPU.
        pin_memory: nothing follows.
        requires_grad: whether gradients of the values are wanted.
        check_invariants: whether places are checked now, not where they are first used.
        is_coalesced: whether places are sorted and named once.

    Raises:
        RuntimeError: places and values do not belong together.
    """
    _placed(device)
    if values is None:
        sizes = list(indices) if size is None else list(size)
        own = tensor([], dtype=dtype or get_default_dtype())
        made = coo(tensor([[]] * len(sizes)).reshape(len(sizes), 0).long(), own, sizes, True)
    else:
        made = coo(indices, _as_tensor(values, dtype), size, bool(is_coalesced))
        parts = parts_of(made).to_coo()
        if is_coalesced is None and parts.values.shape[0] < 2:
            made = of_parts(parts._replace(coalesced=True))
    if _is_checked(check_invariants):
        flat_places(parts_of(made).to_coo())
    return made.requires_grad_() if requires_grad else made


def _compressed(
    starts: Numbers,
    inner: Numbers,
    values: Numbers,
    size: Sequence[int] | None,
    by_columns: bool,
    **options: Any,
) -> Tensor:
    _placed(options.get("device"))
    first, second = (_as_tensor(each, None) for each in (starts, inner))
    own = _as_tensor(values, options.get("dtype"))
    if size is None:
        width = int(second.max()) + 1 if second.numel() else 0
        size = (first.numel() - 1, width)[:: -1 if by_columns else 1]
    made = compressed(first, second, own, size, by_columns)
    if _is_checked(options.get("check_invariants")):
        check_order(cast("Compressed", parts_of(made)))
    return made.requires_grad_() if options.get("requires_grad") else made


def _options(
    dtype: DType | None, device: Device | str | None, requires_grad: bool, checked: bool | None
) -> dict[str, object]:
    return {
        **{"dtype": dtype, "device": device, "requires_grad": requires_grad},
        "check_invariants": checked,
    }


@known_as("aten::sparse_csr_tensor")
def sparse_csr_tensor(
    crow_indices: Numbers,
    col_indices: Numbers,
    values: Numbers,
    size: Sequence[int] | None = None,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
) -> Tensor:
    """A matrix by its rows: row i holds the values `crow_indices[i]` to `crow_indices[i + 1]`.

    Raises:
        RuntimeError: starts, indices and values do not belong together.
    """
    given = _options(dtype, device, requires_grad, check_invariants)
    return _compressed(crow_indices, col_indices, values, size, False, **given)


@known_as("aten::sparse_csc_tensor")
def sparse_csc_tensor(
    ccol_indices: Numbers,
    row_indices: Numbers,
    values: Numbers,
    size: Sequence[int] | None = None,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
) -> Tensor:
    """A matrix by its columns, as `sparse_csr_tensor` by its rows."""
    given = _options(dtype, device, requires_grad, check_invariants)
    return _compressed(ccol_indices, row_indices, values, size, True, **given)


def sparse_compressed_tensor(
    compressed_indices: Numbers,
    plain_indices: Numbers,
    values: Numbers,
    size: Sequence[int] | None = None,
    *,
    layout: Layout | None = None,
    **options: object,
) -> Tensor:
    """A matrix by its rows or columns, as the layout says.

    Raises:
        RuntimeError: no compressed layout.
        NotImplementedError: one of blocks.
    """
    if layout not in (LAYOUTS["sparse_csr"], LAYOUTS["sparse_csc"]):
        _no_blocks(f"sparse_compressed_tensor with layout {layout}")
    by_columns = layout is LAYOUTS["sparse_csc"]
    return _compressed(compressed_indices, plain_indices, values, size, by_columns, **options)


def _no_blocks(what: str) -> NoReturn:
    raise NotImplementedError(f"{what}: sparse tensors are kept by coordinates, rows or columns")


@known_as("aten::sparse_bsr_tensor")
def sparse_bsr_tensor(*args: object, **kwargs: object) -> NoReturn:
    """Blocks are not kept here.

    Raises:
        NotImplementedError: always.
    """
    _no_blocks("sparse_bsr_tensor")


@known_as("aten::sparse_bsc_tensor")
def sparse_bsc_tensor(*args: object, **kwargs: object) -> NoReturn:
    """Blocks are not kept here.

    Raises:
        NotImplementedError: always.
    """
    _no_blocks("sparse_bsc_tensor")


@form("aten::zeros", "aten::empty")
def zeros(
    *size: object,
    dtype: DType | None = None,
    layout: Layout | None = None,
    requires_grad: bool = False,
    **options: object,
) -> Tensor:
    """A sparse tensor without any elements.

    Raises:
        NotImplementedError: the layout is that of blocks.
        RuntimeError: of a matrix by rows or columns that has not two sizes.
    """
    del options  # nothing of a tensor without elements lies anywhere
    sizes = sizes_given(size)
    by_columns = layout is LAYOUTS["sparse_csc"]
    if layout is LAYOUTS["sparse_coo"]:
        return sparse_coo_tensor(sizes, dtype=dtype, requires_grad=requires_grad)
    if not by_columns and layout is not LAYOUTS["sparse_csr"]:
        raise NotImplementedError(f"the layout {layout} is not supported here")
    if len(sizes) != 2:
        raise RuntimeError(f"a tensor of layout {layout} has two sizes here, and not {len(sizes)}")
    starts = tensor([0] * (sizes[by_columns] + 1))
    own = tensor([], dtype=dtype or get_default_dtype())
    none = tensor([]).long()
    return _compressed(starts, none, own, sizes, by_columns, requires_grad=requires_grad)


@form("aten::new_empty", "aten::new_zeros")
def new_zeros(
    tensor: Tensor,
    *size: object,
    dtype: DType | None = None,
    layout: Layout | None = None,
    **options: object,
) -> Tensor:
    """A tensor of other sizes that keeps no elements; in this one's layout if none is named."""
    sizes = sizes_given(size)
    kind = tensor.layout if layout is None else layout
    return aten.zeros(sizes, dtype=dtype or tensor.dtype, layout=kind, **options)
