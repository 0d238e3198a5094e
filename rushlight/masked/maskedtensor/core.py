"""Tensors with a mask: elements where it is False do not count.

Such a tensor is a pair of plain tensors, the data and the mask.  Every function that meets one asks
its class (`__torch_function__`), which computes with the data by the same function: so gradients
are those of the data and need nothing of their own.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, Protocol

from ...frontend.foundations.declared import Declared
from ...ops.memory.dtype import DTYPES, Array
from ...ops.tensors.overriding import DisableTorchFunctionSubclass
from ...ops.tensors.tensor import Tensor

__all__ = ["MaskedTensor", "is_masked_tensor"]


class Called(Protocol):
    """A function that met a tensor with a mask."""

    __name__: str

    def __call__(self, *args: object, **kwargs: object) -> Any:
        """What it makes of plain tensors."""


Form = Callable[..., object]
FORMS: Final[Declared[str, Form]] = Declared()
"""What is done with functions, by name: a form is given the function and its arguments."""

_DTYPES: Final = frozenset(
    DTYPES[name]
    for name in ("float16", "float32", "float64", "bool", "int8", "int16", "int32", "int64")
)
_SPARSE: Final = ("sparse_coo", "sparse_csr")
_PROTOTYPE: Final = (
    "The PyTorch API of MaskedTensors is in prototype stage and will change in the near future. "
    "Please open a Github issue for features requests and see our documentation on the "
    "torch.masked module for further information about the project."
)


def is_masked_tensor(obj: object, /) -> bool:
    """Whether something is a tensor with a mask."""
    return isinstance(obj, MaskedTensor)


def layout_of(tensor: Tensor) -> str:
    """The name of a plain tensor's layout."""
    return tensor.layout.name


def places_of(tensor: Tensor) -> list[Tensor]:
    """Where a sparse tensor has elements."""
    if layout_of(tensor) == "sparse_coo":
        return [tensor.indices()]
    return [tensor.crow_indices(), tensor.col_indices()]


def same_places(a: Tensor, b: Tensor) -> bool:
    """Whether two sparse tensors of one layout have elements at the same places."""
    pairs = zip(places_of(a), places_of(b), strict=True)
    return all(x.shape == y.shape and bool((x == y).all()) for x, y in pairs)


class MaskedTensor(Tensor):
    """A tensor and a mask of the same layout and sizes; a leaf, whose `grad` is masked too.

    Args:
        data: float16 to float64, bool or int8 to int64; strided, COO or CSR. It is copied.
        mask: of bools; True where an element counts.
        requires_grad: whether gradients are wanted.

    Raises:
        TypeError: something else than these.
        ValueError: other sizes, or other places of sparse elements.
    """

    _masked_data: Tensor
    _masked_mask: Tensor

    def __new__(cls, data: Tensor, mask: Tensor, requires_grad: bool = False) -> MaskedTensor:
        for name, given in (("data", data), ("mask", mask)):
            if is_masked_tensor(given) or not isinstance(given, Tensor):
                raise TypeError(f"{name} must be a Tensor")
        warnings.warn(_PROTOTYPE, UserWarning, stacklevel=2)
        if data.requires_grad:
            warnings.warn(
                "It is not recommended to create a MaskedTensor with a tensor that requires_grad. "
                "To avoid this, you can use data.detach().clone()",
                UserWarning,
                stacklevel=2,
            )
        data, mask = _checked(data.detach(), mask)
        own = data.clone()
        if requires_grad:
            if not (own.dtype.is_floating_point or own.dtype.is_complex):
                raise RuntimeError(
                    "Only Tensors of floating point and complex dtype can require gradients"
                )
            own.requires_grad_()
        return cls._of_pair(own, mask.clone())

    def __init__(self, data: Tensor, mask: Tensor, requires_grad: bool = False) -> None:
        pass

    @classmethod
    def _of_pair(cls, data: Tensor, mask: Tensor) -> MaskedTensor:
        """A pair as it is, with the history of the data."""
        made = object.__new__(cls)
        made._masked_data, made._masked_mask = data, mask
        return made

    @staticmethod
    def _from_values(data: Tensor, mask: Tensor) -> MaskedTensor:
        """A copy of a pair, through which gradients of the data go."""
        data, mask = _checked(data, mask)
        return MaskedTensor._of_pair(data.clone(), mask.clone())

    @classmethod
    def unary(cls, fn: Callable[[Tensor], Tensor], data: Tensor, mask: Tensor) -> MaskedTensor:
        """What a function makes of the data, with the mask."""
        return cls(fn(data), mask)

    def get_data(self) -> Tensor:
        """The data, with its history."""
        with DisableTorchFunctionSubclass():
            data = self._masked_data
            return data.clone() if data.requires_grad and data.is_leaf else data

    def get_mask(self) -> Tensor:
        """The mask."""
        return self._masked_mask

    def to_tensor(self, value: float | Tensor) -> Tensor:
        """The data with a value where the mask is False."""
        return self._masked_data.masked_fill(~self._masked_mask, value)

    def is_sparse_coo(self) -> bool:
        """Whether data and mask are by coordinates."""
        return layout_of(self._masked_data) == "sparse_coo"

    def is_sparse_csr(self) -> bool:  # type: ignore[override]
        """Whether data and mask are by rows."""
        return layout_of(self._masked_data) == "sparse_csr"

    @property
    def is_sparse(self) -> bool:  # type: ignore[override]
        """Whether they are either of these."""
        return self.is_sparse_coo() or self.is_sparse_csr()

    @classmethod
    def __torch_function__(
        cls,
        func: Any,
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        """What a function makes of tensors with masks.

        Raises:
            TypeError: the function has no form for them.
        """
        if not all(issubclass(cls, each) for each in types):
            return NotImplemented
        with DisableTorchFunctionSubclass():
            if isinstance(getattr(func, "__self__", None), property):
                return _of_member(func, *args)
            name = func.__name__.partition(".")[0]
            form = FORMS.get(_PLAIN_NAMES.get(name, name))
            if form is None:
                raise TypeError(
                    f"Multiple dispatch failed for 'torch._ops.aten.{name}.default'; all "
                    "__torch_dispatch__ handlers returned NotImplemented:\n\n  - tensor subclass "
                    f"{cls!r}\n\nFor more information, try re-running with "
                    "TORCH_LOGS=not_implemented"
                )
            return form(func, *args, **(kwargs or {}))

    def __repr__(self, *, tensor_contents: object = None) -> str:
        """Numbers, with `--` where the mask is False."""
        data, mask = self._masked_data.detach(), self._masked_mask
        if self.is_sparse:
            data, mask = data.to_dense(), mask.to_dense()
        values, counts = data.numpy(), mask.numpy()
        if not values.ndim:
            shown = _number(values.item()) if counts else "--"
            return f"MaskedTensor({shown}, {counts.item()})"
        lines = "\n".join(f"  {line}" for line in _rows(values, counts))
        return f"MaskedTensor(\n{lines}\n)"

    def __reduce_ex__(self, proto: object) -> str | tuple[object, ...]:
        return _again, (self._masked_data, self._masked_mask, self.requires_grad)

    def __deepcopy__(self, memo: dict[int, object]) -> MaskedTensor:
        return _again(self._masked_data.detach(), self._masked_mask, self.requires_grad)


def _again(data: Tensor, mask: Tensor, requires_grad: bool) -> MaskedTensor:
    own = data.detach().clone()
    return MaskedTensor._of_pair(own.requires_grad_() if requires_grad else own, mask.clone())


# --------------------------------------------------------------------------- pairs


def _checked(data: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """A pair that fits, with sparse elements at the places of the mask.

    Raises:
        TypeError: other layouts or dtypes.
        ValueError: other sizes or places.
    """
    layout = layout_of(data)
    if layout != layout_of(mask):
        raise TypeError("data and mask must have the same layout.")
    if layout not in ("strided", *_SPARSE):
        raise TypeError(f"data layout of {data.layout} is not supported.")
    if layout == "sparse_coo":
        data, mask = data.coalesce(), mask.coalesce()
    if layout in _SPARSE:
        data = data if data._nnz() == mask._nnz() else data.sparse_mask(mask)
        if not same_places(data, mask):
            told = (
                "COO tensors but do not have the same indices."
                if layout == "sparse_coo"
                else "CSR tensors but do not share either crow or col indices."
            )
            raise ValueError(f"data and mask are both sparse {told}")
    if mask.dtype is not DTYPES["bool"]:
        raise TypeError("mask must have dtype bool.")
    if data.dtype not in _DTYPES:
        raise TypeError(f"{data.dtype} is not supported in MaskedTensor.")
    for what in ("dim", "size"):
        if getattr(data, what)() != getattr(mask, what)():
            raise ValueError(f"data.{what}() must equal mask.{what}()")
    return data, mask


def inside(value: object, part: Callable[[MaskedTensor], object]) -> Any:
    """An argument with a part of each tensor with a mask in its place, in lists and tuples too."""
    if isinstance(value, MaskedTensor):
        return part(value)
    if isinstance(value, list | tuple):
        return type(value)(inside(each, part) for each in value)
    return value


def data_of(value: object) -> Any:
    """The data of what has a mask, in an argument."""
    return inside(value, lambda each: each._masked_data)


def mask_of(value: object) -> Any:
    """The masks in the place of what has one, in an argument."""
    return inside(value, lambda each: each._masked_mask)


def paired(data: object, mask: Any) -> Any:
    """Results with their masks, one by one."""
    if isinstance(data, list | tuple):
        return type(data)(paired(d, m) for d, m in zip(data, mask, strict=True))
    return MaskedTensor._of_pair(data, mask) if isinstance(data, Tensor) else data


def first_masked(args: tuple[object, ...]) -> MaskedTensor:
    """The first argument that has a mask.

    Raises:
        TypeError: there is none.
    """
    for each in args:
        if isinstance(each, MaskedTensor):
            return each
    raise TypeError("At least one of `a` and `b` must be a MaskedTensor")


def _tensors_match(
    a: Tensor, b: Tensor, exact: bool = True, rtol: float = 1e-05, atol: float = 1e-08
) -> bool:
    """Whether two plain tensors of one layout are equal, or close; of sparse ones elements and
    places.

    Raises:
        ValueError: other layouts, or tensors with masks.
    """
    if is_masked_tensor(a) or is_masked_tensor(b):
        raise ValueError("Neither `a` nor `b` can be a MaskedTensor.")
    if a.layout != b.layout:
        raise ValueError(f"`a` and `b` must have the same layout. Got {a.layout} and {b.layout}")
    if layout_of(a) in _SPARSE:
        return same_places(a, b) and _tensors_match(a.values(), b.values(), exact, rtol, atol)
    if a.dim() != b.dim():
        return False
    b = b.to(a.dtype)
    return bool((a == b).all()) if exact else bool(a.allclose(b, rtol=rtol, atol=atol))


def _masks_match(a: object, b: object) -> bool:
    """Whether two arguments have the same mask, or one of them has none."""
    if isinstance(a, MaskedTensor) and isinstance(b, MaskedTensor):
        return _tensors_match(a.get_mask(), b.get_mask())
    return True


# --------------------------------------------------------------------------- members


_PLAIN_NAMES: Final[dict[str, str]] = {}
"""The names of functions that Python's operators stand for (`__add__`: `add`)."""

_TURNED: Final = ("T", "mT", "H", "mH")


def _of_member(func: Any, self: MaskedTensor, *given: object) -> object:
    """What the data has under the name of an attribute; tensors with the mask, views of both."""
    name = func.__self__.fget.__name__
    data, mask = self._masked_data, self._masked_mask
    if given:  # it is set
        setattr(data, name, data_of(given[0]) if isinstance(given[0], Tensor) else given[0])
        return None
    value = getattr(data, name)
    if not isinstance(value, Tensor):
        return value
    return MaskedTensor._of_pair(value, getattr(mask, name) if name in _TURNED else mask)


# --------------------------------------------------------------------------- printing


def _number(value: object) -> str:
    return f"{value:8.4f}" if isinstance(value, float) else str(value)


def _rows(values: Array, counts: Array) -> Iterator[str]:
    """The lines of an array of at least one dimension."""
    if values.ndim == 1:
        shown = [_number(value.item()) for value in values]
        pairs = list(zip(shown, counts, strict=True))
        width = max((len(s) if count else 8 for s, count in pairs), default=0)
        yield f"[{', '.join(s if count else '--'.rjust(width) for s, count in pairs)}]"
        return
    yield "["
    for place, (row, kept) in enumerate(zip(values, counts, strict=True)):
        lines = [f"  {line}" for line in _rows(row, kept)]
        yield from lines[:-1]
        yield lines[-1] + ("," if place + 1 < len(values) else "")
    yield "]"
