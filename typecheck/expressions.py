"""Expressions: one method for each form of the syntax tree."""

from __future__ import annotations

from dataclasses import replace

from ..frontend import tree
from ..frontend.clock import checkpoint
from ..frontend.diagnostics import Label
from ..frontend.source import UNKNOWN as NOWHERE
from ..frontend.source import Span
from . import typed
from .displays import Displays
from .environment import Problem
from .literals import LARGEST_INT, type_of_value
from .matching import Given
from .narrowing import Condition, evaluated
from .relations import join
from .sugar import BoundMethod, Sugar
from .types import BOOL, STRING, UNKNOWN, ClassType, TupleType, Type

__all__ = ["Expressions"]

BINARY = {
    "+": ("aten::add", "__add__"),
    "-": ("aten::sub", "__sub__"),
    "*": ("aten::mul", "__mul__"),
    "/": ("aten::div", "__truediv__"),
    "//": ("aten::floordiv", "__floordiv__"),
    "%": ("aten::remainder", "__mod__"),
    "**": ("aten::pow", "__pow__"),
    "@": ("aten::matmul", "__matmul__"),
    "&": ("aten::__and__", "__and__"),
    "|": ("aten::__or__", "__or__"),
    "^": ("aten::__xor__", "__xor__"),
    "<<": ("aten::__lshift__", "__lshift__"),
    ">>": ("aten::__rshift__", "__rshift__"),
}
"""The operator of a binary form, and the method of script classes."""

COMPARE = {
    "==": ("aten::eq", "__eq__"),
    "!=": ("aten::ne", "__ne__"),
    "<": ("aten::lt", "__lt__"),
    "<=": ("aten::le", "__le__"),
    ">": ("aten::gt", "__gt__"),
    ">=": ("aten::ge", "__ge__"),
}

UNARY = {"-": ("aten::neg", "__neg__"), "~": ("aten::bitwise_not", "__invert__")}


class Expressions(Displays):
    """Expressions."""

    def expression(self, node: tree.Expr, hint: Type | None = None) -> typed.Expr:
        """The typed form of an expression that must be a value.

        `hint` is the type wanted, for what has none of its own (`[]`, `x.tolist()`).
        """
        return self.as_any(self.value(self.sugared(node, hint), node.span), hint)

    def sugared(self, node: tree.Expr, hint: Type | None = None) -> Sugar:
        """What an expression stands for, a value or not."""
        checkpoint()
        match node:
            case tree.Name():
                return self.name(node)
            case tree.Literal():
                return self.literal(node)
            case tree.Attribute():
                return self._read_attribute(node)
            case tree.Call():
                return self.call(node, hint)
            case tree.Subscript():
                return self.subscript(node, hint)
            case tree.Unary():
                return self.unary(node)
            case tree.Binary():
                return self.binary(node)
            case tree.Compare() | tree.Boolean():
                return self._logical(node)
            case tree.Conditional():
                return self.conditional(node, hint)
            case tree.Slice():
                return self.slice_value(node)
        return self._display(node, hint)

    def _display(self, node: tree.Expr, hint: Type | None) -> Sugar:
        match node:
            case tree.TupleDisplay():
                return self.tuple_display(node, hint)
            case tree.ListDisplay():
                return self.list_display(node, hint)
            case tree.DictDisplay():
                return self.dict_display(node, hint)
            case tree.ListComprehension():
                return self.list_comprehension(node, hint)
            case tree.DictComprehension():
                return self.dict_comprehension(node, hint)
            case tree.FormattedString():
                return self.formatted_string(node)
        self.report(
            "unsupported-syntax",
            "this cannot stand here",
            node.span,
            "not expected here",
            torch="Unsupported expression",
        )
        return self.unknown(node.span)

    # -------------------------------------------------------------------------------- names

    def name(self, node: tree.Name) -> Sugar:
        """A local, or what the resolver knows."""
        if node.id == tree.ERROR_NAME:
            return self.unknown(node.span)
        variable = self.frame.find(node.id)
        if variable is not None:
            if variable.type is not None:
                return typed.Local(node.span, variable.type, node.id)
            assert variable.sugar is not None
            return variable.sugar
        meaning = self.resolver.lookup(node.id, node.span)
        if meaning is not None:
            return meaning
        return self._undefined(node)

    def _undefined(self, node: tree.Name) -> Sugar:
        """Report a name nobody knows; where one variable is meant, go on as if it were written."""
        problem = self.frame.problem(node.id)
        if problem is not None:
            self.report_problem(node, problem)
            return self.unknown(node.span)
        candidates = [*self.frame.names(), *self.resolver.names()]
        helps = self.near(node.id, candidates, node.span)
        secondary: tuple[Label, ...] = ()
        if helps:
            close = helps[0].edits[0].text
            secondary = self.declared_label(close, f"`{close}` is defined here")
        self.report(
            "undefined-name",
            f"`{node.id}` is not defined",
            node.span,
            "not a local, global or builtin name",
            torch=f"undefined value {node.id}",
            secondary=secondary,
            helps=helps,
        )
        meant = self.frame.find(helps[0].edits[0].text) if len(helps) == 1 else None
        if meant is not None and meant.type is not None:
            return typed.Local(node.span, meant.type, meant.name)
        return self.unknown(node.span)

    def report_problem(self, node: tree.Name, problem: Problem) -> None:
        """Report a variable that an `if` or a loop keeps from being read; see `joins`."""
        raise NotImplementedError

    def _read_attribute(self, node: tree.Attribute) -> Sugar:
        return self.of_property(self.attribute(node), node)

    def of_property(self, found: Sugar, node: tree.Attribute) -> Sugar:
        """The call of the getter, if an attribute is a property."""
        if isinstance(found, BoundMethod) and isinstance(found.receiver.type, ClassType):
            getter = found.receiver.type.properties.get(node.name)
            if getter is not None and getter[0] is found.function:
                call = tree.Call(node.span, node, (), ())
                return self.call_bound(found, Given([]), call)
        return found

    def literal(self, node: tree.Literal) -> typed.Expr:
        """A constant as written."""
        if node.value is ...:
            self.report(
                "unsupported-syntax",
                "`...` can stand only between brackets",
                node.span,
                "not expected here",
                torch="Ellipsis is not supported here",
            )
            return self.unknown(node.span)
        if isinstance(node.value, int) and node.value > LARGEST_INT:
            self.report(
                "number-too-large",
                "this number does not fit into 64 bits",
                node.span,
                f"the largest int is {LARGEST_INT}",
                torch="Integral constant out of range (must fit in a signed 64 bit integer)",
            )
            return self.unknown(node.span)
        return typed.Literal(node.span, type_of_value(node.value), node.value)

    # ---------------------------------------------------------------------------- operators

    def unary(self, node: tree.Unary) -> Sugar:
        """`-a`, `~a`, `not a`; lowering makes one constant of the negative of a number."""
        if node.operator == "not":
            return self.condition(node).value
        operand = self.expression(node.operand)
        if node.operator == "+":
            return operand
        name, method = UNARY[node.operator]
        return self.operate(name, method, [operand], node.span, node.operator)

    def binary(self, node: tree.Binary) -> typed.Expr:
        """`a + b`; a chain of them is worked through without recursion."""
        chain = [node]
        while isinstance(chain[-1].left, tree.Binary):
            chain.append(chain[-1].left)
        before = self.remainders
        left = self.expression(chain[-1].left)
        for part in reversed(chain):
            left = self._binary(part, left, is_plain=self.remainders == before)
        return left

    def _binary(self, node: tree.Binary, left: typed.Expr, *, is_plain: bool) -> typed.Expr:
        if node.operator == "%":
            if left.type == STRING:
                return self.percent_format(node, left)
            return self._remainder(node, left, is_plain=is_plain)
        return self._operation(node, left)

    def _remainder(self, node: tree.Binary, left: typed.Expr, *, is_plain: bool) -> typed.Expr:
        """`a % b`, of which torch evaluates `a` twice: first to see whether it is a string.

        That shows where `a` changes something.  An `a` that has a remainder in it is not `is_plain`
        and evaluated once, so that nested ones do not double the code at every level.
        """
        result = self._operation(node, left)
        if not is_plain or isinstance(left, typed.Literal):
            return result
        self.remainders += 1
        first = typed.Evaluate(left.span, left)
        return typed.Sequenced(node.span, result.type, (first,), result)

    def _operation(self, node: tree.Binary, left: typed.Expr) -> typed.Expr:
        right = self.expression(node.right)
        tuples = isinstance(left.type, TupleType) and isinstance(right.type, TupleType)
        if node.operator == "+" and tuples:
            return self._add_tuples(left, right, node.span)
        name, method = BINARY[node.operator]
        return self.operate(name, method, [left, right], node.span, node.operator)

    def operate(
        self, name: str, method: str, operands: list[typed.Expr], span: Span, symbol: str
    ) -> typed.Expr:
        """An operator: the method of a script class, or the builtin."""
        first = operands[0]
        if isinstance(first.type, ClassType) and first.type.magic(method) is not None:
            return self.call_method(first, method, operands[1:], span)
        if isinstance(first.type, ClassType) and not first.type.is_module:
            return self.call_method(first, method, operands[1:], span)
        return self.call_operator(name, Given(operands), span, written=symbol)

    def _add_tuples(self, left: typed.Expr, right: typed.Expr, span: Span) -> typed.Expr:
        statements: list[typed.Statement] = []
        left, right = self.let(left, statements), self.let(right, statements)
        parts = [*self.tuple_elements(left, statements), *self.tuple_elements(right, statements)]
        type = TupleType(tuple(p.type for p in parts))
        result = typed.TupleLiteral(NOWHERE, type, tuple(parts))
        return typed.Sequenced(span, type, tuple(statements), result)

    # ---------------------------------------------------------------------- truth and choice

    def _logical(self, node: tree.Compare | tree.Boolean) -> typed.Expr:
        if isinstance(node, tree.Boolean):
            return self.condition(node).value
        if len(node.operators) == 1:
            if node.operators[0] in ("is", "is not"):
                return self.condition(node).value
            left = self.expression(node.left)
            return self.compare(node.operators[0], left, node.rights[0], node.span)
        return self._chain(node).value

    def _chain(self, node: tree.Compare) -> Condition:
        """`a < b < c` is `a < b and b < c`; like torch, b is evaluated twice."""
        pairs: list[tree.Expr] = []
        left = node.left
        for operator, right in zip(node.operators, node.rights, strict=True):
            span = left.span.to(right.span)
            pairs.append(tree.Compare(span, left, (operator,), (right,)))
            left = right
        return self.condition(tree.Boolean(node.span, "and", tuple(pairs)))

    def compare(
        self, operator: str, left: typed.Expr, right_node: tree.Expr, span: Span
    ) -> typed.Expr:
        """One comparison; for `in` the container is the operator's first argument."""
        right = self.expression(right_node)
        if operator in COMPARE:
            name, method = COMPARE[operator]
            return self.operate(name, method, [left, right], span, operator)
        found = self._contains(left, right, span)
        if operator == "in":
            return found
        return self.call_operator("aten::__not__", Given([found]), span)

    def _contains(self, left: typed.Expr, right: typed.Expr, span: Span) -> typed.Expr:
        if isinstance(right.type, ClassType):
            return self.call_method(right, "__contains__", [left], span)
        name, statements = "aten::__contains__", list[typed.Statement]()
        if left.type == right.type == STRING:  # defined by other operators, which read them again
            left, right = self.let(left, statements), self.let(right, statements)
        call = self.call_operator(name, Given([right, left]), span, written="in")
        if not isinstance(call, typed.OperatorCall) or call.signature.name != name:
            return typed.Sequenced(span, call.type, tuple(statements), call) if statements else call
        bindings: list[typed.Binding] = []
        for binding in call.bindings:
            assert isinstance(binding, (typed.Given, typed.FromTuple))
            bindings.append(replace(binding, index=1 - binding.index))
        inputs = (left, right)
        return replace(call, type=BOOL, inputs=inputs, bindings=tuple(bindings))

    def conditional(self, node: tree.Conditional, hint: Type | None) -> Sugar:
        """`body if test else orelse`; only one side is checked if the test is decided now."""
        test = self.condition(node.test)
        if test.static is not None:
            chosen = self.sugared(node.body if test.static else node.orelse, hint)
            tested = evaluated(test.value)
            if tested and isinstance(chosen, typed.Expr):
                return typed.Sequenced(node.span, chosen.type, tested, chosen)
            return chosen
        with self.new_frame():
            body_facts = self.refine(test.if_true, node.span)
            body = self.expression(node.body, hint)
        with self.new_frame():
            orelse_facts = self.refine(test.if_false, node.span)
            orelse = self.expression(node.orelse, hint)
        type = join(body.type, orelse.type)
        if type is None:
            self._report_sides(node, body, orelse)
            type = UNKNOWN
        return typed.Conditional(
            node.span, type, test.value, body, orelse, body_facts, orelse_facts
        )

    def _report_sides(self, node: tree.Conditional, body: typed.Expr, orelse: typed.Expr) -> None:
        self.report(
            "branch-types-differ",
            f"the two sides are `{body.type.python}` and `{orelse.type.python}`",
            node.orelse.span,
            f"this is `{orelse.type.python}`",
            torch=f"if-expression's true branch has type {self.torch_type(body)} but false branch "
            f"has type {self.torch_type(orelse)}",
            torch_span=node.span,
            secondary=(Label(node.body.span.whole, f"this is `{body.type.python}`"),),
        )
