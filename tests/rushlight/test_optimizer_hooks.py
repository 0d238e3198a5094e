"""Hooks of optimizers, in torch's order."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch
from rushlight.optim import SGD, Optimizer
from rushlight.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)


def parameter() -> Any:
    made = torch.nn.Parameter(torch.ones(2))
    made.grad = torch.ones(2)
    return made


def noting(log: list[Any], tag: str, given: Any = None) -> Callable[..., Any]:
    def hook(optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        log.append((tag, args == (optimizer,), kwargs))
        return given

    return hook


def test_hooks_of_all_optimizers_are_outermost() -> None:
    log: list[Any] = []
    optimizer = SGD([parameter()], lr=0.1)
    optimizer.register_step_pre_hook(noting(log, "own before"))
    own = optimizer.register_step_post_hook(noting(log, "own after", 5))
    with (
        register_optimizer_step_pre_hook(noting(log, "before")),
        register_optimizer_step_post_hook(noting(log, "after")),
    ):
        assert optimizer.step() is None
    tags = ["before", "own before", "own after", "after"]
    assert log == [(tag, True, {}) for tag in tags]
    own.remove()
    optimizer.step(closure=None)
    assert log[4:] == [("own before", True, {"closure": None})]
    copy.deepcopy(optimizer).step()  # which has no hooks
    assert len(log) == 5


def test_arguments_are_exchanged_before_a_step() -> None:
    optimizer = SGD([parameter()], lr=0.1)
    handle = optimizer.register_step_pre_hook(lambda own, args, _: ((args[0], lambda: 7.0), {}))
    assert optimizer.step() == 7.0
    handle.remove()
    optimizer.register_step_pre_hook(lambda *_: 3)
    text = r"step at .* must return None or a tuple of \(new_args, new_kwargs\), but got 3\."
    with pytest.raises(RuntimeError, match=text):
        optimizer.step()


def test_steps_of_classes_of_users() -> None:
    log: list[Any] = []

    class Mine(Optimizer):
        def step(self, closure: Any = None) -> Any:
            log.append("mine")
            return 3

    class Further(SGD):
        def step(self, closure: Any = None) -> Any:
            log.append("further")
            return super().step(closure)

    class Wrapping(Optimizer):
        def __init__(self) -> None:
            self.param_groups = []

        def step(self, closure: Any = None) -> Any:
            return 4

    mine, further = Mine([parameter()], {}), Further([parameter()], lr=0.1)
    for each in (mine, further):
        each.register_step_pre_hook(lambda *_: log.append("before"))
    assert mine.step() == 3
    further.step()
    assert log == ["before", "mine", "before", "further", "before"]
    assert Wrapping().step() == 4


def test_hooks_of_states() -> None:
    log: list[Any] = []
    optimizer = SGD([parameter()], lr=0.1)
    optimizer.register_state_dict_pre_hook(lambda own: log.append("before"))
    optimizer.register_state_dict_post_hook(lambda own, state: log.append(sorted(state)))
    optimizer.register_state_dict_post_hook(lambda own, state: {**state, "x": 1}, prepend=True)
    state = optimizer.state_dict()
    assert log == ["before", ["param_groups", "state", "x"]]
    del log[:]

    def without(own: Any, given: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in given.items() if name != "x"}

    optimizer.register_load_state_dict_pre_hook(lambda own, given: log.append(sorted(given)))
    optimizer.register_load_state_dict_pre_hook(without, prepend=True)
    optimizer.register_load_state_dict_post_hook(lambda own: log.append("after"))
    optimizer.load_state_dict(state)
    assert log == [["param_groups", "state"], "after"]


def test_defaults_are_for_those_who_add_groups() -> None:
    class Idle(torch.optim.Optimizer):
        def __init__(self) -> None:
            super().__init__([torch.zeros(1)], [])  # type: ignore[arg-type]

        def add_param_group(self, param_group: object) -> None:
            pass

    assert Idle().param_groups == []
    with pytest.raises(RuntimeError, match="`fused` and `foreach` cannot be `True` together"):
        torch.optim.Adam([torch.zeros(1)], foreach=True, fused=True)
