"""The members of tensors that ask: what subclasses with a `__torch_function__` have.

They are in the place of `Tensor`'s, and stand in a class of their own, which comes before
`Tensor` among the bases of such a subclass, so tensors themselves do not pay for them.  While a
mode is entered `Tensor` has them too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from types import FunctionType, MethodType
from typing import Any, Final

from ...frontend.foundations.locks import fork_safe_lock
from ..memory.native_class import NativeMember
from ..tensors import overriding
from ..tensors.differentiable import Differentiable
from ..tensors.overriding import PLAIN, answer, ask, askers, asks
from ..tensors.tensor import Tensor
from .callables import call_by
from .dispatch import EagerFunction
from .methods import members_replaced, operator_methods, signs_between

__all__ = ["asked_operator", "asking_members", "asking_names", "public_function"]

_NEVER: Final = frozenset(
    """__new__ __init_subclass__ __torch_function__ __hash__ __copy__ __reduce__ __getattr__
    __delitem__ __dict__ as_subclass""".split()
)
"""Members that no class is asked for."""
_PRIVATE: Final = ("_base", "_grad", "_version")


def public_function(name: str) -> Any:
    """What a class is told that `Tensor.<name>` is; of a property the function that reads."""
    found = _plain(operator_methods().get(name, name))
    return found.__get__ if isinstance(found, property) else found


@cache
def _plain(name: str) -> Any:
    """A member of tensors as it is while no mode is entered."""
    return _declared(name)


def _declared(name: str) -> object:
    found = next(vars(cls)[name] for cls in (Tensor, Differentiable) if name in vars(cls))
    return found.plain if isinstance(found, NativeMember) else found


class _Method:
    """A method that asks; the class has the plain one."""

    __slots__ = ("_call", "_plain")

    def __init__(self, plain: object, call: Callable[..., object]) -> None:
        self._plain = plain
        self._call = call

    def __get__(self, instance: object, owner: object = None) -> object:
        return self._plain if instance is None else MethodType(self._call, instance)


class _Property:
    """A property that asks; the class has the plain one."""

    __slots__ = ("_name", "_plain")

    def __init__(self, plain: property, name: str) -> None:
        self._plain = plain
        self._name = name

    def _do(self, how: str, *args: object) -> object:
        function = getattr(self._plain, how)
        if not asks(args[0]):
            below = overriding.STATE.below
            seen = None if below is None or how != "__get__" else below.members.get(self._name)
            return (seen or function)(*args)
        name = f"torch.Tensor.{self._name}.{how}"
        return ask(function, askers(args[:1], {}) or [], args, {}, name)

    def __get__(self, instance: object, owner: object = None) -> object:
        if instance is not None:
            return self._do("__get__", instance)
        found = _declared(self._name)  # which native code may have taken over since
        return self._plain if isinstance(found, _Property) else found

    def __set__(self, instance: object, value: object) -> None:
        self._do("__set__", instance, value)

    def __delete__(self, instance: object) -> None:
        self._do("__delete__", instance)


def asked_operator(name: str, *operands: object) -> object:
    """What the class of an operand makes of an operator of Python's; NotImplemented if nothing."""
    asked = askers(operands, {}) or []
    public = public_function(name)
    if name in signs_between():
        return answer(public, asked, operands)
    return ask(public, asked, operands, {}, f"torch.Tensor.{public.__name__}")


def _method(name: str, plain: Any) -> _Method:
    public = operator_methods().get(name, name)

    def call(*args: Any, **kwargs: object) -> object:
        asked = askers(args, kwargs)
        if asked is None:
            if overriding.STATE.below is not None:
                return overriding.STATE.below.members.get(name, plain)(*args, **kwargs)
            return plain(*args, **kwargs)
        if name in signs_between():
            return asked_operator(name, *args)
        return ask(public_function(name), asked, args, kwargs, f"torch.Tensor.{public}")

    call.__name__ = name
    call.__qualname__ = f"Tensor.{name}"
    return _Method(plain, call)


def _parts(self: Tensor) -> Iterator[object]:
    """The parts along the first dimension, which are instances of the class."""
    heard = (asks(self) or overriding.STATE.below is not None) and self.dim()
    return iter(self.unbind(0)) if heard else _plain("__iter__")(self)


@cache
def asking_members() -> type:
    """The class of the members that ask."""
    members: dict[str, object] = {"__slots__": (), "__hash__": Tensor.__hash__}
    for name in {**vars(Differentiable), **vars(Tensor)}:
        is_private = name.startswith("_") and not name.endswith("__")
        if name in _NEVER or (is_private and name not in _PRIVATE):
            continue
        plain = _plain(name)
        if isinstance(plain, FunctionType):
            members[name] = _method(name, plain)
        elif isinstance(plain, property):
            members[name] = _Property(plain, name)
    members["__iter__"] = _Method(_plain("__iter__"), _parts)
    return type("Asking", (), members)


def asking_names() -> list[str]:
    """The names of the members that ask."""
    kinds = (_Method, _Property)
    return [name for name, each in vars(asking_members()).items() if isinstance(each, kinds)]


# --------------------------------------------------------------------------- modes


def _call_under_modes(self: EagerFunction, *args: object, **kwargs: object) -> object:
    asked = askers(args, kwargs)
    if asked is None:
        below = overriding.STATE.below
        if below is not None:
            return below.call(self, args, kwargs)
        return _call(self, *args, **kwargs)
    return ask(self, asked, args, kwargs, self.public_name)


_call: Final = EagerFunction.__call__


class _Looking:
    """How many modes are entered, in all threads; functions look for them while there are some."""

    def __init__(self) -> None:
        self._lock = fork_safe_lock()
        self._count = 0
        self._held: dict[str, object] = {}

    def arm(self, more: bool) -> None:
        """Count one mode more or less."""
        with self._lock:
            self._count += 1 if more else -1
            if self._count != int(more):
                return
            if more:
                PLAIN.clear()
                members = {name: vars(asking_members())[name] for name in asking_names()}
                self._held |= members_replaced(members)
                call_by(_call_under_modes)
            else:
                members_replaced(self._held)
                call_by()
                PLAIN.update(overriding.plain_types())


overriding.MEMBERS.install(asking_members)
overriding.OPERATORS.install(asked_operator)
overriding.ARMED.install(_Looking().arm)
