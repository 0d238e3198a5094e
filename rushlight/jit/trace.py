"""`trace`: run a function or module on examples and keep what was computed."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal, ParamSpec, TypeVar, overload

from .._C.handles import Graph as GraphHandle
from .._C.settings import SWITCHES, tracer_warns
from ..frontend.diagnostics.exceptions import trimmed
from ..frontend.foundations.garbage import uncollected
from ..interpreter.running.evaluating import CONTEXT
from ..interpreter.values.inference import CannotInfer, infer_type
from ..interpreter.values.objects import ScriptObject
from ..ir.functions.inline import inline_in_place
from ..ir.graphs.graph import Graph, Value
from ..ir.passes.dead_code import eliminate_dead_code
from ..ir.passes.lower_tuples import lower_simple_tuples
from ..ir.passes.normalize import normalize
from ..ir.passes.trace_scopes import fix_scopes
from ..ir.tracing.trace_guards import Guards
from ..ir.tracing.trace_results import give
from ..ir.tracing.tracing import GraphTracer, TracerWarning
from ..nn.modules.module import HasForward, Module
from ..ops.quantized_tensors.packed_weights import PackedWeights
from ..ops.tensors.tensor import Tensor
from ..ops.tensors.tracing import ACTIVE
from ..ops.tensors.with_memory import with_elements
from ..typecheck.definitions.class_types import ClassType
from ..typecheck.definitions.functions import Function
from ..typecheck.definitions.schema import Argument, Signature
from ..typecheck.types.tensor_facts import without_facts
from ..typecheck.types.types import TENSOR, TupleType, Type
from . import _state
from .decorators import SCRIPTED_IF_TRACING, is_tracing
from .function import ScriptFunction, ScriptMethod
from .module import RecursiveScriptModule, ScriptModule
from .qualified_names import mangled, qualified_name
from .retraced import Branches, RetracedFunction, RetracedModule
from .script import script
from .trace_checks import check_against_new_traces, compare_runs
from .traced_modules import TopLevelTracedModule, traced_module

__all__ = [
    "TracerWarning",
    "_get_trace_graph",
    "_unique_state_dict",
    "script_if_tracing",
    "trace",
    "trace_module",
]

AnyFunction = TypeVar("AnyFunction", bound=Callable[..., object])
Given = ParamSpec("Given")
Result = TypeVar("Result")


_NO_OPTIMIZE = (
    "`optimize` is deprecated and has no effect. Use `with torch.jit.optimized_execution()` instead"
)
_TRACED_ALREADY = (
    "The input to trace is already a ScriptModule, tracing it is a no-op. Returning the object as "
    "is."
)
_OF_A_MODULE = (
    "trace doesn't support compiling individual module's functions.\nPlease use trace_module"
)


@overload
def trace(
    func: HasForward[Given, Result],
    example_inputs: object = None,
    optimize: object = None,
    check_trace: bool = True,
    check_inputs: object = None,
    check_tolerance: float = 1e-5,
    strict: bool = True,
    _force_outplace: bool = False,
    _module_class: object = None,
    _compilation_unit: object = None,
    example_kwarg_inputs: dict[str, object] | None = None,
    _store_inputs: bool = True,
    *,
    guards: bool | Literal["retrace"] = False,
) -> RecursiveScriptModule[Given, Result]: ...
@overload
def trace(
    func: Callable[Given, Result],
    example_inputs: object = None,
    optimize: object = None,
    check_trace: bool = True,
    check_inputs: object = None,
    check_tolerance: float = 1e-5,
    strict: bool = True,
    _force_outplace: bool = False,
    _module_class: object = None,
    _compilation_unit: object = None,
    example_kwarg_inputs: dict[str, object] | None = None,
    _store_inputs: bool = True,
    *,
    guards: bool | Literal["retrace"] = False,
) -> ScriptFunction[Given, Result]: ...
def trace(
    func: Any,
    example_inputs: object = None,
    optimize: object = None,
    check_trace: bool = True,
    check_inputs: object = None,
    check_tolerance: float = 1e-5,
    strict: bool = True,
    _force_outplace: bool = False,
    _module_class: object = None,
    _compilation_unit: object = None,
    example_kwarg_inputs: dict[str, object] | None = None,
    _store_inputs: bool = True,
    *,
    guards: bool | Literal["retrace"] = False,
) -> Any:
    """Run `func` on examples and make a compiled function or module of the operators it called.

    Python's control flow is not kept: the branches taken for the examples are taken always, unless
    there are guards.

    Args:
        func: a function, or a module, whose modules are kept as modules.
        example_inputs: a tuple of arguments, or a tensor; tensors in tuples, lists and dicts.
        check_trace: whether to trace again and compare.
        check_inputs: further arguments to compare with.
        check_tolerance: the relative difference that results may have.
        strict: whether lists and dicts among the results are refused or warned of.
        example_kwarg_inputs: arguments by name in place of `example_inputs`.
        guards: True has every value and size that Python reads off a tensor compared whenever the
            trace runs, so that inputs for which the program might do something else raise, with
            the line; "retrace" has such inputs traced as well, and the trace branch.

    Raises:
        RuntimeError: an argument or a result is nothing that can be traced.
        ValueError: `guards` is none of the three.
        TracingCheckError: another run computes something else.
    """
    if not _state._enabled:
        return func
    if optimize is not None:
        warnings.warn(_NO_OPTIMIZE, FutureWarning, stacklevel=2)
    if isinstance(func, ScriptModule):
        warnings.warn(_TRACED_ALREADY, stacklevel=2)
        return func
    owner = getattr(func, "__self__", None)
    if isinstance(owner, Module) and func.__name__ == "forward":
        func = owner
    named = isinstance(example_kwarg_inputs, dict)
    more = _wrapped(check_inputs)
    how = strict, _force_outplace, guards
    checks = _Checks(check_trace, more, check_tolerance, *how, keeps=_store_inputs)
    if isinstance(func, Module):
        given = _examples_of_module(example_inputs, example_kwarg_inputs)
        with trimmed():
            return _trace_methods(func, {"forward": with_elements(given)}, checks, named)
    if isinstance(owner, Module):
        raise AttributeError(_OF_A_MODULE)
    with trimmed():
        examples = example_kwarg_inputs if named else _as_tuple(example_inputs)
        return _trace_function(func, with_elements(examples), checks)


def _examples_of_module(given: object, named: dict[str, object] | None) -> object:
    if given is not None:
        return given
    if not isinstance(named, dict):
        raise RuntimeError("example_kwarg_inputs should be a dict")
    return named


def trace_module(
    mod: Module,
    inputs: dict[str, object],
    optimize: object = None,
    check_trace: bool = True,
    check_inputs: object = None,
    check_tolerance: float = 1e-5,
    strict: bool = True,
    _force_outplace: bool = False,
    _module_class: object = None,
    _compilation_unit: object = None,
    example_inputs_is_kwarg: bool = False,
    _store_inputs: bool = True,
    *,
    guards: bool | Literal["retrace"] = False,
) -> RecursiveScriptModule:
    """Trace methods of a module: `trace_module(m, {"forward": x, "other": (x, y)})`.

    Raises: as `trace`.
        AttributeError: `mod` is no module.
    """
    if not _state._enabled:
        return mod  # type: ignore[return-value]
    if not isinstance(mod, Module):
        raise AttributeError("expected torch.nn.Module as the first argument")
    if not isinstance(inputs, dict):
        raise AttributeError("expected a dictionary of (method_name, input) pairs")
    with trimmed():
        how = strict, _force_outplace, guards
        checks = _Checks(check_trace, check_inputs, check_tolerance, *how, keeps=_store_inputs)
        return _trace_methods(mod, with_elements(inputs), checks, example_inputs_is_kwarg)


class _Checks:
    """How a trace is made and compared, and whether it keeps the examples."""

    def __init__(
        self,
        wanted: bool,
        inputs: Any,
        tolerance: float,
        strict: bool,
        outplace: bool,
        guards: bool | Literal["retrace"],
        *,
        keeps: bool = False,
    ) -> None:
        if guards not in (False, True, "retrace"):
            raise ValueError(f'trace: guards is False, True or "retrace", not {guards!r}')
        self.wanted = wanted
        self.inputs = inputs
        self.tolerance = tolerance
        self.strict = strict
        self.outplace = outplace
        self.guards = guards
        self.keeps = keeps

    def given(self, examples: object) -> list[object]:
        """What a function's trace is compared with: the examples, if nothing else is given."""
        return [examples] if self.inputs is None else [c["forward"] for c in self.inputs]

    def without_checks(self) -> _Checks:
        """The same way to trace, compared with nothing."""
        return _Checks(False, None, 0.0, self.strict, self.outplace, self.guards)


def _wrapped(check_inputs: Any) -> list[object] | None:
    return None if check_inputs is None else [{"forward": c} for c in check_inputs]


def _as_tuple(examples: object) -> tuple[Any, ...]:
    if isinstance(examples, tuple):
        return examples
    return tuple(examples) if isinstance(examples, list) else (examples,)


def argument_names(function: Callable[..., object]) -> list[str]:
    """The names of the parameters that can be given by position."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # a callable that does not say
        return []
    return [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]


# ---------------------------------------------------------------------- functions and methods


@uncollected
def _trace_function(
    func: Callable[..., object], examples: object, checks: _Checks
) -> ScriptFunction:
    name = qualified_name(func)
    names = argument_names(func)

    def graph_of(given: object) -> Graph:
        made = create_graph(
            func, given, names, checks.strict, outplace=checks.outplace, guards=checks.guards
        )
        fix_scopes(made)
        return made

    def function_of(graph: Graph) -> Function:
        _clean(graph)
        declared = _signature(name, graph)
        return Function(mangled(name), declared=declared, graph=graph, python=func)

    traced: ScriptFunction
    if checks.guards == "retrace":
        traced = RetracedFunction(Branches(graph_of, function_of, examples))
        if checks.wanted:
            compare_runs(checks.given(examples), traced, func, checks.tolerance)
        return traced
    traced = ScriptFunction(function_of(graph_of(examples)))
    if checks.wanted:

        def again(given: object) -> ScriptFunction:
            return _trace_function(func, given, checks.without_checks())

        check_against_new_traces(checks.given(examples), again, traced, func, checks.tolerance)
    return traced


@uncollected
def _trace_methods(
    module: Module, inputs: Mapping[str, Any], checks: _Checks, named: bool
) -> RecursiveScriptModule:
    retraces = checks.guards == "retrace"
    traced = traced_module(module, RetracedModule if retraces else TopLevelTracedModule)
    for name, examples in inputs.items():
        bound = getattr(module, name)
        func = module if name == "forward" else bound
        names = argument_names(bound)
        if named:
            for key in examples:
                if key not in names:
                    raise NameError(
                        f"'{key}' is not in forward() method's arguments, valid arguments name are "
                        f"[{','.join(names)}]"
                    )
        else:
            examples = _as_tuple(examples)
        _trace_method(module, traced, name, func, examples, names, checks)
        if checks.keeps and examples:
            traced._traced_inputs = {**traced._traced_inputs, name: _in_order(examples, names)[0]}
        if checks.wanted:
            given = [inputs] if checks.inputs is None else checks.inputs
            found = [c[name] if named else _as_tuple(c[name]) for c in given]
            if retraces:
                compare_runs(found, getattr(traced, name), func, checks.tolerance)
                continue

            def again(one: object, name: str = name) -> ScriptMethod:
                again_traced = _trace_methods(module, {name: one}, checks.without_checks(), named)
                method: ScriptMethod = getattr(again_traced, name)
                return method

            check_against_new_traces(found, again, getattr(traced, name), func, checks.tolerance)
    return traced


def _trace_method(
    module: Module,
    traced: RecursiveScriptModule,
    name: str,
    func: object,
    examples: object,
    names: list[str],
    checks: _Checks,
) -> None:
    cls = traced._c.cls
    if name in cls.methods:
        raise RuntimeError(f"method '{name}' already defined.")

    def graph_of(given: object) -> Graph:
        made = create_graph(
            *(func, given, names, checks.strict, traced._c, module),
            outplace=checks.outplace,
            guards=checks.guards,
        )
        for inner in fix_scopes(made, _add_method):
            _clean(inner)
        return made

    def function_of(graph: Graph) -> Function:
        _clean(graph)
        return _define(cls, name, graph)

    if isinstance(traced, RetracedModule):
        traced.branch(name, Branches(graph_of, function_of, examples, module.state_dict))
    else:
        function_of(graph_of(examples))


def _add_method(cls: ClassType, graph: Graph) -> str:
    """Make a method of a graph, `forward`, `forward1` and so on."""
    number = 0
    while f"forward{number or ''}" in cls.methods:
        number += 1
    name = f"forward{number or ''}"
    _define(cls, name, graph)
    return name


def _define(cls: ClassType, name: str, graph: Graph) -> Function:
    declared = _signature(name, graph)
    qualified = f"{cls.qualified_name}.{name}"
    cls.methods[name] = made = Function(qualified, declared=declared, graph=graph, owner=cls)
    return made


def _signature(name: str, graph: Graph) -> Signature:
    arguments = tuple(
        Argument(value.base_name or f"argument_{place}", without_facts(value.type))
        for place, value in enumerate(graph.inputs)
    )
    returns = tuple(Argument("", without_facts(value.type)) for value in graph.outputs)
    return Signature(name.rpartition(".")[2], "", arguments, returns)


def _clean(graph: Graph) -> None:
    for each in graph.with_tasks:
        lower_simple_tuples(each, CONTEXT)
        eliminate_dead_code(each)
        normalize(each, CONTEXT)


# ---------------------------------------------------------------------- the trace itself


def create_graph(
    func: Any,
    examples: object,
    names: list[str],
    strict: bool,
    target: ScriptObject | None = None,
    module: Module | None = None,
    outplace: bool = False,
    guards: bool | Literal["retrace"] = False,
) -> Graph:
    """Run a function and write down what it does.

    Raises:
        RuntimeError: an example or a result cannot be traced.
    """
    args, kwargs, names = _in_order(examples, names)
    types = _types_of(args)
    tracer = GraphTracer(strict)
    tracer.is_outplace = outplace
    tracer.warns = tracer_warns()
    if guards:
        tracer.guards = Guards(tracer)
    graph = tracer.graph
    if target is not None and module is not None:
        own = graph.add_input(target.cls, "self")
        _know_members(tracer, own, target, "__module")
        if guards != "retrace":  # whose branches go on behind the module that takes them
            _know_paths(tracer, module, "__module")
    hinted = len(names) >= len(args)
    given = []
    for i, (value, type) in enumerate(zip(args, types, strict=True)):
        into = graph.add_input(TENSOR, names[i] if hinted else None)
        given.append(tracer.take(value, type, into))
    with _listening(tracer):
        named = dict(zip(kwargs or (), given, strict=kwargs is not None))
        result = func(*given) if kwargs is None else func(**named)
        if result is None:
            raise RuntimeError(
                "The traced function didn't return any values! Side-effects are not captured in "
                "traces, so it would be a no-op."
            )
        _inferred(result)
        tracer.settle()
        graph.block.add_output(give(tracer, result))
    if SWITCHES["_jit_get_inline_everything_mode"]():
        inline_in_place(graph, str(getattr(func, "__name__", "forward")), CONTEXT)
    return graph


@contextmanager
def _listening(tracer: GraphTracer) -> Iterator[None]:
    try:
        ACTIVE.append(tracer)  # here, or an interrupt right behind it would leave it there
        yield
    finally:
        if tracer in ACTIVE:
            ACTIVE.remove(tracer)


def _in_order(examples: Any, names: list[str]) -> tuple[list[object], list[str] | None, list[str]]:
    """The examples, their keywords if they have any, and names for the inputs."""
    if not isinstance(examples, dict):
        return list(examples), None, names
    keys = [name for name in names if name in examples]
    keys += [key for key in examples if key not in keys]
    return [examples[key] for key in keys], keys, keys


def _inferred(value: object) -> Type:
    try:
        return infer_type(value)
    except CannotInfer as error:
        raise RuntimeError(f"Tracer cannot infer type of {value!r}\n:{error}") from None


def _types_of(args: Sequence[object]) -> Sequence[Type]:
    types = _inferred(tuple(args)).contained
    if not all(map(_is_traceable, types)):
        whole = TupleType(tuple(types))
        raise RuntimeError(
            f"Type '{whole.annotation_str}' cannot be traced. Only Tensors and (possibly nested) "
            "Lists, Dicts, and Tuples of Tensors can be traced"
        )
    return types


def _is_traceable(type: Type) -> bool:
    if type.dict_of is not None:
        return _is_traceable(type.dict_of[1])
    if type.list_of is not None or type.tuple_of is not None:
        return all(map(_is_traceable, type.contained))
    return type == TENSOR or type.is_class


def _know_members(tracer: GraphTracer, own: Value, target: ScriptObject, path: str) -> None:
    """Make the attributes of a module known to the trace, and those of the modules in it."""
    tracer.known[id(target)] = own
    for name, attribute in target.cls.attributes.items():
        node = tracer.graph.insert(tracer.graph.create("prim::TracedAttr", (), [attribute.type]))
        node.attributes["scope"] = where = f"{path}.{name}"
        value = target.slots[target.cls.slot(name)]
        if isinstance(value, Tensor):
            tracer.take(value, TENSOR, node.output)
        elif isinstance(value, ScriptObject) and attribute.type.is_class:
            _know_members(tracer, node.output, value, where)
        elif isinstance(value, PackedWeights):
            tracer.known[id(value)] = node.output


def _know_paths(tracer: GraphTracer, module: Module, path: str) -> None:
    for name, child in module.named_children():
        if not isinstance(child, ScriptModule):
            tracer.paths[id(child)] = f"{path}.{name}"
        _know_paths(tracer, child, f"{path}.{name}")


# ---------------------------------------------------------------------- related


def script_if_tracing(function: AnyFunction) -> AnyFunction:
    """Script the function when `trace` meets it; everywhere else it stays as it is."""

    @functools.wraps(function)
    def call(*args: object, **kwargs: object) -> object:
        if not is_tracing():
            return function(*args, **kwargs)
        return script(function)(*args, **kwargs)

    setattr(call, SCRIPTED_IF_TRACING, function)
    return call  # type: ignore[return-value]


def _unique_state_dict(module: Module, keep_vars: bool = False) -> dict[str, Any]:
    """The state of a module with each tensor once, under its first name."""
    found: dict[int, tuple[str, Tensor]] = {}
    for name, value in module.state_dict(keep_vars=True).items():
        found.setdefault(id(value), (name, value))
    return OrderedDict((n, v if keep_vars else v.detach()) for n, v in found.values())


def _get_trace_graph(
    f: Any,
    args: object = (),
    kwargs: dict[str, object] | None = None,
    strict: bool = True,
    _force_outplace: bool = False,
    return_inputs: bool = False,
    _return_inputs_states: bool = False,
) -> tuple[GraphHandle, object] | tuple[GraphHandle, object, tuple[Tensor, ...]]:
    """The graph of a run on examples, with parameters as further inputs, and the run's result.

    With `return_inputs`, the tensors that the graph's inputs stand for as well.
    """
    if _return_inputs_states:
        raise NotImplementedError("_get_trace_graph: `_return_inputs_states` is not supported")
    given = args if isinstance(args, tuple) else (args,)
    state = [*_unique_state_dict(f, keep_vars=True).values()] if isinstance(f, Module) else []
    tensors = [*_flat(given), *state]
    results: list[object] = []

    def run(*every: object) -> object:
        inner = iter(every[: len(every) - len(state)])
        results.append(f(*_refilled(given, inner), **(kwargs or {})))
        return tuple(_flat(results[0])) if not isinstance(results[0], Tensor) else results[0]

    graph = create_graph(run, tuple(tensors), [], strict, outplace=_force_outplace)
    fix_scopes(graph)
    _clean(graph)
    if return_inputs:
        return GraphHandle(graph), results[0], tuple(tensors)
    return GraphHandle(graph), results[0]


def _flat(value: object) -> list[Tensor]:
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [t for each in value for t in _flat(each)] if isinstance(value, (list, tuple)) else []


def _refilled(value: object, tensors: Iterator[object]) -> Any:
    """The value with other tensors in the places of its own."""
    if isinstance(value, Tensor):
        return next(tensors)
    if isinstance(value, dict):
        return {key: _refilled(each, tensors) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)([_refilled(each, tensors) for each in value])
    return value
