"""Names, constants, arithmetic, comparisons and choices."""

from __future__ import annotations

from dataclasses import replace

from ...frontend.diagnostics.diagnostics import Help, Label
from ...frontend.sources.source import UNKNOWN as NOWHERE
from ...frontend.sources.source import Span
from ...frontend.syntax import tree
from ..definitions.signs import BETWEEN, COMPARING, IN_FRONT, Sign
from ..relations.literals import LARGEST_INT, type_of_value
from ..relations.matching import Given
from ..relations.relations import join
from ..reports.corrections import attribute_of_self, is_left_out
from ..scopes.dispatch import checks, expression, sugared
from ..scopes.idioms import is_type_test
from ..scopes.joins import report_problem
from ..scopes.scope import Scope
from ..scopes.values import sequenced
from ..trees import typed
from ..trees.sugar import Sugar
from ..types.types import BOOL, STRING, UNKNOWN, TupleType, Type
from .displays import percent_format
from .function_calls import call_method, placed
from .iteration import tuple_elements
from .narrowing import Condition, check_condition, evaluated, refine, to_bool
from .operators import call_operator

# -------------------------------------------------------------------------------- names


@checks(tree.Name)
def check_name(scope: Scope, node: tree.Name, hint: Type | None) -> Sugar:
    """A local, or what the resolver knows."""
    if node.id == tree.ERROR_NAME:
        return scope.unknown(node.span)
    variable = scope.frame.find(node.id)
    if variable is not None:
        if variable.type is not None:
            return typed.Local(node.span, variable.type, node.id)
        assert variable.sugar is not None
        return variable.sugar
    meaning = scope.resolver.lookup(node.id, node.span)
    if meaning is not None:
        return meaning
    return _undefined(scope, node)


def _undefined(scope: Scope, node: tree.Name) -> Sugar:
    """Report a name nobody knows; where one variable is meant, go on as if it were written."""
    if node.id == scope.function.name and scope.function.owner is None:
        return _calls_itself(scope, node)
    problem = scope.frame.problem(node.id)
    if problem is not None:
        report_problem(scope, node, problem)
        return scope.unknown(node.span)
    if is_left_out(scope, node.id):
        return scope.unknown(node.span)
    candidates = [*scope.frame.names(), *scope.resolver.names()]
    helps = attribute_of_self(scope, node) or scope.near(node.id, candidates, node.span)
    secondary: tuple[Label, ...] = ()
    if helps:
        close = helps[0].edits[0].text
        secondary = scope.declared_label(close, f"`{close}` is defined here")
    scope.report(
        "undefined-name",
        f"`{node.id}` is not defined",
        node.span,
        "not a local, global or builtin name",
        torch=f"undefined value {node.id}",
        secondary=secondary,
        helps=helps,
    )
    meant = scope.frame.find(helps[0].edits[0].text) if len(helps) == 1 else None
    if meant is not None and meant.type is not None:
        return typed.Local(node.span, meant.type, meant.name)
    return scope.unknown(node.span)


def _calls_itself(scope: Scope, node: tree.Name) -> Sugar:
    """Report the name of the function that is being compiled, which its decorator has not made."""
    scope.report(
        "recursion",
        f"`{node.id}` calls itself, which script cannot do",
        node.span,
        "a recursive call",
        torch=f"undefined value {node.id}",
        secondary=(Label(scope.tree.name_span, "still being compiled"),),
        helps=(Help("write a loop, or leave the function to Python: `@torch.jit.ignore`"),),
    )
    return scope.unknown(node.span)


@checks(tree.Literal)
def check_literal(scope: Scope, node: tree.Literal, hint: Type | None) -> typed.Expr:
    """A constant as written."""
    if node.value is ...:
        scope.report(
            "unsupported-syntax",
            "`...` can stand only between brackets",
            node.span,
            "not expected here",
            torch="Cannot emit expr for: (dots)\n",
        )
        return scope.unknown(node.span)
    if isinstance(node.value, int) and node.value > LARGEST_INT:
        scope.report(
            "number-too-large",
            "this number does not fit into 64 bits",
            node.span,
            f"the largest int is {LARGEST_INT}",
            torch="Integral constant out of range (must fit in a signed 64 bit integer)",
        )
        return scope.unknown(node.span)
    return typed.Literal(node.span, type_of_value(node.value), node.value)


# ---------------------------------------------------------------------------- operators


@checks(tree.Unary)
def check_unary(scope: Scope, node: tree.Unary, hint: Type | None) -> Sugar:
    """`-a`, `~a`, `not a`; lowering makes one constant of the negative of a number."""
    if node.operator == "not":
        return check_condition(scope, node).value
    operand = expression(scope, node.operand)
    if node.operator == "+":
        return operand
    return _operate(scope, IN_FRONT[node.operator], [operand], node.span, node.operator)


@checks(tree.Binary)
def check_binary(scope: Scope, node: tree.Binary, hint: Type | None) -> typed.Expr:
    """`a + b`; a chain of them is worked through without recursion."""
    chain = [node]
    while isinstance(chain[-1].left, tree.Binary):
        chain.append(chain[-1].left)
    before = scope.remainders
    left = expression(scope, chain[-1].left)
    for part in reversed(chain):
        left = _binary(scope, part, left, is_plain=scope.remainders == before)
    return left


def _binary(scope: Scope, node: tree.Binary, left: typed.Expr, *, is_plain: bool) -> typed.Expr:
    if node.operator == "%":
        return _remainder(scope, node, left, is_plain=is_plain)
    return _operation(scope, node, left)


def _remainder(scope: Scope, node: tree.Binary, left: typed.Expr, *, is_plain: bool) -> typed.Expr:
    """`a % b`, of which torch evaluates `a` twice: first to see whether it is a string.

    That shows where `a` changes something.  An `a` that has a remainder in it is not `is_plain`
    and evaluated once, so that nested ones do not double the code at every level.
    """
    is_text = left.type == STRING
    result = (percent_format if is_text else _operation)(scope, node, left)
    if not is_plain or (isinstance(left, typed.Literal) and not is_text):
        return result
    scope.remainders += 1
    first = typed.Evaluate(left.span, left)
    return typed.Sequenced(node.span, result.type, (first,), result)


def _operation(scope: Scope, node: tree.Binary, left: typed.Expr) -> typed.Expr:
    right = expression(scope, node.right)
    tuples = left.type.tuple_of is not None and right.type.tuple_of is not None
    if node.operator == "+" and tuples:
        return _add_tuples(scope, left, right, node.span)
    return _operate(scope, BETWEEN[node.operator], [left, right], node.span, node.operator)


def _operate(
    scope: Scope, sign: Sign, operands: list[typed.Expr], span: Span, symbol: str
) -> typed.Expr:
    """An operator: the method of a script class, or the builtin."""
    first, method = operands[0], sign.method
    type = first.type
    if type.is_class and (not type.is_module or type.magic(method) is not None):
        return call_method(scope, first, method, operands[1:], span)
    return call_operator(scope, sign.in_scripts, Given(operands), span, written=symbol)


def _add_tuples(scope: Scope, left: typed.Expr, right: typed.Expr, span: Span) -> typed.Expr:
    statements: list[typed.Statement] = []
    left, right = scope.let(left, statements), scope.let(right, statements)
    parts = [*tuple_elements(scope, left, statements), *tuple_elements(scope, right, statements)]
    type = TupleType(tuple(p.type for p in parts))
    result = typed.TupleLiteral(NOWHERE, type, tuple(parts))
    return typed.Sequenced(span, type, tuple(statements), result)


# ---------------------------------------------------------------------- truth and choice


@checks(tree.Boolean)
def check_boolean(scope: Scope, node: tree.Boolean, hint: Type | None) -> typed.Expr:
    """`a and b`, `a or b`"""
    return check_condition(scope, node).value


@checks(tree.Compare)
def check_compare(scope: Scope, node: tree.Compare, hint: Type | None) -> typed.Expr:
    """`a < b`, `a is b`, `a in b`, and chains of them."""
    if len(node.operators) > 1:
        return _chain(scope, node).value
    if node.operators[0] in ("is", "is not") or is_type_test(scope, node):
        return check_condition(scope, node).value
    left = expression(scope, node.left)
    return _compare(scope, node.operators[0], left, node.rights[0], node.span)


def _chain(scope: Scope, node: tree.Compare) -> Condition:
    """`a < b < c` is `a < b and b < c`; like torch, b is evaluated twice."""
    pairs: list[tree.Expr] = []
    left = node.left
    for operator, right in zip(node.operators, node.rights, strict=True):
        span = left.span.to(right.span)
        pairs.append(tree.Compare(span, left, (operator,), (right,)))
        left = right
    return check_condition(scope, tree.Boolean(node.span, "and", tuple(pairs)))


def _compare(
    scope: Scope, operator: str, left: typed.Expr, right_node: tree.Expr, span: Span
) -> typed.Expr:
    """One comparison; for `in` the container is the operator's first argument."""
    right = expression(scope, right_node)
    if operator in COMPARING:
        return _operate(scope, COMPARING[operator], [left, right], span, operator)
    found = _contains(scope, left, right, span)
    if operator == "in":
        return found
    return call_operator(scope, "aten::__not__", Given([to_bool(scope, found, span)]), span)


def _contains(scope: Scope, left: typed.Expr, right: typed.Expr, span: Span) -> typed.Expr:
    name, statements = "aten::__contains__", list[typed.Statement]()
    if right.type.is_class:
        left = scope.let(left, statements)
        call = call_method(scope, right, "__contains__", [left], span)
        return typed.Sequenced(span, call.type, tuple(statements), call)
    if left.type == right.type == STRING:  # defined by other operators, which read them again
        left, right = scope.let(left, statements), scope.let(right, statements)
    call = call_operator(scope, name, Given([right, left]), span, written="in")
    if not isinstance(call, typed.OperatorCall) or call.signature.name != name:
        return typed.Sequenced(span, call.type, tuple(statements), call) if statements else call
    bindings = tuple(placed(binding, lambda index: 1 - index) for binding in call.bindings)
    return replace(call, type=BOOL, inputs=(left, right), bindings=bindings)


@checks(tree.Conditional)
def check_conditional(scope: Scope, node: tree.Conditional, hint: Type | None) -> Sugar:
    """`body if test else orelse`; only one side is checked if the test is decided now."""
    test = check_condition(scope, node.test)
    if test.static is not None:
        chosen = sugared(scope, node.body if test.static else node.orelse, hint)
        return sequenced([evaluated(test.value)], chosen, node.span)
    with scope.new_frame():
        body_facts = refine(scope, test.if_true, node.span)
        body = expression(scope, node.body, hint)
    with scope.new_frame():
        orelse_facts = refine(scope, test.if_false, node.span)
        orelse = expression(scope, node.orelse, hint)
    type = join(body.type, orelse.type)
    if type is None:
        _report_sides(scope, node, body, orelse)
        type = UNKNOWN
    return typed.Conditional(node.span, type, test.value, body, orelse, body_facts, orelse_facts)


def _report_sides(
    scope: Scope, node: tree.Conditional, body: typed.Expr, orelse: typed.Expr
) -> None:
    scope.report(
        "branch-types-differ",
        f"the two sides are `{body.type.python}` and `{orelse.type.python}`",
        node.orelse.span,
        f"this is `{orelse.type.python}`",
        torch=f"if-expression's true branch has type {scope.torch_type(body)} but false branch "
        f"has type {scope.torch_type(orelse)}",
        torch_span=node.span,
        secondary=(Label(node.body.span.whole, f"this is `{body.type.python}`"),),
    )
