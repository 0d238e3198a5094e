"""The class of sparse tensors: places and values, each a tensor of its own.

Gradients need nothing of their own: what is made of a sparse tensor is computed from its values by
operators on dense tensors, which record as ever; the gradient of a sparse leaf is that of its
values, at the same places.  No array stands behind the handle: asking for one raises `OnSparse`,
and an eager call goes on with the form that the operator has here.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from math import prod
from typing import Any, Final, NoReturn, Self, TypeVar

import numpy as np

from ..eager import methods  # noqa: F401  (adds the methods that are called here)
from ..eager.aten import aten
from ..eager.dispatch import eager_function
from ..memory.dtype import Array, DType
from ..memory.errors import OnSparse
from ..tensors import overriding
from ..tensors.construct import tensor
from ..tensors.differentiable import check_gradient
from ..tensors.display import is_unsaid
from ..tensors.marked_parameters import marked
from ..tensors.sizes import Size
from ..tensors.tensor import Parameter, Tensor
from .display import shown
from .indexing import at_index
from .parts import Compressed, Coo, Parts, flat_places

__all__ = [
    "SparseTensor",
    "compressed",
    "coo",
    "is_sparse",
    "of_parts",
    "parts_of",
    "without",
]

T = TypeVar("T")


def _array(self: object) -> NoReturn:
    raise OnSparse("a sparse tensor has no memory in which all its elements lie")


class _Sparse:
    """What is otherwise about a sparse tensor."""

    __slots__ = ()
    _array = property(_array)
    __class__ = property(lambda self: Tensor)

    shape = property(lambda self: Size(parts_of(self).sizes))
    dtype = property(lambda self: parts_of(self).values.dtype)
    layout = property(lambda self: parts_of(self).layout)
    ndim = property(lambda self: len(parts_of(self).sizes))
    itemsize = property(lambda self: parts_of(self).values.itemsize)
    is_leaf = property(lambda self: parts_of(self).values.is_leaf)
    grad_fn = property(lambda self: parts_of(self).values.grad_fn)
    is_sparse = property(lambda self: isinstance(parts_of(self), Coo))
    is_sparse_csr = property(lambda self: parts_of(self).layout.name == "sparse_csr")
    is_quantized = is_nested = False

    @property
    def requires_grad(self) -> bool:
        """Whether gradients of the values are wanted."""
        return bool(parts_of(self).values.requires_grad)

    @requires_grad.setter
    def requires_grad(self, wanted: bool) -> None:
        self._want_gradients(wanted)

    def _want_gradients(self, requires_grad: bool = True) -> Self:
        """Say whether gradients of the values are wanted."""
        parts_of(self).values._want_gradients(requires_grad)
        return self

    @property
    def grad(self) -> Tensor | None:
        """The gradient of the values, at their places, and the one that was assigned, which may
        have others; None if there is none."""
        own = parts_of(self)
        found, given = own.values.grad, self.__dict__.get("given_gradient")
        if found is None:
            return given
        gradient = of_parts(own.with_gradient(found))
        return gradient if given is None else given + gradient

    @grad.setter
    def grad(self, gradient: Tensor | None) -> None:
        this: Any = self
        if gradient is not None:
            check_gradient(this, gradient)
        parts_of(self).values.grad = None
        self.__dict__["given_gradient"] = gradient

    @property
    def data(self) -> Tensor:
        """The same elements without gradients."""
        own = parts_of(self)
        return of_parts(own.with_values(own.values.detach()))

    @data.setter
    def data(self, other: Tensor) -> None:
        self.__dict__["parts"] = parts_of(other)

    @property
    def T(self) -> Tensor:
        """The dimensions in reverse order."""
        return aten.permute(self, list(range(self.ndim))[::-1])

    @property
    def mT(self) -> Tensor:
        """The last two dimensions swapped.

        Raises:
            RuntimeError: there are fewer than two.
        """
        if self.ndim < 2:
            raise RuntimeError(
                "tensor.mT is only supported on matrices or batches of matrices."
                f" Got {self.ndim}-D tensor."
            )
        return aten.transpose(self, -2, -1)

    @property
    def mH(self) -> Tensor:
        """The conjugate transposes of matrices.

        Raises:
            RuntimeError: there are fewer than two dimensions.
        """
        turned = self.mT
        return turned.conj() if parts_of(self).values.is_complex() else turned

    @property
    def H(self) -> Tensor:
        """The conjugate transpose of a matrix.

        Raises:
            RuntimeError: there are not two dimensions.
        """
        if self.ndim != 2:
            raise RuntimeError(
                "tensor.H is only supported on matrices (2-D tensors)."
                f" Got {self.ndim}-D tensor."
                + " For batches of matrices, consider using tensor.mH"
                * (self.ndim > 2)
            )
        return self.mH

    def __bool__(self) -> bool:
        return bool(eager_function("aten::is_nonzero")(self))

    def is_coalesced(self) -> bool:
        """Whether places are sorted and named once."""
        return self._by_coordinates("is_coalesced").coalesced

    def coalesce(self) -> Self | Tensor:
        """The same tensor with sorted places, each named once."""
        own = self._by_coordinates("coalesce")
        return self if own.coalesced else of_parts(own.once())

    def indices(self) -> Tensor:
        """The places (sparse dimensions, n) of a coalesced tensor."""
        return self._coalesced("indices").indices

    def values(self) -> Tensor:
        """The values (n, *dense dimensions); coordinates have to be coalesced."""
        own = parts_of(self)
        return own.values if isinstance(own, Compressed) else self._coalesced("values").values

    def _indices(self) -> Tensor:
        return self._by_coordinates("_indices").indices

    def _values(self) -> Tensor:
        return self._by_coordinates("_values").values.detach()

    def _nnz(self) -> int:
        return int(parts_of(self).values.shape[0])

    def _dimI(self) -> int:
        return int(parts_of(self).depth)

    def _dimV(self) -> int:
        return self.dense_dim()

    def _coalesced_(self, coalesced: bool) -> Tensor:
        return aten._coalesced_(self, coalesced)

    def sparse_dim(self) -> int:
        """How many dimensions are sparse."""
        return int(parts_of(self).depth)

    def dense_dim(self) -> int:
        """How many dimensions each value has."""
        return int(parts_of(self).values.ndim) - 1

    def crow_indices(self) -> Tensor:
        """Where each row begins."""
        return self._compressed("crow_indices", by_columns=False).starts

    def col_indices(self) -> Tensor:
        """The column of each value."""
        return self._compressed("col_indices", by_columns=False).inner

    def ccol_indices(self) -> Tensor:
        """Where each column begins."""
        return self._compressed("ccol_indices", by_columns=True).starts

    def row_indices(self) -> Tensor:
        """The row of each value."""
        return self._compressed("row_indices", by_columns=True).inner

    def _by_coordinates(self, name: str) -> Coo:
        own = parts_of(self)
        if not isinstance(own, Coo):
            kind = "SparseCsc" if own.by_columns else "SparseCsr"
            raise RuntimeError(f"{name} expected sparse coordinate tensor layout but got {kind}")
        return own

    def _coalesced(self, name: str) -> Coo:
        own = self._by_coordinates(name)
        if not own.coalesced:
            raise RuntimeError(
                f"Cannot get {name} on an uncoalesced tensor, please call .coalesce() first"
            )
        return own

    def _compressed(self, name: str, by_columns: bool) -> Compressed:
        own = parts_of(self)
        if not isinstance(own, Compressed) or own.by_columns != by_columns:
            kind = "column" if by_columns else "row"
            raise RuntimeError(
                f"{name} expected sparse {kind} compressed tensor layout but got "
                f"{''.join(part.title() for part in own.layout.name.split('_')[:2])}"
            )
        return own

    def size(self, dim: int | None = None) -> Size | int:
        """The sizes, or the size of one dimension."""
        sizes = Size(parts_of(self).sizes)
        return sizes if dim is None else sizes[dim]

    def stride(self, dim: int | None = None) -> tuple[int, ...] | int:
        """Zeros: elements lie nowhere.

        Raises:
            RuntimeError: of one by rows or columns, as in torch.
        """
        without(self, "strides")
        return 0 if dim is not None else (0,) * self.ndim

    def numpy(self, *, force: bool = False) -> NoReturn:
        """There is nothing to share.

        Raises:
            TypeError: always.
        """
        raise TypeError("can't convert Sparse layout tensor to numpy. Use Tensor.to_dense() first.")

    def data_ptr(self) -> NoReturn:
        """There is no one memory.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")

    def untyped_storage(self) -> NoReturn:
        """There is no one memory.

        Raises:
            NotImplementedError: always.
        """
        kind = "Csr" * isinstance(parts_of(self), Compressed)
        raise NotImplementedError(f"Cannot access storage of Sparse{kind}TensorImpl")

    def new(self, *args: Any, device: object = None, **named: Any) -> Tensor:
        """A tensor by coordinates: of sizes, without elements, or of places and values.

        Raises:
            RuntimeError: this one is by rows or columns.
            TypeError: the arguments are something else.
        """
        del device
        if not isinstance(parts_of(self), Coo):
            raise RuntimeError("Cannot map DispatchKey SparseCsrCPU to a unique layout.")
        places = [*args, *(named.pop(name) for name in ("indices", "values") if name in named)]
        sizes = named.pop("size", None)
        if len(places) > 1 and all(isinstance(each, Tensor) for each in places[:2]) and not named:
            return coo(places[0], places[1], *(places[2:] or [sizes]))
        if any(isinstance(each, Tensor) for each in places) or (places and sizes is not None):
            named["size"] = sizes  # what belongs to no such call
        elif sizes is None:
            alone = len(places) == 1 and not isinstance(places[0], int)
            sizes = places[0] if alone else Size(places or [0])
        if isinstance(sizes, (list, tuple)) and not isinstance(sizes, Size):
            raise TypeError(
                "SparseTensor.new(sequence) only accepts sizes.  Please use "
                "torch.sparse_coo_tensor() or construct a strided tensor and convert it to sparse "
                "via to_sparse."
            )
        if named or not isinstance(sizes, Size):
            raise TypeError(
                "new() received an invalid combination of arguments: a sparse tensor is made of "
                "sizes, or of indices and values"
            )
        own = parts_of(self).values.detach().new_zeros([0])
        return coo(tensor([]).long().reshape(len(sizes), 0), own, sizes, True)

    def item(self) -> Any:
        """The one element as a Python number."""
        return self.to_dense().item()  # type: ignore[attr-defined]

    def __len__(self) -> int:
        return int(self.shape[0])

    def __iter__(self) -> Iterator[Tensor]:
        return (self[place] for place in range(len(self)))

    def __getitem__(self, key: object) -> Tensor:
        return at_index(self, key)

    def __setitem__(self, key: object, value: object) -> NoReturn:
        raise NotImplementedError("sparse tensors are not written by index")

    def _as_parameter(self, of: object, requires_grad: bool) -> object:
        return marked(self, requires_grad)

    def __copy__(self) -> Tensor:
        return of_parts(parts_of(self), isinstance(self, Parameter))

    def __deepcopy__(self, memo: dict[int, object]) -> Tensor:
        own = parts_of(self)
        kind: type[Any] = type(own)
        copied = of_parts(kind(*(_copied(each, memo) for each in own)), isinstance(self, Parameter))
        memo[id(self)] = copied
        copied.grad = copy.deepcopy(self.grad, memo)
        return copied

    def __reduce__(self) -> tuple[object, ...]:
        return of_parts, (parts_of(self), isinstance(self, Parameter))

    def __reduce_ex__(self, protocol: object) -> tuple[object, ...]:
        return self.__reduce__()

    def __repr__(self: Any) -> str:
        own = parts_of(self)
        said = [f"size={own.sizes}", f"nnz={own.values.shape[0]}"]
        if not is_unsaid(own.values.dtype):
            said.append(f"dtype={own.values.dtype}")
        said += [f"layout={own.layout}", *self._history()]
        text = shown(own.pieces(), said, isinstance(own, Coo))
        return f"Parameter containing:\n{text}" if isinstance(self, Parameter) else text

    def type(
        self: Any, dtype: DType | str | None = None, non_blocking: bool = False
    ) -> str | Tensor:
        """The name of the tensor's type, or the tensor in another dtype."""
        if dtype is None:
            return f"torch.sparse.{self.dtype.scalar_name}Tensor"
        turned: Tensor = self.to(dtype)
        return turned


def _copied(value: T, memo: dict[int, object]) -> T:
    return value.__deepcopy__(memo) if isinstance(value, Tensor) else value


_MEMBERS: Final = {"__slots__": (), "__torch_function__": staticmethod(overriding.disabled)}
SparseTensor: Final[type[Tensor]] = type("Tensor", (_Sparse, Tensor), _MEMBERS)
overriding.make_plain(SparseTensor)


def is_sparse(value: object) -> bool:
    """Whether a value is a sparse tensor."""
    return type(value) is SparseTensor


def of_parts(parts: Parts, parameter: bool = False) -> Tensor:
    """The sparse tensor of these places and values; marked if it is a parameter."""
    made = object.__new__(SparseTensor)
    made._requires_grad, made._view_of = False, None
    made.__dict__["parts"] = parts
    if parameter:
        made._is_param = True
    return made


def parts_of(value: object) -> Parts:
    """The places and values of a sparse tensor.

    Raises:
        NotImplementedError: it is a dense one, where an operator takes none.
    """
    parts: Parts | None = getattr(value, "__dict__", {}).get("parts")
    if parts is None:
        raise NotImplementedError(
            "a dense tensor stands where only a sparse one can be taken; to_sparse() gives one"
        )
    return parts


def without(tensor: object, what: str) -> None:
    """Refuse to tell something of a tensor by rows or columns.

    Raises:
        RuntimeError: it is one.
    """
    if isinstance(parts_of(tensor), Compressed):
        kind = parts_of(tensor).layout.name.removeprefix("sparse_").upper()
        raise RuntimeError(f"Sparse {kind} tensors do not have {what}")


def coo(
    indices: object, values: object, sizes: Sequence[int] | None, coalesced: bool = False
) -> Tensor:
    """A sparse tensor by coordinates; see `torch.sparse_coo_tensor`.

    Raises:
        RuntimeError: indices and values do not belong together.
    """
    places = indices if isinstance(indices, Tensor) else tensor(indices)
    own = values if isinstance(values, Tensor) else tensor(values)
    places = places.detach().long()
    if places.ndim == 1 and not places.numel():
        places = places.reshape(0 if sizes is None else len(sizes) - max(own.ndim - 1, 0), 0)
    if places.ndim != 2:
        raise RuntimeError(f"indices must be sparse_dim x nnz, but got: {list(places.shape)}")
    count = own.shape[0] if own.ndim else 1
    own = own if own.ndim else own.reshape(1)
    if places.shape[1] != count:
        raise RuntimeError(
            "indices and values must have same nnz, but got nnz from indices: "
            f"{places.shape[1]}, nnz from values: {count}"
        )
    if sizes is None:
        found = places.numpy()
        for dim, least in enumerate(found.min(1).tolist() if found.size else ()):
            if least < 0:
                raise RuntimeError(f"found negative index {least} for dim {dim}")
        sizes = [*(found.max(1) + 1 if found.size else [0] * len(found)), *own.shape[1:]]
    if len(sizes) != places.shape[0] + own.ndim - 1:
        raise RuntimeError(
            "number of dimensions must be sparse_dim "
            f"({places.shape[0]}) + dense_dim ({own.ndim - 1}), but got {len(sizes)}"
        )
    if list(own.shape[1:]) != list(sizes[places.shape[0] :]):
        raise RuntimeError(
            f"values has incorrect size, expected {[count, *sizes[places.shape[0] :]]}, got "
            f"{list(own.shape)}"
        )
    if prod(map(int, sizes)) >= 1 << 63:
        raise RuntimeError("numel: integer multiplication overflow")
    own = own.view_as(own) if own.requires_grad else own.detach()
    made = Coo(places, own, tuple(map(int, sizes)), coalesced)
    if coalesced and (np.diff(flat_places(made)) <= 0).any():
        raise RuntimeError("the places of a coalesced tensor are sorted, each named once")
    return of_parts(made)


def compressed(
    starts: Tensor, inner: Tensor, values: Tensor, sizes: Sequence[int], by_columns: bool
) -> Tensor:
    """A matrix by rows or columns; see `torch.sparse_csr_tensor`.

    Raises:
        RuntimeError: starts, indices and values do not belong together.
    """
    own = values.view_as(values) if values.requires_grad else values.detach()
    places = tuple(map(int, sizes))
    if len(places) != 1 + own.ndim or own.ndim < 1 or starts.ndim != 1 or inner.ndim != 1:
        raise RuntimeError(f"only single matrices are compressed, not sizes {list(places)}")
    _check_starts(starts.long().numpy(), inner.long().numpy(), own.shape[0], places, by_columns)
    return of_parts(Compressed(starts.detach(), inner.detach(), own, places, by_columns))


def _names(by_columns: bool) -> tuple[str, str, str, str]:
    """What starts, indices, lines and what lies across them are called."""
    if by_columns:
        return "ccol_indices", "row_indices", "columns", "nrows"
    return "crow_indices", "col_indices", "rows", "ncols"


def _check_starts(
    first: Array, within: Array, count: int, places: tuple[int, ...], by_columns: bool
) -> None:
    """See that indices and where lines begin are those of a matrix, whose memory is not left.

    Raises:
        RuntimeError: they are not.
    """
    starts, inner, lines, across = _names(by_columns)
    length, width = places[1::-1] if by_columns else places[:2]
    if len(first) != length + 1:
        raise RuntimeError(
            f"{starts}.shape[-1] must be equal to the number of {lines} + 1 (={length + 1}), but "
            f"got {len(first)}"
        )
    if len(within) != count:
        raise RuntimeError(
            f"{inner}.shape[-1] must be equal to nnz (={count}) as defined by values.shape[0], but "
            f"got {len(within)}"
        )
    steps = np.diff(first)
    for holds, said in (
        (first[0] == 0, f"{starts}[..., 0] == 0"),
        (first[-1] == count, f"{starts}[..., -1] == nnz"),
        (
            ((steps >= 0) & (steps <= width)).all(),
            f"0 <= {starts}[..., 1:] - {starts}[..., :-1] <= {across}",
        ),
        (((within >= 0) & (within < width)).all(), f"0 <= {inner} < {across}"),
    ):
        if not holds:
            raise RuntimeError(f"`{said}` is not satisfied.")


def check_order(own: Compressed) -> None:
    """See that indices are of one dtype, and sorted within each line.

    Raises:
        RuntimeError: they are not.
    """
    starts, inner, _, _ = _names(own.by_columns)
    count = "ncols" if own.by_columns else "nrows"
    first, within = own.starts, own.inner
    if first.dtype is not within.dtype:
        raise RuntimeError(
            f"{starts} and {inner} must have the same dtype, bot got {first.dtype.scalar_name} and "
            f"{within.dtype.scalar_name}, respectively"
        )
    line = np.repeat(np.arange(first.numel() - 1), np.diff(first.numpy()))
    ascends = np.diff(within.long().numpy()) > 0
    if not (ascends | (np.diff(line) > 0)).all():
        raise RuntimeError(
            f"`{inner}[..., {starts}[..., i - 1]:{starts}[..., i]] for all i = 1, ..., {count} "
            "are sorted and distinct along the last dimension values` is not satisfied."
        )
