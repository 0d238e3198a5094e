"""`torch.vmap`: a function of slices, run for all of them.

The steps before and after the run have torch's private names and are looked up at each call:
packages with containers of their own (tensordict) put theirs in their places.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from typing import Any

from ..autograd import transformed as transformed  # functions of one's own ask it
from ..ops.batching.batched import RANDOM, Batched
from ..ops.batching.opened import Level
from ..ops.eager.dispatch import eager_function
from ..ops.eager.subclasses import as_subclass
from ..ops.random_numbers.random import default_generator, draws_noted
from ..ops.table.grad_mode import TRANSFORMS
from ..ops.tensors.dispatched import Dispatched
from ..ops.tensors.overriding import own_function
from ..ops.tensors.tensor import Tensor
from ..utils._pytree import TreeSpec, _broadcast_to_and_flatten, tree_flatten, tree_unflatten
from .draws import DrawsForSlices

__all__ = ["in_levels", "lifted_to_levels", "vmap", "without_class"]

Dims = Sequence[int | None]
"""Of each value the dimension along which its slices lie; None of one that is shared."""


def in_levels() -> list[Level]:
    """The levels that run now in this thread, the outer ones first."""
    return TRANSFORMS.levels


def lifted_to_levels(tensor: Tensor) -> Tensor:
    """A tensor as one that stands for slices at every level that runs, if they share it."""
    levels = TRANSFORMS.levels
    known = set()
    inner = tensor
    while type(inner) is Batched:
        known.add(inner._level)
        inner = inner._value
    if known.issuperset(levels):
        return tensor
    for level in levels:
        if level not in known:
            tensor = _put_in(tensor, level)
    return tensor


def without_class(tensor: Tensor) -> Tensor:
    """A tensor as functions of transforms are given it: without a class of a user's, unless that
    computes by operators (`__torch_dispatch__`)."""
    kind = type(tensor)
    if own_function(kind) is None or issubclass(kind, (Batched, Dispatched)):
        return tensor
    bare = as_subclass(tensor, Tensor)
    assert isinstance(bare, Tensor)
    return bare


def _put_in(tensor: Tensor, level: Level) -> Tensor:
    """A tensor, shared by all slices of a level, as one that stands for them."""
    if type(tensor) is Batched and tensor._level.number > level.number:
        return Batched.over(_put_in(tensor._value, level), tensor._level)
    return Batched.over(tensor.expand([level.count, *tensor.shape]), level)


def vmap(
    func: Callable[..., object],
    in_dims: object = 0,
    out_dims: object = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """A function that runs `func` for each slice of its inputs, and stacks the results.

    Args:
        func: takes and gives tensors, which may lie in lists, tuples and dicts.
        in_dims: the dimension along which inputs are cut, None for those that are shared; one for
            all, or a structure like that of the inputs.
        out_dims: where the slices lie in the results, in the same way.
        randomness: "error", "same" or "different" random numbers for the slices.
        chunk_size: how many slices run at once; all by default.

    Raises:
        RuntimeError: `randomness` is another word; random numbers are drawn with "error"; a tensor
            is asked for its value.
        ValueError: `in_dims` or `out_dims` do not fit, or sizes differ.
    """
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(
            "Only allowed values for randomness are 'error', 'different', or 'same'. "
            f"Got {randomness}"
        )
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func)
    def wrapped(*args: object, **kwargs: object) -> object:
        count, dims, flat, spec = _process_batched_inputs(in_dims, args, func)
        if chunk_size is None or chunk_size >= count:
            return _run(func, flat, dims, spec, count, out_dims, randomness, kwargs)
        parts = []
        begin = default_generator.place()
        for start in range(0, count, chunk_size):
            if randomness == "same":
                default_generator.return_to(begin)
            size = min(chunk_size, count - start)
            cut = [
                each if dim is None else each.narrow(dim, start, size)
                for each, dim in zip(flat, dims, strict=True)
            ]
            parts.append(_run(func, cut, dims, spec, size, out_dims, randomness, kwargs))
        return _rejoined(parts, out_dims, func)

    return wrapped


def _get_name(func: Callable[..., object]) -> str:
    return getattr(func, "__name__", repr(func))


# --------------------------------------------------------------------------- inputs


def _process_batched_inputs(
    in_dims: object, args: tuple[object, ...], func: Callable[..., object]
) -> tuple[int, Dims, list[Any], TreeSpec]:
    """The number of slices, the dimension of each input, the inputs, their structure."""
    name = _get_name(func)
    begin = f"vmap({name}, in_dims={in_dims}, ...)(<inputs>):"
    if not isinstance(in_dims, (int, tuple)):
        raise ValueError(
            f"{begin} expected `in_dims` to be int or a (potentially nested) tuple matching the "
            f"structure of inputs, got: {type(in_dims)}."
        )
    if not args:
        raise ValueError(
            f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are "
            "trying to vmap over a function with no inputs. The latter is unsupported."
        )
    flat, spec = tree_flatten(args)
    dims = _broadcast_to_and_flatten(in_dims, spec)
    if dims is None:
        raise ValueError(
            f"{begin} in_dims is not compatible with the structure of `inputs`. in_dims has "
            f"structure {tree_flatten(in_dims)[1]} but inputs has structure {spec}."
        )
    checked = [_checked_dim(begin, each, dim) for each, dim in zip(flat, dims, strict=True)]
    sizes = [each.shape[dim] for each, dim in zip(flat, checked, strict=True) if dim is not None]
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    if any(size != sizes[0] for size in sizes):
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sizes} for the mapped dimension"
        )
    return sizes[0], checked, flat, spec


def _checked_dim(begin: str, value: object, dim: object) -> int | None:
    if dim is None:
        return None
    if not isinstance(dim, int):
        raise ValueError(
            f"{begin} Got in_dim={dim} for an input but in_dim must be either an integer dimension "
            "or None."
        )
    if not isinstance(value, Tensor):
        raise ValueError(
            f"{begin} Got in_dim={dim} for an input but the input is of type {type(value)}. We "
            "cannot vmap over non-Tensor arguments, please use None as the respective in_dim"
        )
    rank = value.dim()
    if not -rank <= dim < rank:
        raise ValueError(
            f"{begin} Got in_dim={dim} for some input, but that input is a Tensor of "
            f"dimensionality {rank} so expected in_dim to satisfy -{rank} <= in_dim < {rank}."
        )
    return dim % rank


# --------------------------------------------------------------------------- the run


def _run(
    func: Callable[..., object],
    flat: list[object],
    dims: Dims,
    spec: TreeSpec,
    count: int,
    out_dims: object,
    randomness: str,
    kwargs: dict[str, object],
) -> object:
    levels = TRANSFORMS.levels
    level = Level(len(levels) + 1, count, randomness)
    levels.append(level)
    try:
        given = _create_batched_inputs(dims, flat, level.number, spec)
        differs = DrawsForSlices(level) if randomness == "different" else nullcontext()
        with draws_noted() as has_drawn, differs:
            outputs = func(*given, **kwargs)
            if randomness == "error" and has_drawn():
                raise RuntimeError(RANDOM)
        return _unwrap_batched(outputs, out_dims, level.number, count, func)
    finally:
        levels.pop()


def _create_batched_inputs(
    flat_in_dims: Dims, flat_args: Sequence[Any], vmap_level: int, args_spec: TreeSpec
) -> Iterable[object]:
    """The inputs as the function sees them, in their structure."""
    given = [
        each if dim is None else _add_batch_dim(each, dim, vmap_level)
        for each, dim in zip(flat_args, flat_in_dims, strict=True)
    ]
    made: Iterable[object] = tree_unflatten(given, args_spec)
    return made


def _level_at(number: int) -> Level:
    levels: list[Level] = TRANSFORMS.levels
    if not 0 < number <= len(levels):
        raise RuntimeError(f"vmap: no level {number} runs, {len(levels)} do")
    return levels[number - 1]


def _add_batch_dim(tensor: Tensor, batch_dim: int, level: int) -> Tensor:
    """What stands for the slices of a tensor along a dimension.

    Raises:
        RuntimeError: no such level runs.
    """
    plain = without_class(tensor)
    moved: Tensor = plain.movedim(batch_dim, 0) if batch_dim else plain
    return Batched.over(moved, _level_at(level))


def _remove_batch_dim(tensor: Tensor, level: int, batch_size: int, out_dim: int) -> object:
    """All slices of a tensor along a dimension; it is repeated where it stands for itself."""
    if type(tensor) is Batched and tensor._level.number == level:
        whole = tensor._value
    else:
        whole = tensor.expand([batch_size, *tensor.shape])
    return whole.movedim(0, out_dim) if out_dim else whole


def _flat_outputs(
    outputs: object, out_dims: object, func: Callable[..., object]
) -> tuple[list[object], Dims, TreeSpec]:
    flat, spec = tree_flatten(outputs)
    if not all(each is None or isinstance(each, int) for each in tree_flatten(out_dims)[0]):
        raise ValueError(
            f"vmap({_get_name(func)}, ..., out_dims={out_dims}): `out_dims` must be an int, None "
            "or a python collection of ints representing where in the outputs the vmapped "
            "dimension should appear."
        )
    dims = [out_dims] if out_dims is None and len(flat) == 1 else None
    if isinstance(outputs, Tensor) and isinstance(out_dims, tuple) and len(out_dims) == 1:
        dims = [*out_dims]
    dims = dims or _broadcast_to_and_flatten(out_dims, spec)
    if dims is None:
        raise ValueError(
            f"vmap({_get_name(func)}, ..., out_dims={out_dims})(<inputs>): out_dims is not "
            "compatible with the structure of `outputs`. out_dims has structure "
            f"{tree_flatten(out_dims)[1]} but outputs has structure {spec}."
        )
    return flat, list(dims), spec


def _unwrap_batched(
    batched_outputs: object,
    out_dims: object,
    vmap_level: int,
    batch_size: int,
    func: Callable[..., object],
) -> object:
    """The results with all slices, in their structure."""
    flat, dims, spec = _flat_outputs(batched_outputs, out_dims, func)
    name = _get_name(func)
    whole = [
        _maybe_remove_batch_dim(name, each, vmap_level, batch_size, dim)
        for each, dim in zip(flat, dims, strict=True)
    ]
    return tree_unflatten(whole, spec)


def _maybe_remove_batch_dim(
    name: str, batched_output: object, vmap_level: int, batch_size: int, out_dim: int | None
) -> object:
    """A result with all slices, or as it is where `out_dim` is None.

    Raises:
        ValueError: it is no tensor, or stands for slices and has nowhere to put them.
    """
    value = batched_output
    if out_dim is not None:
        if isinstance(value, Tensor):
            return _remove_batch_dim(value, vmap_level, batch_size, out_dim)
        raise ValueError(
            f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(value)}. Did "
            "you mean to set out_dims= to None for output?"
        )
    if type(value) is Batched and value._level.number == vmap_level:
        raise ValueError(
            f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None"
        )
    return value


def _rejoined(parts: list[object], out_dims: object, func: Callable[..., object]) -> object:
    """The results of pieces of the slices, joined where the slices lie."""
    _, dims, spec = _flat_outputs(parts[0], out_dims, func)
    columns = zip(*(tree_flatten(part)[0] for part in parts), strict=True)
    joined = [
        column[0] if dim is None else eager_function("aten::cat")(list(column), dim)
        for column, dim in zip(columns, dims, strict=True)
    ]
    return tree_unflatten(joined, spec)


def _vmap(
    func: Callable[..., object],
    in_dims: object = 0,
    out_dims: object = 0,
    allow_none_pass_through: bool = False,
) -> Callable[..., Any]:
    """`vmap` under the name that packages took it by before it was public.

    Raises:
        NotImplementedError: results may be None.
    """
    if allow_none_pass_through:
        raise NotImplementedError("_vmap: rushlight has no allow_none_pass_through")
    return vmap(func, in_dims, out_dims)
