"""`torch.utils.mobile_optimizer`: scripted modules made ready to be saved for small devices.

What torch does by kernels for phones is done by this library's own kernels wherever a program runs;
what is left is to fold constants, to merge batch norms into convolutions and to drop dropout.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import deepcopy
from enum import Enum

from ..jit.freezing import freeze
from ..jit.inspection import export_opnames
from ..jit.module import ScriptModule
from ..nn.modules.module import Module
from .bundled_inputs import _get_bundled_inputs_attributes_and_methods

__all__ = [
    *("LintCode", "MobileOptimizerType", "generate_mobile_module_lints"),
    "optimize_for_mobile",
]


class MobileOptimizerType(Enum):
    """What can be left out of the work."""

    CONV_BN_FUSION = 0
    INSERT_FOLD_PREPACK_OPS = 1
    REMOVE_DROPOUT = 2
    FUSE_ADD_RELU = 3
    HOIST_CONV_PACKED_PARAMS = 4
    VULKAN_AUTOMATIC_GPU_TRANSFER = 6


class LintCode(Enum):
    """What may be wrong with a module for small devices."""

    BUNDLED_INPUT = 1
    REQUIRES_GRAD = 2
    DROPOUT = 3
    BATCHNORM = 4


def optimize_for_mobile(
    script_module: object,
    optimization_blocklist: set[MobileOptimizerType] | None = None,
    preserved_methods: Sequence[str] | None = None,
    backend: str = "CPU",
) -> ScriptModule:
    """A frozen copy of a scripted module, in which batch norms are merged and dropout is gone.

    Args:
        script_module: scripted or traced.
        optimization_blocklist: what is not done: without `CONV_BN_FUSION` batch norms stay; the
            others name packed weights, which stand for kernels that every program has here.
        preserved_methods: methods that stay, besides `forward`.
        backend: "CPU".

    Raises:
        TypeError: not a scripted module, or an unknown backend.
        AttributeError: a method does not exist.
        NotImplementedError: "Vulkan" or "Metal".
    """
    if not isinstance(script_module, ScriptModule):
        raise TypeError(f"Got {type(script_module)}, but ScriptModule is expected.")
    if backend.upper() in ("VULKAN", "METAL"):
        raise NotImplementedError(f"optimize_for_mobile: there is no device for {backend} here")
    if backend.upper() != "CPU":
        raise TypeError("Unknown backend, must be one of 'CPU', 'Vulkan' or 'Metal'")
    kept = [str(name) for name in preserved_methods or ()]
    missing = [name for name in kept if not hasattr(script_module, name)]
    if missing:
        raise AttributeError(f"One of the preserved_methods {missing} does not exist in the module")
    kept += _get_bundled_inputs_preserved_attributes(script_module, kept)
    merges = MobileOptimizerType.CONV_BN_FUSION not in (optimization_blocklist or ())
    if getattr(script_module, "training", False):
        script_module = deepcopy(script_module).eval()
    return freeze(script_module, preserved_attrs=kept, optimize_numerics=merges)


def generate_mobile_module_lints(script_module: object) -> list[dict[str, str]]:
    """What may be wrong with a scripted module: a name and a sentence each.

    Raises:
        TypeError: not a scripted module.
    """
    if not isinstance(script_module, ScriptModule):
        raise TypeError(f"Got {type(script_module)}, but ScriptModule is expected.")
    return list(_lints(script_module))


def _lint(code: LintCode, said: str) -> dict[str, str]:
    return {"name": code.name, "message": said}


def _lints(module: Module) -> Iterable[dict[str, str]]:
    if not hasattr(module, "_generate_bundled_inputs_for_forward"):
        yield _lint(
            LintCode.BUNDLED_INPUT,
            "No bundled input for forward, please add bundled inputs before saving the module "
            "using torch.utils.bundled_inputs.augment_model_with_bundled_inputs.",
        )
    for name, parameter in module.named_parameters():
        if parameter.requires_grad:
            yield _lint(
                LintCode.REQUIRES_GRAD,
                f"Param {name} requires grad, please set torch.no_grad() to reduce memory usage "
                "and improve computation speed during inference phase.",
            )
    for name in export_opnames(module):
        if "dropout" in name:
            yield _lint(
                LintCode.DROPOUT,
                f"Operator {name} exists, remember to call eval() before saving the module.and "
                "call torch.utils.mobile_optimizer.optimize_for_mobile to drop dropout operator.",
            )
        if "batch_norm" in name:
            yield _lint(
                LintCode.BATCHNORM,
                f"Operator {name} exists, remember to call eval() before saving the module and "
                "call torch.utils.mobile_optimizer.optimize_for_mobile to drop batch_norm "
                "operator.",
            )


def _get_bundled_inputs_preserved_attributes(
    script_module: ScriptModule, preserved_methods: Sequence[str]
) -> list[str]:
    """The methods and attributes of bundled inputs that have to stay, without those named."""
    methods, attributes = _get_bundled_inputs_attributes_and_methods(script_module)
    names = [*methods, *attributes]
    names = [name for name in names if hasattr(script_module, name)]
    return [name for name in names if name not in preserved_methods]
