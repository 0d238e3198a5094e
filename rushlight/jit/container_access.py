"""Scripted containers as Python sees them: their length, their elements, and loops over them.

A module whose class compiles `__len__`, `__getitem__` and so on runs these; a scripted
`Sequential`, `ModuleList` or `ModuleDict` gives its scripted children.  Archives do not say that a
module was a container, so after loading there are only the children's names.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..interpreter.objects import ScriptObject
from ..nn.modules.container import ModuleList, Sequential
from .function import ScriptMethod

__all__ = ["ContainerAccess"]


class ContainerAccess:
    """The part of a scripted module that makes it a container."""

    if TYPE_CHECKING:
        _c: ScriptObject
        _modules: dict[str, Any]

    def __len__(self) -> int:
        compiled = self._compiled_method("__len__")
        return compiled() if compiled is not None else len(self._elements("len()"))

    def __bool__(self) -> bool:
        compiled = self._compiled_method("__bool__")
        return True if compiled is None else compiled()

    def __iter__(self) -> Iterator[Any]:
        compiled = self._compiled_method("__iter__")
        if compiled is not None:
            return iter(compiled())
        elements = self._elements("iteration")
        return iter(elements if self._is_dict() else list(elements.values()))

    def __contains__(self, item: object) -> bool:
        compiled = self._compiled_method("__contains__")
        if compiled is not None:
            return bool(compiled(item))
        elements = self._elements("`in`")
        return item in elements if self._is_dict() else item in elements.values()

    def __getitem__(self, key: Any) -> Any:
        compiled = self._compiled_method("__getitem__")
        if compiled is not None:
            return compiled(key)
        elements = self._elements("indexing")
        if self._is_dict():
            return elements[key]
        part = list(elements.values())[key]
        if isinstance(key, slice):
            return Sequential(*part) if self._c.cls.container == "Sequential" else ModuleList(part)
        return part

    def _compiled_method(self, name: str) -> Any:
        """A method that the class itself compiles; what containers compile is answered here."""
        if self._c.cls.container:
            return None
        function = self._c.cls.method(name)
        return None if function is None else ScriptMethod(self._c, function)

    def _is_dict(self) -> bool:
        return self._c.cls.container == "ModuleDict"

    def _elements(self, what: str) -> dict[str, Any]:
        """The children.

        Raises:
            NotImplementedError: the module is no scripted container.
        """
        if self._c.cls.container in ("ModuleDict", "ModuleList", "Sequential"):
            return self._modules
        name = self._c.cls.name
        raise NotImplementedError(
            f"{what} of a scripted `{name}`, which is not known to be a container; its children "
            "are in named_children()"
        )

    def _dict_method(self, name: str) -> Any:
        """`keys`, `values` or `items` of a scripted ModuleDict; None for all else.

        They are no methods of this class: a module may have children of these names.
        """
        is_one = name in ("keys", "values", "items") and self._is_dict()
        return getattr(self._modules, name) if is_one else None
