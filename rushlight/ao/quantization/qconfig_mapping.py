"""`QConfigMapping`: which configuration each operator and module of a traced model gets."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Final

from typing_extensions import deprecated

from ...nn import functional
from ...nn.modules import activation, conv, normalization
from ...ops.eager.dispatch import eager_function
from .fake_quantize import (
    default_fixed_qparams_range_0to1_fake_quant,
    default_fixed_qparams_range_neg1to1_fake_quant,
    default_weight_fake_quant,
)
from .observer import (
    _PartialWrapper,
    default_fixed_qparams_range_0to1_observer,
    default_fixed_qparams_range_neg1to1_observer,
    default_placeholder_observer,
    default_weight_observer,
)
from .qconfig import (
    QConfig,
    QConfigAny,
    default_quint8_weight_qconfig,
    default_reuse_input_qconfig,
    default_symmetric_qnnpack_qat_qconfig,
    default_symmetric_qnnpack_qconfig,
    get_default_qat_qconfig,
    get_default_qconfig,
)

__all__ = [
    "QConfigMapping",
    "get_default_qat_qconfig_dict",
    "get_default_qat_qconfig_mapping",
    "get_default_qconfig_dict",
    "get_default_qconfig_mapping",
]

_GLOBAL_DICT_KEY: Final = ""
_OBJECT_TYPE_DICT_KEY: Final = "object_type"
_MODULE_NAME_REGEX_DICT_KEY: Final = "module_name_regex"
_MODULE_NAME_DICT_KEY: Final = "module_name"
_MODULE_NAME_OBJECT_TYPE_ORDER_DICT_KEY: Final = "module_name_object_type_order"

_STYLES: Final = {
    "object_type_qconfigs": _OBJECT_TYPE_DICT_KEY,
    "module_name_regex_qconfigs": _MODULE_NAME_REGEX_DICT_KEY,
    "module_name_qconfigs": _MODULE_NAME_DICT_KEY,
    "module_name_object_type_order_qconfigs": _MODULE_NAME_OBJECT_TYPE_ORDER_DICT_KEY,
}
"""The tables of a mapping, the last one counting most, and their names as entries of a dict."""
_QCONFIG_STYLE_ORDER: Final = ["global_qconfig", *_STYLES]

Kind = Callable[..., object] | str


class QConfigMapping:
    """Configurations by what an operator is and where it stands.

    Of several that fit counts, from the last: the one for all, that of a kind of operator or
    module, of names that fit a pattern, of a name, and of the n-th of a kind in a module.  Each
    setter gives the mapping back.
    """

    def __init__(self) -> None:
        self.global_qconfig: QConfigAny = None
        self.object_type_qconfigs: OrderedDict[Kind, QConfigAny] = OrderedDict()
        self.module_name_regex_qconfigs: OrderedDict[str, QConfigAny] = OrderedDict()
        self.module_name_qconfigs: OrderedDict[str, QConfigAny] = OrderedDict()
        self.module_name_object_type_order_qconfigs: OrderedDict[
            tuple[str, Kind, int], QConfigAny
        ] = OrderedDict()

    def set_global(self, global_qconfig: QConfigAny) -> QConfigMapping:
        """Set the one for what has no other."""
        self.global_qconfig = global_qconfig
        return self

    def set_object_type(self, object_type: Kind, qconfig: QConfigAny) -> QConfigMapping:
        """Set the one of a class of modules, a function, or a method by its name."""
        self.object_type_qconfigs[object_type] = qconfig
        return self

    def set_module_name_regex(self, module_name_regex: str, qconfig: QConfigAny) -> QConfigMapping:
        """Set the one of modules whose names fit a regular expression; the first one counts."""
        self.module_name_regex_qconfigs[module_name_regex] = qconfig
        return self

    def set_module_name(self, module_name: str, qconfig: QConfigAny) -> QConfigMapping:
        """Set the one of a module and of those in it."""
        self.module_name_qconfigs[module_name] = qconfig
        return self

    def set_module_name_object_type_order(
        self, module_name: str, object_type: Kind, index: int, qconfig: QConfigAny
    ) -> QConfigMapping:
        """Set the one of the `index`-th operator of a kind in a module."""
        self.module_name_object_type_order_qconfigs[(module_name, object_type, index)] = qconfig
        return self

    def __repr__(self) -> str:
        lines = ["QConfigMapping ("]
        for style in _QCONFIG_STYLE_ORDER:
            held = getattr(self, style)
            lines.append(f" {style}")
            if isinstance(held, OrderedDict) and held:
                lines += [f"  {key}: {value}" for key, value in held.items()]
            else:
                lines.append(f"  {held}")
        return "\n".join([*lines, ")"])

    def to_dict(self) -> dict[str, object]:
        """The same as a dict of lists, as configurations were written once."""
        made: dict[str, object] = {_GLOBAL_DICT_KEY: self.global_qconfig}
        for style, key in _STYLES.items():
            held = getattr(self, style).items()
            made[key] = [(*([k] if not isinstance(k, tuple) else k), v) for k, v in held]
        return made

    @classmethod
    def from_dict(cls, qconfig_dict: dict[str, Any]) -> QConfigMapping:
        """What `to_dict` gave, as a mapping; entries of other names are passed over."""
        made = cls()
        made.global_qconfig = qconfig_dict.get(_GLOBAL_DICT_KEY)
        for style, key in _STYLES.items():
            for *place, qconfig in qconfig_dict.get(key, []):
                getattr(made, style)[place[0] if len(place) == 1 else tuple(place)] = qconfig
        return made


def _fixed_kinds() -> dict[Kind, _PartialWrapper]:
    """Operators whose results lie between known bounds, and the observers of these."""
    from_0 = (
        *(activation.Hardsigmoid, functional.hardsigmoid, "hardsigmoid", "hardsigmoid_"),
        *(activation.Sigmoid, eager_function("aten::sigmoid"), "sigmoid", "sigmoid_"),
        activation.Softmax,
    )
    around_0 = (activation.Tanh, eager_function("aten::tanh"), "tanh", "tanh_")
    return {
        **dict.fromkeys(from_0, default_fixed_qparams_range_0to1_observer),
        **dict.fromkeys(around_0, default_fixed_qparams_range_neg1to1_observer),
    }


_OBSERVER_TO_FAKE: Final = {
    default_fixed_qparams_range_0to1_observer: default_fixed_qparams_range_0to1_fake_quant,
    default_fixed_qparams_range_neg1to1_observer: default_fixed_qparams_range_neg1to1_fake_quant,
}
_TRANSPOSED: Final = (
    *(conv.ConvTranspose1d, conv.ConvTranspose2d, conv.ConvTranspose3d),
    *(functional.conv_transpose1d, functional.conv_transpose2d, functional.conv_transpose3d),
)
_NORMS: Final = (functional.layer_norm, normalization.LayerNorm)


def _set_fixed(mapping: QConfigMapping, is_qat: bool) -> QConfigMapping:
    """Add the configurations of operators whose results lie between known bounds."""
    for kind, observer in _fixed_kinds().items():
        own = QConfig(observer, default_weight_observer)
        if is_qat:
            own = QConfig(_OBSERVER_TO_FAKE[observer], default_weight_fake_quant)
        mapping.set_object_type(kind, own)
    return mapping


def _of_backend(default: QConfig, backend: str, is_qat: bool) -> QConfigMapping:
    """The mapping of a default, with what some operators need instead."""
    weight = default.weight
    if backend in ("fbgemm", "x86"):  # whose transposed convolutions take no weights by channels
        weight = default_weight_fake_quant if is_qat else default_weight_observer
    made = QConfigMapping().set_global(default)
    made.set_object_type("reshape", default_reuse_input_qconfig)
    for kind in _TRANSPOSED:
        made.set_object_type(kind, QConfig(default.activation, weight))
    for norm in _NORMS:
        made.set_object_type(norm, QConfig(default.activation, default_placeholder_observer))
    made.set_object_type(activation.PReLU, default_quint8_weight_qconfig)
    return _set_fixed(made, is_qat)


def get_default_qconfig_mapping(backend: str = "x86", version: int = 0) -> QConfigMapping:
    """The mapping of static quantization for a backend.

    Raises:
        AssertionError: no such backend, or version.
    """
    return _of_backend(get_default_qconfig(backend, version), backend, False)


def get_default_qat_qconfig_mapping(backend: str = "x86", version: int = 1) -> QConfigMapping:
    """The mapping of training for quantization for a backend.

    Raises:
        AssertionError: no such backend, or version.
    """
    return _of_backend(get_default_qat_qconfig(backend, version), backend, True)


def _symmetric(default: QConfig, is_qat: bool) -> QConfigMapping:
    made = QConfigMapping().set_global(default).set_object_type("reshape", default)
    for kind in (*_TRANSPOSED, *_NORMS, activation.PReLU):
        made.set_object_type(kind, default)
    return _set_fixed(made, is_qat)


def _get_symmetric_qnnpack_qconfig_mapping() -> QConfigMapping:
    return _symmetric(default_symmetric_qnnpack_qconfig, False)


def _get_symmetric_qnnpack_qat_qconfig_mapping() -> QConfigMapping:
    return _symmetric(default_symmetric_qnnpack_qat_qconfig, True)


def _old(name: str) -> deprecated:
    return deprecated(
        f"`torch.ao.quantization.{name}_dict` is deprecated and will be removed in a future "
        f"version. Please use `torch.ao.quantization.{name}_mapping` instead.",
        category=FutureWarning,
    )


@_old("get_default_qconfig")
def get_default_qconfig_dict(backend: str = "x86", version: int = 0) -> dict[str, object]:
    """`get_default_qconfig_mapping` as a dict; deprecated."""
    return get_default_qconfig_mapping(backend, version).to_dict()


@_old("get_default_qat_qconfig")
def get_default_qat_qconfig_dict(backend: str = "x86", version: int = 1) -> dict[str, object]:
    """`get_default_qat_qconfig_mapping` as a dict; deprecated."""
    return get_default_qat_qconfig_mapping(backend, version).to_dict()
