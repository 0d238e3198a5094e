"""Binding the arguments of a call to a signature."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...frontend.limits.walks import text_of
from ...typecheck.definitions.functions import Function
from ...typecheck.definitions.schema import Argument, Signature
from ...typecheck.definitions.signature_text import expected_text, type_text
from ...typecheck.types.types import FLOAT, INT, NONE, TupleType
from .call_errors import (
    given_twice,
    missing_argument,
    too_many_arguments,
    unknown_keyword,
    wrong_type,
)
from .inward import CastError, Convert, inward
from .outward import outward
from .recognized import recognizing

__all__ = ["Binding", "declaration"]


def _inward_of(argument: Argument) -> Convert:
    """The conversion of an argument; one number may stand for a list of a known size."""
    convert, size, element = inward(argument.type), argument.size, argument.type.inner.list_of
    if size is None or element is None:
        return convert
    number = {str(INT): int, str(FLOAT): float}.get(str(element))

    def repeat(value: object) -> object:
        return convert([value] * size if value.__class__ is number else value)

    return repeat


def _holds_objects(argument: Argument) -> bool:
    """Whether an argument is, or holds, objects of script classes: copies of Python's."""
    inside = {argument.type}
    left = [argument.type]
    while left:
        type = left.pop()
        if type.is_class and not type.is_module:
            return True
        left += set(type.contained) - inside
        inside.update(type.contained)
    return False


class Binding:
    """How Python calls a function: conversions of its arguments and of its result."""

    def __init__(self, function: Function, signature: Signature) -> None:
        self.function = function
        self.signature = signature
        self.arguments = self.signature.arguments
        self._inward = [_inward_of(a) for a in self.arguments]
        returns = [r.type for r in self.signature.returns]
        result = returns[0] if len(returns) == 1 else TupleType(tuple(returns)) if returns else NONE
        self.give_back = outward(result)
        self.recognize = recognizing(result)
        self.takes_objects = any(map(_holds_objects, self.arguments))
        self._positional = sum(not a.keyword_only for a in self.arguments)
        self._plain = self._positional if self._positional == len(self.arguments) else -1

    def conversion(self, place: int) -> Convert:
        """What takes the argument at a place to the machine; it raises `CastError`."""
        return self._inward[place]

    def bind(self, args: Sequence[object], kwargs: Mapping[str, object] | None) -> list[object]:
        """The machine values of the arguments.

        Raises:
            RuntimeError: one is missing, unknown, given twice or of the wrong type.
        """
        if len(args) == self._plain and not kwargs:
            try:
                return [convert(value) for convert, value in zip(self._inward, args, strict=True)]
            except CastError:
                return self._bind(args, None)  # which says where
        return self._bind(*self._complete(args, kwargs or {}))

    def _bind(self, args: Sequence[object], fault: Exception | None) -> list[object]:
        position = 0
        values = []
        try:
            for convert, value in zip(self._inward, args, strict=False):
                values.append(value.value if value.__class__ is _Default else convert(value))
                position += 1
        except CastError as reason:
            error = self._wrong_type(position, args[position], str(reason))
            raise error from None
        if fault is not None:
            raise fault
        return values

    def _complete(
        self, args: Sequence[object], kwargs: Mapping[str, object]
    ) -> tuple[list[object], Exception | None]:
        """The arguments in the order of the signature, defaults put in; and what is wrong.

        A wrong type of an argument that is there is told before what is missing or too much.
        """
        self._check_count(len(args), len(args) + len(kwargs))
        complete = list(args)
        left = dict(kwargs)
        for argument in self.arguments[len(args) :]:
            if argument.name in left:
                complete.append(left.pop(argument.name))
            elif argument.has_default:
                complete.append(_Default(argument.default))
            else:
                torch = (
                    f"{self.signature_name}() is missing value for argument '{argument.name}'. "
                    f"Declaration: {declaration(self.signature)}"
                )
                return complete, missing_argument(self.function, argument, torch)
        return complete, self._left_over(left, len(args))

    def _left_over(self, left: Mapping[str, object], given: int) -> Exception | None:
        """What is wrong with keywords that no argument has taken."""
        known = {a.name: a for a in self.arguments[:given]}
        for name in left:
            if name in known:
                torch = (
                    f"Argument '{name}' specified both as positional and keyword "
                    f"argument. Schema: {declaration(self.signature)}"
                )
                return given_twice(self.function, known[name], torch)
            torch = (
                f"Unknown keyword argument '{name}' for operator '{self.signature_name}'. Schema: "
                f"{declaration(self.signature)}"
            )
            return unknown_keyword(self.function, name, [a.name for a in self.arguments], torch)
        return None

    def _check_count(self, positional: int, given: int) -> None:
        if given > len(self.arguments):
            raise self._too_many(
                given,
                f"{self.signature_name}() expected at most {len(self.arguments)} argument(s) but "
                f"received {given} argument(s). Declaration: {declaration(self.signature)}",
            )
        if positional > self._positional:
            raise self._too_many(
                positional,
                f"{self.signature_name}() takes {self._positional} positional argument(s) but "
                f"{positional} was/were given.  Declaration: {declaration(self.signature)}",
            )

    def _too_many(self, given: int, torch: str) -> Exception:
        bound = self.function.owner is not None
        return too_many_arguments(self.function, self._positional - bound, given - bound, torch)

    @property
    def signature_name(self) -> str:
        """The name torch calls the function by."""
        return self.signature.name.rpartition(".")[2]

    def _wrong_type(self, position: int, value: object, reason: str) -> Exception:
        argument = self.arguments[position]
        inferred = self._is_inferred(argument)
        lines = [
            f"{self.signature_name}() Expected a value of type "
            f"'{expected_text(argument.type)}{' (inferred)' if inferred else ''}' for argument "
            f"'{argument.name}' but instead found type '{_class_of(value)}'.",
            f"Position: {position}",
            f"Value: {text_of(value)}",
            f"Declaration: {declaration(self.signature)}",
            reason,
        ]
        if inferred:
            lines.insert(
                1,
                f"Inferred '{argument.name}' to be of type 'Tensor' because it was not annotated "
                "with an explicit type.",
            )
        return wrong_type(self.function, argument, value, "\n".join(lines))

    def _is_inferred(self, argument: Argument) -> bool:
        """Whether the argument is a tensor because no annotation says anything else."""
        tree = self.function.written
        if tree is None or str(argument.type) != "Tensor":
            return False
        return any(p.name == argument.name and p.annotation is None for p in tree.parameters)


class _Default:
    """A default, which is a machine value already; lists and dicts are copied."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value.copy() if isinstance(value, list | dict) else value


def _class_of(value: object) -> str:
    """A value's class, with the fields of a named tuple."""
    name: str = value.__class__.__name__
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return f"{name} (aka NamedTuple({', '.join(value._fields)}))"
    return name


def declaration(signature: Signature) -> str:
    """`f(int x, float y=2.) -> float`, as torch writes it."""
    parts: list[str] = []
    for number, argument in enumerate(signature.arguments):
        first = number == 0 or not signature.arguments[number - 1].keyword_only
        if argument.keyword_only and first:
            parts.append("*")
        default = f"={_default_text(argument.default)}" if argument.has_default else ""
        type = type_text(argument.type)
        if argument.size is not None:
            type = type.replace("[]", f"[{argument.size}]", 1)
        parts.append(f"{type} {argument.name}{default}")
    returns = [type_text(r.type) for r in signature.returns]
    tupled = [f"({t})" if t.startswith("(") else t for t in returns]
    result = tupled[0] if len(returns) == 1 else f"({', '.join(returns)})"
    return f"{signature.name.rpartition('.')[2]}({', '.join(parts)}) -> {result}"


def _default_text(value: object) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, float):
        text = f"{value:.17g}"
        return text if any(c in text for c in ".en") else f"{text}."
    if isinstance(value, list | tuple):
        left, right = ("[", "]") if isinstance(value, list) else ("(", ")")
        return f"{left}{', '.join(map(_default_text, value))}{right}"
    return str(value)
