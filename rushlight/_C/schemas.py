"""Signatures as `torch._C` has them: `str(f.schema)`, `schema.arguments[0].default_value`."""

from __future__ import annotations

from ..ops.table.table import TABLE
from ..typecheck.definitions.schema import AliasInfo, Signature
from ..typecheck.definitions.schema import Argument as InnerArgument
from ..typecheck.definitions.schema_text import SchemaError
from ..typecheck.definitions.schema_text import parse_schema as read_schema
from ..typecheck.definitions.signature_text import torch_signature
from .schema_compatibility import fits_old_calls, fits_old_readers
from .types import Type as TypeHandle
from .types import type_handle

__all__ = [
    "Argument",
    "FunctionSchema",
    "all_schemas",
    "parse_schema",
    "schemas_of",
]


class Argument:
    """A parameter or result of a signature."""

    __slots__ = ("_inner",)

    def __init__(self, inner: InnerArgument) -> None:
        self._inner = inner

    @property
    def name(self) -> str:
        """The name; empty for most results."""
        return self._inner.name

    @property
    def real_type(self) -> TypeHandle:
        """The type; the same one here."""
        return type_handle(self._inner.type)

    @property
    def N(self) -> int | None:
        """How often a single number is repeated where a list is wanted."""
        return self._inner.size

    @property
    def default_value(self) -> object:
        """The default, a number for a list repeated; None if there is none."""
        found = self._inner.default if self._inner.has_default else None
        if self._inner.size is not None and isinstance(found, (int, float)):
            return [found] * self._inner.size
        return found

    @property
    def type(self) -> TypeHandle:
        """The type."""
        return type_handle(self._inner.type)

    def has_default_value(self) -> bool:
        """Whether it may be left out."""
        return self._inner.has_default

    @property
    def kwarg_only(self) -> bool:
        """Whether it must be given by name."""
        return self._inner.keyword_only

    @property
    def is_write(self) -> bool:
        """Whether the call changes it."""
        return self._inner.alias is not None and self._inner.alias.is_write

    @property
    def is_out(self) -> bool:
        """Whether the result is written into it."""
        return self.is_write and self.kwarg_only

    @property
    def alias_info(self) -> object:
        """The sets of memory it belongs to: `before_set`, `after_set`, `is_write`."""
        return None if self._inner.alias is None else _AliasInfo(self._inner.alias)


class _AliasInfo:
    """What a schema says of an argument's memory."""

    __slots__ = ("after_set", "before_set", "is_write")

    def __init__(self, alias: AliasInfo) -> None:
        self.is_write = alias.is_write
        self.before_set = set(alias.sets)
        self.after_set = set(filter(None, alias.after or alias.sets))


class FunctionSchema:
    """The signature of a function or operator."""

    __slots__ = ("_inner",)

    def __init__(self, inner: Signature) -> None:
        self._inner = inner

    @property
    def name(self) -> str:
        """`aten::add`, or a function's name."""
        return self._inner.name

    @property
    def overload_name(self) -> str:
        """`Tensor`; empty for the only overload."""
        return self._inner.overload

    @property
    def arguments(self) -> list[Argument]:
        """The parameters."""
        return [Argument(argument) for argument in self._inner.arguments]

    @property
    def returns(self) -> list[Argument]:
        """The results."""
        return [Argument(result) for result in self._inner.returns]

    @property
    def is_mutable(self) -> bool:
        """Whether an argument is changed."""
        return self._inner.is_mutable

    def is_backward_compatible_with(self, old: FunctionSchema) -> bool:
        """Whether calls and archives made for the old one are right for this one."""
        return fits_old_calls(self._inner, old._inner)

    def check_forward_compatible_with(self, old: FunctionSchema) -> tuple[bool, str]:
        """Whether what is saved with this one can be read where there is the old one."""
        return fits_old_readers(self._inner, old._inner)

    def __str__(self) -> str:
        return torch_signature(self._inner)

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FunctionSchema) and self._inner == other._inner

    def __hash__(self) -> int:
        return hash(str(self))


# ----------------------------------------------------------------------------------- look-up


def parse_schema(schema: str) -> FunctionSchema:
    """The schema that a text describes.

    Raises:
        RuntimeError: the text is not a schema.
    """
    try:
        return FunctionSchema(read_schema(schema))
    except SchemaError as error:
        raise RuntimeError(str(error)) from None


def schemas_of(name: str) -> list[FunctionSchema]:
    """The overloads of an operator; empty for an unknown name."""
    return [FunctionSchema(entry.signature) for entry in TABLE.operators(name)]


def all_schemas() -> list[FunctionSchema]:
    """The overloads of all operators."""
    return [schema for name in TABLE.names() for schema in schemas_of(name)]
