"""Graph -> code text, as torch prints it for `.code` and for the code files of archives.

One statement a node, except that a node whose value is used once, at the very place where it is
computed, stands inside its user's expression; expressions that grow long are split again.

    %y.1 : Tensor = aten::mul(%x.1, %x.1)          def f(x: Tensor) -> Tensor:
    %3 : Tensor = aten::tanh(%y.1)             =>    y = torch.mul(x, x)
    return (%3)                                      return torch.tanh(y)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from ...frontend.syntax.deep_stack import goes_deep
from ...ir.graphs.graph import Block, Graph, Node, Value
from ...ir.graphs.kinds import TASKS
from ...typecheck.definitions.functions import Function
from ...typecheck.definitions.schema import Argument, Signature
from ...typecheck.types.types import BOOL, NONE, TupleType, Type
from .constants import Constants
from .expressions import Expressions, PrintError, default_of
from .inlining import inlined_nodes
from .names import Names, is_attribute
from .text import Record, Spans, Text
from .types import Dependencies, TypeNames

__all__ = ["FunctionPrinter", "PrintError", "PrintedCode", "print_function", "print_graph_source"]

LONG = 40
"""An expression with its indentation is long from this many characters on."""

_DEEPEST = 97
"""How deep blocks may lie in each other in an archive: Python's parser knows 100 levels."""

ENDLESS = 2**63 - 1
"""The trip count of a `while` loop."""


@dataclass(frozen=True)
class PrintedCode:
    """`constants[i]` is the value the text calls `CONSTANTS.ci`; `records` say what each stretch of
    the text was printed for."""

    text: str
    constants: list[object]
    records: list[Record]


@goes_deep
def print_function(
    function: Function | Graph,
    name: str | None = None,
    signature: Signature | None = None,
    is_method: bool | None = None,
) -> PrintedCode:
    """The text that `.code` shows.

    Args:
        function: a compiled function or its graph.
        name: what the text calls it; by default the function's own name.
        signature: by default the function's, or what the graph's inputs and outputs tell.
        is_method: whether the first parameter is `self`, whose type is not printed; by default
            whether the function has an owner.

    Raises:
        PrintError: the graph has no form as code.
    """
    if isinstance(function, Function):
        graph = graph_of(function)
        name = name or function.name
        signature = signature or function.signature
        is_method = function.owner is not None if is_method is None else is_method
    else:
        graph = function
    names = TypeNames()
    printer = FunctionPrinter(names, Constants(names), Dependencies())
    printer.print_function(
        graph, name or "graph", signature or _signature_of(graph), typed_self=not is_method
    )
    return PrintedCode(str(printer.body), printer.constants.values, printer.body.records)


def print_graph_source(graph: Graph, name: str = "graph") -> str:
    """A graph as source text: `def graph(x: Tensor) -> Tensor:` and so on.

    Raises:
        PrintError: the graph has no form as code.
    """
    return print_function(graph, name).text


def graph_of(function: Function) -> Graph:
    """The graph of a function, compiling it now if that has not happened.

    Raises:
        PrintError: it has none.
    """
    function.ensure_defined()
    if not isinstance(function.graph, Graph):
        span = function.tree.span if function.tree is not None else Spans().current
        raise PrintError(f"{function.qualified_name} has no graph", span)
    return function.graph


def _signature_of(graph: Graph) -> Signature:
    arguments = tuple(
        Argument(v.base_name if v.base_name is not None else f"argument_{i}", v.type)
        for i, v in enumerate(graph.inputs)
    )
    results = tuple(v.type for v in graph.outputs)
    result: Type = NONE
    if results:
        result = results[0] if len(results) == 1 else TupleType(results)
    return Signature("graph", "", arguments, (Argument("", result),))


class FunctionPrinter:
    """Prints functions one after the other into `body`; names are counted over all of them."""

    def __init__(
        self,
        names: TypeNames,
        constants: Constants,
        dependencies: Dependencies,
        importable: bool = False,
    ) -> None:
        self.names = names
        self.constants = constants
        self.dependencies = dependencies
        self.spans = Spans()
        self.body = Text(self.spans)
        self.level = 0
        self._importable = importable
        self._variables = Names()
        self._inlined: set[Node] = set()
        self._pending: dict[Value, None] = {}  # inlined, not yet in a user's text; in order
        self._expressions = Expressions(self.spans, names, constants, dependencies)
        self._expressions.importable = importable

    # -- text

    @contextmanager
    def indented(self) -> Iterator[None]:
        """A deeper block.

        Raises:
            PrintError: what reads archives could not read one that deep.
        """
        self.level += 1
        if self._importable and self.level > _DEEPEST:
            message = f"blocks lie more than {_DEEPEST} deep in each other"
            raise PrintError(message, self.spans.current)
        yield
        self.level -= 1

    def line(self, *pieces: str | Text) -> None:
        """Append an indented line."""
        self.body.write("  " * self.level)
        for piece in pieces:
            if isinstance(piece, Text):
                self.body.write_text(piece)
            else:
                self.body.write(piece)
        self.body.write("\n")

    def _of(self, value: Value) -> Text:
        return self._expressions.of(value)

    def _list(self, values: Sequence[Value]) -> Text:
        text = Text(self.spans)
        text.write_list(self._expressions.all_of(values))
        return text

    def _name(self, values: Sequence[Value]) -> None:
        """Make every value a variable."""
        for value in values:
            self._expressions.variables[value] = self._variables.for_value(value)

    # -- functions

    def print_function(
        self, graph: Graph, name: str, signature: Signature, typed_self: bool = True
    ) -> None:
        """Append a function; `typed_self` says whether its first parameter shows its type."""
        self._variables.start_function()
        if len(graph.inputs) != len(signature.arguments):
            raise PrintError(
                f"{name} has {len(signature.arguments)} parameters, but its graph has"
                f" {len(graph.inputs)} inputs",
                graph.block.param.span,
            )
        with self.spans.at(graph.block.param.span):
            self.body.write("  " * self.level + f"def {name}(")
            parameters = zip(graph.inputs, signature.arguments, strict=True)
            for i, (value, argument) in enumerate(parameters):
                self._parameter(value, argument, i, typed_self)
            result = signature.returns[0].type if signature.returns else NONE
            self.body.write(f") -> {self.names.spell(result)}:\n")
            self.dependencies.add_type(result)
            self._print_body(graph.block)

    def _parameter(self, value: Value, argument: Argument, index: int, typed_self: bool) -> None:
        self.dependencies.add_type(argument.type)
        name = self._variables.take(argument.name)
        text = name if index == 0 else f",\n    {name}"
        if index > 0 or typed_self:
            text += f": {self.names.spell(argument.type)}"
        if argument.has_default:
            text += f"={self._expressions.literal(default_of(argument), argument.type)}"
        self.body.write(text)
        self._expressions.variables[value] = name

    def _print_body(self, block: Block) -> None:
        """The constants that need a line, the nodes, the return."""
        constants: dict[Node, None] = {}
        _collect_constants(block, constants)
        self._inlined |= inlined_nodes(block)
        with self.indented():
            for node in constants:
                self._print_node(node)
            self._print_block(block, bool(block.outputs))
            self._print_node(block.ret)

    # -- statements

    def _print_block(self, block: Block, followed: bool) -> None:
        """The nodes of a block; `followed` says whether more statements come in the same suite."""
        empty = not followed
        for node in block.nodes:
            empty = False
            if not node.is_constant:
                self._print_node(node)
        if empty:
            self.line("pass")

    def _print_node(self, node: Node) -> None:
        with self.spans.at(node.span):
            for value in (*node.inputs, *node.outputs):
                self.dependencies.add_type(value.type)
            self._split_long(node.inputs)
            statement = _STATEMENTS.get(node.kind)
            if statement is not None:
                statement(self, node)
            else:
                self._print_expression(node)

    def _print_expression(self, node: Node) -> None:
        text = Text(self.spans)
        self._expressions.write(text, node)
        # a long expression of an operator is split only where it is used, together with what is
        # computed before it; a constant may move freely
        if node in self._inlined and not (node.is_constant and self._is_long(text)):
            self._expressions.texts[node.output] = text
            if not node.is_constant:
                self._pending[node.output] = None
        else:
            self._define(node, text)

    def _define(self, node: Node, text: Text) -> None:
        """Assign an expression to new variables."""
        self._name(node.outputs)
        if node.outputs:
            self.line(self._list(node.outputs), " = ", text)
        else:
            self.line(text)

    def _is_long(self, text: Text) -> bool:
        return text.length + 2 * self.level >= LONG

    def _split_long(self, inputs: Sequence[Value]) -> None:
        """Give every long input a variable, and first whatever is computed before it."""
        for value in inputs:
            while value in self._pending and self._is_long(self._of(value)):
                self._define_to_next_long()
        for value in inputs:
            self._pending.pop(value, None)

    def _define_to_next_long(self) -> None:
        """Define the pending values up to the first long one, for whose sake it is done."""
        pending = list(self._pending)
        count = next(i for i, value in enumerate(pending, 1) if self._is_long(self._of(value)))
        with self.spans.at(pending[count - 1].node.span):
            for value in pending[:count]:
                del self._pending[value]
                self._define(value.node, self._of(value))

    def _print_return(self, node: Node) -> None:
        if self._importable and len(node.inputs) != 1:
            raise PrintError("an exported function must return one value", node.span)
        if node.inputs:
            self.line("return ", self._list(node.inputs))

    def _print_if(self, node: Node) -> None:
        self._name(node.outputs)
        self.line("if ", self._of(node.input), ":")
        for i, block in enumerate(node.blocks):
            if i:
                self.line("else:")
            with self.indented():
                self._print_block(block, bool(node.outputs))
                self._split_long(block.outputs)
                if node.outputs:
                    self._print_results(node.outputs, block.outputs, annotated=i == 0)

    def _print_results(
        self, targets: Sequence[Value], values: Sequence[Value], annotated: bool
    ) -> None:
        """The assignment at a branch's end; one target of several types says so once."""
        type = targets[0].type
        annotation = ""
        if annotated and len(targets) == 1 and type.is_choice:
            annotation = f" : {self.names.spell(type)}"
        self.line(self._list(targets), annotation, " = ", self._list(values))

    def _print_loop(self, node: Node) -> None:
        is_for = _is_for_loop(node)
        (body,) = node.blocks
        counter, *carried = body.inputs
        self._name(node.outputs)
        for inner, outer in zip(carried, node.outputs, strict=True):
            self._expressions.texts[inner] = self._of(outer)
        for outer, start in zip(node.outputs, node.inputs[2:], strict=True):
            note = ""
            if outer.type.is_choice:
                note = f": {self.names.spell(outer.type)}"
            self.line(self._of(outer), note, " = ", self._of(start))
        self._name([counter])
        if is_for:
            self.line("for ", self._of(counter), " in range(", self._of(node.inputs[0]), "):")
        else:
            # the counter is not used, so its name can be that of the condition
            self.line(self._of(counter), " = ", self._of(node.inputs[1]))
            self.line("while ", self._of(counter), ":")
        targets, values = body.inputs[is_for:], body.outputs[is_for:]
        with self.indented():
            self._print_block(body, bool(targets))
            self._split_long(body.outputs)
            if targets:
                self.line(self._list(targets), " = ", self._list(values))

    def _print_unpack(self, node: Node) -> None:
        self._name(node.outputs)
        if node.outputs:
            self.line(self._list(node.outputs), ", = ", self._of(node.input))
        else:
            self.line(self._of(node.input))

    def _print_set_attribute(self, node: Node) -> None:
        owner, value = node.inputs
        if not is_attribute(str(node.attributes["name"])):
            raise PrintError(f"no code can set `{node.attributes['name']}`", node.span)
        self.line(self._of(owner), f".{node.attributes['name']} = ", self._of(value))

    def _print_fork(self, node: Node) -> None:
        """The forked graph becomes a local function that sees the variables around it."""
        call = node.kind.partition("::")[2]
        name = self._variables.take(f"__{'forked' if call == 'fork' else call}_function")
        graph = node.attributes["Subgraph"]
        assert isinstance(graph, Graph)
        self.line(f"def {name}():")
        for inner, outer in zip(graph.inputs, node.inputs, strict=True):
            self._expressions.texts[inner] = self._of(outer)
        outside, self._pending = self._pending, {}  # what is split inside is of its own
        self._print_body(graph.block)
        self._pending = outside
        self._define(node, Text(self.spans, f"{call}({name})"))

    def _print_enter(self, node: Node) -> None:
        target = node.output
        if target.uses:
            self._name([target])
            self.line("with ", self._of(node.input), " as ", self._of(target), ":")
        else:
            self.line("with ", self._of(node.input), ":")
        self.level += 1

    def _print_exit(self, node: Node) -> None:
        if node.previous.kind == "prim::Enter":
            self.line("pass")
        self.level -= 1

    def _print_container_index(self, node: Node) -> None:
        container, key = node.inputs
        self._name(node.outputs)
        note = f" : {self.names.spell(node.output.type)} = "
        self.line(self._of(node.output), note, self._of(container), "[", self._of(key), "]")


_STATEMENTS = {
    "prim::Enter": FunctionPrinter._print_enter,
    "prim::Exit": FunctionPrinter._print_exit,
    "prim::If": FunctionPrinter._print_if,
    "prim::ListUnpack": FunctionPrinter._print_unpack,
    "prim::Loop": FunctionPrinter._print_loop,
    "prim::ModuleContainerIndex": FunctionPrinter._print_container_index,
    "prim::Return": FunctionPrinter._print_return,
    "prim::SetAttr": FunctionPrinter._print_set_attribute,
    "prim::TupleUnpack": FunctionPrinter._print_unpack,
    **dict.fromkeys(TASKS, FunctionPrinter._print_fork),
}


def _collect_constants(block: Block, found: dict[Node, None]) -> None:
    """The constants in order of use, inner blocks included."""
    for node in (*block.nodes, block.ret):
        for value in node.inputs:
            if value.node.is_constant:
                found[value.node] = None
        for inner in node.blocks:
            _collect_constants(inner, found)


def _is_for_loop(node: Node) -> bool:
    """Whether a loop is a `for` (its conditions are always true) rather than a `while`.

    Raises:
        PrintError: it is both, which no code says.
    """
    count, start = node.inputs[:2]
    (body,) = node.blocks
    counted = count.node.value != ENDLESS or bool(body.inputs[0].uses)
    if _is_true(start) and _is_true(body.outputs[0]):
        return counted
    if counted:
        raise PrintError("a loop with both a count and a condition has no form in code", node.span)
    return False


def _is_true(value: Value) -> bool:
    return value.type == BOOL and value.node.is_constant and bool(value.node.value)
