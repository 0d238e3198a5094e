"""Why codes have no native code, as far as that is told without writing it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from typing import Final

from ...ir.graphs.callee import callee
from ...ops.kernels.code.loading.objects import is_possible
from ...ops.table.record import Operator
from ...typecheck.types.types import STRING, DictType, Type
from ..code.code import Code, Region, Repeat, Step
from ..code.instructions import row
from ..plans.compiling import NATIVE_VARIABLE
from ..plans.stretches import Search
from .called import may_be_called
from .kinds import NotNative, holds_arrays, kind_of
from .reads import touches_tensors

__all__ = [
    *("LONGEST", "REFUSALS", "count_refusal", "is_off", "reason_against", "reason_of_arguments"),
    "take_tensors",
]

LONGEST: Final = 1500
"""Instructions; longer code would take too long to compile."""


def is_off() -> bool:
    """Whether native code is switched off."""
    return os.environ.get(NATIVE_VARIABLE, "").lower() == "off"


REFUSALS: Final[Counter[str]] = Counter()
"""Why codes have no native code, and how many; without the lines."""

MOST_REASONS: Final = 1000


def count_refusal(why: str) -> None:
    """Count a code that has no native code."""
    reason = why.partition(" (line ")[0]
    if reason in REFUSALS or len(REFUSALS) < MOST_REASONS:
        REFUSALS[reason] += 1


_CALLS: Final = frozenset(("function", "method"))


def reason_against(code: Code, arguments: Sequence[Type], search: Search | None = None) -> str:
    """Why a code is left to its plan without being looked at; empty if it is not.

    `search` is the one for its stretches, if others want what it finds.
    """
    if is_off():
        return "native code is switched off"
    if not (
        code.has_loop
        or any(row(each).name in _CALLS for each in code.instructions)
        or any(map(_goes_through, code.operators))
    ):
        return "it has no loop"
    if len(code.instructions) > LONGEST:
        return f"it has more than {LONGEST} instructions"
    for entry in code.operators:
        if "Tensor" in entry.schema and not (entry.native or may_be_called(entry)):
            return f"`{entry.name}` is over tensors"
    unknown = _unknown_call(code.body)
    if unknown:
        return f"a call of `{unknown}`"
    why = reason_of_arguments(arguments)
    has_tensors = not why and (take_tensors(arguments) or touches_tensors(code))
    if has_tensors and (search or Search(code)).has_large:
        return "its steps over tensors are one call"
    return why if why or is_possible() else "nothing can be compiled here"


def _unknown_call(region: Region) -> str:
    """The name of a method that is called in any case and is not known beforehand; empty if there
    is none."""
    for part in region:
        found = _unknown_call(part.body) if isinstance(part, Repeat) else ""
        if isinstance(part, Step) and part.node.kind == "prim::CallMethod":
            found = "" if callee(part.node) else str(part.node.attributes["name"])
        if found:
            return found
    return ""


def _goes_through(entry: Operator) -> bool:
    """Whether an operator is a loop itself, over a list, a dict or a text: none that plans write
    out, which read one place."""
    return not entry.inline and any(
        type == STRING or type.list_of is not None or isinstance(type, DictType)
        for type in (argument.type for argument in entry.signature.arguments)
    )


def reason_of_arguments(arguments: Sequence[Type]) -> str:
    """Why native code cannot take them; empty if it can."""
    try:
        kinds = [kind_of(type) for type in arguments]
    except NotNative as error:
        return str(error)
    return "" if all(kind.may_cross for kind in kinds) else "an argument has no native form"


def take_tensors(arguments: Sequence[Type]) -> bool:
    """Whether there are tensors among arguments, which have native forms."""
    return any(holds_arrays(kind_of(type)) for type in arguments)
