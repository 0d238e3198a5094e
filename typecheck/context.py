"""What every part of the checker shares: the tables it was handed, the scope, its reports."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..frontend import tree
from ..frontend.diagnostics import Collector, Diagnostic, Edit, Help, Label
from ..frontend.near_miss import near_misses
from ..frontend.source import Span
from . import typed
from .annotations import AnnotationReader
from .environment import Frame, Variable
from .functions import Function
from .globals import global_helps, global_labels, global_notes
from .names import Constant, FunctionName, Resolver, Unusable
from .schema import OperatorTable
from .signature_text import expected_text
from .sugar import BoundMethod, BoundOperator, Sugar, describe
from .types import NONE, TENSOR, UNKNOWN, ClassType, FunctionType, Type

__all__ = ["Context"]


class Context:
    """The state of checking one function.

    `sliced` are the temporaries that hold modules out of a slice, which torch cannot call.
    `definitions` are the places where names were first defined, `checked_attributes` the tests of
    attributes against None with the attribute in them, by its text; both for messages.  `told`
    are the attributes that were reported once, which is enough.  `direct` is
    an expression that a statement looks at itself, and the statement: for torch, what such a call
    compiles is compiled for the statement.  `remainders` counts the `%` met so far.

    The parts of the checker are classes that build on each other in one line of inheritance;
    `expression`, `sugared` and `block` are given their meaning by later ones.
    """

    def __init__(
        self,
        function: Function,
        resolver: Resolver,
        table: OperatorTable,
        collector: Collector,
        self_type: ClassType | None,
    ) -> None:
        assert function.tree is not None
        self.function = function
        self.tree = function.tree
        self.resolver = resolver
        self.table = table
        self.collector = collector
        self.self_type = self_type
        name = self.tree.name
        if self_type is None:
            self.where = f"in function `{name}`"
        else:
            self.where = f"in method `{self_type.name}.{name}`"
        is_text = function.is_text or self.tree.types_are_text
        self.annotations = AnnotationReader(resolver, collector, self.where, is_text=is_text)
        self.frame = Frame()
        self.definitions: dict[str, Span] = {}
        self.checked_attributes: dict[str, tuple[Span, Span]] = {}
        self.told: set[tuple[str, str]] = set()
        self.direct: tuple[tree.Expr, Span] | None = None
        self.remainders = 0
        self._temporaries = 0
        self.sliced: set[int] = set()
        self.discarded: tree.Expr | None = None
        """The expression that is a statement, whose value nobody asks for."""

    # ------------------------------------------------------------- given by later classes

    def expression(self, node: tree.Expr, hint: Type | None = None) -> typed.Expr:
        """The typed form of an expression that must be a value."""
        raise NotImplementedError

    def sugared(self, node: tree.Expr, hint: Type | None = None) -> Sugar:
        """What an expression stands for, a value or not."""
        raise NotImplementedError

    def local_function(self, node: tree.LocalFunction) -> typed.TypedFunction:
        """A function inside this one; what it reads from around it are its parameters."""
        raise NotImplementedError

    def block(self, statements: tuple[tree.Statement, ...]) -> tuple[typed.Statement, ...]:
        """Check statements in the current frame."""
        raise NotImplementedError

    # ------------------------------------------------------------------------- small tools

    def meaning(self, node: tree.Expr) -> object:
        """What a dotted name stands for, without a report if it stands for nothing."""
        if isinstance(node, tree.Name):
            return self.resolver.lookup(node.id, node.span)
        if isinstance(node, tree.Attribute):
            member = getattr(self.meaning(node.value), "member", None)
            return member(node.name, node.name_span) if member is not None else None
        return None

    def temporary(self) -> int:
        """A fresh index for `Let`, `Unpack` or an iterable."""
        self._temporaries += 1
        return self._temporaries - 1

    def let(
        self, value: typed.Expr, into: list[typed.Statement], *, always: bool = False
    ) -> typed.Expr:
        """A name for a value that is used more than once or out of order.

        Reads of variables need none; they are returned as they are unless `always` is set.
        """
        if isinstance(value, typed.Local | typed.Temporary) and not always:
            return value
        index = self.temporary()
        into.append(typed.Let(value.span, index, value))
        return typed.Temporary(value.span, value.type, index)

    @contextmanager
    def new_frame(self, *, is_loop: bool = False) -> Iterator[Frame]:
        """A frame for a block, while it is checked."""
        frame = Frame(self.frame, is_loop)
        self.frame = frame
        try:
            yield frame
        finally:
            assert frame.parent is not None
            self.frame = frame.parent

    def define(self, variable: Variable) -> None:
        """Put a variable into the current frame."""
        self.frame.define(variable)
        if variable.span is not None:
            self.definitions.setdefault(variable.name, variable.span)

    def unknown(self, span: Span) -> typed.Expr:
        """What stands for an expression with an error."""
        return typed.Uninitialized(span, UNKNOWN)

    def none(self, span: Span) -> typed.Expr:
        return typed.Literal(span, NONE, None)

    # --------------------------------------------------------------------------- reporting

    def report(
        self,
        code: str,
        message: str,
        span: Span,
        label: str,
        *,
        torch: str,
        torch_span: Span | None = None,
        secondary: tuple[Label, ...] = (),
        notes: tuple[str, ...] = (),
        helps: tuple[Help, ...] = (),
        exception: str = "RuntimeError",
    ) -> None:
        """Add a diagnostic."""
        self.collector.add(
            Diagnostic(
                code,
                message,
                Label(span.whole, label),
                self.where,
                secondary=tuple(dict.fromkeys(secondary)),
                notes=notes,
                helps=helps,
                torch_message=torch,
                torch_span=torch_span if torch_span is not None else span,
                demands=tuple(self.collector.demands),
                exception=exception,
            )
        )

    def near(self, name: str, candidates: list[str], span: Span) -> tuple[Help, ...]:
        """Helps that replace a name by ones like it."""
        return tuple(
            Help(f"did you mean `{close}`?", (Edit(span.whole, close),), "machine")
            for close in near_misses(name, candidates)
        )

    def declared_label(self, name: str, text: str) -> tuple[Label, ...]:
        """A label at the definition of a variable, if that is known."""
        span = self.definitions.get(name)
        return (Label(span.whole, text),) if span is not None else ()

    def torch_type(self, value: typed.Expr) -> str:
        """How torch names the type of a value: an unannotated parameter is only inferred."""
        if isinstance(value, typed.Local) and value.type == TENSOR:
            variable = self.frame.find(value.name)
            if variable is not None and variable.inferred:
                return "Tensor (inferred)"
        return expected_text(value.type)

    # ------------------------------------------------------------------------------ values

    def value(self, sugar: Sugar, span: Span) -> typed.Expr:
        """The first-class value of what an expression stands for; an error if it has none."""
        if isinstance(sugar, typed.Expr):
            return sugar
        if isinstance(sugar, Constant):
            return typed.Literal(span, sugar.type, sugar.value)
        if isinstance(sugar, FunctionName):
            return typed.Literal(span, FunctionType(sugar.function), sugar.function)
        if isinstance(sugar, Unusable):
            self.report(
                sugar.code,
                sugar.message.replace("{name}", span.text) or f"`{span.text}` cannot be used here",
                span,
                "used here",
                torch=sugar.torch_message,
                secondary=global_labels(sugar),
                notes=global_notes(sugar),
                helps=global_helps(sugar, span, self.tree),
                exception=sugar.exception,
            )
            return self.unknown(span)
        if isinstance(sugar, BoundOperator | BoundMethod):
            self.report(
                "argument-type",
                f"`{span.text}` is a method, and no value until it is called",
                span,
                "not called",
                torch=f"{describe(sugar)} cannot be used as a value",
                helps=(Help("call it", (Edit(_after(span), "()"),)),),
            )
            return self.unknown(span)
        word = describe(sugar)
        self.report(
            "argument-type",
            f"`{span.text}` is not a value",
            span,
            f"this is a {word}",
            torch=f"{word} cannot be used as a value",
            torch_span=called(span),
        )
        return self.unknown(span)


def called(span: Span) -> Span:
    """What torch underlines of a call whose result is no value: all but the last parenthesis."""
    if not span.text.endswith(")"):
        return span
    return Span(span.source, span.start, span.end - 1)


def _after(span: Span) -> Span:
    """The place just past a span."""
    return Span(span.source, span.end, span.end)
