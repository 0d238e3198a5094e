"""Learning rates that go up and down: in cycles, once, or down along cosines that begin anew."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence

from .optimizer import Group, Optimizer
from .scheduler import LRScheduler, set_value

__all__ = ["CosineAnnealingWarmRestarts", "CyclicLR", "OneCycleLR"]

Values = float | Sequence[float]


def _each(optimizer: Optimizer, value: Values, name: str) -> list[float]:
    """A value for each group of parameters."""
    count = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        return [value] * count  # type: ignore[list-item]
    if len(value) != count:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. {name} has "
            f"{len(value)} values, param_groups has {count}."
        )
    return list(value)


def _set_momentum(group: Group, value: float) -> None:
    """Set the momentum of a group, or the first of its betas."""
    if "betas" in group:
        group["betas"] = (value, *group["betas"][1:])
    else:
        group["momentum"] = value


def _check_momentum(optimizer: Optimizer) -> None:
    if not {"momentum", "betas"} & optimizer.defaults.keys():
        raise ValueError(
            "optimizer must support momentum or beta1 with `cycle_momentum` option enabled"
        )


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
        for group, rate in zip(self.optimizer.param_groups, self.get_lr(), strict=True):
            set_value(group, "lr", rate)
        self._last_lr = self.rates

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
        bases = _each(optimizer, base_lr, "base_lr")
        if last_epoch == -1:
            for rate, group in zip(bases, optimizer.param_groups, strict=True):
                set_value(group, "lr", rate)
        self.max_lrs = _each(optimizer, max_lr, "max_lr")
        down = float(step_size_up if step_size_down is None else step_size_down)
        self.total_size = float(step_size_up) + down
        self.step_ratio = float(step_size_up) / self.total_size
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode, self.gamma = mode, gamma
        self._scale_fn = scale_fn
        self.scale_mode = scale_mode
        if scale_fn is None:
            self.scale_mode = "iterations" if mode == "exp_range" else "cycle"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            _check_momentum(optimizer)
            self.base_momentums = _each(optimizer, base_momentum, "base_momentum")
            self.max_momentums = _each(optimizer, max_momentum, "max_momentum")
            if last_epoch == -1:
                for value, group in zip(self.max_momentums, optimizer.param_groups, strict=True):
                    _set_momentum(group, value)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = bases

    def scale_fn(self, x: float) -> float:
        """How high a cycle goes."""
        if self._scale_fn is not None:
            return self._scale_fn(x)
        if self.mode == "triangular":
            return 1.0
        return float(0.5 ** (x - 1) if self.mode == "triangular2" else self.gamma**x)

    def get_lr(self) -> list[float]:
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        up = x <= self.step_ratio
        share = x / self.step_ratio if up else (x - 1) / (self.step_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            bounds = zip(self.base_momentums, self.max_momentums, strict=True)
            for (low, high), group in zip(bounds, self.optimizer.param_groups, strict=True):
                _set_momentum(group, high - (high - low) * share * scale)
        return [
            low + (high - low) * share * scale
            for low, high in zip(self.base_lrs, self.max_lrs, strict=True)
        ]


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
        self.total_steps = _total(total_steps, epochs, steps_per_epoch)
        if not 0 <= pct_start <= 1 or not isinstance(pct_start, float):
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        self._anneal_func_type = anneal_strategy
        self._phases = _phases(self.total_steps, pct_start, three_phase)
        self.cycle_momentum = cycle_momentum
        highest = _each(optimizer, max_lr, "max_lr")
        if last_epoch == -1:
            for rate, group in zip(highest, optimizer.param_groups, strict=True):
                group["initial_lr"] = rate / div_factor
                group["max_lr"] = rate
                group["min_lr"] = group["initial_lr"] / final_div_factor
        if cycle_momentum:
            _check_momentum(optimizer)
            lows = _each(optimizer, base_momentum, "base_momentum")
            highs = _each(optimizer, max_momentum, "max_momentum")
            if last_epoch == -1:
                for low, high, group in zip(lows, highs, optimizer.param_groups, strict=True):
                    _set_momentum(group, high)
                    group["max_momentum"], group["base_momentum"] = high, low
        super().__init__(optimizer, last_epoch)

    def _between(self, start: float, end: float, share: float) -> float:
        if self._anneal_func_type == "linear":
            return (end - start) * share + start
        return end + (start - end) / 2.0 * (1 + math.cos(math.pi * share))

    def get_lr(self) -> list[float]:
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(
                f"Tried to step {step} times. The total number of steps is {self.total_steps}"
            )
        ends = [phase[0] for phase in self._phases]
        number = min(bisect_left(ends, step), len(ends) - 1)
        end, first, last, first_momentum, last_momentum = self._phases[number]
        start = ends[number - 1] if number else 0.0
        share = (step - start) / (end - start)
        rates = []
        for group in self.optimizer.param_groups:
            rates.append(self._between(group[first], group[last], share))
            if self.cycle_momentum:
                bounds = group[first_momentum], group[last_momentum]
                _set_momentum(group, self._between(*bounds, share))
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


_Phase = tuple[float, str, str, str, str]


def _phases(total: int, share: float, three: bool) -> list[_Phase]:
    """When each phase ends, between which rates it goes, and between which momentums."""
    up = ("initial_lr", "max_lr", "max_momentum", "base_momentum")
    top = share * total - 1
    if not three:
        return [(top, *up), (total - 1, "max_lr", "min_lr", "base_momentum", "max_momentum")]
    return [
        (top, *up),
        (2 * share * total - 2, "max_lr", "initial_lr", "base_momentum", "max_momentum"),
        (total - 1, "initial_lr", "min_lr", "max_momentum", "max_momentum"),
    ]
