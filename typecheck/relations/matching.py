"""Fitting arguments to a signature.

`match_signature` says how given arguments fill the arguments of one signature, or why they do not;
`choose` tries the overloads of a name the way torch does: all of them without implicit
conversions, then all of them with conversions, the first that fits wins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, final

from ...frontend.sources.source import Span
from ..definitions.schema import Argument, OperatorTable, Signature
from ..trees import typed
from ..types.types import (
    ANY,
    BOOL,
    COMPLEX,
    DEVICE,
    FLOAT,
    INFERRED_TENSOR,
    INT,
    NONE,
    NUMBER,
    STRING,
    TENSOR,
    UNKNOWN,
    TupleType,
    Type,
)
from .interfaces import why_unfit
from .literals import type_of_value
from .relations import is_subtype
from .variables import has_variables, instantiate, match

ACTUAL = "\0"
"""Stands, in torch's sentences, for the type of the value that was given."""

__all__ = ["ACTUAL", "Given", "Match", "Mismatch", "choose", "match_signature"]


@dataclass
class Given:
    """The arguments of a call.

    `receiver` is the `x` of `x.tanh()`: it fills the argument named self, whatever its place.
    `spans` are those of `name=value`, by name.  `is_incomplete` says that there are more arguments,
    which an error hides.
    """

    positional: list[typed.Expr]
    keywords: dict[str, typed.Expr] = field(default_factory=dict)
    receiver: typed.Expr | None = None
    spans: dict[str, Span] = field(default_factory=dict)
    is_incomplete: bool = False

    @property
    def all(self) -> list[typed.Expr]:
        """All inputs in the order in which they are evaluated."""
        first = [self.receiver] if self.receiver is not None else []
        return [*first, *self.positional, *self.keywords.values()]


@final
@dataclass
class Match:
    """How arguments fill a signature; `inputs` are those given.

    `discarded` counts the values that torch makes on the way and then drops: defaults and lists for
    overloads that turn out not to fit.
    """

    signature: Signature
    inputs: tuple[typed.Expr, ...]
    bindings: tuple[typed.Binding, ...]
    variables: dict[str, Type]
    discarded: int = 0

    def result(self) -> Type:
        """The type of the call; no result or several are a tuple, named if they have names."""
        returns = self.signature.returns
        types = [instantiate(r.type, self.variables) or UNKNOWN for r in returns]
        if len(returns) == 1:
            return types[0]
        if returns and all(r.name for r in returns):
            return TupleType(tuple(types), None, tuple(r.name for r in returns))
        return TupleType(tuple(types))


@dataclass
class Mismatch:
    """Why arguments do not fit; it is false, a match true.

    `kind` is the code of the diagnostic it would make; `given` is the input at fault, or the first
    of those too many; `keyword` its name if it was passed by name; `torch` torch's sentence.
    `progress` counts the arguments that did fit, `made` the values that were made for them.
    """

    signature: Signature
    kind: str
    torch: str
    argument: Argument | None = None
    given: typed.Expr | None = None
    keyword: str | None = None
    progress: int = 0
    made: int = 0

    def __bool__(self) -> Literal[False]:
        return False


def choose(
    signatures: Sequence[Signature], given: Given, table: OperatorTable
) -> Match | list[Mismatch]:
    """The first signature that fits, or why none does."""
    signatures = [s for s in signatures if s.full_name not in table.unchosen] or signatures
    failures: list[Mismatch] = []
    discarded = 0
    for convert in (False, True) if len(signatures) > 1 else (True,):
        failures = []
        for signature in signatures if convert else _that_may_begin(signatures, given):
            found = match_signature(signature, given, table, convert=convert)
            if found:
                found.discarded += discarded
                return found
            discarded += found.made
            failures.append(found)
    return failures


_DISTINCT = frozenset(map(id, (TENSOR, INT, FLOAT, BOOL, STRING)))
"""Types of which none is a subtype of another."""


def _that_may_begin(signatures: Sequence[Signature], given: Given) -> Sequence[Signature]:
    """Without those that plainly do not take the first argument as it is.

    Most overloads of an operator take another type first; nothing is made for them.
    """
    actual = given.positional[0].type if given.receiver is None and given.positional else None
    if actual is INFERRED_TENSOR:
        actual = TENSOR
    if id(actual) not in _DISTINCT:
        return signatures

    def may(signature: Signature) -> bool:
        wanted = signature.arguments[0] if signature.arguments else None
        if wanted is None or wanted.keyword_only:
            return True
        return wanted.type is actual or id(wanted.type) not in _DISTINCT

    return [signature for signature in signatures if may(signature)]


def match_signature(
    signature: Signature, given: Given, table: OperatorTable, *, convert: bool
) -> Match | Mismatch:
    """Fit arguments to one signature, with implicit conversions if `convert` is set."""
    return _Matcher(signature, given, table, convert).run()


def _values_made(binding: typed.Binding) -> int:
    """How many values torch makes for an argument, besides what is given."""
    match binding:
        case typed.Default():
            return 1
        case typed.Given(_, conversions):
            return len(conversions)
        case typed.Gathered(elements):
            return 1 + sum(len(element.conversions) for element in elements)
        case typed.Repeated(element):
            return 1 + _values_made(element)
        case typed.FromTuple(_, elements):
            return 1 + len(elements)
        case typed.Rebuilt(_, parts):
            return 1 + len(parts) + sum(map(_values_made, parts))


class _Failed(Exception):
    def __init__(self, mismatch: Mismatch) -> None:
        super().__init__(mismatch.torch)
        self.mismatch = mismatch


class _Matcher:
    def __init__(
        self, signature: Signature, given: Given, table: OperatorTable, convert: bool
    ) -> None:
        self.signature = signature
        self.given = given
        self.table = table
        self.convert = convert
        self.inputs = given.all
        self.first = 1 if given.receiver is not None else 0
        self.variables: dict[str, Type] = {}
        self.bindings: list[typed.Binding] = []
        self.used = 0
        self.used_keywords: set[str] = set()
        self.receiver_left = given.receiver is not None

    def run(self) -> Match | Mismatch:
        try:
            for place, argument in enumerate(self.signature.arguments):
                self.bindings.append(self.fill(place, argument))
            self.finish()
        except _Failed as failed:
            failed.mismatch.made = sum(map(_values_made, self.bindings))
            return failed.mismatch
        inputs, bindings = tuple(self.inputs), tuple(self.bindings)
        return Match(self.signature, inputs, bindings, self.variables)

    def fail(
        self,
        kind: str,
        torch: str,
        argument: Argument | None = None,
        index: int | None = None,
        keyword: str | None = None,
    ) -> _Failed:
        given = self.inputs[index] if index is not None else None
        return _Failed(
            Mismatch(self.signature, kind, torch, argument, given, keyword, len(self.bindings))
        )

    # ------------------------------------------------------------------- which input goes where

    def fill(self, place: int, argument: Argument) -> typed.Binding:
        if argument.name == "self" and self.receiver_left:
            self.receiver_left = False
            return self.bind(argument, 0, None)
        if not argument.keyword_only and self.used < len(self.given.positional):
            if self.convert and self.takes_rest(place, argument):
                return self.gather(argument)
            self.used += 1
            return self.bind(argument, self.first + self.used - 1, None)
        name = self.keyword_for(argument)
        if name is not None:
            self.used_keywords.add(name)
            index = self.first + len(self.given.positional) + list(self.given.keywords).index(name)
            return self.bind(argument, index, name)
        if argument.has_default:
            return self.default(argument)
        raise self.fail("missing-argument", f"Argument {argument.name} not provided.", argument)

    def default(self, argument: Argument) -> typed.Binding:
        """The default; a number for `int[2]` is repeated: by the program, if it is a script
        function's, since torch makes that list anew for every call."""
        value, size = argument.default, argument.size
        formal = argument.type.inner
        element = formal.list_of
        if size is None or value is None or element is None:
            return typed.Default(value, _default_type(argument))
        if not isinstance(value, list):
            return typed.Default([value] * size, formal)
        if "::" in self.signature.name or not value or value != value[:1] * size:
            return typed.Default(value, formal)
        return typed.Repeated(typed.Default(value[0], element), size, element)

    def keyword_for(self, argument: Argument) -> str | None:
        """The keyword that names the argument; `input` also means an operator's `self`."""
        if argument.name in self.given.keywords:
            return argument.name
        is_operator = "::" in self.signature.name
        if is_operator and argument.name == "self" and "input" in self.given.keywords:
            return "input"
        return None

    def takes_rest(self, place: int, argument: Argument) -> bool:
        """Whether all further positional arguments may be meant as one list: `x.view(2, 3)`."""
        following = self.signature.arguments[place + 1 : place + 2]
        if following and not following[0].keyword_only:
            return False
        formal = argument.type
        element = formal.list_of
        if element is None or element.is_variable or argument.size is not None:
            return False  # an optional list is none either
        actual = self.inputs[self.first + self.used].type
        if is_subtype(actual, argument.type):
            return False
        return actual.list_of is None and not _is_list_like(actual, formal)

    def gather(self, argument: Argument) -> typed.Binding:
        element = argument.type.inner.list_of
        assert element is not None
        elements: list[typed.Given] = []
        for i in range(self.used, len(self.given.positional)):
            index = self.first + i
            type, conversions = self.converted(self.inputs[index].type, element)
            if not is_subtype(type, element):
                raise self.fail(
                    "argument-type",
                    f"Expected a value of type '{element.annotation_str}' for argument "
                    f"'<varargs>' but instead found type '{ACTUAL}'.",
                    argument,
                    index,
                )
            elements.append(typed.Given(index, conversions))
        self.used = len(self.given.positional)
        return typed.Gathered(tuple(elements), element)

    def finish(self) -> None:
        if self.receiver_left:
            raise self.fail("argument-type", "Provided self argument not used in schema.")
        positional = self.given.positional
        if self.signature.vararg:
            more = range(self.first + self.used, self.first + len(positional))
            self.bindings.extend(typed.Given(i) for i in more)
            self.used = len(positional)
        if self.used < len(positional):
            raise self.fail(
                "too-many-arguments",
                f"Expected at most {self.used} arguments but found {len(positional)} positional "
                "arguments.",
                index=self.first + self.used,
            )
        for name in self.given.keywords:
            if name in self.used_keywords:
                continue
            index = self.first + len(positional) + list(self.given.keywords).index(name)
            known = any(a.name == name for a in self.signature.arguments)
            text = "specified twice" if known else "unknown"
            raise self.fail(
                "unknown-keyword", f"Keyword argument {name} {text}.", None, index, name
            )

    # ---------------------------------------------------------------- whether an input fits

    def bind(self, argument: Argument, index: int, keyword: str | None) -> typed.Binding:
        actual = self.inputs[index].type
        if actual is UNKNOWN:
            match(argument.type, UNKNOWN, self.variables)
            return typed.Given(index)
        repeated = self.repeated(argument, index)
        if repeated is not None:
            return repeated
        wanted = self.concrete(argument, index, keyword)
        type, binding = self.towards(self.inputs[index], wanted, index)
        if not is_subtype(type, wanted):
            raise self.mismatch(argument, index, keyword, type)
        return binding

    def towards(self, given: typed.Expr, wanted: Type, index: int) -> tuple[Type, typed.Part]:
        """An input as the list that is wanted if it is a tuple or a bare `[]`, or with torch's
        implicit conversions; of a tuple its elements so."""
        actual, formal = given.type, wanted.inner
        has, element = actual.tuple_of, formal.list_of
        is_empty = isinstance(given, typed.ListLiteral) and not given.elements
        if element is not None and is_empty and actual != formal:
            return formal, typed.Gathered((), element)
        if has is not None and element is not None and _is_list_like(actual, formal):
            return formal, typed.FromTuple(index, has, element)
        if has is None or len(has) != len(formal.tuple_of or ()):
            type, conversions = self.converted(actual, wanted) if self.convert else (actual, ())
            return type, typed.Given(index, conversions)
        pairs = zip(_elements(given), formal.contained, strict=True)
        found = [self.towards(*pair, place) for place, pair in enumerate(pairs)]
        types, parts = tuple(type for type, _ in found), tuple(part for _, part in found)
        if all(isinstance(part, typed.Given) and not part.conversions for part in parts):
            return actual, typed.Given(index)
        return TupleType(types), typed.Rebuilt(index, parts, TupleType(types))

    def repeated(self, argument: Argument, index: int) -> typed.Binding | None:
        """A single number for `int[2]`."""
        element = argument.type.inner.list_of
        actual = self.inputs[index].type
        if argument.size is None or element is None:
            return None
        if actual not in (INT, FLOAT) or actual != element:
            return None
        return typed.Repeated(typed.Given(index), argument.size, element)

    def concrete(self, argument: Argument, index: int, keyword: str | None) -> Type:
        """The argument's type with the variables bound by this input."""
        if not has_variables(argument.type):
            return argument.type
        actual = self.inputs[index].type
        reason = match(argument.type, actual, self.variables)
        if reason:
            if reason.endswith(f" {actual.annotation_str}"):
                reason = reason.removesuffix(actual.annotation_str) + ACTUAL
            raise self.fail(
                "argument-type",
                f"Could not match type {ACTUAL} to {argument.type.annotation_str} "
                f"in argument '{argument.name}': {reason}.",
                argument,
                index,
                keyword,
            )
        wanted = instantiate(argument.type, self.variables)
        if wanted is None:
            raise self.fail(
                "argument-type",
                f"Type variables in type {argument.type.annotation_str} could not be inferred "
                f"from actual type {ACTUAL}",
                argument,
                index,
                keyword,
            )
        return wanted

    def mismatch(self, argument: Argument, index: int, keyword: str | None, found: Type) -> _Failed:
        is_given = found == self.inputs[index].type
        return self.fail(
            "argument-type",
            f"Expected a value of type '{argument.type.annotation_str}' for argument "
            f"'{argument.name}' but instead found type "
            f"'{ACTUAL if is_given else found.annotation_str}'."
            + f"\n{why_unfit(found, argument.type)}".rstrip("\n"),
            argument,
            index,
            keyword,
        )

    def converted(self, actual: Type, wanted: Type) -> tuple[Type, tuple[Signature, ...]]:
        """The type after torch's implicit conversion to `wanted`, and its operators."""
        name = implicit_conversion(actual, wanted)
        if name is None:
            return actual, ()
        for signature in self.table.overloads(name):
            if len(signature.arguments) >= 1 and is_subtype(actual, signature.arguments[0].type):
                return signature.returns[0].type, (signature,)
        return actual, ()


def implicit_conversion(actual: Type, wanted: Type) -> str | None:
    """The operator that converts a Tensor, number, bool or str where another type is wanted."""
    wanted = wanted.inner
    if actual == TENSOR:
        names = {FLOAT: "FloatImplicit", COMPLEX: "ComplexImplicit", INT: "IntImplicit"}
        names[NUMBER] = "ScalarImplicit"
    elif actual is NUMBER:
        names = {FLOAT: "Float", COMPLEX: "Complex", INT: "Int"}
    elif actual is BOOL:
        names = {FLOAT: "Float", INT: "Int", NUMBER: "Int"}
    elif actual is STRING:
        names = {DEVICE: "device"}
    else:
        return None
    for type, name in names.items():
        if type == wanted:
            return f"aten::{name}"
    return None


def _elements(given: typed.Expr) -> Sequence[typed.Expr]:
    """The elements of a tuple, of which no more than the types is known if it is no literal."""
    if isinstance(given, typed.TupleLiteral):
        return given.elements
    return [typed.Uninitialized(given.span, type) for type in given.type.contained]


def _default_type(argument: Argument) -> Type:
    """The type of a default as a constant: a `Scalar` that is 1 is an int, a None is a None."""
    if argument.default is None:
        return NONE
    type = argument.type.inner
    return type_of_value(argument.default) if type in (NUMBER, ANY) else type


def _is_list_like(actual: Type, formal: Type) -> bool:
    """Whether a value may be passed for a list: a list, or a tuple of fitting elements."""
    element = formal.list_of
    if element is None:
        return False
    if actual.tuple_of is not None:
        return all(is_subtype(t, element) for t in actual.tuple_of)
    return is_subtype(actual, formal)
