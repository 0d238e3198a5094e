"""`torch.fx.passes.infra.pass_manager`: passes one after another."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from graphlib import CycleError, TopologicalSorter
from typing import Any

from ....nn.modules.module import Module
from ...graph_module import GraphModule
from .._schedule import Constraint, Pass, Schedule, this_before_that_pass_constraint
from .._schedule import validate as _validate_pass_schedule_constraint
from .pass_base import PassResult

__all__ = ["PassManager", "pass_result_wrapper", "this_before_that_pass_constraint"]


def pass_result_wrapper(fn: Pass) -> Callable[..., PassResult | None]:
    """A function that changes a module in place, or gives another, as one that gives PassResult."""

    @wraps(fn)
    def wrapped(gm: Any) -> PassResult | None:
        result = fn(gm)
        if result is None:
            return PassResult(gm, True)
        return result if isinstance(result, PassResult) else PassResult(result, True)

    if not inspect.isfunction(fn):
        wrapped.__name__ = type(fn).__name__
    return wrapped


def _topological_sort_passes(passes: list[Pass], constraints: list[Constraint]) -> list[Pass]:
    """The passes in an order that all constraints allow.

    Raises:
        RuntimeError: there is none.
    """
    if not constraints:
        return passes
    needs: dict[Pass, list[Pass]] = {each: [] for each in passes}
    for first in passes:
        for second in passes:
            if first is not second and not all(c(first, second) for c in constraints):
                needs[first].append(second)
    try:
        return list(TopologicalSorter(needs).static_order())
    except CycleError:
        raise RuntimeError(
            f"Circular dependency detected within the following passes: {passes}"
        ) from None


class PassManager(Schedule):
    """Runs passes, several times if wanted, with checks.

    Args:
        constraints: say of two passes whether the first may be before the second.
        steps: how often all passes run at most; they end where none changes anything.
        run_checks_after_each_pass: not only at the end.
        suppress_check_failures: checks that fail are no errors.
    """

    def __init__(
        self,
        passes: list[Pass] | None = None,
        constraints: list[Constraint] | None = None,
        steps: int | None = None,
        run_checks_after_each_pass: bool = False,
        suppress_check_failures: bool = False,
    ) -> None:
        super().__init__(passes, constraints)
        self.steps = steps or 1
        self.run_checks_after_each_pass = run_checks_after_each_pass
        self.suppress_check_failures = suppress_check_failures

    def validate_constraints(self) -> None:
        """Check the order.

        Raises:
            RuntimeError: a constraint forbids it.
        """
        self._check_order(_validate_pass_schedule_constraint)

    def solve_constraints(self) -> None:
        """Put the passes into an order that the constraints allow."""
        self.passes = _topological_sort_passes(self.passes, self.constraints)
        self._validated = True

    def add_checks(self, check: Callable[[Module], None]) -> None:
        """Have a function check the module.

        Raises:
            TypeError: it is no function of one argument.
        """
        if not callable(check):
            raise TypeError(f"{check} is not a callable object")
        if len(inspect.signature(check).parameters) != 1:
            raise TypeError("PassManager check function should only take in one variable, a module")
        vars(self)["check"] = check

    def check(self, module: Module) -> None:
        """Check the module; by default nothing."""

    def __call__(self, module: Module) -> PassResult:
        """Run the passes.

        Raises:
            Exception: one of them failed; the error says which.
        """
        if not self._validated:
            self.solve_constraints()
        self.check(module)
        changed = False
        for _ in range(self.steps):
            module, now = self._once(module)
            changed = changed or now
            if not now:
                break
        return PassResult(module, changed)  # type: ignore[arg-type]

    def _once(self, module: Module) -> tuple[Module, bool]:
        changed = False
        done: list[str] = []
        for each in self.passes:
            name = each.__name__ if inspect.isfunction(each) else type(each).__name__
            try:
                result = each(module)
                if not isinstance(result, PassResult):
                    raise TypeError(
                        f"The result of the pass {name} should be type PassResult. Please wrap it "
                        "with pass_result_wrapper()"
                    )
                module, changed = result.graph_module, changed or result.modified
                if isinstance(module, GraphModule):
                    module.recompile()
                if self.run_checks_after_each_pass:
                    self.check(module)
            except Exception as error:
                raise Exception(
                    f"An error occurred when running the '{name}' pass after the following "
                    f"passes: {done}"
                ) from error
            done.append(name)
        if not self.run_checks_after_each_pass:
            self.check(module)
        return module, changed
