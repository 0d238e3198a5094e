"""The names the checker itself knows: `range`, `isinstance`, `int`, `annotate`, and so on."""

from __future__ import annotations

from collections.abc import Callable

from ..frontend import tree
from ..frontend.diagnostics import Help
from ..frontend.source import UNKNOWN as NOWHERE
from ..frontend.source import Span
from ..frontend.torch_ranges import whole_end, whole_range
from . import typed
from .advice import BUILTINS
from .attributes import Access
from .calls import Calls
from .context import called
from .matching import Given
from .names import OperatorName, SpecialForm, TypeName
from .relations import is_subtype
from .schema import Signature
from .sugar import (
    Closure,
    EnumerateValue,
    RangeValue,
    SliceValue,
    Sugar,
    ZipValue,
)
from .types import (
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    NONE,
    STRING,
    TENSOR,
    UNKNOWN,
    ClassType,
    DictType,
    FutureType,
    ListType,
    OptionalType,
    TupleType,
    Type,
)

__all__ = ["Forms", "known_forms"]

_OPERATORS = {
    **{name: f"prim::{name}" for name in ("min", "max", "abs", "id", "rangelist")},
    **{
        name: f"aten::{name}"
        for name in (
            *("len", "hex", "oct", "bin", "round", "hash", "all", "any", "divmod", "sum"),
            *("ord", "chr", "pow", "sorted"),
        )
    },
    "wait": "aten::wait",
}
"""Builtins that are operators and nothing more."""

_CASTS: dict[str, tuple[Type, str]] = {
    "int": (INT, "aten::Int"),
    "float": (FLOAT, "aten::Float"),
    "complex": (COMPLEX, "aten::Complex"),
    "bool": (BOOL, "aten::Bool"),
    "str": (STRING, "aten::str"),
}

_PRINT = Signature("prim::Print", "", (), (), vararg=True)

_MAGIC = {
    **{name: f"__{name}__" for name in ("len", "hex", "oct", "bin", "round", "abs")},
    **{name: f"__{name}__" for name in _CASTS},
}
"""Methods of script classes that builtins call."""

Form = Callable[["Forms", tree.Call, "Type | None"], Sugar]


class Forms(Calls):
    """Calls of special forms."""

    def special_form(self, form: SpecialForm, node: tree.Call, hint: Type | None) -> Sugar:
        """A call of a name the checker itself knows."""
        handler = _FORMS.get(form.name)
        if handler is not None:
            return handler(self, node, hint)
        statements: list[typed.Statement] = []
        given = self.arguments(node, statements)
        magic = self._magic(form.name, given, node)
        if magic is not None:
            return magic
        if form.name in _CASTS:
            return self.sequenced(statements, self._cast(form.name, given, node), node.span)
        if form.name in _OPERATORS:
            result = self.call_operator(
                _OPERATORS[form.name],
                given,
                node.span,
                written=form.name,
                torch_span=node.function.span,
            )
            return self.sequenced(statements, result, node.span)
        self.report(
            "not-scriptable",
            f"`{form.name}` cannot be used in script",
            node.function.span,
            "called here",
            torch=f"Python builtin <built-in function {form.name}> is currently not supported in "
            "Torchscript",
            helps=(Help(BUILTINS[form.name]),) if form.name in BUILTINS else (),
        )
        return self.unknown(node.span)

    def _magic(self, name: str, given: Given, node: tree.Call) -> Sugar | None:
        """`len(obj)` and the like, for an object of a script class."""
        method = _MAGIC.get(name)
        if method is None or len(given.positional) != 1:
            return None
        value = given.positional[0]
        if not isinstance(value.type, ClassType):
            return None
        return self.call_method(value, method, [], node.span)

    def _cast(self, name: str, given: Given, node: tree.Call) -> typed.Expr:
        type, operator = _CASTS[name]
        if len(given.positional) == 1 and not given.keywords:
            value = given.positional[0]
            if value.type is UNKNOWN:
                return typed.Uninitialized(node.span, type)
            if is_subtype(value.type, type):
                return value
            if name == "bool" and self.has_length(value):
                return self.to_bool(value, node.span)
        return self.call_operator(
            operator, given, node.span, written=name, torch_span=node.function.span
        )

    def comprehend(self, sugar: Sugar, span: Span, hint: Type | None) -> typed.Expr:
        """The list of what is iterated over; given its meaning with the comprehensions."""
        raise NotImplementedError

    def dict_of(self, sugar: Sugar, span: Span, hint: Type | None) -> typed.Expr:
        """The dict of the pairs that are iterated over; likewise."""
        raise NotImplementedError

    def list_display(self, node: tree.ListDisplay, hint: Type | None) -> typed.Expr:
        """`[a, b]`; likewise."""
        raise NotImplementedError

    def set_item(
        self, target: typed.Expr, key: typed.Expr, value: typed.Expr, span: Span
    ) -> typed.Expr:
        """`target[key] = value` of a dict; likewise."""
        raise NotImplementedError

    # ----------------------------------------------------------------------- small checks

    def takes(self, node: tree.Call, least: int, most: int) -> bool:
        """Report a form called with a wrong number of arguments, or with keywords."""
        name, count = node.function.span.text, len(node.arguments)
        if least <= count <= most and not node.keywords:
            return True
        wanted = str(least) if least == most else f"{least} to {most}"
        code = "too-many-arguments" if count > most else "missing-argument"
        if node.keywords:
            code = "unknown-keyword"
        self.report(
            code,
            f"`{name}` takes {wanted} arguments, and none by name"
            if node.keywords
            else f"`{name}` takes {wanted} argument{'' if wanted == '1' else 's'}, not {count}",
            node.function.span,
            "called here",
            torch=_wrong_count(name, least, most, node),
            torch_span=whole_range(node) if most else node.function.span,
        )
        return False

    def constructed_type(self, hint: Type | None, cls: type[Type]) -> Type | None:
        """A hint, if it is of the wanted kind, without its optional."""
        element = getattr(hint, "element", None)
        if isinstance(hint, cls):
            return hint
        return element if isinstance(element, cls) else None


# --------------------------------------------------------------------------------- iteration


def _range(self: Forms, node: tree.Call, hint: Type | None) -> Sugar:
    if not self.takes(node, 1, 3):
        return self.unknown(node.span)
    parts: list[typed.Expr] = []
    for argument in node.arguments:
        value = self.expression(argument)
        if not is_subtype(value.type, INT):
            self.report(
                "argument-type",
                f"`range` expects `int`, not `{value.type.python}`",
                argument.span,
                f"this is `{value.type.python}`",
                torch=f"all inputs of range must be ints, found {self.torch_type(value)} in "
                f"argument {len(parts)}",
                torch_span=whole_range(node),
                secondary=tuple(self.origin(value)),
            )
        parts.append(value)
    if any(p.type is UNKNOWN or not is_subtype(p.type, INT) for p in parts):
        return RangeValue(node.span, None, self.unknown(node.span), None)
    if len(parts) == 1:
        return RangeValue(node.span, None, parts[0], None)
    step = parts[2] if len(parts) == 3 else typed.Literal(node.span, INT, 1)
    return RangeValue(node.span, parts[0], parts[1], step)


def _enumerate(self: Forms, node: tree.Call, hint: Type | None) -> Sugar:
    named = [keyword.name for keyword in node.keywords]
    if len(node.arguments) == 1 and named == ["start"]:
        first: tree.Expr | None = node.keywords[0].value
    elif not self.takes(node, 1, 2):
        return self.unknown(node.span)
    else:
        first = node.arguments[1] if len(node.arguments) == 2 else None
    start = self.expression(first) if first is not None else None
    iterated = self.iterated(self.sugared(node.arguments[0]), node.span)
    return EnumerateValue(node.span, iterated, start)


def _zip(self: Forms, node: tree.Call, hint: Type | None) -> Sugar:
    if not self.takes(node, 1, 1 << 30):
        return self.unknown(node.span)
    parts = [self.iterated(self.sugared(a), node.span) for a in node.arguments]
    return ZipValue(node.span, tuple(parts))


def _slice(self: Forms, node: tree.Call, hint: Type | None) -> Sugar:
    if not self.takes(node, 1, 3):
        return self.unknown(node.span)
    given = [self.expression(a) for a in node.arguments]
    start, stop, step = (None, *given, None) if len(given) == 1 else (*given, None)[:3]
    lower = typed.Literal(node.span, INT, 0) if start is None or start.type is NONE else start
    return SliceValue(node.span, lower, stop, None if step is None or step.type is NONE else step)


# -------------------------------------------------------------------------------- containers


def _list(self: Forms, node: tree.Call, hint: Type | None) -> Sugar:
    if not self.takes(node, 0, 1):
        return self.unknown(node.span)
    if not node.arguments:
        type = self.constructed_type(hint, ListType) or ListType(TENSOR)
        return typed.ListLiteral(node.span, type, ())
    sugar = self.sugared(node.arguments[0])
    if isinstance(sugar, typed.Expr) and (isinstance(sugar.type, ListType) or sugar.type == STRING):
        return self.call_operator("aten::list", Given([sugar]), node.span, written="list")
    return self.comprehend(sugar, node.span, hint)


def _tuple(self: Forms, node: tree.Call, hint: Type | None) -> Sugar:
    if not self.takes(node, 1, 1):
        return self.unknown(node.span)
    value = self.expression(node.arguments[0])
    if isinstance(value.type, TupleType) or value.type is UNKNOWN:
        return value
    self.report(
        "argument-type",
        f"`tuple` needs a length that is known now, which `{value.type.python}` does not have",
        node.arguments[0].span,
        f"this is `{value.type.python}`",
        torch="cannot statically infer the expected size of a list in this context",
        torch_span=node.span,
    )
    return self.unknown(node.span)


def _dict(self: Forms, node: tree.Call, hint: Type | None) -> Sugar:
    wanted = self.constructed_type(hint, DictType)
    pairs = tuple(
        tree.TupleDisplay(k.span, (tree.Literal(k.span, k.name), k.value)) for k in node.keywords
    )
    if not node.arguments and not pairs:
        type = wanted or DictType(STRING, TENSOR)
        return typed.DictLiteral(node.span, type, (), ())
    first = node.arguments[0] if node.arguments else tree.ListDisplay(node.span, ())
    if isinstance(first, tree.ListDisplay):
        if not first.elements and not pairs:
            return typed.DictLiteral(node.span, wanted or DictType(STRING, TENSOR), (), ())
        items = tree.ListDisplay(first.span, (*first.elements, *pairs))
        return self.dict_of(self.list_display(items, None), whole_range(node), wanted)
    sugar = self.sugared(first)
    if not isinstance(sugar, typed.Expr) or not isinstance(sugar.type, DictType):
        if pairs:
            self.report(
                "unknown-keyword",
                "`dict` takes keywords only with a dict or a list display",
                node.keywords[0].span,
                "not possible here",
                torch="dict takes no keyword arguments",
                torch_span=whole_range(node),
            )
            return self.unknown(node.span)
        return self.dict_of(sugar, whole_range(node), wanted)
    return _dict_of_dict(self, node, sugar)


def _dict_of_dict(self: Forms, node: tree.Call, given: typed.Expr) -> Sugar:
    """A copy of a dict, with the keywords added."""
    copied = self.call_operator("aten::dict", Given([given]), node.span, written="dict")
    if not node.keywords:
        return copied
    statements: list[typed.Statement] = []
    result = self.let(copied, statements)
    for keyword in node.keywords:
        key = typed.Literal(keyword.span, STRING, keyword.name)
        call = self.set_item(result, key, self.expression(keyword.value), node.span)
        statements.append(typed.Evaluate(node.span, call))
    return self.sequenced(statements, result, node.span)


# -------------------------------------------------------------------------------- statements


def _print(self: Forms, node: tree.Call, hint: Type | None) -> Sugar:
    statements: list[typed.Statement] = []
    given = self.arguments(node, statements)
    if node.keywords:
        self.report(
            "unknown-keyword",
            "`print` takes no keywords in script",
            node.keywords[0].span,
            "not supported",
            torch="print doesn't accept any keyword arguments",
            torch_span=node.function.span,
        )
        return self.none(node.span)
    if node is not self.discarded:
        self.report(
            "argument-type",
            "`print` gives no value",
            node.span,
            "used as a value here",
            torch="None cannot be used as a value",
            torch_span=called(node.span),
        )
        return self.unknown(node.span)
    bindings = tuple(typed.Given(i) for i in range(len(given.positional)))
    call = typed.OperatorCall(node.span, NONE, _PRINT, tuple(given.positional), bindings)
    return self.sequenced(statements, call, node.span)


# ------------------------------------------------------------------------------------- tests


def _isinstance(self: Forms, node: tree.Call, hint: Type | None) -> Sugar:
    if not self.takes(node, 2, 2):
        return self.unknown(node.span)
    return self.is_instance(node).value


def _hasattr(self: Forms, node: tree.Call, hint: Type | None) -> Sugar:
    if not self.takes(node, 2, 2):
        return self.unknown(node.span)
    return self.condition(node).value


def _getattr(self: Forms, node: tree.Call, hint: Type | None) -> Sugar:
    if not self.takes(node, 2, 3):
        return self.unknown(node.span)
    owner = self.sugared(node.arguments[0])
    name = node.arguments[1]
    if not isinstance(name, tree.Literal) or not isinstance(name.value, str):
        self.report(
            "argument-type",
            "`getattr` needs the name as a literal string",
            name.span,
            "not a literal",
            torch="getattr's second argument must be a string literal",
            torch_span=node.span,
        )
        return self.unknown(node.span)
    if len(node.arguments) == 3 and isinstance(owner, typed.Expr):
        if not self.can_be_asked(owner, node.arguments[0].span, whole_range(node)):
            return self.unknown(node.span)
        if not self.has_attribute(owner, name.value):
            return self.sugared(node.arguments[2], hint)
    return self.attribute_of(owner, Access(node.span, name.value, name.span))


# ------------------------------------------------------- types said out loud, and archives


def _arguments_span(node: tree.Call) -> Span:
    """All arguments of a call, as torch underlines them."""
    first, last = node.arguments[0].span, node.arguments[-1]
    return Span(first.source, first.start, last.span.end, whole_end(last))


def _annotate(self: Forms, node: tree.Call, hint: Type | None) -> Sugar:
    if not self.takes(node, 2, 2):
        return self.unknown(node.span)
    type = self.annotations.read(node.arguments[0])
    value = self.expression(node.arguments[1], type)
    value = self.convert(value, type, node.span)
    if not is_subtype(value.type, type):
        self.report(
            "annotation-conflict",
            f"annotated as `{type.python}`, but this is `{value.type.python}`",
            node.arguments[1].span,
            f"this is `{value.type.python}`",
            torch=f"expected an expression of type {type.annotation_str} but found "
            f"{self.torch_type(value)}\n",
            torch_span=_arguments_span(node),
        )
        return typed.Uninitialized(node.span, type)
    if value.type is NONE and isinstance(type, OptionalType):
        # The annotation is all that tells what else a variable of this value may hold.
        return typed.Literal(NOWHERE, type, None)
    return value


def _unchecked_cast(self: Forms, node: tree.Call, hint: Type | None) -> Sugar:
    if not self.takes(node, 2, 2):
        return self.unknown(node.span)
    type = self.annotations.read(node.arguments[0])
    return typed.UncheckedCast(node.span, type, self.expression(node.arguments[1]))


def _uninitialized(self: Forms, node: tree.Call, hint: Type | None) -> Sugar:
    if not self.takes(node, 1, 1):
        return self.unknown(node.span)
    return typed.Uninitialized(node.span, self.annotations.read(node.arguments[0]))


def _new(self: Forms, node: tree.Call, hint: Type | None) -> Sugar:
    """`C.__new__(C)`, as code files of archives make objects."""
    if not self.takes(node, 1, 1):
        return self.unknown(node.span)
    owner = self.sugared(node.arguments[0])
    if isinstance(owner, TypeName) and isinstance(owner.type, ClassType):
        return typed.NewObject(node.span, owner.type, owner.type, None, (), ())
    self.report(
        "argument-type",
        "`__new__` needs a class",
        node.arguments[0].span,
        "not a class",
        torch="Only class types can be passed to __new__",
        torch_span=node.span,
    )
    return self.unknown(node.span)


def _fork(self: Forms, node: tree.Call, hint: Type | None) -> Sugar:
    if not node.arguments:
        self.takes(node, 1, 1 << 30)
        return self.unknown(node.span)
    callee = self.sugared(node.arguments[0])
    if isinstance(callee, Closure):
        return _fork_closure(self, node, callee)
    if isinstance(callee, SpecialForm) and callee.name in _OPERATORS:
        callee = OperatorName(_OPERATORS[callee.name])
    rest = tree.Call(whole_range(node), node.arguments[0], node.arguments[1:], node.keywords)
    statements: list[typed.Statement] = []
    given = self.arguments(rest, statements)
    call = self.apply(callee, given, rest)
    if not isinstance(call, typed.FunctionCall | typed.MethodCall | typed.OperatorCall):
        if not isinstance(call, typed.Expr) or call.type is not UNKNOWN:
            self.value(callee, node.arguments[0].span)
        return self.unknown(node.span)
    fork = typed.Fork(node.span, FutureType(call.type), call)
    return self.sequenced(statements, fork, node.span)


def _fork_closure(self: Forms, node: tree.Call, closure: Closure) -> Sugar:
    """A local function.  If it only returns the result of a call, the call is what is forked."""
    body = self.local_function(closure.tree)
    match body.body:
        case (typed.Return(value=typed.FunctionCall() | typed.MethodCall() as call),):
            return typed.Fork(node.span, FutureType(call.type), call)
    names = (tree.Name(node.span, parameter.name) for parameter in body.parameters)
    inputs = tuple(self.expression(name) for name in names)
    return typed.ForkedBody(node.span, FutureType(body.returns), body, inputs)


def _is_scripting(self: Forms, node: tree.Call, hint: Type | None) -> Sugar:
    self.takes(node, 0, 0)
    return typed.Literal(node.span, BOOL, True)


def _is_tracing(self: Forms, node: tree.Call, hint: Type | None) -> Sugar:
    self.takes(node, 0, 0)
    return typed.Literal(node.span, BOOL, False)


def _unused(self: Forms, node: tree.Call, hint: Type | None) -> Sugar:
    """A call of a function that is left out raises when it runs."""
    self.report(
        "not-scriptable",
        f"`{node.function.span.text}` is marked as unused; calling it is not supported yet",
        node.function.span,
        "called here",
        torch="This Python function is annotated to be ignored and cannot be run",
    )
    return self.unknown(node.span)


_FORMS: dict[str, Form] = {
    "range": _range,
    "enumerate": _enumerate,
    "zip": _zip,
    "slice": _slice,
    "list": _list,
    "tuple": _tuple,
    "dict": _dict,
    "print": _print,
    "isinstance": _isinstance,
    "hasattr": _hasattr,
    "getattr": _getattr,
    "annotate": _annotate,
    "unchecked_cast": _unchecked_cast,
    "uninitialized": _uninitialized,
    "__new__": _new,
    "fork": _fork,
    "unused": _unused,
    "is_scripting": _is_scripting,
    "is_tracing": _is_tracing,
}


def known_forms() -> frozenset[str]:
    """The names a resolver may give as a `SpecialForm`."""
    return frozenset([*_FORMS, *_CASTS, *_OPERATORS])


def _wrong_count(name: str, least: int, most: int, node: tree.Call) -> str:
    """torch's words for too few or too many arguments of a form, or for keywords."""
    count = len(node.arguments)
    if name in ("range", "enumerate", "zip"):
        word, bound = ("least", least) if count < least else ("most", most)
        return f"{name} expected at {word} {bound} arguments, got {count}"
    if name == "slice":
        if node.keywords:
            return "Slice does not accept any keyword arguments"
        return f"slice accepts exactly 1, 2 or 3 arguments, got: {count}"
    if node.keywords and least <= count <= most:
        return f"{name} takes no keyword arguments"
    if 0 < least < most:
        wanted = f"to have number of arguments between {least} and {most}"
        return f"{name} expected {wanted} but found {count}"
    return f"{name} expected exactly {most} arguments but found {count}"
