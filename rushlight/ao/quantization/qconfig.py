"""`QConfig`: which observers or fake quantizers a module's values and weights get."""

from __future__ import annotations

import copy
import warnings
from collections import namedtuple
from typing import Final, TypeAlias

from typing_extensions import deprecated

from ...module_names import names_of
from ...nn.modules import conv
from ...nn.modules.linear import Identity
from ...nn.modules.module import Module
from ...ops.memory.dtype import DTYPES, QSCHEMES
from .fake_quantize import (
    FakeQuantize,
    FusedMovingAvgObsFakeQuantize,
    default_dynamic_fake_quant,
    default_embedding_fake_quant,
    default_embedding_fake_quant_4bit,
    default_fake_quant,
    default_fused_act_fake_quant,
    default_fused_per_channel_wt_fake_quant,
    default_fused_wt_fake_quant,
    default_per_channel_weight_fake_quant,
    default_weight_fake_quant,
    fused_per_channel_wt_fake_quant_range_neg_127_to_127,
    fused_wt_fake_quant_range_neg_127_to_127,
)
from .observer import (
    HistogramObserver,
    MinMaxObserver,
    MovingAverageMinMaxObserver,
    NoopObserver,
    PlaceholderObserver,
    ReuseInputObserver,
    _PartialWrapper,
    default_debug_observer,
    default_dynamic_quant_observer,
    default_float_qparams_observer,
    default_float_qparams_observer_4bit,
    default_observer,
    default_per_channel_weight_observer,
    default_placeholder_observer,
    default_reuse_input_observer,
    default_weight_observer,
    per_channel_weight_observer_range_neg_127_to_127,
    weight_observer_range_neg_127_to_127,
)

__all__ = [
    "QConfig",
    "QConfigAny",
    "QConfigDynamic",
    "default_activation_only_qconfig",
    "default_debug_qconfig",
    "default_dynamic_qat_qconfig",
    "default_dynamic_qconfig",
    "default_embedding_qat_qconfig",
    "default_embedding_qat_qconfig_4bit",
    "default_per_channel_qconfig",
    "default_per_channel_symmetric_qnnpack_qat_qconfig",
    "default_per_channel_symmetric_qnnpack_qconfig",
    "default_qat_qconfig",
    "default_qat_qconfig_v2",
    "default_qconfig",
    "default_quint8_weight_qconfig",
    "default_reuse_input_qconfig",
    "default_symmetric_qnnpack_qat_qconfig",
    "default_symmetric_qnnpack_qconfig",
    "default_weight_only_qconfig",
    "float16_dynamic_qconfig",
    "float16_static_qconfig",
    "float_qparams_weight_only_qconfig",
    "float_qparams_weight_only_qconfig_4bit",
    "get_default_qat_qconfig",
    "get_default_qconfig",
    "per_channel_dynamic_qconfig",
    "qconfig_equals",
]

_INSTANCE: Final = (
    "QConfig received observer instance, please pass observer class instead. Use "
    "MyObserver.with_args(x=1) to override arguments to constructor if needed"
)


class QConfig(namedtuple("QConfig", ["activation", "weight"])):
    """What makes the observers, or fake quantizers, of a module's results and of its weights.

    Args:
        activation, weight: classes, or what `with_args` gives.

    Raises:
        ValueError: one of them is a module already.
    """

    __slots__ = ()

    def __new__(cls, activation: object, weight: object) -> QConfig:
        if isinstance(activation, Module) or isinstance(weight, Module):
            raise ValueError(_INSTANCE)
        return super().__new__(cls, activation, weight)


@deprecated(
    "`QConfigDynamic` is going to be deprecated in PyTorch 1.12, please use `QConfig` instead",
    category=FutureWarning,
)
class QConfigDynamic(namedtuple("QConfigDynamic", ["activation", "weight"])):
    """`QConfig` of dynamic quantization, as it was called.

    Raises:
        ValueError: one of them is a module already.
    """

    __slots__ = ()

    def __new__(cls, activation: object = Identity, weight: object = Identity) -> QConfigDynamic:
        if isinstance(weight, Module):
            raise ValueError(_INSTANCE)
        return super().__new__(cls, activation, weight)


QConfigAny: TypeAlias = QConfig | None

_FLOAT16: Final = DTYPES["float16"]
_QINT8: Final = DTYPES["qint8"]
_SMALLEST: Final = 2**-12

default_qconfig = QConfig(activation=default_observer, weight=default_weight_observer)
default_debug_qconfig = QConfig(activation=default_debug_observer, weight=default_weight_observer)
default_per_channel_qconfig = QConfig(
    activation=default_observer, weight=default_per_channel_weight_observer
)
default_dynamic_qconfig = QConfig(
    activation=default_dynamic_quant_observer, weight=default_weight_observer
)
float16_dynamic_qconfig = QConfig(
    activation=PlaceholderObserver.with_args(dtype=_FLOAT16, is_dynamic=True),
    weight=PlaceholderObserver.with_args(dtype=_FLOAT16),
)
float16_static_qconfig = QConfig(
    activation=PlaceholderObserver.with_args(dtype=_FLOAT16),
    weight=PlaceholderObserver.with_args(dtype=_FLOAT16),
)
per_channel_dynamic_qconfig = QConfig(
    activation=default_dynamic_quant_observer, weight=default_per_channel_weight_observer
)
float_qparams_weight_only_qconfig = QConfig(
    activation=default_placeholder_observer, weight=default_float_qparams_observer
)
float_qparams_weight_only_qconfig_4bit = QConfig(
    activation=default_placeholder_observer, weight=default_float_qparams_observer_4bit
)
default_qat_qconfig = QConfig(activation=default_fake_quant, weight=default_weight_fake_quant)
default_dynamic_qat_qconfig = QConfig(
    activation=default_dynamic_fake_quant, weight=default_weight_fake_quant
)
default_weight_only_qconfig = QConfig(activation=Identity, weight=default_weight_fake_quant)
default_activation_only_qconfig = QConfig(activation=default_fake_quant, weight=Identity)
default_qat_qconfig_v2 = QConfig(
    activation=default_fused_act_fake_quant, weight=default_fused_wt_fake_quant
)
default_reuse_input_qconfig = QConfig(activation=default_reuse_input_observer, weight=NoopObserver)
default_embedding_qat_qconfig = QConfig(
    activation=NoopObserver.with_args(dtype=DTYPES["float32"]),
    weight=default_embedding_fake_quant,
)
default_embedding_qat_qconfig_4bit = QConfig(
    activation=NoopObserver.with_args(dtype=DTYPES["float32"]),
    weight=default_embedding_fake_quant_4bit,
)
default_quint8_weight_qconfig = QConfig(activation=HistogramObserver, weight=MinMaxObserver)

_SYMMETRIC_VALUES: Final = HistogramObserver.with_args(
    dtype=_QINT8, reduce_range=False, eps=_SMALLEST
)
_SYMMETRIC_TRAINED: Final = FusedMovingAvgObsFakeQuantize.with_args(
    observer=MovingAverageMinMaxObserver,
    quant_min=-128,
    quant_max=127,
    dtype=_QINT8,
    reduce_range=False,
    eps=_SMALLEST,
)
default_symmetric_qnnpack_qconfig = QConfig(
    activation=_SYMMETRIC_VALUES, weight=weight_observer_range_neg_127_to_127
)
default_per_channel_symmetric_qnnpack_qconfig = QConfig(
    activation=_SYMMETRIC_VALUES, weight=per_channel_weight_observer_range_neg_127_to_127
)
default_symmetric_qnnpack_qat_qconfig = QConfig(
    activation=_SYMMETRIC_TRAINED, weight=fused_wt_fake_quant_range_neg_127_to_127
)
default_per_channel_symmetric_qnnpack_qat_qconfig = QConfig(
    activation=_SYMMETRIC_TRAINED, weight=fused_per_channel_wt_fake_quant_range_neg_127_to_127
)

_default_fp32_placeholder_qconfig = QConfig(
    activation=PlaceholderObserver.with_args(dtype=DTYPES["float32"]),
    weight=PlaceholderObserver.with_args(dtype=DTYPES["float32"]),
)
_default_quint8_placeholder_qconfig = QConfig(
    activation=PlaceholderObserver.with_args(dtype=DTYPES["quint8"]), weight=None
)

_BACKENDS: Final = ["fbgemm", "x86", "qnnpack", "onednn"]


def _check_backend(backend: str) -> None:
    if backend not in _BACKENDS:
        raise AssertionError(
            f"backend: {backend} not supported. backend must be one of {_BACKENDS}"
        )


def get_default_qconfig(backend: str = "x86", version: int = 0) -> QConfig:
    """The configuration of static quantization for a backend.

    Raises:
        AssertionError: no such backend, or version.
    """
    _check_backend(backend)
    if version != 0:
        raise AssertionError(
            f"Version number: {version} in get_default_qconfig is not supported. "
            "Version number must be 0"
        )
    if backend == "onednn":
        warnings.warn(
            "Default qconfig of oneDNN backend with reduce_range of false may have accuracy "
            "issues on CPU without Vector Neural Network Instruction support.",
            stacklevel=2,
        )
    reduced = backend in ("fbgemm", "x86")
    weight = (
        default_weight_observer if backend == "qnnpack" else default_per_channel_weight_observer
    )
    return QConfig(HistogramObserver.with_args(reduce_range=reduced), weight)


def get_default_qat_qconfig(backend: str = "x86", version: int = 1) -> QConfig:
    """The configuration of training for quantization for a backend.

    Args:
        version: 1 for fake quantizers that are one operator, 0 for those that are several.

    Raises:
        AssertionError: no such backend, or version.
    """
    _check_backend(backend)
    if version not in (0, 1):
        raise AssertionError(
            f"Version number: {version}in get_default_qat_qconfig is not supported. "
            "Version number must be 0 or 1"
        )
    kind = FusedMovingAvgObsFakeQuantize if version else FakeQuantize
    given: dict[str, object] = {
        **{"observer": MovingAverageMinMaxObserver, "quant_min": 0, "quant_max": 255},
        **({} if backend == "onednn" else {"reduce_range": backend != "qnnpack"}),
    }
    whole = backend == "qnnpack"
    if version:
        weight = default_fused_wt_fake_quant if whole else default_fused_per_channel_wt_fake_quant
    else:
        weight = default_weight_fake_quant if whole else default_per_channel_weight_fake_quant
    return QConfig(kind.with_args(**given), weight)


def _assert_valid_qconfig(qconfig: QConfig | None, mod: Module) -> None:
    """Check that a module can be quantized so.

    Raises:
        AssertionError: weights by channels, of a transposed convolution.
    """
    if qconfig is None:
        return
    if isinstance(mod, conv.ConvTranspose1d | conv.ConvTranspose2d | conv.ConvTranspose3d):
        if not qconfig.weight:
            return
        scheme = getattr(qconfig.weight(), "qscheme", None)
        if scheme in (QSCHEMES["per_channel_affine"], QSCHEMES["per_channel_symmetric"]):
            raise AssertionError(
                "Per channel weight observer is not supported yet for ConvTranspose{n}d."
            )


def _partial_wrapper_equals(obs_or_fq1: _PartialWrapper, obs_or_fq2: _PartialWrapper) -> bool:
    """Whether two of them make the same."""
    own, other = dict(obs_or_fq1.p.keywords), dict(obs_or_fq2.p.keywords)
    inner = own.pop("observer", None), other.pop("observer", None)
    same = _obs_or_fq_ctr_equals(*inner)
    return same and obs_or_fq1.p.func == obs_or_fq2.p.func and own == other


def _obs_or_fq_ctr_equals(obs_or_fq1: object, obs_or_fq2: object) -> bool:
    if isinstance(obs_or_fq1, _PartialWrapper) and isinstance(obs_or_fq2, _PartialWrapper):
        return _partial_wrapper_equals(obs_or_fq1, obs_or_fq2)
    return bool(obs_or_fq1 == obs_or_fq2)


def qconfig_equals(q1: QConfigAny, q2: QConfigAny) -> bool:
    """Whether two configurations make the same observers."""
    if q1 is None or q2 is None:
        return q1 is q2
    return all(_obs_or_fq_ctr_equals(a, b) for a, b in zip(q1, q2, strict=True))


def _is_reuse_input_qconfig(qconfig: QConfig | None) -> bool:
    return (
        qconfig is not None
        and isinstance(qconfig.activation(), ReuseInputObserver)
        and isinstance(qconfig.weight(), NoopObserver)
    )


def _add_module_to_qconfig_obs_ctr(qconfig: QConfigAny, module: Module | None) -> object:
    """The configuration, whose observers are made on the module's device; all are on the CPU."""
    return copy.copy(qconfig)


__getattr__ = names_of(__name__)
