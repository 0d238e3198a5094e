"""An object that Python and scripted code share: `torch.jit.script(Point(1))`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..interpreter.values.histories import keep_given, with_histories
from ..interpreter.values.objects import ScriptObject
from ..interpreter.values.values import CastError, from_machine, to_machine
from ..ops.tensors.tensor import Tensor
from ..typecheck.definitions.class_types import ClassType
from ..typecheck.relations.relations import is_subtype
from ..typecheck.types.types import TENSOR
from .function import ScriptMethod

__all__ = ["RecursiveScriptClass", "script_object"]


class RecursiveScriptClass:
    """What `script` makes of an object: attributes and methods are those of the script object.

    Passing it to scripted code makes no copy: what one side changes the other sees.
    """

    _c: ScriptObject

    def __init__(self, target: ScriptObject) -> None:
        self.__dict__["_c"] = target
        self.__dict__["__doc__"] = None

    def __getattr__(self, name: str) -> Any:
        target: ScriptObject | None = self.__dict__.get("_c")
        if target is None or name.startswith("__"):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        if name in target.cls.attributes:
            wanted = target.cls.attributes[name].type
            value = target.slots[target.cls.slot(name)]
            return from_machine(with_histories(target, value, wanted), wanted)
        if name in target.cls.properties:
            return ScriptMethod(target, target.cls.properties[name][0])()
        function = target.cls.method(name)
        if function is not None:
            return ScriptMethod(target, function)
        return getattr(target, name)

    def __setattr__(self, name: str, value: object) -> None:
        """Change an attribute.

        Raises:
            RuntimeError: the class has none of that name, or its type is another.
        """
        cls = self._c.cls
        setter = cls.properties.get(name, (None, None))[1]
        if setter is not None:
            ScriptMethod(self._c, setter)(value)
            return
        if name not in cls.attributes:
            raise RuntimeError(
                f"{cls.qualified_name} does not have an attribute with name '{name}'"
            )
        wanted = cls.attributes[name].type
        try:
            plain = isinstance(value, Tensor) and is_subtype(TENSOR, wanted)
            self._c.slots[cls.slot(name)] = value if plain else to_machine(value, wanted)
            keep_given(self._c, value)
        except CastError as error:
            raise RuntimeError(str(error).removeprefix("Cast error details: ")) from None

    def forward_magic_method(self, method_name: str, *args: object, **kwargs: object) -> object:
        """Call a compiled method such as `__len__`.

        Raises:
            TypeError: the class has none of that name.
        """
        function = self._c.cls.method(method_name)
        if function is None:
            raise TypeError(f"{self._c.cls.qualified_name} has no method '{method_name}'")
        return ScriptMethod(self._c, function)(*args, **kwargs)


def _forwarded(name: str) -> Callable[..., object]:
    def method(self: RecursiveScriptClass, *args: object) -> object:
        return self.forward_magic_method(name, *args)

    method.__name__ = name
    method.__doc__ = f"The compiled `{name}`."
    return method


_FORWARDED = (
    *("__len__", "__neg__", "__mul__", "__add__", "__sub__", "__pow__", "__truediv__", "__mod__"),
    *("__and__", "__or__", "__xor__", "__lt__", "__gt__", "__le__", "__ge__", "__getitem__"),
    *("__setitem__", "__contains__", "__call__", "__int__", "__float__", "__enter__", "__exit__"),
)
for _name in _FORWARDED:
    setattr(RecursiveScriptClass, _name, _forwarded(_name))


def script_object(obj: object, type: ClassType) -> RecursiveScriptClass:
    """The script object of a Python object, whose class is compiled.

    Raises:
        RuntimeError: an attribute's value is not of its type.
    """
    try:
        target = to_machine(obj, type)
    except CastError as error:
        raise RuntimeError(str(error).removeprefix("Cast error details: ")) from None
    assert isinstance(target, ScriptObject)
    return RecursiveScriptClass(target)
