"""Names of values in generated code: each is given once, and none hides what the code needs."""

from __future__ import annotations

import builtins
import keyword
import math
import re
from importlib import import_module
from typing import Final, NamedTuple

from ..ops.memory.dtype import Device
from ..utils import _pytree as pytree
from . import _pytree as fx_pytree

__all__: list[str] = []


class _CustomBuiltin(NamedTuple):
    """A name that generated code may use, and the line that imports it."""

    import_str: str
    obj: object


_custom_builtins: Final = {
    "inf": _CustomBuiltin("from math import inf", math.inf),
    "nan": _CustomBuiltin("from math import nan", math.nan),
    "NoneType": _CustomBuiltin("NoneType = type(None)", type(None)),
    "torch": _CustomBuiltin("import torch", import_module(__name__.partition(".")[0])),
    "device": _CustomBuiltin("from torch import device", Device),
    "fx_pytree": _CustomBuiltin("import torch.fx._pytree as fx_pytree", fx_pytree),
    "pytree": _CustomBuiltin("import torch.utils._pytree as pytree", pytree),
}
_NOBODY: Final = object()
_TAKEN: Final[dict[str, object]] = {
    **dict.fromkeys(keyword.kwlist, _NOBODY),
    **vars(builtins),
    **{name: known.obj for name, known in _custom_builtins.items()},
}
"""Names that mean something, which only that may have."""
_NUMBERED: Final = re.compile(r"(.+)_(\d+)")


def _snake_case(text: str) -> str:
    """`FooBar` as `foo_bar`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", text).lower()


class _Namespace:
    """The names of a graph's values, or of what its code refers to."""

    def __init__(self) -> None:
        self._obj_to_name: dict[object, str] = {}
        self._used_names: set[str] = set()
        self._highest: dict[str, int] = {}

    def create_name(self, candidate: str, obj: object | None) -> str:
        """A name like `candidate` that is nobody else's; that of `obj` if it has one."""
        if obj is not None and obj in self._obj_to_name:
            return self._obj_to_name[obj]
        name = re.sub(r"[^0-9a-zA-Z_]+", "_", candidate) or "_unnamed"
        if name[0].isdigit():
            name = f"_{name}"
        base, number = name, 0
        found = _NUMBERED.fullmatch(name)
        if found is not None:
            base, number = found[1], int(found[2])
        highest = self._highest.get(base, 0)
        if name in self._used_names:
            number = max(number, highest)
        while name in self._used_names or _TAKEN.get(name, obj) is not obj:
            number += 1
            name = f"{base}_{number}"
        self._highest[base] = max(number, highest)
        self._used_names.add(name)
        if obj is not None:
            self._obj_to_name[obj] = name
        return name

    def associate_name_with_obj(self, name: str, obj: object) -> None:
        """Note that a name which was created is an object's."""
        self._obj_to_name.setdefault(obj, name)

    def _rename_object(self, obj: object, name: str) -> None:
        self._obj_to_name[obj] = name
        self._used_names.add(name)
