"""Edits that mend typical mistakes: what diagnostics advise."""

from __future__ import annotations

import re
from typing import Final

from ...frontend.diagnostics.diagnostics import Edit, Help
from ...frontend.sources.source import Span
from ...frontend.syntax import tree
from ...frontend.syntax.places import Place
from ..definitions.class_types import ClassType
from ..definitions.functions import Function
from ..scopes.advice import BUILTINS
from ..scopes.dispatch import is_text
from ..scopes.environment import Variable
from ..scopes.scope import Scope
from ..types.types import Type

__all__ = [
    "NUMPY_METHODS",
    "NUMPY_NAMES",
    "annotated_dict",
    "annotated_list",
    "annotated_parameter",
    "as_tuple",
    "attribute_of_self",
    "default_in_body",
    "in_container",
    "is_left_out",
    "may_be_none",
    "on_self",
]

NUMPY_NAMES: Final = {"axis": "dim", "axes": "dims", "keepdims": "keepdim"}
"""What parameters are called in NumPy, and here."""
NUMPY_METHODS: Final = {"astype": "to", "copy": "clone"}
"""What methods are called there, and here."""


def may_be_none(scope: Scope, node: tree.Parameter) -> tuple[Help, ...]:
    """`k: int = None` -> `k: Optional[int] = None`."""
    if node.annotation is None:
        return ()
    place = node.annotation.span.whole
    edit = Edit(place, _optional(scope, place))
    return (Help("say that it may be `None`", (edit,), "machine"),)


def annotated_default(node: tree.Parameter, written: tree.Expr, type: Type) -> tuple[Help, ...]:
    """`scale=2.0` -> `scale: float = 2.0`, of a parameter without annotation."""
    start = node.span.whole.start + len(node.name)
    between = Span(node.span.source, start, written.span.whole.start)
    if between.text.strip() != "=":
        return ()
    text = f"say what `{node.name}` is; without annotation it is a `Tensor`"
    return (Help(text, (Edit(between, f": {type.annotation_str} = "),)),)


def _optional(scope: Scope, annotation: Span) -> str:
    """The text of an annotation that allows None, in names that the program knows."""
    known = scope.resolver.lookup("Optional", annotation) is not None
    return f"Optional[{annotation.text}]" if known else f"{annotation.text} | None"


def default_in_body(scope: Scope, node: tree.Parameter, written: tree.Expr) -> tuple[Help, ...]:
    """`xs: List[int] = []` -> `xs: Optional[List[int]] = None`, and `if xs is None: xs = []`."""
    text = "make the default `None`, and the value in the function"
    body = [s for s in scope.tree.body if not is_text(s)]
    if node.annotation is None or not body:
        return (Help(text),)
    place, first = node.annotation.span.whole, body[0].span
    source = first.source
    indent = source.text[source.line_starts[source.line_index(first.start)] : first.start]
    if indent.strip():  # the body stands on the line of its head
        return (Help(text),)
    value = written.span.whole
    added = f"if {node.name} is None:\n{indent}    {node.name} = {value.text}\n{indent}"
    edits = (
        Edit(place, _optional(scope, place)),
        Edit(value, "None"),
        Edit(Span(source, first.start, first.start), added),
    )
    return (Help(text, edits),)


def annotated_list(variable: Variable | None, element: Type) -> tuple[Help, ...]:
    """`outs = []` -> `outs: List[int] = []`, where the list is to hold ints."""
    return _annotated(variable, tree.ListDisplay, f"List[{element.annotation_str}]", "list")


def annotated_dict(variable: Variable | None, element: Type) -> tuple[Help, ...]:
    """`d = {}` -> `d: Dict[str, int] = {}`, where the dict is to hold ints."""
    return _annotated(variable, tree.DictDisplay, f"Dict[str, {element.annotation_str}]", "dict")


def _annotated(
    variable: Variable | None, kind: type[tree.Expr], type: str, word: str
) -> tuple[Help, ...]:
    """Say what an empty container holds, where it is made."""
    if variable is None or variable.declared or variable.span is None:
        return ()
    node, target = variable.tree, variable.span.whole
    if not isinstance(node, kind) or node.span.text.strip("[]{} ") != "":
        return ()
    end = target.start + len(variable.name)
    rest = target.source.text[end:].lstrip(" ")
    if not target.text.startswith(variable.name) or not rest.startswith("="):
        return ()
    edit = Edit(Span(target.source, end, end), f": {type}")
    return (Help(f"say what the {word} holds", (edit,)),)


def annotated_parameter(variable: Variable | None, type: Type) -> tuple[Help, ...]:
    """`def f(x, n):` -> `def f(x, n: int):`, where the parameter is to be an int."""
    if variable is None or not variable.inferred or not variable.parameter:
        return ()
    span = variable.span
    if span is None or span.whole.text != variable.name:
        return ()
    edit = Edit(Span(span.source, span.end, span.end), f": {type.annotation_str}")
    return (Help(f"say what `{variable.name}` is; without annotation it is a `Tensor`", (edit,)),)


def attribute_of_self(scope: Scope, node: tree.Name) -> tuple[Help, ...]:
    """`lin(x)` -> `self.lin(x)`, where the object has such an attribute."""
    owner, parameters = scope.function.owner, scope.tree.parameters
    if not isinstance(owner, ClassType) or not parameters:
        return ()
    known = {*owner.attributes, *owner.constants, *owner.methods}
    if node.id not in known and owner.method(node.id) is None:
        return ()
    new = f"{parameters[0].name}.{node.id}"
    return (Help(f"did you mean `{new}`?", (Edit(node.span.whole, new),), "machine"),)


def is_left_out(scope: Scope, name: str = "") -> bool:
    """Whether something in the function could not be read, with the assignment of a name in it."""
    here = scope.tree.span
    for error in scope.collector.errors:
        place = error.primary.span.whole if error.primary is not None else None
        if error.code != "unsupported-syntax" or place is None or place.source is not here.source:
            continue
        inside = here.start <= place.start <= here.end
        if inside and re.search(rf"\b{name}\s*:=" if name else r"\A(try|match)\b", place.text):
            return True
    return False


def as_tuple(node: tree.ListDisplay) -> tuple[Help, ...]:
    """`[x, 1]` -> `(x, 1)`."""
    place = node.span.whole
    text = place.text
    if len(node.elements) < 2 or text[:1] != "[" or text[-1:] != "]":
        return ()
    ends = ((place.start, "("), (place.end - 1, ")"))
    edits = tuple(Edit(Span(place.source, at, at + 1), new) for at, new in ends)
    return (Help("a tuple keeps the type of each element", edits),)


def on_self(scope: Scope, node: tree.Call, name: str) -> tuple[Help, ...]:
    """`super().helper(x)` -> `self.helper(x)`, where the class has not written that anew."""
    owner = scope.function.owner
    method = owner.method(name) if name and isinstance(owner, ClassType) else None
    if method is None or _class_of(method) == _class_of(scope.function):
        return (Help(BUILTINS["super"]),)
    text = f"a method that the class inherits is one of its own: call `{name}` on `self`"
    return (Help(text, (Edit(node.span.whole, "self"),)),)


def _class_of(method: Function) -> str:
    """The class whose text a method stands in; "" if that is not known."""
    return str(getattr(method.python, "__qualname__", "")).rpartition(".")[0]


def in_container(place: Place | None) -> tuple[Help, ...]:
    """`self.layers = [nn.ReLU()]` -> `self.layers = torch.nn.ModuleList([nn.ReLU()])`."""
    if place is None or place.value is None:
        return ()
    value = place.value.whole
    container = {"[": "ModuleList", "{": "ModuleDict"}.get(value.text[:1])
    if container is None:
        return ()
    text = f"modules are kept in an `nn.{container}`"
    return (Help(text, (Edit(value, f"torch.nn.{container}({value.text})"),)),)
