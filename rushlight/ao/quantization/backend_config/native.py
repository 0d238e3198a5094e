"""What quantized operators here can do, as torch's native backend has it."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any, Final

from ....module_names import names_of
from ....nn import functional as F
from ....nn import modules as nn
from ....ops.eager.dispatch import eager_function
from ....ops.memory.dtype import DTYPES
from ...nn import intrinsic as nni
from ...nn import qat as nnqat
from ...nn.intrinsic.qat import modules as nniqat
from ...nn.quantized import reference as nnqr
from ..fuser_method_mappings import _sequential as sequential
from ..fuser_method_mappings import (
    fuse_conv_bn,
    fuse_conv_bn_relu,
    fuse_convtranspose_bn,
    fuse_linear_bn,
)
from .backend_config import (
    BackendConfig,
    BackendPatternConfig,
    DTypeConfig,
    DTypeWithConstraints,
    ObservationType,
)

__all__ = [
    "default_dynamic_float16_dtype_config",
    "default_dynamic_int8_dtype_config",
    "default_op_fp16_dtype_config",
    "default_op_quint8_dtype_config",
    "get_native_backend_config",
    "get_native_backend_config_dict",
    "input_output_only_quint8_dtype_config",
    "weight_only_quint4x2_dtype_config",
    "weight_only_quint8_dtype_config",
]

_QUINT8, _QINT8, _FLOAT, _HALF = (DTYPES[n] for n in ("quint8", "qint8", "float32", "float16"))
_OWN: Final = ObservationType.OUTPUT_USE_DIFFERENT_OBSERVER_AS_INPUT
_SHARED: Final = ObservationType.OUTPUT_SHARE_OBSERVER_WITH_INPUT

weighted_op_quint8_dtype_config: Final = DTypeConfig(_QUINT8, _QUINT8, _QINT8, _FLOAT)
default_op_quint8_dtype_config: Final = DTypeConfig(_QUINT8, _QUINT8)
default_op_fp16_dtype_config: Final = DTypeConfig(_HALF, _HALF, _HALF, _HALF)
default_dynamic_int8_dtype_config: Final = DTypeConfig(_QUINT8, _FLOAT, _QINT8, _FLOAT, True)
default_dynamic_float16_dtype_config: Final = DTypeConfig(_HALF, _FLOAT, _HALF, _FLOAT, True)
input_output_only_quint8_dtype_config: Final = DTypeConfig(_QUINT8, _QUINT8, _FLOAT, _FLOAT)
weight_only_quint8_dtype_config: Final = DTypeConfig(_FLOAT, _FLOAT, _QUINT8)
weight_only_quint4x2_dtype_config: Final = DTypeConfig(_FLOAT, _FLOAT, DTYPES["quint4x2"])


def _function(name: str) -> object:
    return eager_function(f"aten::{name}")


def _entry(
    pattern: object, *dtypes: DTypeConfig, kind: ObservationType = _OWN, **known: object
) -> BackendPatternConfig:
    made = BackendPatternConfig(pattern).set_observation_type(kind).set_dtype_configs([*dtypes])
    for name, value in known.items():
        setattr(made, name, value)
    return made


def _convolutions(dims: int) -> Iterator[BackendPatternConfig]:
    dtype = weighted_op_quint8_dtype_config
    root, norm = getattr(nn, f"Conv{dims}d"), getattr(nn, f"BatchNorm{dims}d")
    reference = getattr(nnqr, f"Conv{dims}d")
    to_reference = {"root_module": root, "reference_quantized_module": reference}
    trained = getattr(nnqat, f"Conv{dims}d", None)
    yield _entry(root, dtype, qat_module=trained, **to_reference)
    function = _function(f"conv{dims}d")
    yield _entry(function, dtype, _input_type_to_index={"weight": 1, "bias": 2})
    with_relu, with_norm = getattr(nni, f"ConvReLU{dims}d"), getattr(nni, f"ConvBn{dims}d")
    with_both = getattr(nni, f"ConvBnReLU{dims}d")
    for relu in (nn.ReLU, F.relu):
        fused = {"fused_module": with_relu, "fuser_method": sequential(with_relu)}
        yield _entry((root, relu), dtype, **fused)
        yield _entry((function, relu), dtype)
        fused = {"fused_module": with_both, "fuser_method": fuse_conv_bn_relu}
        yield _entry((root, norm, relu), dtype, **fused)
    yield _entry((root, norm), dtype, fused_module=with_norm, fuser_method=fuse_conv_bn)
    for kind in (with_relu, with_norm, with_both):
        trained_kind = getattr(nniqat, kind.__name__, None)
        yield _entry(kind, dtype, qat_module=trained_kind)
        if trained_kind is not None:
            yield _entry(trained_kind, dtype, **to_reference)
    if trained is not None:
        yield _entry(trained, dtype, **to_reference)
    turned = getattr(nn, f"ConvTranspose{dims}d")
    to_turned = {
        "root_module": turned,
        "reference_quantized_module": getattr(nnqr, f"ConvTranspose{dims}d"),
    }
    yield _entry(turned, dtype, **to_turned)
    yield _entry((turned, norm), dtype, fuser_method=fuse_convtranspose_bn, **to_turned)
    function = _function(f"conv_transpose{dims}d")
    yield _entry(function, dtype, _input_type_to_index={"weight": 1, "bias": 2})


def _linear() -> Iterator[BackendPatternConfig]:
    dtypes = (
        *(weighted_op_quint8_dtype_config, default_dynamic_int8_dtype_config),
        default_dynamic_float16_dtype_config,
    )
    known: dict[str, Any] = {"root_module": nn.Linear, "reference_quantized_module": nnqr.Linear}
    yield _entry(nn.Linear, *dtypes, qat_module=nnqat.Linear, **known)
    function = _function("linear")
    yield _entry(function, *dtypes, _input_type_to_index={"weight": 1, "bias": 2})
    for relu in (nn.ReLU, F.relu):
        fused: dict[str, Any] = {
            "fused_module": nni.LinearReLU,
            "fuser_method": sequential(nni.LinearReLU),
        }
        yield _entry((nn.Linear, relu), *dtypes, **fused)
        yield _entry((function, relu), *dtypes)
    pair = (nn.Linear, nn.BatchNorm1d)
    yield _entry(pair, *dtypes, fused_module=nni.LinearBn1d, fuser_method=fuse_linear_bn)
    yield _entry(nni.LinearReLU, *dtypes, qat_module=nniqat.LinearReLU, **known)
    yield _entry(nni.LinearBn1d, *dtypes, qat_module=nniqat.LinearBn1d, **known)
    for trained in (nnqat.Linear, nniqat.LinearReLU, nniqat.LinearBn1d):
        yield _entry(trained, *dtypes, **known)


_BY_TENSORS: Final = {0: _OWN, 1: _SHARED, 2: _OWN}
"""How the result of a sum or product is observed, by how many tensors it is of."""


def _binary() -> Iterator[BackendPatternConfig]:
    dtype = default_op_quint8_dtype_config
    for function in (operator.add, _function("add"), operator.mul, _function("mul")):
        for relu in (nn.ReLU, F.relu, _function("relu")):
            pair = (function, relu)
            yield _entry(pair, dtype, _num_tensor_args_to_observation_type=_BY_TENSORS)
        yield _entry(function, dtype, _num_tensor_args_to_observation_type=_BY_TENSORS)
    yield _entry(_function("matmul"), dtype)
    yield _entry(_function("cat"), dtype, kind=_SHARED)


def _bounds(scale: float, zero_point: int) -> DTypeConfig:
    bounded = DTypeWithConstraints(
        dtype=_QUINT8,
        quant_min_lower_bound=0,
        quant_max_upper_bound=255,
        scale_exact_match=scale,
        zero_point_exact_match=zero_point,
    )
    return DTypeConfig(bounded, bounded)


_SHARING: Final[tuple[object, ...]] = (
    *(nn.AdaptiveAvgPool1d, nn.AdaptiveAvgPool2d, nn.AdaptiveAvgPool3d, nn.AvgPool1d),
    *(nn.AvgPool2d, nn.AvgPool3d, nn.Hardtanh, nn.Identity, nn.MaxPool1d, nn.MaxPool2d),
    *(nn.MaxPool3d, nn.PixelShuffle, nn.PixelUnshuffle, nn.ReLU, nn.ReLU6),
    *(F.adaptive_avg_pool2d, F.adaptive_avg_pool3d, F.hardtanh, F.interpolate, F.max_pool1d),
    *(F.max_pool2d, F.max_pool3d, F.relu, F.relu6, F.avg_pool1d, F.avg_pool2d, F.avg_pool3d),
    *map(_function, ("adaptive_avg_pool1d", "pixel_shuffle", "pixel_unshuffle", "hardtanh_")),
    *map(_function, ("clamp", "flatten", "mean", "narrow", "repeat_interleave", "transpose")),
    *map(_function, ("squeeze", "stack", "unsqueeze")),
    operator.floordiv,
    *("contiguous", "clamp", "detach", "detach_", "mean", "permute", "repeat"),
    *("repeat_interleave", "reshape", "resize_", "relu", "relu_", "squeeze", "squeeze_"),
    *("transpose", "unsqueeze", "unsqueeze_", "view"),
)
_OWNING: Final[tuple[object, ...]] = (
    *(nn.ELU, nn.LeakyReLU, nn.Hardswish, nn.InstanceNorm1d, nn.InstanceNorm2d),
    *(nn.InstanceNorm3d, nn.Dropout, nn.PReLU, F.elu, F.hardswish, F.leaky_relu, F.dropout),
    *(F.group_norm, F.instance_norm),
)
_FROM_0: Final[tuple[object, ...]] = (
    *(nn.Hardsigmoid, F.hardsigmoid, "hardsigmoid", "hardsigmoid_", nn.Sigmoid),
    *(_function("sigmoid"), "sigmoid", "sigmoid_", nn.Softmax),
)
_AROUND_0: Final[tuple[object, ...]] = (nn.Tanh, _function("tanh"), "tanh", "tanh_")


def _others() -> Iterator[BackendPatternConfig]:
    dtype = default_op_quint8_dtype_config
    for each in _OWNING:
        yield _entry(each, dtype)
    for each in _FROM_0:
        yield _entry(each, _bounds(1.0 / 256.0, 0))
    for each in _AROUND_0:
        yield _entry(each, _bounds(2.0 / 256.0, 128))
    for each in _SHARING:
        yield _entry(each, dtype, kind=_SHARED)
    for each in ("shape", "size"):
        yield _entry(each, dtype, kind=ObservationType.INPUT_OUTPUT_NOT_OBSERVED)
    for norm, fused in ((nn.BatchNorm2d, nni.BNReLU2d), (nn.BatchNorm3d, nni.BNReLU3d)):
        for relu in (nn.ReLU, F.relu):
            pair = (norm, relu)
            yield _entry(pair, dtype, fused_module=fused, fuser_method=sequential(fused))
        yield _entry(norm, dtype)
        yield _entry(fused, dtype)
    dtype = input_output_only_quint8_dtype_config
    yield _entry(nn.LayerNorm, dtype)
    yield _entry(F.layer_norm, dtype, _input_type_to_index={"weight": 2, "bias": 3})


def _dynamic() -> Iterator[BackendPatternConfig]:
    dtypes = (default_dynamic_int8_dtype_config, default_dynamic_float16_dtype_config)
    for kind in (nn.GRUCell, nn.LSTMCell, nn.RNNCell, nn.LSTM, nn.GRU):
        yield _entry(kind, *dtypes, root_module=kind)
    dtypes = (weight_only_quint8_dtype_config, weight_only_quint4x2_dtype_config)
    for name in ("Embedding", "EmbeddingBag"):
        kind, trained = getattr(nn, name), getattr(nnqat, name)
        known = {
            "root_module": kind,
            "reference_quantized_module": getattr(nnqr, name),
        }
        yield _entry(kind, *dtypes, qat_module=trained, **known)
        yield _entry(trained, *dtypes, **known)


def get_native_backend_config() -> BackendConfig:
    """The patterns that quantized operators here compute."""
    made = BackendConfig("native")
    for dims in (1, 2, 3):
        made.set_backend_pattern_configs([*_convolutions(dims)])
    for entries in (_linear(), _binary(), _others(), _dynamic()):
        made.set_backend_pattern_configs([*entries])
    return made


def get_native_backend_config_dict() -> dict[str, Any]:
    """The same as a dict."""
    return get_native_backend_config().to_dict()


__getattr__ = names_of(__name__)
