"""Schedulers: rates that are tensors, steps by number, state."""

from __future__ import annotations

import copy
import pickle

import pytest

import rushlight as torch
from rushlight import nn
from rushlight.optim import SGD, lr_scheduler


def optimizer(rate: object = 1.0) -> SGD:
    made = SGD([nn.Parameter(torch.ones(1))], lr=1.0)
    made.param_groups[0]["lr"] = rate
    return made


def test_a_rate_that_is_a_tensor_stays_the_same_one() -> None:
    rate = torch.tensor(1.0)
    scheduler = lr_scheduler.ExponentialLR(optimizer(rate), 0.5)
    scheduler.optimizer.step()
    scheduler.step()
    assert rate == 0.5
    assert scheduler.base_lrs == [1.0]
    assert scheduler.optimizer.param_groups[0]["initial_lr"] == 1.0


def test_a_step_by_number_takes_the_closed_form() -> None:
    scheduler = lr_scheduler.StepLR(optimizer(), 2, 0.5)
    scheduler.optimizer.step()
    with pytest.warns(UserWarning, match="The epoch parameter in `scheduler.step"):
        scheduler.step(5)
    assert scheduler.get_last_lr() == [0.25]


def test_composed_schedulers_keep_the_state_of_theirs() -> None:
    def made() -> lr_scheduler.SequentialLR:
        o = optimizer()
        parts = [lr_scheduler.ConstantLR(o, 0.5, 2), lr_scheduler.ExponentialLR(o, 0.5)]
        return lr_scheduler.SequentialLR(o, parts, [3])

    first, second = made(), made()
    for _ in range(5):
        first.optimizer.step()
        first.step()
    second.load_state_dict(first.state_dict())
    assert second.last_epoch == 5
    assert second._schedulers[1].last_epoch == first._schedulers[1].last_epoch


class Decay:
    """A function of the number of steps that holds something."""

    def __init__(self) -> None:
        self.base = 0.5

    def __call__(self, step: int) -> float:
        return self.base**step


@pytest.mark.parametrize("kind", [lr_scheduler.LambdaLR, lr_scheduler.MultiplicativeLR])
def test_functions_keep_what_they_hold(kind: type[lr_scheduler.LambdaLR]) -> None:
    state = kind(optimizer(), Decay()).state_dict()
    assert state["lr_lambdas"] == [{"base": 0.5}]
    assert kind(optimizer(), lambda step: 0.5).state_dict()["lr_lambdas"] == [None]
    decay = Decay()
    kind(optimizer(), decay).load_state_dict({**state, "lr_lambdas": [{"base": 0.25}]})
    assert decay.base == 0.25
    with pytest.raises(ValueError, match="Expected 1 lr_lambdas, but got 2"):
        kind(optimizer(), [decay, decay])


def test_a_step_before_the_first_of_the_optimizer_warns_once() -> None:
    held = optimizer()
    scheduler = lr_scheduler.StepLR(held, 2)
    with pytest.warns(UserWarning, match="^Detected call of `lr_scheduler.step"):
        scheduler.step()
    scheduler.step()
    assert scheduler._step_count == 3
    assert scheduler.state_dict()["_step_count"] == 3


def test_steps_in_order_do_not_warn(recwarn: pytest.WarningsRecorder) -> None:
    held = optimizer()
    schedulers = [lr_scheduler.ConstantLR(held, 0.5, 2), lr_scheduler.ExponentialLR(held, 0.5)]
    both = lr_scheduler.SequentialLR(held, schedulers, [2])
    for _ in range(3):
        held.step()
        both.step()
    assert not recwarn.list
    assert [each._step_count for each in schedulers] == [2, 2]


def test_an_exchanged_step_of_the_optimizer_warns() -> None:
    held = optimizer()
    scheduler = lr_scheduler.StepLR(held, 2)
    held.step = lambda closure=None: None  # type: ignore[method-assign]
    held.step()
    with pytest.warns(UserWarning, match="^Seems like `optimizer.step"):
        scheduler.step()


def test_an_optimizer_with_a_scheduler_can_be_copied_and_pickled() -> None:
    held = optimizer()
    lr_scheduler.StepLR(held, 2)
    for other in (copy.deepcopy(held), pickle.loads(pickle.dumps(held))):
        other.step()
        assert other.param_groups[0]["lr"] == 1.0


def test_only_optimizers_have_schedulers() -> None:
    with pytest.raises(TypeError, match="int is not an Optimizer"):
        lr_scheduler.StepLR(3, 2)  # type: ignore[arg-type]
