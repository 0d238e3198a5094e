"""`torch.autograd.functional`: Jacobians, Hessians and their products with vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..module_names import names_of
from ..ops.eager.dispatch import eager_function
from ..ops.gradients.nodes.edges import target_of
from ..ops.gradients.nodes.walk import run_backward
from ..ops.gradients.recording.tape import roots_of
from ..ops.table.grad_mode import enable_grad
from ..ops.tensors.tensor import Tensor
from .functional_checks import (
    RESULTS,
    check_direction,
    check_history,
    check_strategy,
    filled,
    single_result,
    tensors_of,
)

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

_stack = eager_function("aten::stack")


def joined(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors one after the other along the first dimension."""
    found: Tensor = eager_function("aten::cat")(list(tensors), 0)
    return found


def _fresh(inputs: Sequence[Tensor], create: bool, needs: bool = True) -> tuple[Tensor, ...]:
    """Tensors like the inputs, which gradients can be taken of: the inputs themselves are kept
    apart, since functions may know them."""
    return tuple(
        t.view_as(t) if create and t.requires_grad else t.detach().requires_grad_(needs)
        for t in inputs
    )


def _zeros(like: Sequence[Tensor]) -> list[Tensor]:
    return [t.detach().new_zeros(t.shape).requires_grad_() for t in like]


def gradients(
    outputs: Sequence[Tensor | None],
    inputs: Sequence[Tensor],
    grads: Sequence[Tensor | None],
    create: bool,
) -> list[Tensor | None]:
    """The gradients of outputs, those with history; None for inputs that are not reached."""
    pairs = [(o, g) for o, g in zip(outputs, grads, strict=True) if o is not None]
    pairs = [(o, g) for o, g in pairs if o.requires_grad]
    if not pairs:
        return [None] * len(inputs)
    edges = [target_of(t) for t in inputs]
    roots = roots_of([o for o, _ in pairs], [g for _, g in pairs])
    targets = [edge for edge in edges if edge is not None]
    found = run_backward(roots, targets, keep=True, create=create)
    return [None if edge is None else found.get(edge) for edge in edges]


def _direction(
    v: object, like: Sequence[Tensor], many: bool, create: bool, who: str, whose: str
) -> Sequence[Tensor | None]:
    """The vector that is multiplied with; None stands for 1.

    Raises:
        TypeError, RuntimeError: it does not fit, or is needed.
    """
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(
                f"The vector v can only be None if the {whose} a single Tensor with a single "
                "element."
            )
        return [None]
    _, vectors = tensors_of(v, "v", who)
    vectors = _fresh(vectors, create, needs=False)
    check_direction(vectors, like, many)
    return vectors


_RETURNS = "user-provided function returns"
_INPUT = "input to the user-provided function is"


def _given_back(found: Sequence[Tensor], many: bool, create: bool) -> object:
    """Results as they are handed out: with history if that was asked for, a tuple or one."""
    shown = tuple(found) if create else tuple(t.detach() for t in found)
    return shown if many else shown[0]


def vjp(
    func: Callable[..., object],
    inputs: object,
    v: object = None,
    create_graph: bool = False,
    strict: bool = False,
) -> Any:
    """A function's results, and the product of a vector with its Jacobian.

    Args:
        func: takes tensors, and gives a tensor or a tuple of them.
        inputs: the tensor, or tuple of them, to call it with.
        v: of the sizes of the results; may be left out for one of one element.
        create_graph: whether what is found can be differentiated.
        strict: whether it is an error that a result does not depend on an input.

    Raises:
        TypeError: other things than tensors.
        RuntimeError: `v` does not fit, or strict mode found independence.
    """
    many, given = tensors_of(inputs, "inputs", "vjp")
    with enable_grad():
        fresh = _fresh(given, create_graph)
        several, results = tensors_of(func(*fresh), RESULTS, "vjp")
        check_history(results, "outputs", strict)
        vectors = _direction(v, results, several, create_graph, "vjp", _RETURNS)
        found = gradients(results, fresh, vectors, create_graph)
        products = filled(found, fresh, strict, create_graph, "back")
    shown = _given_back(results, several, create_graph)
    return shown, _given_back(products, many, create_graph)


def jvp(
    func: Callable[..., object],
    inputs: object,
    v: object = None,
    create_graph: bool = False,
    strict: bool = False,
) -> Any:
    """A function's results, and the product of its Jacobian with a vector (see `vjp`).

    It is the gradient, by `u`, of the product of `u` with the Jacobian, which is linear in `u`.

    Raises:
        TypeError: other things than tensors.
        RuntimeError: `v` does not fit, or strict mode found independence.
    """
    many, given = tensors_of(inputs, "inputs", "jvp")
    with enable_grad():
        fresh = _fresh(given, create_graph)
        vectors = _direction(v, fresh, many, create_graph, "jvp", _INPUT)
        several, results = tensors_of(func(*fresh), RESULTS, "jvp")
        check_history(results, "outputs", strict)
        dummies = _zeros(results)
        products = gradients(results, fresh, dummies, True)
        check_history(products, "grad_inputs", strict)
        found = gradients(products, dummies, _ones_for_none(vectors, fresh), create_graph)
        pushed = filled(found, results, strict, create_graph, "back_trick")
    shown = _given_back(results, several, create_graph)
    return shown, _given_back(pushed, several, create_graph)


def _ones_for_none(vectors: Sequence[Tensor | None], like: Sequence[Tensor]) -> list[Tensor]:
    return [
        t.detach().new_ones(t.shape) if v is None else v for v, t in zip(vectors, like, strict=True)
    ]


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
        NotImplementedError: the forward mode without `vectorize`, or with `create_graph`.
        TypeError: other things than tensors.
        RuntimeError: strict mode found independence, or does not go with what else is asked.
    """
    check_strategy(strategy, vectorize, create_graph, strict)
    many, given = tensors_of(inputs, "inputs", "jacobian")
    with enable_grad():
        fresh = _fresh(given, create_graph)
        several, results = tensors_of(func(*fresh), RESULTS, "jacobian")
        check_history(results, "outputs", strict)
        if strict and vectorize:
            raise RuntimeError(
                "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not "
                "supported together. Please either set `strict=False` or `vectorize=False`."
            )
        table = [
            _given_back(_rows(number, result, fresh, create_graph, strict), many, create_graph)
            for number, result in enumerate(results)
        ]
    return tuple(table) if several else table[0]


def _rows(
    number: int, output: Tensor, inputs: Sequence[Tensor], create: bool, strict: bool
) -> list[Tensor]:
    """The Jacobian of one result, for each input."""
    columns: list[list[Tensor]] = [[] for _ in inputs]
    flat = output.reshape([-1])
    for place in range(flat.shape[0]):
        found = gradients([flat[place]], inputs, [None], create)
        for at, gradient in enumerate(found):
            if gradient is None and strict:
                raise RuntimeError(
                    f"Output {number} of the user-provided function is independent of input {at}. "
                    "This is not allowed in strict mode."
                )
        row = filled(found, inputs, strict, create, "back")
        for column, gradient in zip(columns, row, strict=True):
            column.append(gradient)
    return [
        _stack(column).reshape([*output.shape, *t.shape])
        if column
        else t.new_zeros([*output.shape, *t.shape])
        for column, t in zip(columns, inputs, strict=True)
    ]


def hessian(
    func: Callable[..., object],
    inputs: object,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The matrix of second derivatives of a function that gives one number (see `jacobian`).

    Raises:
        AssertionError: `outer_jacobian_strategy` is another word.
        TypeError: other things than tensors.
        RuntimeError: more than one number, or strict mode found independence.
    """
    many, given = tensors_of(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')

    def number(*args: Tensor) -> Tensor:
        return single_result(func(*args), "hessian", strict).squeeze()

    def first(*args: Tensor) -> tuple[Tensor, ...]:
        found: tuple[Tensor, ...] = jacobian(number, args, create_graph=True)
        check_history(found, "jacobian", strict)
        return found

    table = jacobian(first, given, create_graph, strict, vectorize, outer_jacobian_strategy)
    return table if many else table[0][0]


def vhp(
    func: Callable[..., object],
    inputs: object,
    v: object = None,
    create_graph: bool = False,
    strict: bool = False,
) -> Any:
    """A function's result, and the product of a vector with its Hessian (see `vjp`).

    Raises:
        TypeError: other things than tensors.
        RuntimeError: more than one number, `v` does not fit, or strict mode found independence.
    """
    return _with_hessian("vhp", func, inputs, v, create_graph, strict)


def hvp(
    func: Callable[..., object],
    inputs: object,
    v: object = None,
    create_graph: bool = False,
    strict: bool = False,
) -> Any:
    """A function's result, and the product of its Hessian with a vector (see `vjp`).

    Raises:
        TypeError: other things than tensors.
        RuntimeError: more than one number, `v` does not fit, or strict mode found independence.
    """
    return _with_hessian("hvp", func, inputs, v, create_graph, strict)


def _with_hessian(
    who: str, func: Callable[..., object], inputs: object, v: object, create: bool, strict: bool
) -> object:
    many, given = tensors_of(inputs, "inputs", who)
    with enable_grad():
        fresh = _fresh(given, create)
        vectors = _direction(v, fresh, many, create, who, _INPUT)
        output = func(*fresh)
        result = single_result(output, who, strict)
        first = gradients([result], fresh, [None], True)
        check_history(first, "jacobian", strict)
        vectors = _ones_for_none(vectors, fresh)
        if who == "vhp":
            found = gradients(first, fresh, vectors, create)
            products = filled(found, fresh, strict, create, "double_back")
        else:
            dummies = _zeros(fresh)
            second = gradients(first, fresh, dummies, True)
            check_history(first, "hessian", strict)
            found = gradients(second, dummies, vectors, create)
            products = filled(found, fresh, strict, create, "double_back_trick")
    shown = _given_back([result], isinstance(output, tuple), create)
    return shown, _given_back(products, many, create)


__getattr__ = names_of(__name__)
