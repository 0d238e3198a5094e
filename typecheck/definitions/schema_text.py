"""Operator schema text -> Signature.

    aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor

    schema    = name ("." name)? "(" (argument ("," argument)*)? ")" "->" returns
    argument  = "*" | "..." | type name ("=" default)?            (behind "*": keyword-only)
    returns   = "(" ")" | "..." | result                         (several look like a tuple)
    result    = type name?
    type      = basic ("[" int? "]" | "?" | "!" | "(" sets "!"? ("->" sets?)? ")")*
    basic     = ("Dict" | "Future" | "Await" | "RRef" | "Union") "(" type ("," type)* ")"
              | "(" result ("," result)* ")" | class | name
    sets      = (name | "*" | "$" int) ("|" (name | "*" | "$" int))*
    default   = number | string | word | "[" (default ("," default)*)? "]"

A bare `!` is an alias set of its own, which torch counts: `Tensor!` is `Tensor($0! -> )`.

Type words that are not types (`t`, `t1`) are type variables; a dtype, layout or memory format is an
int, as in torch's own script signatures.

Each process reads some hundred of them before its first script has run, so this is no grammar of
lark's: making a parser of one takes longer than all of that.
"""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from itertools import count
from typing import Final

from ...frontend.limits.bounds import bounded
from ..types.scalar_types import NUMBERS, OLD_NAMES
from ..types.types import (
    INT,
    SIMPLE_TYPES,
    DictType,
    FutureType,
    ListType,
    OptionalType,
    TupleType,
    Type,
    UnionType,
    VariableType,
)
from .builtin_classes import builtin_class
from .schema import NO_DEFAULT, AliasInfo, Argument, Signature

__all__ = ["SchemaError", "parse_schema"]


class SchemaError(ValueError):
    """A schema text that cannot be read; the message says where."""


def parse_schema(text: str) -> Signature:
    """The signature a schema text describes.

    Raises:
        SchemaError: the text is not a schema.
    """
    with bounded("the schema", SchemaError):
        return _Reading(text).schema()


def _token(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"({pattern})\s*")


_SPACE: Final = re.compile(r"\s*")
_NAME: Final = _token(r"[A-Za-z_][A-Za-z_0-9]*")
_QUALIFIED: Final = _token(r"[A-Za-z_0-9]+::[A-Za-z_0-9]+|[A-Za-z_][A-Za-z_0-9]*")
_CLASS: Final = _token(r"__torch__(?:\.[A-Za-z_0-9]+)+")
_NAMELESS: Final = _token(r"\$\d+")
_INT: Final = _token(r"\d+")
_NUMBER: Final = _token(r"-?(?:inf|nan|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)")
_STRING: Final = _token(r'"(?:\\.|[^"\\])*"|' + r"'(?:\\.|[^'\\])*'")

_USUAL_TYPE: Final = r"[A-Za-z_]\w*(?:\[\d*\])?\??(?:\([a-z]!?\))?"
_USUAL_ARGUMENT: Final = re.compile(
    rf"({_USUAL_TYPE} [A-Za-z_]\w*(?:=[\w.+-]+)?)\s*(?=[,)])", re.ASCII
)
_USUAL_RESULT: Final = re.compile(rf"{_USUAL_TYPE}\Z", re.ASCII)

_PARTS: Final = {"Dict": (2, 2), "Future": (1, 1), "Await": (1, 1), "RRef": (1, 1), "Union": (1, 0)}
"""Words before types in parentheses, and how many there are at least and at most, if any."""

_WORDS: Final[dict[str, object]] = {
    "None": None,
    "True": True,
    "False": False,
    "Mean": 1,  # at::Reduction
    "Sum": 2,
    "contiguous_format": 0,
    "long": 4,
}
_DTYPE: Final = "ScalarType"
_DTYPES: Final = {**NUMBERS, **{word: NUMBERS[name] for word, name in OLD_NAMES.items()}}


class _Reading:
    """A text, and the place up to which it has been read; each method reads what it is named by."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._place = 0
        self._nameless = count()
        self._found(_SPACE)

    # -- tokens

    def _found(self, token: re.Pattern[str]) -> str:
        """What stands next, if it is such a token; empty otherwise."""
        match = token.match(self._text, self._place)
        if match is None:
            return ""
        self._place = match.end()
        return match[match.lastindex or 0]

    def _has(self, mark: str) -> bool:
        """Whether a mark stands next, which is passed then."""
        if not self._text.startswith(mark, self._place):
            return False
        self._place += len(mark)
        self._found(_SPACE)
        return True

    def _need(self, mark: str) -> None:
        if not self._has(mark):
            raise self._wrong(f"`{mark}`")

    def _name(self) -> str:
        return self._found(_NAME) or self._raise("a name")

    def _raise(self, wanted: str) -> str:
        raise self._wrong(wanted)

    def _wrong(self, wanted: str) -> SchemaError:
        where = f"{wanted} is wanted at character {self._place}"
        return SchemaError(f"not an operator schema: {self._text!r}: {where}")

    # -- the parts of a schema

    def schema(self) -> Signature:
        name = self._found(_QUALIFIED) or self._raise("the name of an operator")
        overload = self._name() if self._has(".") else ""
        self._need("(")
        arguments, vararg = self._arguments()
        self._need("->")
        returns, varret = self._returns()
        if self._place < len(self._text):
            raise self._wrong("the end")
        return Signature(name, overload, arguments, returns, vararg, varret)

    def _arguments(self) -> tuple[tuple[Argument, ...], bool]:
        found = list[Argument]()
        keyword_only = False
        while not self._has(")"):
            if found or keyword_only:
                self._need(",")
            if self._has("..."):
                self._need(")")
                if any(argument.has_default for argument in found):
                    raise SchemaError("schemas with vararg (...) can't have default value args")
                return tuple(found), True
            if self._has("*"):
                keyword_only = True
            else:
                found.append(self._usual_argument(keyword_only) or self._argument(keyword_only))
        return tuple(found), False

    def _usual_argument(self, keyword_only: bool) -> Argument | None:
        """An argument such as many operators have; None if it is another, or there is none."""
        match = _USUAL_ARGUMENT.match(self._text, self._place)
        if match is None:
            return None
        try:
            found = _argument_of(match[1], keyword_only)
        except SchemaError:
            return None  # which is told with its place in the whole text
        self._place = match.end()
        return found

    def _argument(self, keyword_only: bool) -> Argument:
        type, size, alias, word = self._type()
        name = self._name()
        value = self._default(type, of_dtype=word == _DTYPE) if self._has("=") else NO_DEFAULT
        return Argument(name, type, value, keyword_only, size, alias, word)

    def _returns(self) -> tuple[tuple[Argument, ...], bool]:
        if self._has("..."):
            return (), True
        start = self._place
        if _USUAL_RESULT.match(self._text, start):
            self._place = len(self._text)
            return (_result_of(self._text[start:]),), False
        if not self._has("("):
            return (self._result(),), False
        if self._has(")"):
            return (), False
        results = self._several()
        if self._text[self._place : self._place + 1] in ("[", "?", "("):
            self._place = start  # one type that begins with a tuple
            return (self._result(),), False
        self._found(_NAME)
        return results, False

    def _result(self) -> Argument:
        type, size, alias, word = self._type()
        return Argument(self._found(_NAME), type, size=size, alias=alias, word=word)

    def _several(self) -> tuple[Argument, ...]:
        """Results up to a closing parenthesis."""
        found = [self._result()]
        while not self._has(")"):
            self._need(",")
            found.append(self._result())
        return tuple(found)

    # -- types

    def _type(self) -> tuple[Type, int | None, AliasInfo | None, str]:
        """The type, the N of a trailing `[N]`, the alias mark, and what the schema calls a number
        that stands for something else, empty if it stands for none."""
        type, word = self._basic()
        size: int | None = None
        alias: AliasInfo | None = None
        while True:
            if self._has("["):
                digits = self._found(_INT)
                size = int(digits) if digits else None
                self._need("]")
                type = ListType(type)
                if alias is not None:
                    alias = AliasInfo(alias.sets, alias.is_write, alias.after, of_elements=True)
            elif self._has("?"):
                type = OptionalType(type)
            elif self._has("("):
                alias = self._alias()
            elif self._has("!"):
                alias = AliasInfo((f"${next(self._nameless)}",), True, ("",))
            else:
                return type, size, alias, word

    def _basic(self) -> tuple[Type, str]:
        if self._has("("):
            return TupleType(tuple(each.type for each in self._several())), ""
        name = self._found(_CLASS)
        if name:
            return builtin_class(name), ""
        name = self._found(_NAME) or self._raise("a type")
        if name in _PARTS:
            return self._made_of_parts(name), ""
        type = SIMPLE_TYPES.get(name)
        is_word = type is INT and name != INT.text
        return type or VariableType(name), name if is_word else ""

    def _made_of_parts(self, name: str) -> Type:
        self._need("(")
        parts = [self._type()[0]]
        while not self._has(")"):
            self._need(",")
            parts.append(self._type()[0])
        least, most = _PARTS[name]
        if len(parts) < least or (most and len(parts) > most):
            raise self._wrong(f"{least} types for {name}")
        match name:
            case "Dict":
                return DictType(*parts)
            case "Union":
                return UnionType(tuple(parts))
            case "Await" | "RRef":
                return FutureType(parts[0], name)
            case _:
                return FutureType(parts[0])

    def _alias(self) -> AliasInfo:
        sets, after = self._sets(), tuple[str, ...]()
        is_write = self._has("!")
        if self._has("->"):
            after = ("",) if self._text.startswith(")", self._place) else self._sets()
        self._need(")")
        return AliasInfo(sets, is_write, after)

    def _sets(self) -> tuple[str, ...]:
        found = [self._set()]
        while self._has("|"):
            found.append(self._set())
        return tuple(found)

    def _set(self) -> str:
        if self._has("*"):
            return "*"
        return self._found(_NAMELESS) or self._name()

    # -- defaults

    def _default(self, type: Type, *, of_dtype: bool = False) -> object:
        """A default's value; a whole number for a float argument is a float, a dtype its number."""
        if self._has("["):
            return self._defaults(type.contained[0] if type.contained else type)
        number = self._found(_NUMBER)
        if number:
            is_whole = number.lstrip("-").isdigit() and "float" not in str(type)
            return int(number) if is_whole else float(number)
        text = self._found(_STRING)
        if text:
            try:
                return ast.literal_eval(text)
            except SyntaxError:
                raise SchemaError(f"no text is {text[:80]}") from None
        word = self._found(_NAME) or self._raise("a default")
        if of_dtype and word in _DTYPES:
            return _DTYPES[word]
        if word not in _WORDS:
            raise SchemaError(f"unknown default {word}")
        return _WORDS[word]

    def _defaults(self, element: Type) -> list[object]:
        found = list[object]()
        while not self._has("]"):
            if found:
                self._need(",")
            found.append(self._default(element))
        return found

    # -- what many operators have

    def only_argument(self, keyword_only: bool) -> Argument:
        """The argument that is all of the text."""
        found = self._argument(keyword_only)
        if self._place < len(self._text):
            raise self._wrong("the end")
        return found

    def only_result(self) -> Argument:
        """The same of a result without a name."""
        found = self._result()
        if self._place < len(self._text):
            raise self._wrong("the end")
        return found


@lru_cache(2048)
def _argument_of(text: str, keyword_only: bool) -> Argument:
    """Operators have some hundred different arguments in all, which nobody changes."""
    return _Reading(text).only_argument(keyword_only)


@lru_cache(256)
def _result_of(text: str) -> Argument:
    return _Reading(text).only_result()
