"""`torch.utils.checkpoint` computes again what it did not keep; blocks that let tensors change."""

from __future__ import annotations

import gc
import tracemalloc
import warnings
import weakref
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

import rushlight as torch
from rushlight.ops.memory.warned import GIVEN
from rushlight.utils._python_dispatch import TorchDispatchMode
from rushlight.utils.checkpoint import (
    CheckpointError,
    checkpoint,
    checkpoint_sequential,
    create_selective_checkpoint_contexts,
    set_checkpoint_early_stop,
)

nn = torch.nn
both = pytest.mark.parametrize("reentrant", [False, True])


@both
def test_gradients_and_draws_are_those_without(reentrant: bool) -> None:
    model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(), nn.Tanh(), nn.Linear(8, 2))
    found = []
    for wrapped in (False, True):
        torch.manual_seed(3)
        model.zero_grad()
        x = torch.ones(5, 4, requires_grad=True)
        y = checkpoint(model, x, use_reentrant=reentrant) if wrapped else model(x)
        after = torch.rand(1)
        y.sum().backward()
        found.append([y, x.grad, after, *(p.grad for p in model.parameters())])
    assert all(torch.equal(a, b) for a, b in zip(*found, strict=True))


@both
def test_it_runs_twice_and_keeps_nothing_between(reentrant: bool) -> None:
    held: list[Any] = []

    def step(x: torch.Tensor) -> torch.Tensor:
        inner = x.exp()
        held.append(weakref.ref(inner))
        return inner.sin().sin()

    x = torch.ones(1000, requires_grad=True)
    y = checkpoint(step, x, use_reentrant=reentrant)
    gc.collect()
    assert held[0]() is None
    y.sum().backward()
    assert len(held) == 2


@both
def test_deep_networks_take_less_memory(reentrant: bool) -> None:
    def block(x: torch.Tensor) -> torch.Tensor:
        for _ in range(10):
            x = x.sin()
        return x

    def peak(run: Callable[[torch.Tensor], torch.Tensor]) -> int:
        x = torch.ones(50_000, requires_grad=True)
        tracemalloc.start()
        for _ in range(8):
            x = run(x)
        x.sum().backward()
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak(block)
    assert peak(lambda x: checkpoint(block, x, use_reentrant=reentrant)) < 0.4 * peak(block)


def test_graphs_that_are_walked_again_and_gradients_of_gradients() -> None:
    x = torch.ones(3, requires_grad=True)

    def made() -> torch.Tensor:
        return checkpoint(lambda a: a.sin().exp(), x, use_reentrant=False).sum()

    total = made()
    total.backward(retain_graph=True)
    total.backward()
    assert torch.allclose(x.grad, 2 * torch.cos(x) * torch.exp(torch.sin(x)))
    (first,) = torch.autograd.grad(made(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    assert second.tolist() == pytest.approx([-1.274821] * 3, rel=1e-5)


def test_it_stops_when_all_is_there() -> None:
    seen: list[str] = []

    def step(x: torch.Tensor) -> torch.Tensor:
        y = x.sin().exp()
        seen.append("last")
        return y + 1

    x = torch.ones(2, requires_grad=True)
    checkpoint(step, x, use_reentrant=False).sum().backward()
    assert seen == ["last"]
    with set_checkpoint_early_stop(False):
        y = checkpoint(step, x, use_reentrant=False)
    y.sum().backward()
    assert seen == ["last"] * 3


@pytest.mark.parametrize(
    ("first", "second", "text"),
    [
        ("a.sin()", "a.sin().cos().exp()", "trying to save more tensors during recomputation"),
        ("a.sin().cos().exp()", "a.sin()", "saved during forward: 3\n.* recomputation: 1"),
        ("a.sin()", "a[:2].sin()", "have different metadata"),
    ],
)
def test_a_second_time_that_is_not_like_the_first(first: str, second: str, text: str) -> None:
    texts = [first, second]
    y = checkpoint(
        lambda a: eval(texts.pop(0)),
        torch.ones(3, requires_grad=True),
        use_reentrant=False,
        early_stop=False,
    )
    with pytest.raises(CheckpointError, match=text):
        y.sum().backward()


def test_what_is_refused_and_warned_of() -> None:
    x = torch.ones(2, requires_grad=True)
    with pytest.warns(UserWarning, match="use_reentrant parameter should be passed explicitly"):
        checkpoint(torch.sin, x)
    with pytest.raises(ValueError, match="Unexpected keyword arguments: b"):
        checkpoint(lambda a, b=1: a, x, use_reentrant=True, b=2)
    with pytest.raises(ValueError, match="only supported when use_reentrant=False"):
        checkpoint(torch.sin, x, use_reentrant=True, debug=True)
    with pytest.raises(ValueError, match=r"one of \['default', 'none'\], but got x"):
        checkpoint(torch.sin, x, use_reentrant=False, determinism_check="x")


@both
def test_sequences_in_segments(reentrant: bool) -> None:
    count = [0]

    def sine(x: torch.Tensor) -> torch.Tensor:
        count[0] += 1
        return x.sin()

    x = torch.ones(2, requires_grad=True)
    checkpoint_sequential([sine] * 5, 2, x, use_reentrant=reentrant).sum().backward()
    assert count[0] == 7  # the last segment is not computed again


def test_kept_tensors_that_change() -> None:
    x = torch.ones(3, requires_grad=True)
    with torch.autograd.graph.allow_mutation_on_saved_tensors() as context:
        y = x * 1
        out = y.sin()
        y.mul_(5)
        assert len(context.cloned) == 1
        with (
            pytest.raises(RuntimeError, match="contexts cannot be nested"),
            torch.autograd.graph.allow_mutation_on_saved_tensors(),
        ):
            pass
    with pytest.raises(AssertionError, match="Trying to backward outside"):
        out.sum().backward()


def test_numbers_of_tensors_that_want_gradients() -> None:
    GIVEN.clear()
    x = torch.ones([], requires_grad=True)
    with pytest.warns(UserWarning, match="Converting a tensor with requires_grad=True to a scalar"):
        float(x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        float(x)  # once in a process
        GIVEN.clear()
        assert (int(x), bool(x), x.item(), float(x.detach())) == (1, True, 1.0, 1.0)


def test_classes_of_tensors_of_devices_are_one_each() -> None:
    assert torch.cuda.FloatTensor is torch.cuda.FloatTensor
    assert isinstance(torch.cuda.FloatTensor, type)


def _chosen(
    policy: object, computed: Callable[..., object], **options: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    x = torch.linspace(0.1, 1, 4).view(2, 2).requires_grad_()
    blocks = partial(create_selective_checkpoint_contexts, policy, **options)
    return x, checkpoint(computed, x, use_reentrant=False, context_fn=blocks)


def test_results_that_a_policy_keeps_are_not_computed_again() -> None:
    ran: list[str] = []
    asked: list[tuple[bool, str]] = []

    class Ran(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
            ran.append(str(func))
            return func(*args, **(kwargs or {}))

    def policy(about: Any, func: Any, *args: Any, **kwargs: Any) -> bool:
        asked.append((about.is_recompute, str(func)))
        return bool(func == torch.ops.aten.mm.default)

    def computed(x: torch.Tensor) -> torch.Tensor:
        return (x @ x).sin().exp()

    x, made = _chosen(policy, computed)
    assert asked == [(False, f"aten.{name}.default") for name in ("mm", "sin", "exp")]
    with Ran():
        made.sum().backward(retain_graph=True)
    assert len(asked) == 3
    assert "aten.sin.default" in ran
    assert ran.count("aten.mm.default") == 2  # those of the gradients
    plain = x.detach().clone().requires_grad_()
    computed(plain).sum().backward()
    torch.testing.assert_close(x.grad, plain.grad)
    with pytest.raises(RuntimeError, match="Trying to backward an extra time"):
        made.sum().backward()


def test_results_that_are_kept_are_not_written_unless_that_is_allowed() -> None:
    kept = [torch.ops.aten.sin.default]

    def computed(x: torch.Tensor) -> torch.Tensor:
        return x.sin().mul_(2).cos()

    with pytest.raises(RuntimeError, match="has been mutated"):
        _chosen(kept, computed)[1].sum().backward()
    x, made = _chosen(kept, computed, allow_cache_entry_mutation=True)
    made.sum().backward()
    assert x.grad is not None


def test_policies_are_functions_or_lists_of_overloads() -> None:
    with pytest.raises(ValueError, match=r"change it to `torch.ops.aten.mm.default`"):
        create_selective_checkpoint_contexts([torch.ops.aten.mm])
    with pytest.raises(ValueError, match="to be an OpOverload but got: 3"):
        create_selective_checkpoint_contexts([3])
    with pytest.raises(TypeError, match="either a function or a list of ops"):
        create_selective_checkpoint_contexts(3)


@both
def test_arguments_may_be_results(reentrant: bool) -> None:
    x = torch.ones(2, requires_grad=True)
    given, twice, said = checkpoint(lambda a: (a, a * 2, "said"), x, use_reentrant=reentrant)
    assert said == "said"
    (given * 3 + twice).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [5, 5]


def test_leaves_of_reentrant_checkpoints_are_not_asked_for_one_by_one() -> None:
    x = torch.ones(2, requires_grad=True)
    made = checkpoint(torch.exp, x, use_reentrant=True).sum()
    with pytest.raises(RuntimeError, match=r"is incompatible with .grad\(\)"):
        torch.autograd.grad(made, x)
    with pytest.raises(RuntimeError, match="passing an `inputs` parameter"):
        checkpoint(torch.exp, x, use_reentrant=True).sum().backward(inputs=[x])


def test_what_is_computed_again_goes_without_the_collector() -> None:
    class Mark:
        """Put onto a leaf, goes when that goes."""

    left = []
    gc.disable()
    try:
        for _ in range(3):
            x = torch.ones(2, requires_grad=True)
            mark = x.mark = Mark()  # type: ignore[attr-defined]
            made = checkpoint(lambda a: a.sin().exp().sin(), x, use_reentrant=False)
            (grad,) = torch.autograd.grad(made.sum(), x, create_graph=True)
            assert grad.requires_grad
            left.append(weakref.ref(mark))
            del x, mark, made, grad
            assert left[-1]() is None
    finally:
        gc.enable()
