"""Looks at what sparse tensors are made of: `torch._validate_sparse_coo_tensor_args` and others."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..ops.memory.dtype import Layout
from ..ops.sparse_tensors import creation
from ..ops.tensors.tensor import Tensor

__all__ = [
    *("_validate_sparse_compressed_tensor_args", "_validate_sparse_coo_tensor_args"),
    *("_validate_sparse_csc_tensor_args", "_validate_sparse_csr_tensor_args"),
]


def _validate_sparse_coo_tensor_args(
    indices: Tensor,
    values: Tensor,
    size: Sequence[int],
    is_coalesced: bool | None = None,
    check_pinning: bool | None = None,
) -> None:
    """Look whether they make a tensor.

    Raises:
        RuntimeError: they do not.
    """
    creation.sparse_coo_tensor(
        indices, values, size, is_coalesced=is_coalesced, check_invariants=True
    )


def _validate_sparse_compressed_tensor_args(
    compressed_indices: Tensor,
    plain_indices: Tensor,
    values: Tensor,
    size: Sequence[int],
    layout: Layout,
    check_pinning: bool | None = None,
) -> None:
    """Look whether they make a tensor of that layout.

    Raises:
        RuntimeError: they do not, or the layout is not by rows or columns.
        NotImplementedError: it is one of blocks.
    """
    if not layout.name.startswith("sparse_") or layout.name == "sparse_coo":
        kind = "".join(part.title() for part in layout.name.removesuffix("_coo").split("_"))
        raise RuntimeError(
            "validate_sparse_compressed_tensor_args expected sparse compressed tensor layout but "
            f"got {kind}"
        )
    creation.sparse_compressed_tensor(
        compressed_indices, plain_indices, values, size, layout=layout, check_invariants=True
    )


def _of_layout(name: str, make: Callable[..., Tensor]) -> Callable[..., None]:
    def function(
        compressed_indices: Tensor,
        plain_indices: Tensor,
        values: Tensor,
        size: Sequence[int],
        check_pinning: bool | None = None,
    ) -> None:
        options = {"check_invariants": True}
        make(compressed_indices, plain_indices, values, size, **options)

    function.__name__ = function.__qualname__ = f"_validate_sparse_{name}_tensor_args"
    function.__doc__ = """Look whether they make a tensor.

    Raises:
        RuntimeError: they do not.
    """
    return function


_validate_sparse_csr_tensor_args = _of_layout("csr", creation.sparse_csr_tensor)
_validate_sparse_csc_tensor_args = _of_layout("csc", creation.sparse_csc_tensor)
