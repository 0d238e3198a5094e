"""A model as Python source that makes it again: its code, its objects, and where its weights are.

The source holds plain data alone: texts, numbers and the nodes of `pickle_nodes`, one assignment
for every object and tensor.  Running it gives the data to `source_load`, which makes the model as
an archive is loaded.  Whatever the texts hold, they stay texts.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass

import numpy as np

from ...interpreter.values.objects import ScriptObject
from ...ops.tensors.tensor import Tensor
from ..files.container import ArchiveReader
from ..pickles.nodes import (
    DictNode,
    ListNode,
    Node,
    ObjectNode,
    StorageNode,
    TensorNode,
    TupleNode,
)
from ..pickles.reader import read_record
from ..saving.save import save_to_buffer
from .load import NamedStorage

__all__ = ["write_source"]

_HEAD = '''\
"""A model that `rushlight convert` wrote as source, from {origin}.

    from {module} import load

    model = load()          # {default}
    model = load(weights)   # .safetensors, .npz, a file of torch.save, or a dict of tensors

CODE is TorchScript as archives hold it; what is changed there changes the model.
"""

from pathlib import Path

from rushlight.jit.written import *

VERSION = {version}
TRUST = "{trust}"
WEIGHTS = {weights}
'''

_FOOT = '''
def load(weights=WEIGHTS, trust=TRUST):
    """The model, with its weights from a file or a dict of tensors; zeros without them."""
    return model_from(CODE, ROOT, CONSTANTS, STORAGES, weights, VERSION, trust)


if __name__ == "__main__":
    print(load())
'''


def write_source(
    target: ScriptObject,
    state: Mapping[str, Tensor],
    *,
    module: str,
    origin: str,
    weights: str,
    trust: str,
) -> str:
    """The source of a model.

    Args:
        target: the root object.
        state: the tensors that a weights file holds, by their names there; others are written
            into the source.
        module: what the source will be imported as.
        origin: the file that the model is from.
        weights: the name of the weights file beside the source, or empty.
        trust: what its code may do, as `load` takes it.

    Raises:
        ArchiveError: something has no form in an archive, and so none here.
    """
    with ArchiveReader(save_to_buffer(target)) as archive:
        writer = _Writer(archive, _stored_names(archive, state))
        root, constants = writer.name_of("data"), writer.name_of("constants")
        default = f"the weights of {weights}, beside this file" if weights else "all weights zero"
        version = "version" if "version" in archive else ".data/version"
        head = _HEAD.format(
            origin=_in_docstring(origin),
            module=module,
            default=_in_docstring(default),
            version=int(archive.read(version)),
            trust=trust,
            weights=f"Path(__file__).with_name({weights!a})" if weights else "None",
        )
        return "".join(
            [
                head,
                "\nCODE = {\n",
                *_code(archive),
                "}\n\nSTORAGES = {\n",
                *(f"    {line}\n" for line in writer.storages.values()),
                "}\n\n",
                *(f"{line}\n" for line in writer.lines),
                f"\nROOT = {root}\nCONSTANTS = {constants}\n\n",
                _FOOT,
            ]
        )


def _code(archive: ArchiveReader) -> Iterator[str]:
    for record in archive.records("code/"):
        if record.endswith(".py"):
            text = archive.read(record).decode("utf-8", "surrogateescape")
            yield f'    {record!a}: """\\\n{_in_quotes(text)}""",\n'


def _in_quotes(text: str) -> str:
    """A text between three quotes: its own lines, whatever else it holds escaped."""
    text = text.replace("\\", "\\\\")
    if '"""' in text or text.endswith('"'):
        text = text.replace('"', '\\"')
    return "".join(c if c == "\n" or c.isprintable() else ascii(c)[1:-1] for c in text)


def _in_docstring(text: str) -> str:
    return ascii(text)[1:-1].replace('"', "'")


def _stored_names(archive: ArchiveReader, state: Mapping[str, Tensor]) -> dict[str, NamedStorage]:
    """Which weight holds all of a storage of the data, by the storage's key."""
    root = read_record(archive, "data.pkl", archive.limits)
    named: dict[str, NamedStorage] = {}
    for path, node in _tensors(root, ""):
        storage = node.storage
        # quantized numbers mean nothing without their scales, which the source holds
        if path not in state or storage.key in named or node.quantizer is not None:
            continue
        order = tuple(np.argsort([-s for s in node.stride], kind="stable").tolist())
        if storage.numel == math.prod(node.size) and _is_dense(node, order):
            named[storage.key] = NamedStorage(path, order, storage.kind, storage.numel)
    return named


def _tensors(node: Node, path: str) -> Iterator[tuple[str, TensorNode]]:
    """The tensors among the attributes of modules, with their paths."""
    waiting = [(path, node)]
    while waiting:
        path, node = waiting.pop()
        if isinstance(node, TensorNode):
            yield path, node
        elif isinstance(node, ObjectNode) and isinstance(node.state, DictNode):
            for name, value in node.state.by_name().items():
                waiting.append((f"{path}.{name}" if path else name, value))


def _is_dense(node: TensorNode, order: tuple[int, ...]) -> bool:
    """Whether the tensor's elements fill its storage, in this order of its dimensions."""
    wanted = 1
    for dimension in reversed(order):
        if node.size[dimension] != 1 and node.stride[dimension] != wanted:
            return False
        wanted *= node.size[dimension]
    return node.offset == 0 and wanted > 0


class _Writer:
    """Writes nodes as assignments, the parts before the whole."""

    def __init__(self, archive: ArchiveReader, named: Mapping[str, NamedStorage]) -> None:
        self._archive = archive
        self._named = named
        self._names: dict[int, str] = {}
        self._kept: list[Node] = []
        self.storages: dict[str, str] = {}
        self.lines: list[str] = []

    def name_of(self, pickle: str) -> str:
        """Write the value of a pickle; the text that stands for it."""
        self._folder = f"{pickle}/"
        record = f"{pickle}.pkl"
        return self._text(read_record(self._archive, record, self._archive.limits))

    def _text(self, node: object) -> str:
        if isinstance(node, float) and not math.isfinite(node):
            return f'float("{node}")'
        if isinstance(node, complex):
            return f"complex({self._text(node.real)}, {self._text(node.imag)})"
        if isinstance(node, tuple):
            return f"({', '.join(map(self._text, node))}{',' * (len(node) == 1)})"
        if isinstance(node, list):
            return f"[{', '.join(map(self._text, node))}]"
        if isinstance(node, frozenset):
            return f"frozenset({self._text(sorted(node))})"
        if isinstance(node, StorageNode):
            self._store(node)
            key = self._folder + node.key
            return f"StorageNode({node.kind!r}, {key!r}, 'cpu', {node.numel})"
        if is_dataclass(node):
            return self._assigned(node)
        return ascii(node)

    def _assigned(self, node: object) -> str:
        found = self._names.get(id(node))
        if found is not None:
            return found
        parts = [self._text(getattr(node, field.name)) for field in fields(node)]  # type: ignore[arg-type]
        text = f"{type(node).__name__}({', '.join(parts)})"
        if not isinstance(node, TensorNode | ObjectNode | ListNode | DictNode | TupleNode):
            return text
        name = self._names[id(node)] = f"n{len(self.lines)}"
        self._kept.append(node)  # so that no other gets its identity
        self.lines.append(f"{name} = {text}")
        return name

    def _store(self, node: StorageNode) -> None:
        key = self._folder + node.key
        if key in self.storages:
            return
        named = self._named.get(node.key) if self._folder == "data/" else None
        if named is not None:
            parts = f"{named.name!a}, {named.order}, {named.kind!r}, {named.count}"
            self.storages[key] = f"{key!r}: NamedStorage({parts}),"
            return
        content = self._archive.read(key) if node.numel else b""
        self.storages[key] = f"{key!r}: {base64.b64encode(content).decode()!r},"
