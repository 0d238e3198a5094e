"""What holds for every operator: who shares memory, what is changed, strides, empty tensors.

The arguments are those of the recorded samples: each operator that a sample reaches is noted with
what it was given, and then called again in other ways, through its table entry.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
from hearing import heard
from hypothesis import given, settings
from hypothesis import strategies as st
from recorded_operators import arguments, entries, resolve

from rushlight.ops.memory.errors import OperatorError
from rushlight.ops.memory.quiet import QUIET, enter, leave
from rushlight.ops.table.table import TABLE, Operator

pytestmark = pytest.mark.filterwarnings("ignore")

Array = np.ndarray

RANDOM = frozenset(
    "bernoulli bernoulli_ cauchy_ dropout dropout_ alpha_dropout alpha_dropout_ exponential_ "
    "feature_alpha_dropout feature_alpha_dropout_ feature_dropout feature_dropout_ geometric_ "
    "log_normal_ multinomial native_dropout normal normal_ poisson rand rand_like randint "
    "randint_like randn randn_like random_ randperm rrelu rrelu_ rrelu_with_noise uniform_ "
    "rrelu_with_noise_functional rrelu_with_noise_ empty empty_like empty_strided new_empty "
    "new_empty_strided empty_permuted "
    "fractional_max_pool2d fractional_max_pool3d".split()
)
DOCUMENTED = (OperatorError, IndexError, NotImplementedError)
"""What an operator may raise."""
BY_STRIDES = frozenset(
    "as_strided as_strided_copy as_strided_scatter as_strided_ is_contiguous stride "
    "storage_offset set_ view view_as view_copy resize_ resize_as_ is_set_to "
    "view_as_complex squeeze_ unsqueeze_ t_ transpose_ swapaxes_ swapdims_ "
    "native_group_norm".split()
)
"""Operators whose result depends on the strides of their input, or that change them."""


@cache
def calls() -> dict[str, tuple[Operator, list[Any]]]:
    """By full name: an operator that the samples reach, and arguments it was called with."""
    found: dict[str, tuple[Operator, list[Any]]] = {}

    def note(entry: Operator, values: Sequence[Any]) -> None:
        if entry.full_name not in found and len(values) == len(entry.signature.arguments):
            found[entry.full_name] = entry, fresh(values)

    with heard(note):
        for name, samples in entries():
            for sample in samples:
                if "r" in sample and name != "bernoulli":
                    args, kwargs = arguments(sample)
                    resolve(name)(*args, **kwargs)
    add_twins(found)
    return found


def add_twins(found: dict[str, tuple[Operator, list[Any]]]) -> None:
    """The in-place forms of what is there, with the same arguments."""
    for entry, values in list(found.values()):
        twin = TABLE.operator(f"{entry.name}_.{entry.overload}".rstrip("."))
        if twin is None or twin.full_name in found:
            continue
        if len(twin.signature.arguments) == len(values):
            found[twin.full_name] = twin, values


def fresh(value: Any) -> Any:
    """The same arguments in new memory, with the strides they had."""
    if isinstance(value, np.ndarray):
        made = np.empty_like(value)
        made[...] = value
        return made
    if isinstance(value, (list, tuple)):
        return type(value)(map(fresh, value))
    return value if value is None or isinstance(value, (int, float, str)) else copy.copy(value)


def spread(value: Any) -> Any:
    """The same arguments with gaps between the elements of every tensor."""
    if isinstance(value, np.ndarray) and value.ndim:
        return np.repeat(value, 2, -1)[..., ::2]
    if isinstance(value, (list, tuple)):
        return type(value)(map(spread, value))
    return value


def emptied(value: Any) -> Any:
    """The arguments with no elements along the first dimension of every tensor."""
    if isinstance(value, np.ndarray) and value.ndim:
        return value[:0].copy()
    if isinstance(value, (list, tuple)):
        return type(value)(map(emptied, value))
    return value


def narrowed(value: Any) -> Any:
    """The arguments with no elements along the last dimension of every tensor."""
    return value[..., :0].copy() if isinstance(value, np.ndarray) and value.ndim else value


def vanished(value: Any) -> Any:
    """The arguments with an empty vector for every tensor."""
    return np.zeros(0, value.dtype) if isinstance(value, np.ndarray) else value


def arrays(value: Any) -> list[Array]:
    """The tensors among values."""
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, (list, tuple)):
        return [array for each in value for array in arrays(each)]
    return []


def run(entry: Operator, values: list[Any]) -> Any:
    state = enter(QUIET)
    try:
        return entry.forward(*values)
    finally:
        leave(state)


def equal(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray):
        if a.dtype != b.dtype or a.shape != b.shape:
            return False
        if a.dtype.kind in "biu":
            return np.array_equal(a, b)
        wide = np.complex128 if a.dtype.kind == "c" else np.float64
        x, y = a.astype(wide), b.astype(wide)
        return np.allclose(x, y, 1e-2 if a.dtype.itemsize == 2 else 1e-4, 1e-4, equal_nan=True)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(equal, a, b))
    return a == b or (a != a and b != b)


names = st.deferred(lambda: st.sampled_from(sorted(calls())))


def each_operator(check: Any) -> None:
    """Call a check for every operator; one message names all that fail."""
    wrong = []
    for name in sorted(calls()):
        entry, values = calls()[name]
        if entry.name.partition("::")[2] not in RANDOM and not check(entry, fresh(values)):
            wrong.append(name)
    assert not wrong


def test_samples_reach_most_operators_with_tensors() -> None:
    assert len(calls()) > 600


def test_only_what_the_schema_says_is_changed() -> None:
    def keeps(entry: Operator, values: list[Any]) -> bool:
        kept = fresh(values)
        try:
            run(entry, values)
        except DOCUMENTED:
            return entry.name.endswith("_")
        for argument, before, after in zip(entry.signature.arguments, kept, values, strict=True):
            written = argument.alias is not None and argument.alias.is_write
            if not written and not equal(before, after):
                return entry.name.endswith(("instance_norm", "batch_norm"))  # running means
        return True

    each_operator(keeps)


def test_results_share_memory_only_where_the_schema_says() -> None:
    def as_declared(entry: Operator, values: list[Any]) -> bool:
        returned = entry.signature.returns
        try:
            result = run(entry, values)
        except DOCUMENTED:
            return entry.name.endswith("_")
        parts = result if isinstance(result, tuple) and len(returned) > 1 else (result,)
        for declared, part in zip(returned, parts, strict=True):
            shares = any(
                np.shares_memory(a, b) for a in arrays(part) for b in arrays(values) if a.size
            )
            if shares and declared.alias is None and entry.full_name not in SHARING:
                return False
        return True

    each_operator(as_declared)


SHARING = frozenset(
    "aten::atleast_1d aten::atleast_2d aten::atleast_3d aten::broadcast_tensors "
    "aten::cartesian_prod aten::histogramdd.TensorList_bins aten::meshgrid.indexing "
    "aten::unsafe_chunk aten::unsafe_split.Tensor".split()
)
"""Operators that hand on what they were given although the schema does not say so, as in torch."""


def test_in_place_results_are_the_argument_itself() -> None:
    def returns_self(entry: Operator, values: list[Any]) -> bool:
        if not entry.name.endswith("_") or entry.name.endswith("__"):
            return True
        try:
            return run(entry, values) is values[0]
        except DOCUMENTED:
            return True

    each_operator(returns_self)


def test_strides_make_no_difference() -> None:
    def same(entry: Operator, values: list[Any]) -> bool:
        if entry.name.partition("::")[2] in BY_STRIDES:
            return True
        scattered = spread(values)
        try:
            wanted = run(entry, values)
        except DOCUMENTED:
            return True
        return equal(run(entry, scattered), wanted)

    each_operator(same)


def test_empty_tensors_give_a_result_or_an_error_that_is_documented() -> None:
    def survives(entry: Operator, values: list[Any]) -> bool:
        for change in (emptied, narrowed, vanished):
            try:
                run(entry, [change(value) for value in fresh(values)])
            except DOCUMENTED:
                continue
            except Exception:
                return False
        return True

    each_operator(survives)


@settings(max_examples=60, deadline=None)
@given(names, st.data())
def test_a_view_written_in_place_is_seen_by_its_base(name: str, data: st.DataObject) -> None:
    """In-place operators on a view with a random place in a larger tensor."""
    entry, values = calls()[name]
    values = fresh(values)
    short = entry.name.partition("::")[2]
    if not short.endswith("_") or short in RANDOM | BY_STRIDES or not arrays(values[:1]):
        return
    own = values[0]
    before, after = data.draw(st.integers(0, 2)), data.draw(st.integers(0, 2))
    if not own.ndim:
        return
    base = np.zeros((before + len(own) + after, *own.shape[1:]), own.dtype)
    view = base[before : before + len(own)]
    view[...] = own
    try:
        wanted = run(entry, values)
    except DOCUMENTED:
        return
    run(entry, [view, *fresh(calls()[name][1])[1:]])
    if view.shape == wanted.shape == own.shape:
        assert equal(base[before : before + len(own)], wanted)
        assert not base[:before].any()
        assert not base[before + len(own) :].any()
