"""The sizes of inputs that vary, as `torch.export` says them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..export.dynamic_shapes import Dim, _DimHint
from ..ops.tensors.tensor import Tensor
from ..typecheck.definitions.schema import Argument
from .errors import OnnxExporterError

__all__ = ["axes_of"]

Names = dict[str, dict[int, str]]


def axes_of(said: object, parameters: Sequence[Argument], values: Iterable[object]) -> Names:
    """The names of the axes of each tensor that vary, by the name of the tensor.

    Args:
        said: sizes by the names of parameters, or in their order; of a tensor by axis.
        parameters: those of the program.
        values: their arguments.

    Raises:
        OnnxExporterError: a parameter or an axis is not there, or something says no size.
    """
    names = [parameter.name for parameter in parameters]
    if isinstance(said, Mapping):
        unknown = [name for name in said if name not in names]
        if unknown:
            raise OnnxExporterError(f"`dynamic_shapes`: there is no parameter `{unknown[0]}`")
        wanted = {str(name): sizes for name, sizes in said.items()}
    elif isinstance(said, Sequence) and len(said) <= len(names):
        wanted = dict(zip(names, said, strict=False))
    else:
        raise OnnxExporterError("`dynamic_shapes` says sizes by parameters, or in their order")
    found: Names = {}
    for name, value in zip(names, values, strict=True):
        for place, axes in _within(wanted.get(name), value, name):
            found[place] = axes
    return found


def _within(said: Any, value: object, name: str) -> Iterator[tuple[str, dict[int, str]]]:
    """The axes of the tensors in an argument, under the names that inputs have."""
    if said is None:
        return
    if isinstance(value, Tensor):
        yield name, dict(_axes(said, value.dim(), name))
    elif isinstance(value, Mapping) and isinstance(said, Mapping):
        for key, each in value.items():
            yield from _within(said.get(key), each, f"{name}_{key}")
    elif isinstance(value, list | tuple) and isinstance(said, list | tuple):
        for number, (sizes, each) in enumerate(zip(said, value, strict=False)):
            yield from _within(sizes, each, f"{name}_{number}")
    else:
        raise OnnxExporterError(f"`dynamic_shapes`: `{name}` is of another form")


def _axes(said: Any, rank: int, name: str) -> Iterator[tuple[int, str]]:
    sizes = said if isinstance(said, Mapping) else dict(enumerate(said))
    for axis, size in sizes.items():
        if not -rank <= axis < rank:
            raise OnnxExporterError(f"`dynamic_shapes`: `{name}` has no axis {axis}")
        shown = _shown(size, f"{name}_dim_{axis % rank}")
        if shown is not None:
            yield axis % rank, shown


def _shown(size: object, otherwise: str) -> str | None:
    """The name of a size that varies; None of one that does not."""
    if isinstance(size, Dim):
        return size.__name__
    if isinstance(size, _DimHint):
        return None if size.type is Dim.STATIC.type else otherwise
    if size is None or isinstance(size, int):
        return None
    if isinstance(size, str):
        return size
    raise OnnxExporterError(f"`dynamic_shapes`: {size!r} is no size")
