"""`torch.autograd.forward_ad`: numbers with a direction, which functions carry along.

The direction of a result is found when it is asked for: by the gradient, with respect to a vector,
of that vector's product with the Jacobian.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import NamedTuple, TypeGuard

from ..ops.conjugates.tensors import in_memory
from ..ops.gradients.nodes.autograd import Edge, edge_of, is_wanted
from ..ops.gradients.recording.directed import (
    begin_direction,
    is_directed,
    leads_to_leaf,
    without_direction,
)
from ..ops.memory.dtype import STRIDED
from ..ops.memory.versions import owner_of, version_of
from ..ops.table.grad_mode import (
    DIRECTIONS,
    GRAD_MODE,
    TRANSFORMS,
    enable_grad,
    is_grad_enabled,
)
from ..ops.tensors.tape_port import DIRECTION_OF
from ..ops.tensors.tensor import Tensor
from . import grad
from . import transformed as transformed  # functions of one's own ask it
from .function import IN_LEVELS, FunctionNode

__all__ = [
    *("UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual"),
    "unpack_dual",
]


class _Direction(NamedTuple):
    start: Tensor
    """What the gradient is found of that is multiplied with the direction."""
    edge: Edge | None
    """Where the tensor that was given it came from."""
    tangent: Tensor


_LEVELS: list[list[_Direction]] = []
"""For each level that is entered the directions that were given there."""


class UnpackedDualTensor(NamedTuple):
    """A tensor, and its direction if it has one."""

    primal: Tensor
    tangent: Tensor | None


def enter_dual_level() -> int:
    """Enter a level, and give its number.

    Raises:
        RuntimeError: one is entered already.
    """
    if _LEVELS:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    _LEVELS.append([])
    TRANSFORMS.duals = True
    DIRECTIONS.wanted += 1
    if not GRAD_MODE.get():
        GRAD_MODE.set("directions")
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """Leave the level; directions are forgotten.

    Raises:
        RuntimeError: none is entered, or it is another one.
    """
    if not _LEVELS:
        raise RuntimeError("Dual level must be a positive number.")
    if level not in (None, 0):
        raise RuntimeError("Trying to exit a forward AD level that was not the last one created.")
    _LEVELS.pop()
    TRANSFORMS.duals = False
    DIRECTIONS.wanted -= 1
    if not (DIRECTIONS.wanted or is_grad_enabled()):
        GRAD_MODE.set(False)


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """A tensor with a direction.

    Raises:
        RuntimeError: no level is entered, or the direction has other sizes.
        ValueError: one of them has no floats or complex numbers.
    """
    if not _LEVELS:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to "
            "enter_dual_level() first."
        )
    for name, each in (("primal", tensor), ("tangent", tangent)):
        if not (each.is_floating_point() or each.is_complex()):
            raise ValueError(
                f"Expected {name} to be floating point or complex, but got: {each.dtype}"
            )
    if tensor.shape != tangent.shape:
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original "
            f"Tensor, this is not supported. Tensor is of size {list(tensor.shape)} while the "
            f"given forward gradient is of size {list(tangent.shape)}."
        )
    if unpack_dual(tangent).tangent is not None:
        raise RuntimeError(
            "Setting a forward grad that itself has a forward gradient at the same level0 is not "
            "supported."
        )
    with enable_grad():
        if tensor.layout is STRIDED:
            tensor, tangent = in_memory(tensor), in_memory(tangent)
            start, dual = begin_direction(tensor)
        else:  # whose history is its values'
            start = dual = tensor.detach().requires_grad_()
    _LEVELS[-1].append(_Direction(start, edge_of(dual), tangent))
    return dual


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """A tensor without its direction, and the direction; None where it has none."""
    if not _LEVELS or not is_wanted(tensor):
        return UnpackedDualTensor(tensor, None)
    direction = _given(tensor)
    if direction is None:
        direction = _direction(tensor, _LEVELS[-1])
    return UnpackedDualTensor(tensor if direction is None else without_direction(tensor), direction)


def _given(tensor: Tensor) -> Tensor | None:
    """The direction that a tensor was given in this level; None if it was given none, or was
    written since."""
    edge = edge_of(tensor)
    return next((each.tangent for each in _LEVELS[-1] if each.edge == edge), None)


# --------------------------------------------------------------------------- functions of users


def before_function(args: Sequence[object]) -> list[Tensor | None] | None:
    """The directions of arguments; None if there are none."""
    found = [_own_direction(a) if isinstance(a, Tensor) else None for a in args]
    return None if all(each is None for each in found) else found


def _own_direction(tensor: Tensor) -> Tensor | None:
    """The direction that was given to a tensor; of another one, what may be written in place."""
    found = unpack_dual(tensor).tangent
    if found is None or _given(tensor) is not None:
        return found
    own: Tensor = found.clone()
    return own


def after_function(
    node: FunctionNode, args: Sequence[object], given: list[Tensor | None], results: object
) -> None:
    """Give the results of a function the directions that its `jvp` computes.

    Raises:
        RuntimeError: it gives another number of them, of other sizes, one where there can be none,
            or no view where a result is a view, or did not write the direction of what was written
            in place.
    """
    outputs = list(results) if isinstance(results, tuple) else [results]
    before = [None if each is None else version_of(each._array) for each in given]
    made = transformed.directions_of(node, given)
    node._has_directed = True
    for number, (output, tangent) in enumerate(zip(outputs, made, strict=True)):
        if tangent is None:
            node.undirected |= {number}
            continue
        if number in node._without_gradient or not _has_direction(output):
            raise RuntimeError(
                f"Function's jvp returned a gradient at position {number}, but  the corresponding "
                "forward output is not a differentiable Tensor.You should return None at that "
                "position instead."
            )
        _check_shared(output, tangent, args, given, before)
        if _given(output) is None:
            _LEVELS[-1].append(_Direction(output, edge_of(output), tangent))


def _has_direction(output: object) -> TypeGuard[Tensor]:
    """Whether a result may have a direction."""
    return isinstance(output, Tensor) and (output.is_floating_point() or output.is_complex())


def _check_shared(
    output: Tensor,
    tangent: Tensor,
    args: Sequence[object],
    given: list[Tensor | None],
    before: list[int | None],
) -> None:
    """See that a direction lies where its argument's does, if its result lies where that does, and
    was written if that was; `before` are the versions that the arguments' had."""
    for arg, way, version in zip(args, given, before, strict=True):
        if not isinstance(arg, Tensor) or way is None:
            continue
        if output is arg:
            if tangent is not way or version_of(way._array) == version:
                raise RuntimeError(
                    "An inplace custom Function is not modifying the forward mode gradients "
                    "inplace. If the forward is modifying an input inplace, then the jvp function "
                    "must modify the corresponding gradient inplace."
                )
        elif output._view_of is not None and owner_of(output._array) is owner_of(arg._array):
            if tangent._base is None:
                raise RuntimeError(
                    "A custom Function's forward is returning a view (or an input as-is) but the "
                    "jvp is not returning a view."
                )
            if tangent._base is not (way if way._base is None else way._base):
                is_whole = arg._base is None and way._base is None
                like = "" if is_whole else " same base as the"
                raise RuntimeError(
                    "A custom Function is returning a view but the jvp is not returning a view of "
                    f"the{like} given grad input."
                )


def _direction(result: Tensor, level: list[_Direction]) -> Tensor | None:
    if not level:
        return None
    starts = [each.start for each in level]
    wanted = is_grad_enabled() and leads_to_leaf(result)
    with enable_grad():
        vector: Tensor = result.detach().new_zeros(result.shape)._want_gradients()
        with directions_wanted():
            products = grad(
                [result], starts, [vector], retain_graph=True, create_graph=True, allow_unused=True
            )
        pairs = [
            (product, each.tangent)
            for product, each in zip(products, level, strict=True)
            if product is not None and is_wanted(product)
        ]
        if not pairs:  # what does not change with its arguments stands still, which is said
            return result.detach().new_zeros(result.shape) if _leads_back(result, level) else None
        vectors, given = [p for p, _ in pairs], [t for _, t in pairs]
        (found,) = grad(
            vectors, [vector], given, retain_graph=True, allow_unused=True,
            create_graph=wanted or any(is_wanted(t) for t in given),
        )  # fmt: skip
    if is_directed([found]):
        found = without_direction(found)
    # the products may be zeros that no vector changes
    return result.detach().new_zeros(result.shape) if found is None else found


def _leads_back(result: Tensor, level: list[_Direction]) -> bool:
    """Whether a result was made of what has a direction."""
    starts = {each.edge for each in level}
    pending, seen = [edge_of(result)], set()
    while pending:
        edge = pending.pop()
        if edge in starts:
            return True
        if edge is not None and edge not in seen:
            seen.add(edge)
            node, number = edge
            pending += [] if number in node.undirected else node.edges
    return False


@contextmanager
def directions_wanted() -> Iterator[None]:
    """Say for a block that the gradient of its walk by the vector is wanted: directions."""
    before, DIRECTIONS.walks = DIRECTIONS.walks, True
    try:
        yield
    finally:
        DIRECTIONS.walks = before


class dual_level:
    """A block with a level."""

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        exit_dual_level()


def __getattr__(name: str) -> int:
    if name == "_current_level":  # torch's name for the number of the level, which is -1 outside
        return len(_LEVELS) - 1
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


IN_LEVELS.install(sys.modules[__name__])
DIRECTION_OF.install(lambda tensor: unpack_dual(tensor).tangent)
