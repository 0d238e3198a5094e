"""Checking a function: tree -> typed tree.

The checker is one class in several files, each building on the one before it:

    Context      scope, tables, reports            Subscripts    value[index]
    Mismatches   arguments that do not fit         Conversions   implicit conversion
    Operators    calls of operators                Calls         functions, methods, classes
    Attributes   value.name                        Forms         range, isinstance, annotate, ...
    Narrowing    conditions, refinements           Displays      lists, dicts, comprehensions
    Iteration    what `for` runs over              Expressions   the rest
    Assignments, Elements, Joins, Statements       and `check_function` here
"""

from __future__ import annotations

from dataclasses import replace

from ..frontend import tree
from ..frontend.diagnostics import Collector, Help, Label
from ..frontend.names import names_in
from ..frontend.source import Span
from . import typed
from .annotations import broadcast_size
from .environment import Variable
from .functions import Function
from .joins import insert_line
from .literals import LARGEST_INT, type_of_value
from .mismatches import article
from .names import Constant, LiveDefaults, Resolver
from .relations import is_subtype
from .schema import NO_DEFAULT, Argument, OperatorTable, Signature
from .statements import Statements
from .types import ANY, FLOAT, INT, NONE, TENSOR, UNKNOWN, ClassType, ListType, Type

__all__ = ["check_function"]


def check_function(
    function: Function,
    resolver: Resolver,
    table: OperatorTable,
    collector: Collector,
    *,
    self_type: ClassType | None = None,
) -> typed.TypedFunction | None:
    """Check a function's tree; diagnostics go to the collector.

    `function.declared` is set before the body is looked at if the return type is annotated, else
    after; with an error in the body it is set all the same, so that callers can be checked.
    `self_type` is a method's class.

    Returns:
        The typed tree, or None if there was an error.
    """
    before = len(collector.errors)
    checker = _Checker(function, resolver, table, collector, self_type)
    result = checker.function_body()
    return result if len(collector.errors) == before else None


class _Checker(Statements):
    """The whole checker."""

    def function_body(self) -> typed.TypedFunction:
        parameters = [self._parameter(p, i) for i, p in enumerate(self.tree.parameters)]
        arguments = tuple(self._argument(p, t) for p, t in parameters)
        if self.tree.returns is not None:
            self.declared_return = self.annotations.read(self.tree.returns)
            self._declare(arguments, self.declared_return)
        body = self.block(self.tree.body)
        body = (*body, *self._end())
        returns = self.declared_return
        if returns is None:
            returns = self.returned if self.returned is not None else NONE
            self._declare(arguments, returns)
        named = tuple(typed.Parameter(p.span, p.name, t) for p, t in parameters)
        return typed.TypedFunction(self.tree.span, self.tree.name, named, returns, body)

    def local_function(self, node: tree.LocalFunction) -> typed.TypedFunction:
        """See `Context`; its variables are its own."""
        made = tree.Function(node.span, node.name, node.span, (), None, node.body)
        function = Function(node.name, made, is_text=True)
        inner = _Checker(function, self.resolver, self.table, self.collector, self.self_type)
        inner._temporaries = self._temporaries
        read = (self.frame.find(name) for name in names_in(node))
        around = [variable for variable in read if variable is not None]
        for variable in around:
            inner.frame.define(variable)
        body = inner.function_body()
        self._temporaries = inner._temporaries
        parameters = tuple(
            typed.Parameter(node.span, v.name, v.type) for v in around if v.type is not None
        )
        return replace(body, parameters=parameters)

    def _declare(self, arguments: tuple[Argument, ...], returns: Type) -> None:
        name = self.tree.name
        self.function.declared = Signature(name, "", arguments, (Argument("", returns),))

    # -------------------------------------------------------------------------- parameters

    def _parameter(self, node: tree.Parameter, index: int) -> tuple[tree.Parameter, Type]:
        inferred = node.annotation is None
        if index == 0 and self.self_type is not None and inferred:
            type: Type = self.self_type
            inferred = False
        else:
            state = self._state_type(index) if inferred else None
            inferred = inferred and state is None
            type = state if state is not None else self.annotations.read(node.annotation)
        if self.frame.find(node.name) is None:
            self.define(Variable(node.name, type, node.span, parameter=True, inferred=inferred))
        return node, type

    def _state_type(self, index: int) -> Type | None:
        """The type of what `__setstate__` takes: what `__getstate__` returns."""
        owner = self.self_type
        if index != 1 or self.tree.name != "__setstate__" or not isinstance(owner, ClassType):
            return None
        giver = owner.method("__getstate__")
        return None if giver is None else giver.signature.returns[0].type

    def _argument(self, node: tree.Parameter, type: Type) -> Argument:
        default: object = NO_DEFAULT
        size = broadcast_size(node.annotation)
        if node.default is not None:
            one = isinstance(node.default, tree.Literal) and node.default.value is not None
            is_repeated = size is not None and isinstance(type, ListType) and one
            wanted = type.element if is_repeated and isinstance(type, ListType) else type
            default = self._default(node, node.default, wanted)
            if is_repeated and size is not None and default is not NO_DEFAULT:
                default = [default] * size
        return Argument(node.name, type, default, node.keyword_only, size)

    def _default(self, node: tree.Parameter, written: tree.Expr, type: Type) -> object:
        """The value of a default: a constant, or a name that stands for one."""
        found, value = self._constant(written)
        if not found and isinstance(self.resolver, LiveDefaults) and not _is_mutable(written):
            known = self.resolver.default_of(node.name, type)
            if known is not None:
                return known.value
        if not found:
            return self._report_default(node, written, type, mutable=_is_mutable(written))
        if type == FLOAT and isinstance(value, int) and not isinstance(value, bool):
            return float(value)
        if type == TENSOR and value is None:
            return None
        if isinstance(value, int) and not -LARGEST_INT - 1 <= value <= LARGEST_INT:
            return self._report_default(node, written, type, mutable=False)
        try:
            actual = type_of_value(value)
        except TypeError:
            return value
        fits = is_subtype(actual, type) or type is ANY or type is UNKNOWN
        if not fits and not (actual == INT and type == INT):
            if node.shared_default:
                return NO_DEFAULT
            return self._report_default(node, written, type, mutable=False)
        return value

    def _constant(self, node: tree.Expr) -> tuple[bool, object]:
        """Whether the expression is a constant, and its value."""
        if isinstance(node, tree.Literal):
            return node.value is not ..., node.value
        if isinstance(node, tree.Unary) and node.operator == "-":
            found, value = self._constant(node.operand)
            if found and isinstance(value, int | float | complex):
                return True, -value
            return False, None
        if isinstance(node, tree.TupleDisplay):
            parts = [self._constant(e) for e in node.elements]
            return all(f for f, _ in parts), tuple(v for _, v in parts)
        if isinstance(node, tree.ListDisplay) and self.function.is_text:
            # Text, unlike a live function, has no object that calls could share.
            parts = [self._constant(e) for e in node.elements]
            return all(f for f, _ in parts), [v for _, v in parts]
        meaning = self.meaning(node)
        if isinstance(meaning, Constant):
            return True, meaning.value
        return False, None

    def _report_default(
        self, node: tree.Parameter, written: tree.Expr, type: Type, *, mutable: bool
    ) -> object:
        if mutable:
            kind = "dict" if isinstance(written, tree.DictDisplay) else "list"
            self.report(
                "mutable-default",
                f"the default of `{node.name}` could be changed by a call",
                written.span,
                "made once, shared by all calls",
                helps=(Help("make the default `None`, and the value in the function"),),
                torch="Mutable default parameters are not supported because Python binds them to "
                "the function and they persist across function calls.\n As a workaround, make the "
                "default None and instantiate the default parameter within the body of the "
                f"function. Found <class '{kind}'> on parameter {node.name}",
                torch_span=self.tree.span,
            )
        else:
            self.report(
                "argument-type",
                f"the default of `{node.name}` is not {article(type)}",
                written.span,
                f"declared `{type.python}`",
                torch=self._torch_default(node, type),
                torch_span=self.tree.span,
            )
        return None

    @staticmethod
    def _torch_default(node: tree.Parameter, type: Type) -> str:
        inferred = node.annotation is None
        shown = "Tensor (inferred)" if inferred else type.annotation_str
        text = f'Expected a default value of type {shown} on parameter "{node.name}".'
        if inferred:
            text += (
                f'Because "{node.name}" was not annotated with an explicit type it is assumed to '
                "be type 'Tensor'."
            )
        return text

    # ----------------------------------------------------------------------------- the end

    def _end(self) -> list[typed.Statement]:
        """What a body that reaches its end returns: None, if it may."""
        if self.frame.exits:
            return []
        declared = self.declared_return
        if declared is not None and declared is not NONE and declared is not UNKNOWN:
            self._report_missing_return(declared)
            return []
        node = tree.Return(self.tree.span, None)
        return [self.returning(self.none(self.tree.span), node)]

    def _report_missing_return(self, declared: Type) -> None:
        name = self.tree.name
        place, label, helps = self._falling_off()
        secondary: tuple[Label, ...] = ()
        if self.tree.returns is not None:
            secondary = (Label(self.tree.returns.span.whole, "return type declared here"),)
        self.report(
            "missing-return",
            f"`{name}` returns `{declared.python}`, but can reach its end without a `return`",
            place,
            label,
            torch="Function was not annotated as having type None, but does not return along all "
            "paths",
            torch_span=self.tree.span,
            secondary=secondary,
            helps=helps,
        )

    def _falling_off(self) -> tuple[Span, str, tuple[Help, ...]]:
        """The place of the path without a return: the last `if` that has no `else`."""
        last = self.tree.body[-1] if self.tree.body else None
        word = "if"
        while isinstance(last, tree.If):
            if not last.orelse:
                return (
                    _if_header(last),
                    "when this is false, nothing is returned",
                    (_raise_help(last, word),),
                )
            inner = last.orelse[-1]
            word = "elif" if len(last.orelse) == 1 else "if"
            if not isinstance(inner, tree.If):
                break
            last = inner
        span = last.span if last is not None else self.tree.name_span
        text = span.source.text
        end = text.find("\n", span.whole.start)
        end = min(span.end, end if end >= 0 else span.end)
        return Span(span.source, span.whole.start, end), "nothing is returned after this", ()


def _if_header(node: tree.If) -> Span:
    """`if test:` as written."""
    text = node.span.source.text
    colon = text.find(":", node.test.span.end)
    end = colon + 1 if colon >= 0 else node.test.span.end
    return Span(node.span.source, node.span.whole.start, end)


def _raise_help(node: tree.If, word: str) -> Help:
    source = node.span.source
    begin = source.line_starts[source.line_index(node.span.whole.start)]
    indent = " " * (node.span.whole.start - begin)
    message = '"no case applies"'
    test = node.test
    compared = isinstance(test, tree.Compare) and test.operators == ("==",)
    if compared and isinstance(test, tree.Compare) and isinstance(test.left, tree.Name):
        literal = test.rights[0]
        if isinstance(literal, tree.Literal) and isinstance(literal.value, str):
            message = f'"unknown {test.left.id}: " + {test.left.id}'
    added = f"{indent}else:\n{indent}    raise ValueError({message})\n"
    return Help("return or raise on the remaining path", (insert_line(node.span, added),))


def _is_mutable(node: tree.Expr) -> bool:
    return isinstance(node, tree.ListDisplay | tree.DictDisplay)
