"""Where Python finds an operator: `torch.<name>`, `Tensor.<name>`, among the layers, or nowhere.

An operator's declaration says its face where the rule does not give it (`face=`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, Literal, Protocol

__all__ = ["Face", "face_of"]

Face = Literal["", "function", "method", "both", "layer", "operator"]
"""`torch.<name>`, `Tensor.<name>`, both, `torch._C._nn.<name>`, or no more than `torch.ops`."""


class _Overload(Protocol):
    """What the rule reads of an overload."""

    face: Face
    full_name: str
    schema: str


_SPACES: Final = ("__", "special_", "linalg_", "fft_")
"""How operators begin that Python finds elsewhere: behind signs, or in packages of their own."""

_TAKES_SELF: Final = re.compile(r"\(Tensor(?:\([^)]*\))? self[,)]")


def face_of(name: str, overloads: Iterable[_Overload]) -> Face:
    """The face of the operator `aten::<name>`.

    By rule what takes or gives tensors is a function, and a method too where its first argument is
    `self`; but private ones are no methods, and those that write `self` and take more are no
    functions.
    """
    schemas = []
    for entry in overloads:
        if entry.face:
            return entry.face
        schemas.append(entry.schema[len(entry.full_name) :])
    if name.startswith(_SPACES) or not any(map(_is_about_tensors, schemas)):
        return "operator"
    if name.startswith("_") or not any(map(_TAKES_SELF.match, schemas)):
        return "function"
    writes = any(schema.startswith("(Tensor(a!) self") for schema in schemas)
    alone = any(schema.startswith("(Tensor(a!) self)") for schema in schemas)
    return "method" if writes and not alone else "both"


def _is_about_tensors(schema: str) -> bool:
    """Whether it takes or gives a tensor, not as a key alone."""
    return "Tensor" in schema and "(Tensor, t" not in schema
