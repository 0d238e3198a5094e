"""Eager calls that native code takes apart once they come often: they are as the first ones."""

from __future__ import annotations

import contextlib
import gc
import sys
from collections.abc import Callable
from threading import Thread
from typing import Any
from weakref import ref

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops.eager.fronts import front_of
from rushlight.ops.kernels import TRIALS
from rushlight.ops.table.direct import knows_calls

pytestmark = pytest.mark.skipif(not knows_calls(), reason="there is no native code here")
OFTEN = 2 * TRIALS
F = torch.nn.functional


def often(call: Callable[[], Any]) -> Any:
    """What a call gives at last."""
    for _ in range(OFTEN):
        found = call()
    return found


def taken_apart(name: str) -> int:
    """How many ways native code knows of an eager function."""
    front = getattr(torch, name).front
    return 0 if front is None else int(front._ways[0])


def same(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, torch.Tensor):
        is_alike = found.dtype is wanted.dtype and found.stride() == wanted.stride()
        return type(found) is type(wanted) and is_alike and torch.equal(found, wanted)
    if isinstance(wanted, tuple):
        return type(found) is type(wanted) and all(map(same, found, wanted))
    return type(found) is type(wanted) and found == wanted


X = torch.linspace(-1, 1, 12).view(3, 4).clone()
Y = torch.linspace(2, 3, 12).view(3, 4).clone()
PLACES = torch.arange(3)

CALLS: list[Callable[[], Any]] = [
    lambda: X + Y,
    lambda: X * 2,
    lambda: 2 - X,
    lambda: X @ Y.t(),
    lambda: X == Y,
    lambda: -X,
    lambda: torch.tanh(X),
    lambda: X.view(4, 3),
    lambda: X.view(-1),
    lambda: X.view([2, 6]),
    lambda: X.reshape((6, 2)),
    lambda: X.t().reshape(-1),
    lambda: X.transpose(0, 1),
    lambda: X.permute(1, 0),
    lambda: X.unsqueeze(-1),
    lambda: X.expand(2, 3, 4),
    lambda: X.select(0, 1),
    lambda: X.narrow(1, 1, 2),
    lambda: X.split(2, 1),
    lambda: X.chunk(2),
    lambda: X.unbind(0),
    lambda: X.contiguous(),
    lambda: X.detach(),
    lambda: X.float(),
    lambda: X.double(),
    lambda: X.sum(dim=1, keepdim=True),
    lambda: X.sum(1),
    lambda: X.sum((0, 1)),
    lambda: X.sum(0, dtype=torch.float64),
    lambda: X.max(1),
    lambda: X.max(dim=0, keepdim=True),
    lambda: X.sort(descending=True),
    lambda: torch.cat([X, Y]),
    lambda: torch.cat((X, Y), dim=1),
    lambda: torch.stack([X, Y, X], -1),
    lambda: torch.where(X > 0, X, Y),
    lambda: torch.clamp(X, -0.5, 0.5),
    lambda: X.clamp(min=0),
    lambda: F.softmax(X, dim=-1),
    lambda: F.layer_norm(X, (4,)),
    lambda: X.dim(),
    lambda: X.is_contiguous(),
    lambda: X.stride(),
    lambda: torch.zeros(2, 3),
    lambda: torch.full((2,), 3.0),
    lambda: X.index_select(0, PLACES),
    lambda: F.max_pool2d(X[None], 2),
    lambda: F.max_pool2d(X[None], (3, 2), 1, padding=1),
    lambda: F.avg_pool2d(X[None], 2, stride=[]),
]


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_a_call_that_has_come_often_is_as_the_first(number: int) -> None:
    call = CALLS[number]
    first = call()
    assert same(often(call), first)


def test_calls_are_taken_apart_by_their_types() -> None:
    often(lambda: torch.hypot(X, Y))
    assert taken_apart("hypot") == 1
    often(lambda: torch.hypot(X.double(), Y))
    assert taken_apart("hypot") == 1, "dtypes are no types"
    for _ in range(2):  # which other tests may have called so before
        often(lambda: torch.fmod(X, 2))
        often(lambda: torch.fmod(X, 2.5))
        known = taken_apart("fmod")
        assert known >= 2
    often(lambda: torch.fmod(X, -2))
    assert taken_apart("fmod") == known, "nor are numbers"
    assert torch.equal(torch.fmod(Y, 2), torch.remainder(Y, 2))


def test_a_view_is_one() -> None:
    x = torch.zeros(3, 4)
    view = often(lambda: x.view(12))
    view[0] = 1
    assert x[0, 0] == 1
    assert view._base is x
    assert view._is_view()
    parts = often(lambda: x.split(1))
    parts[1].fill_(7)
    assert x[1].tolist() == [7.0] * 4
    assert all(each._base is x for each in parts)
    assert often(lambda: x.contiguous()) is x
    assert often(lambda: x.to(torch.float32)) is x


def test_views_keep_memory() -> None:
    views = [torch.full((5,), float(n)).view(5, 1) for n in range(OFTEN)]
    gc.collect()
    assert [int(each[4, 0]) for each in views] == list(range(OFTEN))


def test_arrays_are_given_back() -> None:
    x = torch.ones(7)
    often(lambda: x + x)
    often(lambda: x.view(7, 1))
    often(lambda: torch.cat([x, x]))
    often(lambda: x.split(3))
    before = sys.getrefcount(x._array), sys.getrefcount(x)
    for _ in range(10):
        _ = x + x, x.view(7, 1), torch.cat([x, x]), x.split(3), x.add_(1)
    del _
    assert (sys.getrefcount(x._array), sys.getrefcount(x)) == before


def test_what_is_written_is_counted() -> None:
    x = torch.zeros(4)
    before = x._version
    assert all(x.add_(1) is x for _ in range(OFTEN))
    assert x._version == before + OFTEN
    assert x.tolist() == [OFTEN] * 4


def test_gradients_are_followed_and_switched_off() -> None:
    x, w = torch.ones(3), torch.nn.Parameter(torch.ones(3))
    assert not often(lambda: x * x).requires_grad
    for _ in range(3):
        assert (x * w).requires_grad
        assert torch.cat([x, w]).requires_grad
        with torch.no_grad():
            assert not (x * w).requires_grad
    with torch.no_grad():
        assert not often(lambda: torch.mul(w, w)).requires_grad
        view = often(lambda: w.view(3, 1))
        assert view.requires_grad  # as its base does
    assert torch.mul(w, w).requires_grad
    with pytest.raises(RuntimeError, match="forbidden"):
        view.mul_(2)


RECORDED: list[Callable[[Any], Any]] = [
    lambda x: x + Y,
    lambda x: x @ Y.t(),
    lambda x: x.view(-1) * 2,
    lambda x: x.view([2, 6]).select(0, 1),
    lambda x: x.diagonal(0, dim1=0, dim2=1),
    lambda x: x.sum(dim=1, keepdim=True),
    lambda x: x.max(1).values,
    lambda x: x.unbind(0)[1],
    lambda x: torch.cat([Y, x], dim=1),
    lambda x: torch.stack([x, Y, x], -1),
    lambda x: torch.where(X > 0, Y, x),
    lambda x: x[1],
    lambda x: x[:, None, 1:],
    lambda x: x[torch.tensor([2, -1])],
    lambda x: F.layer_norm(x, (4,)),
]


@pytest.mark.parametrize("number", range(len(RECORDED)))
def test_a_recorded_call_that_has_come_often_is_as_the_first(number: int) -> None:
    def recorded() -> Any:
        x = X.clone().requires_grad_()
        made = RECORDED[number](x)
        (grad,) = torch.autograd.grad(made.sin().sum(), x)
        return made.detach(), made.grad_fn.name(), made._is_view(), grad

    first = recorded()
    assert same(often(recorded), first)


def test_recorded_lists_are_looked_at_one_by_one() -> None:
    class Mine(torch.Tensor):
        pass

    w = torch.ones(3, requires_grad=True)
    assert often(lambda: torch.cat([w, X[0]])).requires_grad
    assert type(torch.cat([w, torch.ones(3).as_subclass(Mine)])) is Mine
    assert torch.cat([w, torch.ones(3, dtype=torch.int64)]).tolist() == [1.0] * 6
    with torch.no_grad():
        assert not torch.cat([w, X[0]]).requires_grad


def test_other_types_go_the_other_way() -> None:
    class Mine(torch.Tensor):
        pass

    x = torch.ones(3)
    mine = torch.ones(3).as_subclass(Mine)
    often(lambda: x + x)
    assert type(mine + x) is Mine
    assert type(x + mine) is Mine
    assert x.__add__("text") is NotImplemented
    with pytest.raises(TypeError):
        x + "text"
    assert (x + True).tolist() == (x + 1).tolist() == [2.0] * 3
    assert (x + np.float32(1)).tolist() == [2.0] * 3
    assert (x + 1j).dtype is torch.complex64


def test_what_does_not_fit_is_refused() -> None:
    x, y = torch.ones(3, 4), torch.ones(5)
    often(lambda: torch.add(x, x))
    with pytest.raises(RuntimeError, match="must match the size"):
        torch.add(x, y)
    often(lambda: x.view(4, 3))
    with pytest.raises(RuntimeError, match="invalid for input"):
        x.view(4, 4)
    with pytest.raises((RuntimeError, TypeError), match=r"verflow|too (large|big)|invalid"):
        x.view(1 << 70, 3)
    often(lambda: x.select(0, 1))
    with pytest.raises(IndexError):
        x.select(0, 3)
    often(lambda: torch.cat([x, x]))
    with pytest.raises(RuntimeError):
        torch.cat([x, y])
    with pytest.raises(TypeError):
        torch.cat([x, 1])


def test_lists_are_not_kept() -> None:
    x, sizes = torch.arange(6), [2, 3]
    often(lambda: x.view(sizes))
    made = x.view(sizes)
    sizes.append(1)
    assert made.shape == (2, 3)
    assert x.view(sizes).shape == (2, 3, 1)


def test_tracers_hear_of_calls() -> None:
    x = torch.ones(3)
    often(lambda: torch.tanh(x + x).view(3, 1))
    traced = torch.jit.trace(lambda x: torch.tanh(x + x).view(3, 1), x)
    assert [n.kind() for n in traced.graph.nodes() if "prim" not in n.kind()] == [
        "aten::add",
        "aten::tanh",
        "aten::view",
    ]


def test_profiles_hear_of_calls() -> None:
    x = torch.ones(3)
    often(lambda: torch.tanh(x))
    with torch.profiler.profile() as profile:
        torch.tanh(x)
    assert "aten::tanh" in {each.key for each in profile.key_averages()}
    assert torch.equal(torch.tanh(x), often(lambda: torch.tanh(x)))


def test_the_default_dtype_may_change() -> None:
    assert often(lambda: torch.ones(2)).dtype is torch.float32
    torch.set_default_dtype(torch.float64)
    try:
        assert torch.ones(2).dtype is torch.float64
        assert (torch.arange(2) / 2).dtype is torch.float64
    finally:
        torch.set_default_dtype(torch.float32)
    assert torch.ones(2).dtype is torch.float32


def test_quantized_tensors_go_the_other_way() -> None:
    x = torch.ones(4)
    often(lambda: torch.relu(x))
    q = torch.quantize_per_tensor(-x, 0.1, 10, torch.quint8)
    assert torch.relu(q).is_quantized


def test_threads_call_the_same_function() -> None:
    wrong: list[object] = []

    def work(n: int) -> None:
        x = torch.full((5,), float(n))
        for _ in range(300):
            if torch.expm1(x - x).sum() != 0 or (x * 2)[0] != 2 * n:
                wrong.append(n)

    threads = [Thread(target=work, args=(n,)) for n in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not wrong


def test_a_front_without_ways_leaves_all_to_others() -> None:
    calls: list[object] = []
    front = front_of(lambda *args, **named: calls.append((args, named)))
    assert front is not None
    front.call(1, torch.ones(2), x=3)
    front.call()
    assert len(calls) == 2
    assert calls[1] == ((), {})


def test_several_results_have_names() -> None:
    found = often(lambda: X.max(1))
    assert type(found).__name__ == "max"
    assert torch.equal(found.values, X.amax(1))
    assert torch.equal(often(lambda: X.topk(2, dim=1)).indices, X.topk(2).indices)


def test_one_number_may_stand_for_a_list() -> None:
    for keep in (True, False):
        assert often(lambda: X.sum(dim=1, keepdim=keep)).shape == X.sum([1], keep).shape  # noqa: B023
    with pytest.raises(IndexError):
        X.sum(dim=2, keepdim=True)


def test_where_a_tensor_says_where_to_cut_it_is_asked_each_time() -> None:
    for number in (*range(1, 5), *range(1, 5)):
        parts = often(lambda: torch.tensor_split(X, torch.tensor(number), 1))  # noqa: B023
        assert len(parts) == number
        front, _ = often(lambda: X.tensor_split(torch.tensor([number]), 1))  # noqa: B023
        assert torch.equal(front, X[:, :number])


def test_what_a_failed_call_was_given_is_freed_at_once() -> None:
    x = torch.linspace(-1, 1, 5)
    for _ in range(3 * TRIALS):
        torch.hypot(x, x)
    given = torch.ones(5)
    watched = ref(given)
    gc.collect()
    gc.disable()
    try:
        with contextlib.suppress(RuntimeError):
            torch.hypot(given, torch.ones(3))
        del given
        assert watched() is None
    finally:
        gc.enable()


def test_a_call_that_asks_for_a_leaf_leaves_what_is_known_of_others() -> None:
    for _ in range(40):
        torch.ones(3)
    known = torch.ones.shortcuts[(int,)]
    for _ in range(3):
        assert torch.ones(3, requires_grad=True).requires_grad
    assert torch.ones.shortcuts[(int,)] is known
    assert not torch.ones(3).requires_grad


def test_a_leaf_is_made_as_others_are_and_refused_with_all_that_was_given() -> None:
    for _ in range(OFTEN):
        made = torch.full((2,), 0.5, requires_grad=True)
        assert made.is_leaf
        assert made.requires_grad
    with pytest.raises(TypeError, match=r"got \(str, int, requires_grad=bool\)"):
        torch.randn("a", 1, requires_grad=True)
    with pytest.raises(RuntimeError, match="Only Tensors of floating point"):
        torch.arange(3, requires_grad=True)


def collected_amid(call: Callable[[], object], change: Callable[[], None], after: int) -> object:
    """What a call gives or raises, if the collector runs when `after` more objects are made, and
    changes something then."""

    def note(phase: str, info: object) -> None:
        if phase == "start":
            change()

    before, was_enabled = gc.get_threshold(), gc.isenabled()
    gc.disable()
    gc.callbacks.append(note)
    spare = [[] for _ in range(200)]  # so that new lists are new memory
    try:
        gc.set_threshold(gc.get_count()[0] + after)
        gc.enable()
        return call()
    except (RuntimeError, TypeError, IndexError, ValueError) as error:
        return type(error)
    finally:
        gc.disable()
        gc.callbacks.remove(note)
        gc.set_threshold(*before)
        del spare
        if was_enabled:
            gc.enable()


WANTING = [torch.ones(3, 4, requires_grad=True) for _ in range(4)]

LISTED: list[tuple[Callable[[list[Any]], Any], list[Any]]] = [
    (lambda given: X.permute(given), [1, 0]),
    (lambda given: X.sum(given), [0, 1]),
    (lambda given: X.reshape(given), [2, 6]),
    (lambda given: torch.flip(X, given), [0, 1]),
    (lambda given: torch.cat(given), [X, Y, X]),
    (lambda given: torch.stack(given), [X, Y, X]),
    (lambda given: torch.cat(given), WANTING),
    (lambda given: torch.stack(given), WANTING),
]


@pytest.mark.parametrize("number", range(len(LISTED)))
def test_the_collector_may_change_a_list_that_a_call_reads(number: int) -> None:
    call, full = LISTED[number]
    wanted = often(lambda: call([*full]))
    for after in range(8):
        given = [*full]
        found = collected_amid(lambda given=given: call(given), given.clear, after)
        assert isinstance(found, type) or torch.equal(found, wanted) or not given


def test_the_collector_may_take_the_memory_whose_sizes_are_told() -> None:
    often(lambda: X.shape)
    for after in range(4):
        x = torch.ones(3, 4, 5)

        def change(x: torch.Tensor = x) -> None:
            x.data = torch.ones(7)

        assert collected_amid(lambda x=x: x.shape, change, after) in ((3, 4, 5), (7,))


class Mark:
    """Put onto a tensor, goes when that goes."""


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x * x,
        lambda x: x.view(-1),
        lambda x: x.sum(dim=0),
        lambda x: x.sum(dtype=torch.float64),
        lambda x: torch.cat([x, x]),
        lambda x: x.to(torch.float64),
        lambda x: x.split(2)[1],
        lambda x: torch.nn.functional.layer_norm(x, (4,)),
    ],
)
@pytest.mark.parametrize("wanted", [False, True])
def test_calls_that_are_learned_keep_no_tensor(
    call: Callable[[torch.Tensor], torch.Tensor], wanted: bool
) -> None:
    left = []
    gc.disable()
    try:
        for _ in range(40):
            x = torch.randn(4, 4, requires_grad=wanted) * 1
            mark = x.mark = Mark()  # type: ignore[attr-defined]
            made = call(x)
            if wanted:
                made.sum().backward()
            left.append(ref(mark))
            del x, mark, made
            assert left[-1]() is None
    finally:
        gc.enable()


PIECES: list[Callable[[torch.Tensor], Any]] = [
    lambda x: torch.tensor_split(x, 2),
    lambda x: x.tensor_split([1, 3], dim=1),
    lambda x: x.hsplit(2),
    lambda x: x.vsplit([1]),
    lambda x: x.chunk(2),
    lambda x: x.split(1),
    lambda x: x.unbind(),
]


@pytest.mark.parametrize("cut", PIECES)
def test_pieces_are_views_like_the_first_ones(cut: Callable[[torch.Tensor], Any]) -> None:
    x = X.clone()
    first = cut(x)
    pieces = often(lambda: cut(x))
    assert same(pieces, first)
    for piece, other in zip(pieces, first, strict=True):
        assert piece._base is x
        assert (piece._view_among, piece._view_of) == (other._view_among, other._view_of)
    pieces[0].add_(1)
    assert torch.equal(first[0], pieces[0])
    assert x._version == pieces[0]._version == 1


def test_data_is_the_same_memory_with_writes_of_its_own() -> None:
    often(lambda: X + Y)
    for given in (X.clone(), torch.nn.Parameter(X.clone()), X.t(), X.clone()[1:]):
        version = given._version
        data = given.data
        assert type(data) is torch.Tensor
        assert same(data, given.detach())
        assert not data.requires_grad
        assert data._base is None
        data.add_(1)
        assert torch.equal(data, given)
        assert given._version == version
        data.sub_(1)
        assert data._version == 2
        given.data = torch.ones(2)
        assert given.shape == (2,)
