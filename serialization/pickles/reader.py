"""Reading the pickles of an archive into plain data.

This is no general unpickler.  It knows the opcodes that PyTorch writes and a closed list of names;
it imports nothing, calls nothing and makes nothing but the nodes of `nodes.py`, so a pickle can
ask for nothing else.  Whatever it does not know is an error that names the opcode and its offset.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Protocol

from ..files.errors import ArchiveError, archive_error
from ..files.limits import DEFAULT_LIMITS, Limits
from .machine import SHARED, PickleMachine
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
)

__all__ = ["PickleReader", "check_length", "read_pickle", "read_record"]

_LIST_BUILDERS = {
    "build_intlist": "List[int]",
    "build_doublelist": "List[float]",
    "build_boollist": "List[bool]",
    "build_tensorlist": "List[Tensor]",
}
_UNSUPPORTED = {
    "_rebuild_sparse_csr_tensor": "a sparse tensor",
    "_rebuild_nested_tensor": "a nested tensor",
    "_rebuild_meta_tensor_no_storage": "a tensor on the meta device",
}


def read_pickle(data: bytes, title: str, limits: Limits = DEFAULT_LIMITS) -> Node:
    """The value of a pickle; `title` is what messages call it.

    Raises:
        ArchiveError: it is damaged, uses what archives do not use (`unsafe-pickle`), or too much.
    """
    check_length(len(data), title, limits)
    return PickleReader(data, title, limits).read()


class _Archive(Protocol):
    def size(self, record: str) -> int: ...

    def read(self, record: str) -> bytes: ...


def read_record(archive: _Archive, record: str, limits: Limits) -> Node:
    """The value of a record that is a pickle, which is not inflated where it has too many bytes.

    Raises:
        KeyError: there is no such record.
        ArchiveError: as `read_pickle` says.
    """
    check_length(archive.size(record), f"`{record}`", limits)
    return read_pickle(archive.read(record), f"`{record}`", limits)


def check_length(length: int, title: str, limits: Limits) -> None:
    """Refuse a pickle of more bytes than the limits allow, with an ArchiveError."""
    if length > limits.pickle:
        message = f"{title} has {length} bytes (the limit is {limits.pickle})"
        raise archive_error("limit-exceeded", message)


class PickleReader(PickleMachine):
    """Makes nodes; `rebuilders` says what the names stand for that may be called."""

    actions: ClassVar = {**SHARED, b"d": "dict_to_mark", b"\x8a": "long"}
    rebuilders: Mapping[tuple[str, str], Callable[[Any, Sequence[Node]], Node]]

    def __init__(self, data: bytes, title: str, limits: Limits) -> None:
        super().__init__(data, title, limits=limits)
        self.room = limits.nodes

    def read(self) -> Node:
        if self.data[:2] != b"\x80\x02":
            raise self.error("damaged-archive", "does not begin as a pickle of protocol 2")
        self.at = 2
        node: Node = super().read()
        return node

    def error(self, code: str, what: str) -> ArchiveError:
        place = ""
        if self.at > 2:
            byte = self.data[self.opcode_at : self.opcode_at + 1]
            place = f" (opcode {_opcode_name(byte)} at offset {self.opcode_at})"
        return super().error(code, f"{what}{place}")

    def unknown(self, opcode: bytes) -> ArchiveError:
        return self.error("unsafe-pickle", "uses an opcode that archives do not use")

    def push_made(self, value: object) -> None:
        self.room -= 1
        if self.room < 0:
            what = f"makes more than {self.limits.nodes} tuples, lists, dicts, names and objects"
            raise self.error("limit-exceeded", what)
        self.stack.append(value)

    # -- containers and names

    def new_tuple(self, items: list[Node]) -> Node:
        return TupleNode(tuple(items))

    def new_list(self, items: list[Node]) -> Node:
        return ListNode(items)

    def new_dict(self) -> Node:
        return DictNode()

    def named(self, module: str, name: str) -> Node:
        return Global(module, name)

    def dict_to_mark(self) -> None:
        self.push_made(DictNode(self.pairs(self.pop_to_mark())))

    def extend(self, items: list[Node]) -> None:
        target = self.top()
        if not isinstance(target, ListNode):
            raise self.damaged("appends to what is no list")
        target.items.extend(items)

    def set_items(self, items: list[Node]) -> None:
        target = self.top()
        if not isinstance(target, DictNode):
            raise self.damaged("sets items of what is no dict")
        target.items.extend(self.pairs(items))

    def pairs(self, items: list[Node]) -> list[tuple[Node, Node]]:
        if len(items) % 2:
            raise self.damaged("has a key without a value")
        return list(zip(items[::2], items[1::2], strict=True))

    # -- opcodes

    def long(self) -> None:
        size = self.unsigned(1)
        if size > 8:
            raise self.damaged("has an integer of more than 64 bits")
        self.push(self.signed(size))

    def new(self) -> None:
        arguments, cls = self.pop(), self.pop()
        empty = isinstance(arguments, TupleNode) and not arguments.items
        if not (isinstance(cls, Global) and empty):
            raise self.error("unsafe-pickle", "makes an object in a way that archives do not")
        self.push_made(ObjectNode(cls))

    def set_state(self) -> None:
        state, target = self.pop(), self.top()
        if not isinstance(target, ObjectNode):
            raise self.damaged("sets the state of what is no object")
        target.state = state

    def persistent(self) -> None:
        match self.pop():
            case TupleNode(
                items=(
                    "storage",
                    Global(module="torch", name=kind),
                    str(key),
                    str(place),
                    int(n),
                    *no_view,  # written until PyTorch 1.5, where a storage could be part of another
                )
            ) if (
                kind.endswith("Storage")
                and n >= 0
                and not isinstance(n, bool)
                and no_view in ([], [None])
            ):
                self.push_made(StorageNode(kind.removesuffix("Storage"), key, place, n))
            case _:
                raise self.damaged("refers to a storage in an unknown way")

    def call(self) -> None:
        arguments, function = self.pop(), self.pop()
        if not isinstance(function, Global):
            raise self.error("unsafe-pickle", "calls what is not a name")
        items = arguments.items if isinstance(arguments, TupleNode) else (arguments,)
        key = (function.module, function.name)
        rebuild = self.rebuilders.get(key)
        if rebuild is not None:
            self.push_made(rebuild(self, items))
        elif function.module == "torch.jit._pickle" and function.name in _LIST_BUILDERS:
            self.push(self.tagged((*items, _LIST_BUILDERS[function.name])))
        elif _is_library(function.module):
            raise self.unknown_name(function)
        elif len(items) == 1:
            self.push_made(EnumNode(function, items[0]))
        else:
            raise self.error("unsafe-pickle", f"calls `{function.qualified_name}`")

    def unknown_name(self, name: Global) -> ArchiveError:
        unsupported = _UNSUPPORTED.get(name.name) if name.module == "torch._utils" else None
        if unsupported is not None:
            return self.error("unsupported-value", f"holds {unsupported}, which is not supported")
        return self.error(
            "unsafe-pickle", f"uses `{name.qualified_name}`, which archives do not use"
        )

    # -- the names a pickle may call

    def tagged(self, items: Sequence[Node]) -> Node:
        match items:
            case (ListNode() | DictNode() as node, str(tag)):
                node.tag = tag
                return node
        raise self.damaged("tags what is no list or dict")

    def complex_number(self, items: Sequence[Node]) -> Node:
        match items:
            case (float() | int() as real, float() | int() as imaginary):
                return ComplexNode(complex(real, imaginary))
        raise self.damaged("has a complex number without two parts")

    def device(self, items: Sequence[Node]) -> Node:
        match items:
            case (str(name),):
                return DeviceNode(name)
        raise self.damaged("has a device without a name")

    def ordered_dict(self, items: Sequence[Node]) -> Node:
        if items:
            raise self.damaged("has an `OrderedDict` with contents")
        return OrderedDictNode()

    def tensor(self, items: Sequence[Node]) -> Node:
        match items:
            case (StorageNode() as storage, int(offset), size, stride, bool(grad), _, *rest):
                math = rest[0] if rest else None
                sizes, strides = self.integers(size), self.integers(stride)
                return TensorNode(storage, offset, sizes, strides, grad, _math_bits(math))
        raise self.damaged("has a tensor without the parts of one")

    def older_tensor(self, items: Sequence[Node]) -> Node:
        """As it was written when gradients were not: `_rebuild_tensor`."""
        match items:
            case (storage, offset, size, stride):
                return self.tensor((storage, offset, size, stride, False, None))
        raise self.damaged("has a tensor without the parts of one")

    def quantized(self, items: Sequence[Node]) -> Node:
        match items:
            case (storage, offset, size, stride, TupleNode(items=quantizer), bool(grad), *_):
                return self.quantized_by(quantizer, (storage, offset, size, stride, grad, None))
            case (storage, offset, size, stride, float(scale), int(zero), bool(grad), *_):
                # as it was before there was more than one way
                kind = Global("torch", "per_tensor_affine")
                parts = storage, offset, size, stride, grad, None
                return self.quantized_by((kind, scale, zero), parts)
        raise self.damaged("has a quantized tensor without the parts of one")

    def quantized_by(self, quantizer: Sequence[Node], items: Sequence[Node]) -> Node:
        made = self.tensor(items)
        assert isinstance(made, TensorNode)
        made.quantizer = self.quantizer(quantizer)
        return made

    def quantizer(self, items: Sequence[Node]) -> QuantizerNode:
        match items:
            case (Global("torch", "per_tensor_affine" as name), float() as scale, int(zero)):
                return QuantizerNode(name, scale, zero)
            case (
                Global("torch", "per_channel_affine" | "per_channel_affine_float_qparams" as name),
                TensorNode() as scale,
                TensorNode() as zero,
                int(axis),
            ):
                return QuantizerNode(name, scale, zero, axis)
        raise self.error("unsupported-value", "holds a tensor quantized in an unknown way")

    def sparse(self, items: Sequence[Node]) -> Node:
        match items:
            case (int(1), size, TensorNode() as indices, TensorNode() as values, *_):
                return SparseNode("sparse_coo", self.integers(size), (indices, values))
            case (
                int(1),
                size,
                bool() as grad,
                TensorNode() as indices,
                TensorNode() as values,
                *_,
            ):
                return SparseNode("sparse_coo", self.integers(size), (indices, values), grad)
            case (int(1), TupleNode((TensorNode() as indices, TensorNode() as values, size, *_))):
                return SparseNode("sparse_coo", self.integers(size), (indices, values))
            case (
                int(2),
                size,
                bool() as grad,
                TensorNode() as starts,
                TensorNode() as inner,
                TensorNode() as values,
                *_,
            ):
                return SparseNode("sparse_csr", self.integers(size), (starts, inner, values), grad)
        raise self.error("unsupported-value", "holds a sparse tensor of an unknown form")

    def parameter(self, items: Sequence[Node]) -> Node:
        match items:
            case (TensorNode() as tensor, *_):
                return tensor
        raise self.damaged("has a parameter that is no tensor")

    def integers(self, node: Node) -> tuple[int, ...]:
        items = node.items if isinstance(node, TupleNode) else (None,)
        found = tuple(i for i in items if isinstance(i, int) and not isinstance(i, bool))
        if len(found) != len(items):
            raise self.damaged("has a size or stride that is no tuple of integers")
        return found


def _opcode_name(byte: bytes) -> str:
    import pickletools

    code = byte.decode("latin-1")
    known = (opcode.name for opcode in pickletools.opcodes if opcode.code == code)
    return next(known, f"0x{byte.hex()}")


def _math_bits(node: Node) -> frozenset[str]:
    if not isinstance(node, DictNode):
        return frozenset()
    return frozenset(key for key, value in node.by_name().items() if value is True)


def _is_library(module: str) -> bool:
    """Names of Python's and PyTorch's own modules never name script classes."""
    return module != "__torch__" and not module.startswith("__torch__.")


PickleReader.rebuilders = {
    ("builtins", "complex"): PickleReader.complex_number,
    ("collections", "OrderedDict"): PickleReader.ordered_dict,
    ("torch", "device"): PickleReader.device,
    ("torch._utils", "_rebuild_tensor_v2"): PickleReader.tensor,
    ("torch._utils", "_rebuild_tensor"): PickleReader.older_tensor,
    ("torch._utils", "_rebuild_qtensor"): PickleReader.quantized,
    ("torch._utils", "_rebuild_sparse_tensor"): PickleReader.sparse,
    ("torch._utils", "_rebuild_parameter"): PickleReader.parameter,
    ("torch.jit._pickle", "restore_type_tag"): PickleReader.tagged,
}
