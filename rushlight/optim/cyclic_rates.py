"""Learning rates that go up and down: in cycles, once, or down along cosines that begin anew."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from functools import partial
from types import FunctionType
from typing import TypedDict

from .optimizer import Group, Optimizer
from .saved_state import StateDict
from .scheduler import LRScheduler, Values, check_optimizer, of_groups, own, set_value

__all__ = ["CosineAnnealingWarmRestarts", "CyclicLR", "OneCycleLR"]


def _set_momentum(group: Group, value: float) -> None:
    """Set the momentum of a group, or the first of its betas."""
    if "betas" in group:
        group["betas"] = (value, *group["betas"][1:])
    else:
        group.setdefault("momentum", value)
        set_value(group, "momentum", own(value))


def _uses_betas(optimizer: Optimizer) -> bool:
    """Whether the first of the betas is the momentum.

    Raises:
        ValueError: the optimizer has no momentum.
    """
    if not {"momentum", "betas"} & optimizer.defaults.keys():
        raise ValueError(
            "optimizer must support momentum or beta1 with `cycle_momentum` option enabled"
        )
    return "betas" in optimizer.defaults


def _begin_momentum(optimizer: Optimizer, lows: list[float], highs: list[float]) -> None:
    """Set the first momentums, and have the groups know the bounds."""
    for low, high, group in zip(lows, highs, optimizer.param_groups, strict=True):
        _set_momentum(group, high)
        group["max_momentum"], group["base_momentum"] = high, low


class CosineAnnealingWarmRestarts(LRScheduler):
    """The rates go down along a cosine and begin anew (Loshchilov and Hutter 2017).

    Args:
        optimizer: whose rates are set.
        T_0: the steps of the first cosine.
        T_mult: how many times longer the next one is.
        eta_min: the lowest rate.
        last_epoch: the number of steps done before; -1 to begin.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(
                f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}"
            )
        self.T_0, self.T_i, self.T_mult = T_0, T_0, T_mult
        self.eta_min = eta_min
        self.T_cur: float = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        self._expect_step()
        share = (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
        return [self.eta_min + (base - self.eta_min) * share for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Go to the next rates, or to those of a time, also between two steps."""
        self._go(epoch)

    def _go(self, epoch: float | None) -> None:
        if epoch is not None or self.last_epoch < 0:
            time = 0 if epoch is None else epoch
            self._go_to(time)
        else:
            time = self.last_epoch + 1
            self._go_on()
        self.last_epoch = math.floor(time)
        with self._setting_rates():
            self._set_rates(self.get_lr())

    def _go_on(self) -> None:
        self.T_cur += 1
        if self.T_cur >= self.T_i:
            self.T_cur -= self.T_i
            self.T_i *= self.T_mult

    def _go_to(self, epoch: float) -> None:
        if epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")
        if epoch < self.T_0:
            self.T_i, self.T_cur = self.T_0, epoch
        elif self.T_mult == 1:
            self.T_i, self.T_cur = self.T_0, epoch % self.T_0
        else:
            done = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            before = self.T_0 * (self.T_mult**done - 1) / (self.T_mult - 1)
            self.T_i, self.T_cur = self.T_0 * self.T_mult**done, epoch - before


class CyclicLR(LRScheduler):
    """The rates go up and down between two bounds (Smith 2017).

    Args:
        optimizer: whose rates are set.
        base_lr: the lower bounds.
        max_lr: the upper bounds.
        step_size_up: the steps of the way up.
        step_size_down: the steps of the way down; as many by default.
        mode: `triangular`, `triangular2` (half as high each cycle) or `exp_range` (lower by `gamma`
            each step); of no meaning with a `scale_fn`.
        gamma: what `exp_range` takes the power of.
        scale_fn: how high a cycle goes.
        scale_mode: whether `scale_fn` gets the number of the `cycle` or of `iterations`.
        cycle_momentum: whether the momentum goes the other way.
        base_momentum: its lower bounds.
        max_momentum: its upper bounds.
        last_epoch: the number of steps done before; -1 to begin.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: Values,
        max_lr: Values,
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: Values = 0.8,
        max_momentum: Values = 0.9,
        last_epoch: int = -1,
    ) -> None:
        check_optimizer(optimizer)
        bases = of_groups(optimizer, base_lr, "base_lr")
        if last_epoch == -1:
            for rate, group in zip(bases, optimizer.param_groups, strict=True):
                set_value(group, "lr", rate)
        self.max_lrs = of_groups(optimizer, max_lr, "max_lr")
        down = float(step_size_up if step_size_down is None else step_size_down)
        self.total_size = float(step_size_up) + down
        self.step_ratio = float(step_size_up) / self.total_size
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode, self.gamma = mode, gamma
        self._scale_fn_custom = scale_fn
        self._init_scale_fn()
        self.scale_mode = scale_mode
        if scale_fn is None:
            self.scale_mode = "iterations" if mode == "exp_range" else "cycle"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1 = _uses_betas(optimizer)
            self.base_momentums = of_groups(optimizer, base_momentum, "base_momentum")
            self.max_momentums = of_groups(optimizer, max_momentum, "max_momentum")
            if last_epoch == -1:
                _begin_momentum(optimizer, self.base_momentums, self.max_momentums)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = bases

    def _init_scale_fn(self) -> None:
        """Take the function of the mode, unless there is one of one's own."""
        if self._scale_fn_custom is None:
            functions: dict[str, Callable[[float], float]] = {
                "triangular": self._triangular_scale_fn,
                "triangular2": self._triangular2_scale_fn,
                "exp_range": partial(self._exp_range_scale_fn, self.gamma),
            }
            self._scale_fn_ref = functions[self.mode]

    @staticmethod
    def _triangular_scale_fn(x: float) -> float:
        return 1.0

    @staticmethod
    def _triangular2_scale_fn(x: float) -> float:
        return float(1 / (2.0 ** (x - 1)))

    @staticmethod
    def _exp_range_scale_fn(gamma: float, x: float) -> float:
        return float(gamma**x)

    def scale_fn(self, x: float) -> float:
        """How high a cycle goes."""
        function = self._scale_fn_custom
        return self._scale_fn_ref(x) if function is None else function(x)

    def get_lr(self) -> list[float]:
        self._expect_step()
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        up = x <= self.step_ratio
        share = x / self.step_ratio if up else (x - 1) / (self.step_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            bounds = zip(self.base_momentums, self.max_momentums, strict=True)
            for group, (low, high) in zip(self.optimizer.param_groups, bounds, strict=True):
                _set_momentum(group, high - (high - low) * share * scale)
        return [
            low + (high - low) * share * scale
            for low, high in zip(self.base_lrs, self.max_lrs, strict=True)
        ]

    def state_dict(self) -> StateDict:
        """Everything but the optimizer; of a function of one's own only what an object holds."""
        state = super().state_dict()
        state.pop("_scale_fn_ref", None)
        function = state.pop("_scale_fn_custom")
        plain = function is None or isinstance(function, FunctionType)
        state["_scale_fn_custom"] = None if plain else dict(vars(function))
        return state

    def load_state_dict(self, state_dict: StateDict) -> None:
        """Take over what `state_dict` gave; a function of one's own stays."""
        given = dict(state_dict)
        held = given.pop("_scale_fn_custom")
        super().load_state_dict(given)
        if held is not None:
            vars(self._scale_fn_custom).update(held)
        self._init_scale_fn()


class OneCycleLR(LRScheduler):
    """The rates go up and then down to nearly nothing (Smith and Topin 2018).

    Args:
        optimizer: whose rates are set.
        max_lr: the highest rates.
        total_steps: the steps of all; or else `epochs` times `steps_per_epoch`.
        pct_start: the share of them that goes up.
        anneal_strategy: `cos` or `linear`.
        cycle_momentum: whether the momentum goes the other way.
        base_momentum: its lower bounds.
        max_momentum: its upper bounds.
        div_factor: by how much the first rate is lower than the highest.
        final_div_factor: by how much the last rate is lower than the first.
        three_phase: whether the way down stops at the first rate for a while.
        last_epoch: the number of steps done before; -1 to begin.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: Values,
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: Values = 0.85,
        max_momentum: Values = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        check_optimizer(optimizer)
        self.total_steps = _total(total_steps, epochs, steps_per_epoch)
        if not 0 <= pct_start <= 1 or not isinstance(pct_start, float):
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        self._anneal_func_type = anneal_strategy
        self._schedule_phases = _phases(self.total_steps, pct_start, three_phase)
        self.cycle_momentum = cycle_momentum
        highest = of_groups(optimizer, max_lr, "max_lr")
        if last_epoch == -1:
            for rate, group in zip(highest, optimizer.param_groups, strict=True):
                group["initial_lr"] = rate / div_factor
                group["max_lr"] = rate
                group["min_lr"] = group["initial_lr"] / final_div_factor
        if cycle_momentum:
            self.use_beta1 = _uses_betas(optimizer)
            lows = of_groups(optimizer, base_momentum, "base_momentum")
            highs = of_groups(optimizer, max_momentum, "max_momentum")
            if last_epoch == -1:
                _begin_momentum(optimizer, lows, highs)
        super().__init__(optimizer, last_epoch)

    def _anneal_func(self, start: float, end: float, pct: float) -> float:
        """The value between two; states of old versions hold the function itself."""
        if hasattr(self, "_anneal_func_type"):
            cosine = self._anneal_func_type == "cos"
            function = self._annealing_cos if cosine else self._annealing_linear
            return function(start, end, pct)
        return float(vars(self)["anneal_func"](start, end, pct))

    @staticmethod
    def _annealing_cos(start: float, end: float, pct: float) -> float:
        return end + (start - end) / 2.0 * (math.cos(math.pi * pct) + 1)

    @staticmethod
    def _annealing_linear(start: float, end: float, pct: float) -> float:
        return (end - start) * pct + start

    def get_lr(self) -> list[float]:
        self._expect_step()
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(
                f"Tried to step {step} times. The specified number of total steps is "
                f"{self.total_steps}"
            )
        ends = [phase["end_step"] for phase in self._schedule_phases]
        number = min(bisect_left(ends, step), len(ends) - 1)
        phase = self._schedule_phases[number]
        start = ends[number - 1] if number else 0.0
        share = (step - start) / (ends[number] - start)
        rates = []
        for group in self.optimizer.param_groups:
            bounds = group[phase["start_lr"]], group[phase["end_lr"]]
            rates.append(self._anneal_func(*bounds, share))
            if self.cycle_momentum:
                bounds = group[phase["start_momentum"]], group[phase["end_momentum"]]
                _set_momentum(group, self._anneal_func(*bounds, share))
        return rates


def _total(total: int | None, epochs: int | None, steps: int | None) -> int:
    """How many steps there are."""
    for name, value in (("total_steps", total), ("epochs", epochs), ("steps_per_epoch", steps)):
        if value is not None and (value <= 0 or not isinstance(value, int)):
            raise ValueError(f"Expected positive integer {name}, but got {value}")
    if total is not None:
        return total
    if epochs is None or steps is None:
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    return epochs * steps


class _Phase(TypedDict):
    """When a phase ends, and between which values of a group rates and momentums go."""

    end_step: float
    start_lr: str
    end_lr: str
    start_momentum: str
    end_momentum: str


def _phase(end: float, rates: tuple[str, str], momentums: tuple[str, str]) -> _Phase:
    return {
        "end_step": end,
        "start_lr": rates[0],
        "end_lr": rates[1],
        "start_momentum": momentums[0],
        "end_momentum": momentums[1],
    }


def _phases(total: int, share: float, three: bool) -> list[_Phase]:
    top = float(share * total) - 1
    fall, rise = ("max_momentum", "base_momentum"), ("base_momentum", "max_momentum")
    up = _phase(top, ("initial_lr", "max_lr"), fall)
    if not three:
        return [up, _phase(total - 1, ("max_lr", "min_lr"), rise)]
    return [
        up,
        _phase(float(2 * share * total) - 2, ("max_lr", "initial_lr"), rise),
        _phase(total - 1, ("initial_lr", "min_lr"), ("max_momentum", "max_momentum")),
    ]
