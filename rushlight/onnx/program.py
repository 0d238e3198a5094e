"""The ONNX model of a program: its inputs, what the walk writes, its outputs, the file."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import BinaryIO

import numpy as np

from ..frontend.diagnostics.diagnostics import Diagnostic
from ..frontend.diagnostics.render import render_rich
from ..frontend.syntax.deep_stack import deeply
from ..interpreter.values.objects import ScriptObject
from ..ops.memory.dtype import Array
from ..ops.tensors.tensor import Tensor
from ..serialization.files.atomic_file import FilePath, atomic_file, is_path, write_all
from ..typecheck.definitions.functions import Function
from ..typecheck.definitions.schema import Argument
from ..version import __version__
from . import proto
from .errors import OnnxExporterError, UnsupportedOperatorError
from .families import load_operators, load_steps
from .items import Item, Operand, Shape, Unsupported
from .messages import (
    FunctionMessage,
    GraphMessage,
    ModelMessage,
)
from .walk import Walk
from .writer import Model

__all__ = ["Program", "Wishes", "build"]

_OUTSIDE = 1 << 31
"""From this number of bytes on the weights are in a file of their own."""

Axes = Mapping[str, Mapping[int, str] | Sequence[int]]


@dataclass(frozen=True)
class Wishes:
    """What an export is asked for."""

    opset: int
    input_names: Sequence[str] = ()
    output_names: Sequence[str] = ()
    dynamic_axes: Axes = field(default_factory=dict)
    shapes: Axes = field(default_factory=dict)
    export_params: bool = True
    weights_as_inputs: bool = False
    folds: bool = True
    as_functions: bool | Collection[str] = False


def build(
    function: Function, owner: ScriptObject | None, given: Sequence[Item], wishes: Wishes
) -> Program:
    """The model of a function or method, called with these arguments; numbers are hard-coded.

    Raises:
        UnsupportedOperatorError: something has no ONNX form; it tells of everything at once.
        OnnxExporterError: a name or an axis is not there.
    """
    load_operators()
    load_steps()
    return deeply(lambda: _build(function, owner, given, wishes))


def _build(
    function: Function, owner: ScriptObject | None, given: Sequence[Item], wishes: Wishes
) -> Program:
    model = Model(wishes.opset)
    walk = Walk(model, {} if owner is None else _names(owner), wishes.folds)
    walk.as_functions = wishes.as_functions
    inputs = _Inputs(walk, wishes)
    parameters = function.signature.arguments[0 if owner is None else 1 :]
    try:
        items = [inputs.item(a, value) for a, value in zip(parameters, given, strict=True)]
    except Unsupported as reason:
        raise OnnxExporterError(f"an input cannot be exported: {reason}") from None
    inputs.check()
    results = walk.run(function, items if owner is None else [owner, *items])
    if walk.problems:
        raise _refusal(walk.problems.values())
    try:
        outputs = list(_outputs(walk, results, wishes))
    except Unsupported as reason:
        raise UnsupportedOperatorError(f"a result has no ONNX form: {reason}") from None
    return _model(walk, inputs.operands, outputs, wishes, function.name)


def _refusal(problems: Iterable[Diagnostic]) -> UnsupportedOperatorError:
    told = list(problems)
    error = UnsupportedOperatorError(render_rich(told, max_errors=len(told)).rstrip())
    error.diagnostics = tuple(told)
    return error


def _names(owner: ScriptObject) -> dict[int, str]:
    """The state's names of tensors, by identity."""
    found: dict[int, str] = {}
    waiting: list[tuple[str, ScriptObject]] = [("", owner)]
    seen = set[int]()
    while waiting:
        path, target = waiting.pop(0)
        if id(target) in seen:
            continue
        seen.add(id(target))
        for name, value in zip(target.cls.attributes, target.slots, strict=True):
            if isinstance(value, Tensor):
                found.setdefault(id(value), path + name)
            elif isinstance(value, ScriptObject):
                waiting.append((f"{path}{name}.", value))
    return found


class _Inputs:
    """The inputs of the model, made of the arguments."""

    def __init__(self, walk: Walk, wishes: Wishes) -> None:
        self.operands: list[Operand] = []
        self._walk = walk
        self._names = list(wishes.input_names)
        self._axes, self._shapes = wishes.dynamic_axes, wishes.shapes

    def item(self, parameter: Argument, value: Item) -> Item:
        """The item of an argument; each tensor in it is an input."""
        return self._item(value, parameter.name)

    def _item(self, value: Item, name: str) -> Item:
        if isinstance(value, Tensor):
            array: Array = value._array
            shape = self._shape(name, array.shape)
            return self._walk.contents.lasting(self._operand(name, array, shape, weak=False))
        if isinstance(value, bool | int | float) and name in self._axes:
            array = np.asarray(value)
            return self._operand(name, array, (), weak=True)
        if isinstance(value, list | tuple):
            parts = [self._item(each, f"{name}_{n}") for n, each in enumerate(value)]
            return self._walk.contents.lasting(parts) if isinstance(value, list) else tuple(parts)
        if isinstance(value, dict):
            named = {key: self._item(each, f"{name}_{key}") for key, each in value.items()}
            return self._walk.contents.lasting(named)
        return value

    def _operand(self, name: str, array: Array, shape: Shape, weak: bool) -> Operand:
        wanted = self._wanted(name)
        found = Operand(self._walk.model.name(wanted), array.dtype, shape, weak=weak)
        proto.element_type(array.dtype)
        self.operands.append(found)
        return found

    def _wanted(self, name: str) -> str:
        number = len(self.operands)
        return self._names[number] if number < len(self._names) else name

    def _shape(self, name: str, sizes: tuple[int, ...]) -> Shape:
        found = named_axes(self._wanted(name), sizes, self._axes)
        return named_axes(name, found, self._shapes)

    def check(self) -> None:
        """Refuse names that stand for nothing.

        Raises:
            OnnxExporterError: there are more names than inputs, or axes of something else.
        """
        if len(self._names) > len(self.operands):
            raise OnnxExporterError(
                f"number of input names provided ({len(self._names)}) exceeded number of inputs "
                f"({len(self.operands)})"
            )


def named_axes(name: str, sizes: Sequence[int | str | None], axes: Axes) -> Shape:
    """Sizes with the names of those that vary."""
    found: list[int | str | None] = list(sizes)
    wanted = axes.get(name, {})
    named = (
        wanted
        if isinstance(wanted, Mapping)
        else {axis: f"{name}_dynamic_axes_{n}" for n, axis in enumerate(wanted, 1)}
    )
    for axis, symbol in named.items():
        if not -len(found) <= axis < len(found):
            raise OnnxExporterError(f"`dynamic_axes`: `{name}` has no axis {axis}")
        found[axis] = str(symbol)
    return tuple(found)


def _outputs(walk: Walk, results: Sequence[Item], wishes: Wishes) -> Iterator[Operand]:
    """The outputs of the model, under their names."""
    flat = list(_leaves(walk.contents.resolved(list(results))))
    if len(wishes.output_names) > len(flat):
        raise OnnxExporterError(
            f"number of output names provided ({len(wishes.output_names)}) exceeded number of "
            f"outputs ({len(flat)})"
        )
    for number, item in enumerate(flat):
        operand = item if isinstance(item, Operand) else walk.w.tensor(item)
        given = wishes.output_names
        wanted = given[number] if number < len(given) else f"output_{number}"
        name = walk.model.name(wanted)
        walk.w.add(proto.make_node("Identity", [operand.name], [name], {}))
        if operand.shape is None and operand.weak and not operand.is_sequence:
            operand = replace(operand, shape=(None,))  # a list of numbers
        if not operand.is_sequence:
            if operand.shape is None:
                raise Unsupported("only a run knows its number of dimensions")
            operand = replace(operand, shape=named_axes(name, operand.shape, wishes.dynamic_axes))
        yield replace(operand, name=name)


def _leaves(item: Item) -> Iterator[Item]:
    """The tensors of a result, from left to right; None is left out."""
    if isinstance(item, list | tuple):
        for each in item:
            yield from _leaves(each)
    elif isinstance(item, dict):
        for each in item.values():
            yield from _leaves(each)
    elif item is not None:
        if isinstance(item, str) or not isinstance(item, Operand | bool | int | float):
            raise Unsupported(f"`{item}`")
        yield item


def _model(
    walk: Walk, inputs: list[Operand], outputs: list[Operand], wishes: Wishes, name: str
) -> Program:
    model = walk.model
    used = proto.names_used(walk.w.nodes)
    arrays = {key: array for key, array in model.arrays.items() if key in used}
    weights = [key for key in model.weights if key in used]
    infos = [proto.value_info(operand) for operand in inputs]
    if wishes.weights_as_inputs or not wishes.export_params:
        infos += [proto.value_info(Operand(k, arrays[k].dtype, arrays[k].shape)) for k in weights]
    if not wishes.export_params:
        arrays = {key: array for key, array in arrays.items() if key not in weights}
    graph = proto.make_graph(
        name, walk.w.nodes, infos, [proto.value_info(operand) for operand in outputs]
    )
    functions = proto.functions_used(walk.w.nodes, list(model.functions.values()))
    return Program(graph, arrays, wishes.opset, functions)


@dataclass(frozen=True)
class Program:
    """An exported program: a graph, the constants beside it, and functions that it calls."""

    graph: GraphMessage
    arrays: Mapping[str, Array]
    opset: int
    functions: tuple[FunctionMessage, ...] = ()

    def message(self) -> ModelMessage:
        """The model's message, with its constants in it."""
        weights = [proto.tensor(name, array) for name, array in self.arrays.items()]
        return self._model(weights)

    def _model(self, weights: Sequence[object]) -> ModelMessage:
        graph = proto.with_weights(self.graph, weights)
        return proto.make_model(graph, self.opset, "rushlight", __version__, self.functions)

    def save(self, file: FilePath | BinaryIO, outside: bool | None = None) -> None:
        """Write the model, whole or not at all.

        Args:
            file: a path, or an object to write to.
            outside: whether large constants go into a file of their own beside it, `NAME.data`;
                None: where they take 2 GiB or more, which is more than an ONNX file holds.

        Raises:
            OnnxExporterError: an object to write to cannot have a file beside it.
            OSError: a file cannot be written.
        """
        size = sum(array.nbytes for array in self.arrays.values())
        if not (size >= _OUTSIDE if outside is None else outside):
            data = self.message().SerializeToString()
            proto.check(data)
            _write(file, data)
            return
        if not is_path(file):
            raise OnnxExporterError("weights of 2 GiB and more need a path to write to")
        beside = os.fsdecode(file) + ".data"
        where = os.path.basename(beside)
        weights, place = [], 0
        for name, array in self.arrays.items():
            if not _is_apart(array):
                weights.append(proto.tensor(name, array))
                continue
            place += -place % _ALIGNED
            weights.append(proto.outside(name, array, where, place))
            place += array.nbytes
        data = self._model(weights).SerializeToString()
        with atomic_file(beside) as target:
            for array in filter(_is_apart, self.arrays.values()):
                write_all(target, bytes(-target.tell() % _ALIGNED))
                write_all(target, proto.little(array).data)
        _write(file, data)


_LEAST = 1024
"""Smaller constants stay in the model, in bytes."""
_ALIGNED = 4096
"""Where constants begin in a file of their own: multiples of this, so that they can be mapped."""


def _is_apart(array: Array) -> bool:
    """Whether a constant goes into a file of its own, where there is one."""
    return array.nbytes >= _LEAST and array.dtype != object


def _write(file: FilePath | BinaryIO, data: bytes) -> None:
    if is_path(file):
        with atomic_file(file) as target:
            write_all(target, data)
    else:
        write_all(file, data)
