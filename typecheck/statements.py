"""Statements: branches, loops, returns, and what holds after them."""

from __future__ import annotations

import builtins

from ..frontend import tree
from ..frontend.clock import checkpoint
from ..frontend.diagnostics import Label
from ..frontend.source import Span
from . import typed
from .elements import Elements
from .environment import Variable
from .functions import Function
from .iteration import Item
from .joins import Joins
from .matching import Given
from .names import ExceptionClass
from .narrowing import Condition, evaluated
from .relations import is_subtype, join
from .sugar import Closure, ExceptionValue
from .types import ANY, STRING, TENSOR, UNKNOWN, ClassType, Type

__all__ = ["Statements"]


class Statements(Joins, Elements):
    """Statements.

    `declared_return` is the annotated return type, or None; `returned` the join of what was
    returned so far, first at `returned_at`.
    """

    declared_return: Type | None = None
    returned: Type | None = None
    returned_inferred: bool = False
    returned_at: Span | None = None
    unrolled_depth: int = 0

    def block(self, statements: tuple[tree.Statement, ...]) -> tuple[typed.Statement, ...]:
        """Check statements in the current frame; what follows an exit is not looked at."""
        into: list[typed.Statement] = []
        for number, statement in enumerate(statements):
            if self.frame.exits:
                if number and not isinstance(statement, tree.Pass):
                    self.warn_unreachable(statement, statements[number - 1])
                break
            checkpoint()
            self.collector.at = statement.span
            self.statement(statement, into)
        return tuple(into)

    def statement(self, node: tree.Statement, into: list[typed.Statement]) -> None:
        """Check one statement."""
        match node:
            case tree.ExpressionStatement():
                self._evaluate(node, into)
            case tree.Assign():
                self.assign(node, into)
            case tree.AnnotatedAssign():
                self.annotated_assign(node, into)
            case tree.AugmentedAssign():
                self.augmented_assign(node, into)
            case tree.If():
                self.if_(node, into)
            case tree.While():
                self.while_(node, into)
            case tree.For():
                self.for_(node, into)
            case tree.Return():
                self.return_(node, into)
            case _:
                self._rare(node, into)

    def _rare(self, node: tree.Statement, into: list[typed.Statement]) -> None:
        match node:
            case tree.Raise():
                self.raise_(node, into)
            case tree.Assert():
                self.assertion(node, into)
            case tree.Delete():
                self.delete(node, into)
            case tree.Break() | tree.Continue():
                self._leave_loop(node, into)
            case tree.With():
                self.with_(node, into)
            case tree.LocalFunction():
                closure = Closure(node)
                self.define(Variable(node.name, None, node.span, sugar=closure))
            case tree.Pass():
                return
            case _:
                raise TypeError(f"unknown statement {type(node).__name__}")

    def _evaluate(self, node: tree.ExpressionStatement, into: list[typed.Statement]) -> None:
        if isinstance(node.value, tree.Literal):
            if node.value.value is ...:
                self.report(
                    "unsupported-syntax",
                    "`...` is no statement in script",
                    node.span,
                    "write `pass`",
                    torch="Cannot emit expr for: (dots)",
                )
            return
        self.discarded = node.value
        value = self.sugared(node.value)
        if isinstance(value, typed.Expr):
            self.warn_unused(node, value)
            into.append(typed.Evaluate(node.span, value))
        elif getattr(value, "torch_message", None) is not None:
            self.value(value, node.value.span)

    # ------------------------------------------------------------------------------ branches

    def if_(self, node: tree.If, into: list[typed.Statement]) -> None:
        """`if`; only one branch is checked if the condition is decided now."""
        self.direct = node.test, node.span
        condition = self.condition(node.test)
        if condition.static is not None:
            self._static_if(node, condition, into)
            return
        with self.new_frame() as true:
            refined = self.refine(condition.if_true, node.span)
            body = refined + self.block(node.body)
        with self.new_frame() as false:
            refined = self.refine(condition.if_false, node.span)
            orelse = refined + self.block(node.orelse)
        has_else = bool(node.orelse)
        joins = self.join_branches(node.span, node.test.span, true, false, has_else=has_else)
        into.append(typed.If(node.span, condition.value, body, orelse, joins))

    def _static_if(self, node: tree.If, condition: Condition, into: list[typed.Statement]) -> None:
        into.extend(evaluated(condition.value))
        facts = condition.if_true if condition.static else condition.if_false
        into.extend(self.refine(facts, node.span))
        into.extend(self.block(node.body if condition.static else node.orelse))

    def assertion(self, node: tree.Assert, into: list[typed.Statement]) -> None:
        """`assert test, message` is `if test: pass` with an `else` that raises."""
        self.direct = node.test, node.span
        condition = self.condition(node.test)
        with self.new_frame() as true:
            body: tuple[typed.Statement, ...] = ()
            if condition.static is not False:
                body = self.refine(condition.if_true, node.span)
        with self.new_frame() as false:
            refined = self.refine(condition.if_false, node.span)
            orelse = (*refined, self._failure(node))
            false.exits = True
        if condition.static is None:
            joins = self.join_branches(node.span, node.test.span, true, false)
            into.append(typed.If(node.span, condition.value, body, orelse, joins))
            return
        into.extend(evaluated(condition.value))
        if condition.static:
            into.extend(self.refine(condition.if_true, node.span))
        else:
            into.extend(orelse)
            self.frame.exits = True

    def _failure(self, node: tree.Assert) -> typed.Raise:
        """The message is joined from "AssertionError: " and the text, as torch does."""
        span = node.span
        message: typed.Expr = typed.Literal(span, STRING, "")
        if node.message is not None:
            message = self.expression(node.message)
            if message.type != STRING:
                message = self.call_operator("aten::str", Given([message]), span, written="str")
        return typed.Raise(span, self._assertion_text(message, span), None)

    def _assertion_text(self, message: typed.Expr, span: Span) -> typed.Expr:
        before: list[typed.Statement] = []
        message = self.let(message, before)  # torch, too, makes the message before what leads it
        start = typed.Literal(span, STRING, "AssertionError: ")
        text = self.call_operator("aten::add", Given([start, message]), span, written="+")
        return typed.Sequenced(span, text.type, tuple(before), text)

    # --------------------------------------------------------------------------------- loops

    def while_(self, node: tree.While, into: list[typed.Statement]) -> None:
        """`while`; what the condition says of variables does not hold in the body, as in torch."""
        with self.new_frame():
            condition = self.condition(node.test)
        with self.new_frame(is_loop=True) as frame, self._run_time_loop():
            body = self.block(node.body)
        carried = self.carried(frame, node.span)
        into.append(typed.While(node.span, condition.value, body, carried))

    def for_(self, node: tree.For, into: list[typed.Statement]) -> None:
        """`for`; a loop over a tuple is unrolled."""
        self.direct = node.iterable, node.span
        iterated = self.iterated(self.sugared(node.iterable), node.span)
        if isinstance(iterated, typed.Expr) and iterated.type is UNKNOWN:
            self._check_body_only(node)
            return
        rows = self.unrolled(iterated, into, node.span)
        if rows is not None:
            self._unrolled_for(node, rows, into)
            return
        control, item = self.iterable(iterated, node.span)
        with self.new_frame(is_loop=True) as frame, self._run_time_loop():
            prelude: list[typed.Statement] = []
            self.assign_target(node.target, item, node.span, prelude)
            body = (*prelude, *self.block(node.body))
        into.append(typed.For(node.span, control, body, self.carried(frame, node.span)))

    def _check_body_only(self, node: tree.For) -> None:
        """The iterable is wrong; the body is checked for errors of its own."""
        with self.new_frame(is_loop=True) as frame, self._run_time_loop():
            self.assign_target(node.target, self.unknown(node.span), node.span, [])
            self.block(node.body)
        self.carried(frame, node.span)

    def _unrolled_for(self, node: tree.For, rows: list[Item], into: list[typed.Statement]) -> None:
        self.unrolled_depth += 1
        for number, row in enumerate(rows):
            if self.frame.exits:
                break
            into.append(self.turn_number(number, node.span))
            self.assign_target(node.target, row, node.span, into)
            into.extend(self.block(node.body))
        self.unrolled_depth -= 1

    def _run_time_loop(self) -> _Depth:
        return _Depth(self)

    def _leave_loop(self, node: tree.Break | tree.Continue, into: list[typed.Statement]) -> None:
        word = "break" if isinstance(node, tree.Break) else "continue"
        if self.unrolled_depth:
            self.report(
                "unsupported-syntax",
                f"`{word}` cannot leave a loop over a tuple, which is unrolled",
                node.span,
                "not possible here",
                torch="Because we emit iteration over modulelists or tuples as unrolled loops, we "
                "do not support break or continue inside the body of these loops",
            )
        elif not self.frame.is_inside_loop():
            self.report(
                "unsupported-syntax",
                f"`{word}` outside of a loop",
                node.span,
                "no loop around it",
                torch=f"SyntaxError: '{word}' outside loop",
            )
        else:
            statement = typed.Break if word == "break" else typed.Continue
            into.append(statement(node.span))

    # --------------------------------------------------------------------------------- exits

    def return_(self, node: tree.Return, into: list[typed.Statement]) -> None:
        """`return value`, converted to the declared type."""
        if node.value is None:
            value = self.none(node.span)
        else:
            value = self.expression(node.value, self.declared_return)
        into.append(self.returning(value, node))

    def returning(self, value: typed.Expr, node: tree.Return) -> typed.Return:
        """A return statement of a value already checked."""
        self.frame.exits = True
        declared = self.declared_return
        if declared is not None:
            value = self.convert(value, declared, node.span)
            if not is_subtype(value.type, declared):
                self._report_return(value, declared, node)
            self.returned = declared
        else:
            merged = value.type if self.returned is None else join(self.returned, value.type)
            if merged is None:
                self._report_returns(value, node)
                merged = UNKNOWN
            if self.returned is None:
                self.returned_inferred = self.torch_type(value) == "Tensor (inferred)"
                self.returned_at = node.span
            self.returned = merged
        if self.returned is ANY:
            value = self.as_any(value, ANY)
        return typed.Return(node.span, value)

    def _report_return(self, value: typed.Expr, declared: Type, node: tree.Return) -> None:
        place = node.value.span if node.value is not None else node.span
        secondary: list[Label] = []
        if self.tree.returns is not None:
            secondary.append(Label(self.tree.returns.span.whole, "declared here"))
        secondary.extend(self.origin(value))
        self.report(
            "return-type",
            f"`{self.tree.name}` returns `{declared.python}`, not `{value.type.python}`",
            place,
            f"`{value.type.python}`",
            torch=f"Return value was annotated as having type {declared.annotation_str} but is "
            f"actually of type {self.torch_type(value)}",
            torch_span=node.span,
            secondary=tuple(secondary),
        )

    def _report_returns(self, value: typed.Expr, node: tree.Return) -> None:
        assert self.returned is not None
        place = node.value.span if node.value is not None else node.span
        inferred = self.returned_inferred and self.returned == TENSOR
        before = "Tensor (inferred)" if inferred else self.returned.annotation_str
        first: list[Label] = []
        if self.returned_at is not None:
            first = [Label(self.returned_at.whole, f"returns `{self.returned.python}`")]
        self.report(
            "return-type",
            f"`{self.tree.name}` returned `{self.returned.python}` before, "
            f"but here `{value.type.python}`",
            place,
            f"`{value.type.python}`",
            torch=f"Previous return statement returned a value of type {before} but this return "
            f"statement returns a value of type {self.torch_type(value)}",
            torch_span=node.span,
            secondary=(*first, *self.origin(value)),
        )

    def raise_(self, node: tree.Raise, into: list[typed.Statement]) -> None:
        """`raise Class(message)` or `raise Class`."""
        self.frame.exits = True
        span = node.span
        made = self._exception(node)
        if made is None:
            into.append(typed.Raise(span, typed.Literal(span, STRING, ""), None))
            return
        message = made.message
        if message.type not in (STRING, UNKNOWN):
            message = self.call_operator("aten::str", Given([message]), span, written="str")
        if made.qualified_name == "builtins.AssertionError":  # told as a failed assert is
            into.append(typed.Raise(span, self._assertion_text(message, span), None))
            return
        into.append(typed.Raise(span, message, made.qualified_name, made.span))

    def _exception(self, node: tree.Raise) -> ExceptionValue | None:
        """The exception that is raised; None for a bare class or after an error."""
        raised = node.exception
        if raised is None:
            self._report_raise(node.span, "nothing is raised here")
            return None
        function = raised.function if isinstance(raised, tree.Call) else raised
        name = builtin_exception(function)
        if name is None:
            sugar = self.sugared(raised)
            if isinstance(sugar, ExceptionValue):
                return sugar
            known = isinstance(sugar, ExceptionClass)
            if not known and not (isinstance(sugar, typed.Expr) and sugar.type is UNKNOWN):
                self._report_raise(raised.span, "not an exception")
            return None
        if not isinstance(raised, tree.Call):
            return None
        given = self.arguments(raised, [])
        made = self.make_exception(ExceptionClass(f"builtins.{name}"), given, raised)
        return made if isinstance(made, ExceptionValue) else None

    def _report_raise(self, span: Span, label: str) -> None:
        self.report(
            "unsupported-syntax",
            "only an exception can be raised",
            span,
            label,
            torch="exceptions must derive from BaseException",
        )

    # ---------------------------------------------------------------------------------- with

    def with_(self, node: tree.With, into: list[typed.Statement]) -> None:
        """`with context as name:`; the variables of its body are those of the block around it."""
        contexts = tuple(c for item in node.items if (c := self._context(item)) is not None)
        body = self.block(node.body)
        into.append(typed.With(node.span, contexts, body))

    def _context(self, item: tree.WithItem) -> typed.WithContext | None:
        value = self.expression(item.context)
        if value.type is UNKNOWN:
            return None
        enter = self._context_methods(value, item)
        if enter is None:
            return None
        signature = self.signature_of(enter, item.context, item.context.span)
        if signature is None:
            return None
        if len(signature.arguments) != 1:
            self._report_context(
                item,
                "`__enter__` takes nothing but the object",
                "__enter__ must have only one argument and one return value",
            )
            return None
        target: str | None = None
        if item.target is not None and not isinstance(item.target, tree.Name):
            self.report(
                "unsupported-syntax",
                "`as` of a `with` needs one name",
                item.target.span,
                "not a name",
                torch="__init__(): incompatible constructor arguments. The following argument "
                "types are supported: 1. torch._C._jit_tree_views.WithItem",
            )
        if isinstance(item.target, tree.Name):
            target = item.target.id
            type = signature.returns[0].type
            self.assign_name(item.target, typed.Uninitialized(item.span, type), [])
        return typed.WithContext(item.span, value, signature, target)

    def _context_methods(self, value: typed.Expr, item: tree.WithItem) -> Function | None:
        """`__enter__` of what a `with` enters, if it can be entered and left."""
        cls = value.type
        if not isinstance(cls, ClassType):
            torch = "With item expression must return an object"
            self._report_context(item, f"`{cls.python}` is no context manager", torch)
            return None
        enter, leave = cls.method("__enter__"), cls.method("__exit__")
        if enter is None or leave is None:
            torch = (
                "Object returned by with item expression does not define __enter__ and __exit__ "
                "methods"
            )
            self._report_context(item, f"`{cls.python}` is no context manager", torch)
            return None
        left = self.signature_of(leave, item.context, item.context.span)
        if left is None:
            return None
        types = [argument.type for argument in left.arguments]
        odd = next((i for i, type in enumerate(types) if i and type is not ANY), None)
        if len(types) != 4:
            torch = "__exit__ must have four arguments"
            self._report_context(item, "`__exit__` takes three arguments besides the object", torch)
        elif odd is not None:
            torch = (
                f"argument {odd} of __exit__ must have Any type; TorchScript does not currently "
                "support passing exception type, value, or traceback to the __exit__ function."
            )
            self._report_context(
                item, "the arguments of `__exit__` must be annotated as Any", torch
            )
        else:
            return enter
        return None

    def _report_context(self, item: tree.WithItem, message: str, torch: str) -> None:
        self.report(
            "argument-type",
            message,
            item.context.span,
            "it needs `__enter__(self)` and `__exit__(self, t: Any, value: Any, traceback: Any)`",
            torch=torch,
        )


class _Depth:
    """Inside a loop that runs, `break` is allowed again."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements
        self._depth = 0

    def __enter__(self) -> None:
        self._depth, self._statements.unrolled_depth = self._statements.unrolled_depth, 0

    def __exit__(self, *_: object) -> None:
        self._statements.unrolled_depth = self._depth


def builtin_exception(node: tree.Expr) -> str | None:
    """The name of a builtin exception class, if that is what is written."""
    if not isinstance(node, tree.Name):
        return None
    found = getattr(builtins, node.id, None)
    if isinstance(found, type) and issubclass(found, BaseException):
        return node.id
    return None
