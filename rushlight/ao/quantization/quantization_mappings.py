"""Which module takes the place of which when a model is converted."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Final

from ...nn import functional as F
from ...nn.modules import (
    activation,
    batchnorm,
    container,
    conv,
    dropout,
    instancenorm,
    linear,
    normalization,
    rnn,
    sparse,
)
from ...nn.modules.module import Module
from ...nn.utils.parametrize import type_before_parametrizations
from ...ops.eager.packets import Namespace
from ..nn import intrinsic as nni
from ..nn import qat as nnqat
from ..nn import quantized as nnq
from ..nn.intrinsic import quantized as nniq
from ..nn.intrinsic.qat import modules as nniqat
from ..nn.intrinsic.quantized import dynamic as nniqd
from ..nn.qat import dynamic as nnqatd
from ..nn.quantizable import modules as quantizable
from ..nn.quantized import dynamic as nnqd
from .fake_quantize import (
    default_fixed_qparams_range_0to1_fake_quant,
    default_fixed_qparams_range_neg1to1_fake_quant,
)
from .made_classes import FromFloat
from .qconfig_traits import get_combined_dict
from .stubs import DeQuantStub, QuantStub

__all__ = [
    "DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS",
    "DEFAULT_FLOAT_TO_QUANTIZED_OPERATOR_MAPPINGS",
    "DEFAULT_MODULE_TO_ACT_POST_PROCESS",
    "DEFAULT_QAT_MODULE_MAPPINGS",
    "DEFAULT_STATIC_QUANT_MODULE_MAPPINGS",
    "get_default_dynamic_quant_module_mappings",
    "get_default_float_to_quantized_operator_mappings",
    "get_default_qat_module_mappings",
    "get_default_qconfig_propagation_list",
    "get_default_static_quant_module_mappings",
    "get_dynamic_quant_module_class",
    "get_embedding_qat_module_mappings",
    "get_embedding_static_quant_module_mappings",
    "get_quantized_operator",
    "get_static_quant_module_class",
    "no_observer_set",
]

Kind = type[Module]
Operation = Callable[..., object] | str
"""A function, or the name of a method."""

DEFAULT_STATIC_QUANT_MODULE_MAPPINGS: Final[dict[Kind, FromFloat]] = {
    QuantStub: nnq.Quantize,
    DeQuantStub: nnq.DeQuantize,
    batchnorm.BatchNorm2d: nnq.BatchNorm2d,
    batchnorm.BatchNorm3d: nnq.BatchNorm3d,
    dropout.Dropout: nnq.Dropout,
    conv.Conv1d: nnq.Conv1d,
    conv.Conv2d: nnq.Conv2d,
    conv.Conv3d: nnq.Conv3d,
    conv.ConvTranspose1d: nnq.ConvTranspose1d,
    conv.ConvTranspose2d: nnq.ConvTranspose2d,
    conv.ConvTranspose3d: nnq.ConvTranspose3d,
    activation.ELU: nnq.ELU,
    sparse.Embedding: nnq.Embedding,
    sparse.EmbeddingBag: nnq.EmbeddingBag,
    normalization.GroupNorm: nnq.GroupNorm,
    activation.Hardswish: nnq.Hardswish,
    instancenorm.InstanceNorm1d: nnq.InstanceNorm1d,
    instancenorm.InstanceNorm2d: nnq.InstanceNorm2d,
    instancenorm.InstanceNorm3d: nnq.InstanceNorm3d,
    normalization.LayerNorm: nnq.LayerNorm,
    activation.LeakyReLU: nnq.LeakyReLU,
    linear.NonDynamicallyQuantizableLinear: nnq.Linear,
    linear.Linear: nnq.Linear,
    activation.ReLU6: nnq.ReLU6,
    activation.PReLU: nnq.PReLU,
    nnq.FloatFunctional: nnq.QFunctional,
    nni.BNReLU2d: nniq.BNReLU2d,
    nni.BNReLU3d: nniq.BNReLU3d,
    nni.ConvReLU1d: nniq.ConvReLU1d,
    nni.ConvReLU2d: nniq.ConvReLU2d,
    nni.ConvReLU3d: nniq.ConvReLU3d,
    nni.ConvAdd2d: nniq.ConvAdd2d,
    nni.ConvAddReLU2d: nniq.ConvAddReLU2d,
    nni.LinearReLU: nniq.LinearReLU,
    nni.LinearLeakyReLU: nniq.LinearLeakyReLU,
    nni.LinearTanh: nniq.LinearTanh,
    nniqat.ConvBn1d: nnq.Conv1d,
    nniqat.ConvBn2d: nnq.Conv2d,
    nniqat.ConvBn3d: nnq.Conv3d,
    nniqat.ConvBnReLU1d: nniq.ConvReLU1d,
    nniqat.ConvBnReLU2d: nniq.ConvReLU2d,
    nniqat.ConvBnReLU3d: nniq.ConvReLU3d,
    nniqat.ConvReLU2d: nniq.ConvReLU2d,
    nniqat.ConvReLU3d: nniq.ConvReLU3d,
    nniqat.LinearReLU: nniq.LinearReLU,
    nniqat.LinearBn1d: nnq.Linear,
    nnqat.Linear: nnq.Linear,
    nnqat.Conv2d: nnq.Conv2d,
    nnqat.Conv3d: nnq.Conv3d,
}
"""Float modules, and those of training, that become quantized ones."""

DEFAULT_QAT_MODULE_MAPPINGS: Final[dict[Kind, FromFloat]] = {
    conv.Conv2d: nnqat.Conv2d,
    conv.Conv3d: nnqat.Conv3d,
    linear.Linear: nnqat.Linear,
    linear.NonDynamicallyQuantizableLinear: nnqat.Linear,
    nni.ConvBn1d: nniqat.ConvBn1d,
    nni.ConvBn2d: nniqat.ConvBn2d,
    nni.ConvBn3d: nniqat.ConvBn3d,
    nni.ConvBnReLU1d: nniqat.ConvBnReLU1d,
    nni.ConvBnReLU2d: nniqat.ConvBnReLU2d,
    nni.ConvBnReLU3d: nniqat.ConvBnReLU3d,
    nni.ConvReLU2d: nniqat.ConvReLU2d,
    nni.ConvReLU3d: nniqat.ConvReLU3d,
    nni.LinearReLU: nniqat.LinearReLU,
    nni.LinearBn1d: nniqat.LinearBn1d,
}
"""Float modules that become modules for training."""

DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS: Final[dict[Kind, FromFloat]] = {
    rnn.GRUCell: nnqd.GRUCell,
    linear.Linear: nnqd.Linear,
    nnqatd.Linear: nnqd.Linear,
    linear.NonDynamicallyQuantizableLinear: nnqd.Linear,
    rnn.LSTM: nnqd.LSTM,
    rnn.GRU: nnqd.GRU,
    rnn.LSTMCell: nnqd.LSTMCell,
    rnn.RNNCell: nnqd.RNNCell,
    nni.LinearReLU: nniqd.LinearReLU,
    sparse.EmbeddingBag: nnq.EmbeddingBag,
    sparse.Embedding: nnq.Embedding,
}
"""Float modules that become ones which quantize their inputs by the range of each call."""

DEFAULT_MODULE_TO_ACT_POST_PROCESS: Final[dict[Kind, Callable[[], Module]]] = {
    activation.Hardsigmoid: default_fixed_qparams_range_0to1_fake_quant,
    activation.Sigmoid: default_fixed_qparams_range_0to1_fake_quant,
    activation.Softmax: default_fixed_qparams_range_0to1_fake_quant,
    activation.Tanh: default_fixed_qparams_range_neg1to1_fake_quant,
}
"""Modules whose results lie between known bounds."""


def _operators() -> dict[Operation, Callable[..., object]]:
    """Functions, and the quantized operators that become of them."""
    quantized = Namespace("quantized")
    return {
        F.elu: quantized.elu,
        F.hardswish: quantized.hardswish,
        F.instance_norm: quantized.instance_norm,
        F.layer_norm: quantized.layer_norm,
        F.leaky_relu: quantized.leaky_relu,
        F.dropout: quantized.dropout,
    }


DEFAULT_FLOAT_TO_QUANTIZED_OPERATOR_MAPPINGS: Final = _operators()


def no_observer_set() -> set[object]:
    """Modules that observe what is in them themselves."""
    return {quantizable.LSTM, quantizable.MultiheadAttention}


def get_default_static_quant_module_mappings() -> dict[Kind, FromFloat]:
    """The modules of static quantization."""
    return copy.deepcopy(DEFAULT_STATIC_QUANT_MODULE_MAPPINGS)


def get_embedding_static_quant_module_mappings() -> dict[Kind, FromFloat]:
    """The modules of static quantization, with tables that were trained for it."""
    made = get_default_static_quant_module_mappings()
    return {**made, nnqat.EmbeddingBag: nnq.EmbeddingBag, nnqat.Embedding: nnq.Embedding}


def get_default_qat_module_mappings() -> dict[Kind, FromFloat]:
    """The modules of training."""
    return copy.deepcopy(DEFAULT_QAT_MODULE_MAPPINGS)


def get_embedding_qat_module_mappings() -> dict[Kind, FromFloat]:
    """The modules of training, with tables."""
    made = get_default_qat_module_mappings()
    return {**made, sparse.EmbeddingBag: nnqat.EmbeddingBag, sparse.Embedding: nnqat.Embedding}


def get_default_dynamic_quant_module_mappings() -> dict[Kind, FromFloat]:
    """The modules of dynamic quantization."""
    return dict(DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS)


def get_default_qconfig_propagation_list() -> set[Kind]:
    """The modules that configurations are for."""
    return {
        *DEFAULT_STATIC_QUANT_MODULE_MAPPINGS,
        *DEFAULT_QAT_MODULE_MAPPINGS,
        *DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS,
        container.Sequential,
    }


def get_default_float_to_quantized_operator_mappings() -> dict[Operation, Callable[..., object]]:
    """The operators of functions."""
    return dict(DEFAULT_FLOAT_TO_QUANTIZED_OPERATOR_MAPPINGS)


def _found(kind: Kind, known: Mapping[Kind, FromFloat]) -> FromFloat:
    found = known.get(kind)
    if found is None:
        raise AssertionError(
            f"Floating point module class {kind} does not have a corresponding quantized module "
            "class"
        )
    return copy.deepcopy(found)


def get_static_quant_module_class(
    float_module_class: Kind,
    additional_static_quant_mapping: Mapping[Kind, FromFloat] | None = None,
    is_reference: bool = False,
) -> FromFloat:
    """The quantized class of a float module's.

    Raises:
        AssertionError: there is none.
    """
    extra = additional_static_quant_mapping or {}
    known = get_combined_dict(DEFAULT_STATIC_QUANT_MODULE_MAPPINGS, extra)
    return _found(float_module_class, known)


def get_dynamic_quant_module_class(
    float_module_class: Kind,
    additional_dynamic_quant_mapping: Mapping[Kind, FromFloat] | None = None,
) -> FromFloat:
    """The dynamically quantized class of a float module's.

    Raises:
        AssertionError: there is none.
    """
    extra = additional_dynamic_quant_mapping or {}
    known = get_combined_dict(DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS, extra)
    return _found(float_module_class, known)


def get_quantized_operator(float_op: Operation) -> Callable[..., object]:
    """The quantized operator of a function.

    Raises:
        AssertionError: there is none.
    """
    found = DEFAULT_FLOAT_TO_QUANTIZED_OPERATOR_MAPPINGS.get(float_op)
    if found is None:
        raise AssertionError(f"Operator {float_op} does not have corresponding quantized op")
    return found


def _get_special_act_post_process(module: Module) -> Callable[[], Module] | None:
    """What observes a module whose results lie between known bounds; None for others."""
    kind = type_before_parametrizations(module)
    return DEFAULT_MODULE_TO_ACT_POST_PROCESS.get(kind)


def _has_special_act_post_process(module: Module) -> bool:
    return module.training and _get_special_act_post_process(module) is not None
