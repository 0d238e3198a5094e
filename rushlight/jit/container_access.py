"""Scripted containers as Python sees them: their length, their elements, and loops over them.

A module whose class compiles `__len__`, `__getitem__` and so on runs these; a scripted
`Sequential`, `ModuleList` or `ModuleDict` gives its scripted children.  Archives do not say that a
module was a container, so after loading there are only the children's names.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..interpreter.values.objects import ScriptObject
from ..nn.modules.container import ModuleList, Sequential
from .decorators import EXPORT, modifier
from .function import ScriptMethod

__all__ = ["ContainerAccess", "dict_method"]


class ContainerAccess:
    """The part of a scripted module that makes it a container."""

    if TYPE_CHECKING:
        _c: ScriptObject
        _modules: dict[str, Any]

    def __len__(self) -> int:
        compiled = _compiled_method(self, "__len__")
        return compiled() if compiled is not None else len(_elements(self, "len()"))

    def __bool__(self) -> bool:
        compiled = _compiled_method(self, "__bool__")
        return True if compiled is None else compiled()

    def __iter__(self) -> Iterator[Any]:
        compiled = _compiled_method(self, "__iter__")
        if compiled is not None:
            return iter(compiled())
        elements = _elements(self, "iteration")
        return iter(elements if _is_dict(self) else list(elements.values()))

    def __contains__(self, item: object) -> bool:
        compiled = _compiled_method(self, "__contains__")
        if compiled is not None:
            return bool(compiled(item))
        elements = _elements(self, "`in`")
        return item in elements if _is_dict(self) else item in elements.values()

    def __getitem__(self, key: Any) -> Any:
        compiled = _compiled_method(self, "__getitem__")
        if compiled is not None:
            return compiled(key)
        elements = _elements(self, "indexing")
        if _is_dict(self):
            return elements[key]
        part = list(elements.values())[key]
        if isinstance(key, slice):
            return Sequential(*part) if self._c.cls.container == "Sequential" else ModuleList(part)
        return part


def _compiled_method(module: ContainerAccess, name: str) -> ScriptMethod | None:
    """A method that the class itself compiles; what containers compile is answered here, unless a
    class exports one of its own."""
    function = module._c.cls.method(name)
    if module._c.cls.container and modifier(getattr(function, "python", None)) != EXPORT:
        return None
    return None if function is None else ScriptMethod(module._c, function)


def _is_dict(module: ContainerAccess) -> bool:
    return module._c.cls.container == "ModuleDict"


def _elements(module: ContainerAccess, what: str) -> dict[str, object]:
    """The children.

    Raises:
        NotImplementedError: the module is no scripted container.
    """
    if module._c.cls.container in ("ModuleDict", "ModuleList", "Sequential"):
        return module._modules
    name = module._c.cls.name
    raise NotImplementedError(
        f"{what} of a scripted `{name}`, which is not known to be a container; its children "
        "are in named_children()"
    )


def dict_method(module: ContainerAccess, name: str) -> object:
    """`keys`, `values` or `items` of a scripted ModuleDict; None for all else.

    They are no methods of the class: a module may have children of these names.
    """
    is_one = name in ("keys", "values", "items") and _is_dict(module)
    return getattr(module._modules, name) if is_one else None
