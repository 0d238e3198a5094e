"""Schedulers: rates that are tensors, steps by number, state."""

from __future__ import annotations

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
    scheduler.step()
    assert rate == 0.5
    assert scheduler.base_lrs == [1.0]
    assert scheduler.optimizer.param_groups[0]["initial_lr"] == 1.0


def test_a_step_by_number_takes_the_closed_form() -> None:
    scheduler = lr_scheduler.StepLR(optimizer(), 2, 0.5)
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
        first.step()
    second.load_state_dict(first.state_dict())
    assert second.last_epoch == 5
    assert second._schedulers[1].last_epoch == first._schedulers[1].last_epoch
