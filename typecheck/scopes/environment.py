"""The variables in scope: one frame a block, as torch keeps them.

A block (branch, loop body, comprehension) opens a frame; what it assigns is defined there and
leaves it only through a join.  A variable of an outer frame keeps its type in inner ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ...frontend.foundations.value_class import value_class
from ...frontend.sources.source import Span
from ...frontend.syntax import tree
from ..trees import typed
from ..trees.sugar import Sugar
from ..types.types import Type

__all__ = ["Frame", "Problem", "Variable"]


@value_class(frozen=True, slots=True)
class Variable:
    """A variable as it is known at one place.

    `span` is where it was last defined; `tree` and `value` are what was assigned there, as written
    and as checked, for messages.
    `type` is None for a name that stands for something that is no value (`sugar`); `inferred`
    marks a parameter without annotation.
    """

    name: str
    type: Type | None
    span: Span | None = None
    tree: tree.Expr | None = None
    value: typed.Expr | None = None
    parameter: bool = False
    inferred: bool = False
    declared: bool = False
    sugar: Sugar | None = None

    def narrowed(self, type: Type) -> Variable:
        """The same variable, known to be of a narrower type."""
        return replace(self, type=type, inferred=False)


@dataclass(frozen=True)
class Problem:
    """Why a variable that is assigned somewhere cannot be read here.

    `statement` is the test of the `if` at fault (or the loop), `whole` all of it, `torch` torch's
    sentence about it, `missing_in` the branch without an assignment ("" if the types differ),
    `assigned` the places of assignment; `has_else` says that an `else` would not mend it.
    """

    statement: Span
    torch: str
    missing_in: str
    assigned: tuple[tuple[Span, Type | None], ...]
    whole: Span
    has_else: bool = True


@dataclass
class Frame:
    """The names defined in one block; `exits` is set once the block leaves unconditionally."""

    parent: Frame | None = None
    is_loop: bool = False
    variables: dict[str, Variable] = field(default_factory=dict)
    problems: dict[str, Problem] = field(default_factory=dict)
    exits: bool = False

    def find(self, name: str) -> Variable | None:
        """The variable in this frame or one around it."""
        frame: Frame | None = self
        while frame is not None:
            if name in frame.variables:
                return frame.variables[name]
            frame = frame.parent
        return None

    def read_by(self, value: typed.Expr) -> Variable | None:
        """The variable that an expression reads, if it is such a read."""
        return None if value.variable is None else self.find(value.variable)

    def find_outside(self, name: str) -> Variable | None:
        """The variable in a frame around this one."""
        return self.parent.find(name) if self.parent is not None else None

    def problem(self, name: str) -> Problem | None:
        frame: Frame | None = self
        while frame is not None:
            if name in frame.problems:
                return frame.problems[name]
            frame = frame.parent
        return None

    def fault(self, name: str, problem: Problem) -> None:
        """Keep why a variable cannot be read from here on, nor in the frames around this one."""
        self.problems[name] = problem
        frame, told = self.parent, replace(problem, has_else=True)
        while frame is not None:
            frame.problems[name] = told
            frame = frame.parent

    def define(self, variable: Variable) -> None:
        self.variables[variable.name] = variable
        self.problems.pop(variable.name, None)

    def remove(self, name: str) -> bool:
        """Forget a variable everywhere; whether the outermost frame, which torch asks, had it."""
        found = False
        frame: Frame | None = self
        while frame is not None:
            found = frame.variables.pop(name, None) is not None
            frame = frame.parent
        return found

    def names(self) -> list[str]:
        """All names in scope, innermost first."""
        found: dict[str, None] = {}
        frame: Frame | None = self
        while frame is not None:
            found.update(dict.fromkeys(frame.variables))
            frame = frame.parent
        return list(found)

    def is_inside_loop(self) -> bool:
        frame: Frame | None = self
        while frame is not None:
            if frame.is_loop:
                return True
            frame = frame.parent
        return False
