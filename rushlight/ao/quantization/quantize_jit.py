"""Quantization of scripted modules, whose graphs are rewritten.

A prepared module is one graph with its observers as parts `_observer_0`, ...; its calls are inlined
and its weights are constants, as after `torch.jit.freeze`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from ..._C.handles import inner_graph
from ...interpreter.running.evaluating import CONTEXT
from ...interpreter.values.clone_objects import ObjectCloning
from ...interpreter.values.objects import ScriptObject
from ...ir.graphs.graph import Graph
from ...ir.passes.fold_frozen import fold_convolution_batch_norm
from ...ir.passes.mutation import remove_tensor_mutation
from ...jit.freezing import freeze, renamed
from ...jit.function import ScriptMethod
from ...jit.module import RecursiveScriptModule, ScriptModule, wrap
from ...jit.script import script
from ...typecheck.definitions.class_types import ClassType
from .graph_form.exchange import exchange_observers, exchange_operators
from .graph_form.observe import add_part, insert_observers
from .graph_form.rounding import round_inputs, round_results
from .graph_form.traces import leave_inputs, name_convolutions, take_numbers
from .qconfig import QConfig
from .quant_type import QuantType

__all__ = [
    "convert_dynamic_jit",
    "convert_jit",
    "fuse_conv_bn_jit",
    "prepare_dynamic_jit",
    "prepare_jit",
    "quantize_dynamic_jit",
    "quantize_jit",
    "script_qconfig",
    "script_qconfig_dict",
]

Configurations = Mapping[str, QConfig | None]
"""Configurations by the paths of modules; `""` is the whole."""


def script_qconfig(qconfig: QConfig) -> QConfig:
    """The configuration with observers that were made and scripted, as script objects."""
    return QConfig(activation=_observer(qconfig.activation), weight=_observer(qconfig.weight))


def script_qconfig_dict(qconfig_dict: Configurations) -> dict[str, QConfig | None]:
    """The same for each configuration of a dict; None stays."""
    return {k: script_qconfig(v) if v else None for k, v in qconfig_dict.items()}


def _observer(make: Callable[[], object]) -> ScriptObject:
    scripted = script(make())._c
    assert isinstance(scripted, ScriptObject)
    return scripted


def _own_observer(given: object) -> ScriptObject:
    """An observer for one place: a copy of a scripted one, or a new one."""
    if isinstance(given, ScriptObject):
        return copy.deepcopy(given)
    assert callable(given)
    return _observer(given)


def _check_is_script_module(model: object) -> None:
    if not isinstance(model, ScriptModule):
        raise ValueError("input must be a script module, got: " + str(type(model)))


def _check_forward_method(model: ScriptModule) -> None:
    if model._c.cls.method("forward") is None:
        raise ValueError("input script module does not have forward method")


def _forward(target: ScriptObject) -> Graph:
    function = target.cls.method("forward")
    assert function is not None
    assert isinstance(function.graph, Graph)
    return function.graph


def _put(model: ScriptModule, target: ScriptObject, inplace: bool) -> RecursiveScriptModule:
    """The module of a new object; in place, the model becomes it."""
    made = RecursiveScriptModule(target)
    if not inplace:
        return made
    model._c = target
    return model  # type: ignore[return-value]


# --------------------------------------------------------------------------- fusing


def fuse_conv_bn_jit(model: ScriptModule, inplace: bool = False) -> RecursiveScriptModule:
    """The module, frozen, with batch norms in the weights of the convolutions before them.

    Raises:
        ValueError: it is not scripted.
        RuntimeError: it is in training, and does something else then.
    """
    _check_is_script_module(model)
    return _put(model, _fused(model)._c, inplace)


def _fused(model: ScriptModule) -> RecursiveScriptModule:
    methods = [name for name in model._c.cls.methods if name not in _OWN]
    frozen = _frozen(model, methods)
    name_convolutions(_forward(frozen._c))
    fold_convolution_batch_norm(_forward(frozen._c), CONTEXT)
    for name, attribute in model._c.cls.attributes.items():
        is_part = isinstance(attribute.type, ClassType) and attribute.type.is_module
        is_gone = name not in frozen._c.cls.attributes and name != "training"
        if attribute.kind == "attribute" and not is_part and is_gone:
            value = model._c.slots[model._c.cls.slot(name)]
            add_part(frozen._c, name, attribute.type, value)
    return frozen


def _frozen(model: ScriptModule, methods: list[str]) -> RecursiveScriptModule:
    """The module with constants for its weights; in training if nothing in it asks for that."""
    if getattr(model, "training", False) and not any(
        node.kind == "prim::GetAttr" and node.attributes["name"] == "training"
        for name in ("forward", *methods)
        for node in _inlined(model, name).all_nodes
    ):
        model = copy.copy(model)
        model.training = False
    return freeze(model, methods, optimize_numerics=False)


def _inlined(model: ScriptModule, name: str) -> Graph:
    method = model._c.cls.method(name)
    assert method is not None
    return inner_graph(ScriptMethod(model._c, method).inlined_graph)


_OWN: Final = frozenset({"forward", "__setstate__", "__getstate__"})


# --------------------------------------------------------------------------- observers


def prepare_jit(
    model: ScriptModule, qconfig_dict: Configurations, inplace: bool = False
) -> RecursiveScriptModule:
    """A scripted module that observes what static quantization is to round.

    Args:
        qconfig_dict: configurations by the paths of modules; `""` is the whole, and None leaves a
            part as it is.
        inplace: change the module itself.

    Raises:
        ValueError: the module is not scripted, or a key is no path.
        RuntimeError: the module is in training, and does something else then.
    """
    return _prepared(model, qconfig_dict, inplace, QuantType.STATIC)


def prepare_dynamic_jit(
    model: ScriptModule, qconfig_dict: Configurations, inplace: bool = False
) -> RecursiveScriptModule:
    """The same for dynamic quantization: weights are observed, nothing else.

    Raises:
        ValueError: the module is not scripted, or a key is no path.
        RuntimeError: the module is in training, and does something else then.
    """
    return _prepared(model, qconfig_dict, inplace, QuantType.DYNAMIC)


def _prepared(
    model: ScriptModule, configurations: Configurations, inplace: bool, kind: QuantType
) -> RecursiveScriptModule:
    _check_is_script_module(model)
    _check_forward_method(model)
    if not all(isinstance(key, str) for key in configurations):
        raise ValueError("qconfig_dict should only contain names(str) as keys.")
    scripted = script_qconfig_dict(configurations)
    target = _fused(model)._c
    graph = _forward(target)
    remove_tensor_mutation(graph, CONTEXT)
    take_numbers(graph)
    leave_inputs(graph)
    insert_observers(target, graph, scripted, _own_observer, kind is QuantType.DYNAMIC)
    return _put(model, target, inplace)


# --------------------------------------------------------------------------- conversion


def convert_jit(
    model: ScriptModule,
    inplace: bool = False,
    debug: bool = False,
    preserved_attrs: Sequence[str] | None = None,
) -> RecursiveScriptModule:
    """What `prepare_jit` gave and examples have gone through, with quantized operators.

    Args:
        inplace: change the module itself.
        debug: leave operators as they are, between quantizers and dequantizers.
        preserved_attrs: attributes and methods to keep beside `forward`.

    Raises:
        ValueError: the module is not scripted.
        RuntimeError: a name to keep does not exist, or the module was prepared by torch.
    """
    return _converted(model, inplace, debug, preserved_attrs, QuantType.STATIC)


def convert_dynamic_jit(
    model: ScriptModule,
    inplace: bool = False,
    debug: bool = False,
    preserved_attrs: Sequence[str] | None = None,
) -> RecursiveScriptModule:
    """What `prepare_dynamic_jit` gave, with operators that quantize their inputs themselves.

    Raises:
        ValueError: the module is not scripted.
        RuntimeError: a name to keep does not exist.
    """
    return _converted(model, inplace, debug, preserved_attrs, QuantType.DYNAMIC)


def _converted(
    model: ScriptModule,
    inplace: bool,
    debug: bool,
    preserved: Sequence[str] | None,
    kind: QuantType,
) -> RecursiveScriptModule:
    _check_is_script_module(model)
    _check_observers(model)
    dynamic = kind is QuantType.DYNAMIC
    target = ObjectCloning(renamed).instance(model._c)
    graph = _forward(target)
    exchange_observers(target, graph, lambda part: copy.deepcopy(wrap(part)))
    if not debug:
        exchange_operators(target, graph, dynamic)
    elif dynamic:
        round_inputs(graph)
    else:
        round_results(graph)
    _keep_only(target, graph, preserved or ())
    return _put(model, target, inplace)


def _check_observers(model: ScriptModule) -> None:
    inner = [n for n, _ in model.named_modules() if "._observer_" in n]
    if inner:
        raise RuntimeError(
            f"convert_jit: observers lie in parts of the module ({inner[0]}), as torch puts them; "
            "prepare the module here"
        )


def _keep_only(target: ScriptObject, graph: Graph, names: Sequence[str]) -> None:
    """Take away attributes that the graph does not use, and methods; but for some names."""
    cls = target.cls
    for name in names:
        if name not in cls.attributes and cls.method(name) is None:
            raise RuntimeError(f"Unknown name: {name}")
    kept_methods = {name for name in names if name in cls.methods} | {"forward"}
    graphs = [graph]
    for name in list(cls.methods):
        if name not in kept_methods:
            del cls.methods[name]
        elif isinstance(found := cls.methods[name].graph, Graph):
            graphs.append(found)
    cls.finder.clear()
    used = {
        str(node.attributes["name"])
        for each in graphs
        for part in each.with_tasks
        for node in part.all_nodes
        if node.kind in ("prim::GetAttr", "prim::SetAttr") and node.inputs[0].type is cls
    }
    kept = [name for name in cls.attributes if name in used or name in names]
    target.slots[:] = [target.slots[cls.slot(name)] for name in kept]
    for name in set(cls.attributes) - set(kept):
        del cls.attributes[name]


# --------------------------------------------------------------------------- all at once


def quantize_jit(
    model: ScriptModule,
    qconfig_dict: Configurations,
    run_fn: Callable[..., object] | None,
    run_args: Iterable[object],
    inplace: bool = False,
    debug: bool = False,
) -> RecursiveScriptModule:
    """A scripted module that is quantized statically.

    Args:
        run_fn: runs the prepared module, its first argument, on examples.
        run_args: further arguments of it.

    Raises:
        ValueError: the module is not scripted, or a key is no path.
        AssertionError: there is no `run_fn`.
        RuntimeError: the module is in training, and does something else then.
    """
    if not run_fn:
        raise AssertionError(
            "Must provide calibration function for post training static quantization"
        )
    prepared = prepare_jit(model, qconfig_dict, inplace)
    run_fn(prepared, *run_args)
    return convert_jit(prepared, True, debug)


def quantize_dynamic_jit(
    model: ScriptModule,
    qconfig_dict: Configurations,
    inplace: bool = False,
    debug: bool = False,
) -> RecursiveScriptModule:
    """A scripted module whose linear layers have quantized weights, and quantize their inputs.

    Raises:
        ValueError: the module is not scripted, or a key is no path.
        RuntimeError: the module is in training, and does something else then.
    """
    prepared = prepare_dynamic_jit(model, qconfig_dict, inplace)
    return convert_dynamic_jit(prepared, True, debug)
