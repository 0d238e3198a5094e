"""`torch.return_types`: the classes of several results with names, by operator."""

from __future__ import annotations

from typing import Any

from .ops.eager.unknown_names import unknown_in_module
from .ops.memory.named_results import NamedResults, named_results
from .ops.table.table import TABLE

__all__: list[str] = []


def all_names() -> list[str]:
    """The names of the classes, each also with `_out`."""
    short = (name.removeprefix("aten::") for name in TABLE.names() if name.startswith("aten::"))
    return sorted(name for name in short if not name.startswith("_") and _fields(name))


def pytree_register_structseq(cls: type[NamedResults]) -> None:
    """Have trees of values look into the results of a class.

    Raises:
        ValueError: it is known already.
    """
    from .utils import _pytree

    _pytree.register_pytree_node(cls, lambda made: (list(made), None), lambda parts, _: cls(parts))


def _fields(name: str) -> tuple[str, ...]:
    """The names of an operator's results, if it has several and all have one."""
    for space in ("aten::", "aten::_"):
        for entry in TABLE.operators(space + name):
            names = tuple(each.name or "" for each in entry.signature.returns)
            if len(names) > 1 and all(names):
                return names
    return ()


def __getattr__(name: str) -> Any:
    if name == "all_return_types":
        return [__getattr__(each + end) for each in all_names() for end in ("", "_out")]
    found = () if name.startswith("__") else _fields(name.removesuffix("_out"))
    if not found:
        raise unknown_in_module(__name__, name, __dir__)
    return named_results(name, found)


def __dir__() -> list[str]:
    return [*all_names(), "all_return_types", "pytree_register_structseq"]
