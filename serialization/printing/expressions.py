"""The right-hand sides of printed code: one node, its inputs as already printed texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...frontend.sources.source import Span
from ...ir.graphs.graph import Node, Value
from ...typecheck.definitions.class_types import ClassType, FunctionType, InterfaceType
from ...typecheck.definitions.schema import Argument, Signature
from ...typecheck.types.types import BOOL, FLOAT, NONE, OptionalType, Type, element_is_evident
from .constants import Constants
from .names import is_attribute, is_identifier, quoted
from .text import Spans, Text
from .types import Dependencies, TypeNames, named_type

__all__ = ["Expressions", "PrintError", "default_of"]


class PrintError(Exception):
    """A graph that has no form as code; `span` is the place of the construct that has none."""

    def __init__(self, message: str, span: Span) -> None:
        super().__init__(f"{span}: {message}")
        self.message = message
        self.span = span


class PythonCallError(PrintError):
    """A call of a function that is left to Python, which no archive can hold."""

    def __init__(self, name: str, span: Span) -> None:
        super().__init__(f"`{name}` is left to Python", span)
        self.name = name


class Expressions:
    """Makes expressions of nodes.

    `variables` are the names of the values that have one, `texts` the expressions of others.
    """

    importable = False
    """Whether the code must be such that it can be read again."""

    def __init__(
        self,
        spans: Spans,
        names: TypeNames,
        constants: Constants,
        dependencies: Dependencies,
    ) -> None:
        self.spans = spans
        self.names = names
        self.constants = constants
        self.dependencies = dependencies
        self.variables: dict[Value, str] = {}
        self.texts: dict[Value, Text] = {}

    def of(self, value: Value) -> Text:
        """The text that stands for a value."""
        name = self.variables.get(value)
        return self.texts[value] if name is None else Text(self.spans, name)

    def literal(self, value: object, type: Type) -> str:
        """The text of a constant.

        Raises:
            PrintError: it has none.
        """
        try:
            return self.constants.text(value, type)
        except TypeError as error:
            raise PrintError(str(error), self.spans.current) from None

    def spell(self, type: Type) -> str:
        return self.names.spell(type)

    def write(self, text: Text, node: Node) -> None:
        """Append what computes the outputs of `node`.

        Raises:
            PrintError: code has no form for the node.
        """
        form = _FORMS.get(node.kind)
        if form is not None:
            form(self, text, node)
        else:
            _write_call(self, text, node)

    def write_typed(self, text: Text, function: str, type: Type, value: Value) -> None:
        """Append `function(type, value)`."""
        text.write(f"{function}({self.spell(type)}, ")
        text.write_text(self.of(value))
        text.write(")")

    def all_of(self, values: Sequence[Value]) -> list[Text]:
        return [self.of(v) for v in values]


def _operator_name(node: Node) -> str:
    namespace, _, name = node.kind.partition("::")
    if node.kind in _RENAMED:
        return _RENAMED[node.kind]
    return f"torch.{name}" if namespace == "aten" else f"ops.{namespace}.{name}"


_RENAMED = {
    "aten::backward": "torch.autograd.backward",
    "aten::grad": "torch.autograd.grad",
}


def _write_call(e: Expressions, text: Text, node: Node) -> None:
    """An operator call: positional up to the keyword-only arguments, without trailing defaults."""
    if node.signature is None and not node.kind.startswith("prim::"):
        raise PrintError(f"{node.kind} has no signature, so its call cannot be printed", node.span)
    if node.blocks or (node.signature is None and node.attributes):
        raise PrintError(f"{node.kind} has no form in code", node.span)
    text.write(f"{_operator_name(node)}(")
    arguments = node.signature.arguments if node.signature is not None else ()
    outs = _trailing_outs(arguments)
    count = _needed(node, arguments[: len(arguments) - outs])
    for i in range(count):
        if i:
            text.write(", ")
        if i < len(arguments) and arguments[i].keyword_only:
            text.write(f"{arguments[i].name}=")
        text.write_text(e.of(node.inputs[i]))
    for i in range(len(arguments) - outs, min(len(arguments), len(node.inputs))):
        text.write(f", {arguments[i].name}=")
        text.write_text(e.of(node.inputs[i]))
    text.write(")")


def _trailing_outs(arguments: Sequence[Argument]) -> int:
    count = 0
    for argument in reversed(arguments):
        alias = argument.alias
        if not argument.keyword_only or alias is None or not alias.is_write:
            break
        count += 1
    return count


def _needed(node: Node, arguments: Sequence[Argument]) -> int:
    """How many inputs there are before the trailing ones that equal their argument's default."""
    inputs = node.inputs
    if len(inputs) > len(arguments) + _trailing_outs(_arguments(node.signature)):
        return len(inputs)
    if node.signature is None:
        return len(inputs)
    for i in reversed(range(len(arguments))):
        argument = arguments[i]
        if not argument.has_default or not _is_constant(inputs[i], default_of(argument)):
            return i + 1
    return 0


def _arguments(signature: Signature | None) -> Sequence[Argument]:
    return () if signature is None else signature.arguments


def default_of(argument: Argument) -> object:
    """The default as the list it stands for, if it is a single number for an `int[2]`."""
    default = argument.default
    if argument.size is not None and isinstance(default, bool | int | float):
        return [default] * argument.size
    return default


def _is_constant(value: Value, default: object) -> bool:
    """Whether `value` is the constant `default`, of the same type: 1 is not 1.0 here."""
    if not value.node.is_constant:
        return False
    constant = None if value.type == NONE else value.node.value
    if value.type == BOOL and isinstance(constant, int):
        constant = bool(constant)
    elif value.type == FLOAT and isinstance(constant, int):
        constant = float(constant)
    return _same(constant, default)


def _same(a: object, b: object) -> bool:
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(_same, a, b))
    plain = (bool, int, float, complex, str)
    return (a is None and b is None) or (
        isinstance(a, plain) and type(a) is type(b) and bool(a == b)
    )


# -- the kinds that have a form of their own


def _listed(begin: str, end: str = ")") -> Callable[[Expressions, Text, Node], None]:
    def form(e: Expressions, text: Text, node: Node) -> None:
        text.write_list(e.all_of(node.inputs), begin, end)

    return form


def _annotate(e: Expressions, text: Text, node: Node) -> None:
    e.write_typed(text, "annotate", node.output.type, node.input)


def _unchecked_cast(e: Expressions, text: Text, node: Node) -> None:
    e.write_typed(text, "unchecked_cast", node.output.type, node.input)


def _uninitialized(e: Expressions, text: Text, node: Node) -> None:
    text.write(f"uninitialized({e.spell(node.output.type)})")


def _constant(e: Expressions, text: Text, node: Node) -> None:
    type = node.output.type
    if isinstance(type, FunctionType):
        e.dependencies.add_type(type)
        text.write(e.spell(type))
        return
    text.write(e.literal(node.value, type))


def _index(e: Expressions, text: Text, node: Node) -> None:
    container = str(e.of(node.inputs[0]))
    text.write(container if is_identifier(container) else f"({container})")
    text.write_list(e.all_of(node.inputs[1:]), "[", "]")


def _tuple_construct(e: Expressions, text: Text, node: Node) -> None:
    type = node.output.type
    if named_type(type) is not None:
        text.write(e.spell(type))
    text.write_list(e.all_of(node.inputs), "(", ",)" if len(node.inputs) == 1 else ")")


def _tuple_index(e: Expressions, text: Text, node: Node) -> None:
    text.write_list([e.of(node.inputs[0])], "(", ")[")
    text.write_list([e.of(node.inputs[1])], "", "]")


def _tuple_slice(e: Expressions, text: Text, node: Node) -> None:
    bounds = f"{node.attributes['beg']}:{node.attributes['end']}"
    text.write_list([e.of(node.input)], "(", f")[{bounds}]")


def _list_construct(e: Expressions, text: Text, node: Node) -> None:
    type = node.output.type
    evident = type.list_of is not None and element_is_evident(type.list_of)
    if node.inputs and evident:
        text.write_list(e.all_of(node.inputs), "[", "]")
    else:
        text.write(f"annotate({e.spell(type)}, ")
        text.write_list(e.all_of(node.inputs), "[", "]")
        text.write(")")


def _dict_construct(e: Expressions, text: Text, node: Node) -> None:
    type = node.output.type
    evident = type.dict_of is not None and all(map(element_is_evident, type.contained))
    if not (node.inputs and evident):
        text.write(f"annotate({e.spell(type)}, ")
    text.write("{")
    for i, item in enumerate(e.all_of(node.inputs)):
        if i:
            text.write(": " if i % 2 else ", ")
        text.write_text(item)
    text.write("}")
    if not (node.inputs and evident):
        text.write(")")


def _create_object(e: Expressions, text: Text, node: Node) -> None:
    name = e.spell(node.output.type)
    text.write(f"{name}.__new__({name})")


def _attribute(e: Expressions, text: Text, node: Node) -> None:
    name = str(node.attributes["name"])
    if is_attribute(name):
        text.write_text(e.of(node.inputs[0]))
        text.write(f".{name}")
    else:
        text.write_list([e.of(node.inputs[0])], "getattr(", f", {quoted(name)})")


def _call_arguments(e: Expressions, text: Text, node: Node) -> None:
    text.write("(")
    for value in node.inputs[1:]:
        text.write_text(e.of(value))
        text.write(", ")
    text.write(")")


def _call_function(e: Expressions, text: Text, node: Node) -> None:
    text.write_text(e.of(node.inputs[0]))
    _call_arguments(e, text, node)


def _call_method(e: Expressions, text: Text, node: Node) -> None:
    owner = node.inputs[0]
    text.write_list([e.of(owner)], "(", f").{node.attributes['name']}")
    _call_arguments(e, text, node)
    if not isinstance(owner.type, ClassType | InterfaceType):
        raise PrintError(f"a value of type {owner.type} has no methods", node.span)
    e.dependencies.add_type(owner.type)


def _unwrap_optional(e: Expressions, text: Text, node: Node) -> None:
    """The type of a None that is unwrapped has to be told."""
    text.write("torch._unwrap_optional(")
    if node.input.type == NONE or (node.input.node.is_constant and node.input.node.value is None):
        e.write_typed(text, "annotate", OptionalType(node.output.type), node.input)
    else:
        text.write_text(e.of(node.input))
    text.write(")")


def _isinstance(e: Expressions, text: Text, node: Node) -> None:
    types = node.attributes["types"]
    assert isinstance(types, list | tuple)
    for type in types:
        e.dependencies.add_type(type)
    names = ", ".join(map(e.spell, types))
    text.write_list(
        [e.of(node.input)], "isinstance(", f", {names if len(types) == 1 else f'({names})'})"
    )


def _raise(e: Expressions, text: Text, node: Node) -> None:
    """A class that is not known is left out."""
    inputs = list(node.inputs)
    if inputs[-1].type == NONE and inputs[-1].node.is_constant:
        inputs.pop()
    text.write_list(e.all_of(inputs), "ops.prim.RaiseException(", ")")


def _to_list(e: Expressions, text: Text, node: Node) -> None:
    text.write(f"annotate({e.spell(node.output.type)}, ")
    text.write_text(e.of(node.inputs[0]))
    text.write(".tolist())")


def _call_python(e: Expressions, text: Text, node: Node) -> None:
    """`^name()(a, b)`, as messages and `.code` show it; archives cannot have it."""
    name = str(getattr(node.attributes["function"], "name", ""))
    if e.importable:
        raise PythonCallError(name, node.span)
    scalars = ", ".join(map(str, getattr(node.attributes["function"], "scalars", ())))
    text.write(f"^{name}({scalars})(")
    for i, value in enumerate(node.inputs):
        if i:
            text.write(", ")
        text.write_text(e.of(value))
    text.write(")")


_FORMS: dict[str, Callable[[Expressions, Text, Node], None]] = {
    "aten::Bool": _listed("bool("),
    "aten::Float": _listed("float("),
    "aten::FloatImplicit": _annotate,
    "aten::Int": _listed("int("),
    "aten::IntImplicit": _annotate,
    "aten::ScalarImplicit": _annotate,
    "aten::__getitem__": _index,
    "aten::_unwrap_optional": _unwrap_optional,
    "aten::sorted": _listed("sorted("),
    "aten::str": _listed("str("),
    "prim::CallFunction": _call_function,
    "prim::PythonOp": _call_python,
    "prim::CallMethod": _call_method,
    "prim::Constant": _constant,
    "prim::CreateObject": _create_object,
    "prim::DictConstruct": _dict_construct,
    "prim::EnumName": _listed("(", ").name"),
    "prim::EnumValue": _listed("(", ").value"),
    "prim::GetAttr": _attribute,
    "prim::ListConstruct": _list_construct,
    "prim::Print": _listed("print("),
    "prim::RaiseException": _raise,
    "prim::TupleConstruct": _tuple_construct,
    "prim::TupleIndex": _tuple_index,
    "prim::TupleSlice": _tuple_slice,
    "prim::Uninitialized": _uninitialized,
    "prim::isinstance": _isinstance,
    "prim::tolist": _to_list,
    "prim::unchecked_cast": _unchecked_cast,
    "prim::unchecked_unwrap_optional": _unchecked_cast,
}
