"""Writing plain data as the pickles of an archive.

Protocol 2, with the opcodes, memo and helper calls that PyTorch's own writer uses: strings and
names are written once and then referred to by value, tensors, objects and shared containers by
identity.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from .nodes import (
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
    compounds,
)

__all__ = ["write_pickle"]

_SPECIALIZED = {
    "List[int]": "build_intlist",
    "List[float]": "build_doublelist",
    "List[bool]": "build_boollist",
    "List[Tensor]": "build_tensorlist",
}
_JIT = "torch.jit._pickle"
_RESTORE = Global(_JIT, "restore_type_tag")
Compound = (
    TupleNode
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
_REMEMBERED = (TensorNode, SparseNode, ObjectNode, DeviceNode)


def write_pickle(root: Node) -> bytes:
    """The pickle of a value; equal values, sharing nodes equally, give equal bytes.

    Raises:
        ValueError: an integer does not fit 64 bits, a list or dict has no type, or a value
            contains itself.
    """
    writer = _Writer(_shared_nodes(root))
    writer.write(root)
    return bytes(writer.out) + b"."


def _shared_nodes(root: Node) -> set[int]:
    """The identities of the nodes that are referred to more than once."""
    seen: set[int] = set()
    shared: set[int] = set()
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            shared.add(id(node))
            continue
        seen.add(id(node))
        waiting.extend(compounds(node))
    return shared


Step = Node | bytes | Callable[[], None]
"""What is written next: a value, opcodes, or what an action writes."""


_short, _word = struct.Struct("<H").pack, struct.Struct("<I").pack


class _Writer:
    """Writes values from a list of steps, so that they may lie as deep in each other as they like.

    What has parts puts them, and what follows them, in front of the other steps.
    """

    def __init__(self, shared: set[int]) -> None:
        self.out = bytearray(b"\x80\x02")
        self.shared = shared
        self.memo: dict[object, int] = {}
        self.steps: list[Step] = []
        self.within: set[int] = set()

    # -- the memo

    def recall(self, key: object) -> bool:
        """Refer to what was remembered under this key, if anything was."""
        index = self.memo.get(key)
        if index is None:
            return False
        self.out += bytes((0x68, index)) if index < 256 else b"j" + _word(index)
        return True

    def remember(self, key: object) -> None:
        index = self.memo[key] = len(self.memo)
        self.out += bytes((0x71, index)) if index < 256 else b"r" + _word(index)

    # -- values

    def write(self, root: Node) -> None:
        """Write a value with all that it holds."""
        steps = self.steps
        steps.append(root)
        often: dict[type, Callable[[Any], None]]
        often = {bytes: self.out.extend, str: self.text, int: self.integer}
        while steps:
            step: Any = steps.pop()
            write = often.get(step.__class__)
            if write is not None:
                write(step)
            elif callable(step):
                step()
            else:
                self.value(step)

    def next(self, *steps: Step) -> None:
        """Write these before all else."""
        self.steps.extend(reversed(steps))

    def value(self, node: Node) -> None:
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

    def compound(self, node: Compound) -> None:
        key = ("node", id(node))
        if self.recall(key):
            return
        if id(node) in self.within:
            raise ValueError("a value that contains itself")
        self.within.add(id(node))
        self.next(*self.parts(node), partial(self.written, node))

    def written(self, node: Compound) -> None:
        """Note that all of a value has been written."""
        self.within.discard(id(node))
        if isinstance(node, _REMEMBERED) or id(node) in self.shared:
            self.remember(("node", id(node)))

    def parts(self, node: Compound) -> Iterable[Step]:
        """What a value is written as."""
        match node:
            case TupleNode():
                return self.tuple(node.items)
            case ListNode():
                return self.list(node)
            case DictNode():
                return self.dict(node)
            case OrderedDictNode():
                return (self.hooks,)
            case ComplexNode(value):
                return (Global("builtins", "complex"), *self.tuple((value.real, value.imag)), b"R")
            case DeviceNode(name):
                return (Global("torch", "device"), *self.tuple((name,)), b"R")
            case EnumNode(cls, value):
                return (cls, value, b"R")
            case ObjectNode():
                return self.object(node)
            case QuantizerNode():
                return self.quantizer(node)
            case SparseNode():
                return self.sparse(node)
        return self.tensor(node)

    def integer(self, value: int) -> None:
        if 0 <= value <= 0xFF:
            self.out += bytes((0x4B, value))
        elif 0 <= value <= 0xFFFF:
            self.out += b"M" + _short(value)
        elif -(1 << 31) <= value < 1 << 31:
            self.out += b"J" + struct.pack("<i", value)
        elif -(1 << 63) <= value < 1 << 63:
            self.out += b"\x8a\x08" + struct.pack("<q", value)
        else:
            raise ValueError(f"{value} does not fit 64 bits")

    def text(self, text: str) -> None:
        if not self.recall(text):
            data = text.encode("utf-8", "surrogateescape")
            self.out += b"X" + _word(len(data)) + data
            self.remember(text)

    def name(self, module: str, name: str) -> None:
        if not self.recall(("name", module, name)):
            self.out += f"c{module}\n{name}\n".encode()
            self.remember(("name", module, name))

    def tuple(self, items: Sequence[Node]) -> Iterable[Step]:
        closing = (b")", b"\x85", b"\x86", b"\x87")
        if len(items) >= len(closing):
            return (b"(", *items, b"t")
        return (*items, closing[len(items)])

    def list(self, node: ListNode) -> Iterable[Step]:
        specialized = _SPECIALIZED.get(node.tag)
        if specialized is not None:
            return (Global(_JIT, specialized), b"(](", *node.items, b"etR")
        return (_RESTORE, b"](", *node.items, b"e", *self.tag(node.tag))

    def dict(self, node: DictNode) -> Iterable[Step]:
        return (_RESTORE, *self.pairs(node), *self.tag(node.tag))

    def pairs(self, node: DictNode) -> Iterable[Step]:
        return (b"}(", *(part for pair in node.items for part in pair), b"u")

    def tag(self, tag: str) -> Iterable[Step]:
        if not tag:
            raise ValueError("a list or dict without a type")
        return (tag, b"\x86R")

    def object(self, node: ObjectNode) -> Iterable[Step]:
        state: Iterable[Step] = (node.state,)
        if isinstance(node.state, DictNode) and not node.state.tag:
            state = self.pairs(node.state)
        return (node.cls, b")\x81", *state, b"b")

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

    def quantizer(self, node: QuantizerNode) -> Iterable[Step]:
        axis = () if isinstance(node.scale, float) else (node.axis,)
        return (b"(", Global("torch", node.scheme), node.scale, node.zero_point, *axis, b"t")

    def sparse(self, node: SparseNode) -> Iterable[Step]:
        size = self.numbers(node.size)
        name = Global("torch._utils", "_rebuild_sparse_tensor")
        layout = 1 if node.layout == "sparse_coo" else 2
        grad = b"\x88" if node.requires_grad else b"\x89"
        yield from (name, b"(", layout, *size, grad)
        for part in node.parts:  # not to be referred to, as they are not in torch
            yield from self.tensor(part)
        yield from (self.hooks, b"tR")

    def numbers(self, numbers: Iterable[int]) -> Iterable[Step]:
        return (b"(", *numbers, b"t")

    def tensor(self, node: TensorNode) -> Iterable[Step]:
        quantized = node.quantizer is not None
        name = "_rebuild_qtensor" if quantized else "_rebuild_tensor_v2"
        yield from (Global("torch._utils", name), b"(", node.storage, node.offset)
        yield from (*self.numbers(node.size), *self.numbers(node.stride))
        if node.quantizer is not None:
            yield from self.quantizer(node.quantizer)
        yield b"\x88" if node.requires_grad else b"\x89"
        yield self.hooks
        if node.math:
            pairs: list[tuple[Node, Node]] = [(bit, True) for bit in sorted(node.math)]
            yield from self.dict(DictNode(pairs, "Dict[str, bool]"))
        yield b"tR"
