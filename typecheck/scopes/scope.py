"""The state of checking one function: what is in scope, the tables it was handed, its reports."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ...frontend.diagnostics.diagnostics import Collector, Diagnostic, Edit, Help, Label
from ...frontend.diagnostics.near_miss import near_misses
from ...frontend.sources.source import Span
from ...frontend.syntax import tree
from ..definitions.functions import Function
from ..definitions.names import Resolver, meaning_of
from ..definitions.schema import OperatorTable
from ..definitions.signature_text import expected_text
from ..trees import typed
from ..types.types import NONE, TENSOR, UNKNOWN, NamedType, Type
from .annotations import AnnotationReader
from .environment import Frame, Variable

__all__ = ["Scope"]


class Scope:
    """What every check needs: the checks themselves are functions over it (`dispatch`).

    `definitions` are the places where names were first defined, `checked_attributes` the tests of
    attributes against None with the attribute in them, by its text; both for messages.  `told`
    are the attributes that were reported once, which is enough.

    `direct` is an expression that a statement looks at itself, and the statement: for torch, what
    such a call compiles is compiled for the statement.  `discarded` is the expression that is a
    statement, whose value nobody asks for.  `sliced` are the temporaries that hold modules out of
    a slice, which torch cannot call, `picked` what was indexed out of one.  `remainders` counts the
    `%` met so far, `unrolled_depth` the unrolled loops around what is checked.

    `declared_return` is the annotated return type, or None; `returned` the join of what was
    returned so far, first at `returned_at`.
    """

    def __init__(
        self,
        function: Function,
        resolver: Resolver,
        table: OperatorTable,
        collector: Collector,
        self_type: NamedType | None,
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
        self.temporaries = 0
        self.definitions: dict[str, Span] = {}
        self.checked_attributes: dict[str, tuple[Span, Span]] = {}
        self.told: set[tuple[str, str]] = set()
        self.direct: tuple[tree.Expr, Span] | None = None
        self.discarded: tree.Expr | None = None
        self.sliced: set[int] = set()
        self.picked: list[typed.Expr] = []
        self.remainders = 0
        self.unrolled_depth = 0
        self.declared_return: Type | None = None
        self.returned: Type | None = None
        self.returned_inferred = False
        self.returned_at: Span | None = None

    # ------------------------------------------------------------------------------- names

    def meaning(self, node: tree.Expr) -> object:
        """What a dotted name stands for, without a report if it stands for nothing."""
        return meaning_of(self.resolver, node)

    def temporary(self) -> int:
        """A fresh index for `Let`, `Unpack` or an iterable."""
        self.temporaries += 1
        return self.temporaries - 1

    def let(self, value: typed.Expr, into: list[typed.Statement]) -> typed.Expr:
        """A name for a value that is used more than once or out of order, if it has none."""
        if isinstance(value, typed.Temporary):
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

    @contextmanager
    def loop_body(self) -> Iterator[Frame]:
        """A frame for the body of a loop that runs, where `break` is allowed again."""
        depth, self.unrolled_depth = self.unrolled_depth, 0
        try:
            with self.new_frame(is_loop=True) as frame:
                yield frame
        finally:
            self.unrolled_depth = depth

    def define(self, variable: Variable) -> None:
        """Put a variable into the current frame."""
        self.frame.define(variable)
        if variable.span is not None:
            self.definitions.setdefault(variable.name, variable.span)

    def unknown(self, span: Span) -> typed.Expr:
        """What stands for an expression with an error."""
        return typed.Uninitialized(span, UNKNOWN)

    def none(self, span: Span) -> typed.Expr:
        """The constant None."""
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
        is_early: bool = False,
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
                is_early=is_early,
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
        variable = self.frame.read_by(value)
        if variable is not None and variable.inferred and value.type == TENSOR:
            return "Tensor (inferred)"
        return expected_text(value.type)
