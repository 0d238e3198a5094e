"""Graphs as what is drawn of them: boxes, the values between them, and what stands inside a box.

Constants, attributes and displays of them are no boxes but texts in the boxes that use them.  Calls
of methods and functions name the graph that is called, so that each is described once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from ..frontend.diagnostics.cells import clean
from ..frontend.sources.source import Source, Span
from ..ir.functions.define import graph_of
from ..ir.graphs.graph import Block, Graph, Node, Value
from ..ir.text.text import constant_text
from ..typecheck.definitions.class_types import ClassType, FunctionType
from ..typecheck.definitions.functions import Function

__all__ = ["TIMES", "Area", "Box", "Drawing", "Link", "Picture"]

TIMES: Final = "\N{MULTIPLICATION SIGN}"
"""Between the sizes of a tensor."""

_SEEN_THROUGH: Final = frozenset(("prim::TupleUnpack", "prim::ListUnpack", "prim::unchecked_cast"))
"""Kinds whose results are drawn as those of what they are given."""

_DISPLAYS: Final = {
    "prim::ListConstruct": "[{}]",
    "prim::TupleConstruct": "({})",
    "prim::DictConstruct": "{{{}}}",
}

_LONGEST: Final = 60
"""The characters of a text in a box."""


@dataclass(eq=False)
class Link:
    """What a box is given: the value, by its number, and the name of the parameter."""

    value: int
    name: str


@dataclass(eq=False)
class Box:
    """A node.  `texts` are the operands that are known beforehand, by parameter.

    `writes` are the values that it changes: who reads them later reads what it made of them.
    `call` is the function that is called, and `owner` the path of its module below the one whose
    method is drawn; None where that is not known.  `place` is where the program says it.
    """

    node: Node
    label: str
    links: list[Link] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)
    texts: list[tuple[str, str]] = field(default_factory=list)
    areas: list[Area] = field(default_factory=list)
    writes: set[int] = field(default_factory=set)
    call: Function | None = None
    owner: str | None = None
    number: int = -1


@dataclass(eq=False)
class Area:
    """A block: the values that come in, the boxes in order, and the values that go out.

    What boxes use of outer blocks comes in, too: an area is drawn by itself.
    """

    title: str
    inputs: list[int] = field(default_factory=list)
    boxes: list[Box] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)


class Drawing:
    """What is drawn of a graph: its area; `values` are the graph's by number.

    `owner` is the class whose method it is, if it is one, `function` what it was made of.
    """

    def __init__(
        self, graph: Graph, owner: object | None = None, function: Function | None = None
    ) -> None:
        self.function = function
        self.values: list[Value] = []
        self.boxes: list[Box] = []
        self._numbers: dict[Value, int] = {}
        self._texts: dict[Value, str] = {}
        self._paths: dict[Value, str] = {}
        block, self.owner = graph.block, owner
        inputs = list(block.inputs)
        if self.owner is not None and inputs:
            self._paths[inputs[0]] = ""
            del inputs[0]
        self.area = self._area(block, inputs, "")

    @property
    def sources(self) -> Iterator[Span]:
        """The places of its boxes."""
        return (box.node.span for box in self.boxes if box.node.span.source.text)

    def number(self, value: Value) -> int:
        """The number of a value; a new one if it has none."""
        found = self._numbers.get(value)
        if found is None:
            found = self._numbers[value] = len(self.values)
            self.values.append(value)
        return found

    def numbers(self) -> dict[Value, int]:
        """The values that are drawn, and those that stand for them, with their numbers."""
        return self._numbers

    # -- blocks

    def _area(self, block: Block, inputs: list[Value], title: str) -> Area:
        area = Area(title, [self.number(value) for value in inputs])
        for node in block.nodes:
            self._node(node, area)
        area.outputs = [
            number
            for value in block.outputs
            for number in self._linked(value)
            if number not in area.outputs
        ]
        known = set(area.inputs).union(*(box.outputs for box in area.boxes))
        used = [link.value for box in area.boxes for link in box.links] + area.outputs
        area.inputs += [v for v in dict.fromkeys(used) if v not in known]
        return area

    def _node(self, node: Node, area: Area) -> None:
        if self._is_text(node):
            return
        if node.kind in _SEEN_THROUGH and self._linked(node.inputs[0]):
            (seen, *_) = self._linked(node.inputs[0])
            for value in node.outputs:
                self._numbers[value] = seen
            return
        if node.kind in _DISPLAYS and _is_read_once(node):
            return  # its parts lead to whoever reads it
        box = Box(node, _label(node), number=len(self.boxes))
        self.boxes.append(box)
        self._operands(box)
        box.areas.extend(self._areas(node))
        given = {link.value for link in box.links}
        for inner in box.areas:
            own = set() if inner.title == "task" else _own_inputs(node, self._numbers)
            box.links += [Link(v, "") for v in inner.inputs if v not in given | own]
            given.update(inner.inputs)
            box.writes.update(*(each.writes for each in inner.boxes))
        box.outputs = [self.number(value) for value in node.outputs]
        area.boxes.append(box)

    def _areas(self, node: Node) -> Iterator[Area]:
        titles = ("then", "else") if node.kind == "prim::If" else ("each round",)
        for block, title in zip(node.blocks, titles, strict=False):
            yield self._area(block, list(block.inputs), title)
        task = node.attributes.get("Subgraph")
        if isinstance(task, Graph):
            for inner, outer in zip(task.inputs, node.inputs, strict=False):
                if outer in self._paths:
                    self._paths[inner] = self._paths[outer]
                elif outer in self._texts:
                    self._texts[inner] = self._texts[outer]
                elif linked := self._linked(outer):
                    self._numbers[inner] = linked[0]
            yield self._area(task.block, [], "task")

    # -- operands

    def _operands(self, box: Box) -> None:
        node = box.node
        inputs = list(node.inputs)
        names = _parameters(node)
        box.call = _called_by(node)
        if node.kind == "prim::CallFunction":
            inputs, names = inputs[1:], names[1:]
        elif node.kind == "prim::CallMethod":
            box.owner = self._paths.get(inputs[0])
            if box.owner:
                box.label = f"{clean(box.owner)}: {box.label}"
            if box.owner is not None:
                inputs, names = inputs[1:], names[1:]
        for value, name in zip(inputs, names, strict=True):
            if (text := self._text(value)) is not None:
                if text != "None":
                    box.texts.append((name, text))
            else:
                linked = self._linked(value)
                box.links += [Link(number, name) for number in linked]
                if name in _written(node):
                    box.writes.update(linked)
        for key, attribute in node.attributes.items():
            if isinstance(attribute, (str, int, float)) and key != "name":
                box.texts.append((key, _short(str(attribute))))
        if node.kind in ("prim::GetAttr", "prim::SetAttr"):
            box.label += f" .{clean(str(node.attributes['name']))}"

    def _linked(self, value: Value) -> list[int]:
        """The numbers of the values that are drawn for one: those in a display that is no box."""
        if value in self._numbers:
            return [self._numbers[value]]
        if self._text(value) is not None:
            return []
        if value.node.kind in _DISPLAYS and _is_read_once(value.node):
            found = [number for part in value.node.inputs for number in self._linked(part)]
            return list(dict.fromkeys(found))
        return [self.number(value)]

    def _is_text(self, node: Node) -> bool:
        """Whether a node is a text in others: constants, attributes, displays of such."""
        if node.is_constant:
            self._texts[node.output] = _short(_constant(node.output))
        elif node.kind == "prim::GetAttr" and node.inputs[0] in self._paths:
            path = self._paths[node.inputs[0]]
            name = str(node.attributes["name"])
            self._paths[node.output] = f"{path}.{name}" if path else name
        elif node.kind in _DISPLAYS and len(node.output.uses) <= 1:
            parts = [self._text(value) for value in node.inputs]
            if None in parts:
                return False
            self._texts[node.output] = _short(
                _DISPLAYS[node.kind].format(", ".join(map(str, parts)))
            )
        else:
            return node.kind == "prim::Uninitialized"
        return True

    def _text(self, value: Value) -> str | None:
        path = self._paths.get(value)
        return self._texts.get(value) if path is None else f"self.{path}" if path else "self"


class Picture:
    """The drawings of some functions and of all that those call, and the texts they come from."""

    def __init__(self) -> None:
        self.drawings: list[Drawing] = []
        self.sources: list[Source] = []
        self._numbers: dict[Function, int] = {}

    def draw(self, function: Function) -> int:
        """The number of a function's drawing."""
        waiting = [function]
        while waiting:
            each = waiting.pop()
            if each in self._numbers:
                continue
            self._numbers[each] = len(self.drawings)
            waiting.extend(self._add(Drawing(graph_of(each), each.owner, each)))
        return self._numbers[function]

    def draw_graph(self, graph: Graph) -> int:
        """The number of the drawing of a graph by itself."""
        inputs = graph.inputs
        owner = inputs[0].type if inputs and inputs[0].type.is_module else None
        number = len(self.drawings)
        for called in self._add(Drawing(graph, owner)):
            self.draw(called)
        return number

    def _add(self, drawing: Drawing) -> list[Function]:
        """Add a drawing, and give what is called in it."""
        self.drawings.append(drawing)
        return [box.call for box in drawing.boxes if box.call is not None]

    def source(self, source: Source) -> int:
        """The number of a source."""
        if source not in self.sources:
            self.sources.append(source)
        return self.sources.index(source)


def _called_by(node: Node) -> Function | None:
    """The function that a node calls, if it is known and has a graph."""
    if node.kind == "prim::CallFunction":
        type = node.inputs[0].type
        found: object = type.function if isinstance(type, FunctionType) else None
    elif node.kind == "prim::CallMethod":
        owner = node.inputs[0].type
        found = owner.method(str(node.attributes["name"])) if isinstance(owner, ClassType) else None
    else:
        found = None
    return found if isinstance(found, Function) else None


def _own_inputs(node: Node, numbers: dict[Value, int]) -> set[int]:
    return {numbers[v] for block in node.blocks for v in block.inputs if v in numbers}


def _written(node: Node) -> set[str]:
    """The parameters that an operator changes."""
    arguments = () if node.signature is None else node.signature.arguments
    return {a.name for a in arguments if a.alias is not None and a.alias.is_write}


def _is_read_once(node: Node) -> bool:
    """Whether a display is given to one reader, which does not change it."""
    if len(node.output.uses) != 1 or not node.inputs:
        return False
    (use,) = node.output.uses
    signature = use.user.signature
    if use.user.blocks or signature is None:
        return use.user.kind in (
            "prim::Return",
            "prim::CallMethod",
            "prim::CallFunction",
            *_DISPLAYS,
        )
    return not signature.is_mutable


def _parameters(node: Node) -> list[str]:
    """What the inputs of a node are called."""
    called = _called_by(node)
    if node.signature is not None:
        names = [argument.name for argument in node.signature.arguments]
    elif called is not None:
        names = [argument.name for argument in called.signature.arguments]
        if node.kind == "prim::CallFunction":
            names.insert(0, "")
    else:
        names = list(_NAMES.get(node.kind, ()))
    return (names + [""] * len(node.inputs))[: len(node.inputs)]


_NAMES: Final = {
    "prim::If": ("condition",),
    "prim::Loop": ("rounds", "condition"),
    "prim::RaiseException": ("message", "class"),
}

_LABELS: Final = {
    "prim::If": "if",
    "prim::Loop": "loop",
    "prim::RaiseException": "raise",
    "prim::fork": "fork",
    "prim::awaitable": "awaitable",
    "prim::TupleConstruct": "tuple",
    "prim::ListConstruct": "list",
    "prim::DictConstruct": "dict",
}


def _label(node: Node) -> str:
    if node.kind in _LABELS:
        return _LABELS[node.kind]
    if node.kind == "prim::CallMethod":
        name, owner = str(node.attributes["name"]), node.inputs[0].type
        short = clean(getattr(owner, "name", str(owner)))
        return short if name == "forward" else f"{short}.{clean(name)}"
    called = _called_by(node)
    if called is not None:
        return clean(called.name)
    space, _, name = node.kind.rpartition("::")
    return clean(name if space in ("aten", "prim") else node.kind)


def _constant(value: Value) -> str:
    if isinstance(value.type, FunctionType):
        return clean(value.type.function.name)
    constant = value.node.value
    if isinstance(constant, bool):
        return str(constant)
    shape = getattr(constant, "shape", None)
    if shape is not None and getattr(constant, "dtype", None) is not None and len(shape):
        return f"Tensor {TIMES.join(map(str, shape))}"
    return clean(constant_text(constant, value.type))


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
