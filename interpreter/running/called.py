"""What is known of a code together with the methods that it calls, of objects that are at hand."""

from __future__ import annotations

from collections.abc import Sequence

from ...typecheck.definitions.class_types import ClassType
from ...typecheck.definitions.functions import Function
from ...typecheck.relations.relations import is_subtype
from ...typecheck.types.types import Type
from .tiers import FunctionTiers, Way
from .traits import Traits

__all__ = ["traits_with_calls"]


def traits_with_calls(own: Traits, classes: Sequence[ClassType]) -> Traits | None:
    """The traits of a code and of all that it calls, where objects are of these classes alone; None
    where it is not known what is called, or one of the methods has not run yet."""
    found, seen, left = [own], set[Function](), list(own.calls or ())
    if own.calls is None:
        return None
    while left:
        for method in _methods(*left.pop(), classes):
            traits = None if method is None else _traits_of(method)
            if method is None or traits is None or traits.calls is None:
                return None
            if method not in seen:
                seen.add(method)
                found.append(traits)
                left += traits.calls
    if any(each.is_left for each in found):
        return None
    sets = {name for each in found for name in each.sets}
    gives_slots = any(each.gives_slots for each in found)
    return own._replace(sets=tuple(sorted(sets)), gives_slots=gives_slots)


def _methods(type: Type, name: str, classes: Sequence[ClassType]) -> list[Function | None]:
    """The methods that a call of one by an object of a type may mean."""
    if isinstance(type, ClassType):
        return [type.method(name)]
    return [each.method(name) for each in classes if is_subtype(each, type)]


def _traits_of(method: Function) -> Traits | None:
    tiers = method.tiers
    way = tiers.made_way if isinstance(tiers, FunctionTiers) else None
    return way.executable.traits if type(way) is Way else None
