"""What knows a call of scripted code by its notes, written for the shape of the call.

It is one text, with numbers of values for names; what stands in it besides is our own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ...memory.versions import owner_of
from ...tensors.tensor import Tensor
from ..nodes.autograd import edge_within
from .shapes import At, CallShape

__all__ = ["Text", "match_of"]

Match = Callable[[Sequence[object], Sequence[Tensor], dict[int, Tensor]], object]


class Text:
    """A function while it is written, and what it names."""

    def __init__(self, head: str) -> None:
        self.lines = [head]
        self.space: dict[str, object] = {"__builtins__": {"len": len, "type": type, "id": id}}
        self._named: dict[int, str] = {}

    def add(self, depth: int, *lines: str) -> None:
        """Add lines."""
        self.lines += [" " * depth + line for line in lines]

    def name(self, thing: object) -> str:
        """The name of a thing, which stays alive by that."""
        found = self._named.get(id(thing))
        if found is None:
            found = self._named[id(thing)] = f"c{len(self._named)}"
            self.space[found] = thing
        return found

    def function(self, name: str) -> Any:
        """The function of that name, when all is written."""
        exec(compile("\n".join(self.lines) + "\n", __file__, "exec"), self.space)
        return self.space[name]


# --------------------------------------------------------------------------- knowing a call


def match_of(shape: CallShape) -> Match:
    """What gives the saved arrays of a call of that shape and where its arguments came from, or
    None for one of another shape: `match(notes, tensors that went out, tensors by array)`."""
    text = Text("def match(steps, pending, known):")
    text.space |= {"edge_within": edge_within, "ndarray": np.ndarray, "owner_of": owner_of}
    count = len(shape.steps) - len(shape.puts)
    text.add(1, f"if len(steps) != {count} or len(pending) != {shape.pending}:")
    text.add(2, "return None")
    seen: dict[int, str] = {}
    wholes: dict[int, str] = {}
    note = 0
    for index, step in enumerate(shape.steps):
        if index in shape.puts:  # the array is the same, and lies as its views' keys say
            whole = seen[step.results[0]] = seen[step.args[0].number]
            text.add(1, f"if not {whole}.flags.c_contiguous: return None")
            continue
        text.add(1, f"b{index}, a{index}, r{index}, o{index} = steps[{note}]")
        _check_step(text, shape, index, seen)
        wholes.update((n, seen[n]) for n in step.results if n in shape.wholes)
        note += 1
    tests = [f"pending[{i}]._array is not {seen[n]}" for i, n in enumerate(shape.outward)]
    text.add(1, f"if {' or '.join(tests[: shape.pending])}:", " return None")
    for number in shape.outside:
        is_wanted = number in shape.active
        text.add(1, f"h = known.get(id({seen[number]}))")
        if is_wanted:
            text.add(1, "if h is None: return None")
            text.add(1, "node = h._accumulator if h._view_of is None is h._grad_node else None")
            text.add(1, "if node is not None and h._requires_grad is True: node = node()")
            text.add(1, "else: node = None")
            text.add(1, f"e{number} = edge_within(h) if node is None else (node, 0)")
        else:
            text.add(1, f"e{number} = None if h is None else edge_within(h)")
        text.add(1, f"if e{number} is {'' if is_wanted else 'not '}None:", " return None")
    for whole in wholes.values() if shape.lent else ():
        text.add(1, f"owner = owner_of({whole})")
        tests = [f"owner_of({seen[n]}) is owner" for n in shape.lent]
        text.add(1, f"if {' or '.join(tests)}: return None")
    saved = "".join(f"{seen[n]}, " for n in shape.saved)
    edges = ", ".join(f"e{n}" for n in shape.edges)
    others = "".join(f"{seen[n]}, " for n in shape.bases)
    text.add(1, f"return ({saved}), [{edges}], ({others})")
    return text.function("match")  # type: ignore[no-any-return]


def _check_step(text: Text, shape: CallShape, index: int, seen: dict[int, str]) -> None:
    step = shape.steps[index]
    noted = shape.noted.get(index)
    tests = [
        f"b{index} is not {text.name(noted or step.bound)}",
        f"o{index} is {'' if index in shape.copies else 'not '}None",
    ]
    tests.append(f"len(a{index}) != {len(step.args)}")
    text.add(1, f"if {' or '.join(tests)}:", " return None")
    is_read = shape.useful[index] or index in shape.placed
    _check_parts(text, shape, step.args, f"a{index}", seen, is_read)
    if noted is not None:
        text.add(1, f"if r{index} is not a{index}_0:", " return None")
        if index in shape.copies:
            seen[shape.copies[index]] = f"o{index}"
    if step.many is None:
        _check_value(text, shape, step.results[0], f"r{index}", seen)
    else:
        text.add(1, f"if type(r{index}) is not {text.name(step.many)}:", " return None")
        results = list(map(At, step.results))
        text.add(1, f"if len(r{index}) != {len(results)}:", " return None")
        _check_parts(text, shape, results, f"r{index}", seen)


def _check_parts(
    text: Text,
    shape: CallShape,
    parts: Iterable[object],
    name: str,
    seen: dict[int, str],
    is_read: bool = True,
) -> None:
    """Check values, and what they are beside tensors, where the way back reads that: which row of
    the data a round of a loop takes is of no matter."""
    parts = list(parts)
    names = [f"{name}_{at}" for at in range(len(parts))]
    if parts:
        text.add(1, f"{', '.join(names)}, = {name}")
    for each, part in zip(parts, names, strict=True):
        if type(each) is At:
            _check_value(text, shape, each.number, part, seen)
        elif type(each) is list:
            kinds = f"(type({part}) is not {text.name(list)} and type({part}) is not "
            test = f"{kinds}{text.name(tuple)}) or len({part}) != {len(each)}"
            text.add(1, f"if {test}:", " return None")
            _check_parts(text, shape, each, part, seen, is_read)
        elif not is_read and each is not None:
            text.add(1, f"if type({part}) is not {text.name(type(each))}:", " return None")
        elif each is None or each is True or each is False:
            text.add(1, f"if {part} is not {each}:", " return None")
        else:
            own, kind = text.name(each), text.name(type(each))
            test = f"{part} is not {own} and (type({part}) is not {kind} or {part} != {own})"
            text.add(1, f"if {test}:", " return None")


def _check_value(
    text: Text, shape: CallShape, number: int, name: str, seen: dict[int, str]
) -> None:
    if number in seen:
        text.add(1, f"if {name} is not {seen[number]}:", " return None")
        return
    seen[number] = name
    value = shape.values[number]
    kind = f"type({name}) is not ndarray or {name}.dtype is not {text.name(value.dtype)}"
    text.add(1, f"if {kind} or {name}.shape != {value.shape!r}:", " return None")
