"""Which function a call node calls."""

from __future__ import annotations

from ...typecheck.definitions.class_types import ClassType, FunctionType
from ...typecheck.definitions.functions import Function
from .graph import Node

__all__ = ["callee"]


def callee(node: Node) -> Function | None:
    """The function that a call node calls, if it is known."""
    if node.kind == "prim::CallFunction":
        type = node.inputs[0].type
        return type.function if isinstance(type, FunctionType) else None
    if node.kind == "prim::CallMethod":
        type = node.inputs[0].type
        name = str(node.attributes["name"])
        return type.method(name) if isinstance(type, ClassType) else None
    return None
