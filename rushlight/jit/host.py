"""What the values of the language are told about Python's modules and classes."""

from __future__ import annotations

from ..interpreter.values.objects import HOST, ScriptObject
from ..nn.modules.module import Module
from ..typecheck.types.types import Type
from .classes import class_type, inferred_class
from .module import member_of, wrap

__all__: list[str] = []


class _Face:
    """See `Host`."""

    def module_of(self, target: ScriptObject) -> Module:
        return wrap(target)

    def member_of(self, target: ScriptObject, name: str) -> object:
        return member_of(target, name)

    def class_type(self, cls: type) -> Type | None:
        return class_type(cls)

    def inferred_class(self, cls: type) -> Type | None:
        return inferred_class(cls)

    def refusal(self, value: object) -> str | None:
        if isinstance(value, Module):
            return "Cannot infer concrete type of torch.nn.Module"
        return None


HOST.install(_Face())
