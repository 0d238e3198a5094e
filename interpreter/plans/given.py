"""What a stretch may be given, and what its parts read and write besides tensors."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Final

from ...ir.graphs.graph import Value
from ...typecheck.types.types import BOOL, FLOAT, INT, STRING, TENSOR, Type
from ..code.code import Branch, Code, Region, Step, parts_of
from ..code.instructions import row
from .lifting import is_item
from .registers import Part, Registers, operands_read, results_of, targets_of, values_read

__all__ = [
    *(
        "changes_list_of_module",
        "is_only_read",
        "lists_read",
        "may_be_given",
        "may_be_lifted",
        "reads_dict",
        "reads_of",
        "types_given",
    ),
    *("written_by", "written_lists"),
]

_PLAIN: Final = (TENSOR, INT, FLOAT, BOOL)
_KEYS: Final = (STRING, INT, BOOL)
_TUPLE_READS: Final = ("item", "unpack")
_DICT_READS: Final = {
    "aten::__getitem__": "({0}.get({1}) if {0} else None)",
    "aten::__contains__": "({1} in {0} if {0} else False)",
}
"""How a dict that a stretch is not given is read in front of it: it may be None there, and lack
what is read on a way that is not gone."""


def may_be_lifted(part: Part, origins: Mapping[int, int]) -> bool:
    """Whether a part takes a tensor out of a list that is there in front of the region."""
    return isinstance(part, Step) and is_item(part) and values_read(part)[0][0] not in origins


def written_by(code: Code, part: Part) -> Iterator[Value]:
    """The tensors that a part writes, as wholes."""
    for each in parts_of([part]):
        entry = code.called(each) if isinstance(each, Step) else None
        if entry is not None and entry.is_in_place:
            yield code.whole_of(each.node.inputs[0])


def lists_read(part: Part) -> dict[int, Value]:
    """The registers with lists of tensors that a part reads and has not made itself."""
    if isinstance(part, Step):
        read = values_read(part)
        return {n: value for n, value in read if n >= 0 and value.type.list_of == TENSOR}
    found = dict[int, Value]()
    for region in (part.then, part.otherwise) if isinstance(part, Branch) else (part.body,):
        own = set[int]()
        for each in region:
            found.update((n, value) for n, value in lists_read(each).items() if n not in own)
            for register, is_list in written_lists(each):
                (own.add if is_list else own.discard)(register)
    return found


def changes_list_of_module(step: Step) -> bool:
    """Whether a step changes a list that a module holds, which no kernel does."""
    signature = step.node.signature
    if signature is None or not signature.is_mutable:
        return False
    changed = step.node.inputs[0]
    return changed.type.list_of is not None and changed.node.kind == "prim::GetAttr"


def is_only_read(value: Value) -> bool:
    """Whether operators read a list and no more: none changes it, no container holds it."""
    called = [use.user.signature for use in value.uses]
    return all(each is not None and not each.is_mutable for each in called)


def written_lists(part: Part) -> Iterator[tuple[int, bool]]:
    """The registers of a part's results, and whether they hold lists of tensors then."""
    for register, value in results_of(part):
        if value is not None:
            yield register, value.type.list_of == TENSOR


def types_given(registers: Registers, region: Region, given: Collection[int]) -> Iterator[Type]:
    """The types of what parts read from some registers before they write to them."""
    left = set(given)
    for part in region:
        written = registers.written([part])
        inside = left if isinstance(part, Step) else left - written
        for step in parts_of([part]):
            if isinstance(step, Step):
                yield from (value.type for number, value in operands_read(step) if number in inside)
        left -= written


def may_be_given(type: Type) -> bool:
    """Whether native code may know a call that takes such a value."""
    if type.tuple_of:
        return all(each == INT for each in type.tuple_of)
    return type.dict_of is None and type.list_of in (None, TENSOR, INT, FLOAT)


def reads_dict(step: Step) -> bool:
    """Whether a step is given a dict."""
    return any(value.type.dict_of is not None for _, value in values_read(step))


def reads_of(step: Step, held: Mapping[int, int] | None = None) -> list[tuple[int, str]]:
    """The registers in which a step leaves numbers or tensors that are parts of a tuple or dict,
    and what reads them in Python; nothing of other steps.  What registers hold is in front of a
    stretch in those that `held` tells, if it has them."""
    outputs, targets = step.node.outputs, targets_of(step)
    if len(outputs) != len(targets) or any(each.type not in _PLAIN for each in outputs):
        return []
    name, node = row(step.instruction).name, step.node
    if name in _TUPLE_READS:
        source, *place = step.instruction[2:]
        assert isinstance(source, int)
        first = f"r{(held or {}).get(source, source)}"
        places = [*place, *range(len(targets))][: len(targets)]
        pairs = zip(targets, places, strict=True)
        return [(target, f"({first}[{place}] if {first} else None)") for target, place in pairs]
    text, read = _DICT_READS.get(node.kind), values_read(step)
    if text is None or len(read) != 2 or read[0][1].type.dict_of is None:
        return []
    key = node.inputs[1]
    if read[1][0] >= 0 or key.type not in _KEYS or not key.node.is_constant:
        return []
    return [(targets[0], text.format(f"r{read[0][0]}", repr(key.node.value)))]
