"""The lines of a plan, and what is called from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from ...typecheck.types.types import Type
from ..code.code import Code, Step
from .chaining import Chain
from .fusing import Group
from .stretch import Stretch

__all__ = ["FoundIsland", "Island", "PlanSource"]


class Island(NamedTuple):
    """Parts of a code over numbers and containers alone: `code` is they, with an end of its own.

    The registers `given` hold what it takes, of these `types`: what the `texts` say, which are
    registers, or tensors that are read of modules in front of it.  It gives a tuple of what the
    registers `results` hold behind it, or True where there are none.
    """

    code: Code
    given: tuple[int, ...]
    texts: tuple[str, ...]
    types: tuple[Type, ...]
    results: tuple[int, ...]


class FoundIsland(NamedTuple):
    """An island from one position of a region up to another, and the registers it empties."""

    stop: int
    island: Island
    emptied: tuple[int, ...]


@dataclass
class PlanSource:
    """A plan's text, and for each of its lines the step it was written from.

    `numbers` are the constants that the text wants as arrays of float32, `direct` the operators
    that it may call by their direct forms, each with the stretches that it lies in, "" for none
    (`within` is that which is being written), `whole` the chains that it may, by name, `chains` all
    of them, `groups` the groups, `stretches` the stretches, `islands` the islands, `spans` the
    first and last part of each of these, by their identity, and `named` what the forms of operators
    name.
    """

    lines: list[str] = field(default_factory=list)
    steps: list[Step | None] = field(default_factory=list)
    numbers: set[int] = field(default_factory=set)
    direct: dict[int, set[str]] = field(default_factory=dict)
    within: str = ""
    whole: dict[str, Callable[..., object]] = field(default_factory=dict)
    groups: dict[str, Group] = field(default_factory=dict)
    chains: list[Chain] = field(default_factory=list)
    stretches: dict[str, Stretch] = field(default_factory=dict)
    islands: dict[str, Island] = field(default_factory=dict)
    spans: dict[str, tuple[int, int]] = field(default_factory=dict)
    named: dict[str, object] = field(default_factory=dict)

    @property
    def has_direct_forms(self) -> bool:
        """Whether anything is called otherwise once the plan has run often."""
        return bool(self.direct or self.whole or self.groups or self.stretches)

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"

    def add(self, depth: int, line: str, step: Step | None = None) -> None:
        self.lines.append(" " * depth + line)
        self.steps.append(step)
