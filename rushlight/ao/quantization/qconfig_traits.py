"""What a configuration, or an observer, says of the numbers it leads to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeVar

from ...nn.modules.module import Module
from ...ops.memory.dtype import DTYPES, QSCHEMES, DType, QScheme
from .observer import PlaceholderObserver
from .qconfig import QConfig
from .quant_type import QuantType

__all__ = [
    "activation_dtype",
    "activation_is_dynamically_quantized",
    "activation_is_int32_quantized",
    "activation_is_int8_quantized",
    "activation_is_statically_quantized",
    "get_combined_dict",
    "get_qconfig_dtypes",
    "get_qparam_dict",
    "get_quant_type",
    "get_swapped_custom_module_class",
    "getattr_from_fqn",
    "has_no_children_ignoring_parametrizations",
    "is_per_channel",
    "is_per_tensor",
    "op_is_int8_dynamically_quantized",
    "weight_dtype",
    "weight_is_quantized",
    "weight_is_statically_quantized",
]

K = TypeVar("K")
V = TypeVar("V")
Custom = TypeVar("Custom")

_INT8: Final = tuple(DTYPES[name] for name in ("quint8", "qint8", "uint8", "int8"))
_INT32: Final = (DTYPES["qint32"], DTYPES["int32"])
_FLOAT16: Final = DTYPES["float16"]
_STATIC: Final = (
    *_INT8,
    *_INT32,
    *(DTYPES[name] for name in ("float16", "uint16", "int16")),
    *(DTYPES[name] for name in ("float8_e5m2", "float8_e4m3fn")),
)
_WEIGHTS: Final = (*_INT8, *(DTYPES[n] for n in ("float16", "quint4x2", "uint16", "int16")))
_CHANNEL_SCHEMES: Final = tuple(
    QSCHEMES[name]
    for name in (
        *("per_channel_affine", "per_channel_affine_float_qparams", "per_channel_symmetric"),
    )
)


def is_per_tensor(qscheme: QScheme) -> bool:
    """Whether a scheme has one scale for all elements."""
    return qscheme in (QSCHEMES["per_tensor_affine"], QSCHEMES["per_tensor_symmetric"])


def is_per_channel(qscheme: QScheme) -> bool:
    """Whether a scheme has a scale for each channel."""
    return qscheme in _CHANNEL_SCHEMES


def getattr_from_fqn(obj: object, fqn: str) -> Any:
    """What stands at the end of a dotted name."""
    for name in fqn.split("."):
        obj = getattr(obj, name)
    return obj


def get_combined_dict(default_dict: Mapping[K, V], additional_dict: Mapping[K, V]) -> dict[K, V]:
    """The entries of both; the second's count."""
    return {**default_dict, **additional_dict}


def get_qparam_dict(observer_or_fake_quant: Module) -> dict[str, object]:
    """The scheme, dtype, range, scale and zero point that an observer leads to."""
    qscheme = getattr(observer_or_fake_quant, "qscheme", None)
    made = {"qscheme": qscheme, "dtype": observer_or_fake_quant.dtype}
    if isinstance(observer_or_fake_quant, PlaceholderObserver):
        return {**made, "qscheme": None}
    if qscheme is not None and is_per_channel(qscheme):
        made["axis"] = observer_or_fake_quant.ch_axis
    made["scale"], made["zero_point"] = observer_or_fake_quant.calculate_qparams()
    for name in ("quant_min", "quant_max"):
        if hasattr(observer_or_fake_quant, name):
            made[name] = getattr(observer_or_fake_quant, name)
    return made


def get_swapped_custom_module_class(
    custom_module: object,
    custom_module_class_mapping: Mapping[QuantType, Mapping[type, Custom]],
    qconfig: QConfig | None,
) -> Custom:
    """The class that a module is to be exchanged for, by how it is quantized.

    Raises:
        AssertionError: no configuration, or no class for the module's.
    """
    by_class = custom_module_class_mapping.get(get_quant_type(qconfig), {})
    found = by_class.get(type(custom_module))
    if found is None:
        raise AssertionError(
            "did not find corresponding observed module class for "
            f"{type(custom_module)} in mapping: {by_class}"
        )
    return found


def activation_dtype(qconfig: QConfig) -> DType:
    """The dtype that a module's values are quantized to."""
    dtype: DType = qconfig.activation().dtype
    return dtype


def weight_dtype(qconfig: QConfig) -> DType:
    """The dtype that a module's weights are quantized to."""
    dtype: DType = qconfig.weight().dtype
    return dtype


def _is_dynamic(qconfig: QConfig) -> bool:
    return bool(getattr(qconfig.activation(), "is_dynamic", False))


def activation_is_statically_quantized(qconfig: QConfig) -> bool:
    """Whether values are quantized by ranges seen before."""
    return activation_dtype(qconfig) in _STATIC and not activation_is_dynamically_quantized(qconfig)


def activation_is_dynamically_quantized(qconfig: QConfig) -> bool:
    """Whether values are quantized by the range of each call."""
    return get_qconfig_dtypes(qconfig)[2]


def activation_is_int8_quantized(qconfig: QConfig) -> bool:
    """Whether values are quantized to 8 bits."""
    return activation_dtype(qconfig) in _INT8


def activation_is_int32_quantized(qconfig: QConfig) -> bool:
    """Whether values are quantized to 32 bits."""
    return activation_dtype(qconfig) in _INT32


def weight_is_quantized(qconfig: QConfig) -> bool:
    """Whether weights are quantized, or of half precision."""
    return weight_dtype(qconfig) in _WEIGHTS


def weight_is_statically_quantized(qconfig: QConfig) -> bool:
    """Whether weights are quantized to 8 bits."""
    return weight_dtype(qconfig) in _INT8


def op_is_int8_dynamically_quantized(qconfig: QConfig) -> bool:
    """Whether values are quantized to 8 bits by the range of each call, and weights are."""
    values, weights, is_dynamic = get_qconfig_dtypes(qconfig)
    unsigned = (DTYPES["quint8"], DTYPES["uint8"])
    return values in unsigned and weights in (DTYPES["qint8"], DTYPES["int8"]) and is_dynamic


def get_qconfig_dtypes(qconfig: QConfig) -> tuple[DType, DType, bool]:
    """The dtypes of values and of weights, and whether the values' ranges are those of each call.

    Raises:
        AssertionError: no configuration.
    """
    if qconfig is None:
        raise AssertionError("qconfig must be provided to extract dtypes")
    return qconfig.activation().dtype, qconfig.weight().dtype, _is_dynamic(qconfig)


def get_quant_type(qconfig: QConfig | None) -> QuantType:
    """When the numbers are quantized.

    Raises:
        AssertionError: no configuration.
        Exception: dtypes that do not go together.
    """
    if qconfig is None:
        raise AssertionError("qconfig must be provided to determine quant type")
    values, weights = qconfig.activation(), qconfig.weight()
    if weights.dtype in _WEIGHTS:
        if getattr(values, "is_dynamic", False):
            return QuantType.DYNAMIC
        if values.dtype in _STATIC:
            return QuantType.STATIC
        return QuantType.WEIGHT_ONLY
    is_dynamic = getattr(values, "is_dynamic", False)
    if is_dynamic and values.dtype is _FLOAT16 and weights.dtype is DTYPES["float32"]:
        return QuantType.DYNAMIC
    raise Exception(
        f"Unrecognized dtype combination in get_quant_type: activation({values.dtype}),"
        f"weight({weights.dtype})"
    )


def has_no_children_ignoring_parametrizations(module: Module) -> bool:
    """Whether a module has no others in it but its parametrizations."""
    return not any(name != "parametrizations" for name in module._modules)


def _parent_name(target: str) -> tuple[str, str]:
    """The dotted name of the parent, and the last name."""
    parent, _, name = target.rpartition(".")
    return parent, name
