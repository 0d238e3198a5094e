"""`torch.utils._pytree`: nested containers as a flat list of leaves, and back.

dicts, lists, tuples, named tuples, sizes, named results, OrderedDicts, defaultdicts and deques are
nodes; other classes become nodes by `register_pytree_node`.  Everything else, None too, is a leaf.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import UnionType
from typing import Any, TypeAlias, TypeVar

from ._tree_dumps import SERIALIZED_TYPE_TO_PYTHON_TYPE as SERIALIZED_TYPE_TO_PYTHON_TYPE
from ._tree_dumps import SUPPORTED_SERIALIZED_TYPES as SUPPORTED_SERIALIZED_TYPES
from ._tree_dumps import dumped, loaded
from ._tree_nodes import BUILTIN_TYPES as BUILTIN_TYPES
from ._tree_nodes import (
    SUPPORTED_NODES,
    kind_of,
)
from ._tree_nodes import ConstantNode as ConstantNode
from ._tree_nodes import NodeDef as NodeDef
from ._tree_nodes import _deregister_pytree_node as _deregister_pytree_node
from ._tree_nodes import _get_node_type as _get_node_type
from ._tree_nodes import _is_namedtuple_instance as _is_namedtuple_instance
from ._tree_nodes import _private_register_pytree_node as _private_register_pytree_node
from ._tree_nodes import _register_namedtuple as _register_namedtuple
from ._tree_nodes import _register_pytree_node as _register_pytree_node
from ._tree_nodes import is_constant_class as is_constant_class
from ._tree_nodes import is_namedtuple as is_namedtuple
from ._tree_nodes import is_namedtuple_class as is_namedtuple_class
from ._tree_nodes import is_namedtuple_instance as is_namedtuple_instance
from ._tree_nodes import is_structseq as is_structseq
from ._tree_nodes import is_structseq_class as is_structseq_class
from ._tree_nodes import is_structseq_instance as is_structseq_instance
from ._tree_nodes import register_constant as register_constant
from ._tree_nodes import register_dataclass as register_dataclass
from ._tree_nodes import register_pytree_node as register_pytree_node
from ._tree_parts import Context, KeyPath
from ._tree_parts import GetAttrKey as GetAttrKey
from ._tree_parts import KeyEntry as KeyEntry
from ._tree_parts import MappingKey as MappingKey
from ._tree_parts import SequenceKey as SequenceKey
from ._tree_parts import _dict_flatten as _dict_flatten
from ._tree_parts import _dict_flatten_with_keys as _dict_flatten_with_keys
from ._tree_parts import _dict_unflatten as _dict_unflatten
from ._tree_parts import _list_flatten as _list_flatten
from ._tree_parts import _list_flatten_with_keys as _list_flatten_with_keys
from ._tree_parts import _list_unflatten as _list_unflatten
from ._tree_parts import key_get as key_get
from ._tree_parts import keystr as keystr

__all__ = [
    *("GetAttrKey", "KeyEntry", "KeyPath", "LeafSpec", "MappingKey", "NodeDef", "PyTree"),
    *("SequenceKey", "TreeSpec", "key_get", "keystr", "register_dataclass", "register_pytree_node"),
    *("tree_all", "tree_any", "tree_flatten", "tree_flatten_with_path", "tree_iter"),
    *("tree_leaves", "tree_leaves_with_path", "tree_map", "tree_map_", "tree_map_only"),
    *("tree_map_only_", "tree_map_with_path", "tree_structure", "tree_unflatten"),
    *("treespec_dumps", "treespec_loads"),
]

PyTree = Any
_DICTS = (dict, OrderedDict, defaultdict)
Mapped = Callable[[object], object]
IsLeaf = Callable[[Any], bool] | None
Leaf = TypeVar("Leaf")
Kinds: TypeAlias = "type | tuple[Kinds, ...] | UnionType"
Chosen: TypeAlias = "Kinds | Callable[..., object]"


@dataclass(frozen=True)
class TreeSpec:
    """The structure of a tree without its leaves."""

    type: Any
    context: Context
    children_specs: Sequence[TreeSpec]

    def __hash__(self) -> int:
        return hash((self.type, str(self.context), tuple(self.children_specs)))

    def __repr__(self) -> str:
        return self._text(2)

    def _text(self, indent: int) -> str:
        below = f",\n{' ' * indent}".join(each._text(indent + 2) for each in self.children_specs)
        return f"TreeSpec({self.type.__name__}, {self.context}, [{below}])"

    @property
    def num_leaves(self) -> int:
        """How many leaves a tree of this structure has."""
        return sum(each.num_leaves for each in self.children_specs)

    @property
    def num_nodes(self) -> int:
        """How many nodes it has, leaves included."""
        return 1 + sum(each.num_nodes for each in self.children_specs)

    @property
    def num_children(self) -> int:
        """How many nodes lie directly below the root."""
        return len(self.children_specs)

    def is_leaf(self) -> bool:
        """Whether the tree is one leaf."""
        return False

    def children(self) -> list[TreeSpec]:
        """The structures directly below the root."""
        return list(self.children_specs)

    def child(self, index: int) -> TreeSpec:
        """One structure below the root."""
        return self.children_specs[index]

    def flatten_up_to(self, tree: PyTree) -> list[PyTree]:
        """The parts of a tree that stand where this structure has leaves.

        Raises:
            ValueError: the tree has another structure above them.
        """
        pairs = zip(self.children_specs, _children(self, tree), strict=True)
        return [part for spec, child in pairs for part in spec.flatten_up_to(child)]

    def unflatten(self, leaves: Iterable[object]) -> PyTree:
        """A tree of this structure.

        Raises:
            ValueError: there are more leaves, or fewer.
        """
        given = list(leaves)
        if len(given) != self.num_leaves:
            raise ValueError(
                f"treespec.unflatten(leaves): `leaves` has length {len(given)} but the spec refers "
                f"to a pytree that holds {self.num_leaves} items ({self})."
            )
        return self._built(iter(given))

    def _built(self, leaves: Iterator[object]) -> PyTree:
        made = [each._built(leaves) for each in self.children_specs]
        return SUPPORTED_NODES[self.type].unflatten_fn(made, self.context)


@dataclass(frozen=True)
class LeafSpec(TreeSpec):
    """The structure of one leaf."""

    type: Any = None
    context: Context = None
    children_specs: Sequence[TreeSpec] = ()

    __hash__ = TreeSpec.__hash__

    @property
    def num_leaves(self) -> int:
        """One."""
        return 1

    def is_leaf(self) -> bool:
        """Yes."""
        return True

    def flatten_up_to(self, tree: PyTree) -> list[PyTree]:
        """The whole tree, which stands where the leaf is."""
        return [tree]

    def _built(self, leaves: Iterator[object]) -> PyTree:
        return next(leaves)

    def __repr__(self) -> str:
        return "*"

    def _text(self, indent: int) -> str:
        return "*"


PyTreeSpec = TreeSpec


def treespec_leaf() -> LeafSpec:
    """The structure of a leaf."""
    return LeafSpec()


def treespec_tuple(iterable: Iterable[TreeSpec] = (), /) -> TreeSpec:
    """The structure of a tuple of trees of some structures.

    Raises:
        ValueError: there is something else among these.
    """
    below = list(iterable)
    if not all(isinstance(each, TreeSpec) for each in below):
        raise ValueError(f"Expected a tuple of TreeSpec values, got: {below!r}.")
    return TreeSpec(tuple, None, below)


def treespec_dict(
    mapping: Mapping[object, TreeSpec] | Iterable[tuple[object, TreeSpec]] = (),
    /,
    **kwargs: TreeSpec,
) -> TreeSpec:
    """The structure of a dict of trees of some structures.

    Raises:
        ValueError: there is something else among these.
    """
    below = dict(mapping, **kwargs)
    if not all(isinstance(each, TreeSpec) for each in below.values()):
        raise ValueError(f"Expected a dictionary of TreeSpec values, got: {below!r}.")
    return TreeSpec(dict, list(below), list(below.values()))


class _Star:
    def __repr__(self) -> str:
        return "*"


def treespec_pprint(treespec: TreeSpec) -> str:
    """The tree of a structure, with stars for its leaves."""
    return repr(treespec.unflatten([_Star()] * treespec.num_leaves))


def _same_keys(spec: TreeSpec, context: Context) -> bool:
    if spec.type in (dict, OrderedDict):
        return set(spec.context) == set(context)
    return bool(spec.context == context)


def _children(spec: TreeSpec, tree: PyTree) -> Sequence[object]:
    """What lies below the root of a tree, dicts of any kind in the order of the structure's keys.

    Raises:
        ValueError: the structure's root is another.
    """
    kind = kind_of(tree)
    are_dicts = spec.type in _DICTS and kind in _DICTS
    if kind is not spec.type and not are_dicts:
        raise ValueError(f"Node type mismatch; expected {spec.type!r}, but got {type(tree)!r}.")
    children, context = SUPPORTED_NODES[kind].flatten_fn(tree)
    if len(children) != spec.num_children:
        raise ValueError(
            f"Node arity mismatch; expected {spec.num_children}, but got {len(children)}."
        )
    if are_dicts:
        keys = spec.context[1] if spec.type is defaultdict else spec.context
        if missing := set(keys) - tree.keys():
            raise ValueError(
                f"Node keys mismatch; missing key(s): {missing}; "
                f"extra key(s): {tree.keys() - set(keys)}."
            )
        return [tree[key] for key in keys]
    if spec.type is not deque and context != spec.context:
        raise ValueError(
            f"Node context mismatch for node type {spec.type}: expected {spec.context!r}, "
            f"but got {context!r}."
        )
    return children


def tree_is_leaf(tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether a value is a leaf, by its class or because `is_leaf` says so."""
    return (is_leaf is not None and is_leaf(tree)) or kind_of(tree) not in SUPPORTED_NODES


_is_leaf = tree_is_leaf


# ------------------------------------------------------------------------------------- walking


def tree_flatten(tree: PyTree, is_leaf: IsLeaf = None) -> tuple[list[Any], TreeSpec]:
    """The leaves of a tree from left to right, and its structure."""
    leaves: list[object] = []
    return leaves, _walk(tree, leaves, is_leaf)


def _walk(tree: PyTree, leaves: list[object], is_leaf: IsLeaf) -> TreeSpec:
    if tree_is_leaf(tree, is_leaf):
        leaves.append(tree)
        return LeafSpec()
    kind = kind_of(tree)
    children, context = SUPPORTED_NODES[kind].flatten_fn(tree)
    return TreeSpec(kind, context, [_walk(child, leaves, is_leaf) for child in children])


def tree_unflatten(leaves: Iterable[object], treespec: TreeSpec) -> PyTree:
    """The tree of a structure, with these leaves.

    Raises:
        TypeError: the structure is none.
        ValueError: there are more leaves than it has, or fewer.
    """
    if not isinstance(treespec, TreeSpec):
        raise TypeError(
            "Expected `treespec` to be an instance of PyTreeSpec but got item of type "
            f"{type(treespec)}."
        )
    return treespec.unflatten(leaves)


def tree_iter(tree: PyTree, is_leaf: IsLeaf = None) -> Iterable[Any]:
    """The leaves, one after another."""
    yield from tree_leaves(tree, is_leaf)


def tree_leaves(tree: PyTree, is_leaf: IsLeaf = None) -> list[Any]:
    """The leaves."""
    return tree_flatten(tree, is_leaf)[0]


def arg_tree_leaves(*args: PyTree, **kwargs: PyTree) -> list[Any]:
    """The leaves of all arguments of a call."""
    return [leaf for each in (*args, *kwargs.values()) for leaf in tree_leaves(each)]


def tree_structure(tree: PyTree, is_leaf: IsLeaf = None) -> TreeSpec:
    """The structure."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(
    func: Callable[..., object], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None
) -> PyTree:
    """A tree of what a function makes of the leaves, and of those of further trees there."""
    leaves, spec = tree_flatten(tree, is_leaf)
    others = [spec.flatten_up_to(rest) for rest in rests]
    return spec.unflatten(map(func, leaves, *others))


def tree_map_(
    func: Callable[..., object], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None
) -> PyTree:
    """Call a function for the leaves; the tree itself comes back."""
    leaves, spec = tree_flatten(tree, is_leaf)
    others = [spec.flatten_up_to(rest) for rest in rests]
    for each in zip(leaves, *others, strict=True):
        func(*each)
    return tree


def _chooses(wanted: Chosen) -> Callable[[object], bool]:
    if isinstance(wanted, type | tuple | UnionType):
        return lambda value: isinstance(value, wanted)
    if not callable(wanted):
        raise TypeError("Argument must be a type, a tuple of types, or a callable.")
    return lambda value: bool(wanted(value))


def map_only(type_or_types_or_pred: Chosen, /) -> Callable[[Callable[..., object]], Mapped]:
    """Makes a function that leaves everything alone but values of the given types."""
    chosen = _chooses(type_or_types_or_pred)

    def decorate(func: Callable[..., object]) -> Mapped:
        return lambda value: func(value) if chosen(value) else value

    return decorate


def tree_map_only(
    type_or_types_or_pred: Chosen,
    /,
    func: Callable[[Leaf], object],
    tree: PyTree,
    is_leaf: IsLeaf = None,
) -> PyTree:
    """`tree_map` for leaves of given types; others stay."""
    return tree_map(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_map_only_(
    type_or_types_or_pred: Chosen,
    /,
    func: Callable[[Leaf], object],
    tree: PyTree,
    is_leaf: IsLeaf = None,
) -> PyTree:
    """`tree_map_` for leaves of given types."""
    return tree_map_(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_all(pred: Callable[[Leaf], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether all leaves are so."""
    return all(map(pred, tree_leaves(tree, is_leaf)))


def tree_any(pred: Callable[[Leaf], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether any leaf is so."""
    return any(map(pred, tree_leaves(tree, is_leaf)))


def tree_all_only(
    type_or_types: Any, /, pred: Callable[[Leaf], bool], tree: PyTree, is_leaf: IsLeaf = None
) -> bool:
    """Whether all leaves of given types are so."""
    return all(pred(x) for x in tree_leaves(tree, is_leaf) if isinstance(x, type_or_types))


def tree_any_only(
    type_or_types: Any, /, pred: Callable[[Leaf], bool], tree: PyTree, is_leaf: IsLeaf = None
) -> bool:
    """Whether any leaf of given types is so."""
    return any(pred(x) for x in tree_leaves(tree, is_leaf) if isinstance(x, type_or_types))


def _broadcast_to_and_flatten(
    tree: PyTree, treespec: TreeSpec, is_leaf: IsLeaf = None
) -> list[Any] | None:
    """The leaves of a tree, each as often as the structure has leaves in its place; or None."""
    if tree_is_leaf(tree, is_leaf):
        return [tree] * treespec.num_leaves
    if treespec.is_leaf() or kind_of(tree) is not treespec.type:
        return None
    children, context = SUPPORTED_NODES[kind_of(tree)].flatten_fn(tree)
    if len(children) != treespec.num_children or not _same_keys(treespec, context):
        return None
    found: list[object] = []
    for child, spec in zip(children, treespec.children_specs, strict=True):
        part = _broadcast_to_and_flatten(child, spec, is_leaf)
        if part is None:
            return None
        found += part
    return found


# --------------------------------------------------------------------------------------- paths


def tree_flatten_with_path(
    tree: PyTree, is_leaf: IsLeaf = None
) -> tuple[list[tuple[KeyPath, Any]], TreeSpec]:
    """The leaves with the ways that lead to them, and the structure.

    Raises:
        ValueError: a node's class was registered without `flatten_with_keys_fn`.
    """
    return list(_with_paths(tree, (), is_leaf)), tree_structure(tree, is_leaf)


def _with_paths(tree: PyTree, path: KeyPath, is_leaf: IsLeaf) -> Iterable[tuple[KeyPath, object]]:
    if tree_is_leaf(tree, is_leaf):
        yield path, tree
        return
    node = SUPPORTED_NODES[kind_of(tree)]
    if node.keys_fn is None:
        raise ValueError(f"Did not find a flatten_with_keys_fn for type: {node.type}.")
    for key, child in zip(node.keys_fn(tree), node.flatten_fn(tree)[0], strict=True):
        yield from _with_paths(child, (*path, key), is_leaf)


def tree_leaves_with_path(tree: PyTree, is_leaf: IsLeaf = None) -> list[tuple[KeyPath, Any]]:
    """The leaves with the ways that lead to them."""
    return list(_with_paths(tree, (), is_leaf))


def tree_map_with_path(
    func: Callable[..., object], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None
) -> PyTree:
    """`tree_map` of a function that is given the way to each leaf too."""
    found, spec = tree_flatten_with_path(tree, is_leaf)
    paths, leaves = [path for path, _ in found], [leaf for _, leaf in found]
    others = [spec.flatten_up_to(rest) for rest in rests]
    return spec.unflatten(map(func, paths, leaves, *others))


# ---------------------------------------------------------------------------------------- text


def treespec_dumps(treespec: TreeSpec, protocol: int | None = None) -> str:
    """A structure as JSON.

    Raises:
        TypeError: it is none, or JSON cannot hold what belongs to a node.
        ValueError: there is no such protocol.
        NotImplementedError: a class in it has no name.
    """
    if not isinstance(treespec, TreeSpec):
        raise TypeError(
            "Expected `treespec` to be an instance of PyTreeSpec but got item of type "
            f"{type(treespec)}."
        )
    return dumped(treespec, protocol)


def treespec_loads(serialized: str) -> TreeSpec:
    """The structure that JSON describes.

    Raises:
        ValueError: it is of another protocol.
        NotImplementedError: no class has a name that stands in it.
    """
    leaf: TreeSpec = LeafSpec()
    return loaded(serialized, TreeSpec, leaf)
