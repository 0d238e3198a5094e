"""`torch.autograd.functional`: Jacobians, Hessians and their products with vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..ops.eager.dispatch import eager_function
from ..ops.gradients.autograd import Node, edge_of
from ..ops.gradients.tape import roots_of
from ..ops.gradients.walk import run_backward
from ..ops.table.grad_mode import enable_grad
from ..ops.tensors.tensor import Tensor

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]


def joined(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors one after the other along the first dimension."""
    found: Tensor = eager_function("aten::cat")(list(tensors), 0)
    return found


def _tuple(value: Any) -> tuple[Any, ...]:
    return (value,) if isinstance(value, Tensor) else tuple(value)


def _fresh(inputs: object, create: bool) -> tuple[Tensor, ...]:
    """The inputs as tensors that gradients can be taken of."""
    return tuple(
        t.view_as(t) if create and t.requires_grad else t.detach().requires_grad_(True)
        for t in _tuple(inputs)
    )


def _gradients(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    grads: Sequence[Tensor | None],
    create: bool,
) -> list[Tensor]:
    pairs = [(o, g) for o, g in zip(outputs, grads, strict=True) if o.requires_grad]
    edges = [edge_of(t) for t in inputs]
    found: dict[tuple[Node, int], Tensor] = {}
    if pairs:
        roots = roots_of([o for o, _ in pairs], [g for _, g in pairs])
        targets = [edge for edge in edges if edge is not None]
        found = run_backward(roots, targets, keep=True, create=create)
    return [
        found[e] if e in found else t.new_zeros(t.shape) for e, t in zip(edges, inputs, strict=True)
    ]


def _check_strategy(strategy: str, vectorize: bool) -> None:
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your '
            'function has more outputs than inputs, "forward-mode" tends to be more performant. '
            'Otherwise, prefer to use "reverse-mode".'
        )
    if strategy == "forward-mode" and not vectorize:
        raise NotImplementedError(
            "Computing Jacobian using forward-AD or forward-over-reverse Hessian is"
            "only implemented for `vectorize=True`."
        )


def _check_history(outputs: Sequence[Tensor]) -> None:
    for number, each in enumerate(outputs):
        if not each.requires_grad:
            raise RuntimeError(
                f"Output {number} of the user-provided function does not require gradients. The "
                "outputs must be computed in a differentiable manner from the input when running "
                "in strict mode."
            )


def _only_element(output: object) -> object:
    if isinstance(output, Tensor) and output.numel() != 1:
        raise RuntimeError(
            "The Tensor returned by the function given to hessian should contain a single element"
        )
    return output


def jacobian(
    func: Callable[..., object],
    inputs: object,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The Jacobian of a function: of the shape of the output, then that of the input.

    Rows are computed one by one; `vectorize` and `strategy` say how torch would do it.

    Raises:
        AssertionError: `strategy` is another word.
        NotImplementedError: the forward mode without `vectorize`.
        RuntimeError: an output needs no gradient, and `strict` is set.
    """
    _check_strategy(strategy, vectorize)
    with enable_grad():
        given = _fresh(inputs, create_graph)
        outputs = func(*given)
        results = _tuple(outputs)
        if strict:
            _check_history(results)
        table = []
        for output in results:
            flat = output.reshape([-1])
            columns: list[list[Tensor]] = [[] for _ in given]
            for place in range(flat.shape[0]):
                found = _gradients([flat[place]], given, [None], create_graph)
                for column, gradient in zip(columns, found, strict=True):
                    column.append(gradient)
            table.append(
                tuple(
                    eager_function("aten::stack")(column).reshape([*output.shape, *t.shape])
                    if column
                    else t.new_zeros([*output.shape, *t.shape])
                    for column, t in zip(columns, given, strict=True)
                )
            )
    rows = [row[0] if isinstance(inputs, Tensor) else row for row in table]
    return rows[0] if isinstance(outputs, Tensor) else tuple(rows)


def hessian(
    func: Callable[..., object],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The matrix of second derivatives of a function that gives one number."""

    def first(*args: object) -> Any:
        given = args if len(args) > 1 else args[0]
        return jacobian(lambda *values: _only_element(func(*values)), given, create_graph=True)

    single = isinstance(inputs, Tensor)
    if not single and len(inputs) == 1:
        return ((jacobian(first, inputs[0], create_graph),),)
    return jacobian(first, inputs, create_graph)


def vjp(
    func: Callable[..., object], inputs: object, v: object = None, create_graph: bool = False,
    strict: bool = False,
) -> Any:  # fmt: skip
    """A function's results, and the product of a vector with its Jacobian."""
    with enable_grad():
        given = _fresh(inputs, create_graph)
        outputs = func(*given)
        results = _tuple(outputs)
        grads = [None] * len(results) if v is None else list(_tuple(v))
        found = _gradients(results, given, grads, create_graph)
    shown = outputs if create_graph else _detached(outputs)
    return shown, found[0] if isinstance(inputs, Tensor) else tuple(found)


def jvp(
    func: Callable[..., object], inputs: Any, v: Any = None, create_graph: bool = False,
    strict: bool = False,
) -> Any:  # fmt: skip
    """A function's results, and the product of its Jacobian with a vector.

    Raises:
        RuntimeError: `v` is left out though the input is more than one element, or has other sizes.
    """
    given = _tuple(inputs)
    if v is None:
        if len(given) != 1 or given[0].numel() != 1:
            raise RuntimeError(
                "The vector v can only be None if the input to the user-provided function is a "
                "single Tensor with a single element."
            )
        vectors: tuple[Tensor, ...] = (given[0].new_ones(given[0].shape),)
    else:
        vectors = _tuple(v)
    for vector, each in zip(vectors, given, strict=True):
        if vector.shape != each.shape:
            raise RuntimeError(
                f"v has invalid size: should be {each.shape} but got {vector.shape}."
            )
    with enable_grad():
        fresh = _fresh(inputs, create_graph)
        outputs = func(*fresh)
        results = _tuple(outputs)
        dummies = [each.detach().new_zeros(each.shape).requires_grad_() for each in results]
        products = _gradients(results, fresh, dummies, True)
        found = _gradients(products, dummies, vectors, create_graph)
    shown = outputs if create_graph else _detached(outputs)
    return shown, found[0] if isinstance(outputs, Tensor) else tuple(found)


def _detached(outputs: Any) -> Any:
    if isinstance(outputs, Tensor):
        return outputs.detach()
    return tuple(t.detach() for t in outputs)


def vhp(
    func: Callable[..., Any], inputs: object, v: object = None, create_graph: bool = False,
    strict: bool = False,
) -> Any:  # fmt: skip
    """A function's result, and the product of a vector with its Hessian."""
    with enable_grad():
        given = _fresh(inputs, create_graph)
        output = func(*given)
        first = _gradients([output], given, [None], True)
        vectors = [None] * len(given) if v is None else list(_tuple(v))
        found = _gradients(first, given, vectors, create_graph)
    return _detached(output), found[0] if isinstance(inputs, Tensor) else tuple(found)


hvp = vhp
