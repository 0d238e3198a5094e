"""Arguments of a scripted method from the command line: Python literals and NumPy's files.

A word is, in this order: `name=word` for a parameter of that name; the path of an `.npy` file (an
array) or `.npz` file (arrays by parameter name, or `arr_0`, `arr_1`, ... in order), or one array of
a file as `file.npz:name`; for a `str` parameter, the text itself unless it is a quoted literal; a
Python literal.  Where a parameter is a Tensor, numbers and nested lists of numbers become one.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from ..ops.memory.dtype import Array
from ..ops.tensors.python_data import array_of_data
from ..ops.tensors.tensor import Tensor
from ..serialization.files.npy import UNREADABLE, loaded_arrays
from ..typecheck.definitions.schema import Argument
from ..typecheck.types.types import STRING, TENSOR, Type
from .failure import CommandError, one_line

__all__ = ["convert", "read_array", "read_inputs"]


def read_inputs(
    words: Sequence[str], parameters: Sequence[Argument]
) -> tuple[list[object], dict[str, object]]:
    """Positional and keyword arguments from the words of the command line.

    Raises:
        CommandError: a word is no literal, a file cannot be read, or a value cannot become what
            its parameter is.
    """
    by_name = {parameter.name: parameter for parameter in parameters}
    args: list[object] = []
    kwargs: dict[str, object] = {}
    for word in words:
        name, equals, rest = word.partition("=")
        if equals and name in by_name:
            if name in kwargs:
                raise CommandError(f"`{name}` is given twice")
            kwargs[name] = _value(rest, by_name[name])
        elif word.endswith(".npz"):
            for key, array in _arrays(word, by_name).items():
                if key in by_name:
                    kwargs[key] = Tensor._of(array)
                else:
                    args.append(Tensor._of(array))
        else:
            parameter = parameters[len(args)] if len(args) < len(parameters) else None
            args.append(_value(word, parameter))
    return args, kwargs


def _value(word: str, parameter: Argument | None) -> object:
    """The value of a word that stands for one argument."""
    path, colon, key = word.rpartition(":")
    if word.endswith(".npy"):
        return Tensor._of(read_array(word))
    if colon and path.endswith(".npz"):
        arrays = _read_arrays(path)
        if key not in arrays:
            raise CommandError(f"{path}: no array `{key}`; there are: {', '.join(arrays)}")
        return Tensor._of(arrays[key])
    if parameter is None:
        return _literal(word, "")
    if _takes_text(parameter.type):
        return _text(word)
    return convert(_literal(word, parameter.name), parameter.type, parameter.name)


def _takes_text(type: Type) -> bool:
    return type == STRING


def _text(word: str) -> str:
    try:
        value = ast.literal_eval(word)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return word
    return value if isinstance(value, str) else word


def _literal(word: str, name: str) -> object:
    try:
        return ast.literal_eval(word.strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        place = f" for `{name}`" if name else ""
        wanted = "a Python literal such as 3, [1.0, 2.0] or 'text', or an .npy or .npz file"
        raise CommandError(f"cannot read {word!r}{place}: expected {wanted}") from None


# ----------------------------------------------------------------------------- NumPy's files


def _arrays(path: str, parameters: Mapping[str, Argument]) -> dict[str, Array]:
    """The arrays of an `.npz` file, those without a parameter's name first and in order."""
    arrays = _read_arrays(path)
    strangers = [key for key in arrays if key not in parameters]
    unknown = [key for key in strangers if not key.startswith("arr_")]
    if unknown:
        known = ", ".join(parameters) or "none"
        raise CommandError(f"{path}: `{unknown[0]}` is not a parameter; there are: {known}")
    return {key: arrays[key] for key in [*strangers, *(k for k in arrays if k in parameters)]}


def read_array(path: str) -> Array:
    """The array of an `.npy` file.

    Raises:
        CommandError: it cannot be read, holds several, or elements that no tensor can have.
    """
    array = _read(path)
    if isinstance(array, dict):
        raise CommandError(f"{path}: an archive of arrays, not one array")
    return array


def _read_arrays(path: str) -> dict[str, Array]:
    """The arrays of an `.npz` file by name."""
    arrays = _read(path)
    if not isinstance(arrays, dict):
        raise CommandError(f"{path}: one array, not an archive of arrays")
    return arrays


def _read(path: str) -> Array | dict[str, Array]:
    """The array of an `.npy` file, or the arrays of an `.npz` file by name."""
    try:
        with open(path, "rb") as file:  # NumPy leaves a broken archive open
            loaded = loaded_arrays(file)
    except FileNotFoundError:
        raise CommandError(f"{path}: no such file") from None
    except UNREADABLE as error:
        raise CommandError(f"{path}: {one_line(error)}") from None
    if isinstance(loaded, dict):
        return {name: _numeric(path, array) for name, array in loaded.items()}
    return _numeric(path, loaded)


def _numeric(path: str, array: Array) -> Array:
    if array.dtype.kind not in "biufc":
        raise CommandError(f"{path}: a tensor cannot hold {array.dtype}")
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


# ------------------------------------------------------------------------- values for types


def convert(value: object, type: Type, name: str = "") -> Any:
    """A literal as a value of a parameter's type: numbers and nested lists become tensors.

    What has no tensor in it is given back as it is; the call checks it.

    Raises:
        CommandError: the value cannot be a tensor where one is wanted.
    """
    if type == TENSOR:
        return _tensor(value, name)
    if type.optional_of is not None:
        return None if value is None else convert(value, type.optional_of, name)
    if (element := type.list_of) is not None and isinstance(value, list | tuple):
        return [convert(item, element, name) for item in value]
    if type.tuple_of is not None and isinstance(value, list | tuple):
        if len(value) != len(type.tuple_of):
            return value
        pairs = zip(value, type.tuple_of, strict=True)
        return tuple(convert(item, element, name) for item, element in pairs)
    if (entry := type.dict_of) is not None and isinstance(value, dict):
        return {
            convert(key, entry[0], name): convert(item, entry[1], name)
            for key, item in value.items()
        }
    if type.is_choice and isinstance(value, list | tuple):
        lists = any(m.list_of is not None or m.tuple_of is not None for m in type.alternatives)
        return _tensor(value, name) if TENSOR in type.alternatives and not lists else value
    return value


def _tensor(value: object, name: str) -> Tensor:
    place = f" for `{name}`" if name else ""
    if not isinstance(value, bool | int | float | complex | list | tuple):
        raise CommandError(f"cannot make a tensor{place} from {value!r}")
    try:
        return Tensor._of(array_of_data(value, None))
    except (RuntimeError, ValueError, TypeError) as error:
        raise CommandError(f"cannot make a tensor{place}: {one_line(error)}") from None
