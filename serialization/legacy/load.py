"""Archives before PyTorch 1.3: `model.json` describes the modules, each has a code file of its own.

A code file holds the methods as functions at the top; parameters, buffers, attributes and
submodules are what `model.json` says.  All tensors are in one table, which code calls `CONSTANTS`.
Classes that are no modules lie in `libs/`, as they later do in `code/`.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator, Sequence

from ...frontend.foundations.made_once import made_once
from ...interpreter.values.objects import ScriptObject
from ...ops.quantized_tensors.packed_weights import PackedWeights
from ...typecheck.definitions.class_types import ClassAttribute, ClassType
from ...typecheck.definitions.names import Constant
from ...typecheck.types.types import TENSOR
from ..files.limits import Limits
from ..loading.import_code import CodeFile
from ..loading.loader import Archive, Loader
from ..pickles.nodes import (
    DictNode,
    Global,
    Node,
    ObjectNode,
    QuantizerNode,
    StorageNode,
    TensorNode,
)
from ..pickles.read_values import ValueReader
from ..pickles.tensors import StorageReader, itemsize_of
from .model import AttributeDef, ModelDef, ModuleDef, ParameterDef, TensorDef, read_model
from .pickle import read_attributes

__all__ = ["LegacyLoader"]

_NO_NAME = re.compile(r"\W", re.ASCII)


class LegacyLoader(Loader):
    """Opens one archive of this kind."""

    needed = ("model.json",)
    code_folder = "libs/"
    is_all_code = False

    def __init__(self, archive: Archive, limits: Limits, trusted: bool, mapped: bool) -> None:
        super().__init__(archive, limits, trusted, mapped)
        self._numbers: dict[str, int] = {}  # of the next module of a name
        self._states: dict[int, tuple[Node, ...]] = {}

    def constant_values(self) -> Sequence[Constant]:
        """The tensors of the table; attributes and parameters are among them."""
        return [self.constant(tensor, self._values) for tensor in self._tensors]

    def root(self) -> ObjectNode:
        """The main module."""
        return self._module(self._model.main, "__torch__")

    def described(self, root: ObjectNode) -> list[Node]:
        """The main module, and what `__setstate__` is given."""
        return [root, *(value for values in self._states.values() for value in values)]

    def root_reader(self) -> ValueReader:
        """The reader that has made the tensors of the table."""
        return self._values

    # -- records

    @made_once
    def _values(self) -> _ModuleReader:
        storages, named = StorageReader(self.archive, "", self.mapped), self.importer.type_named
        storages.without_data, storages.only_here = self.without_data, self.only_here
        made = _ModuleReader(storages, named, self.call, "`model.json`", self.limits)
        made.states = self._states
        return made

    @made_once
    def _tensors(self) -> list[TensorNode]:
        return [self._tensor(tensor) for tensor in self._model.tensors]

    @made_once
    def _model(self) -> ModelDef:
        model = read_model(self.archive.read("model.json"), self.limits)
        if model.libraries is not None and b"class " in self._record(model.libraries):
            raise self.error(
                "unsupported-value",
                f"defines classes in `{model.libraries}`, in a form that only PyTorch 1.1 read",
                help="save it again with PyTorch 1.1, without script classes",
            )
        return model

    def _record(self, record: str) -> bytes:
        if record not in self.archive:
            raise self.error("damaged-archive", f"has no record `{record}`")
        return self.archive.read(record)

    @made_once
    def _attributes(self) -> Sequence[Node]:
        if "attributes.pkl" not in self.archive:
            return ()
        data, version = self.archive.read("attributes.pkl"), self._model.version
        return read_attributes(data, "`attributes.pkl`", self._tensors, version, self.limits)

    def _tensor(self, tensor: TensorDef) -> TensorNode:
        # a record says how many elements there are, the description does not
        size = self.archive.size(tensor.record) if tensor.record in self.archive else 0
        count = size // itemsize_of(tensor.kind)
        storage = StorageNode(tensor.kind, tensor.record, "cpu", count)
        made = TensorNode(storage, tensor.offset, tensor.size, tensor.stride, tensor.requires_grad)
        if tensor.quantizer is not None:
            made.quantizer = QuantizerNode("per_tensor_affine", *tensor.quantizer)
        return made

    # -- modules

    def _module(self, module: ModuleDef, path: str) -> ObjectNode:
        """The object of a module, whose class is entered now; `path` is the parent's name."""
        qualified = self._free_name(f"{path}.{_dotted(module.name)}")
        members = [*self._members(module, qualified)]
        names = [attribute.name for attribute, _ in members]
        if len(set(names)) < len(names):
            raise self._damaged(f"has two members of one name in module `{module.name}`")
        code, filename = CodeFile(""), "model.json"
        if module.code is not None:
            self._record(module.code)
            code, filename = self.file(module.code, module.debug or "")(), module.code
        attributes = (attribute for attribute, _ in members)
        self.importer.add_module(qualified, code, filename, attributes)
        space, _, name = qualified.rpartition(".")
        state = DictNode([(a.name, part) for a, parts in members for part in parts])
        node = ObjectNode(Global(space, name), state)
        given = () if module.state is None else (self._attribute_value(module.state),)
        self._states[id(node)] = given
        return node

    def _free_name(self, qualified: str) -> str:
        space, _, name = qualified.rpartition(".")
        number, found = self._numbers.get(qualified, 0), qualified
        while self.importer.defines(found):
            found, number = f"{space}.___torch_mangle_{number}.{name}", number + 1
        self._numbers[qualified] = number
        return found

    def _members(
        self, module: ModuleDef, qualified: str
    ) -> Iterator[tuple[ClassAttribute, tuple[Node, ...]]]:
        """The slots of a module, with their values where they are known."""
        for part in module.submodules:
            made = self._module(part, qualified)
            cls = self.importer.type_named(made.cls.qualified_name)
            assert cls is not None
            yield ClassAttribute(part.name, cls, "attribute"), (made,)
        taken = set()
        for parameter in module.parameters:
            taken.add(parameter.name)
            made_slot = ClassAttribute(
                parameter.name, TENSOR, "buffer" if parameter.is_buffer else "parameter"
            )
            yield made_slot, self._parameter(parameter)
        for attribute in module.attributes:
            if attribute.name not in taken:  # buffers are there twice
                type = self.importer.type_of_text(attribute.type, "`model.json`")
                made_attribute = ClassAttribute(attribute.name, type, "attribute")
                yield made_attribute, self._attribute(attribute)

    def _parameter(self, parameter: ParameterDef) -> tuple[Node, ...]:
        if parameter.tensor == -1:
            return ()
        if not 0 <= parameter.tensor < len(self._tensors):
            raise self._damaged(f"has no tensor {parameter.tensor} for `{parameter.name}`")
        return (self._tensors[parameter.tensor],)

    def _attribute(self, attribute: AttributeDef) -> tuple[Node, ...]:
        return () if attribute.value < 0 else (self._attribute_value(attribute.value),)

    def _attribute_value(self, index: int) -> Node:
        if index >= len(self._attributes):
            raise self._damaged(f"refers to value {index}, which `attributes.pkl` does not have")
        return self._attributes[index]

    def _damaged(self, what: str) -> Exception:
        return self.error("damaged-archive", f"is damaged: `model.json` {what}")


def _dotted(name: str) -> str:
    """The name of a module as that of a class: words that can be written, with dots between."""
    words = []
    for word in name.split("."):
        plain = _NO_NAME.sub("_", word)
        unfit = not plain or plain[0].isdigit() or keyword.iskeyword(plain)
        words.append(f"_{plain}" if unfit else plain)
    return ".".join(words)


class _ModuleReader(ValueReader):
    """Modules have values for their slots and then, perhaps, one for `__setstate__`."""

    states: dict[int, tuple[Node, ...]]

    def _object(self, node: ObjectNode) -> ScriptObject | PackedWeights:
        if id(node) not in self.states:
            return super()._object(node)
        cls = self._type_named(node.cls.qualified_name)
        assert isinstance(cls, ClassType)
        assert isinstance(node.state, DictNode)
        made = ScriptObject(cls)
        state = node.state.by_name()
        for index, attribute in enumerate(cls.attributes.values()):
            if attribute.name in state:
                made.slots[index] = self._slot(state[attribute.name], attribute)
            else:
                made.slots[index] = None
        for value in self.states[id(node)]:
            restore = cls.method("__setstate__")
            if restore is None:
                raise self._damaged(f"has a state for `{cls.qualified_name}`, which takes none")
            self._call(restore, (made, self.value(value)))
        self._check_slots(made)
        return made
