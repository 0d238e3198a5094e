"""`torch.return_types`: the classes of several results with names, by operator."""

from __future__ import annotations

from .ops.eager.unknown_names import unknown_in_module
from .ops.memory.named_results import NamedResults, named_results
from .ops.table.table import TABLE

__all__: list[str] = []


def _fields(name: str) -> tuple[str, ...]:
    """The names of an operator's results, if it has several and all have one."""
    for space in ("aten::", "aten::_"):
        for entry in TABLE.operators(space + name):
            names = tuple(each.name or "" for each in entry.signature.returns)
            if len(names) > 1 and all(names):
                return names
    return ()


def __getattr__(name: str) -> type[NamedResults]:
    found = () if name.startswith("__") else _fields(name)
    if not found:
        raise unknown_in_module(__name__, name, __dir__)
    return named_results(name, found)


def __dir__() -> list[str]:
    short = (name.removeprefix("aten::") for name in TABLE.names() if name.startswith("aten::"))
    return sorted(name for name in short if not name.startswith("_") and _fields(name))
