"""Tensors of users' classes that are parameters: they keep their class and are marked."""

from __future__ import annotations

from typing import Any

__all__ = ["ParameterType", "marked"]


class ParameterType(type):
    """The type of `Parameter` and its subclasses.

    `isinstance(t, Parameter)` is true of marked tensors, too.
    """

    def __instancecheck__(cls, instance: object) -> bool:
        if type.__instancecheck__(cls, instance):
            return True
        _, tensor, *more = cls.__mro__
        if any(isinstance(base, ParameterType) for base in (tensor, *more)):
            return False  # a class of its own, not `Parameter`
        return isinstance(instance, tensor) and getattr(instance, "_is_param", False) is True


def marked(data: Any, requires_grad: bool) -> Any:
    """A parameter over the memory of a tensor of a user's class, and of that class.

    Raises:
        RuntimeError: `detach` gives a tensor of another class.
    """
    made = data.detach()._want_gradients(requires_grad)
    kind, given = type(made).__name__, type(data).__name__
    if type(made) is not type(data):
        raise RuntimeError(
            f"Creating a Parameter from an instance of type {given} requires that detach() returns "
            f"an instance of the same type, but return type {kind} was found instead. To use the "
            "type as a Parameter, please correct the detach() semantics defined by its "
            "__torch_dispatch__() implementation."
        )
    made._is_param = True
    return made
