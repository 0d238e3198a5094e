"""`torch.fx.immutable_collections`: the lists and dicts in the arguments of nodes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NoReturn, TypeVar

from ..module_names import names_of
from ..utils._pytree import (
    _dict_flatten_with_keys,
    _list_flatten_with_keys,
    register_pytree_node,
)

__all__ = ["immutable_dict", "immutable_list"]

Item = TypeVar("Item")
Key = TypeVar("Key")


def _no_mutation(self: object, *args: object, **kwargs: object) -> NoReturn:
    del args, kwargs
    raise TypeError(
        f"'{type(self).__name__}' object does not support mutation. If you are attempting to "
        "modify the kwargs or args of a torch.fx.Node object,\n"
        "instead create a new copy of it and assign the copy to the node:\n\n"
        "    new_args = ...  # copy and mutate args\n"
        "    node.args = new_args"
    )


def _frozen(names: str) -> dict[str, object]:
    return dict.fromkeys(names.split(), _no_mutation)


class immutable_list(list[Item]):
    """A list whose changing methods raise TypeError."""

    vars().update(
        _frozen(
            "__delitem__ __iadd__ __imul__ __setitem__ append clear extend insert pop remove "
            "reverse sort"
        )
    )

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self))

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (tuple(self),)


class immutable_dict(dict[Key, Item]):
    """A dict whose changing methods raise TypeError."""

    vars().update(_frozen("__delitem__ __ior__ __setitem__ clear pop popitem setdefault update"))

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (tuple(self.items()),)


def _to_dict(values: Iterable[object], keys: Iterable[object]) -> immutable_dict[object, object]:
    return immutable_dict(zip(keys, values, strict=True))


register_pytree_node(
    immutable_list,
    lambda tree: (list(tree), None),
    lambda values, _: immutable_list(values),
    serialized_type_name="torch.fx.immutable_collections.immutable_list",
    flatten_with_keys_fn=_list_flatten_with_keys,
)
register_pytree_node(
    immutable_dict,
    lambda tree: (list(tree.values()), list(tree)),
    _to_dict,
    serialized_type_name="torch.fx.immutable_collections.immutable_dict",
    flatten_with_keys_fn=_dict_flatten_with_keys,
)


__getattr__ = names_of(__name__)
