"""Writing plain data as the pickles of an archive.

Protocol 2, with the opcodes, memo and helper calls that PyTorch's own writer uses: strings and
names are written once and then referred to by value, tensors, objects and shared containers by
identity.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterable

from .pickle_nodes import (
    ComplexNode,
    DeviceNode,
    DictNode,
    EnumNode,
    Global,
    ListNode,
    Node,
    ObjectNode,
    OrderedDictNode,
    QuantizerNode,
    SparseNode,
    StorageNode,
    TensorNode,
    TupleNode,
)

__all__ = ["children", "class_names", "write_pickle"]

_SPECIALIZED = {
    "List[int]": "build_intlist",
    "List[float]": "build_doublelist",
    "List[bool]": "build_boollist",
    "List[Tensor]": "build_tensorlist",
}
_JIT = "torch.jit._pickle"
_REMEMBERED = (TensorNode, SparseNode, ObjectNode, DeviceNode)


def write_pickle(root: Node) -> bytes:
    """The pickle of a value; equal values, sharing nodes equally, give equal bytes.

    Raises:
        ValueError: an integer does not fit 64 bits, or a list or dict has no type.
    """
    writer = _Writer(_shared_nodes(root))
    writer.write(root)
    return bytes(writer.out) + b"."


def _shared_nodes(root: Node) -> frozenset[int]:
    """The identities of the nodes that are referred to more than once."""
    counts: Counter[int] = Counter()
    waiting = [root]
    while waiting:
        node = waiting.pop()
        counts[id(node)] += 1
        if counts[id(node)] == 1:
            waiting.extend(children(node))
    return frozenset(identity for identity, count in counts.items() if count > 1)


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
        case SparseNode(_, _, indices, values):
            return [indices, values]
    return []


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
        waiting.extend(children(node))
    return names


class _Writer:
    def __init__(self, shared: frozenset[int]) -> None:
        self.out = bytearray(b"\x80\x02")
        self.shared = shared
        self.memo: dict[object, int] = {}

    # -- the memo

    def recall(self, key: object) -> bool:
        """Refer to what was remembered under this key, if anything was."""
        index = self.memo.get(key)
        if index is None:
            return False
        self.out += bytes((0x68, index)) if index < 256 else b"j" + struct.pack("<I", index)
        return True

    def remember(self, key: object) -> None:
        index = self.memo[key] = len(self.memo)
        self.out += bytes((0x71, index)) if index < 256 else b"r" + struct.pack("<I", index)

    # -- values

    def write(self, node: Node) -> None:
        match node:
            case None:
                self.out += b"N"
            case bool():
                self.out += b"\x88" if node else b"\x89"
            case int():
                self.integer(node)
            case float():
                self.out += b"G" + struct.pack(">d", node)
            case str():
                self.text(node)
            case Global():
                self.name(node.module, node.name)
            case StorageNode():
                self.storage(node)
            case _:
                self.compound(node)

    def compound(
        self,
        node: TupleNode
        | ListNode
        | DictNode
        | OrderedDictNode
        | ComplexNode
        | DeviceNode
        | EnumNode
        | ObjectNode
        | QuantizerNode
        | SparseNode
        | TensorNode,
    ) -> None:
        key = ("node", id(node))
        if self.recall(key):
            return
        match node:
            case TupleNode():
                self.tuple(node.items)
            case ListNode():
                self.list(node)
            case DictNode():
                self.dict(node)
            case OrderedDictNode():
                self.hooks()
            case ComplexNode(value):
                self.name("builtins", "complex")
                self.tuple((value.real, value.imag))
                self.out += b"R"
            case DeviceNode(name):
                self.name("torch", "device")
                self.tuple((name,))
                self.out += b"R"
            case EnumNode(cls, value):
                self.name(cls.module, cls.name)
                self.write(value)
                self.out += b"R"
            case ObjectNode():
                self.object(node)
            case QuantizerNode():
                self.quantizer(node)
            case SparseNode():
                self.sparse(node)
            case TensorNode():
                self.tensor(node)
        if isinstance(node, _REMEMBERED) or id(node) in self.shared:
            self.remember(key)

    def integer(self, value: int) -> None:
        if 0 <= value <= 0xFF:
            self.out += bytes((0x4B, value))
        elif 0 <= value <= 0xFFFF:
            self.out += b"M" + struct.pack("<H", value)
        elif -(1 << 31) <= value < 1 << 31:
            self.out += b"J" + struct.pack("<i", value)
        elif -(1 << 63) <= value < 1 << 63:
            self.out += b"\x8a\x08" + struct.pack("<q", value)
        else:
            raise ValueError(f"{value} does not fit 64 bits")

    def text(self, text: str) -> None:
        if not self.recall(("text", text)):
            data = text.encode("utf-8", "surrogateescape")
            self.out += b"X" + struct.pack("<I", len(data)) + data
            self.remember(("text", text))

    def name(self, module: str, name: str) -> None:
        if not self.recall(("name", module, name)):
            self.out += f"c{module}\n{name}\n".encode()
            self.remember(("name", module, name))

    def tuple(self, items: tuple[Node, ...]) -> None:
        closing = (b")", b"\x85", b"\x86", b"\x87")
        if len(items) >= len(closing):
            self.out += b"("
        for item in items:
            self.write(item)
        self.out += closing[len(items)] if len(items) < len(closing) else b"t"

    def list(self, node: ListNode) -> None:
        specialized = _SPECIALIZED.get(node.tag)
        if specialized is not None:
            self.name(_JIT, specialized)
            self.out += b"("
        else:
            self.name(_JIT, "restore_type_tag")
        self.out += b"]("
        for item in node.items:
            self.write(item)
        self.out += b"e"
        if specialized is not None:
            self.out += b"tR"
        else:
            self.tag(node.tag)

    def dict(self, node: DictNode) -> None:
        self.name(_JIT, "restore_type_tag")
        self.pairs(node)
        self.tag(node.tag)

    def pairs(self, node: DictNode) -> None:
        self.out += b"}("
        for key, value in node.items:
            self.write(key)
            self.write(value)
        self.out += b"u"

    def tag(self, tag: str) -> None:
        if not tag:
            raise ValueError("a list or dict without a type")
        self.text(tag)
        self.out += b"\x86R"

    def object(self, node: ObjectNode) -> None:
        self.name(node.cls.module, node.cls.name)
        self.out += b")\x81"
        if isinstance(node.state, DictNode) and not node.state.tag:
            self.pairs(node.state)
        else:
            self.write(node.state)
        self.out += b"b"

    # -- tensors

    def hooks(self) -> None:
        self.name("collections", "OrderedDict")
        self.out += b")R"

    def storage(self, node: StorageNode) -> None:
        if self.recall(node):
            return
        self.out += b"("
        self.text("storage")
        self.name("torch", f"{node.kind}Storage")
        self.text(node.key)
        self.text(node.location)
        self.integer(node.numel)
        self.out += b"tQ"
        self.remember(node)

    def quantizer(self, node: QuantizerNode) -> None:
        self.out += b"("
        self.name("torch", node.scheme)
        self.write(node.scale)
        self.write(node.zero_point)
        if not isinstance(node.scale, float):
            self.integer(node.axis)
        self.out += b"t"

    def sparse(self, node: SparseNode) -> None:
        self.name("torch._utils", "_rebuild_sparse_tensor")
        self.out += b"("
        self.integer(1)
        self.numbers(node.size)
        self.out += b"\x89"
        self.write(node.indices)
        self.write(node.values)
        self.hooks()
        self.out += b"tR"

    def numbers(self, numbers: Iterable[int]) -> None:
        self.out += b"("
        for number in numbers:
            self.integer(number)
        self.out += b"t"

    def tensor(self, node: TensorNode) -> None:
        quantized = node.quantizer is not None
        self.name("torch._utils", "_rebuild_qtensor" if quantized else "_rebuild_tensor_v2")
        self.out += b"("
        self.storage(node.storage)
        self.integer(node.offset)
        self.numbers(node.size)
        self.numbers(node.stride)
        if node.quantizer is not None:
            self.quantizer(node.quantizer)
        self.out += b"\x88" if node.requires_grad else b"\x89"
        self.hooks()
        if node.math:
            pairs: list[tuple[Node, Node]] = [(bit, True) for bit in sorted(node.math)]
            self.dict(DictNode(pairs, "Dict[str, bool]"))
        self.out += b"tR"
