"""`torch.optim.lr_scheduler`: learning rates that change with time."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from types import FunctionType

from ..module_names import names_of
from .composed_rates import ChainedScheduler, SequentialLR
from .cyclic_rates import CosineAnnealingWarmRestarts, CyclicLR, OneCycleLR
from .optimizer import Optimizer
from .plateau_rates import ReduceLROnPlateau
from .saved_state import StateDict
from .scheduler import EPOCH_DEPRECATION_WARNING as EPOCH_DEPRECATION_WARNING
from .scheduler import LRScheduler

__all__ = [
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]


_LRScheduler = LRScheduler


class _ByFunctions(LRScheduler):
    """What goes by functions of the number of steps, one for all groups or one each.

    Raises:
        ValueError: there are not as many functions as groups.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]],
        last_epoch: int = -1,
    ) -> None:
        count = len(optimizer.param_groups)
        self.lr_lambdas = [lr_lambda] * count if callable(lr_lambda) else list(lr_lambda)
        if len(self.lr_lambdas) != count:
            raise ValueError(f"Expected {count} lr_lambdas, but got {len(self.lr_lambdas)}")
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> StateDict:
        """Everything but the optimizer; of functions only what objects among them hold."""
        held = [
            None if isinstance(function, FunctionType) else dict(getattr(function, "__dict__", {}))
            for function in self.lr_lambdas
        ]
        return {**super().state_dict(), "lr_lambdas": held}

    def load_state_dict(self, state_dict: StateDict) -> None:
        """Take over what `state_dict` gave; the functions stay."""
        given = {key: value for key, value in state_dict.items() if key != "lr_lambdas"}
        super().load_state_dict(given)
        held = state_dict.get("lr_lambdas", ())
        for function, state in zip(self.lr_lambdas, held, strict=False):
            if state:
                vars(function).update(state)


class LambdaLR(_ByFunctions):
    """The first rates times a function of the number of steps."""

    def get_lr(self) -> list[float]:
        self._expect_step()
        pairs = zip(self.base_lrs, self.lr_lambdas, strict=True)
        return [base * function(self.last_epoch) for base, function in pairs]


class MultiplicativeLR(_ByFunctions):
    """The rates times a function of the number of steps, at every step."""

    def get_lr(self) -> list[float]:
        self._expect_step()
        if self._is_initial:
            return self.rates
        pairs = zip(self.lr_lambdas, self.rates, strict=True)
        return [rate * function(self.last_epoch) for function, rate in pairs]


class StepLR(LRScheduler):
    """The rates times `gamma` every `step_size` steps."""

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        self._expect_step()
        if self.last_epoch == 0 or self.last_epoch % self.step_size != 0:
            return self.rates
        return [rate * self.gamma for rate in self.rates]

    def _get_closed_form_lr(self) -> list[float]:
        return [base * self.gamma ** (self.last_epoch // self.step_size) for base in self.base_lrs]


class MultiStepLR(LRScheduler):
    """The rates times `gamma` at the given steps."""

    def __init__(
        self,
        optimizer: Optimizer,
        milestones: Sequence[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
    ) -> None:
        self.milestones = Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        self._expect_step()
        times = self.milestones.get(self.last_epoch, 0)
        return [rate * self.gamma**times for rate in self.rates]

    def _get_closed_form_lr(self) -> list[float]:
        passed = sum(n for at, n in self.milestones.items() if at <= self.last_epoch)
        return [base * self.gamma**passed for base in self.base_lrs]


class ConstantLR(LRScheduler):
    """The rates times `factor` for the first `total_iters` steps."""

    def __init__(
        self,
        optimizer: Optimizer,
        factor: float = 1.0 / 3,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if factor > 1.0 or factor < 0:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        self._expect_step()
        if self.last_epoch == 0:
            return [rate * self.factor for rate in self.rates]
        if self.last_epoch != self.total_iters:
            return self.rates
        return [rate * (1.0 / self.factor) for rate in self.rates]

    def _get_closed_form_lr(self) -> list[float]:
        return [
            base * (1.0 if self.last_epoch >= self.total_iters else self.factor)
            for base in self.base_lrs
        ]


class LinearLR(LRScheduler):
    """The rates times a factor that goes evenly from one value to another.

    Raises:
        ValueError: the first factor is not in (0, 1], or the last one not in [0, 1].
    """

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 < start_factor <= 1.0:
            raise ValueError(
                "Starting multiplicative factor expected to be greater than 0 and less or equal "
                "to 1."
            )
        if not 0 <= end_factor <= 1.0:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        self._expect_step()
        if self.last_epoch == 0:
            return [rate * self.start_factor for rate in self.rates]
        if self._is_initial or self.last_epoch > self.total_iters:
            return self.rates
        reach = self.end_factor - self.start_factor
        before = self.total_iters * self.start_factor + (self.last_epoch - 1) * reach
        return [rate * (1.0 + reach / before) for rate in self.rates]

    def _get_closed_form_lr(self) -> list[float]:
        share = min(self.total_iters, self.last_epoch) / self.total_iters
        factor = self.start_factor + (self.end_factor - self.start_factor) * share
        return [base * factor for base in self.base_lrs]


class ExponentialLR(LRScheduler):
    """The rates times `gamma` every step."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        self._expect_step()
        if self._is_initial:
            return self.rates
        return [rate * self.gamma for rate in self.rates]

    def _get_closed_form_lr(self) -> list[float]:
        return [base * self.gamma**self.last_epoch for base in self.base_lrs]


class PolynomialLR(LRScheduler):
    """The rates go to zero in `total_iters` steps along a power."""

    def __init__(
        self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1
    ) -> None:
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        self._expect_step()
        if self._is_initial or self.last_epoch > self.total_iters:
            return self.rates
        left = 1.0 - self.last_epoch / self.total_iters
        before = 1.0 - (self.last_epoch - 1) / self.total_iters
        return [rate * (left / before) ** self.power for rate in self.rates]

    def _get_closed_form_lr(self) -> list[float]:
        left = 1.0 - min(self.total_iters, self.last_epoch) / self.total_iters
        return [base * left**self.power for base in self.base_lrs]


class CosineAnnealingLR(LRScheduler):
    """The rates go down to `eta_min` in `T_max` steps along a cosine, and up again."""

    def __init__(
        self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        self._expect_step()
        low, period, now = self.eta_min, self.T_max, self.last_epoch
        if self._is_initial:
            return self.rates
        if (now - 1 - period) % (2 * period) == 0:
            step = (1 - math.cos(math.pi / period)) / 2
            return [
                rate + (base - low) * step
                for base, rate in zip(self.base_lrs, self.rates, strict=True)
            ]
        ratio = (1 + math.cos(math.pi * now / period)) / (
            1 + math.cos(math.pi * (now - 1) / period)
        )
        return [ratio * (rate - low) + low for rate in self.rates]

    def _get_closed_form_lr(self) -> list[float]:
        share = (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
        return [self.eta_min + (base - self.eta_min) * share for base in self.base_lrs]


__getattr__ = names_of(__name__)
