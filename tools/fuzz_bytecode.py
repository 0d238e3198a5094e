"""Mutations of `bytecode.pkl`: instructions of mobile files changed one at a time.

Bytes that change anywhere seldom reach what makes graphs of byte code; these always do.  Used by
`fuzz_archives.py --kind bytecode`.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from rushlight.serialization.files.limits import DEFAULT_LIMITS
from rushlight.serialization.mobile.code import INSTRUCTIONS
from rushlight.serialization.pickles.nodes import TupleNode
from rushlight.serialization.pickles.reader import read_pickle
from rushlight.serialization.pickles.writer import write_pickle

__all__ = ["change_instructions"]

_NAMES = tuple(INSTRUCTIONS)


def change_instructions(chance: random.Random, content: bytes) -> bytes:
    """A `bytecode.pkl` with some instructions of a function changed, moved, left out or added."""
    root = read_pickle(content, "`bytecode.pkl`", DEFAULT_LIMITS)
    assert isinstance(root, TupleNode)
    functions: list[Any] = list(root.items)
    place = chance.randrange(1, len(functions))
    name, body, *rest = functions[place].items
    tables: dict[str, Any] = dict(entry.items for entry in body.items)
    instructions = [list(each.items) for each in tables["instructions"].items]
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        _change(chance, instructions)
    tables["instructions"] = TupleNode(tuple(TupleNode(tuple(each)) for each in instructions))
    made = TupleNode(tuple(TupleNode(entry) for entry in tables.items()))
    functions[place] = TupleNode((name, made, *rest))
    return write_pickle(TupleNode(tuple(functions)))


def _change(chance: random.Random, instructions: list[list[Any]]) -> None:
    count = len(instructions)
    place = chance.randrange(count) if count else 0
    kind = chance.randrange(7) if count else 3
    if kind < 2:
        instructions[place][1 + kind] = _number(chance, count)
    elif kind == 2:
        instructions[place][0] = chance.choice(_NAMES)
    elif kind == 3:
        made = [chance.choice(_NAMES), _number(chance, count), _number(chance, count)]
        instructions.insert(place, made)
    elif kind == 4:
        del instructions[place]
    elif kind == 5:
        other = chance.randrange(count)
        both = instructions[other], instructions[place]
        instructions[place], instructions[other] = both
    else:
        instructions[place][1] += chance.choice((-1, 1))


def _number(chance: random.Random, count: int) -> int:
    near = chance.randrange(-count - 1, count + 2)
    return chance.choice((0, 1, 2, 3, -1, -2, 5, near, near, 1 << 20, 1 << 40))
