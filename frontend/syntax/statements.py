"""Statements of Python's `ast` to the tree's."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..foundations.made_once import made_once
from ..limits.clock import checkpoint
from ..sources.source import Span
from . import tree
from .expressions import BINARY, ExpressionConverter
from .ignored_blocks import call_of_block
from .torch_ranges import whole_end
from .unsupported import construct_of, describe

__all__ = ["StatementConverter"]

AUGMENTED = {"+", "-", "*", "/", "%", "|", "&", "^", "<<", ">>", "**"}


class StatementConverter(ExpressionConverter):
    """Makes tree statements of `ast` statements; what TorchScript lacks is reported and dropped.

    `in_constructor` says that the statements are those of an `__init__`; `at` is the one whose
    turn it is.
    """

    in_constructor = False
    function_name = ""
    at: ast.stmt | None = None

    @made_once
    def has_walrus(self) -> bool:
        """Whether the text may have `:=`."""
        return ":=" in self.source.text

    def statements(self, nodes: list[ast.stmt]) -> tuple[tree.Statement, ...]:
        converted: list[tree.Statement | None] = []
        for node in nodes:
            checkpoint()
            self.at = node
            if self.has_walrus:
                converted.append(self.walrus_names(node))
            converted.append(self.statement(node))
        return tuple(statement for statement in converted if statement is not None)

    def walrus_names(self, node: ast.stmt) -> tree.Statement | None:
        """The names that `:=` in a statement would bind, as names bound to an error."""
        if isinstance(node, ast.If | ast.While | ast.For | ast.With | ast.FunctionDef):
            return None  # the statements in it have their turn
        found = [inner for inner in ast.walk(node) if isinstance(inner, ast.NamedExpr)]
        if not found:
            return None
        span = self.span(found[0])
        targets = tuple(tree.Name(self.span(each.target), each.target.id) for each in found)
        return tree.Assign(span, targets, tree.Name(span, tree.ERROR_NAME))

    def statement(self, node: ast.stmt) -> tree.Statement | None:
        """The tree of a statement; None if there is none."""
        match node:
            case ast.Assign():
                return self.assign(node)
            case ast.AnnAssign():
                return self.annotated_assign(node)
            case ast.AugAssign():
                return self.augmented_assign(node)
            case ast.Expr():
                value = self.expression(node.value)
                span = self.span(node, start=value.span.start, torch_end=whole_end(value))
                return tree.ExpressionStatement(span, value)
            case ast.Return():
                result = self.expression(node.value) if node.value else None
                return tree.Return(self.keyword(node, "return", result), result)
            case ast.If() | ast.While() | ast.For() | ast.With():
                return self.compound(node)
            case _:
                return self.simple(node)

    def simple(self, node: ast.stmt) -> tree.Statement | None:
        match node:
            case ast.Pass():
                return tree.Pass(self.span(node))
            case ast.Break():
                return tree.Break(self.span(node))
            case ast.Continue():
                return tree.Continue(self.span(node))
            case ast.Raise():
                if node.exc is None:
                    self.drop("Raise.bare", node)
                    return None
                exception = self.expression(node.exc)
                return tree.Raise(self.keyword(node, "raise", exception), exception)
            case ast.Assert():
                test = self.expression(node.test)
                message = self.expression(node.msg) if node.msg else None
                return tree.Assert(self.keyword(node, "assert", test, message), test, message)
            case ast.Delete():
                targets = self.expressions(node.targets)
                return tree.Delete(self.keyword(node, "del", *targets), targets)
            case ast.FunctionDef() if self.is_text:
                return tree.LocalFunction(self.span(node), node.name, self.statements(node.body))
            case _:
                self.drop(type(node).__name__, node)
                return self.remains(node)

    def remains(self, node: ast.stmt) -> tree.Statement | None:
        """What a dropped statement leaves: its names are bound to an error, which silences what
        follows from their absence; a `return` in it may still have been taken."""
        names = list(dict.fromkeys(_bound_in(node)))
        span = self.span(node)
        error = tree.Name(span, tree.ERROR_NAME)
        if any(isinstance(inner, ast.Return) for inner in _own_nodes(node)):
            after: tuple[tree.Statement, ...] = ()
            if names:
                after = (tree.Assign(span, tuple(tree.Name(span, n) for n in names), error),)
            return tree.If(span, error, (tree.Return(span, error),), after)
        if not names:
            return None
        return tree.Assign(span, tuple(tree.Name(span, name) for name in names), error)

    def compound(self, node: ast.If | ast.While | ast.For | ast.With) -> tree.Statement | None:
        match node:
            case ast.If():
                return self.if_(node)
            case ast.While():
                if node.orelse:
                    self.drop("While.orelse", node)
                test = self.expression(node.test)
                body = self.statements(node.body)
                return tree.While(self.block_span(node, "while", (test,), body), test, body)
            case ast.For():
                if node.orelse:
                    self.drop("For.orelse", node)
                target = self.expression(node.target)
                iterable = self.expression(node.iter)
                body = self.statements(node.body)
                span = self.block_span(node, "for", (target, iterable), body)
                if self.is_text and self._is_bare(node.iter):
                    key = "For.iter"
                    self.collector.add(
                        describe(construct_of(key), span, self.where, torch_span=span)
                    )
                return tree.For(span, target, iterable, body)
            case ast.With():
                return self.with_(node)

    # ------------------------------------------------------------------------------ places

    def keyword(self, node: ast.stmt, word: str, *parts: tree.Expr | None) -> Span:
        """The span of a statement of which torch marks a keyword and the parts after it."""
        ends = [whole_end(part) for part in parts if part is not None]
        return self.span(node, torch_end=max([self.positions.start(node) + len(word), *ends]))

    def block_span(
        self,
        node: ast.stmt,
        word: str,
        parts: tuple[tree.Expr, ...],
        body: tuple[tree.Statement, ...],
    ) -> Span:
        """The span of a statement with a block, all of which torch marks."""
        ends = [whole_end(part) for part in parts]
        ends.extend(statement.span.torch_end for statement in body)
        return self.span(node, torch_end=max([self.positions.start(node) + len(word), *ends]))

    def _is_bare(self, node: ast.expr) -> bool:
        """Whether a tuple stands without parentheses."""
        start = self.positions.start(node)
        return isinstance(node, ast.Tuple) and self.source.text[start] != "("

    def drop(self, key: str, node: ast.stmt, **details: str) -> None:
        """Report a statement that TorchScript does not have; its first line is marked."""
        start = self.positions.start(node)
        body = getattr(node, "body", None)
        if isinstance(body, list) and body:
            end = self.positions.after_header(start, body)
        else:
            end = min(self.positions.end(node), self.line_end(start))
        construct = construct_of(key)
        torch = self.torch_width(node, construct.width) if construct.width else None
        place = Span(self.source, start, end)
        self.collector.add(describe(construct, place, self.where, torch_span=torch, **details))

    def line_end(self, start: int) -> int:
        end = self.source.text.find("\n", start)
        return end if end >= 0 else len(self.source.text)

    # --------------------------------------------------------------------------- assignment

    def assign(self, node: ast.Assign) -> tree.Statement:
        value = self.expression(node.value)
        targets = self.expressions(node.targets)
        span = self.span(node, start=targets[0].span.start, torch_end=whole_end(value))
        return tree.Assign(span, targets, value)

    def annotated_assign(self, node: ast.AnnAssign) -> tree.Statement | None:
        if node.value is None:
            self.drop("AnnAssign", node)
            return None
        if self.is_attribute_of_self(node.target) and not self.in_constructor:
            self.refuse_attribute_annotation(node)
            return None
        value = self.expression(node.value)
        target = self.expression(node.target)
        annotation = self.annotation(node.annotation)
        span = self.span(node, start=target.span.start, torch_end=whole_end(value))
        return tree.AnnotatedAssign(span, target, annotation, value)

    @staticmethod
    def is_attribute_of_self(target: ast.expr) -> bool:
        return (
            isinstance(target, ast.Attribute)
            and isinstance(target.value, ast.Name)
            and target.value.id == "self"
        )

    def refuse_attribute_annotation(self, node: ast.AnnAssign) -> None:
        assert isinstance(node.target, ast.Attribute)
        width = len(f"self.{node.target.attr}")
        if isinstance(node.annotation, ast.Name):
            width += len(f": {node.annotation.id}")
        self.collector.add(
            describe(
                construct_of("attribute-annotation"),
                Span(self.source, self.positions.start(node), self.positions.end(node.annotation)),
                self.where,
                torch_span=self.torch_width(node, width),
                torch="Type annotations on instance attributes must be declared in __init__, "
                f"not '{self.function_name}': SourceRange at",
            )
        )

    def augmented_assign(self, node: ast.AugAssign) -> tree.Statement | None:
        target = self.expression(node.target)
        value = self.expression(node.value)
        operator = BINARY[type(node.op)]
        if operator not in AUGMENTED:
            self.refuse_augmented(node, target, operator, value)
            return None
        span = self.span(node, start=target.span.start, torch_end=whole_end(value))
        return tree.AugmentedAssign(span, target, operator, value)

    def refuse_augmented(
        self, node: ast.AugAssign, target: tree.Expr, operator: str, value: tree.Expr
    ) -> None:
        equals = self.source.text.rfind("=", 0, value.span.start)
        place = Span(self.source, equals - len(operator), equals + 1)
        self.collector.add(
            describe(
                construct_of("AugAssign"),
                place,
                self.where,
                torch_span=Span(self.source, equals - 1, equals + 1),
                detail=type(node.op).__name__,
                target=target.span.text,
                operator=operator,
                value=value.span.text,
            )
        )

    # ------------------------------------------------------------------------------- blocks

    def if_(self, node: ast.If) -> tree.Statement:
        # `elif` nests one `If` in the last; a long ladder must not nest the calls here.
        ladder = [node]
        tests = [self.expression(node.test)]
        bodies = [self.statements(node.body)]
        while (after := self._elif(ladder[-1])) is not None:
            ladder.append(after)
            tests.append(self.expression(after.test))
            bodies.append(self.statements(after.body))
        orelse = self.statements(ladder[-1].orelse)
        for part, test, body in zip(
            reversed(ladder), reversed(tests), reversed(bodies), strict=True
        ):
            span = self.block_span(part, "if", (test,), body + orelse)
            result = tree.If(span, test, body, orelse)
            orelse = (result,)
        return result

    @staticmethod
    def _elif(node: ast.If) -> ast.If | None:
        if len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
            return node.orelse[0]
        return None

    def with_(self, node: ast.With) -> tree.Statement | None:
        if _is_ignore_context(node.items[0].context_expr):
            return self.ignored_block(node)
        items = tuple(self.with_item(item) for item in node.items)
        body = self.statements(node.body)
        ends = [self.positions.start(node) + len("with")]
        ends.extend(item.span.torch_end for item in items)
        ends.extend(statement.span.torch_end for statement in body)
        return tree.With(self.span(node, torch_end=max(ends)), items, body)

    def ignored_block(self, node: ast.With) -> tree.Statement | None:
        """A block left to Python: the call of a function that holds it."""
        source = self.source
        try:
            call = call_of_block(node, source.filename or "<unknown>", source.first_line)
        except ValueError:
            self.drop("IgnoreContext", node)
            return self.remains(node)
        return self.statement(call)

    def with_item(self, node: ast.withitem) -> tree.WithItem:
        context = self.expression(node.context_expr)
        target = self.expression(node.optional_vars) if node.optional_vars else None
        last = context if target is None else target
        # Torch counts the letters of "with statements" here, whatever the text is.
        torch_end = max(context.span.start + len("with statements"), whole_end(last))
        span = Span(self.source, context.span.start, last.span.end, torch_end)
        return tree.WithItem(span, context, target)


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """A node and all in it that belongs to the same function."""
    yield node
    if isinstance(node, (*_DEFINITIONS, ast.Lambda)):
        return
    for inner in ast.iter_child_nodes(node):
        yield from _own_nodes(inner)


def _bound_in(node: ast.stmt) -> Iterator[str]:
    """The names that a statement binds in its function."""
    for inner in _own_nodes(node):
        if isinstance(inner, _DEFINITIONS):
            yield inner.name
        elif isinstance(inner, ast.Global | ast.Nonlocal):
            yield from inner.names
        elif isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
            yield inner.id
        elif isinstance(inner, ast.alias):
            yield inner.asname or inner.name.partition(".")[0]
        elif isinstance(inner, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and inner.name:
            yield inner.name
        elif isinstance(inner, ast.MatchMapping) and inner.rest:
            yield inner.rest


def _is_ignore_context(context: ast.expr) -> bool:
    """Whether this is `torch.jit._IgnoreContextManager(...)`."""
    return isinstance(context, ast.Call) and ast.unparse(context.func) == (
        "torch.jit._IgnoreContextManager"
    )
