"""The attributes of a parameter, as programs see them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from copy import deepcopy
from typing import Final

from .differentiable import Differentiable

__all__ = [
    *("NOT_COPIED", "NO_GRADIENTS", "Members", "all_members", "attributes_of", "give_members"),
    *("copy_attributes", "give_slots", "slots_of", "state_of"),
]

NOT_COPIED = (
    "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at "
    "the moment.  If you were attempting to deepcopy a module, this may be because of a "
    "torch.nn.utils.weight_norm usage, see https://github.com/pytorch/pytorch/pull/103001"
)
"""Why tensors with a history have no deep copies."""

NO_GRADIENTS = (
    "data set to a tensor that requires gradients must be floating point or complex dtype"
)


all_members: Final[Callable[[object], dict[str, object]]] = vars(Differentiable)["__dict__"].__get__
"""All attributes of a tensor, with those that say what it knows of gradients."""


def give_members(tensor: object, members: Mapping[str, object]) -> None:
    """Give a tensor other attributes; what it knows of gradients stays.

    Packages give results the attributes of an operand: `made.__dict__ = x.__dict__`.
    """
    own = all_members(tensor)
    stays = {name: own[name] for name in own if name in vars(Differentiable)}
    others = {name: value for name, value in members.items() if name not in vars(Differentiable)}
    own.clear()
    own.update(others, **stays)


class Members(MutableMapping[str, object]):
    """The attributes that programs gave a parameter: what it knows of gradients is none of them.

    Packages make a parameter anew by `type(p)(data, **p.__dict__)`.
    """

    def __init__(self, members: dict[str, object]) -> None:
        self._all = members

    def __getitem__(self, name: str) -> object:
        if name in vars(Differentiable):
            raise KeyError(name)
        return self._all[name]

    def __setitem__(self, name: str, value: object) -> None:
        self._all[name] = value

    def __delitem__(self, name: str) -> None:
        del self._all[name]

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._all if name not in vars(Differentiable))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return repr(dict(self))


def attributes_of(tensor: object) -> dict[str, object]:
    """The attributes that programs gave a tensor."""
    members = tensor.__dict__
    return dict(members if isinstance(members, Members) else Members(members))


def slots_of(tensor: object) -> dict[str, object]:
    """What stands in the slots that a class of a user's has."""
    found: dict[str, object] = {}
    for kind in type(tensor).__mro__:
        if kind.__module__.partition(".")[0] in _OURS:
            continue
        named = vars(kind).get("__slots__", ())
        for name in (named,) if isinstance(named, str) else named:
            if name not in ("__weakref__", "__dict__") and name in vars(kind):
                value = getattr(tensor, name, found)
                if value is not found:
                    found[name] = value
    return found


_OURS: Final = frozenset({__name__.partition(".")[0], "torch", "builtins"})


def give_slots(tensor: object, values: dict[str, object]) -> None:
    """Put values into slots."""
    for name, value in values.items():
        setattr(tensor, name, value)


def copy_attributes(tensor: object, copied: object, memo: dict[int, object]) -> None:
    """Give a deep copy of a tensor copies of what programs gave that."""
    all_members(copied).update(deepcopy(attributes_of(tensor), memo))
    give_slots(copied, deepcopy(slots_of(tensor), memo))


def state_of(tensor: object) -> object:
    """The attributes that programs gave a tensor, with its slots if there are any, as pickles have
    them."""
    attributes, slots = attributes_of(tensor) or None, slots_of(tensor)
    return (attributes, slots) if slots else attributes
