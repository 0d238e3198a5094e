"""A stretch: parts of a code, with what they take and give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..code.code import Code

__all__ = ["Stretch"]


class Stretch(NamedTuple):
    """Parts of a code: `code` is they alone, which end in a return of nothing.

    The registers `given` hold what it takes, so many `lists` of tensors last: it is called with the
    others, the lengths of these, and all their elements.  The first `own` of them are no parts of
    modules.  The registers `results` hold its results, the last of which is a list if
    `ends_in_list`.
    """

    code: Code
    given: tuple[int, ...]
    lists: int
    own: int
    results: tuple[int, ...]
    ends_in_list: bool

    def is_like(self, other: Stretch) -> bool:
        """Whether another one takes and gives the same, and so begins and ends as this does."""
        return self[1:] == other[1:] and len(self.code.body) == len(other.code.body)

    def gathered(self, values: Sequence[Any]) -> list[object]:
        """The values of registers: some single ones, the lengths of lists, and all their elements
        are given."""
        single = len(self.given) - self.lists
        found, begin = list(values[:single]), single + self.lists
        for length in values[single:begin]:
            found.append(list(values[begin : begin + length]))
            begin += length
        return found

    def held(self, values: Sequence[object]) -> list[object]:
        """The same with lists of its own."""
        return [list(each) if type(each) is list else each for each in self.gathered(values)]
