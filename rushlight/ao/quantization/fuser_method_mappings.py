"""How lists of modules are fused to one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache

from ...nn.modules import activation, batchnorm, conv, linear
from ...nn.modules.batchnorm import BatchNorm1d
from ...nn.modules.linear import Linear
from ...nn.modules.module import Module
from ...nn.utils.fusion import fuse_conv_bn_eval, fuse_linear_bn_eval
from ..nn import intrinsic as nni
from .qconfig_traits import get_combined_dict

__all__ = [
    "fuse_conv_bn",
    "fuse_conv_bn_relu",
    "fuse_convtranspose_bn",
    "fuse_linear_bn",
    "get_fuser_method",
    "get_fuser_method_new",
]

Fuser = Callable[..., Module]
"""Makes one module of several; its first argument says whether it is for training."""


def _check_modes(first: str, *modules: Module) -> None:
    if len({module.training for module in modules}) > 1:
        raise AssertionError(f"{first} both must be in the same mode (train or eval).")


def _dims(layer: Module) -> int:
    return int(layer.weight.dim()) - 2


def _of(name: str, *modules: Module) -> Module:
    kind: type[Module] = getattr(nni, name)
    return kind(*modules)


def fuse_conv_bn(is_qat: bool, conv: Module, bn: Module) -> Module:
    """A convolution with the batch norm after it: in evaluation the norm goes into its weights.

    Raises:
        AssertionError: of different modes, or sizes; a norm without weights or statistics.
    """
    _check_modes("Conv and BN", conv, bn)
    if not is_qat:
        return fuse_conv_bn_eval(conv, bn)
    _check_norm(conv, bn)
    return _of(f"ConvBn{_dims(conv)}d", conv, bn)


def _check_norm(conv: Module, bn: Module) -> None:
    if bn.num_features != conv.out_channels:
        raise AssertionError("Output channel of Conv2d must match num_features of BatchNorm2d.")
    if not bn.affine:
        raise AssertionError("Only support fusing BatchNorm2d with affine set to True")
    if not bn.track_running_stats:
        raise AssertionError(
            "Only support fusing BatchNorm2d with tracking_running_stats set to True"
        )


def fuse_conv_bn_relu(is_qat: bool, conv: Module, bn: Module, relu: Module) -> Module:
    """A convolution with the batch norm and the ReLU after it.

    Raises:
        AssertionError: of different modes, or sizes; a norm without weights or statistics.
    """
    if not conv.training == bn.training == relu.training:
        raise AssertionError("Conv and BN both must be in the same mode (train or eval).")
    dims = _dims(conv)
    if is_qat:
        _check_norm(conv, bn)
        return _of(f"ConvBnReLU{dims}d", conv, bn, relu)
    return _of(f"ConvReLU{dims}d", fuse_conv_bn_eval(conv, bn), relu)


def fuse_linear_bn(is_qat: bool, linear: Linear, bn: BatchNorm1d) -> Module:
    """A linear layer with the batch norm after it.

    Raises:
        AssertionError: of different modes, or sizes; a norm without weights or statistics.
    """
    _check_modes("Linear and BN", linear, bn)
    if not is_qat:
        return fuse_linear_bn_eval(linear, bn)
    if bn.num_features != linear.out_features:
        raise AssertionError("Output features of Linear must match num_features of BatchNorm1d")
    if not bn.affine:
        raise AssertionError("Only support fusing BatchNorm1d with affine set to True")
    if not bn.track_running_stats:
        raise AssertionError(
            "Only support fusing BatchNorm1d with tracking_running_stats set to True"
        )
    return nni.LinearBn1d(linear, bn)


def fuse_convtranspose_bn(is_qat: bool, convt: Module, bn: Module) -> Module:
    """A transposed convolution with the batch norm after it, in evaluation.

    Raises:
        AssertionError: of different modes.
        Exception: for training.
    """
    _check_modes("ConvTranspose and BN", convt, bn)
    if is_qat:
        raise Exception("Fusing ConvTranspose+BatchNorm not yet supported in QAT.")
    return fuse_conv_bn_eval(convt, bn, transpose=True)


def _sequential(kind: type[Module]) -> Fuser:
    def fuse(is_qat: bool, first: Module, second: Module) -> Module:
        return kind(first, second)

    return fuse


@cache
def _default() -> Mapping[object, Fuser]:
    """The fusers by the kinds of modules."""
    made: dict[object, Fuser] = {}
    relu = activation.ReLU
    for dims in (1, 2, 3):
        layer, norm = getattr(conv, f"Conv{dims}d"), getattr(batchnorm, f"BatchNorm{dims}d")
        made[layer, norm] = fuse_conv_bn
        made[layer, norm, relu] = fuse_conv_bn_relu
        made[layer, relu] = _sequential(getattr(nni, f"ConvReLU{dims}d"))
        made[getattr(conv, f"ConvTranspose{dims}d"), norm] = fuse_convtranspose_bn
        if dims > 1:
            made[norm, relu] = _sequential(getattr(nni, f"BNReLU{dims}d"))
    made[linear.Linear, batchnorm.BatchNorm1d] = fuse_linear_bn
    made[linear.Linear, relu] = _sequential(nni.LinearReLU)
    return made


def get_fuser_method(
    op_list: tuple[object, ...] | Sequence[object],
    additional_fuser_method_mapping: Mapping[object, Fuser] | None = None,
) -> Fuser:
    """What fuses modules of these kinds.

    Raises:
        AssertionError: nothing does.
    """
    known = get_combined_dict(_default(), additional_fuser_method_mapping or {})
    found = known.get(op_list)
    if found is None:
        raise AssertionError(f"did not find fuser method for: {op_list} ")
    return found


def get_fuser_method_new(op_pattern: object, fuser_method_mapping: Mapping[object, Fuser]) -> Fuser:
    """What fuses a pattern: modules from the last back, in pairs.

    Raises:
        AssertionError: nothing does.
    """
    found = fuser_method_mapping.get(op_pattern)
    if found is None:
        raise AssertionError(f"did not find fuser method for: {op_pattern} ")
    return found
