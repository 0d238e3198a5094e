"""Which classes are nodes of trees, and what is known of them."""

from __future__ import annotations

import warnings
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final, NamedTuple

from ..ops.memory.named_results import NamedResults
from ..ops.tensors.sizes import Size
from ._tree_dumps import SERIALIZED_TYPE_TO_PYTHON_TYPE, SUPPORTED_SERIALIZED_TYPES, has_name
from ._tree_parts import (
    Context,
    GetAttrKey,
    KeyEntry,
    _dict_flatten,
    _dict_unflatten,
    _keys,
    _list_flatten,
    _list_unflatten,
    _places,
)

__all__ = [
    *("BUILTIN_TYPES", "NodeDef", "SUPPORTED_NODES", "is_constant_class", "is_namedtuple"),
    *("is_namedtuple_class", "is_namedtuple_instance", "is_structseq", "is_structseq_class"),
    *(
        "is_structseq_instance",
        "kind_of",
        "register_constant",
        "register_dataclass",
        "register_pytree_node",
    ),
]

Flatten = Callable[[Any], tuple[Sequence[object], Context]]
Unflatten = Callable[[Iterable[Any], Context], object]


class NodeDef(NamedTuple):
    """What is known of a class of nodes."""

    type: object
    flatten_fn: Flatten
    unflatten_fn: Unflatten
    keys_fn: Callable[[object], list[KeyEntry]] | None = None


SUPPORTED_NODES: Final[dict[object, NodeDef]] = {}
"""The classes of nodes."""


def register_pytree_node(
    cls: type,
    flatten_fn: Flatten,
    unflatten_fn: Unflatten,
    *,
    serialized_type_name: str | None = None,
    to_dumpable_context: Callable[[Context], object] | None = None,
    from_dumpable_context: Callable[[Any], Context] | None = None,
    flatten_with_keys_fn: Callable[[Any], tuple[Sequence[tuple[KeyEntry, object]], Context]]
    | None = None,
) -> None:
    """Have instances of a class be nodes.

    Args:
        flatten_fn: gives the children of an instance, and what else makes one.
        unflatten_fn: makes an instance of both.
        serialized_type_name: what stands for the class in `treespec_dumps`.
        to_dumpable_context: makes JSON of what `flatten_fn` gives beside children.
        from_dumpable_context: the reverse.

    Raises:
        ValueError: they are nodes already, or one of the two last is missing.
    """
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls} is already registered as pytree node.")
    keys: Callable[[object], list[KeyEntry]] | None = None
    if flatten_with_keys_fn is not None:
        with_keys = flatten_with_keys_fn

        def keys(tree: object) -> list[KeyEntry]:
            return [key for key, _ in with_keys(tree)[0]]

    has_name(cls, serialized_type_name, to_dumpable_context, from_dumpable_context)
    SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn, keys)


def _private_register_pytree_node(cls: type, *functions: object, **options: object) -> None:
    """`register_pytree_node`, also of a class whose instances are nodes already."""
    _register_anew(cls, functions, options)


def _register_anew(cls: type, functions: Sequence[Any], options: dict[str, Any]) -> None:
    if cls in SUPPORTED_NODES:
        warnings.warn(
            f"{cls} is already registered as pytree node. Overwriting the previous registration.",
            stacklevel=3,
        )
        _deregister_pytree_node(cls)
    register_pytree_node(cls, *functions, **options)


def _register_pytree_node(cls: type, *functions: object, **options: object) -> None:
    """The older name of `register_pytree_node`."""
    warnings.warn(
        "`torch.utils._pytree._register_pytree_node` is deprecated. Please use "
        "`torch.utils._pytree.register_pytree_node` instead.",
        FutureWarning,
        stacklevel=2,
    )
    _register_anew(cls, functions, options)


@dataclass(frozen=True)
class ConstantNode:
    """The context of a constant: the constant itself."""

    value: object


def _of_constant(tree: object) -> tuple[list[object], Context]:
    return [], ConstantNode(tree)


def register_constant(cls: type) -> None:
    """Have instances of a class belong to the structure of trees, and be no leaves.

    Raises:
        TypeError: the class does not say when two of them are equal, or has no hash for them.
    """
    for name in ("__eq__", "__hash__"):
        if getattr(cls, name) in (getattr(object, name), None):
            raise TypeError(
                f"register_constant(cls) expects `cls` to have a non-default `{name}` "
                "implementation."
            )
    made: Unflatten = lambda _, constant: constant.value  # noqa: E731
    _register_anew(cls, (_of_constant, made), {"flatten_with_keys_fn": _of_constant})


def is_constant_class(cls: type) -> bool:
    """Whether instances of a class are constants."""
    return cls in SUPPORTED_NODES and SUPPORTED_NODES[cls].flatten_fn is _of_constant


def _register_namedtuple(cls: type, *, serialized_type_name: str) -> None:
    """Name a class of named tuples for `treespec_dumps`."""
    has_name(cls, serialized_type_name)


def _deregister_pytree_node(cls: type) -> None:
    """Have instances of a class be leaves again."""
    SUPPORTED_NODES.pop(cls)
    SERIALIZED_TYPE_TO_PYTHON_TYPE.pop(SUPPORTED_SERIALIZED_TYPES.pop(cls).name or "", None)


def register_dataclass(
    cls: type,
    *,
    field_names: list[str] | None = None,
    drop_field_names: list[str] | None = None,
    serialized_type_name: str | None = None,
) -> None:
    """Have a dataclass's fields be the children of its instances, but for those that are None."""
    dropped = drop_field_names or ()
    names = field_names or [each.name for each in fields(cls) if each.name not in dropped]

    def parted(tree: object) -> tuple[list[tuple[KeyEntry, object]], Context]:
        found = {name: getattr(tree, name) for name in names}
        given = {name: value for name, value in found.items() if value is not None}
        missing = [name for name in names if name not in given]
        return [(GetAttrKey(name), value) for name, value in given.items()], [[*given], missing]

    def flat(tree: object) -> tuple[list[object], Context]:
        pairs, context = parted(tree)
        return [value for _, value in pairs], context

    def made(values: Iterable[object], context: Context) -> object:
        given, missing = context
        return cls(**dict(zip(given, values, strict=True)), **dict.fromkeys(missing))

    register_pytree_node(
        cls, flat, made, serialized_type_name=serialized_type_name, flatten_with_keys_fn=parted
    )


def _node(
    cls: object, flatten_fn: Flatten, unflatten_fn: Unflatten, keys: Callable[[Any], list[KeyEntry]]
) -> None:
    SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn, keys)


def _filled(values: Iterable[object], context: Context) -> object:
    factory, keys = context
    return defaultdict(factory, zip(keys, values, strict=True))


_node(list, _list_flatten, _list_unflatten, _places)
for _cls in (tuple, Size):
    _node(_cls, _list_flatten, lambda values, _: tuple(values), _places)
_node(dict, _dict_flatten, _dict_unflatten, _keys)
_node(
    OrderedDict,
    _dict_flatten,
    lambda values, keys: OrderedDict(zip(keys, values, strict=True)),
    _keys,
)
_node(
    defaultdict,
    lambda tree: (list(tree.values()), [tree.default_factory, list(tree)]),
    _filled,
    _keys,
)
_node(
    deque,
    lambda tree: (list(tree), tree.maxlen),
    lambda values, most: deque(values, maxlen=most),
    _places,
)


_node(
    namedtuple,  # stands for the classes that it makes
    lambda tree: (list(tree), type(tree)),
    lambda values, cls: cls(*values),
    lambda tree: [GetAttrKey(name) for name in tree._fields],
)


BUILTIN_TYPES: Final = frozenset(SUPPORTED_NODES) - {Size}
"""The classes that are nodes from the beginning."""


def is_namedtuple(obj: object | type) -> bool:
    """Whether something is a named tuple, or a class of such."""
    return is_namedtuple_class(obj if isinstance(obj, type) else type(obj))


def is_namedtuple_class(cls: object) -> bool:
    """Whether something is a class of named tuples, or one derived of it."""
    if not (isinstance(cls, type) and issubclass(cls, tuple)):
        return False
    names = getattr(cls, "_fields", None)
    return (
        isinstance(names, tuple)
        and all(type(each) is str for each in names)
        and callable(getattr(cls, "_make", None))
        and callable(getattr(cls, "_asdict", None))
    )


def is_namedtuple_instance(obj: object) -> bool:
    """Whether a value is a named tuple."""
    return is_namedtuple_class(type(obj))


_is_namedtuple_instance = is_namedtuple_instance


def is_structseq(obj: object | type) -> bool:
    """Whether something is several results of an operator, or a class of such."""
    return is_structseq_class(obj if isinstance(obj, type) else type(obj))


def is_structseq_class(cls: object) -> bool:
    """Whether something is the class of several results of an operator, or of another compiled
    function."""
    return isinstance(cls, type) and (
        issubclass(cls, NamedResults)
        or (cls.__bases__ == (tuple,) and isinstance(getattr(cls, "n_sequence_fields", None), int))
    )


def is_structseq_instance(obj: object) -> bool:
    """Whether a value is several results of an operator, or of another compiled function."""
    return is_structseq_class(type(obj))


def kind_of(tree: object) -> Any:
    """The class by which a value is looked up in `SUPPORTED_NODES`."""
    cls = type(tree)
    if cls in SUPPORTED_NODES:
        return cls
    if issubclass(cls, NamedResults):  # classes that are made when operators first give them
        _node(cls, _list_flatten, lambda values, _: cls(values), _places)
    return namedtuple if is_namedtuple_class(cls) else cls


def _get_node_type(tree: object) -> object:
    """The class in `SUPPORTED_NODES` that a value is an instance of, else its own."""
    return kind_of(tree)
