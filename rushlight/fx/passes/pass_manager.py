"""`torch.fx.passes.pass_manager`: functions one after another, each of what the last one gave."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import wraps
from inspect import unwrap
from typing import Any

__all__ = [
    *("PassManager", "inplace_wrapper", "log_hook", "loop_pass"),
    *("these_before_those_pass_constraint", "this_before_that_pass_constraint"),
]

logger = logging.getLogger(__name__)
Pass = Callable[..., Any]
Constraint = Callable[[Pass, Pass], bool]


def inplace_wrapper(fn: Pass) -> Pass:
    """A function that gives its first argument, whatever the given one gives."""

    @wraps(fn)
    def wrapped(gm: Any, *args: Any, **kwargs: Any) -> Any:
        fn(gm, *args, **kwargs)
        return gm

    return wrapped


def log_hook(fn: Pass, level: int = logging.INFO) -> Pass:
    """The function, which tells the log what it gives."""

    @wraps(fn)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        value = fn(*args, **kwargs)
        logger.log(level, "Ran pass %s\t Return value: %s", fn, value)
        return value

    return wrapped


def loop_pass(
    base_pass: Pass, n_iter: int | None = None, predicate: Callable[[Any], bool] | None = None
) -> Pass:
    """The pass several times over: a number of times, or as long as a predicate holds.

    Raises:
        AssertionError: both are given, or neither.
    """
    if (n_iter is None) == (predicate is None):
        raise AssertionError("Exactly one of `n_iter`or `predicate` must be specified.")

    @wraps(base_pass)
    def looped(source: Any) -> Any:
        if n_iter is not None:
            for _ in range(n_iter):
                source = base_pass(source)
            return source
        assert predicate is not None
        while predicate(source):
            source = base_pass(source)
        return source

    return looped


def _validate_pass_schedule_constraint(constraint: Constraint, passes: list[Pass]) -> None:
    for place, first in enumerate(passes):
        for second in passes[place + 1 :]:
            if not constraint(first, second):
                raise RuntimeError(
                    f"pass schedule constraint violated. Expected {first} before {second} but "
                    f"found {first} at index {passes.index(first)} and {second} at "
                    f"index{passes.index(first)} in pass list."
                )


def this_before_that_pass_constraint(this: Pass, that: Pass) -> Constraint:
    """The constraint that one pass is before another."""
    return lambda a, b: not (a == that and b == this)


def these_before_those_pass_constraint(these: Pass, those: Pass) -> Constraint:
    """The same for all passes that wrap the two."""
    return lambda a, b: not (unwrap(a) == those and unwrap(b) == these)


class PassManager:
    """Runs passes in the order in which they are, which constraints may forbid."""

    def __init__(
        self, passes: list[Pass] | None = None, constraints: list[Constraint] | None = None
    ) -> None:
        self.passes = passes or []
        self.constraints = constraints or []
        self._validated = False

    @classmethod
    def build_from_passlist(cls, passes: list[Pass]) -> PassManager:
        """A manager of passes."""
        return cls(passes)

    def add_pass(self, _pass: Pass) -> None:
        """Run one more."""
        self.passes.append(_pass)
        self._validated = False

    def add_constraint(self, constraint: Constraint) -> None:
        """Heed one more."""
        self.constraints.append(constraint)
        self._validated = False

    def remove_pass(self, _passes: list[str]) -> None:
        """Run those of some names no more."""
        self.passes = [each for each in self.passes if each.__name__ not in _passes]
        self._validated = False

    def replace_pass(self, _target: Pass, _replacement: Pass) -> None:
        """Run another in the place of one."""
        name = _target.__name__
        self.passes = [_replacement if p.__name__ == name else p for p in self.passes]
        self._validated = False

    def validate(self) -> None:
        """Check the order.

        Raises:
            RuntimeError: a constraint forbids it.
        """
        if not self._validated:
            for constraint in self.constraints:
                _validate_pass_schedule_constraint(constraint, self.passes)
            self._validated = True

    def __call__(self, source: Any) -> Any:
        """What all passes make of something."""
        self.validate()
        for each in self.passes:
            source = each(source)
        return source
