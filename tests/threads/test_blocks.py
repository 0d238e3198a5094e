"""What a `with` block says holds in its own thread alone."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest

import rushlight as torch
from rushlight.autograd.graph import allow_mutation_on_saved_tensors
from rushlight.fx import traceback
from rushlight.nn.utils import parametrize
from rushlight.utils.checkpoint import checkpoint, set_checkpoint_early_stop


@contextmanager
def amid_another_thread(
    act: Callable[[], AbstractContextManager[object]],
) -> Iterator[Callable[[], None]]:
    """A block while another thread is inside one of its own; it gives what ends the other's."""
    entered, may_leave = threading.Event(), threading.Event()

    def run() -> None:
        with act():
            entered.set()
            may_leave.wait()

    thread = threading.Thread(target=run)
    thread.start()
    entered.wait()

    def leave() -> None:
        may_leave.set()
        thread.join()

    try:
        yield leave
    finally:
        leave()


def test_notes_for_nodes() -> None:
    with amid_another_thread(traceback.preserve_node_meta) as leave:
        assert not traceback.has_preserved_node_meta()
        with traceback.preserve_node_meta(), traceback.annotate({"mine": 1}):
            leave()
            assert traceback.has_preserved_node_meta()
            assert traceback.get_current_meta() == {"custom": {"mine": 1}}
    assert not traceback.has_preserved_node_meta()
    assert traceback.get_current_meta() == {}


def test_saved_tensors_that_may_change() -> None:
    with amid_another_thread(allow_mutation_on_saved_tensors):
        with allow_mutation_on_saved_tensors():
            x = torch.ones(2, requires_grad=True)
            squared = (y := x.clone()) * y
            y.add_(1)
            squared.sum().backward()
        assert torch.equal(x.grad, torch.full((2,), 2.0))
    with (
        pytest.raises(RuntimeError, match="cannot be nested"),
        allow_mutation_on_saved_tensors(),
        allow_mutation_on_saved_tensors(),
    ):
        pass


class Doubled(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2


def test_parametrized_tensors_are_computed_once_until_the_last_thread_has_left() -> None:
    layer = torch.nn.Linear(2, 2)
    parametrize.register_parametrization(layer, "weight", Doubled())
    with amid_another_thread(parametrize.cached) as leave:  # the setting is the process's
        first = layer.weight
        with parametrize.cached():
            leave()
            assert layer.weight is first
    assert layer.weight is not layer.weight


def test_how_many_contexts_of_autocast_there_are() -> None:
    with amid_another_thread(lambda: torch.autocast("cpu")), torch.autocast("cpu"):
        assert torch.autocast_increment_nesting() == 2
        assert torch.autocast_decrement_nesting() == 1


@pytest.mark.parametrize("early", [True, False])
def test_checkpoints_that_stop_early(early: bool) -> None:
    done: list[str] = []

    def function(x: torch.Tensor) -> torch.Tensor:
        y = x.exp()
        done.append("first")
        y = y.exp()
        done.append("second")
        return y

    with amid_another_thread(lambda: set_checkpoint_early_stop(not early)) as leave:
        x = torch.ones(2, requires_grad=True)
        with set_checkpoint_early_stop(early):
            leave()
            made = checkpoint(function, x, use_reentrant=False)
        made.sum().backward()
    assert done == ["first", "second", "first", *([] if early else ["second"])]
