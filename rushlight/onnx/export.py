"""`torch.onnx.export`."""

from __future__ import annotations

import inspect
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, BinaryIO

from ..frontend.diagnostics.exceptions import trimmed
from ..jit.function import ScriptFunction
from ..jit.module import ScriptModule
from ..jit.qualified_names import qualified_name
from ..jit.trace import trace
from ..nn.modules.module import Module
from ..ops.tensors.tensor import Tensor
from ..typecheck.definitions.functions import Function
from ..typecheck.definitions.schema import Argument
from . import proto
from .dynamic_shapes import axes_of
from .errors import OnnxExporterError
from .modes import OperatorExportTypes, TrainingMode, exporting
from .running import feeds, result_of

if TYPE_CHECKING:
    from .program import Program, Wishes

__all__ = ["DEFAULT_OPSET", "ONNXProgram", "export"]

DEFAULT_OPSET = 18
"""The opset of files when none is asked for: torch's default."""

_OLDEST = 17
"""The oldest opset that is written: operators have one form from here on."""

File = str | os.PathLike[str] | BinaryIO


class ONNXProgram:
    """An exported model.  `model_proto` is its message, as the package `onnx` knows it."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._session: Any = None

    @property
    def model_proto(self) -> Any:
        return self._program.message()

    def __call__(self, *args: object, **kwargs: object) -> tuple[Tensor, ...]:
        """The results that ONNX Runtime gives for arguments, as they stand in the file.

        Raises:
            ImportError: onnxruntime is not installed.
            TypeError: there are more or fewer arguments than inputs.
        """
        if self._session is None:
            try:
                runtime = import_module("onnxruntime")
            except ImportError:
                raise ImportError(
                    "a call of an ONNXProgram needs the package onnxruntime: "
                    "pip install rushlight[onnxruntime]"
                ) from None
            data = self.model_proto.SerializeToString()
            self._session = runtime.InferenceSession(data, providers=["CPUExecutionProvider"])
        names = [each.name for each in self._session.get_inputs()]
        return tuple(map(result_of, self._session.run(None, feeds(names, args, kwargs))))

    def call_reference(self, *args: object, **kwargs: object) -> tuple[Tensor, ...]:
        """The same by the package onnx's own evaluator, which is slow."""
        model = self.model_proto
        evaluator = import_module("onnx.reference").ReferenceEvaluator(model)
        given = feeds([each.name for each in model.graph.input], args, kwargs)
        return tuple(map(result_of, evaluator.run(None, given)))

    def release(self) -> None:
        """Let go of what calls have made."""
        self._session = None

    def save(self, destination: File, *, external_data: bool | None = None) -> None:
        """Write the model, whole or not at all.

        Args:
            destination: a path, or an object to write bytes to.
            external_data: whether large weights go into `destination` + ".data"; None: where they
                take 2 GiB or more.
        """
        self._program.save(destination, external_data)


def export(
    model: Module | ScriptModule | ScriptFunction,
    args: object = (),
    f: File | None = None,
    *,
    kwargs: Mapping[str, object] | None = None,
    verbose: bool | None = None,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    opset_version: int | None = None,
    dynamo: bool = True,
    external_data: bool = True,
    dynamic_shapes: object = None,
    custom_translation_table: object = None,
    report: bool = False,
    optimize: bool = True,
    verify: bool = False,
    profile: bool = False,
    dump_exported_program: bool = False,
    artifacts_dir: str | os.PathLike[str] = ".",
    export_params: bool = True,
    keep_initializers_as_inputs: bool = False,
    dynamic_axes: Mapping[str, Mapping[int, str]] | Mapping[str, Sequence[int]] | None = None,
    training: TrainingMode = TrainingMode.EVAL,
    operator_export_type: OperatorExportTypes = OperatorExportTypes.ONNX,
    do_constant_folding: bool = True,
    custom_opsets: Mapping[str, int] | None = None,
    export_modules_as_functions: bool | Collection[type[Module]] = False,
    autograd_inlining: bool = True,
) -> ONNXProgram | None:
    """Write a model as an ONNX file.

    A scripted, traced, frozen or loaded program is exported as it is, with its branches and loops;
    a plain module is traced first.  There is one exporter: `dynamo` says only whether an
    `ONNXProgram` is given back, as torch does.

    Args:
        model: a scripted module or function, or a module.
        args: the arguments, a tuple or one tensor.  Tensors become inputs, whose dtypes and number
            of dimensions are fixed; everything else is hard-coded, except numbers that
            `dynamic_axes` names, as in `{"n": {}}`, which become inputs without dimensions.
        f: a path, or an object to write bytes to; it is written whole or not at all.
        kwargs: further arguments by name.
        verbose: whether the graph is printed.
        input_names: names of the inputs, in order; the others have those of the parameters.
        output_names: names of the outputs, in order; the others are `output_0`, `output_1`, ...
        opset_version: from 17 to the newest of the installed package `onnx`; None: 18.
        external_data: whether weights of 2 GiB and more may go into `f` + ".data".
        export_params: whether weights are in the file; if not they are inputs.
        keep_initializers_as_inputs: whether weights are inputs too.
        dynamic_axes: which axes of inputs and outputs vary, by name: `{"x": {0: "batch"}}` or
            `{"x": [0]}`.  The other sizes are those of `args`.
        dynamic_shapes: the same of inputs, as `torch.export` says it: by names of parameters or in
            their order, `{"x": {0: torch.export.Dim("batch")}}`; `Dim.DYNAMIC` and names do, too.
        training: the mode of plain modules while they are traced.
        export_modules_as_functions: whether calls of modules are written as functions of the file,
            of all modules or of those of some classes; equal ones share a function.
        do_constant_folding: whether what depends on constant tensors alone is computed now.

    `custom_translation_table`, `custom_opsets`, `verify` and other
    export types than ONNX are refused; the remaining arguments have no effect.

    Raises:
        UnsupportedOperatorError: something has no ONNX form; all such places are told of at once,
            and nothing is written.
        OnnxExporterError: an argument cannot be followed, or the package `onnx` is missing.
        OSError: the file cannot be written; what was there before is as it was.
    """
    _refuse(
        custom_translation_table=custom_translation_table,
        custom_opsets=custom_opsets,
        verify=verify,
        operator_export_type=operator_export_type is not OperatorExportTypes.ONNX,
    )
    with trimmed():
        wishes = _program_module().Wishes(
            opset=_opset(opset_version),
            input_names=tuple(input_names or ()),
            output_names=tuple(output_names or ()),
            dynamic_axes=dynamic_axes or {},
            export_params=export_params,
            weights_as_inputs=keep_initializers_as_inputs,
            folds=do_constant_folding,
            as_functions=_as_functions(export_modules_as_functions),
        )
        made = _built(model, *_arguments(args, kwargs), training, wishes, dynamic_shapes)
        if verbose:
            print(made.graph)
        if f is not None:
            made.save(f, None if external_data else False)
    return ONNXProgram(made) if dynamo else None


def _built(
    model: object,
    given: tuple[object, ...],
    named: dict[str, Tensor],
    training: TrainingMode,
    wishes: Wishes,
    shapes: object,
) -> Program:
    """The file's content: the model's function, with what the arguments say."""
    with exporting(), _in_mode(model, training):
        scripted = _scripted(model, given, named)
        function, owner = _function(scripted)
        parameters = function.signature.arguments[0 if owner is None else 1 :]
        values = _bound(parameters, given, named)
        if shapes is not None:
            wishes = replace(wishes, shapes=axes_of(shapes, parameters, values))
        made: Program = _program_module().build(function, owner, values, wishes)
        return made


def _refuse(**given: object) -> None:
    for name, value in given.items():
        if value:
            raise OnnxExporterError(f"torch.onnx.export: `{name}` is not supported by rushlight")


def _as_functions(wanted: bool | Collection[type[Module]]) -> bool | frozenset[str]:
    """The classes of modules by their names in compiled code."""
    if isinstance(wanted, bool):
        return wanted
    return frozenset(qualified_name(each) for each in wanted)


def _program_module() -> ModuleType:
    try:
        import_module("onnx")
    except ModuleNotFoundError:
        raise OnnxExporterError(
            "torch.onnx.export needs the package `onnx`: pip install rushlight[onnx]"
        ) from None
    return import_module(".program", __package__)


def _opset(wanted: int | None) -> int:
    newest = proto.newest()
    found = DEFAULT_OPSET if wanted is None else wanted
    if not _OLDEST <= found <= newest:
        raise OnnxExporterError(
            f"opset {found} is not written: there are {_OLDEST} to {newest}, the newest of the "
            "installed package `onnx`"
        )
    return found


def _arguments(
    args: object, kwargs: Mapping[str, object] | None
) -> tuple[tuple[object, ...], dict[str, Any]]:
    """Arguments by position and by name: a dict at the end of `args` is the latter."""
    given = args if isinstance(args, tuple) else (args,)
    if kwargs is None and len(given) > 1 and isinstance(given[-1], dict):
        return given[:-1], given[-1]
    return given, dict(kwargs or {})


@contextmanager
def _in_mode(model: object, mode: TrainingMode) -> Iterator[None]:
    """Set a plain module's mode for a while; compiled programs stay as they are."""
    if not isinstance(model, Module) or isinstance(model, ScriptModule):
        yield
        return
    before = [(module, module.training) for module in model.modules()]
    if mode is not TrainingMode.PRESERVE:
        model.train(mode is TrainingMode.TRAINING)
    try:
        yield
    finally:
        for module, was in before:
            module.training = was


def _scripted(
    model: object, given: tuple[object, ...], named: Mapping[str, object]
) -> ScriptModule | ScriptFunction:
    if isinstance(model, ScriptModule | ScriptFunction):
        return model
    if not isinstance(model, Module):
        raise OnnxExporterError(
            f"a module or a scripted program can be exported, and no {type(model).__name__}"
        )
    parameters = inspect.signature(model.forward).bind(*given, **named)
    parameters.apply_defaults()
    if parameters.kwargs:
        raise OnnxExporterError("a module with keyword-only parameters must be scripted first")
    values = _without_defaults(parameters)
    if not all(_is_traceable(value) for value in values):
        raise OnnxExporterError(
            "a module is traced with tensors, and lists, tuples and dicts of them: script one that "
            "takes other arguments"
        )
    traced: ScriptModule = trace(model, values, check_trace=False)
    return traced


def _without_defaults(bound: inspect.BoundArguments) -> tuple[object, ...]:
    """The arguments as far as a trace can take them: those at the end that say what is said when
    they are not given are left out."""
    values = list(bound.args)
    defaults = [parameter.default for parameter in bound.signature.parameters.values()]
    while values and not isinstance(values[-1], Tensor) and values[-1] is defaults[len(values) - 1]:
        values.pop()
    return tuple(values)


def _is_traceable(value: object) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_is_traceable, value))
    if isinstance(value, dict):
        return all(map(_is_traceable, value.values()))
    return isinstance(value, Tensor)


def _function(program: ScriptFunction | Module) -> tuple[Function, object]:
    if isinstance(program, ScriptFunction):
        return program._rushlight_function, None
    method = program._c.cls.method("forward")
    if not isinstance(method, Function):
        raise OnnxExporterError("the module has no `forward`")
    return method, program._c


def _bound(
    parameters: Sequence[Argument], given: Sequence[object], named: Mapping[str, object]
) -> list[object]:
    """The arguments in the order of the parameters."""
    if len(given) > len(parameters):
        raise OnnxExporterError(
            f"`forward` takes {len(parameters)} arguments and {len(given)} were given"
        )
    values = list(given)
    for parameter in parameters[len(given) :]:
        if parameter.name in named:
            values.append(named[parameter.name])
        elif parameter.has_default:
            values.append(parameter.default)
        else:
            raise OnnxExporterError(f"`args` has no value for the parameter `{parameter.name}`")
    unknown = set(named) - {p.name for p in parameters[len(given) :]}
    if unknown:
        raise OnnxExporterError(f"`forward` has no parameter `{min(unknown)}` left to set")
    return values
