"""The typed tree: what the checker hands to lowering.

Every expression has a type, every call its signature and how its arguments fill it, all sugar
(`self.layers[0]`, `range`, comprehension forms, static conditions, loops over modules) is resolved.
Lowering needs no look-ups and makes no decisions about types.

Evaluation order is part of the form: the `inputs` of a call are evaluated in order, then its
`bindings` are worked through in order, which may add conversions and default constants.
"""

from __future__ import annotations

from ...frontend.foundations.value_class import value_class
from ...frontend.sources.source import Span
from ..definitions.class_types import ClassType
from ..definitions.functions import Function, PythonFunction
from ..definitions.schema import Signature
from ..types.types import Type

# ---------------------------------------------------------------------------------- expressions


@value_class(frozen=True, slots=True)
class Expr:
    """An expression of known type.

    `variable` is the name of the local variable that it reads, `literal` the constant that it is;
    None of all else.
    """

    span: Span
    type: Type

    @property
    def variable(self) -> str | None:
        return None

    @property
    def literal(self) -> object:
        return None


@value_class(frozen=True, slots=True)
class Literal(Expr):
    """A constant: int, float, complex, bool, str, None, a device, a Tensor, a list or dict of such,
    an enum member (`EnumMember`), or a `Function`."""

    value: object

    @property
    def literal(self) -> object:
        return self.value


@value_class(frozen=True, slots=True)
class PlaceNumber(Expr):
    """The number of a turn of an unrolled loop; with equal numbers written elsewhere one value."""

    number: int


@value_class(frozen=True, slots=True)
class Local(Expr):
    """A read of a local variable or parameter."""

    name: str

    @property
    def variable(self) -> str:
        return self.name


@value_class(frozen=True, slots=True)
class Temporary(Expr):
    """A read of a value that `Let`, `Unpack` or an `Iterable` bound; written once, has no name."""

    index: int


@value_class(frozen=True, slots=True)
class GetAttribute(Expr):
    """`object.name`, an attribute slot or a submodule."""

    object: Expr
    name: str


# How one argument of a signature is filled from the evaluated inputs:


@value_class(frozen=True, slots=True)
class Given:
    """Input `index`, after applying one-argument operators such as `aten::IntImplicit` in order."""

    index: int
    conversions: tuple[Signature, ...] = ()


@value_class(frozen=True, slots=True)
class Default:
    """The argument's default; `type` is that of the constant (NoneType for None)."""

    value: object
    type: Type


@value_class(frozen=True, slots=True)
class Gathered:
    """A list made of several inputs: `x.view(2, 3)` for `int[] size`."""

    elements: tuple[Given, ...]
    element_type: Type


@value_class(frozen=True, slots=True)
class Repeated:
    """A list made of one input, or of a default, `count` times: a number for `int[2]`."""

    element: Given | Default
    count: int
    element_type: Type


@value_class(frozen=True, slots=True)
class FromTuple:
    """A list made of the elements of a tuple input."""

    index: int
    elements: tuple[Type, ...]
    element_type: Type


@value_class(frozen=True, slots=True)
class Rebuilt:
    """A tuple of the elements of a tuple input, of which some are converted; the parts have the
    elements' places for their indices."""

    index: int
    parts: tuple[Part, ...]
    type: Type


Part = Given | Gathered | FromTuple | Rebuilt
Binding = Part | Default | Repeated


@value_class(frozen=True, slots=True)
class OperatorCall(Expr):
    """A call of an operator.  Several results make a tuple type.

    For a vararg operator (`prim::Print`, `aten::format`) the bindings go past its arguments.
    `discarded` counts the values that torch makes before it finds the overload: they take numbers.
    """

    signature: Signature
    inputs: tuple[Expr, ...]
    bindings: tuple[Binding, ...]
    discarded: int = 0


@value_class(frozen=True, slots=True)
class FunctionCall(Expr):
    """A call of a scripted function."""

    function: Function
    inputs: tuple[Expr, ...]
    bindings: tuple[Binding, ...]


@value_class(frozen=True, slots=True)
class PythonCall(Expr):
    """A call of a function that is left to Python."""

    function: PythonFunction
    inputs: tuple[Expr, ...]
    bindings: tuple[Binding, ...]


@value_class(frozen=True, slots=True)
class MethodCall(Expr):
    """`object.name(...)`; the signature's first argument, self, is not among the bindings."""

    object: Expr
    name: str
    signature: Signature
    inputs: tuple[Expr, ...]
    bindings: tuple[Binding, ...]


@value_class(frozen=True, slots=True)
class NewObject(Expr):
    """`C(...)`: a new object of a script class, its `__init__` called on it if it has one."""

    cls: ClassType
    init: Function | None
    inputs: tuple[Expr, ...]
    bindings: tuple[Binding, ...]


@value_class(frozen=True, slots=True)
class TupleLiteral(Expr):
    """A tuple, or a NamedTuple if the type is one."""

    elements: tuple[Expr, ...]


@value_class(frozen=True, slots=True)
class ListLiteral(Expr):
    """`hinted` is False for a `[]` whose element type nothing told (torch leaves it nameless)."""

    elements: tuple[Expr, ...]
    hinted: bool = True


@value_class(frozen=True, slots=True)
class DictLiteral(Expr):
    keys: tuple[Expr, ...]
    values: tuple[Expr, ...]


@value_class(frozen=True, slots=True)
class TupleIndex(Expr):
    """`value[index]` of a tuple; `index` is not negative.  `written` is the index as evaluated
    by the program, if it was (torch keeps its constant); None for a field of a NamedTuple."""

    value: Expr
    index: int
    written: Expr | None = None


@value_class(frozen=True, slots=True)
class TupleSlice(Expr):
    """The elements `range(start, stop, step)`; none of them is out of range."""

    value: Expr
    start: int
    stop: int
    step: int = 1


@value_class(frozen=True, slots=True)
class Conditional(Expr):
    """`body if test else orelse`; refinements come first, as in a branch."""

    test: Expr
    body: Expr
    orelse: Expr
    body_refinements: tuple[Statement, ...] = ()
    orelse_refinements: tuple[Statement, ...] = ()


@value_class(frozen=True, slots=True)
class ShortCircuit(Expr):
    """`left and right`, `left or right`, both bool.

    `refinements` hold while right is evaluated, `skipped_refinements` where left decides alone.
    """

    operator: str
    left: Expr
    right: Expr
    refinements: tuple[Statement, ...] = ()
    skipped_refinements: tuple[Statement, ...] = ()


@value_class(frozen=True, slots=True)
class UncheckedCast(Expr):
    """`value`, known by a test to be of this narrower type."""

    value: Expr


@value_class(frozen=True, slots=True)
class Numbered(Expr):
    """A value, behind which torch makes another that it drops: that takes a number of the graph.

    It makes a zero for each `int(value)` and each test, also where the value is an int or a bool.
    """

    value: Expr


@value_class(frozen=True, slots=True)
class IsInstance(Expr):
    """A type test that must be made at run time."""

    value: Expr
    types: tuple[Type, ...]


@value_class(frozen=True, slots=True)
class Uninitialized(Expr):
    """A value that is never looked at."""


@value_class(frozen=True, slots=True)
class ListComprehension(Expr):
    """`prelude` assigns the loop's target from the temporaries; condition may be None.

    `before` says how often what is iterated over is evaluated before the container is made: by
    `list(zip(a, b))` once, by `dict(zip(a, b))` twice, as far as that shows in numbers alone.
    """

    iterable: Iterable
    prelude: tuple[Statement, ...]
    condition: Expr | None
    element: Expr
    before: int = 0


@value_class(frozen=True, slots=True)
class DictComprehension(Expr):
    iterable: Iterable
    prelude: tuple[Statement, ...]
    condition: Expr | None
    key: Expr
    value: Expr
    before: int = 0


@value_class(frozen=True, slots=True)
class Sequenced(Expr):
    """`value`, evaluated after the statements, which are `Let`, `Unpack`, `Evaluate` and, for a
    comprehension over a tuple, `Assign`."""

    statements: tuple[Statement, ...]
    value: Expr


@value_class(frozen=True, slots=True)
class Fork(Expr):
    """`torch.jit.fork(function, ...)`; the call is what runs in the new task.

    What is `awaited` (`torch.jit._awaitable`) runs when it is waited for.
    """

    call: FunctionCall | MethodCall | OperatorCall
    awaited: bool = False


@value_class(frozen=True, slots=True)
class ForkedBody(Expr):
    """`fork` of a local function whose body is more than a call.

    `inputs` are the variables it reads from around it: the function's parameters, in order.
    """

    function: TypedFunction
    inputs: tuple[Expr, ...]
    awaited: bool = False


# ------------------------------------------------------------------------- what a loop runs over


@value_class(frozen=True, slots=True)
class Range:
    """`range(stop)` if start is None, else all three; binds `Temporary(item)` to the index.

    Without a stop it never ends by itself (the counter of `enumerate`).
    """

    span: Span
    start: Expr | None
    stop: Expr | None
    step: Expr | None
    item: int


@value_class(frozen=True, slots=True)
class Sequence:
    """A list, tensor, string or list of keys; `item_bindings` has the sequence as input 0 and the
    index as input 1, so a tensor's item is `aten::select(sequence, 0, index)`."""

    span: Span
    value: Expr
    length: Signature
    item_signature: Signature
    item_bindings: tuple[Binding, ...]
    item_type: Type
    item: int


@value_class(frozen=True, slots=True)
class Zip:
    """Several iterables in step; ends with the shortest."""

    span: Span
    children: tuple[Iterable, ...]


Iterable = Range | Sequence | Zip


# ----------------------------------------------------------------------------------- statements


@value_class(frozen=True, slots=True)
class Statement:
    span: Span


@value_class(frozen=True, slots=True)
class Line(Statement):
    """Here a statement of the program begins; each has one, also those that do nothing."""


@value_class(frozen=True, slots=True)
class Assign(Statement):
    """`name = value`; `type` is the variable's, of which the value's is a subtype.

    A refinement is an assignment of an `UncheckedCast` of the variable to itself.
    """

    name: str
    type: Type
    value: Expr


@value_class(frozen=True, slots=True)
class Let(Statement):
    """Evaluate once, read by `Temporary(index)`."""

    index: int
    value: Expr


@value_class(frozen=True, slots=True)
class Unpack(Statement):
    """Bind one temporary to each element of a tuple, or of a list of exactly that length."""

    value: Expr
    temporaries: tuple[int, ...]
    types: tuple[Type, ...]


@value_class(frozen=True, slots=True)
class SetAttribute(Statement):
    object: Expr
    name: str
    value: Expr


@value_class(frozen=True, slots=True)
class Evaluate(Statement):
    """An expression for its effect."""

    value: Expr


@value_class(frozen=True, slots=True)
class Variable:
    """A variable that holds a value after a branch or loop, and its type there."""

    name: str
    type: Type


@value_class(frozen=True, slots=True)
class If(Statement):
    """`joins` are the variables assigned in either branch that can be read afterwards, by name.

    A branch that always leaves (return, raise, break, continue) need not assign them.
    """

    test: Expr
    body: tuple[Statement, ...]
    orelse: tuple[Statement, ...]
    joins: tuple[Variable, ...]


@value_class(frozen=True, slots=True)
class While(Statement):
    """`carried` are the variables assigned in the body that were defined before the loop."""

    test: Expr
    body: tuple[Statement, ...]
    carried: tuple[Variable, ...]


@value_class(frozen=True, slots=True)
class For(Statement):
    """The body begins with the assignments of the target from the iterable's temporaries."""

    iterable: Iterable
    body: tuple[Statement, ...]
    carried: tuple[Variable, ...]


@value_class(frozen=True, slots=True)
class Return(Statement):
    value: Expr


@value_class(frozen=True, slots=True)
class Raise(Statement):
    """`message` becomes a str if it is none; `exception` is the qualified class name
    (`builtins.ValueError`), which was written at `exception_span`."""

    message: Expr
    exception: str | None
    exception_span: Span | None = None


@value_class(frozen=True, slots=True)
class Break(Statement):
    pass


@value_class(frozen=True, slots=True)
class Continue(Statement):
    pass


@value_class(frozen=True, slots=True)
class With(Statement):
    """Enter the contexts in order, run the body, leave them in reverse order."""

    contexts: tuple[WithContext, ...]
    body: tuple[Statement, ...]


@value_class(frozen=True, slots=True)
class WithContext:
    """`target` receives what `__enter__` returns, if it is not None."""

    span: Span
    value: Expr
    enter: Signature
    target: str | None


# ------------------------------------------------------------------------------------ functions


@value_class(frozen=True, slots=True)
class EnumMember:
    """A member of an `EnumType`, as a constant."""

    name: str
    value: object


@value_class(frozen=True, slots=True)
class Parameter:
    span: Span
    name: str
    type: Type


@value_class(frozen=True, slots=True)
class TypedFunction:
    """A checked function; a method's first parameter is self.

    A body that can reach its end ends with a `Return` of None.
    """

    span: Span
    name: str
    parameters: tuple[Parameter, ...]
    returns: Type
    body: tuple[Statement, ...]
