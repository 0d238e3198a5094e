"""Averages of a model's weights, over steps (SWA, arXiv:1803.05407) or with decay."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from itertools import chain
from typing import Any, Final

from ..nn.modules.batchnorm import _BatchNorm
from ..nn.modules.module import Module
from ..ops.gradients.table.rows import aten
from ..ops.memory.dtype import DTYPES, Device
from ..ops.table.grad_mode import no_grad
from ..ops.table.updates import Update
from ..ops.tensors.tensor import Tensor
from ..utils._foreach_utils import (
    _group_tensors_by_device_and_dtype as _group_tensors_by_device_and_dtype,
)
from .optimizer import Optimizer
from .saved_state import Group
from .scheduler import LRScheduler, Values, of_groups
from .together import bare

__all__ = [
    "AveragedModel",
    "update_bn",
    "SWALR",
    "get_ema_multi_avg_fn",
    "get_swa_multi_avg_fn",
    "get_ema_avg_fn",
    "get_swa_avg_fn",
]

_NEARER: Final = Update(2, 1, lambda program: [(0, program("lerp", 0, 1, 2), 1)])
"""Moves an array some part of the way to another."""

Averaging = Callable[[Tensor, Tensor, Tensor | int], Tensor]
SeveralAveraging = Callable[[Sequence[Tensor], Sequence[Tensor], Tensor | int], None]


def _check_decay(decay: float) -> None:
    if not 0.0 <= decay <= 1.0:
        raise ValueError(
            f"Invalid decay value {decay} provided. Please provide a value in [0,1] range."
        )


def get_ema_multi_avg_fn(decay: float = 0.999) -> SeveralAveraging:
    """Averages with decay, of lists of tensors, in place."""
    return _in_place(get_ema_avg_fn(decay), lambda count: 1 - decay)


def get_swa_multi_avg_fn() -> SeveralAveraging:
    """Equal averages, of lists of tensors, in place."""
    return _in_place(get_swa_avg_fn(), lambda count: 1 / (float(count) + 1))


def _in_place(one: Averaging, share: Callable[[Tensor | int], float]) -> SeveralAveraging:
    """The averages of lists of tensors: the new ones have a share, integers go by `one`."""

    def average(averaged: Sequence[Tensor], current: Sequence[Tensor], count: Tensor | int) -> None:
        part = share(count)
        with no_grad():
            for ours, theirs in zip(averaged, current, strict=True):
                dtype = ours.dtype
                if dtype.kind in "biu":
                    ours.copy_(one(ours, theirs, count))
                    continue
                given = theirs if theirs.dtype is dtype else theirs.to(dtype)
                arrays = bare(ours, given)
                if arrays is None or not _NEARER(arrays, part):
                    ours.lerp_(given, part)

    return average


def get_ema_avg_fn(decay: float = 0.999) -> Averaging:
    """decay * average + (1 - decay) * current."""
    _check_decay(decay)

    def average(averaged: Tensor, current: Tensor, count: Tensor | int) -> Tensor:
        with no_grad():
            return decay * averaged + (1 - decay) * current

    return average


def get_swa_avg_fn() -> Averaging:
    """The mean of all so far."""

    def average(averaged: Tensor, current: Tensor, count: Tensor | int) -> Tensor:
        with no_grad():
            moved: Tensor = averaged + (current - averaged) / (count + 1)
            return moved

    return average


class AveragedModel(Module):
    """A copy of a model that holds averages of its parameters.

    Args:
        model: the model; the copy is in `module`.
        device: where the copy is to lie.
        avg_fn: how one tensor is averaged: average, current value, how many before.
        multi_avg_fn: the same for lists of tensors, in place.
        use_buffers: whether buffers are averaged too, not copied.

    Raises:
        AssertionError: both functions are given.
    """

    n_averaged: Tensor

    def __init__(
        self,
        model: Module,
        device: Device | str | int | None = None,
        avg_fn: Averaging | None = None,
        multi_avg_fn: SeveralAveraging | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", aten.tensor(0, dtype=DTYPES["int64"], device=device))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: object, **kwargs: object) -> Any:
        """What the averaged model makes of it."""
        return self.module(*args, **kwargs)

    def _tensors(self, model: Module) -> list[Tensor]:
        buffers = model.buffers() if self.use_buffers else ()
        given = chain(model.parameters(), buffers)
        if self.avg_fn is None and self.multi_avg_fn is None:
            return list(given)  # which are written where nothing is recorded
        return [each.detach() for each in given]

    def update_parameters(self, model: Module) -> None:
        """Take the model's present parameters into the averages; the first are copied."""
        ours, theirs = self._tensors(self.module), self._tensors(model)
        theirs = [_at(own, each) for own, each in zip(ours, theirs, strict=True)]
        if self.n_averaged == 0:
            with no_grad():
                for own, each in zip(ours, theirs, strict=True):
                    own.copy_(each)
        elif self.avg_fn is None:
            average = self.multi_avg_fn or _EQUAL
            average(ours, theirs, self.n_averaged)
        else:
            for own, each in zip(ours, theirs, strict=True):
                own.copy_(self.avg_fn(own, each, self.n_averaged.to(own.device)))
        if not self.use_buffers:
            for kept, given in zip(self.module.buffers(), model.buffers(), strict=True):
                kept.detach().copy_(given.detach().to(kept.device))
        self.n_averaged += 1


def _at(own: Tensor, other: Tensor) -> Tensor:
    """Another tensor where this one is."""
    device = own.device
    return other if other.device is device else other.to(device)


_EQUAL: Final = get_swa_multi_avg_fn()


def update_bn(
    loader: Iterable[Any], model: Module, device: Device | str | int | None = None
) -> None:
    """Compute the statistics of a model's batch normalizations anew, in one pass over the data.

    Args:
        loader: batches, or lists and tuples that begin with one.
        model: whose layers are changed; it is left in the mode it is in.
        device: where batches are sent.
    """
    layers = [layer for layer in model.modules() if isinstance(layer, _BatchNorm)]
    if not layers:
        return
    momenta = [layer.momentum for layer in layers]
    was_training = model.training
    for layer in layers:
        layer.reset_running_stats()
        layer.momentum = None  # equal weights
    model.train()
    with no_grad():
        for batch in loader:
            batch = batch[0] if isinstance(batch, list | tuple) else batch
            model(batch if device is None else batch.to(device))
    for layer, momentum in zip(layers, momenta, strict=True):
        layer.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """Rates that go to a fixed one within some epochs, and stay there.

    Args:
        optimizer: whose rates are set.
        swa_lr: the rate in the end, or one for each group.
        anneal_epochs: how many epochs it takes.
        anneal_strategy: "cos" or "linear".
        last_epoch: the number of the last epoch.

    Raises:
        ValueError: another strategy, or a number of epochs below 0.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: Values,
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        rates = of_groups(optimizer, swa_lr, "swa_lr")
        for rate, group in zip(rates, optimizer.param_groups, strict=True):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self._anneal_strategy = anneal_strategy
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _share(self, epoch: int) -> float:
        """How much of the way is gone."""
        part = max(0, min(1, epoch / max(1, self.anneal_epochs)))
        return (1 - math.cos(math.pi * part)) / 2 if self._anneal_strategy == "cos" else part

    def get_lr(self) -> list[Any]:
        """The rates of this epoch, from those of the one before."""
        self._expect_step()
        epoch = self._step_count - 1
        if self.anneal_epochs == 0:
            epoch = max(1, epoch)
        before, now = self._share(max(0, epoch - 1)), self._share(epoch)
        return [self._rate(group, before, now) for group in self.optimizer.param_groups]

    def _rate(self, group: Group, before: float, now: float) -> object:
        end = group["swa_lr"]
        start = end if before == 1 else (group["lr"] - before * end) / (1 - before)
        return end * now + start * (1 - now)
