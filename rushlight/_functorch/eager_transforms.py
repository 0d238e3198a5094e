"""Functions that are derivatives of functions: `grad`, `vjp`, `jvp`, Jacobians.

Every transform makes leaves of its own from the inputs.  Where something outside wants gradients of
the results, because a transform outside runs or a tensor the function reached requires them, the
gradients are recorded as well; else they are given without history.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, Final

from ..autograd import grad as autograd_grad
from ..autograd.forward_ad import directions_wanted
from ..autograd.graph import disable_saved_tensors_hooks
from ..module_names import names_of
from ..ops.batching.batched import Batched
from ..ops.gradients.nodes.autograd import edge_of, is_wanted
from ..ops.gradients.recording.directed import begin_direction
from ..ops.memory.inference import is_for_inference, is_on
from ..ops.memory.made_since import Since
from ..ops.table.grad_mode import DIRECTIONS, TRANSFORMS, enable_grad, is_recording
from ..ops.tensors.tensor import Tensor
from ..ops.tensors.with_memory import with_memory
from ..utils._pytree import LeafSpec, TreeSpec, tree_flatten, tree_map, tree_unflatten
from .vmap import lifted_to_levels, without_class

__all__ = ["grad", "grad_and_value", "jvp", "linearize", "vjp"]


_HOOKS: Final = (
    "torch.func.{grad, vjp, jacrev, hessian} don't yet support saved tensor hooks. Please open an "
    "issue with your use case."
)

_CAPTURED: Final = (
    "During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to call "
    "in-place operation{} that would mutate a captured Tensor. This is not supported; please "
    "rewrite the function being transformed to explicitly accept the mutated Tensor(s) as inputs."
)

# --------------------------------------------------------------------------- inputs and outputs


def _wrap_tensor_for_grad(maybe_tensor: object, level: int) -> Tensor:
    """A tensor as a leaf of the transform at a level; history leads on where something outside may
    want it.  It is looked up at each call: packages that keep their classes put theirs in its place
    (pypose)."""
    value, links = _received(maybe_tensor)
    if links:
        return value.view_as(value)
    return _marked(_wanting(value.detach()), level)


def _directed(given: object, level: int) -> tuple[Tensor, Tensor]:
    """The same where directions are wanted: a tensor for walks back, and one for the function."""
    value, links = _received(given)
    start, made = begin_direction(_bare(value) if links else _bare(value).detach())
    start, made = _in_place_of_bare(value, start), _in_place_of_bare(value, made)
    return (start, made) if links else (_marked(start, level), made)


def _received(given: object) -> tuple[Tensor, bool]:
    """An input, without a user's class, and whether something outside may want its gradients."""
    if not isinstance(given, Tensor):
        raise ValueError(f"Thing passed to transform API must be Tensor, got {type(given)}")
    value = lifted_to_levels(without_class(with_memory(given)))
    links = is_recording() and is_wanted(_bare(value))
    if is_for_inference(_bare(value)._array) and not is_on() and not links:
        value = value.clone()
    return value, links


def _marked(leaf: Tensor, level: int) -> Tensor:
    vars(_bare(leaf))["_made_at"] = level
    return leaf


def _in_place_of_bare(value: Tensor, inner: Tensor) -> Tensor:
    """A tensor like another one, which may stand for slices, around another inner one."""
    if type(value) is Batched:
        return Batched.over(_in_place_of_bare(value._value, inner), value._level)
    return inner


def _bare(value: Tensor) -> Tensor:
    while type(value) is Batched:
        value = value._value
    return value


def _wanting(value: Tensor) -> Tensor:
    """A leaf whose gradients are wanted; it may stand for slices."""
    _bare(value)._want_gradients()
    return value


def _is_tensor(value: object) -> bool:
    return isinstance(value, Tensor)


def _is_recorded(value: Tensor) -> bool:
    return is_wanted(_bare(value))


def _reaches_others(outputs: Sequence[Tensor], depth: int) -> bool:
    """Whether something that requires gradients went into the outputs, besides leaves of transforms
    that lie as deep as this one or deeper."""
    todo = [edge[0] for each in outputs if (edge := edge_of(_bare(each))) is not None]
    seen = set()
    while todo:
        node = todo.pop()
        if node in seen:
            continue
        seen.add(node)
        following = [each[0] for each in node.next_functions if each[0] is not None]
        if not following and _made_at(node) < depth:
            return True
        todo += following
    return False


def _made_at(node: object) -> int:
    """How deep the transform lies that made the leaf of a node; 0 for other leaves."""
    leaf = getattr(node, "variable", None)
    depth: int = 0 if leaf is None else vars(leaf).get("_made_at", 0)
    return depth


class _Recorded:
    """A function's results and what is needed to walk back from them."""

    def __init__(self, func: Callable[..., object], inputs: object, forwards: bool = False) -> None:
        flat, self.spec = tree_flatten(inputs)
        self.outside = is_recording()  # which the transform around this one has seen to
        self.linked = self.outside and any(map(_is_recorded, filter(_is_tensor, flat)))
        self.depth, self.forwards = TRANSFORMS.depth + 1, forwards
        if forwards:
            leaves = [_directed(each, self.depth) for each in flat]
        else:
            leaves = [
                (leaf, leaf) for leaf in (_wrap_tensor_for_grad(each, self.depth) for each in flat)
            ]
        self.tensors = [each for each, _ in leaves]
        TRANSFORMS.depth += 1
        DIRECTIONS.wanted += forwards
        try:
            hooks = nullcontext() if forwards else disable_saved_tensors_hooks(_HOOKS)
            given = [_bare(each)._array for pair in leaves for each in pair]
            with enable_grad(), hooks, Since(given, _CAPTURED):
                self.result = func(tree_unflatten([each for _, each in leaves], self.spec))
        finally:
            TRANSFORMS.depth -= 1
            DIRECTIONS.wanted -= forwards

    def wants_more(self, outputs: Sequence[Tensor]) -> bool:
        """Whether gradients of these outputs are to be recorded."""
        if not self.outside:
            return False
        return self.linked or _reaches_others(outputs, self.depth)

    def gradients(
        self, outputs: Sequence[Tensor], grads: Sequence[Tensor | None] | None, keep: bool = False
    ) -> object:
        """The gradients of the inputs, in their structure."""
        wanted = any(g is not None and _is_recorded(g) for g in grads or ())
        create = (is_recording() and wanted) or self.creates(outputs)
        return tree_unflatten(self.flat_gradients(outputs, grads, create, keep), self.spec)

    def creates(self, outputs: Sequence[Tensor]) -> bool:
        """Whether gradients of these outputs by vectors without a history are to be recorded."""
        return is_recording() and self.wants_more(list(filter(_is_recorded, outputs)))

    def flat_gradients(
        self,
        outputs: Sequence[Tensor],
        grads: Sequence[Tensor | None] | None,
        create: bool,
        keep: bool = False,
    ) -> list[Tensor]:
        """The gradients of all inputs, recorded or not."""
        pairs = [
            (output, None if grads is None else grads[place])
            for place, output in enumerate(outputs)
            if _is_recorded(output)
        ]
        found: Sequence[Tensor | None] = [None] * len(self.tensors)
        if pairs:
            with enable_grad(), _passing(self.forwards):
                found = autograd_grad(
                    [output for output, _ in pairs],
                    self.tensors,
                    [g for _, g in pairs] if grads is not None else None,
                    retain_graph=create or keep,
                    create_graph=create,
                    allow_unused=True,
                )
        return [
            x.new_zeros(x.shape) if g is None else g
            for g, x in zip(found, self.tensors, strict=True)
        ]

    def shown(self, value: object) -> Any:
        """Results as they are given: without this transform's own history if nobody wants more."""
        tensors = list(filter(_is_tensor, tree_flatten(value)[0]))
        if self.wants_more(tensors):
            return value
        return tree_map(
            lambda each: without_class(each).detach() if _is_tensor(each) else each, value
        )


def _without_history(value: object) -> object:
    return without_class(value).detach() if isinstance(value, Tensor) else value


@contextmanager
def _passing(wanted: bool) -> Iterator[None]:
    """Say for a block whether its walk stands for directions."""
    before, DIRECTIONS.passes = DIRECTIONS.passes, wanted
    try:
        yield
    finally:
        DIRECTIONS.passes = before


def _parted(result: object, has_aux: bool, begin: str) -> tuple[object, object]:
    if not has_aux:
        return result, None
    if not (isinstance(result, tuple) and len(result) == 2):
        raise RuntimeError(
            f"{begin}: output of function f should be a tuple: (output, aux) if has_aux is True"
        )
    _check_tensors(tree_flatten(result[1])[0])
    return result


def _check_tensors(values: Sequence[object]) -> None:
    for each in values:
        if not isinstance(each, Tensor):
            raise RuntimeError(f"Expected tensors, got unsupported type {type(each)}")


# --------------------------------------------------------------------------- grad


def _chosen(args: tuple[object, ...], argnums: object) -> object:
    """The arguments of those numbers."""
    if isinstance(argnums, int):
        return args[_place(argnums, len(args))]
    if not isinstance(argnums, tuple):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    if not argnums:
        raise RuntimeError("argnums must be non-empty")
    places = [_place(each, len(args)) for each in argnums]
    if len(set(places)) != len(places):
        raise RuntimeError(f"argnums elements must be unique, got {tuple(places)}")
    return tuple(args[each] for each in places)


def _place(number: object, count: int) -> int:
    if not isinstance(number, int):
        raise RuntimeError(f"argnum must be int, got: {type(number)}")
    if not -count <= number < count:
        raise RuntimeError(f"Got argnum={number}, but only {count} positional inputs")
    return number % count


def _with_chosen(args: tuple[object, ...], argnums: object, values: object) -> tuple[object, ...]:
    found = list(args)
    if isinstance(argnums, int):
        found[argnums] = values
    elif isinstance(argnums, tuple) and isinstance(values, tuple):
        for place, value in zip(argnums, values, strict=True):
            found[place] = value
    return tuple(found)


def grad_and_value(
    func: Callable[..., object], argnums: object = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """A function that gives the gradient of `func`, and its value; `(value, aux)` with `has_aux`.

    Args:
        func: gives a tensor of one element, of no dimension.
        argnums: which arguments gradients are of, a number or several.
        has_aux: whether `func` gives something besides.

    Raises:
        RuntimeError: the result is no such tensor, or there are no such arguments.
    """

    @functools.wraps(func)
    def wrapped(*args: object, **kwargs: object) -> object:
        begin = "grad_and_value(f)(*args)"
        chosen = _chosen(args, argnums)
        run = _Recorded(lambda given: func(*_with_chosen(args, argnums, given), **kwargs), chosen)
        output, aux = _parted(run.result, has_aux, begin)
        if not isinstance(output, Tensor):
            raise RuntimeError(f"{begin}: Expected f(*args) to return a Tensor, got {type(output)}")
        if output.dim():
            raise RuntimeError(
                f"{begin}: Expected f(*args) to return a scalar Tensor, got tensor with "
                f"{output.dim()} dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
            )
        found = run.gradients([output], None)
        value = run.shown(output)
        return found, (value, run.shown(aux)) if has_aux else value

    return wrapped


def grad(
    func: Callable[..., object], argnums: object = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """A function that gives the gradient of `func`, or `(gradient, aux)` with `has_aux`.

    Raises:
        RuntimeError: as `grad_and_value`.
    """
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def wrapped(*args: object, **kwargs: object) -> object:
        found, value = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return wrapped


# --------------------------------------------------------------------------- vjp, jvp


def _checked_outputs(result: object, begin: str) -> tuple[list[Tensor], TreeSpec]:
    flat, spec = tree_flatten(result)
    if not flat or result is None:
        raise RuntimeError(
            f"{begin}: Expected f to be a function that has non-empty output (got output = {flat})"
        )
    for each in flat:
        if not isinstance(each, Tensor):
            raise RuntimeError(
                f"{begin}: expected f(*primals) to return only tensors, got unsupported type "
                f"{type(each)}"
            )
    return flat, spec


def _check_smooth(outputs: Sequence[Tensor]) -> None:
    for each in outputs:
        if not (each.is_floating_point() or each.is_complex()):
            raise RuntimeError(
                "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got "
                f"Tensor with dtype {each.dtype}"
            )


def _with_stars(spec: TreeSpec) -> str:
    """A structure as a tree of it is printed, with stars for leaves."""
    return repr(tree_unflatten([LeafSpec()] * spec.num_leaves, spec))


def vjp(func: Callable[..., object], *primals: object, has_aux: bool = False) -> Any:
    """The results of a function, and a function of a vector: its product with the Jacobian.

    Gives `(results, vjp_fn)`, or `(results, vjp_fn, aux)`; `vjp_fn` gives a tuple, a gradient for
    each input, or that of the only one.

    Raises:
        RuntimeError: the results are no tensors, or the vector has not their structure.
    """
    run = _Recorded(lambda given: func(*given), primals)
    result, aux = _parted(run.result, has_aux, "vjp(f, *primals)")
    flat, spec = _checked_outputs(result, "vjp(f, *primals)")
    _check_smooth(flat)

    def vjp_fn(cotangents: object, retain_graph: bool = True) -> object:
        vectors, got = tree_flatten(cotangents)
        if got != spec:
            raise RuntimeError(
                f"Expected pytree structure of cotangents to be the same as pytree structure of "
                f"outputs to the function. cotangents: {_with_stars(got)}, primal output: "
                f"{_with_stars(spec)}"
            )
        for number, (vector, each) in enumerate(zip(vectors, flat, strict=True)):
            if vector.shape != each.shape:
                raise RuntimeError(
                    f"Mismatch in shape: grad_output[{number}] has a shape of {vector.shape} and "
                    f"output[{number}] has a shape of {each.shape}."
                )
        return run.gradients(flat, vectors, keep=retain_graph)

    shown = run.shown(result)
    return (shown, vjp_fn, run.shown(aux)) if has_aux else (shown, vjp_fn)


def jvp(
    func: Callable[..., object],
    primals: tuple[Tensor, ...],
    tangents: tuple[Tensor, ...],
    *,
    strict: bool = False,
    has_aux: bool = False,
) -> tuple[Tensor, ...]:
    """The results of a function, and the product of its Jacobian with the tangents.

    The product is the gradient, by a vector, of that vector's product with the Jacobian.

    Raises:
        RuntimeError: primals and tangents are no tuples of the same structure.
    """
    begin = "jvp(f, primals, tangents)"
    if not isinstance(primals, tuple):
        raise RuntimeError(
            f"{begin}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals)."
        )
    directions = _checked_directions(primals, tangents, begin)
    run = _Recorded(lambda given: func(*given), primals, forwards=True)
    result, aux = _parted(run.result, has_aux, begin)
    flat, out_spec = _checked_outputs(result, begin)
    if strict:
        _check_dependent(run, flat)
    products = _pushed(run, flat, directions)
    shown = run.shown(result), tree_unflatten(products, out_spec)
    return (*shown, run.shown(aux)) if has_aux else shown


def _checked_directions(primals: object, tangents: object, begin: str) -> list[Tensor]:
    """Tangents, which are to be like the inputs.

    Raises:
        RuntimeError: they have another structure or size, or something is no tensor.
        ValueError: something is no tensor of floats or complex numbers.
    """
    inputs, wanted = tree_flatten(primals)
    directions, spec = tree_flatten(tangents)
    if spec != wanted:
        raise RuntimeError(
            f"{begin}: Expected primals and tangents to have the same python structure. For "
            "example, if primals is a tuple of 3 tensors, tangents also must be. Got primals with "
            f"structure {wanted} and tangents with structure {spec}"
        )
    if not inputs:
        raise RuntimeError(f"{begin}: Expected primals to contain at least one Tensor.")
    for name, values in (("primals", inputs), ("tangents", directions)):
        for each in values:
            if not isinstance(each, Tensor):
                raise RuntimeError(
                    f"{begin}: Expected {name} to only contain Tensors, got {type(each)}"
                )
    for pair in zip(inputs, directions, strict=True):
        for name, each in zip(("primal", "tangent"), pair, strict=True):
            check_smooth(each, name)
        if pair[0].shape != pair[1].shape:
            raise RuntimeError(
                "Trying to set a forward gradient that has a different size than that of the "
                "original Tensor, this is not supported. Tensor is of size "
                f"{list(pair[0].shape)} while the given forward gradient is of size "
                f"{list(pair[1].shape)}."
            )
    return directions


def check_smooth(value: Tensor, name: str) -> None:
    """See that forward gradients of a tensor can be.

    Raises:
        ValueError: it is neither of floats nor of complex numbers.
    """
    if not (value.is_floating_point() or value.is_complex()):
        raise ValueError(f"Expected {name} to be floating point or complex, but got: {value.dtype}")


def _check_dependent(run: _Recorded, outputs: Sequence[Tensor]) -> None:
    for each in outputs:
        found: Sequence[object] = [None]
        if _is_recorded(each):
            found = autograd_grad([each.sum()], run.tensors, retain_graph=True, allow_unused=True)
        if all(g is None for g in found):
            raise RuntimeError(
                "jvp(f, primals, tangents, strict=True): The output of f is independent of the "
                "inputs. This is not allowed with strict=True."
            )


def _pushed(run: _Recorded, flat: Sequence[Tensor], directions: Sequence[Tensor]) -> list[Tensor]:
    """The products of the Jacobian with directions, for each output."""
    create = run.wants_more(flat) or any(_is_recorded(each) for each in directions)
    products = []
    for output in flat:
        if not _is_recorded(output):
            products.append(output.new_zeros(output.shape))
            continue
        with enable_grad():
            vector = _wanting(lifted_to_levels(output.detach().new_zeros(output.shape)))
            with directions_wanted():
                found = autograd_grad(
                    [output], run.tensors, [vector], create_graph=True, allow_unused=True
                )
            pairs = [
                (g, d)
                for g, d in zip(found, directions, strict=True)
                if g is not None and _is_recorded(g)
            ]
            made: Tensor | None = None
            if pairs:
                (made,) = autograd_grad(
                    [g for g, _ in pairs], [vector], [lifted_to_levels(d) for _, d in pairs],
                    retain_graph=True, create_graph=create, allow_unused=True,
                )  # fmt: skip
        products.append(output.new_zeros(output.shape) if made is None else made)
    return products


def linearize(func: Callable[..., object], *primals: object) -> tuple[Any, Callable[..., Any]]:
    """The results of a function, and the linear function of tangents that `jvp` gives there."""
    run = _Recorded(lambda given: func(*given), primals, forwards=True)
    flat, spec = tree_flatten(run.result)
    if not all(isinstance(each, Tensor) for each in flat):
        _checked_outputs(run.result, "linearize(f, *primals)")

    def pushed(*tangents: object) -> object:
        directions, got = tree_flatten(tangents)
        if got != run.spec:
            raise RuntimeError(
                f"Expected the tangents {got} to have the same argspec as the primals {run.spec}"
            )
        for place, (direction, x) in enumerate(zip(directions, run.tensors, strict=True)):
            for name in ("shape", "dtype"):
                mine, wanted = getattr(direction, name), getattr(x, name)
                if mine != wanted:
                    raise RuntimeError(
                        f"tangent:{place} with {name} {mine} in flattened pytree doesn't match the "
                        f"{name} {wanted} of the corresponding primal."
                    )
        return tree_unflatten(_pushed(run, flat, directions), spec)

    return run.shown(run.result), pushed


__getattr__ = names_of(__name__)
