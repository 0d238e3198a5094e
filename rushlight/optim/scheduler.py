"""What schedulers of learning rates have in common."""

from __future__ import annotations

import warnings
from typing import Any, Final

from ..ops.tensors.tensor import Tensor
from .optimizer import Optimizer

__all__ = ["EPOCH_DEPRECATION_WARNING", "LRScheduler", "own", "set_value"]

EPOCH_DEPRECATION_WARNING: Final = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where "
    "possible. Please use `scheduler.step()` to step the scheduler. During the deprecation, if "
    "epoch is different from None, the closed form is used instead of the new chainable form, "
    "where available. Please open an issue if you are unable to replicate your use case: "
    "https://github.com/pytorch/pytorch/issues/new/choose."
)


def own(value: Any) -> Any:
    """A rate that does not change with another one: a copy, if it is a tensor."""
    return value.clone() if isinstance(value, Tensor) else value


def set_value(group: dict[str, Any], name: str, value: Any) -> None:
    """Set an option of a group; a tensor stays the same and gets the value."""
    if isinstance(group[name], Tensor):
        group[name].fill_(value)
    else:
        group[name] = value


class LRScheduler:
    """Sets the learning rates of an optimizer's groups at every `step`.

    Args:
        optimizer: whose rates are set.
        last_epoch: the number of steps done before; -1 to begin.
    """

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        self.optimizer = optimizer
        for group in optimizer.param_groups:
            if last_epoch == -1:
                group.setdefault("initial_lr", own(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    "param 'initial_lr' is not specified in param_groups when resuming an optimizer"
                )
        self.base_lrs = [own(group["initial_lr"]) for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._last_lr: list[float] = []
        self._initial_step()

    def get_lr(self) -> list[float]:
        """The rates of the groups for `last_epoch`."""
        raise NotImplementedError

    def _initial_step(self) -> None:
        """Set the first rates."""
        self.step()

    def _get_closed_form_lr(self) -> list[float]:
        """The same, not from the rates before."""
        return self.get_lr()

    def get_last_lr(self) -> list[float]:
        """The rates that were set last."""
        return self._last_lr

    @property
    def rates(self) -> list[float]:
        """The rates of the groups now."""
        return [own(group["lr"]) for group in self.optimizer.param_groups]

    def step(self, epoch: int | None = None) -> None:
        """Go to the next rates, or to those of a step."""
        if epoch is not None:
            warnings.warn(EPOCH_DEPRECATION_WARNING, UserWarning, stacklevel=2)
        self._go(epoch)

    def _go(self, epoch: int | None) -> None:
        """`step`, without its warning."""
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        rates = self.get_lr() if epoch is None else self._get_closed_form_lr()
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            set_value(group, "lr", rate)
        self._last_lr = self.rates

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer."""
        return {key: value for key, value in vars(self).items() if key != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` gave."""
        vars(self).update(state_dict)
