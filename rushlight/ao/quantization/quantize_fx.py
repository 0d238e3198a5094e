"""Quantization of models that are traced first: observed, then exchanged, operator by operator."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, Final, TypeVar

from typing_extensions import deprecated

from ...fx.graph_module import GraphModule
from ...fx.node import Node
from ...module_names import names_of
from ...nn.modules.module import Module
from ..nn.quantized.modules.functional_modules import FloatFunctional, FXFloatFunctional
from .backend_config.backend_config import BackendConfig
from .backend_config.native import get_native_backend_config
from .fx.configurations import configurations
from .fx.convert import exchange_observers, exchange_weights
from .fx.custom_config import ConvertCustomConfig, FuseCustomConfig, PrepareCustomConfig
from .fx.fuse import fuse, with_used
from .fx.lower import exchange_dynamic, lower
from .fx.prepare import insert_observers, quantizable, swap_for_training
from .fx.tracer import traced
from .qconfig_mapping import QConfigMapping
from .quantize import DEPRECATION_WARNING

__all__ = [
    "attach_preserved_attrs_to_model",
    "convert_fx",
    "convert_to_reference_fx",
    "fuse_fx",
    "prepare_fx",
    "prepare_qat_fx",
]

Mappings = QConfigMapping | Mapping[str, Any]
Backend = BackendConfig | Mapping[str, Any] | None
_CONFIGURED: Final = "quantization_configurations"
"""Where a prepared model keeps the configurations of its nodes."""


def attach_preserved_attrs_to_model(
    model: GraphModule | Module, preserved_attrs: Mapping[str, object]
) -> None:
    """Give a model attributes that its graph does not name, and remember which."""
    kept = dict(preserved_attrs)
    if isinstance(model, GraphModule):
        model.meta["preserved_attributes"] = kept
    for name, value in kept.items():
        setattr(model, name, value)


def _backend(given: Backend) -> BackendConfig:
    if given is None:
        return get_native_backend_config()
    return given if isinstance(given, BackendConfig) else BackendConfig.from_dict(given)


Custom = TypeVar("Custom", FuseCustomConfig, PrepareCustomConfig, ConvertCustomConfig)


def _custom(given: Any, kind: type[Custom]) -> Custom:
    if given is None:
        return kind()
    return given if isinstance(given, kind) else kind.from_dict(given)


def _preserved(model: Module, config: Any) -> dict[str, object]:
    names = config.preserved_attributes
    return {name: getattr(model, name) for name in names if hasattr(model, name)}


def _check_is_graph_module(model: object) -> None:
    if not isinstance(model, GraphModule):
        raise ValueError(
            "input model must be a GraphModule, "
            f"Got type:{type(model)} Please make sure to follow the tutorials."
        )


def fuse_fx(
    model: Module,
    fuse_custom_config: FuseCustomConfig | Mapping[str, object] | None = None,
    backend_config: Backend = None,
) -> GraphModule:
    """A traced model in which layers that follow each other are one: convolution, norm and ReLU.

    Args:
        fuse_custom_config: attributes to keep.
        backend_config: what fuses with what; the native backend's if none is given.

    Raises:
        TraceError: the model decides by values.
        AssertionError: layers that cannot be fused, such as norms in training.
    """
    config = _custom(fuse_custom_config, FuseCustomConfig)
    kept = _preserved(model, config)
    traced_model, _ = traced(model)
    made = fuse(traced_model, False, _backend(backend_config))
    attach_preserved_attrs_to_model(made, kept)
    return made


def _prepared(
    model: Module,
    mapping: Mappings,
    is_qat: bool,
    custom: PrepareCustomConfig | Mapping[str, object] | None,
    backend_config: Backend,
) -> GraphModule:
    given = (
        mapping if isinstance(mapping, QConfigMapping) else QConfigMapping.from_dict({**mapping})
    )
    config, backend = _custom(custom, PrepareCustomConfig), _backend(backend_config)
    kept = _preserved(model, config)
    _exchange_functional(model)
    traced_model, scopes = traced(
        model, config.non_traceable_module_names, config.non_traceable_module_classes
    )
    made = fuse(traced_model, is_qat, backend)
    qconfigs = configurations(list(made.graph.nodes), dict(made.named_modules()), given, scopes)
    if is_qat:
        swap_for_training(made, backend, qconfigs)
    names = [node.name for node in made.graph.nodes if node.op == "placeholder"]
    come = frozenset(names[index] for index in config.input_quantized_indexes)
    insert_observers(made, quantizable(made, backend, qconfigs), come)
    made = with_used(made)
    attach_preserved_attrs_to_model(made, kept)
    if config.output_quantized_indexes:
        made.meta["output_quantized"] = True
    made.meta[_CONFIGURED] = {node.name: each for node, each in qconfigs.items()}
    return made


def _exchange_functional(model: Module) -> None:
    """Sums and products of `FloatFunctional` as ones that tracing sees through."""
    for name, child in model.named_children():
        if isinstance(child, FloatFunctional):
            model._modules[name] = FXFloatFunctional()
        else:
            _exchange_functional(child)


@deprecated(DEPRECATION_WARNING)
def prepare_fx(
    model: Module,
    qconfig_mapping: Mappings,
    example_inputs: tuple[object, ...],
    prepare_custom_config: PrepareCustomConfig | Mapping[str, object] | None = None,
    _equalization_config: Mappings | None = None,
    backend_config: Backend = None,
) -> GraphModule:
    """A traced model that observes what is to be quantized.

    Args:
        model: in evaluation; its layers are shared.
        qconfig_mapping: what is quantized how.
        example_inputs: arguments of the model; they are not looked at.
        prepare_custom_config: modules that stay as they are, attributes to keep.
        backend_config: what can be quantized; what the native backend can if none is given.

    Raises:
        TraceError: the model decides by values.
        NotImplementedError: an `_equalization_config`.
    """
    if _equalization_config is not None:
        raise NotImplementedError("prepare_fx: weights are not equalized across layers")
    return _prepared(model, qconfig_mapping, False, prepare_custom_config, backend_config)


@deprecated(DEPRECATION_WARNING)
def prepare_qat_fx(
    model: Module,
    qconfig_mapping: Mappings,
    example_inputs: tuple[object, ...],
    prepare_custom_config: PrepareCustomConfig | Mapping[str, object] | None = None,
    backend_config: Backend = None,
) -> GraphModule:
    """A traced model to train with values and weights rounded as quantization will round them.

    Args:
        model: in training; its layers are shared.
        qconfig_mapping: what is quantized how.
        example_inputs: arguments of the model; they are not looked at.
        prepare_custom_config: modules that stay as they are, attributes to keep.
        backend_config: what can be quantized; what the native backend can if none is given.

    Raises:
        TraceError: the model decides by values.
    """
    return _prepared(model, qconfig_mapping, True, prepare_custom_config, backend_config)


def _converted(
    model: GraphModule, is_reference: bool, custom: object, mapping: object, backend_config: Backend
) -> GraphModule:
    _check_is_graph_module(model)
    if _CONFIGURED not in model.meta:
        raise ValueError("convert_fx: the model was not made by prepare_fx or prepare_qat_fx")
    if mapping is not None:
        raise NotImplementedError("convert_fx: `qconfig_mapping` is taken from prepare_fx alone")
    config, backend = _custom(custom, ConvertCustomConfig), _backend(backend_config)
    qconfigs = model.meta[_CONFIGURED]
    kept = {**model.meta.get("preserved_attributes", {}), **_preserved(model, config)}
    outside = model.meta.get("output_quantized", False)
    made = copy.deepcopy(model)
    by_node = {node: qconfigs.get(node.name) for node in made.graph.nodes}
    quantized = quantizable(made, backend, by_node)
    for each in quantized:
        if each.found.first.op == "call_module":
            made.get_submodule(str(each.found.first.target)).qconfig = each.qconfig
    exchange_observers(made)
    layered = [q for q in quantized if is_reference or not q.is_dynamic]
    exchange_weights(made, layered, backend)
    if outside:
        _leave_quantized(made)
    if not is_reference:
        exchange_dynamic(made, quantized)
        lower(made)
    made = with_used(made)
    for module in made.modules():
        vars(module).pop("qconfig", None)
    made.meta.pop(_CONFIGURED, None)
    attach_preserved_attrs_to_model(made, kept)
    return made


def _leave_quantized(model: GraphModule) -> None:
    """Give the result as it is before it is dequantized."""
    output = model.graph.output_node()
    result = output.args[0]
    if isinstance(result, Node) and result.target == "dequantize":
        output.args = (result.args[0],)


@deprecated(DEPRECATION_WARNING)
def convert_fx(
    graph_module: GraphModule,
    convert_custom_config: ConvertCustomConfig | Mapping[str, object] | None = None,
    _remove_qconfig: bool = True,
    qconfig_mapping: Mappings | None = None,
    backend_config: Backend = None,
    keep_original_weights: bool = False,
) -> GraphModule:
    """What `prepare_fx` gave and examples have gone through, with quantized layers and operators.

    Args:
        convert_custom_config: attributes to keep.
        backend_config: the one that `prepare_fx` got.

    Raises:
        ValueError: the model was not prepared.
        NotImplementedError: a mapping other than that of `prepare_fx`; original weights.
    """
    if keep_original_weights:
        raise NotImplementedError("convert_fx: original weights are not kept")
    return _converted(graph_module, False, convert_custom_config, qconfig_mapping, backend_config)


@deprecated(DEPRECATION_WARNING)
def convert_to_reference_fx(
    graph_module: GraphModule,
    convert_custom_config: ConvertCustomConfig | Mapping[str, object] | None = None,
    _remove_qconfig: bool = True,
    qconfig_mapping: Mappings | None = None,
    backend_config: Backend = None,
) -> GraphModule:
    """The same between quantizers and dequantizers, with layers that round their weights.

    Raises:
        ValueError: the model was not prepared.
        NotImplementedError: a layer that has no reference form, such as recurrent ones.
    """
    return _converted(graph_module, True, convert_custom_config, qconfig_mapping, backend_config)


__getattr__ = names_of(__name__)
