"""Taking out instructions that change nothing."""

from __future__ import annotations

from .code import Branch, Region, Repeat, Step
from .instructions import opcode, row

__all__ = ["drop_needless_frees"]

_FREE = opcode("free")
_QUICK = frozenset("move get_tensor get_slot list tuple named item length return".split())
"""Instructions that take no memory to speak of: until they are done an array may linger."""


def drop_needless_frees(region: Region) -> None:
    """Do not empty registers that the very next instruction overwrites."""
    for position, part in enumerate(region):
        if isinstance(part, Branch):
            drop_needless_frees(part.then)
            drop_needless_frees(part.otherwise)
        elif isinstance(part, Repeat):
            drop_needless_frees(part.body)
        elif part.instruction[0] == _FREE and position + 1 < len(region):
            written = _written(region[position + 1])
            if written is not None:
                freed = part.instruction[1]
                assert isinstance(freed, tuple)
                left = tuple(register for register in freed if register != written)
                region[position] = Step((_FREE, left), part.node)
    region[:] = [p for p in region if not (isinstance(p, Step) and p.instruction == (_FREE, ()))]


def _written(part: Step | Branch | Repeat) -> int | None:
    """The register that a quick instruction writes; -1 for a return, None for anything else."""
    if not isinstance(part, Step) or row(part.instruction).name not in _QUICK:
        return None
    register = part.instruction[1]
    return register if isinstance(register, int) and row(part.instruction).name != "return" else -1
