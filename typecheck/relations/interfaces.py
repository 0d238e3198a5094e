"""What is said of a class or interface that lacks what another interface asks for."""

from __future__ import annotations

from ..definitions.class_types import ClassType, InterfaceType
from ..definitions.signature_text import torch_signature
from ..types.types import Type
from .relations import unmet_method

__all__ = ["why_unfit"]


def why_unfit(found: Type, wanted: Type) -> str:
    """torch's reason why a class or interface does not fill an interface; "" for other types."""
    if not isinstance(found, ClassType | InterfaceType) or not isinstance(wanted, InterfaceType):
        return ""
    kind = "Class" if found.is_class else "Interface"
    mine, theirs = found.annotation_str, wanted.annotation_str
    if wanted.is_module and not found.is_module:
        if found.is_interface:
            return f"Interface '{mine}' is not a subtype of the module interface '{theirs}'.\n"
        return (
            f"Class '{mine}' is not a subtype of the module interface '{theirs}' , only "
            "ScriptModule class can be subtype of module interface.\n"
        )
    missing = unmet_method(found, wanted)
    if missing is None:
        return ""
    name = missing.name
    method = found.magic(name)
    if method is None:
        but = "" if found.is_class else "interface "
        return f"{kind} '{mine}' does not have method '{name}' but {but}'{theirs}' does.\n"
    return (
        f"Method on {kind.lower()} '{mine}' (1) is not compatible with interface '{theirs}' (2)\n"
        f"  (1) {torch_signature(method.signature, name=name)}\n"
        f"  (2) {torch_signature(missing.signature, name=name)}\n"
    )
