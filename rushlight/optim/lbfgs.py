"""LBFGS: steps of Newton's method with a Hessian remembered from the last gradients.

Nocedal and Wright, "Numerical Optimization" (2006): algorithm 7.4 gives the direction, 3.5 and 3.6
find a length that fulfils the strong Wolfe conditions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..ops.gradients.table.rows import aten
from ..ops.linear_algebra.linalg import product
from ..ops.memory.dtype import Array
from ..ops.table.grad_mode import enable_grad, no_grad
from ..ops.tensors.tensor import Tensor
from .complex_parameters import as_pairs
from .optimizer import Group, Optimizer, Params

__all__ = ["LBFGS"]

Length = float | Tensor
"""How far along a direction; a tensor where it was computed from slopes."""


@dataclass(frozen=True)
class _Limits:
    """How good a length must be (`c1`, `c2` of the Wolfe conditions), how small a bracket may
    become, and how often is tried."""

    c1: float
    c2: float
    smallest: float
    trials: int


@dataclass(eq=False)
class _Trial:
    """What was found at some length along a direction."""

    length: Length
    loss: float
    gradient: Tensor
    slope: Tensor


Try = Callable[[Length], _Trial]


def _cubic_minimum(a: _Trial, b: _Trial, bounds: tuple[Length, Length] | None = None) -> Length:
    """Where the cubic through two trials and their slopes is least, within bounds; the middle of
    the bounds where it has no minimum (equation 3.59)."""
    first, second = (a, b) if a.length <= b.length else (b, a)
    low, high = bounds or (first.length, second.length)
    chord = 3 * (a.loss - b.loss) / (a.length - b.length)
    inner = a.slope + b.slope - chord
    square = inner**2 - a.slope * b.slope
    if not square >= 0:
        return (low + high) / 2.0
    root = square.sqrt()
    share = (second.slope + root - inner) / (second.slope - first.slope + 2 * root)
    length = second.length - (second.length - first.length) * share
    return low if low > length else high if high < length else length


def _cubic_interpolate(
    x1: Length,
    f1: float,
    g1: Tensor,
    x2: Length,
    f2: float,
    g2: Tensor,
    bounds: tuple[Length, Length] | None = None,
) -> Length:
    """Where the cubic through two places, with losses and slopes, is least."""
    ends = _Trial(x1, f1, g1, g1), _Trial(x2, f2, g2, g2)
    return _cubic_minimum(*ends, bounds)


def _bracket(
    start: _Trial, trial: _Trial, at: Try, limits: _Limits
) -> tuple[list[_Trial], int, bool]:
    """Two trials with a good length between them, or one that is good (algorithm 3.5)."""
    before = start
    for count in range(limits.trials):
        limit = start.loss + limits.c1 * trial.length * start.slope
        if trial.loss > limit or (count > 1 and trial.loss >= before.loss):
            return [before, trial], count, False
        if abs(trial.slope) <= -limits.c2 * start.slope:
            return [trial], count, True
        if trial.slope >= 0:
            return [before, trial], count, False
        nearest = trial.length + 0.01 * (trial.length - before.length)
        length = _cubic_minimum(before, trial, (nearest, trial.length * 10))
        before, trial = trial, at(length)
    return [start, trial], limits.trials, False


def _kept_inside(length: Length, low: Length, high: Length, was_near: bool) -> tuple[Length, bool]:
    """A length moved off the ends of the bracket if it is near one for the second time."""
    margin = 0.1 * (high - low)
    to_low, to_high = length - low, high - length
    if to_low >= margin and to_high >= margin:
        return length, False
    if was_near or length >= high or length <= low:
        return (high - margin if to_high < to_low else low + margin), False
    return length, True


def _zoom(
    start: _Trial, ends: list[_Trial], count: int, at: Try, reach: Tensor, limits: _Limits
) -> _Trial:
    """The best trial of a bracket that is made smaller until one is good (algorithm 3.6)."""
    best, other = sorted(ends, key=lambda end: end.loss)  # the first where both are equal
    was_near = False
    while count < limits.trials and abs(ends[1].length - ends[0].length) * reach >= limits.smallest:
        length = _cubic_minimum(ends[0], ends[1])
        low, high = ends[0].length, ends[1].length
        if high < low:
            low, high = high, low
        length, was_near = _kept_inside(length, low, high, was_near)
        trial, count = at(length), count + 1
        if trial.loss > start.loss + limits.c1 * length * start.slope or trial.loss >= best.loss:
            ends[ends.index(other)] = trial
            best, other = sorted(ends, key=lambda end: end.loss)
            continue
        place = ends.index(best)
        if abs(trial.slope) <= -limits.c2 * start.slope:
            return trial
        if trial.slope * (other.length - best.length) >= 0:
            ends[1 - place] = other = best
        ends[place] = best = trial
    return best


def _strong_wolfe(
    obj_func: Callable[[Tensor, Length, Tensor], tuple[float, Tensor]],
    x: Tensor,
    t: Length,
    d: Tensor,
    f: float,
    g: Tensor,
    gtd: Tensor,
    c1: float = 1e-4,
    c2: float = 0.9,
    tolerance_change: float = 1e-9,
    max_ls: int = 25,
) -> tuple[float, Tensor, Length, int]:
    """A length along `d` that fulfils the strong Wolfe conditions, as far as one is found.

    Args:
        obj_func: gives loss and gradient at a length along a direction from a place.
        x, d: the place and the direction.
        t: the length that is tried first.
        f, g, gtd: loss and gradient at the place, and its slope along the direction.

    Returns:
        Loss, gradient and length, and how often `obj_func` was asked.
    """
    evals = 0

    def at(length: Length) -> _Trial:
        nonlocal evals
        evals += 1
        loss, gradient = obj_func(x, length, d)
        return _Trial(length, loss, gradient.clone(), gradient.dot(d))

    limits = _Limits(c1, c2, tolerance_change, max_ls)
    start = _Trial(0, f, g.clone(), gtd)
    ends, count, is_good = _bracket(start, at(t), at, limits)
    found = ends[0] if is_good else _zoom(start, ends, count, at, d.abs().max(), limits)
    return found.loss, found.gradient, found.length, evals


class LBFGS(Optimizer):
    """Limited-memory BFGS, of one group of parameters.

    Args:
        params: the parameters.
        lr: the length of steps, or where the search for one begins.
        max_iter: steps a call makes at most.
        max_eval: how often it may run the closure (5/4 of the steps, unless told).
        tolerance_grad: where no gradient is larger, it is done.
        tolerance_change: where nothing changes by more, it is done.
        history_size: how many gradients are remembered.
        line_search_fn: None, or "strong_wolfe".

    Raises:
        ValueError: a negative rate, or several groups.
    """

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not lr >= 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        defaults: Group = {
            **{"lr": lr, "max_iter": max_iter, "tolerance_grad": tolerance_grad},
            **{"max_eval": max_iter * 5 // 4 if max_eval is None else max_eval},
            **{"tolerance_change": tolerance_change, "history_size": history_size},
            **{"line_search_fn": line_search_fn},
        }
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")

    @property
    def _members(self) -> list[Tensor]:
        members: list[Tensor] = self.param_groups[0]["params"]
        return members

    def _flat_gradient(self) -> Tensor:
        given = [p.new_zeros(p.shape) if p.grad is None else p.grad for p in self._members]
        parts = [each.reshape(-1) for each in as_pairs(given)]
        return aten.cat(parts, 0)

    def _move(self, direction: Tensor, length: Any) -> None:
        start = 0
        for member in as_pairs(self._members):
            part = direction[start : start + member.numel()].view_as(member)
            member.add_(part, alpha=length)
            start += member.numel()

    def step(self, closure: Callable[[], object]) -> Any:  # type: ignore[override]
        """Make up to `max_iter` steps.

        Args:
            closure: computes the loss anew, with gradients.

        Returns:
            the loss before the first step.
        """

        def evaluate() -> object:
            with enable_grad():
                return closure()

        with no_grad():
            return _Run(self, evaluate).run()


def _two_loops(
    gradient: Array,
    dirs: list[Array],
    steps: list[Array],
    inverses: list[Array],
    scale: Array | int,
) -> tuple[Array, list[Array]]:
    """The direction that remembered steps and changes of the gradient give (algorithm 7.4), and the
    shares of the first loop, each of no dimension."""
    shares: list[object] = [None] * len(dirs)
    found = -gradient
    for i in reversed(range(len(dirs))):
        shares[i] = product(steps[i], found) * inverses[i]
        found -= dirs[i] * shares[i]
    found *= scale
    for i, each in enumerate(dirs):
        found += steps[i] * (shares[i] - product(each, found) * inverses[i])
    return found, [np.asarray(each) for each in shares]


def _number(loss: Any) -> float:
    """A loss, without its history."""
    return float(loss.detach() if isinstance(loss, Tensor) else loss)


class _Run:
    """One call of `step`."""

    def __init__(self, optimizer: LBFGS, evaluate: Callable[[], object]) -> None:
        self.optimizer = optimizer
        self.evaluate = evaluate
        self.group: Group = optimizer.param_groups[0]
        self.state: Group = optimizer.state[optimizer._members[0]]
        self.state.setdefault("func_evals", 0)
        self.state.setdefault("n_iter", 0)

    def run(self) -> Any:
        first = self.evaluate()
        self.loss = _number(first)
        self.evals = 1
        self.state["func_evals"] += 1
        self.gradient = self.optimizer._flat_gradient()
        if self._is_flat():
            return first
        for count in range(1, self.group["max_iter"] + 1):
            self.state["n_iter"] += 1
            if self._step(count == self.group["max_iter"]):
                break
        return first

    def _is_flat(self) -> bool:
        return bool(self.gradient.abs().max() <= self.group["tolerance_grad"])

    def _step(self, is_last: bool) -> bool:
        """One step; whether it was the last."""
        state, group = self.state, self.group
        direction = state["d"] = self._direction()
        before = state["prev_loss"] = self.loss
        if state["prev_flat_grad"] is None:
            state["prev_flat_grad"] = self.gradient.clone()
        else:
            state["prev_flat_grad"].copy_(self.gradient)
        length = group["lr"]
        if state["n_iter"] == 1:
            length = min(1.0, 1.0 / self.gradient.abs().sum()) * length
        state["t"] = length
        slope = self.gradient.dot(direction)
        if slope > -group["tolerance_change"]:
            return True
        evals, is_flat = self._go(direction, slope, is_last)
        self.evals += evals
        state["func_evals"] += evals
        change = group["tolerance_change"]
        return (
            is_last
            or self.evals >= group["max_eval"]
            or is_flat
            or bool((direction * state["t"]).abs().max() <= change)
            or abs(self.loss - before) < change
        )

    def _direction(self) -> Tensor:
        """What the remembered Hessian makes of the gradient."""
        state = self.state
        if state["n_iter"] == 1:
            state.update(old_dirs=[], old_stps=[], ro=[], H_diag=1, prev_flat_grad=None)
            return self.gradient.neg()
        self._remember()
        shares = state.setdefault("al", [None] * self.group["history_size"])
        scale = state["H_diag"]
        found, parts = _two_loops(
            self.gradient._array,
            [each._array for each in state["old_dirs"]],
            [each._array for each in state["old_stps"]],
            [each._array for each in state["ro"]],
            scale._array if isinstance(scale, Tensor) else scale,
        )
        shares[: len(parts)] = [Tensor._of(each) for each in parts]
        return Tensor._of(found)

    def _remember(self) -> None:
        state = self.state
        change = self.gradient.sub(state["prev_flat_grad"])
        moved = state["d"].mul(state["t"])
        product = change.dot(moved)
        if not product > 1e-10:  # the curvature is not positive
            return
        for name, value in (("old_dirs", change), ("old_stps", moved), ("ro", 1.0 / product)):
            if len(state[name]) == self.group["history_size"]:
                state[name].pop(0)
            state[name].append(value)
        state["H_diag"] = product / change.dot(change)

    def _go(self, direction: Tensor, slope: Tensor, is_last: bool) -> tuple[int, bool]:
        """Move along the direction; how often the closure ran, and whether it is flat there."""
        kind = self.group["line_search_fn"]
        if kind is not None:
            if kind != "strong_wolfe":
                raise RuntimeError("only 'strong_wolfe' is supported")
            return self._search(direction, slope), self._is_flat()
        self.optimizer._move(direction, self.state["t"])
        if is_last:
            return 0, False
        self.loss = _number(self.evaluate())
        self.gradient = self.optimizer._flat_gradient()
        return 1, self._is_flat()

    def _search(self, direction: Tensor, slope: Tensor) -> int:
        """Move as far as fulfils the strong Wolfe conditions; how often the closure ran."""
        optimizer = self.optimizer
        kept = [member.clone() for member in optimizer._members]

        def seen(_: object, length: object, along: Tensor) -> tuple[float, Tensor]:
            optimizer._move(along, length)
            loss = _number(self.evaluate())
            gradient = optimizer._flat_gradient()
            for member, value in zip(optimizer._members, kept, strict=True):
                member.copy_(value)
            return loss, gradient

        found = _strong_wolfe(
            *(seen, direction, self.state["t"], direction, self.loss, self.gradient, slope),
            max_ls=self.group["max_eval"] - self.evals,
        )
        self.loss, self.gradient, self.state["t"], evals = found
        optimizer._move(direction, self.state["t"])
        return evals
