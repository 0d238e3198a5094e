"""Schedulers made of others: one after the other, or all at once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from .optimizer import Optimizer
from .plateau_rates import ReduceLROnPlateau
from .saved_state import StateDict
from .scheduler import LRScheduler, set_value

__all__ = ["ChainedScheduler", "SequentialLR"]


class _Composed(LRScheduler):
    """Holds schedulers; their state goes into its own."""

    _schedulers: list[LRScheduler]

    def state_dict(self) -> StateDict:
        found = super().state_dict()
        found["_schedulers"] = [scheduler.state_dict() for scheduler in self._schedulers]
        return found

    def load_state_dict(self, state_dict: StateDict) -> None:
        own = dict(state_dict)
        for scheduler, state in zip(self._schedulers, own.pop("_schedulers"), strict=True):
            scheduler.load_state_dict(state)
        vars(self).update(own)

    def _check_optimizers(
        self, name: str, schedulers: Sequence[LRScheduler], optimizer: object
    ) -> None:
        for number, scheduler in enumerate(schedulers):
            if not hasattr(scheduler, "optimizer"):
                raise TypeError(
                    f"{name} at index {number} should have `optimizer` as its attribute."
                )
            if isinstance(scheduler, ReduceLROnPlateau):
                raise ValueError(
                    f"{name} does not support `ReduceLROnPlateau` scheduler as it requires "
                    "additional kwargs to be specified when calling `step`, but got one at index "
                    f"{number} in the given schedulers sequence."
                )
            if scheduler.optimizer is not optimizer:
                raise ValueError(
                    f"{name} expects all schedulers to belong to the same optimizer, but got "
                    f"scheduler {type(scheduler).__name__} at index {number} has "
                    f"{scheduler.optimizer}, which is different from {type(optimizer).__name__}."
                )


def _undo(scheduler: LRScheduler) -> None:
    """Take back the first step of a scheduler, or of those that it is made of."""
    if isinstance(scheduler, _Composed):
        for part in scheduler._schedulers:
            _undo(part)
    else:
        scheduler.last_epoch -= 1


class SequentialLR(_Composed):
    """Schedulers that follow each other at given steps.

    Args:
        optimizer: whose rates are set.
        schedulers: in their order.
        milestones: at which steps the next one begins.

    Raises:
        ValueError: the numbers of schedulers and steps do not fit, the optimizers differ, or one
            goes by a measure.
        TypeError: one has no optimizer.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        schedulers: Sequence[LRScheduler],
        milestones: Sequence[int],
        last_epoch: int = -1,
    ) -> None:
        if len(schedulers) < 1:
            raise ValueError("SequentialLR expects at least one scheduler, but got no scheduler.")
        self._check_optimizers("SequentialLR", schedulers, optimizer)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than "
                f"the number of milestone points, but got number of schedulers {len(schedulers)} "
                f"and the number of milestones to be equal to {len(milestones)}"
            )
        self._schedulers = list(schedulers)
        self._milestones = list(milestones)
        self.last_epoch = last_epoch + 1
        self.optimizer = optimizer
        for group in optimizer.param_groups:  # undo the first steps of all
            set_value(group, "lr", group["initial_lr"])
        for scheduler in self._schedulers:
            _undo(scheduler)
        self._schedulers[0]._initial_step()
        self._last_lr = self._schedulers[0].get_last_lr()

    def step(self) -> None:  # type: ignore[override]
        """Go to the next rates."""
        self.last_epoch += 1
        number = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[number]
        if number and self._milestones[number - 1] == self.last_epoch:
            scheduler._go(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()


class ChainedScheduler(_Composed):
    """Schedulers that all change the rates at every step.

    Args:
        schedulers: in the order in which they do.
        optimizer: whose rates are set; that of the first by default.

    Raises:
        ValueError: there are none, the optimizers differ, or one goes by a measure.
        TypeError: one has no optimizer.
    """

    def __init__(
        self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None
    ) -> None:
        if len(schedulers) < 1:
            raise ValueError(
                "ChainedScheduler expects at least one scheduler to be chained, but got no "
                "scheduler."
            )
        optimizer = optimizer or schedulers[0].optimizer
        self._check_optimizers("ChainedScheduler", schedulers, optimizer)
        self._schedulers = list(schedulers)
        self.optimizer = optimizer
        self._last_lr = self.rates

    def step(self) -> None:  # type: ignore[override]
        """Go to the next rates."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = self.rates
