"""What schedulers of learning rates have in common."""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any, Final

from ..ops.tensors.tensor import Tensor
from .optimizer import Group, Optimizer
from .saved_state import StateDict

__all__ = [
    *("EPOCH_DEPRECATION_WARNING", "LRScheduler", "Values", "check_optimizer", "of_groups", "own"),
    "set_value",
]

Values = float | Sequence[float]
"""One for all groups of parameters, or one each."""

EPOCH_DEPRECATION_WARNING: Final = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where "
    "possible. Please use `scheduler.step()` to step the scheduler. During the deprecation, if "
    "epoch is different from None, the closed form is used instead of the new chainable form, "
    "where available. Please open an issue if you are unable to replicate your use case: "
    "https://github.com/pytorch/pytorch/issues/new/choose."
)

_SEE: Final = (
    "See more details at https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
)
_OVERRIDDEN: Final = (
    "Seems like `optimizer.step()` has been overridden after learning rate scheduler "
    "initialization. Please, make sure to call `optimizer.step()` before `lr_scheduler.step()`. "
    + _SEE
)
_WRONG_ORDER: Final = (
    "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, "
    "you should call them in the opposite order: `optimizer.step()` before `lr_scheduler.step()`.  "
    "Failure to do this will result in PyTorch skipping the first value of the learning rate "
    "schedule. " + _SEE
)
_OUTSIDE_STEP: Final = (
    "To get the last learning rate computed by the scheduler, please use `get_last_lr()`."
)
_NOT_RESUMED: Final = (
    "param 'initial_lr' is not specified in param_groups[{}] when resuming scheduler with "
    "last_epoch >= 0.\nThis typically happens when:\n1. You're trying to resume training from a "
    "checkpoint but haven't properly loaded the optimizer state\n2. You're using last_epoch >= 0 "
    "for a fresh training run (not recommended)"
)


def check_optimizer(optimizer: object) -> None:
    """Raises: TypeError: it is no optimizer."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


def _note_steps(optimizer: Any) -> None:
    """Have an optimizer's `step` say that it was called.

    The new `step` holds the optimizer weakly: an optimizer is freed with its last reference.
    """
    if hasattr(optimizer.step, "_wrapped_by_lr_sched"):
        return
    given: Callable[..., Any] = optimizer.step.__func__
    reference = weakref.ref(optimizer)

    @wraps(given)
    def step(*args: object, **kwargs: object) -> object:
        held: Any = reference()
        held._opt_called = True
        return given(held, *args, **kwargs)

    vars(step)["_wrapped_by_lr_sched"] = True
    optimizer.step = step


def own(value: object) -> Any:
    """A rate that does not change with another one: a copy, if it is a tensor."""
    return value.clone() if isinstance(value, Tensor) else value


def set_value(group: Group, name: str, value: object) -> None:
    """Set an option of a group; a tensor stays the same and gets the value."""
    if isinstance(group[name], Tensor):
        group[name].fill_(value)
    else:
        group[name] = value


def of_groups(optimizer: Optimizer, value: Values, name: str) -> list[float]:
    """A value of its own for each group of parameters.

    Raises:
        ValueError: not as many values as groups are given.
    """
    count = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        return [own(value) for _ in range(count)]
    if len(value) != count:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. {name} has "
            f"{len(value)} values, param_groups has {count}."
        )
    return [own(item) for item in value]


class LRScheduler:
    """Sets the learning rates of an optimizer's groups at every `step`.

    Args:
        optimizer: whose rates are set.
        last_epoch: the number of steps done before; -1 to begin.

    Raises:
        TypeError: it is no optimizer.
        KeyError: `last_epoch` is not -1, and a group has no `initial_lr`.
    """

    _is_initial: bool = False
    """Whether the first rates are being set."""
    _get_lr_called_within_step: bool = False
    _last_lr: list[float]

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        for number, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", own(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(_NOT_RESUMED.format(number))
        self.base_lrs = [own(group["initial_lr"]) for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._step_count = 0
        _note_steps(optimizer)
        self._initial_step()

    def get_lr(self) -> list[float]:
        """The rates of the groups for `last_epoch`."""
        raise NotImplementedError

    def _expect_step(self) -> None:
        """Warn, unless a step is under way: rates made from those before are for steps alone."""
        if not self._get_lr_called_within_step:
            warnings.warn(_OUTSIDE_STEP, UserWarning, stacklevel=3)

    def _initial_step(self) -> None:
        """Set the first rates."""
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

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

    def _complaint(self) -> str | None:
        """What is wrong with the order of calls at the second step."""
        if self._step_count != 1:
            return None
        if not hasattr(self.optimizer.step, "_wrapped_by_lr_sched"):
            return _OVERRIDDEN
        return None if getattr(self.optimizer, "_opt_called", False) else _WRONG_ORDER

    def step(self, epoch: int | None = None) -> None:
        """Go to the next rates, or to those of a step."""
        told = (self._complaint(), None if epoch is None else EPOCH_DEPRECATION_WARNING)
        for message in filter(None, told):
            warnings.warn(message, UserWarning, stacklevel=2)
        self._step_count += 1
        self._go(epoch)

    def _go(self, epoch: int | None) -> None:
        """`step`, without its warning."""
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        with self._setting_rates():
            self._set_rates(self.get_lr() if epoch is None else self._get_closed_form_lr())

    @contextmanager
    def _setting_rates(self) -> Iterator[None]:
        self._get_lr_called_within_step = True
        try:
            yield
        finally:
            self._get_lr_called_within_step = False

    def _set_rates(self, rates: list[float]) -> None:
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            set_value(group, "lr", rate)
        self._last_lr = self.rates

    def state_dict(self) -> StateDict:
        """Everything but the optimizer."""
        return {key: value for key, value in vars(self).items() if key != "optimizer"}

    def load_state_dict(self, state_dict: StateDict) -> None:
        """Take over what `state_dict` gave."""
        vars(self).update(state_dict)
