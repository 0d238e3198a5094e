"""Eager calls of operators on nested tensors: the same on each part, where torch has it so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from operator import is_
from typing import Any, Final

from ...frontend.foundations.declared import Declared
from ..eager.aten import aten
from ..eager.dispatch import eager_function
from ..eager.elsewhere import Choose, as_named
from ..memory.dims import sizes_given, wrap_dim
from ..memory.dtype import DType, MemoryFormat
from ..table.table import TABLE
from ..tensors.tensor import Tensor
from .tensors import is_nested, of_parts, parts_of

__all__ = ["call"]

Form = Callable[..., Any]
_empty: Final = aten.empty
_FORMATS: Final = ("preserve_format", "contiguous_format")
_MASK_AT: Final = 17
"""Where an encoder layer's arguments behind `src` have their mask."""
_FORMS: Final[Declared[str, Form]] = Declared()
_SINGLE: Final = frozenset(
    f"aten::{name}"
    for name in """relu relu_ gelu gelu_ silu silu_ tanh tanh_ neg neg_ abs abs_ sgn sgn_ sin cos
    sqrt logical_not isnan isinf isposinf isneginf detach contiguous zeros_like ones_like
    empty_like randn_like fill_ zero_ dropout native_dropout to _to_copy cpu alias eq ge gt le
    lt ne""".split()
)
"""Functions of single elements, which torch has for nested tensors; numbers may stand beside."""
_PAIRS: Final = frozenset(
    f"aten::{name}" for name in "add add_ sub sub_ mul mul_ div div_ copy_ masked_fill".split()
)
"""The same with a second nested tensor of the same sizes, or one element."""


def form(*names: str) -> Callable[[Form], Form]:
    """Make a function the form of operators."""
    return _FORMS.of(*(f"aten::{name}" for name in names))


def call(
    operator_name: str, args: tuple[object, ...], kwargs: dict[str, object], choose: Choose
) -> object:
    """What an operator gives for arguments with nested tensors among them.

    Raises:
        NotImplementedError: torch has no form of it for them, or there is none here.
    """
    known = _FORMS.get(operator_name)
    if known is not None:
        args, kwargs = as_named(operator_name, known, args, kwargs)
        return known(*args, **kwargs)
    if operator_name in _SINGLE:
        _refuse_others(operator_name, args[1:])
        return _on_parts(operator_name, args, kwargs)
    if operator_name in _PAIRS:
        _check_pair(operator_name.partition("::")[2], *args[:2])
        return _on_parts(operator_name, args, kwargs)
    if any(entry.looks == "dtype" for entry in TABLE.operators(operator_name)):
        (given,) = args
        assert isinstance(given, Tensor)
        return eager_function(operator_name)(_empty([0], dtype=given.dtype))
    raise missing(operator_name)


def missing(operator_name: str) -> NotImplementedError:
    """What is said of an operator without a form."""
    return NotImplementedError(
        f"Could not run '{operator_name}' with arguments from the 'NestedTensorCPU' backend. "
        "unbind() gives the parts."
    )


def _on_parts(operator_name: str, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
    """The operator on each part, with the parts of other nested arguments beside."""
    function = eager_function(operator_name)
    nested = [each for each in (*args, *kwargs.values()) if is_nested(each)]
    made = []
    for place in range(len(parts_of(nested[0]))):
        row = [parts_of(each)[place] if is_nested(each) else each for each in args]
        named = {
            key: parts_of(each)[place] if is_nested(each) else each for key, each in kwargs.items()
        }
        made.append(function(*row, **named))
    if operator_name.endswith("_"):
        return args[0]
    if is_nested(args[0]) and all(map(is_, made, parts_of(args[0]))):  # it is so already
        return args[0]
    return of_parts(made) if made else of_parts(made, nested[0].dtype)


def _refuse_others(operator_name: str, others: tuple[object, ...]) -> None:
    if any(is_nested(each) for each in others):
        name = operator_name.partition("::")[2]
        raise RuntimeError(f"{name} does not support nested tensor as other value.")


def _check_pair(name: str, one: object, other: object) -> None:
    """Refuse what the parts do not meet in."""
    if is_nested(one) and is_nested(other):
        pairs = zip(parts_of(one), parts_of(other), strict=False)
        same = len(one) == len(other) and all(a.shape == b.shape for a, b in pairs)
        if not same and name == "copy_":
            raise RuntimeError(
                "copy_ only supports tensors that are the same size for Nested implementations"
            )
        if not same:
            raise RuntimeError(f"{name} does not support broadcasting when given a NestedTensor")
        return
    plain = other if is_nested(one) else one
    if isinstance(plain, Tensor) and plain.ndim:
        words = ("nested", "non-nested") if is_nested(one) else ("non-nested", "nested")
        raise RuntimeError(
            f"Expected both self and other to be nested, but got a {words[0]} self and "
            f"{words[1]} other"
        )
    if not is_nested(one) and name.endswith("_") and parts_of(other):
        sizes = list(parts_of(other)[0].shape)
        raise RuntimeError(
            f"output with shape [] doesn't match the broadcast shape {sizes} of a nested tensor's "
            "parts"
        )


@form("type_as")
def type_as(tensor: Tensor, other: Tensor) -> Tensor:
    """The tensor in the dtype of another one."""
    return tensor.to(other.dtype)


@form("is_same_size")
def is_same_size(tensor: object, other: object) -> bool:
    """Whether two nested tensors have as many parts, of equal sizes."""
    if not (is_nested(tensor) and is_nested(other)):
        is_not = ["nested" if is_nested(each) else "not nested" for each in (tensor, other)]
        raise RuntimeError(
            "Expected both self and other to be nested tensors. "
            f"Self is {is_not[0]}. While Other is {is_not[1]}."
        )
    return [each.shape for each in parts_of(tensor)] == [each.shape for each in parts_of(other)]


# --------------------------------------------------------------------------- dimensions


def _inner(tensor: Tensor, dim: int) -> int:
    """A dimension of a nested tensor as one of its parts; -1 for the first."""
    return wrap_dim(dim, tensor.ndim) - 1


@form("transpose")
def transpose(tensor: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dimensions of each part change places."""
    places = _inner(tensor, dim0), _inner(tensor, dim1)
    if -1 in places:
        raise RuntimeError("Nested tensor dimension 0 cannot be transposed")
    return of_parts([part.transpose(*places) for part in parts_of(tensor)], tensor.dtype)


@form("select")
def select(tensor: Tensor, dim: int, index: int) -> Tensor:
    """A part, or one index of a dimension of each."""
    place = _inner(tensor, dim)
    if place < 0:
        return parts_of(tensor)[index]
    return of_parts([part.select(place, index) for part in parts_of(tensor)], tensor.dtype)


@form("unbind")
def unbind(tensor: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """The parts."""
    if _inner(tensor, dim) >= 0:
        raise RuntimeError(
            f"NestedTensor can only be unbound along dimension 0 got dimension {dim} instead."
        )
    return parts_of(tensor)


@form("narrow")
def narrow(tensor: Tensor, dim: int, start: int, length: int) -> Tensor:
    """Some of the parts."""
    if _inner(tensor, dim) >= 0:
        raise RuntimeError(f"narrow(): only dim=0 supported for nested tensors, but got: {dim}")
    return of_parts(parts_of(tensor)[start : start + length], tensor.dtype)


@form("chunk")
def chunk(tensor: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Each part cut along its last dimension."""
    place = _inner(tensor, dim)
    if place != tensor.ndim - 2:
        raise RuntimeError(
            "Chunk for nested tensors is currently only supported for the last dimension."
        )
    cut = [part.chunk(chunks, place) for part in parts_of(tensor)]
    return tuple(of_parts(each, tensor.dtype) for each in zip(*cut, strict=True))


@form("unsqueeze")
def unsqueeze(tensor: Tensor, dim: int) -> Tensor:
    """A dimension of size 1 more in each part."""
    place = dim % (tensor.ndim + 1) - 1
    if place < 0:
        raise RuntimeError(
            "unsqueeze(): For nested tensors, unsqueezing dimension 0 is not supported at the "
            "moment if you need this feature, please open an issue on github describing your use "
            "case."
        )
    return of_parts([part.unsqueeze(place) for part in parts_of(tensor)], tensor.dtype)


@form("squeeze")
def squeeze(tensor: Tensor, dim: int | None = None) -> Tensor:
    """A dimension of size 1 less in each part, where all have it so."""
    if dim is None:
        raise RuntimeError(
            "squeeze(): For nested tensors, squeeze without the dim argument is not supported at "
            "the moment, however you can use squeeze(Tensor self, int dim) instead if you need "
            "this feature, please open an issue on github describing your use case."
        )
    place, parts = _inner(tensor, dim), parts_of(tensor)
    if place < 0:
        raise RuntimeError(
            "squeeze(): For nested tensors, squeezing dimension 0 is not supported at the moment "
            "if you need this feature, please open an issue on github describing your use case."
        )
    if any(part.shape[place] != 1 for part in parts):
        return tensor
    return of_parts([part.squeeze(place) for part in parts], tensor.dtype)


@form("clone")
def clone(tensor: Tensor, *, memory_format: MemoryFormat | None = None) -> Tensor:
    """A copy of each part."""
    if memory_format is not None and memory_format.name not in _FORMATS:
        said = "".join(part.capitalize() for part in memory_format.name.split("_"))
        raise RuntimeError(
            "Nested tensor clone supports Preserve and Contiguous memory formats, called clone "
            f"with memory format: {said}"
        )
    copied = [part.clone(memory_format=memory_format) for part in parts_of(tensor)]
    return of_parts(copied, tensor.dtype)


@form("view")
def view(tensor: Tensor, *size: object) -> Tensor:
    """Each part in other sizes, in its memory; the first one is the number of parts."""
    return _in_sizes("view", tensor, sizes_given(size))


@form("reshape")
def reshape(tensor: Tensor, *size: object) -> Tensor:
    """Each part in other sizes; the first one is the number of parts."""
    return _in_sizes("reshape", tensor, sizes_given(size))


def _in_sizes(name: str, tensor: Tensor, given: Sequence[int]) -> Tensor:
    parts = parts_of(tensor)
    if not given:
        raise RuntimeError("shape '[]' is invalid for a nested tensor")
    if not parts:
        raise RuntimeError("empty nested tensor cannot be reshaped")
    if given[0] != len(parts):
        raise RuntimeError(
            f"{name}: For now nested {name} cannot change or infer the implicit batch dimension"
        )
    made = []
    for part in parts:
        sizes = [
            part.shape[at] if each == -1 and at < part.ndim else each
            for at, each in enumerate(given[1:])
        ]
        if -1 not in sizes and prod(sizes) != part.numel():
            raise RuntimeError(f"shape '{list(given)}' is invalid for input of size {part.numel()}")
        made.append(getattr(part, name)(sizes))
    return of_parts(made, tensor.dtype)


@form("cat")
def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """All parts of several nested tensors."""
    if not all(map(is_nested, tensors)) or _inner(tensors[0], dim) >= 0:
        raise missing("aten::cat")
    return of_parts([part for each in tensors for part in parts_of(each)], tensors[0].dtype)


# --------------------------------------------------------------------------- reductions, layers


@form("sum")
def total(
    tensor: Tensor,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
) -> Tensor:
    """The sums over the last dimension of each part."""
    if dim is None:
        raise missing("aten::sum")
    dims = [dim] if isinstance(dim, int) else list(dim)
    if len(dims) != 1:
        raise RuntimeError("NestedTensor only allows reduction of a single dimension for now.")
    places = [_inner(tensor, each) for each in dims]
    if places != [tensor.ndim - 2]:
        raise RuntimeError(
            "NestedTensor can only be reduced across the last dimension for now got dimension "
            f"{places[0] + 1} instead."
        )
    if not keepdim:
        raise RuntimeError("NestedTensor always requires keepdim=True for now.")
    parts = parts_of(tensor)
    return of_parts([part.sum(places, True, dtype=dtype) for part in parts], dtype)


@form("softmax", "_softmax")
def softmax(tensor: Tensor, dim: int, dtype: DType | None = None) -> Tensor:
    """The softmax of each part."""
    if not parts_of(tensor):
        return tensor
    place = _inner(tensor, dim)
    if place < 0:
        raise RuntimeError("Cannot apply softmax across nested dimension 0")
    return of_parts([part.softmax(place, dtype=dtype) for part in parts_of(tensor)], dtype)


@form("linear")
def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """The linear layer of each part."""
    if input.ndim != 3 or weight.ndim != 2:
        raise RuntimeError(
            "Linear requires nested_tensor.dim == 3 and dense_matrix.dim == 2. Nested tensor dim: "
            f"{input.ndim}. Dense tensor dim: {weight.ndim}"
        )
    last = input.size(-1)
    if last != weight.shape[1]:
        raise RuntimeError(
            "Shape mismatch for NestedTensor Linear: Expected input's (a nested tensor) 'last_dim'"
            f" to equal 'weight.size(1), but got: last_dim = {last}, and weight.size(1) = "
            f"{weight.shape[1]}"
        )
    function = aten.linear
    return of_parts([function(part, weight, bias) for part in parts_of(input)], input.dtype)


@form("layer_norm")
def layer_norm(
    input: Tensor,
    normalized_shape: object,
    weight: object = None,
    bias: object = None,
    *rest: object,
    **named: object,
) -> Tensor:
    """The layer norm of each part."""
    if weight is None or bias is None:
        raise ValueError("NestedTensor layer_norm requires weight and bias")
    function = aten.layer_norm
    made = [
        function(part, normalized_shape, weight, bias, *rest, **named) for part in parts_of(input)
    ]
    return of_parts(made, input.dtype)


@form("embedding")
def embedding(weight: Tensor, indices: object, *rest: object, **named: object) -> Tensor:
    """The rows that the parts name."""
    function = aten.embedding
    return of_parts([function(weight, part, *rest, **named) for part in parts_of(indices)])


@form("matmul", "bmm")
def matmul(a: Tensor, b: Tensor) -> Tensor:
    """The products of the parts of two nested tensors."""
    if not (is_nested(a) and is_nested(b)):
        words = ["nested" if is_nested(each) else "non-nested" for each in (a, b)]
        raise RuntimeError(
            f"Expected both to be nested, but got a {words[0]} self and {words[1]} other"
        )
    if len(a) != len(b):
        raise RuntimeError(
            f"matmul: Expected size for the 1st dimension of 2nd input tensor to be: {len(a)} but "
            f"got: {len(b)}."
        )
    return of_parts([one @ other for one, other in zip(a, b, strict=True)], a.dtype)


@form("scaled_dot_product_attention")
def attention(query: Tensor, key: Tensor, value: Tensor, *rest: object, **named: object) -> Tensor:
    """The attention of each part: (heads, positions, width) each."""
    if not all(map(is_nested, (query, key, value))):
        raise RuntimeError("scaled_dot_product_attention: query, key and value must all be nested")
    if (rest[0] if rest else named.get("attn_mask")) is not None:
        raise RuntimeError(
            "Scaled_dot_product_attention: Nested tensors for query / key are not supported when "
            "an explicit attn_mask is set"
        )
    function = aten.scaled_dot_product_attention
    made = [function(*row, *rest, **named) for row in zip(query, key, value, strict=True)]
    return of_parts(made, query.dtype)


@form("_transformer_encoder_layer_fwd")
def encoder_layer(src: Tensor, *rest: object, **named: object) -> Tensor:
    """A layer of a transformer on each part by itself, which masks nothing.

    Raises:
        RuntimeError: a mask is given; the parts' sizes say what there is.
    """
    if any(isinstance(each, Tensor) for each in (*rest[_MASK_AT:], named.get("mask"))):
        raise RuntimeError("NestedTensor with mask is not supported")
    function = aten._transformer_encoder_layer_fwd
    made = [function(part.unsqueeze(0), *rest, **named).squeeze(0) for part in parts_of(src)]
    return of_parts(made, src.dtype)


# --------------------------------------------------------------------------- and back


@form("to_padded_tensor")
def to_padded(tensor: Tensor, padding: float, output_size: Sequence[int] | None = None) -> Tensor:
    """One tensor in which all parts lie, filled up with a number.

    Raises:
        RuntimeError: a part does not fit into `output_size`.
    """
    parts = parts_of(tensor)
    least = [max(sizes) for sizes in zip(*(part.shape for part in parts), strict=True)]
    wanted = [len(parts), *least] if output_size is None else list(output_size)
    if len(wanted) != tensor.ndim:
        raise RuntimeError(
            "Length of output_size does not match NestedTensor dims. Broadcasting is not supported."
        )
    if any(asked < size for asked, size in zip(wanted, [len(parts), *least], strict=True)):
        raise RuntimeError(
            "Value in output_size is less than NestedTensor padded size. Truncation is not "
            "supported."
        )
    pad, stack = aten.constant_pad_nd, aten.stack
    filled = []
    for part in parts:
        room = [
            n
            for to, size in zip(wanted[:0:-1], part.shape[::-1], strict=True)
            for n in (0, to - size)
        ]
        filled.append(pad(part, room, padding))
    if not filled:
        return aten.empty([0])
    whole = stack(filled)
    short = wanted[0] - len(parts)
    if short:
        whole = pad(whole, [0] * (2 * whole.ndim - 1) + [short], padding)
    return whole
