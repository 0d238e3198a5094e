"""Modules that tracing makes: attributes of the original, methods from the trace."""

from __future__ import annotations

from ..frontend.foundations.locks import DEFINING
from ..interpreter.values.objects import ScriptObject, python_classes
from ..nn.modules.module import Module
from ..ops.quantized_tensors.packed_weights import PackedWeights
from ..ops.tensors.tensor import Tensor
from ..typecheck.definitions.class_types import ClassType
from ..typecheck.types.types import NONE
from .concrete import gather_facts
from .module import RecursiveScriptModule, ScriptModule
from .qualified_names import mangled, qualified_name
from .script import has_exports, script_with_exports, slot_of

__all__ = ["TopLevelTracedModule", "TracedModule", "traced_module"]


class TracedModule(RecursiveScriptModule):
    """A module below a traced one; its methods are called through that."""

    _compiled = True

    def _get_name(self) -> str:
        return self.original_name


class TopLevelTracedModule(TracedModule):
    """What `trace` makes of a module."""

    _compiled = True


def traced_module(
    original: Module, cls: type[TracedModule] = TopLevelTracedModule
) -> RecursiveScriptModule:
    """A script module with the attributes of a module and without methods.

    Raises:
        ValueError: a module shares parameters with itself under two names.
    """
    if isinstance(original, RecursiveScriptModule):
        return original
    if isinstance(original, ScriptModule):
        return original.__dict__["_actual_script_module"]  # type: ignore[no-any-return]
    if has_exports(original):
        return script_with_exports(original)
    with DEFINING:
        return cls(_object(original, _stand_in(original)))


def _stand_in(original: Module) -> Module:
    """A bare module with what of the original is kept."""
    made = Module()
    made.training = original.training
    seen: set[int] = set()
    for table, kept in (
        (original._parameters, made._parameters),
        (original._buffers, made._buffers),
    ):
        for name, tensor in table.items():
            if tensor is None:
                continue
            if id(tensor) in seen:
                raise ValueError("TracedModules don't support parameter sharing between modules")
            seen.add(id(tensor))
            kept[name] = tensor  # type: ignore[assignment]
    for name, value in vars(original).items():
        if isinstance(value, PackedWeights):  # which no trace could hold as a constant
            setattr(made, name, value)
    if original._backward_hooks:
        raise ValueError(f"Modules that have backward hooks assigned can't be compiled: {original}")
    for name, child in original._modules.items():
        if child is not None:
            made._modules[name] = traced_module(child, TracedModule)
    return made


def _object(original: Module, kept: Module) -> ScriptObject:
    facts = gather_facts(kept)
    cls = ClassType(mangled(qualified_name(type(original))), is_module=True, is_live=True)
    for name, type_, kind in facts.attributes:
        cls.add_attribute(name, type_, kind)
    for name, submodule in facts.modules:
        cls.add_attribute(name, submodule)
    python_classes[cls] = type(original)
    target = ScriptObject(cls)
    for name, attribute in cls.attributes.items():
        value = getattr(kept, name)
        if isinstance(value, RecursiveScriptModule):
            slot: object = value._c
        else:
            slot = None if attribute.type == NONE else slot_of(value, attribute.type)
        target.slots[cls.slot(name)] = value if isinstance(value, Tensor) else slot
    return target
