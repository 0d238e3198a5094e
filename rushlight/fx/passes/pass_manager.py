"""`torch.fx.passes.pass_manager`: functions one after another, each of what the last one gave."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial, wraps
from inspect import unwrap
from typing import Any

from ._schedule import Constraint, Pass, Schedule, this_before_that_pass_constraint, validate

__all__ = [
    "PassManager",
    "inplace_wrapper",
    "log_hook",
    "loop_pass",
    "these_before_those_pass_constraint",
    "this_before_that_pass_constraint",
]

logger = logging.getLogger(__name__)
_validate_pass_schedule_constraint = partial(validate, gap="")


def inplace_wrapper(fn: Pass) -> Pass:
    """A function that gives its first argument, whatever the given one gives."""

    @wraps(fn)
    def wrapped(gm: object, *args: object, **kwargs: object) -> object:
        fn(gm, *args, **kwargs)
        return gm

    return wrapped


def log_hook(fn: Pass, level: int = logging.INFO) -> Pass:
    """The function, which tells the log what it gives."""

    @wraps(fn)
    def wrapped(*args: object, **kwargs: object) -> object:
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
    def looped(source: object) -> object:
        if n_iter is not None:
            for _ in range(n_iter):
                source = base_pass(source)
            return source
        assert predicate is not None
        while predicate(source):
            source = base_pass(source)
        return source

    return looped


def these_before_those_pass_constraint(these: Pass, those: Pass) -> Constraint:
    """The same for all passes that wrap the two."""
    return lambda a, b: not (unwrap(a) == those and unwrap(b) == these)


class PassManager(Schedule):
    """Runs passes in the order in which they are, which constraints may forbid."""

    @classmethod
    def build_from_passlist(cls, passes: list[Pass]) -> PassManager:
        """A manager of passes."""
        return cls(passes)

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
        self._check_order(_validate_pass_schedule_constraint)

    def __call__(self, source: object) -> Any:
        """What all passes make of something."""
        self.validate()
        for each in self.passes:
            source = each(source)
        return source
