"""Calls with a keyword that all operators have, which a front learns once they come often."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from ..kernels import TRIALS
from ..tensors.tape_port import MISSED
from .binding import Form
from .fronts import CONSTANT, Learn, Recording
from .recipes import key_of

__all__ = ["NOT_RECORDED", "KeywordCalls", "Match"]

Match = Callable[[Sequence[object], dict[str, object]], tuple[Form, list[object], bool] | None]
"""Finds the overload that arguments fit, and what they become."""

NOT_RECORDED: Final = Recording(lambda *_, **__: MISSED, [MISSED])
"""How calls are recorded that have no gradients: not at all."""
_MOST: Final = 24
"""Kinds of calls of one function that are counted."""


class KeywordCalls(ABC):
    """Such calls of a function."""

    def __init__(self, match: Match, learn: Learn) -> None:
        self._match, self._learn = match, learn
        self._seen: dict[object, int] = {}

    def count(
        self, args: Sequence[object], kwargs: Mapping[str, object], rest: dict[str, object]
    ) -> None:
        """Note a call that was done; the `rest` are its other keywords."""
        types = key_of(args, rest)
        if types is None:
            return
        values = (*args, *rest.values())
        constants = [each for each in values if type(each) in CONSTANT]
        key = (types, *kwargs, *constants, self._told(kwargs))
        count = self._seen.get(key, 0)
        if count > TRIALS or not (count or len(self._seen) < _MOST):
            return
        self._seen[key] = count + 1
        if count == TRIALS:
            self._learn_like(args, kwargs, rest)

    @abstractmethod
    def _told(self, kwargs: Mapping[str, object]) -> object:
        """What is known of the keyword where a call is learned."""

    @abstractmethod
    def _learn_like(
        self, args: Sequence[object], kwargs: Mapping[str, object], rest: dict[str, object]
    ) -> None:
        """Have the front learn calls like one."""
