"""Schedulers: rates that are tensors, steps by number, state."""

from __future__ import annotations

import copy
import gc
import pickle
import threading
import types

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


S = lr_scheduler


def momentum_optimizer(rate: object = 0.5) -> SGD:
    return SGD([nn.Parameter(torch.zeros(1))], lr=rate, momentum=0.9)


def test_a_scheduler_does_not_keep_its_optimizer_alive() -> None:
    for thread in threading.enumerate():
        if thread.name == "rushlight-compiling":  # for an earlier test: it leaves circles behind
            thread.join()
    gc.collect()
    held = optimizer()
    S.StepLR(held, 2)
    assert gc.get_referrers(held) == []
    del held
    assert gc.collect() == 0


@pytest.mark.parametrize(
    ("make", "first"),
    [
        (lambda o, **k: S.ExponentialLR(o, 0.9, **k), 0.45),
        (lambda o, **k: S.MultiplicativeLR(o, lambda _: 0.5, **k), 0.25),
        (lambda o, **k: S.PolynomialLR(o, 5, **k), 0.4),
        (lambda o, **k: S.LinearLR(o, 0.5, total_iters=2, **k), 0.375),
        (lambda o, **k: S.CosineAnnealingLR(o, 5, 0.1, **k), 0.46180339887498956),
    ],
)
def test_resumed_schedulers_begin_with_the_rates_as_they_are(make, first: float) -> None:  # type: ignore[no-untyped-def]
    held = optimizer(0.5)
    scheduler = make(held)
    held.step()
    scheduler.step()
    assert scheduler.get_last_lr() == [pytest.approx(first, abs=1e-16)]
    assert make(held, last_epoch=0).get_last_lr() == scheduler.get_last_lr()
    with pytest.raises(KeyError, match=r"not specified in param_groups\[0\] when resuming sched"):
        make(optimizer(), last_epoch=0)


def test_rates_are_asked_for_by_get_last_lr() -> None:
    for scheduler in (S.StepLR(optimizer(), 2), S.CosineAnnealingWarmRestarts(optimizer(), 2)):
        with pytest.warns(UserWarning, match="^To get the last learning rate computed"):
            scheduler.get_lr()


@pytest.mark.parametrize("factors", [(0.0, 1.0), (1.1, 1.0), (0.5, 1.1), (0.5, -0.1)])
def test_factors_outside_0_and_1_are_refused(factors: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="ing multiplicative factor expected to be"):
        S.LinearLR(optimizer(), *factors)


def test_states_hold_what_torch_s_hold() -> None:
    common = ["_get_lr_called_within_step", "_is_initial", "_last_lr", "_step_count", "base_lrs"]
    state = S.CyclicLR(momentum_optimizer(), 0.1, 0.2).state_dict()
    more = "_scale_fn_custom base_momentums cycle_momentum gamma last_epoch max_lrs max_momentums"
    more += " mode scale_mode step_ratio total_size use_beta1"
    assert sorted(state) == sorted(common + more.split())
    assert pickle.loads(pickle.dumps(state)) == state
    state = S.OneCycleLR(momentum_optimizer(), 0.2, 10).state_dict()
    more = "_anneal_func_type _schedule_phases cycle_momentum last_epoch total_steps use_beta1"
    assert sorted(state) == sorted(common + more.split())
    assert state["_schedule_phases"][1] == {
        "end_step": 9,
        "start_lr": "max_lr",
        "end_lr": "min_lr",
        "start_momentum": "base_momentum",
        "end_momentum": "max_momentum",
    }


def test_cycles_keep_functions_and_restore_modes() -> None:
    held = momentum_optimizer()
    state = S.CyclicLR(held, 1, 5, mode="triangular2").state_dict()
    other = S.CyclicLR(held, 1, 5)
    assert isinstance(other._scale_fn_ref, types.FunctionType)
    other.load_state_dict(state)
    assert [other.scale_fn(cycle) for cycle in (1, 2, 3)] == [1.0, 0.5, 0.25]
    decay = Decay()
    state = S.CyclicLR(held, 1, 5, scale_fn=decay).state_dict()
    assert state["_scale_fn_custom"] == {"base": 0.5}
    S.CyclicLR(held, 1, 5, scale_fn=decay).load_state_dict(
        {**state, "_scale_fn_custom": {"base": 2}}
    )
    assert decay.base == 2


def test_one_cycle_takes_states_that_hold_the_function() -> None:
    first, second = (S.OneCycleLR(momentum_optimizer(), 0.2, 10) for _ in range(2))
    state = first.state_dict()
    del state["_anneal_func_type"], second._anneal_func_type
    second.load_state_dict({**state, "anneal_func": S.OneCycleLR._annealing_linear})
    second.optimizer.step()
    second.step()
    assert second.get_last_lr() == [pytest.approx(0.104, abs=1e-16)]


def test_bounds_that_are_tensors_are_copied() -> None:
    rate, top, low, high = map(torch.tensor, (0.1, 0.2, 0.8, 0.9))
    held = momentum_optimizer(rate)
    cycle = S.CyclicLR(held, rate, top, base_momentum=low, max_momentum=high)
    for bound in (rate, top, low, high):
        bound.mul_(0.5)
    held.step()
    cycle.step()
    group = held.param_groups[0]
    assert (cycle.base_lrs, cycle.max_lrs) == ([torch.tensor(0.1)], [torch.tensor(0.2)])
    assert (group["base_momentum"], group["max_momentum"]) == (torch.tensor(0.8), torch.tensor(0.9))


def test_plateaus_take_groups_added_later() -> None:
    def lowered(min_lr: object) -> SGD:
        held = optimizer()
        plateau = S.ReduceLROnPlateau(held, patience=0, min_lr=min_lr)  # type: ignore[arg-type]
        plateau.step(1)
        held.add_param_group({"params": [nn.Parameter(torch.ones(1))], "lr": 0.5})
        plateau.step(1.5)
        return held

    assert [group["lr"] for group in lowered(0.2).param_groups] == [0.2, 0.2]
    with pytest.raises(RuntimeError, match=r"^The number of param groups in the `optimizer` \(2\)"):
        lowered([0.2])
    for bad, words in (
        ({"mode": "x"}, "mode x is unknown!"),
        ({"threshold_mode": "x"}, "threshold mode x is unknown!"),
        ({"min_lr": [1.0, 2.0]}, "expected 1 min_lrs, got 2"),
    ):
        with pytest.raises(ValueError, match=words):
            S.ReduceLROnPlateau(optimizer(), **bad)  # type: ignore[arg-type]


def test_sequences_take_chains_and_refuse_plateaus() -> None:
    held = optimizer()
    chain = S.ChainedScheduler([S.ConstantLR(held, 0.5, 5), S.ConstantLR(held, 0.5, 5)])
    held.step()
    both = S.SequentialLR(held, [chain, S.ExponentialLR(held, 0.5)], [1])
    assert both.get_last_lr() == [0.25]
    assert [part.last_epoch for part in chain._schedulers] == [0, 0]
    with pytest.raises(ValueError, match=r"^SequentialLR does not support `ReduceLROnPlateau`"):
        S.SequentialLR(held, [S.ReduceLROnPlateau(held)], [])
    with pytest.raises(TypeError, match="at index 0 should have `optimizer` as its attribute"):
        S.ChainedScheduler([object()], held)  # type: ignore[list-item]
