"""What native code is made from: a program of the language of `lowering`, and what it names."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from ...typecheck.types.types import Type
from .called import CALLED
from .dict_versions import VERSION_AT
from .kinds import MADE, Kind, holds_arrays

__all__ = ["NativeSource"]

MOST_SITES: Final = 60
"""Dicts that a program keeps copies of: their uses are bits of a word."""


@dataclass
class NativeSource:
    """The text; the kinds of the arguments and of the result; what it names.

    `objects` are the kinds of attributes by the name of a class, NONE for those that have no kind
    here, and `slots` the places of those that are read or written.  `outer` are Python's objects
    that it names, by the words that the table of outer addresses has for them; `types` are those
    that kinds have names of.  `left_out` says what ways of branches have no native form;
    `kept` whether an attribute is a dict that is only read: see `kept.native`.  One that `writes`
    does so to tensors that it is given; `written` are the operators that write to any.
    """

    lines: list[str] = field(default_factory=list)
    arguments: list[Kind] = field(default_factory=list)
    result: Kind | None = None
    names: dict[str, object] = field(default_factory=dict)
    objects: dict[str, tuple[Kind, ...]] = field(default_factory=dict)
    kept: dict[tuple[str, int], bool] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    slots: dict[str, set[int]] = field(default_factory=dict)
    outer: dict[str, object] = field(default_factory=dict)
    types: dict[str, Type] = field(default_factory=dict)
    writes: bool = False
    written: list[str] = field(default_factory=list)

    def for_callee(self) -> NativeSource:
        """That of a function of the same program, which has lines, arguments and a result of its
        own."""
        return replace(self, lines=[], arguments=[], result=None)

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"

    @property
    def calls_out(self) -> bool:
        """Whether it calls operators that have no native form."""
        return any(name.startswith(CALLED) for name in self.outer)

    @property
    def takes_containers(self) -> bool:
        """Whether it may cost more than it saves to hand arguments over."""
        return self.writes or any(_is_container(kind) for kind in self.arguments)

    @property
    def takes_tensors(self) -> bool:
        """Whether there are tensors among the arguments."""
        return any(map(holds_arrays, self.arguments))

    @property
    def gives_tensors(self) -> bool:
        """Whether there may be tensors in what is given, or written back to containers."""
        may_change = [each for each in self.arguments if each.family in ("list", "dict", "tuple")]
        assert self.result is not None
        return self.touches_tensors or any(map(holds_arrays, (self.result, *may_change)))

    @property
    def gives_parts(self) -> bool:
        """Whether tensors that it is given, or parts of these, may be among the results."""
        assert self.result is not None
        return self.touches_tensors or _holds_others(self.result)

    @property
    def touches_tensors(self) -> bool:
        """Whether it reads or sets tensors that objects hold."""
        return any(
            holds_arrays(self.objects[name][slot])
            for name, places in self.slots.items()
            for slot in places
        )

    @property
    def takes_objects(self) -> bool:
        """Whether what an object holds is taken in, which may be much more than a call needs."""
        return any(kind.family == "object" for kind in self.arguments)

    @property
    def sites(self) -> list[tuple[str, int]]:
        """The attributes, by class and slot, that are dicts of which copies are kept: none where
        nothing says whether they were changed."""
        if not VERSION_AT:
            return []
        return [site for site, is_kept in self.kept.items() if is_kept][:MOST_SITES]

    @property
    def crosses_plainly(self) -> bool:
        """Whether arguments can be taken from Python's values, lists and the like copied, and the
        result be given as one; the object that a method is called of is the machine's own."""
        given = [kind for kind in self.arguments if kind.family != "object"]
        return self.result is not None and all(map(self._is_plain, (*given, self.result)))

    def _is_plain(self, kind: Kind) -> bool:
        if kind.family == "array":
            return not self.writes
        if kind.family == "enum":
            return self.outer.get(f"class {kind.name}") is not None
        return kind.family in _PLAIN and all(map(self._is_plain, kind.parts))


_PLAIN = frozenset(
    ("int", "float", "c128", "bool", "none", "str", "list", "dict", "tuple", "optional", "union")
)


def _holds_others(kind: Kind) -> bool:
    """Whether tensors may be in there that are not made by native code."""
    if kind.family == "array":
        return kind != MADE
    return any(map(_holds_others, kind.parts))


def _is_container(kind: Kind) -> bool:
    return kind.family in ("list", "dict", "tuple", "object") or any(map(_is_container, kind.parts))
