"""Operators with gradients of one's own: `torch.autograd.Function`."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, NoReturn, Protocol

from ..frontend.foundations.port import Port
from ..module_names import names_of
from ..ops.gradients.nodes.autograd import (
    Edge,
    Node,
    Saved,
    edge_of,
    form_of,
    is_wanted,
    node_class,
    saved,
)
from ..ops.gradients.nodes.saved_tensors import SavedTensor, raw_tensors
from ..ops.gradients.recording.writes import rebase
from ..ops.memory.dtype import STRIDED, Array, DType
from ..ops.memory.versions import version_of, written
from ..ops.memory.warned import warn_caller
from ..ops.table.grad_mode import (
    DIRECTIONS,
    TRANSFORMS,
    grad_mode_set,
    is_recording,
    no_grad,
)
from ..ops.tensors.differentiable import BEHIND
from ..ops.tensors.tensor import PLAIN_TENSORS, Tensor
from ..ops.tensors.tracing import ACTIVE, Tracer, current_tracer
from ..ops.tensors.with_memory import with_memory
from .given_gradients import checked

if TYPE_CHECKING:
    from ..ops.batching.opened import Level

__all__ = [
    "IN_TRANSFORMS",
    "Function",
    "FunctionCtx",
    "FunctionNode",
    "InplaceFunction",
    "NestedIOFunction",
    "backward_of",
    "once_differentiable",
    "run_function",
]


class InTransforms(Protocol):
    """What functions do inside of transforms."""

    def level_of(self, args: object, /) -> Level | None:
        """The innermost level that arguments stand for slices of."""

    def for_all_slices(
        self, cls: type[Function], level: Level, args: tuple[object, ...], /
    ) -> object:
        """The results for arguments that stand for slices."""

    def pushed(self, node: FunctionNode, grads: Sequence[Tensor | None], /) -> list[Tensor | None]:
        """What a node gives in a walk whose gradient is wanted."""


IN_TRANSFORMS: Final[Port[InTransforms]] = Port()


class InLevels(Protocol):
    """What functions do while a level of `forward_ad` is entered."""

    def before_function(self, args: Sequence[object], /) -> list[Tensor | None] | None:
        """The directions of arguments; None if there are none."""

    def after_function(
        self,
        node: FunctionNode,
        args: Sequence[object],
        given: list[Tensor | None],
        results: object,
        /,
    ) -> None:
        """Give the results of a function their directions."""


IN_LEVELS: Final[Port[InLevels]] = Port()


class FunctionNode(Node):
    """What `forward` and `backward` of a `Function` get as `ctx`."""

    __slots__ = ("__dict__", "function")

    takes_none = True
    _forward_values: tuple[Tensor | None, ...] = ()
    _materialize = True
    _no_gradient: tuple[object, ...] = ()
    _dirty: tuple[Tensor, ...] = ()
    _directed_values: tuple[Tensor | None, ...] = ()
    _kept: tuple[Saved | Tensor | None, ...] = ()
    _kept_for_directions: tuple[Saved | Tensor | None, ...] = ()
    _is_directed = False
    """Whether `jvp` runs."""
    _has_directed = False
    """Whether it has run: the results have directions of their own."""
    _needs: tuple[bool, ...] = ()
    _materialize_non_diff_grads = True
    _without_gradient: frozenset[int] = frozenset()
    """The numbers of the results that were marked as having none."""
    undirected: frozenset[int] = frozenset()
    _sizes: Sequence[Array | None]
    _arguments: Sequence[tuple[int, tuple[tuple[int, ...], DType]]]
    function: type[Function]

    if TYPE_CHECKING:  # a function keeps in it what it likes

        def __getattr__(self, name: str) -> Any: ...
        def __setattr__(self, name: str, value: object) -> None: ...

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep tensors for `backward`."""
        self._forward_values = tensors

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Keep tensors for `jvp`."""
        if TRANSFORMS.depth or TRANSFORMS.duals:
            self._directed_values = tensors

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Say which arguments were written in place."""
        self._dirty = tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Say which results need no gradients."""
        self._no_gradient = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Whether `backward` gets zeros rather than None for results that were not used."""
        self._materialize = value

    @property
    def saved_tensors(self) -> tuple[Any, ...]:  # None among them where it was kept
        """What was kept for `backward`, or for `jvp` while that runs."""
        kept = self._kept_for_directions if self._is_directed else self._kept
        return tuple(s.seen(self) if isinstance(s, Saved) else s for s in kept)

    @property
    def saved_variables(self) -> tuple[Tensor | None, ...]:
        """The same by its old name, of which is warned."""
        warn_caller("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning)
        return self.saved_tensors

    @property
    def _raw_saved_tensors(self) -> tuple[SavedTensor, ...]:
        """The same as they are kept."""
        return raw_tensors(self._kept, self)

    @property
    def needs_input_grad(self) -> tuple[bool, ...]:
        """Of each argument of `forward` whether its gradient is asked for."""
        return self._needs

    def result_count(self) -> int:
        return len(self._sizes)

    def apply(self, grads: list[Tensor | None]) -> list[Tensor | None]:
        grads = grads + [None] * (len(self._sizes) - len(grads))
        if self._materialize:
            silent = () if self._materialize_non_diff_grads else self._without_gradient
            grads = [
                g if g is not None or like is None or at in silent else Tensor._of(_zeros(like))
                for at, (g, like) in enumerate(zip(grads, self._sizes, strict=True))
            ]
        if DIRECTIONS.walks:
            if self._has_directed:
                return [None] * len(self._arguments)
            assert IN_TRANSFORMS.installed is not None
            return IN_TRANSFORMS.installed.pushed(self, grads)
        return checked(self, backward_of(self.function)(self, *grads))

    def release(self) -> None:
        for each in (*self._kept, *self._kept_for_directions):
            if isinstance(each, Saved):
                each.release()


FunctionCtx = FunctionNode  # torch's name for what `ctx` can do


def _zeros(like: object) -> Array:
    import numpy as np

    return np.zeros_like(like)


class _FunctionMeta(type):
    """Gives every `Function` the class of its nodes."""

    def __init__(cls, name: str, bases: tuple[type, ...], body: dict[str, object]) -> None:
        super().__init__(name, bases, body)
        cls._node_class = cls._backward_cls = node_class(FunctionNode, f"{name}Backward")


class Function(metaclass=_FunctionMeta):
    """An operator with a gradient of one's own.

    A subclass has static methods `forward(ctx, *args)` and `backward(ctx, *grads)`, or
    `forward(*args)` with `setup_context(ctx, inputs, output)`; it is called by `apply`.

    `jvp(ctx, *directions)` gives the directions of the results for `forward_ad` and `func.jvp`.
    `func.vmap` runs `vmap(info, in_dims, *args)`, which gives the results and the dimensions in
    which the slices lie, or with `generate_vmap_rule` the other methods on all slices.
    """

    _node_class: type[FunctionNode]
    _backward_cls: type[FunctionNode]
    """The same by torch's name."""
    generate_vmap_rule = False

    def __init__(self, *args: object, **kwargs: object) -> None:
        del args, kwargs
        warnings.warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all "
            "static, so you should invoke them on the class itself. Instantiating an autograd "
            "function will raise an error in a future version of PyTorch.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: object, **kwargs: object) -> NoReturn:
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use "
            "new-style autograd function with static forward method. (Example: "
            "https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> object:
        """Compute the results."""
        raise NotImplementedError(
            "You must implement the forward function for custom autograd.Function."
        )

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> object:
        """Keep what `backward` needs."""
        raise NotImplementedError("setup_context is not implemented.")

    if TYPE_CHECKING:  # subclasses say how many gradients there are

        @staticmethod
        def backward(*args: Any, **kwargs: Any) -> object: ...
        @staticmethod
        def vjp(*args: Any, **kwargs: Any) -> object: ...
        @staticmethod
        def jvp(*args: Any, **kwargs: Any) -> object: ...
        @staticmethod
        def vmap(*args: Any, **kwargs: Any) -> object: ...

    else:

        @staticmethod
        def backward(ctx: FunctionCtx, *grad_outputs: Tensor | None) -> NoReturn:
            """Compute the gradients of the arguments."""
            raise NotImplementedError(
                "You must implement either the backward or vjp method for your custom "
                "autograd.Function to use it with backward mode AD."
            )

        @staticmethod
        def vjp(ctx: object, *grad_outputs: object) -> NoReturn:
            """The same as `backward`, by its other name."""
            raise NotImplementedError(
                "You must implement either the backward or vjp method for your custom "
                "autograd.Function to use it with backward mode AD."
            )

        @staticmethod
        def jvp(ctx: FunctionCtx, *directions: Tensor | None) -> NoReturn:
            """Compute the directions of the results from those of the arguments."""
            raise NotImplementedError(
                "You must implement the jvp function for custom autograd.Function to use it with "
                "forward mode AD."
            )

        @staticmethod
        def vmap(info: object, in_dims: tuple[int | None, ...], *args: object) -> NoReturn:
            """Compute the results of all slices, and say where their slices lie."""
            raise NotImplementedError(
                "To use autograd.Function with vmap, you must either override the vmap "
                "staticmethod or set generate_vmap_rule=True."
            )

    @classmethod
    def apply(cls, *args: object, **kwargs: object) -> Any:
        """Call it.

        Raises:
            RuntimeError: it is called inside of a transform and has no `setup_context`, or for
                slices and does not say how.
        """

        has_setup = cls.setup_context is not Function.setup_context
        if has_setup:
            args = _with_defaults(cls.forward, args, kwargs)
        if TRANSFORMS.depth or TRANSFORMS.levels:
            if not has_setup:
                raise RuntimeError(_NEEDS_SETUP)
            rules = IN_TRANSFORMS.installed
            if rules is not None and (level := rules.level_of(args)) is not None:
                return rules.for_all_slices(cls, level, args)

        def compute(node: FunctionNode) -> object:
            if not has_setup:
                return cls.forward(node, *args, **kwargs)
            result = cls.forward(*args)
            cls.setup_context(node, args, result)
            return result

        tracer = current_tracer() if ACTIVE else None
        if tracer is not None:
            return _run_traced(tracer, cls, args, compute, kwargs)
        return run_function(cls, args, compute)


def _run_traced(
    tracer: Tracer,
    cls: type[Function],
    args: Sequence[object],
    compute: Callable[[FunctionNode], object],
    kwargs: Mapping[str, object],
) -> object:
    """The same while a tracer listens: the trace calls the function again."""
    bodies: ModuleType = import_module("...ir.tracing.trace_bodies", __name__)
    call = bodies.TracedPythonCall(tracer, cls, args)
    nodes: list[FunctionNode] = []

    def noted(own: FunctionNode) -> object:
        nodes.append(own)
        return call.run(lambda: compute(own))

    made = run_function(cls, args, noted)
    apply = partial(cls.apply, **kwargs) if kwargs else cls.apply
    call.give(made, apply, in_place=bool(nodes[0]._dirty))
    return made


_NEEDS_SETUP: Final = (
    "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, "
    "...), it must override the setup_context staticmethod. For more details, please see "
    "https://pytorch.org/docs/main/notes/extending.func.html"
)


def _with_defaults(
    forward: Callable[..., object], args: tuple[object, ...], kwargs: dict[str, object]
) -> tuple[object, ...]:
    """The arguments of a call in order, with the defaults of those that it leaves out."""
    bound = inspect.signature(forward).bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.args


def backward_of(cls: type[Function]) -> Callable[..., object]:
    """How a function's gradients are computed, under either name.

    Raises:
        RuntimeError: it has both.
    """
    if cls.vjp is Function.vjp:
        return cls.backward
    if cls.backward is not Function.backward:
        raise RuntimeError(
            "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You "
            "should only implement one of them."
        )
    return cls.vjp


def run_function(
    cls: type[Function], args: Sequence[object], compute: Callable[[FunctionNode], object]
) -> object:
    """Run what a function computes, given its node, and give the results that node."""
    tensors = [(i, a) for i, a in enumerate(args) if isinstance(a, Tensor)]
    edges: list[Edge | None] = [
        edge_of(a) if a.dtype.is_floating_point or a.dtype.is_complex else None for _, a in tensors
    ]
    node = cls._node_class(edges)
    node.function = cls
    active = is_recording() and any(edge is not None for edge in edges)
    needs = [False] * len(args)
    for (place, _), edge in zip(tensors, edges, strict=True):
        needs[place] = edge is not None
    node._needs = tuple(needs)
    node._arguments = [(place, (_sizes_of(a), a.dtype)) for place, a in tensors]
    levels = IN_LEVELS.installed if TRANSFORMS.duals and active else None
    given = None if levels is None else levels.before_function(args)
    with grad_mode_set(False):  # directions too are the affair of the function
        result = compute(node)
    made = _finished(node, result, [a for _, a in tensors], active)
    if levels is not None and given is not None:
        levels.after_function(node, args, given, made)
    return made


def _sizes_of(tensor: Tensor) -> tuple[int, ...]:
    """The sizes as numbers, also while a trace records who asks for them."""
    plain = type(tensor) in PLAIN_TENSORS
    return tensor._array.shape if plain else tuple(tensor.shape)


def _finished(node: FunctionNode, result: object, inputs: Sequence[Tensor], active: bool) -> object:
    """The results with their node."""
    outputs = list(result) if isinstance(result, (tuple, list)) else [result]
    _check_dirty(node, outputs, inputs, active)
    made: list[object] = []
    arrays: list[Array | None] = []
    for number, output in enumerate(outputs):
        if active and isinstance(output, Tensor):
            output = with_memory(output)  # what forward gives is never written as a view
        elif getattr(type(output), "_is_turned", False) or not isinstance(output, Tensor):
            arrays.append(None)
            made.append(output)
            continue
        has_gradient = not any(output is n for n in node._no_gradient)
        dirty = any(output is d for d in node._dirty)
        if any(output is i for i in inputs) and not dirty:
            output = output.view_as(output.detach())
        if not dirty and output._view_of is not None and output._base is not None:
            output._view_among = type(node).__name__.removesuffix("Backward")
            output._view_of_function = len(outputs) == 1
            if active:
                output._unwatched = ""
            elif is_wanted(output._base):
                output._unwatched = output._unwatched or "no_grad"
        smooth = output._array.dtype.kind not in "biu"
        if not has_gradient:
            node._without_gradient |= {number}
        if active and smooth and has_gradient and dirty and output._view_of is not None:
            rebase(output, node, next((i for i, o in enumerate(inputs) if o is output), None))
        elif active and smooth and has_gradient:
            output._mark(BEHIND if dirty else version_of(output._array))
            output._requires_grad = True
            output._grad_node, output._output_number = node, number
        arrays.append(output._array)
        made.append(output)
    if active:
        node._kept = _kept_of(node, node._forward_values, made)
        node._kept_for_directions = _kept_of(node, node._directed_values, made)
    node._forward_values = node._directed_values = ()
    node._sizes = [None if a is None else form_of(a) for a in arrays]
    if not isinstance(result, (tuple, list)):
        return made[0]
    return tuple(made)


def _check_dirty(
    node: FunctionNode, outputs: Sequence[object], inputs: Sequence[Tensor], active: bool
) -> None:
    """Note what was written in place.

    Raises:
        RuntimeError: it is no result, it is a leaf that requires gradients or a view of one, or it
            is a view and not the only result.
    """
    for tensor in node._dirty:
        if not any(given is tensor for given in inputs):
            warn_caller(
                "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that "
                "have been mutated should be passed to ctx.mark_dirty()."
            )
        if not any(output is tensor for output in outputs):
            raise RuntimeError(
                "Some elements marked as dirty during the forward method were not returned as "
                "output. The inputs that are modified inplace must all be outputs of the Function."
            )
        if active and tensor._view_of is not None and len(outputs) > 1:
            raise RuntimeError(_SEVERAL)
        base = tensor._base
        if active and is_wanted(tensor) and (tensor if base is None else base).is_leaf:
            what = "a leaf" if base is None else "a view of a leaf"
            raise RuntimeError(
                f"{what} Variable that requires grad has been used in an in-place operation."
            )
        written(tensor._array)


_SEVERAL: Final = (
    "If your Function modifies inplace an input that is a view of another Tensor, your Function "
    "cannot return more than one Tensor. This is not supported by the current autograd engine. You "
    "should either make sure the input is not a view (using .clone() for example) or make your "
    "Function only return one Tensor (potentially splitting it into two Functions: one doing the "
    "inplace that returns a single Tensor and a second one that does the other operations). You "
    "can ask on the forum https://discuss.pytorch.org/ if you need help to do this change."
)


def _kept_of(
    node: object, tensors: Sequence[Tensor | None], made: Sequence[object]
) -> tuple[Saved | Tensor | None, ...]:
    """Tensors as a node keeps them; an input that is given back as it is stays an input."""
    kept: list[Saved | Tensor | None] = []
    for tensor in tensors:
        if not isinstance(tensor, Tensor):
            kept.append(tensor)
            continue
        tensor = with_memory(tensor)
        if tensor.layout is not STRIDED:  # nobody counts how often it is written
            kept.append(tensor)
            continue
        is_result = any(each is tensor for each in made) and tensor._grad_node is node
        kept.append(saved(tensor, tensor._output_number) if is_result else saved(tensor))
    return tuple(kept)


class InplaceFunction(Function):
    """A `Function` for operators that may write their argument in place; `inplace` says so."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


class NestedIOFunction(Function):
    """Kept for its name."""


class _RefusedNode(Node):
    """Stands where the history of a gradient would begin that has none."""

    __slots__ = ()

    def apply(self, grads: list[Tensor | None]) -> list[Tensor | None]:
        raise RuntimeError(
            "trying to differentiate twice a function that was marked with @once_differentiable"
        )


def _without_history(result: object, node: Node) -> object:
    """A gradient that says, when it is differentiated, that it cannot be."""
    if not isinstance(result, Tensor):
        return result
    made = result.detach()
    made._requires_grad = True
    made._grad_node, made._output_number = node, 0
    return made


def once_differentiable(function: Callable[..., object]) -> Callable[..., object]:
    """A `backward` whose result cannot be differentiated again: walking back there raises."""

    def wrapper(ctx: object, *grads: object) -> object:
        with no_grad():
            results = function(ctx, *grads)
        if not (is_recording() and any(isinstance(g, Tensor) and g.requires_grad for g in grads)):
            return results
        node = node_class(_RefusedNode, "Error")([])
        if isinstance(results, tuple):
            return tuple(_without_history(each, node) for each in results)
        return _without_history(results, node)

    return wrapper


__getattr__ = names_of(__name__)
