"""Learning rates that go down when a measure no longer becomes better."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import SupportsFloat

from .optimizer import Optimizer
from .saved_state import StateDict
from .scheduler import EPOCH_DEPRECATION_WARNING, LRScheduler, check_optimizer, set_value

__all__ = ["ReduceLROnPlateau"]


class ReduceLROnPlateau(LRScheduler):
    """The rates times `factor` when a measure has not become better for `patience` steps.

    Args:
        optimizer: whose rates are set.
        mode: `min` if less is better, `max` if more is.
        factor: what rates are multiplied by, below 1.
        patience: how many steps without a better measure are let pass.
        threshold: by how much a measure has to be better.
        threshold_mode: `rel` if the threshold is a share of the best measure, else `abs`.
        cooldown: how many steps after a change do not count.
        min_lr: the lowest rate, or one for each group.
        eps: changes of rates up to this are not made.

    Raises:
        ValueError: the factor is not below 1, an unknown mode, or not as many lowest rates as
            groups.
        TypeError: it is no optimizer.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float | Sequence[float] = 0,
        eps: float = 1e-8,
    ) -> None:
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        check_optimizer(optimizer)
        self.factor = factor
        self.optimizer = optimizer
        count = len(optimizer.param_groups)
        self.default_min_lr: float | None = None
        if isinstance(min_lr, list | tuple):
            if len(min_lr) != count:
                raise ValueError(f"expected {count} min_lrs, got {len(min_lr)}")
            self.min_lrs: list[float] = list(min_lr)
        else:
            self.default_min_lr = min_lr  # type: ignore[assignment]
            self.min_lrs = [min_lr] * count  # type: ignore[list-item]
        self.patience, self.cooldown, self.eps = patience, cooldown, eps
        self.last_epoch = 0
        self._last_lr = self.rates
        self._init_is_better(mode, threshold, threshold_mode)
        self._reset()

    def _reset(self) -> None:
        """Forget the measures."""
        self.best = self.mode_worse
        self.cooldown_counter = 0
        self.num_bad_epochs = 0

    def _init_is_better(self, mode: str, threshold: float, threshold_mode: str) -> None:
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown!")
        self.mode_worse = math.inf if mode == "min" else -math.inf
        self.mode, self.threshold, self.threshold_mode = mode, threshold, threshold_mode

    def _is_better(self, a: float, best: float) -> bool:
        """Whether a measure is better than the best one by more than the threshold."""
        sign = 1 if self.mode == "max" else -1
        margin = best * (1 + sign * self.threshold)
        if self.threshold_mode == "abs":
            margin = best + sign * self.threshold
        return a > margin if self.mode == "max" else a < margin

    @property
    def in_cooldown(self) -> bool:
        """Whether measures do not count now."""
        return self.cooldown_counter > 0

    def step(self, metrics: SupportsFloat, epoch: int | None = None) -> None:  # type: ignore[override]
        """Take the measure of this step into account.

        Raises:
            RuntimeError: rates are to change, the optimizer has another number of groups than at
                first, and the lowest rates were given for each group.
        """
        value = float(metrics)
        if epoch is not None:
            warnings.warn(EPOCH_DEPRECATION_WARNING, UserWarning, stacklevel=2)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self._is_better(value, self.best):
            self.best = value
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce_lr(self.last_epoch)
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
        self._last_lr = self.rates

    def _reduce_lr(self, epoch: int) -> None:
        """Lower the rates; groups added meanwhile get the lowest rate that was given for all."""
        groups = self.optimizer.param_groups
        if len(groups) != len(self.min_lrs):
            if self.default_min_lr is None:
                raise RuntimeError(
                    f"The number of param groups in the `optimizer` ({len(groups)}) differs from "
                    f"when `ReduceLROnPlateau` was initialized ({len(self.min_lrs)}), usually due "
                    "to a new param group being added to the optimizer. Please modify the "
                    "`min_lrs` field to match the length of the `optimizer` param groups."
                )
            self.min_lrs = [self.default_min_lr] * len(groups)
        for group, low in zip(groups, self.min_lrs, strict=True):
            rate = float(group["lr"])
            lower = max(rate * self.factor, low)
            if rate - lower > self.eps:
                set_value(group, "lr", lower)

    def load_state_dict(self, state_dict: StateDict) -> None:
        """Take over what `state_dict` gave."""
        super().load_state_dict(state_dict)
        self._init_is_better(self.mode, self.threshold, self.threshold_mode)
