"""Calls that want gradients and have come often leave the nodes that the first ones left."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import rushlight as torch
from rushlight.ops.eager.fronts import _TOLD_AT
from rushlight.ops.gradients.nodes.bound import Bound
from rushlight.ops.kernels import TRIALS
from rushlight.ops.table.direct import is_compiling, knows_calls

pytestmark = pytest.mark.skipif(not knows_calls(), reason="there is no native code here")
OFTEN = 3 * TRIALS
F = torch.nn.functional

LEAF = torch.linspace(-0.9, 0.9, 12).view(3, 4).clone().requires_grad_()
OTHER = torch.linspace(2, 3, 12).view(3, 4).clone().requires_grad_()
X, Y = LEAF * 1, OTHER * 1
FIXED = torch.linspace(1, 2, 12).view(3, 4).clone()
ROW = (torch.linspace(-1, 1, 4) * 1).requires_grad_()
ROWS = torch.tensor([0, 2, 1])
PLACES = torch.tensor([[0, 1, 2, 0]])
TURNED = X.t()

CALLS: dict[str, Callable[[], Any]] = {
    "two": lambda: X * Y,
    "leaves": lambda: LEAF * OTHER,
    "one of two": lambda: X * FIXED,
    "the other": lambda: FIXED / X,
    "the same twice": lambda: X * X,
    "a number": lambda: X + 1,
    "broadcast": lambda: X * ROW,
    "result kept": lambda: torch.exp(X),
    "result and leaf": lambda: torch.sigmoid(LEAF),
    "reduced": lambda: X.sum(1, keepdim=True),
    "mean": lambda: X.mean((0, 1)),
    "view": lambda: X.view(4, 3),
    "view of a view": lambda: TURNED.reshape(2, 6),
    "turned": lambda: X.t(),
    "row": lambda: X[1],
    "slice": lambda: X[:, 1:3],
    "unsqueezed": lambda: X[None],
    "product": lambda: X @ TURNED,
    "vector": lambda: X @ ROW,
    "linear": lambda: F.linear(X, FIXED, torch.ones(3)),
    "gathered": lambda: X.gather(0, PLACES),
    "named": lambda: torch.softmax(input=X, dim=1),
    "joint": lambda: F.layer_norm(X, (4,), ROW),
    "pooled": lambda: F.avg_pool2d(X[None], 2),
    "listed": lambda: torch.cat([X, FIXED, LEAF], 1),
    "listed twice": lambda: torch.stack([X, X]),
    "many listed": lambda: torch.einsum("ij,ij,ij,ij,ij->i", X, FIXED, X, LEAF, FIXED),
    "one listed": lambda: torch.einsum("ij->i", X),
    "places in a list": lambda: X[[0, 2]],
    "places": lambda: torch.Tensor.index_put(X, (ROWS, ROWS), FIXED[0, :3]),
    "rows at places": lambda: X[ROWS],
    "two results": lambda: X.max(1),
    "sorted": lambda: torch.sort(LEAF, dim=0, descending=True),
    "several views": lambda: X.split(2, 1),
    "unbound": lambda: LEAF.unbind(0),
    "itself": lambda: X.contiguous(),
    "flat": lambda: ROW.flatten(),
    "cast": lambda: X.double(),
    "whole": lambda: X.argmax(1),
    "compared": lambda: X > FIXED,
    "unknown": lambda: torch.nextafter(X, Y),
    "nothing": lambda: torch.zeros_like(X),
    "detached": lambda: X.detach(),
    "loss": lambda: F.mse_loss(X, FIXED),
    "chosen": lambda: torch.where(FIXED > 1.5, X, Y),
    "classes": lambda: F.cross_entropy(X, ROWS),
    "shares or classes": lambda: F.cross_entropy(X, FIXED) + F.cross_entropy(X, ROWS),
    "likelihood": lambda: F.nll_loss(X, ROWS, reduction="sum"),
    "whole factors": lambda: X * ROWS[:, None],
    "windows": lambda: LEAF.unfold(1, 2, 1),
    "split in parts": lambda: torch.tensor_split(X, 2, 1),
    "split in columns": lambda: LEAF.hsplit(2),
    "masked": lambda: X.masked_select(FIXED > 1.5),
    "reflected": lambda: F.pad(LEAF[None], (1, 1), mode="reflect"),
    "combined": lambda: torch.combinations(ROW),
    "grid": lambda: torch.meshgrid(ROW, ROW, indexing="ij"),
    "part": lambda: X[1:, None, 2],
}


def results_of(made: Any) -> list[Any]:
    return list(made) if isinstance(made, tuple) else [made]


def saved_of(node: Any) -> dict[str, Any]:
    names = ("self", "other", "result", "input", "weight", "mat2", "dim", "indices", "index")
    found: dict[str, Any] = {}
    for name in names:
        try:
            found[name] = getattr(node, f"_saved_{name}")
        except (AttributeError, RuntimeError) as error:
            found[name] = type(error)
    return found


def alike(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor):
        return isinstance(other, torch.Tensor) and torch.equal(one, other)
    if isinstance(one, (list, tuple)):
        return all(map(alike, one, other))
    return bool(one == other)


def told_of(result: Any) -> list[Any]:
    """What can be asked of a tensor's history."""
    node = result.grad_fn
    facts = [result.requires_grad, result.is_leaf, result.output_nr, result._version]
    facts += [result._is_view(), result.dtype, result.stride(), type(result)]
    if node is not None:
        facts += [node.name(), [(type(n), at) for n, at in node.next_functions]]
    return facts


def gradients(made: Any) -> list[Any]:
    wanted = [each for each in results_of(made) if each.requires_grad]
    if not wanted:
        return []
    total = sum((each.double() * each.numel()).sum() for each in wanted)
    try:
        return list(
            torch.autograd.grad(
                total, [LEAF, OTHER, ROW, X, Y], allow_unused=True, retain_graph=True
            )
        )
    except RuntimeError as error:
        return [str(error)]


@pytest.mark.parametrize("name", CALLS)
def test_nodes_are_those_of_the_first_call(name: str) -> None:
    call = CALLS[name]
    first = call()
    for _ in range(OFTEN):
        last = call()
    assert type(first) is type(last)
    for one, other in zip(results_of(first), results_of(last), strict=True):
        assert torch.equal(one, other)
        assert told_of(one) == told_of(other)
        if one.grad_fn is not None:
            before, after = saved_of(one.grad_fn), saved_of(other.grad_fn)
            assert before.keys() == after.keys()
            assert all(alike(before[each], after[each]) for each in before)
    pairs = zip(gradients(first), gradients(last), strict=True)
    assert all(one is other is None or alike(one, other) for one, other in pairs)


def warm(call: Callable[[], Any]) -> Any:
    for _ in range(OFTEN):
        found = call()
    if is_compiling():  # what these calls ask for
        while is_compiling():
            time.sleep(0.001)
        return warm(call)
    return found


def test_native_code_is_told_of_such_calls() -> None:
    warm(lambda: torch.hypot(X, Y))
    front = torch.hypot.front
    records = next(each for each in front._held if type(each).__name__ == "_Records")
    assert records.way[_TOLD_AT] != 0


def test_whole_numbers_in_the_place_of_floats_are_told_of_too() -> None:
    recorded = []
    targets = torch.tensor([0, 2, 1])

    def call(operand: Any) -> Any:
        return F.cross_entropy(X, operand)

    for target in (FIXED, targets):
        warm(lambda target=target: call(target))
    for target in (targets, FIXED, targets):
        made = call(target)
        recorded.append(torch.autograd.grad(made, X)[0])
    assert torch.equal(recorded[0], recorded[2])
    assert not torch.equal(recorded[0], recorded[1])
    for target, found in zip((targets, FIXED), recorded, strict=False):
        with torch.autograd.set_detect_anomaly(True):  # which Python records
            assert torch.equal(torch.autograd.grad(call(target), X)[0], found)


def test_nodes_of_calls_alike_share_what_is_told_of_sizes() -> None:
    row, call = torch.ones(4), torch.hypot  # of few kinds of calls elsewhere
    warm(lambda: (call(X, Y), call(X, row)))
    one, other, wide = call(X, Y), call(X, Y), call(X, row)
    assert one.grad_fn._shapes is other.grad_fn._shapes
    assert one.grad_fn._shapes[2] == (3, 4)
    assert wide.grad_fn._shapes[0] == (3, 4)
    odd = call(X[:2], row).grad_fn
    assert odd._shapes[0] == (2, 4)
    deep = call(X.view([1] * 9 + [12]), torch.ones(12))  # of more dimensions than keys have
    assert len(deep.grad_fn._shapes[0]) == 10


def test_classes_that_follow_from_sizes_are_known_by_them() -> None:
    row, rows = ROW * 1, X[None] * 1
    names = ["MmBackward0", "MvBackward0", "UnsafeViewBackward0"]
    for _ in range(OFTEN):
        nodes = [(left @ right).grad_fn for left, right in ((X, TURNED), (X, row), (rows, TURNED))]
        assert [each.name() for each in nodes] == names
    told = [each.of_sizes for each in nodes[0]._bound.records.values()]
    assert any(told)
    chosen = F.kl_div(X, FIXED, reduction="sum").grad_fn
    for _ in range(OFTEN):
        assert F.kl_div(X, FIXED, reduction="sum").grad_fn.name() == chosen.name()
        assert F.kl_div(X, FIXED, reduction="batchmean").grad_fn.name() != chosen.name()


def test_lists_beside_other_operands_are_traced_once(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = torch.nn.LSTMCell(2, 3)
    traced, trace = list[object](), Bound.trace
    monkeypatch.setattr(Bound, "trace", lambda self, args: traced.append(1) or trace(self, args))
    weights(torch.ones(1, 2), (torch.zeros(1, 3), torch.zeros(1, 3)))
    assert len(traced) == 1


def test_what_is_written_since_is_refused() -> None:
    warm(lambda: torch.exp(X))
    result = torch.exp(X)
    with torch.no_grad():
        result.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        result.sum().backward()
    operand = X * 1
    warm(lambda: operand * Y)
    product = operand * Y
    with torch.no_grad():
        operand.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.sum().backward()


def test_what_was_written_before_is_kept_as_it_is() -> None:
    operand = FIXED.clone()
    operand.mul_(2)
    warm(lambda: X * operand)
    found = torch.autograd.grad((X * operand).sum(), X)[0]
    assert torch.equal(found, operand)


def test_a_view_of_what_was_written_has_its_history() -> None:
    base = X * 1
    view = base[0]
    warm(lambda: view * 2)
    base.mul_(3)
    found = torch.autograd.grad((view * 2).sum(), X)[0]
    assert found[0].tolist() == [6.0] * 4
    assert found[1].tolist() == [0.0] * 4


def test_views_are_of_their_base() -> None:
    warm(lambda: X.view(-1))
    base = X * 1
    view = base.view(-1)
    assert view._base is base
    view.mul_(2)
    assert base.grad_fn.name() == "torch::autograd::CopySlices"
    parts = base.unbind(0)
    warm(lambda: base.unbind(0))
    parts = base.unbind(0)
    with pytest.raises(RuntimeError, match="multiple views"):
        parts[0].mul_(2)


def test_modes_that_others_hear_of() -> None:
    warm(lambda: torch.exp(X))
    with torch.no_grad():
        assert not torch.exp(X).requires_grad
    with torch.inference_mode():
        made = torch.exp(X)
    assert not made.requires_grad
    warm(lambda: X * FIXED)
    with torch.inference_mode():
        constant = FIXED * 1
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved"):
        X * constant
    assert torch.exp(X).requires_grad


def test_hooks_pack_what_is_kept() -> None:
    warm(lambda: X * Y)
    packed = []

    def pack(tensor: Any) -> Any:
        packed.append(tensor)
        return tensor * 1

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        made = X * Y
    assert len(packed) == 2
    found = torch.autograd.grad(made.sum(), X)[0]
    assert torch.equal(found, Y)
    X * Y
    assert len(packed) == 2


def test_anomalies_are_told_with_their_place() -> None:
    warm(lambda: torch.sqrt(X))
    with torch.autograd.set_detect_anomaly(True):
        made = torch.sqrt(X * 0 - 1)
        with (
            pytest.warns(UserWarning, match="forward call"),
            pytest.raises(RuntimeError, match="nan"),
        ):
            made.sum().backward(retain_graph=True)


def test_gradients_of_gradients() -> None:
    warm(lambda: X * X)
    leaf = torch.tensor([1.0, 2.0], requires_grad=True)
    inner = leaf * leaf
    (first,) = torch.autograd.grad((inner * inner).sum(), leaf, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), leaf)
    assert second.tolist() == [12.0, 48.0]


def test_leaves_get_theirs_once() -> None:
    leaf = torch.ones(3, requires_grad=True)
    warm(lambda: leaf * 2)
    ((leaf * 2) * (leaf * 3)).sum().backward()
    assert leaf.grad is not None
    assert leaf.grad.tolist() == [12.0] * 3


def test_a_leaf_has_one_node_while_somebody_holds_it() -> None:
    leaf = torch.ones(3, requires_grad=True)
    by_python = leaf.view(3).grad_fn.next_functions[0][0]
    numbers = by_python._sequence_nr()
    del by_python
    warm(lambda: leaf * 2)
    one, other = (leaf * 2).grad_fn, (leaf * 3).grad_fn
    (node, number), (same, _) = one.next_functions[0], other.next_functions[0]
    assert node is same is leaf.view(3).grad_fn.next_functions[0][0]
    assert number == 0
    assert node.name() == "torch::autograd::AccumulateGrad"
    assert node.variable is leaf
    assert node.next_functions == ()
    assert node.metadata == {}
    assert one._sequence_nr() < node._sequence_nr() < numbers
    heard = list[Any]()
    node.register_hook(lambda *given: heard.append(given))
    (leaf * 2).sum().backward()
    assert len(heard) == 1
    assert leaf.grad is not None
    assert leaf.grad.tolist() == [2.0] * 3


@pytest.fixture
def quiet() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize("name", [name for name in CALLS if name != "unknown"])
def test_nothing_is_left_of_a_call(name: str) -> None:
    call = CALLS[name]
    warm(call)
    operands = (LEAF, OTHER, X, Y, FIXED, ROW, X._array, FIXED._array, X.grad_fn, None, True, 0, 1)

    def grown() -> int:
        before = [*map(sys.getrefcount, operands), len(gc.get_objects())]
        for _ in range(40):
            call()
        after = [*map(sys.getrefcount, operands), len(gc.get_objects())]
        return max(abs(one - other) for one, other in zip(before, after, strict=True))

    until = time.monotonic() + 60  # what is learned is kept, once; threads may compile beside it
    while grown() >= 20:
        assert time.monotonic() < until


def test_a_call_that_fails_leaves_nothing_behind() -> None:
    warm(lambda: X * Y)
    wrong = torch.ones(5, requires_grad=True)
    for _ in range(3):
        with pytest.raises(RuntimeError, match="must match the size"):
            X * wrong
    assert (X * Y).grad_fn.name() == "MulBackward0"
