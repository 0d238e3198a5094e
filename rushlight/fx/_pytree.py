"""`torch.fx._pytree`: trees of arguments taken apart by a structure that is known before."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence, Sized
from typing import Any, Final

from ..utils._pytree import TreeSpec
from .immutable_collections import immutable_dict, immutable_list

__all__ = ["register_pytree_flatten_spec", "tree_flatten_spec"]

FlattenFuncSpec = Callable[[Any, TreeSpec], Sequence[object]]
FlattenFuncExactMatchSpec = Callable[[Any, TreeSpec], bool]

SUPPORTED_NODES: Final[dict[type, FlattenFuncSpec]] = {}
SUPPORTED_NODES_EXACT_MATCH: Final[dict[type, FlattenFuncExactMatchSpec | None]] = {}


def register_pytree_flatten_spec(
    cls: type,
    flatten_fn_spec: FlattenFuncSpec,
    flatten_fn_exact_match_spec: FlattenFuncExactMatchSpec | None = None,
) -> None:
    """Have instances of a class be taken apart by a function that is given the structure too."""
    SUPPORTED_NODES[cls] = flatten_fn_spec
    SUPPORTED_NODES_EXACT_MATCH[cls] = flatten_fn_exact_match_spec


def _deregister_pytree_flatten_spec(cls: type) -> None:
    """Forget a class again."""
    del SUPPORTED_NODES[cls], SUPPORTED_NODES_EXACT_MATCH[cls]


def tree_flatten_spec(pytree: object, spec: TreeSpec) -> list[Any]:
    """The parts of a tree that stand where a structure has leaves.

    Raises:
        RuntimeError: a class of the structure was never registered.
    """
    if spec.is_leaf():
        return [pytree]
    if spec.type not in SUPPORTED_NODES:
        raise RuntimeError(
            f"{type(pytree)} does not have a flatten_fn_spec associated with it. Please register "
            "one with torch.fx._pytree.register_pytree_flatten_spec.  If you have serialized your "
            "model, make sure that any custom pytrees have been registered before loading it."
        )
    children = SUPPORTED_NODES[spec.type](pytree, spec)
    pairs = zip(children, spec.children_specs, strict=False)
    return [leaf for child, below in pairs for leaf in tree_flatten_spec(child, below)]


def _of_dict(tree: Mapping[object, object], spec: TreeSpec) -> list[object]:
    return [tree[key] for key in spec.context]


def _of_sequence(tree: Sequence[object], spec: TreeSpec) -> list[object]:
    return [tree[place] for place in range(spec.num_children)]


def _same_length(tree: Sized, spec: TreeSpec) -> bool:
    return len(tree) == spec.num_children


_cls: Any
for _cls in (dict, immutable_dict):
    register_pytree_flatten_spec(_cls, _of_dict, _same_length)
for _cls in (list, immutable_list, tuple, namedtuple):
    register_pytree_flatten_spec(_cls, _of_sequence, _same_length)
