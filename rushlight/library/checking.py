"""Whether an operator does what its schema and its registrations say: `opcheck`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ..jit.trace import trace
from ..ops.eager.open_operators import OpenOperator
from ..ops.eager.packets import Overload, Packet
from ..ops.memory.versions import owner_of
from ..ops.table.grad_mode import no_grad
from ..ops.tensors.tensor import Tensor
from ..testing import assert_close

__all__ = ["OpCheckError", "opcheck"]

Tolerances = Mapping[str, float | None]

_DEFAULT: Final = (
    "test_schema",
    "test_autograd_registration",
    "test_faketensor",
    "test_aot_dispatch_dynamic",
)
_ALL: Final = (*_DEFAULT[:3], "test_aot_dispatch_static", _DEFAULT[3])


class OpCheckError(Exception):
    """An operator does something else than its schema or its registrations say."""


def opcheck(
    op: object,
    args: tuple[object, ...],
    kwargs: Mapping[str, object] | None = None,
    *,
    test_utils: str | Sequence[str] = _DEFAULT,
    raise_exception: bool = True,
    atol: float | None = None,
    rtol: float | None = None,
) -> dict[str, object]:
    """Run an operator on some arguments and look at what it does.

    `test_schema`: it writes what its schema says and nothing else, and gives nothing that shares
    memory unsaid.  `test_autograd_registration`: its gradient is registered, where an argument
    wants one.  `test_faketensor`: its fake gives the shapes and dtypes that it gives.
    `test_aot_dispatch_static` and `_dynamic`: a trace of it gives the same.

    Returns:
        For each test `"SUCCESS"` or, unless that is raised, the error.

    Raises:
        OpCheckError: a test fails.
        ValueError: `op` is no operator, or a test is unknown.
    """
    tests = (test_utils,) if isinstance(test_utils, str) else tuple(test_utils)
    if not set(tests) <= set(_ALL):
        raise ValueError(
            f"opcheck(op, ..., test_utils={tests}), expected test_utils to be subset of {_ALL} but "
            "it was not"
        )
    overload = _overload(op)
    found: dict[str, object] = {}
    for test in tests:
        try:
            _TESTS[test](overload, args, kwargs or {}, {"atol": atol, "rtol": rtol})
            found[test] = "SUCCESS"
        except Exception as error:
            if raise_exception:
                raise OpCheckError(f"opcheck(op, ...): {test} failed with {error}") from error
            found[test] = error
    return found


def _overload(op: object) -> Overload:
    op = getattr(op, "_opoverload", op)
    if isinstance(op, Packet):
        op = getattr(op, op.overloads()[0])
    if not isinstance(op, Overload):
        raise ValueError(f"opcheck(op, ...): Expected op to be an operator, but got {type(op)}")
    return op


def _copied(value: object) -> Any:
    if isinstance(value, Tensor):
        return value.detach().clone().requires_grad_(value.requires_grad)
    return type(value)(map(_copied, value)) if isinstance(value, (list, tuple)) else value


def _leaves(value: object) -> list[Tensor]:
    if isinstance(value, Tensor):
        return [value]
    return [t for each in value for t in _leaves(each)] if isinstance(value, (list, tuple)) else []


def _schema(
    op: Overload, args: tuple[object, ...], kwargs: Mapping[str, object], close: Tolerances
) -> None:
    given = [*_copied(list(args)), *_copied(list(kwargs.values()))]
    named = dict(zip(kwargs, given[len(args) :], strict=True))
    with no_grad():
        result = op(*given[: len(args)], **named)
    arguments = {a.name: a for a in op._entry.signature.arguments}
    marks = [*list(arguments.values())[: len(args)], *(arguments[name] for name in kwargs)]
    for mark, before, after in zip(marks, [*args, *kwargs.values()], given, strict=True):
        writes = mark.alias is not None and mark.alias.is_write
        pairs = zip(_leaves(before), _leaves(after), strict=True)
        if not writes and any(not _same(b, a) for b, a in pairs):
            raise RuntimeError(f"Argument {mark.name} is not defined as mutable but was mutated")
    if any(each.alias is not None for each in op._entry.signature.returns):
        return
    owners = {id(owner_of(t._array)) for t in _leaves(given)}
    if any(id(owner_of(t._array)) in owners for t in _leaves(result)):
        raise RuntimeError(f"a result of {op} shares memory with an argument, which is not said")


def _same(first: Tensor, second: Tensor) -> bool:
    kind = first._array.dtype.kind
    return bool(np.array_equal(first._array, second._array, equal_nan=kind in "fc"))


def _gradient(
    op: Overload, args: tuple[object, ...], kwargs: Mapping[str, object], close: Tolerances
) -> None:
    given = [*_copied(list(args)), *_copied(list(kwargs.values()))]
    entry = op._entry
    if not any(t.requires_grad for t in _leaves(given)) or not isinstance(entry, OpenOperator):
        return
    keys = ("Autograd", "AutogradCPU", "CompositeImplicitAutograd")
    if entry.gradient is None and not entry.kernel(keys):
        raise RuntimeError(f"{op} has no gradient registered, and an argument requires one")


def _fake(
    op: Overload, args: tuple[object, ...], kwargs: Mapping[str, object], close: Tolerances
) -> None:
    entry = op._entry
    if not isinstance(entry, OpenOperator) or entry.fake is None:
        return
    with no_grad():
        real = _leaves(op(*_copied(list(args)), **kwargs))
        fake = _leaves(entry.fake(*_copied(list(args)), **kwargs))
    looks = [[(tuple(t.shape), t.dtype) for t in each] for each in (real, fake)]
    if looks[0] != looks[1]:
        raise RuntimeError(f"the fake of {op} gives {looks[1]}, the operator {looks[0]}")


def _traced(
    op: Overload,
    args: tuple[object, ...],
    kwargs: Mapping[str, object],
    close: Mapping[str, float | None],
) -> None:
    places = [i for i, each in enumerate(args) if isinstance(each, Tensor)]
    if not places:
        return

    def call(*tensors: Tensor) -> object:
        given = list(args)
        for place, tensor in zip(places, tensors, strict=True):
            given[place] = tensor
        return op(*given, **kwargs)

    with no_grad():
        inputs = [_copied(args[place]) for place in places]
        if not _leaves(call(*_copied(inputs))):
            return
        traced = trace(call, tuple(_copied(inputs)), check_trace=False)
        for one, other in zip(
            _leaves(call(*_copied(inputs))), _leaves(traced(*_copied(inputs))), strict=True
        ):
            assert_close(other, one, equal_nan=True, rtol=close["rtol"], atol=close["atol"])


_TESTS: Final[dict[str, Callable[..., None]]] = {
    "test_schema": _schema,
    "test_autograd_registration": _gradient,
    "test_faketensor": _fake,
    "test_aot_dispatch_static": _traced,
    "test_aot_dispatch_dynamic": _traced,
}
