"""The modules of torch in which its classes and functions lie, where ours lie in other files.

`homes.txt` is the one list (`tools/make_homes.py` writes it): below `= torch.x` stand files of
ours, and in each what torch has in `torch.x`.  All else that users see has torch's module of the
same name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

__all__ = ["home_of", "is_listed", "is_public"]

_FILE: Final = Path(__file__).with_name("homes.txt")
_LOWER: Final = frozenset(
    "grammar frontend typecheck ops ir interpreter serialization cli as_torch".split()
)


@cache
def _homes() -> Mapping[str, Mapping[str, str]]:
    """For each file of ours (`nn.modules.linear`) the modules of torch's by names."""
    home, found = "", dict[str, dict[str, str]]()
    text = re.sub(r"\n +", " ", _FILE.read_text(encoding="utf-8"))
    for line in filter(None, text.splitlines()):
        if line.startswith("= "):
            home = line[2:]
        else:
            inside, _, names = line.partition(":")
            found.setdefault(inside, {}).update(dict.fromkeys(names.split(), home))
    return found


def is_public(inside: str) -> bool:
    """Whether a module, by its name in rushlight, is one that torch's users see."""
    if inside == "serialization":  # the names of torch's, before the folder's own files
        return True
    return inside.partition(".")[0] not in _LOWER


def is_listed(inside: str) -> bool:
    """Whether a module, by its name in rushlight, has classes or functions of torch's modules."""
    return inside in _homes()


def home_of(inside: str, name: str) -> str | None:
    """The module of torch that has a class or function.

    Args:
        inside: its module by its name in rushlight (`nn.init`; empty for rushlight itself).
        name: its qualified name; members of a class lie where the class does, but for those of
            tensors, which torch has in a file of their own.

    Returns:
        None for what torch's users do not see.
    """
    if name.startswith("Tensor."):
        return "torch._tensor"
    known = _homes().get(inside, {}).get(name.partition(".")[0])
    if known is not None:
        return known
    return f"torch.{inside}".rstrip(".") if is_public(inside) else None
