"""Comparing gradients with finite differences."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..module_names import names_of
from ..ops.eager.dispatch import eager_function
from ..ops.memory.dtype import DTYPES, STRIDED, Array
from ..ops.memory.overlap import overlaps_itself
from ..ops.tensors.tensor import Tensor
from ..ops.tensors.with_memory import with_memory
from .functional import gradients
from .gradient_rules import GradcheckError, check_directions, check_rules
from .jacobians import (
    Checked,
    Function,
    differences,
    directed,
    outputs_of,
    parts,
    walked_back,
)

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]


class _Bounds(NamedTuple):
    """How far differences reach, and how much two values may differ."""

    eps: float
    atol: float
    rtol: float
    again: float
    """How much two walks back may differ."""
    fast: bool
    """Whether a product of each Jacobian with vectors is compared, rather than all of it."""


class _Ways(NamedTuple):
    """What is checked: gradients, directions, and what else of each."""

    backward: bool
    forward: bool
    undefined: bool
    batched: bool
    batched_forward: bool

    def check(self) -> None:
        """Raises: AssertionError: neither is checked, or more is of what is not."""
        _check_one_of(check_forward_ad=self.forward, check_backward_ad=self.backward)
        _check_needed("check_backward_ad", self.backward, {"check_batched_grad": self.batched})
        _check_needed(
            "check_forward_ad", self.forward, {"check_batched_forward_grad": self.batched_forward}
        )

    def go(
        self, func: Function, given: list[object], checked: Sequence[Checked], bounds: _Bounds
    ) -> None:
        """Raises: GradcheckError: something does not agree."""
        _check_jacobians(func, given, checked, bounds, self.backward, self.forward)
        if self.forward:
            batched = self.batched_forward
            check_directions(func, given, checked, undefined=self.undefined, batched=batched)
        if self.backward:
            check_rules(func, given, checked, undefined=self.undefined, batched=self.batched)


def _several(value: Any) -> list[Any]:
    return [value] if isinstance(value, Tensor) else list(value)


def gradcheck(
    func: Function,
    inputs: object,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Whether the gradients of a function agree with finite differences.

    Args:
        func: takes the inputs, gives one tensor or several.
        inputs: the arguments; those that require gradients are checked (use float64).
        eps: how far the differences reach.
        atol: how much two values may differ, and
        rtol: how much relative to the value.
        raise_exception: whether to raise rather than to return False.
        nondet_tol: how much two walks back may differ.
        check_undefined_grad: whether results without gradients are tried, too.
        check_grad_dtypes: whether gradients must have the dtypes of their inputs, as they have.
        check_batched_grad: whether several gradients at once are compared with one by one.
        check_batched_forward_grad: the same of directions.
        check_forward_ad: whether directions are compared with differences.
        check_backward_ad: whether gradients are.
        fast_mode: whether the Jacobians' products with random vectors are compared instead.
        masked: whether of sparse inputs only the elements that are there count.

    Raises:
        GradcheckError: they do not agree.
        ValueError: no input requires gradients, or options contradict each other.
        AssertionError: neither way is to be checked, or sizes of results depend on elements.
        RuntimeError: an input has several elements in one place.
    """
    ways = _Ways(
        check_backward_ad,
        check_forward_ad,
        check_undefined_grad,
        check_batched_grad,
        check_batched_forward_grad,
    )
    ways.check()
    given, checked = _taken(_several(inputs), bool(masked))
    bounds = _Bounds(eps, atol, rtol, nondet_tol, fast_mode)
    try:
        ways.go(func, given, checked, bounds)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _taken(given: list[object], masked: bool) -> tuple[list[object], list[Checked]]:
    """Inputs, and those to check; of sparse ones all elements unless they are masked."""
    checked = _checked_inputs(given)
    return (given, checked) if masked else _with_all_elements(given, checked)


def _check_one_of(**ways: bool) -> None:
    if not any(ways.values()):
        raise AssertionError(f"Expected at least one of {' or '.join(ways)} to be True")


def _check_needed(way: str, is_taken: bool, further: Mapping[str, bool]) -> None:
    """What is checked `further` belongs to a way of checking."""
    for name, is_set in further.items():
        if is_set and not is_taken:
            raise AssertionError(f"Setting {name}=True requires {way} to be True")


def _checked_inputs(given: Sequence[object]) -> list[Checked]:
    tensors = [(place, each) for place, each in enumerate(given) if isinstance(each, Tensor)]
    checked = [
        Checked(place, number, each)
        for number, (place, each) in enumerate(tensors)
        if each.requires_grad
    ]
    if not checked:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them "
            "have requires_grad=True."
        )
    for each in checked:
        if each.tensor.dtype.scalar_name not in ("Double", "ComplexDouble"):
            warnings.warn(
                f"Input #{each.number} requires gradient and is not a double precision floating "
                "point or complex. This check will likely fail if all the inputs are not of double "
                "precision floating point or complex. ",
                stacklevel=3,
            )
        if overlaps_itself(each.memory):
            raise RuntimeError(
                f"The {each.number}th input has a dimension with stride 0. gradcheck only supports "
                "inputs that are non-overlapping to be able to compute the numerical gradients "
                "correctly. You should call .contiguous on the input before passing it to "
                "gradcheck."
            )
    return checked


def _with_all_elements(
    given: list[object], checked: list[Checked]
) -> tuple[list[object], list[Checked]]:
    """The same with tensors by coordinates that have all elements, zeros, too."""
    args, found = list(given), []
    for each in checked:
        tensor = each.tensor
        if tensor.layout is not STRIDED and tensor.is_sparse:
            dense = tensor.detach().to_dense()
            full = dense.new_ones(dense.shape).to_sparse(tensor.sparse_dim())
            values = dense[tuple(full._indices().unbind())]
            tensor = _by_coordinates(full._indices(), values, dense.shape).requires_grad_()
            args[each.place] = tensor
        found.append(Checked(each.place, each.number, tensor))
    return args, found


_by_coordinates: Callable[..., Tensor] = eager_function("aten::sparse_coo_tensor")


# --------------------------------------------------------------------------- Jacobians


def _check_jacobians(
    func: Function,
    given: Sequence[object],
    checked: Sequence[Checked],
    bounds: _Bounds,
    backward: bool,
    forward: bool,
) -> None:
    outputs = outputs_of(func, given)
    if any(each.layout is not STRIDED for each in outputs):
        raise ValueError(
            "Sparse output is not supported at gradcheck yet. Please call "
            "to_dense(masked_grad=...) on the output of fn for gradcheck."
        )
    draw = np.random.default_rng(0)
    along = [_direction(each.memory, draw) if bounds.fast else None for each in checked]
    expected = [
        differences(func, given, each, bounds.eps, way)
        for each, way in zip(checked, along, strict=True)
    ]
    if not outputs or not any(each.requires_grad for each in outputs):
        if any(np.abs(each).max(initial=0) > bounds.atol for row in expected for each in row):
            raise GradcheckError("Numerical gradient for function expected to be zero")
        if outputs and backward:
            return
    if backward:
        _compare_walks(checked, bounds, expected, along, outputs)
    if forward:
        for each, way, columns in zip(checked, along, expected, strict=True):
            found = directed(func, given, each, way, checked)
            for number, (have, want) in enumerate(zip(found, columns, strict=True)):
                _compare(have, want, bounds, (number, each), outputs[number], forward=True)


def _direction(like: Array, draw: np.random.Generator) -> Array:
    numbers = draw.uniform(0.5, 1.5, parts(like).size)
    return numbers / max(float(np.sqrt((numbers**2).sum())), 1e-30)


def _compare_walks(
    checked: Sequence[Checked],
    bounds: _Bounds,
    expected: Sequence[Sequence[Array]],
    along: Sequence[Array | None],
    outputs: Sequence[Tensor],
) -> None:
    """Compare what walks back give with differences.

    Raises:
        GradcheckError: they do not agree, or a second walk gives something else.
    """
    draw = np.random.default_rng(1)
    for number, output in enumerate(outputs):
        row = _direction(with_memory(output.detach())._array, draw) if bounds.fast else None
        first = walked_back(output, checked, row)
        for each, have, column, way in zip(checked, first, expected, along, strict=True):
            want = column[number]
            if row is None:
                _compare(have, want, bounds, (number, each), output)
                continue
            assert way is not None
            limit = bounds._replace(atol=bounds.atol * float(np.abs(row).sum() * np.abs(way).sum()))
            _compare((have * way).sum(), (row * want).sum(), limit, (number, each), output)
        second = walked_back(output, checked, row)
        for one, other in zip(first, second, strict=True):
            if np.abs(one - other).max(initial=0) > bounds.again:
                raise GradcheckError(
                    "Backward is not reentrant, i.e., running backward with same input and "
                    "grad_output multiple times gives different values, although analytical "
                    "gradient matches numerical gradient.The tolerance for nondeterminism was "
                    f"{bounds.again}."
                )


def _compare(
    have: Array,
    want: Array,
    bounds: _Bounds,
    which: tuple[int, Checked],
    output: Tensor,
    forward: bool = False,
) -> None:
    """Compare two Jacobians, or products with them.

    Raises:
        GradcheckError: they do not agree.
    """
    close = np.isclose(have, want, bounds.rtol, bounds.atol, equal_nan=True)
    if np.all(close):
        return
    number, each = which
    kind, element = (
        (each.memory, "inputs") if forward else (with_memory(output.detach())._array, "outputs")
    )
    prefix = ""
    if kind.dtype.kind == "c":
        part = "real"
        if np.ndim(close) == 2:
            halves = close[:, 1::2] if forward else close[1::2]
            part = "real" if np.all(halves) else "imaginary"
        prefix = f"While considering the {part} part of complex {element} only, "
    mode = "computed with forward mode " if forward else ""
    raise GradcheckError(
        f"{prefix}Jacobian {mode}mismatch for output {number} with respect to input {each.number},"
        f"\nnumerical:{_shown(want)}\nanalytical:{_shown(have)}\n"
    )


def _shown(numbers: object) -> str:
    return repr(Tensor._of(np.asarray(numbers)))


# --------------------------------------------------------------------------- of gradients


def gradgradcheck(
    func: Callable[..., object],
    inputs: object,
    grad_outputs: object = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """Whether the gradients of a function's gradients agree with finite differences.

    Args:
        grad_outputs: the gradients to begin with; by default random ones of the default generator.
        gen_non_contig_grad_outputs: whether these shall have gaps.
        check_fwd_over_rev: whether directions of gradients are compared.
        check_rev_over_rev: whether gradients of gradients are.

    The rest is as for `gradcheck`.

    Raises:
        GradcheckError: they do not agree.
        AssertionError: neither is to be checked, or options contradict each other.
    """
    _check_one_of(check_fwd_over_rev=check_fwd_over_rev, check_rev_over_rev=check_rev_over_rev)
    further = {
        "check_undefined_grad": check_undefined_grad,
        "check_batched_grad": check_batched_grad,
    }
    _check_needed("check_rev_over_rev", check_rev_over_rev, further)
    given = _several(inputs)
    outputs = outputs_of(func, given)
    if grad_outputs is None:
        grads = [_drawn(each, gen_non_contig_grad_outputs) for each in outputs]
    else:
        grads = _several(grad_outputs)
    return gradcheck(
        _of_gradients(func, given), [*given, *grads], eps=eps, atol=atol, rtol=rtol,
        raise_exception=raise_exception, nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad, check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad, check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev, fast_mode=fast_mode, masked=masked,
    )  # fmt: skip


def _of_gradients(
    func: Callable[..., object], given: Sequence[object]
) -> Callable[..., tuple[Tensor, ...]]:
    """The function of inputs and gradients of its outputs that gives the gradients of the inputs,
    for such inputs as are given."""

    def of_gradients(*args: Tensor) -> tuple[Tensor, ...]:
        fresh = [a.requires_grad_() if _was_wanted(a, g) else a for a, g in zip(args, given)]  # noqa: B905
        results = outputs_of(func, fresh)
        wanted = [a for a, g in zip(fresh, given, strict=True) if _is_checked(g)]
        found = gradients(results, wanted, args[len(given) :], create=True)
        return tuple(grad for grad in found if grad is not None)

    return of_gradients


def _is_checked(value: object) -> bool:
    return isinstance(value, Tensor) and value.requires_grad


def _was_wanted(now: object, before: object) -> bool:
    """Whether an input has lost that it requires gradients: it came with a direction instead."""
    return _is_checked(before) and isinstance(now, Tensor) and not now.requires_grad


def _drawn(output: Tensor, has_gaps: bool) -> Tensor:
    from ..testing.random_tensors import make_tensor  # few programs check gradients

    is_exact = not (output.is_floating_point() or output.is_complex())
    return make_tensor(
        output.shape,
        dtype=DTYPES["float64"] if is_exact else output.dtype,
        device=output.device,
        low=-1,
        high=1,
        requires_grad=True,
        noncontiguous=has_gaps,
    )


__getattr__ = names_of(__name__)
