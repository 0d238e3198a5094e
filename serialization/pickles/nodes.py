"""What a pickle of an archive holds, as plain data.

None, bools, ints, floats and strings stand for themselves; everything else is one of these nodes.
Two references to one node mean that the two share it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, TypeGuard

__all__ = [
    *("PLAIN", "are_plain", "children", "class_names", "compounds"),
    "ComplexNode",
    "DeviceNode",
    "DictNode",
    "EnumNode",
    "Global",
    "ListNode",
    "Node",
    "ObjectNode",
    "OrderedDictNode",
    "QuantizerNode",
    "SparseNode",
    "StorageNode",
    "TensorNode",
    "TupleNode",
]


@dataclass(frozen=True, slots=True)
class Global:
    """The name of a class or function: a name only, nothing is looked up."""

    module: str
    name: str

    @property
    def qualified_name(self) -> str:
        return f"{self.module}.{self.name}"


@dataclass(frozen=True, slots=True)
class StorageNode:
    """A storage: its kind (`Float`), the record that holds it below the pickle's folder, and its
    number of elements."""

    kind: str
    key: str
    location: str
    numel: int


@dataclass(eq=False, slots=True)
class TupleNode:
    items: tuple[Node, ...]


@dataclass(eq=False, slots=True)
class ListNode:
    """A list; `tag` is its type as written (`List[int]`), or empty if it has none."""

    items: list[Node] = field(default_factory=list)
    tag: str = ""


@dataclass(eq=False, slots=True)
class DictNode:
    """A dict as pairs, in order; `tag` is its type as written (`Dict[str, int]`)."""

    items: list[tuple[Node, Node]] = field(default_factory=list)
    tag: str = ""

    def by_name(self) -> dict[str, Node]:
        """The entries whose keys are strings."""
        return {key: value for key, value in self.items if isinstance(key, str)}


@dataclass(eq=False, slots=True)
class OrderedDictNode:
    """The empty `OrderedDict` of backward hooks in a tensor."""


@dataclass(eq=False, slots=True)
class ComplexNode:
    value: complex


@dataclass(eq=False, slots=True)
class DeviceNode:
    name: str


@dataclass(eq=False, slots=True)
class EnumNode:
    """A member of an enumeration, by its value."""

    cls: Global
    value: Node


@dataclass(eq=False, slots=True)
class ObjectNode:
    """An object of a script class; `state` is None until the pickle sets it."""

    cls: Global
    state: Node = None


@dataclass(eq=False, slots=True)
class QuantizerNode:
    """What the numbers of a quantized tensor mean: `per_tensor_affine` with two numbers, or
    `per_channel_affine` with two tensors and the dimension they go along."""

    scheme: str
    scale: Node
    zero_point: Node
    axis: int = 0


@dataclass(eq=False, slots=True)
class TensorNode:
    """A dense tensor: a window on a storage.  Offset and strides count elements.

    `math` says whether the values are to be conjugated (`conj`) or negated (`neg`) when read;
    `quantizer` is there if the tensor is quantized.
    """

    storage: StorageNode
    offset: int
    size: tuple[int, ...]
    stride: tuple[int, ...]
    requires_grad: bool
    math: frozenset[str] = frozenset()
    quantizer: QuantizerNode | None = None


@dataclass(eq=False, slots=True)
class SparseNode:
    """A sparse tensor: where its values are, and what they are.

    `parts` are places and values by coordinates (`sparse_coo`), or starts, places and values by
    rows (`sparse_csr`).
    """

    layout: str
    size: tuple[int, ...]
    parts: tuple[TensorNode, ...]
    requires_grad: bool = False


Node = (
    None
    | bool
    | int
    | float
    | str
    | Global
    | StorageNode
    | TupleNode
    | ListNode
    | DictNode
    | OrderedDictNode
    | ComplexNode
    | DeviceNode
    | EnumNode
    | ObjectNode
    | QuantizerNode
    | SparseNode
    | TensorNode
)


PLAIN: Final = frozenset({type(None), bool, int, float, str})
"""The classes of what stands for itself."""


def are_plain(values: Iterable[object]) -> TypeGuard[Iterable[Node]]:
    """Whether all values stand for themselves."""
    return PLAIN.issuperset(map(type, values))


def children(node: Node) -> list[Node]:
    """The nodes directly in a node."""
    match node:
        case TupleNode(items) | ListNode(items):
            return list(items)
        case DictNode(items):
            return [part for pair in items for part in pair]
        case ObjectNode(_, state):
            return [state]
        case EnumNode(_, value):
            return [value]
        case TensorNode(quantizer=QuantizerNode(_, scale, zero_point)):
            return [scale, zero_point]
        case SparseNode(_, _, parts):
            return list(parts)
    return []


def compounds(node: Node) -> list[Node]:
    """Those that do not stand for themselves."""
    return [each for each in children(node) if each.__class__ not in PLAIN]


def class_names(roots: Iterable[Node]) -> dict[str, None]:
    """The names of the classes of all objects in some nodes, each once."""
    waiting = list(roots)
    names: dict[str, None] = {}
    seen: set[int] = set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, ObjectNode):
            names[node.cls.qualified_name] = None
        waiting.extend(compounds(node))
    return names
