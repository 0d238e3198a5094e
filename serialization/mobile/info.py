"""What can be told of a mobile file without running it."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import closing

from ...typecheck.definitions.class_types import ClassType
from ...typecheck.types.types import DictType, ListType, OptionalType, TupleType, Type
from ..files.file_bytes import OpenedFile, Readable
from ..files.limits import DEFAULT_LIMITS, Limits
from .contents import MobileContents
from .flatbuffer import is_flatbuffer, read_mobile_flatbuffer
from .load import FileTypes, opened_mobile

__all__ = [
    "flatbuffer_extra_files",
    "flatbuffer_info",
    "mobile_extra_files",
    "mobile_operators",
    "mobile_types_used",
]


def mobile_operators(source: Readable, limits: Limits = DEFAULT_LIMITS) -> dict[str, int | None]:
    """The operators that the functions of a file call, with how many arguments the first of them
    pushes, -1 for any number; None before version 6 of the bytecode, where that is not written.

    Raises:
        ArchiveError: the file is no mobile file, or is damaged.
    """
    with opened_mobile(source, limits) as contents:
        return _operators(contents)


def mobile_types_used(source: Readable, limits: Limits = DEFAULT_LIMITS) -> set[str]:
    """The words of the types that instructions refer to, but for names of classes; raises as
    `mobile_operators`."""
    with opened_mobile(source, limits) as contents:
        return _types(contents)


def mobile_extra_files(source: Readable, limits: Limits = DEFAULT_LIMITS) -> tuple[str, ...]:
    """The names of the extra files; raises as `mobile_operators`."""
    with opened_mobile(source, limits) as contents:
        return tuple(contents.extra)


def flatbuffer_extra_files(data: bytes) -> dict[str, bytes]:
    """The extra files of a flatbuffer; none of other files.

    Raises:
        ArchiveError: it is damaged.
    """
    with closing(OpenedFile(io.BytesIO(data))) as file:
        if not is_flatbuffer(file):
            return {}
        extra = read_mobile_flatbuffer(file).extra
        return {name: read() for name, read in extra.items()}


def flatbuffer_info(source: Readable) -> dict[str, object]:
    """What `torch.jit._serialization.get_flatbuffer_module_info` gives of a flatbuffer.

    Raises:
        ArchiveError: it is damaged.
        OSError: the file cannot be opened.
    """
    with closing(OpenedFile(source)) as file:
        contents = read_mobile_flatbuffer(file)
    return {
        "bytecode_version": contents.version,
        "operator_version": contents.operator_version,
        "function_names": {function.name for function in contents.functions},
        "type_names": _types(contents),
        "opname_to_num_args": _operators(contents),
    }


def _operators(contents: MobileContents) -> dict[str, int | None]:
    found: dict[str, int | None] = {}
    for function in contents.functions:
        for name, overload, count in function.operators:
            full_name = f"{name}.{overload}" if overload else name
            found.setdefault(full_name, count if contents.version >= 6 else None)
    return found


def _types(contents: MobileContents) -> set[str]:
    return set(_words(contents))


def _words(contents: MobileContents) -> Iterator[str]:
    types = FileTypes(contents, ClassType)
    for function in contents.functions:
        for text in function.types:
            yield from _words_of(types.type(text))


def _words_of(type: Type) -> Iterator[str]:
    match type:
        case ClassType():
            return
        case ListType(element=element):
            yield "List"
            yield from _words_of(element)
        case OptionalType(element=element):
            yield "Optional"
            yield from _words_of(element)
        case DictType(key=key, value=value):
            yield "Dict"
            yield from _words_of(key)
            yield from _words_of(value)
        case TupleType(elements=elements, name=name):
            yield "NamedTuple" if name is not None else "Tuple"
            for element in elements:
                yield from _words_of(element)
        case _:
            yield type.annotation_str
