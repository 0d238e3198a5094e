"""Eager quantization: models whose modules observe, and are exchanged for quantized ones."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from typing_extensions import deprecated

from ...nn.modules import attention as floats
from ...nn.modules import container, dropout, rnn, sparse
from ...nn.modules import linear as layers
from ...nn.modules.module import Module
from ...nn.utils.parametrize import type_before_parametrizations
from ...ops.memory.dtype import DTYPES, DType
from ...ops.tensors.tensor import Tensor
from ..nn.intrinsic.modules.fused import _FusedModule
from ..nn.quantizable import modules as quantizable
from ..nn.quantized.modules import attention as quantized_attention
from ..nn.quantized.modules import rnn as quantized_rnn
from ..nn.quantized.modules.functional_modules import FloatFunctional, FXFloatFunctional
from .fake_quantize import _is_activation_post_process
from .made_classes import FromFloat, FromObserved
from .qconfig import (
    QConfig,
    _add_module_to_qconfig_obs_ctr,
    _assert_valid_qconfig,
    default_dynamic_qconfig,
    float16_dynamic_qconfig,
    float_qparams_weight_only_qconfig,
    float_qparams_weight_only_qconfig_4bit,
)
from .qconfig_traits import has_no_children_ignoring_parametrizations
from .quantization_mappings import (
    _get_special_act_post_process,
    _has_special_act_post_process,
    get_default_dynamic_quant_module_mappings,
    get_default_qat_module_mappings,
    get_default_qconfig_propagation_list,
    get_default_static_quant_module_mappings,
    no_observer_set,
)
from .stubs import DeQuantStub, QuantWrapper

__all__ = [
    "add_quant_dequant",
    "convert",
    "get_default_custom_config_dict",
    "prepare",
    "prepare_qat",
    "propagate_qconfig_",
    "quantize",
    "quantize_dynamic",
    "quantize_qat",
    "swap_module",
]

DEPRECATION_WARNING: Final = (
    "torch.ao.quantization is deprecated and will be removed in 2.10. \n"
    "For migrations of users: \n"
    "1. Eager mode quantization (torch.ao.quantization.quantize, "
    "torch.ao.quantization.quantize_dynamic), please migrate to use torchao eager mode quantize_ "
    "API instead \n"
    "2. FX graph mode quantization (torch.ao.quantization.quantize_fx.prepare_fx,"
    "torch.ao.quantization.quantize_fx.convert_fx, please migrate to use torchao pt2e "
    "quantization API instead (prepare_pt2e, convert_pt2e) \n"
    "3. pt2e quantization has been migrated to torchao "
    "(https://github.com/pytorch/ao/tree/main/torchao/quantization/pt2e) \n"
    "see https://github.com/pytorch/ao/issues/2259 for more details"
)

Spec = Mapping[str | type[Module], QConfig | None]
"""Configurations by dotted names and by classes of modules."""
Config = Mapping[str, Any]
Classes = Mapping[type[Module], FromFloat]
"""Classes of modules by those that they are made of."""


def get_default_custom_config_dict() -> dict[str, Any]:
    """The classes of modules that observe what is in them themselves, and what they become."""
    return {
        "float_to_observed_custom_module_class": {
            rnn.LSTM: quantizable.LSTM,
            floats.MultiheadAttention: quantizable.MultiheadAttention,
        },
        "observed_to_quantized_custom_module_class": {
            quantizable.LSTM: quantized_rnn.LSTM,
            quantizable.MultiheadAttention: quantized_attention.MultiheadAttention,
        },
    }


# --------------------------------------------------------------------------- configurations


def propagate_qconfig_(
    module: Module,
    qconfig_dict: Spec | None = None,
    prepare_custom_config_dict: Config | None = None,
) -> None:
    """Give each module below one its `qconfig`, in place: its own, its class's, or its parent's.

    Args:
        qconfig_dict: configurations by dotted names and by classes.
        prepare_custom_config_dict: `non_traceable_module_name` and `..._class`, which are left.

    Raises:
        AssertionError: a module cannot be quantized so.
    """
    _propagate(module, qconfig_dict or {}, None, "", prepare_custom_config_dict or {})


def _propagate(
    module: Module, spec: Spec, inherited: QConfig | None, prefix: str, config: Config
) -> None:
    found = spec.get(type_before_parametrizations(module), inherited)
    found = getattr(module, "qconfig", spec.get(prefix, found))
    _assert_valid_qconfig(found, module)
    module.qconfig = _add_module_to_qconfig_obs_ctr(found, module)
    left_names = config.get("non_traceable_module_name", [])
    left_kinds = config.get("non_traceable_module_class", [])
    for name, child in module.named_children():
        path = f"{prefix}.{name}" if prefix else name
        if path not in left_names and type(child) not in left_kinds:
            _propagate(child, spec, found, path, config)


# --------------------------------------------------------------------------- observers


def _observer_forward_hook(self: Module, input: tuple[Tensor, ...], output: Tensor) -> object:
    """What a module gives goes through its observer."""
    return self.activation_post_process(output)


def _observer_forward_pre_hook(self: Module, input: tuple[Tensor, ...]) -> object:
    """What a module is given goes through its observer."""
    return self.activation_post_process(input[0])


def _register_activation_post_process_hook(module: Module, pre_hook: bool = False) -> None:
    if not hasattr(module, "activation_post_process"):
        raise AssertionError(
            "Expect activation_post_process attribute already attached to the module"
        )
    if pre_hook:
        module.register_forward_pre_hook(_observer_forward_pre_hook, prepend=True)
    else:
        module.register_forward_hook(_observer_forward_hook, prepend=True)


def _is_observed(module: Module) -> bool:
    return getattr(module, "qconfig", None) is not None


def _observe(module: Module, special: Callable[[], Module] | None = None) -> None:
    """Have a module's results observed as its configuration says."""
    if not _is_observed(module) or isinstance(module, DeQuantStub):
        return
    make = module.qconfig.activation if special is None else special
    module.add_module("activation_post_process", make())
    _register_activation_post_process_hook(module, _is_memoryless(module.qconfig))


def _is_memoryless(qconfig: QConfig) -> bool:
    """Whether what a module is given is rounded, by the range of each call."""
    made = qconfig.activation()
    seen = getattr(made, "activation_post_process", made)
    return getattr(seen, "averaging_constant", None) == 1 and hasattr(made, "fake_quant_enabled")


def _add_observer_(
    module: Module,
    qconfig_propagation_list: Iterable[type[Module]] | None = None,
    non_leaf_module_list: Iterable[object] | None = None,
    device: object = None,
    custom_module_class_mapping: Classes | None = None,
) -> None:
    """Add observers to the modules below one, and to the module itself if nothing is in it."""
    kinds = (
        get_default_qconfig_propagation_list()
        if qconfig_propagation_list is None
        else qconfig_propagation_list
    )
    inner = tuple(non_leaf_module_list or ())
    custom = custom_module_class_mapping or {}
    for name, child in module.named_children():
        kind = type_before_parametrizations(child)
        if kind is dropout.Dropout:
            continue
        if isinstance(child, FloatFunctional | FXFloatFunctional):
            if _is_observed(child):
                child.activation_post_process = child.qconfig.activation()
        elif isinstance(child, _FusedModule) or kind in inner:
            _observe(child)
        elif _has_special_act_post_process(child):
            _observe(child, _get_special_act_post_process(child))
        elif _is_observed(child) and kind in custom:
            made = custom[kind].from_float(child)
            setattr(module, name, made)
            if custom[kind] not in no_observer_set():
                _observe(made)
        else:
            _add_observer_(child, kinds, inner, device, custom)
    is_leaf = has_no_children_ignoring_parametrizations(module)
    kind = type_before_parametrizations(module)
    if is_leaf and kind is not container.Sequential and kind in kinds:
        _observe(module)


@deprecated(DEPRECATION_WARNING)
def prepare(
    model: Module,
    inplace: bool = False,
    allow_list: Iterable[type[Module]] | None = None,
    observer_non_leaf_module_list: Iterable[type[Module]] | None = None,
    prepare_custom_config_dict: Config | None = None,
) -> Module:
    """A model whose modules observe what they give, for static quantization.

    Args:
        inplace: change the model itself.
        allow_list: classes of modules to observe; those that can be quantized unless given.
        observer_non_leaf_module_list: classes of modules to observe that have others in them.
        prepare_custom_config_dict: `float_to_observed_custom_module_class`, by classes.
    """
    config = prepare_custom_config_dict
    return _prepared(model, inplace, allow_list, observer_non_leaf_module_list, config)


def _prepared(
    model: Module,
    inplace: bool,
    allow_list: Iterable[type[Module]] | None = None,
    inner: Iterable[object] | None = None,
    prepare_custom_config_dict: Config | None = None,
) -> Module:
    config = get_default_custom_config_dict()
    if prepare_custom_config_dict is not None:
        config = dict(prepare_custom_config_dict)
    custom = config.get("float_to_observed_custom_module_class", {})
    made = model if inplace else copy.deepcopy(model)
    propagate_qconfig_(made, qconfig_dict=None)
    if not any(_is_observed(module) for module in made.modules()):
        warnings.warn(
            "None of the submodule got qconfig applied. Make sure you passed correct "
            "configuration through `qconfig_dict` or by assigning the `.qconfig` attribute "
            "directly on submodules",
            stacklevel=3,
        )
    _add_observer_(made, allow_list, inner, custom_module_class_mapping=custom)
    return made


def add_quant_dequant(module: Module) -> Module:
    """Wrap each module that is configured, and has no others in it, between two stubs."""
    if not module._modules and _is_observed(module):
        return QuantWrapper(module)
    for name, child in module.named_children():
        module._modules[name] = add_quant_dequant(child)
    return module


@deprecated(DEPRECATION_WARNING)
def prepare_qat(model: Module, mapping: Classes | None = None, inplace: bool = False) -> Module:
    """A model that is trained with values and weights rounded as quantization will round them.

    Args:
        mapping: modules of training by classes of float ones.
        inplace: change the model itself.

    Raises:
        AssertionError: the model is not in training.
    """
    known = get_default_qat_module_mappings() if mapping is None else mapping
    return _prepared_for_training(model if inplace else copy.deepcopy(model), known)


def _prepared_for_training(model: Module, mapping: Classes) -> Module:
    if not model.training:
        raise AssertionError("prepare_qat only works on models in training mode")
    propagate_qconfig_(model, qconfig_dict=None)
    _converted(model, mapping, remove_qconfig=False)
    return _prepared(model, True, inner=set(mapping.values()))


# --------------------------------------------------------------------------- conversion


@deprecated(DEPRECATION_WARNING)
def convert(
    module: Module,
    mapping: Classes | None = None,
    inplace: bool = False,
    remove_qconfig: bool = True,
    is_reference: bool = False,
    convert_custom_config_dict: Config | None = None,
    use_precomputed_fake_quant: bool = False,
) -> Module:
    """A model with quantized modules in the place of those that were observed.

    Args:
        mapping: quantized modules by classes of float ones.
        inplace: change the model itself.
        remove_qconfig: take configurations and observers away.
        convert_custom_config_dict: `observed_to_quantized_custom_module_class`, by classes.
        use_precomputed_fake_quant: take weights' ranges as they are, without observing again.

    Raises:
        NotImplementedError: modules of references are asked for.
    """
    if is_reference:
        raise NotImplementedError("convert(is_reference=True): there are no reference modules")
    config = convert_custom_config_dict or get_default_custom_config_dict()
    made = module if inplace else copy.deepcopy(module)
    custom = config.get("observed_to_quantized_custom_module_class", {})
    return _converted(
        made,
        get_default_static_quant_module_mappings() if mapping is None else mapping,
        remove_qconfig,
        custom,
        use_precomputed_fake_quant,
    )


def _converted(
    module: Module,
    mapping: Classes,
    remove_qconfig: bool = True,
    custom: Mapping[type[Module], FromObserved] | None = None,
    precomputed: bool = False,
) -> Module:
    _swap_children(module, mapping, custom or {}, precomputed)
    if remove_qconfig:
        _remove_qconfig(module)
    return module


def _swap_children(
    module: Module,
    mapping: Classes,
    custom: Mapping[type[Module], FromObserved],
    precomputed: bool,
) -> None:
    made = {}
    for name, child in module.named_children():
        if (
            not isinstance(child, _FusedModule)
            and type_before_parametrizations(child) not in custom
        ):
            _swap_children(child, mapping, custom, precomputed)
        made[name] = swap_module(child, mapping, custom, precomputed)
    module._modules.update(made)


def swap_module(
    mod: Module,
    mapping: Classes,
    custom_module_class_mapping: Mapping[type[Module], FromObserved],
    use_precomputed_fake_quant: bool = False,
) -> Module:
    """The quantized module of one that is configured; others are given back as they are.

    Hooks go along, but for those that observe.
    """
    if not _is_observed(mod):
        return mod
    kind = type_before_parametrizations(mod)
    if kind in custom_module_class_mapping:
        made = custom_module_class_mapping[kind].from_observed(mod)
    elif kind in mapping:
        made = mapping[kind].from_float(mod, use_precomputed_fake_quant=use_precomputed_fake_quant)
    else:
        return mod
    for before in mod._forward_pre_hooks.values():
        if before is not _observer_forward_pre_hook:
            made.register_forward_pre_hook(before)
    for after in mod._forward_hooks.values():
        if after is not _observer_forward_hook:
            made.register_forward_hook(after)
    return made


def _remove_activation_post_process(module: Module) -> None:
    """Take a module's observer away, and the hooks that ask it."""
    if _is_activation_post_process(getattr(module, "activation_post_process", None)):
        del module.activation_post_process
    for hooks, own in (
        (module._forward_hooks, _observer_forward_hook),
        (module._forward_pre_hooks, _observer_forward_pre_hook),
    ):
        for key in [key for key, hook in hooks.items() if hook is own]:
            hooks.pop(key)


def _remove_qconfig(module: Module) -> None:
    """Take configurations and observers away from a module and those in it."""
    for child in module.children():
        _remove_qconfig(child)
    if hasattr(module, "qconfig"):
        del module.qconfig
    _remove_activation_post_process(module)


# --------------------------------------------------------------------------- all at once


@deprecated(DEPRECATION_WARNING)
def quantize(
    model: Module,
    run_fn: Callable[..., object],
    run_args: Iterable[object],
    mapping: Classes | None = None,
    inplace: bool = False,
) -> Module:
    """A statically quantized model.

    Args:
        run_fn: runs the model, its first argument, on examples.
        run_args: further arguments of it.
        mapping: quantized modules by classes of float ones.
        inplace: change the model itself.
    """
    made = model if inplace else copy.deepcopy(model)
    made.eval()
    _prepared(made, True)
    run_fn(made, *run_args)
    known = get_default_static_quant_module_mappings() if mapping is None else mapping
    return _converted(made, known)


@deprecated(DEPRECATION_WARNING)
def quantize_qat(
    model: Module, run_fn: Callable[..., object], run_args: Iterable[object], inplace: bool = False
) -> Module:
    """A model that is trained for quantization and then quantized.

    Args:
        run_fn: trains the model, its first argument.
        run_args: further arguments of it.
        inplace: change the model itself.
    """
    made = model if inplace else copy.deepcopy(model)
    made.train()
    _prepared_for_training(made, get_default_qat_module_mappings())
    run_fn(made, *run_args)
    return _converted(made, get_default_static_quant_module_mappings())


_RECURRENT: Final = (rnn.LSTM, rnn.GRU, rnn.LSTMCell, rnn.RNNCell, rnn.GRUCell)
_DYNAMIC: Final[dict[str, tuple[QConfig, tuple[type[Module], ...]]]] = {
    "qint8": (default_dynamic_qconfig, (layers.Linear, *_RECURRENT)),
    "float16": (float16_dynamic_qconfig, (layers.Linear, *_RECURRENT)),
    "quint8": (float_qparams_weight_only_qconfig, (sparse.EmbeddingBag, sparse.Embedding)),
    "quint4x2": (float_qparams_weight_only_qconfig_4bit, (sparse.EmbeddingBag,)),
}
"""By the dtype of the weights: the configuration, and the modules that have it."""


def _dynamic_spec(qconfig_spec: Spec | set[str | type[Module]] | None, dtype: DType) -> Spec:
    """The configurations that were asked for.

    Raises:
        RuntimeError: names without configurations, and a dtype that says none.
        ValueError: nothing, and a dtype that says none.
    """
    known = _DYNAMIC.get(dtype.name)
    if qconfig_spec is None:
        if known is None:
            raise ValueError(
                f"Don't know how to quantize with default settings for {dtype}. Provide full "
                "qconfig please"
            )
        return dict.fromkeys(known[1], known[0])
    if isinstance(qconfig_spec, set):
        if known is None:
            raise RuntimeError("Unknown dtype specified for quantize_dynamic: ", str(dtype))
        return dict.fromkeys(qconfig_spec, known[0])
    return qconfig_spec


@deprecated(DEPRECATION_WARNING)
def quantize_dynamic(
    model: Module,
    qconfig_spec: Spec | set[str | type[Module]] | None = None,
    dtype: DType = DTYPES["qint8"],
    mapping: Classes | None = None,
    inplace: bool = False,
) -> Module:
    """A model with quantized weights, whose values are quantized by the range of each call.

    Args:
        qconfig_spec: configurations by dotted names and classes of modules, or a set of these;
            linear and recurrent layers (of quint8: embeddings) unless given.
        dtype: that of the weights: qint8, float16, quint8 or quint4x2.
        mapping: quantized modules by classes of float ones.
        inplace: change the model itself.

    Raises:
        ValueError: no default for the dtype.
        RuntimeError: the same, for a set of modules.
    """
    spec = _dynamic_spec(qconfig_spec, dtype)
    made = model if inplace else copy.deepcopy(model)
    made.eval()
    propagate_qconfig_(made, spec)
    known = get_default_dynamic_quant_module_mappings() if mapping is None else mapping
    return _converted(made, known)
