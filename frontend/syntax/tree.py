"""The syntax tree: every form of the language on one page.

A tree says what was written, not what it means: names are unresolved and nothing has a type.
`from_python` makes it from a live function, `from_text` from text such as an archive's code files.
Annotations and decorators are expressions like any other.
"""

from __future__ import annotations

from types import EllipsisType

from ..foundations.value_class import value_class
from ..sources.source import Span

ERROR_NAME = "<error>"
"""The `id` of the `Name` that stands for an expression already reported; it has no type."""


@value_class(frozen=True, slots=True)
class Node:
    """Anything that was written somewhere."""

    span: Span


# ---------------------------------------------------------------------------------- expressions


@value_class(frozen=True, slots=True)
class Expr(Node):
    """An expression.

    `variable` is the name that it is, `dotted` that with what follows behind dots (`torch.nn`),
    `string` what a literal text says; each is None of all other expressions.
    """

    is_starred = False

    @property
    def variable(self) -> str | None:
        return None

    @property
    def dotted(self) -> str | None:
        return None

    @property
    def string(self) -> str | None:
        return None


@value_class(frozen=True, slots=True)
class Literal(Expr):
    """`1`, `2.5`, `3j`, `"text"`, `True`, `None`, `...`"""

    value: int | float | complex | str | bool | EllipsisType | None

    @property
    def string(self) -> str | None:
        return self.value if isinstance(self.value, str) else None


@value_class(frozen=True, slots=True)
class Name(Expr):
    """`x`"""

    id: str

    @property
    def variable(self) -> str:
        return self.id

    @property
    def dotted(self) -> str:
        return self.id


@value_class(frozen=True, slots=True)
class Attribute(Expr):
    """`value.name`; `name_span` is the name alone"""

    value: Expr
    name: str
    name_span: Span

    @property
    def dotted(self) -> str | None:
        owner = self.value.dotted
        return None if owner is None else f"{owner}.{self.name}"


@value_class(frozen=True, slots=True)
class Keyword(Node):
    """`name=value` in a call; `name` is None for `**value`"""

    name: str | None
    value: Expr


@value_class(frozen=True, slots=True)
class Call(Expr):
    """`function(*arguments, **keywords)`; `span.torch_end` is the end of `function`"""

    function: Expr
    arguments: tuple[Expr, ...]
    keywords: tuple[Keyword, ...]


@value_class(frozen=True, slots=True)
class Starred(Expr):
    """`*value`"""

    value: Expr
    is_starred = True


@value_class(frozen=True, slots=True)
class Slice(Expr):
    """`lower:upper:step` between brackets"""

    lower: Expr | None
    upper: Expr | None
    step: Expr | None


@value_class(frozen=True, slots=True)
class Subscript(Expr):
    """`value[indices]`; `x[a, b]` and, as in Python, `x[(a, b)]` have two, `x[()]` one"""

    value: Expr
    indices: tuple[Expr, ...]

    @property
    def single(self) -> Expr | None:
        """The one index that there is, unless it is a slice."""
        only = self.indices[0]
        return None if len(self.indices) != 1 or isinstance(only, Slice) else only


@value_class(frozen=True, slots=True)
class Unary(Expr):
    """`-a`, `+a`, `~a`, `not a`"""

    operator: str
    operand: Expr


@value_class(frozen=True, slots=True)
class Binary(Expr):
    """`left operator right`, operator one of `+ - * / // % ** @ & | ^ << >>`"""

    operator: str
    left: Expr
    right: Expr


@value_class(frozen=True, slots=True)
class Compare(Expr):
    """`left op right [op right ...]`, op one of `== != < <= > >= is, is not, in, not in`"""

    left: Expr
    operators: tuple[str, ...]
    rights: tuple[Expr, ...]


@value_class(frozen=True, slots=True)
class Boolean(Expr):
    """`a and b and c`, `a or b`"""

    operator: str
    values: tuple[Expr, ...]


@value_class(frozen=True, slots=True)
class Conditional(Expr):
    """`body if test else orelse`"""

    test: Expr
    body: Expr
    orelse: Expr


@value_class(frozen=True, slots=True)
class TupleDisplay(Expr):
    elements: tuple[Expr, ...]


@value_class(frozen=True, slots=True)
class ListDisplay(Expr):
    elements: tuple[Expr, ...]


@value_class(frozen=True, slots=True)
class DictDisplay(Expr):
    keys: tuple[Expr, ...]
    values: tuple[Expr, ...]


@value_class(frozen=True, slots=True)
class Generator(Node):
    """`for target in iterable if ...` of a comprehension"""

    target: Expr
    iterable: Expr
    conditions: tuple[Expr, ...]


@value_class(frozen=True, slots=True)
class ListComprehension(Expr):
    element: Expr
    generators: tuple[Generator, ...]


@value_class(frozen=True, slots=True)
class DictComprehension(Expr):
    key: Expr
    value: Expr
    generators: tuple[Generator, ...]


@value_class(frozen=True, slots=True)
class FormattedString(Expr):
    """An f-string: texts (as `Literal`) and expressions without conversion or format, in order"""

    parts: tuple[Expr, ...]


# ----------------------------------------------------------------------------------- statements


@value_class(frozen=True, slots=True)
class Statement(Node):
    """A statement."""


@value_class(frozen=True, slots=True)
class Assign(Statement):
    """`a = b = value`; `type_comment` is the parsed `# type:` comment of the line"""

    targets: tuple[Expr, ...]
    value: Expr
    type_comment: Expr | None = None


@value_class(frozen=True, slots=True)
class AnnotatedAssign(Statement):
    """`target: annotation = value`; without a value a mere declaration"""

    target: Expr
    annotation: Expr
    value: Expr | None


@value_class(frozen=True, slots=True)
class AugmentedAssign(Statement):
    """`target operator= value`; operator as in `Binary`"""

    target: Expr
    operator: str
    value: Expr


@value_class(frozen=True, slots=True)
class ExpressionStatement(Statement):
    value: Expr


@value_class(frozen=True, slots=True)
class If(Statement):
    """`elif` is an `If` alone in `orelse`"""

    test: Expr
    body: tuple[Statement, ...]
    orelse: tuple[Statement, ...]


@value_class(frozen=True, slots=True)
class While(Statement):
    test: Expr
    body: tuple[Statement, ...]


@value_class(frozen=True, slots=True)
class For(Statement):
    target: Expr
    iterable: Expr
    body: tuple[Statement, ...]


@value_class(frozen=True, slots=True)
class Return(Statement):
    value: Expr | None


@value_class(frozen=True, slots=True)
class Raise(Statement):
    exception: Expr | None


@value_class(frozen=True, slots=True)
class Assert(Statement):
    test: Expr
    message: Expr | None


@value_class(frozen=True, slots=True)
class Delete(Statement):
    targets: tuple[Expr, ...]


@value_class(frozen=True, slots=True)
class WithItem(Node):
    context: Expr
    target: Expr | None


@value_class(frozen=True, slots=True)
class With(Statement):
    items: tuple[WithItem, ...]
    body: tuple[Statement, ...]


@value_class(frozen=True, slots=True)
class Break(Statement):
    pass


@value_class(frozen=True, slots=True)
class Continue(Statement):
    pass


@value_class(frozen=True, slots=True)
class LocalFunction(Statement):
    """A function without parameters inside another; code files have it for what is forked."""

    name: str
    body: tuple[Statement, ...]


@value_class(frozen=True, slots=True)
class Pass(Statement):
    pass


# ---------------------------------------------------------------------------------- definitions


@value_class(frozen=True, slots=True)
class Parameter(Node):
    """`name: annotation = default`; `span` covers the whole of it.

    A `shared_default` is that of the body of several signatures: where it does not fit, the
    signature has none.
    """

    name: str
    annotation: Expr | None
    default: Expr | None
    keyword_only: bool = False
    shared_default: bool = False


@value_class(frozen=True, slots=True)
class Function(Node):
    """A function or method; `span` starts at its `def`, as torch underlines it.

    A `# type: (A, B) -> C` signature comment is already folded into the annotations;
    `types_are_text` says that they were read from it, or from code that is no live function:
    such types know some more names, and errors are told of the part that is wrong.
    """

    name: str
    name_span: Span
    parameters: tuple[Parameter, ...]
    returns: Expr | None
    body: tuple[Statement, ...]
    decorators: tuple[Expr, ...] = ()
    types_are_text: bool = False


@value_class(frozen=True, slots=True)
class ClassMember(Node):
    """`name : annotation = value` in a class body, also `__annotations__["name"] = annotation`."""

    name: str
    annotation: Expr | None
    value: Expr | None


@value_class(frozen=True, slots=True)
class Property(Node):
    """`@property` of a class, its functions named `__name_getter` and `__name_setter`."""

    name: str
    getter: Function
    setter: Function | None


@value_class(frozen=True, slots=True)
class ClassDefinition(Node):
    """A class; its plain assignments and declarations are `members`, its functions `methods`."""

    name: str
    bases: tuple[Expr, ...]
    members: tuple[ClassMember, ...]
    methods: tuple[Function, ...]
    properties: tuple[Property, ...] = ()


Definition = Function | ClassDefinition
