"""Several modules of a model made one, so that they are quantized as one."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence

from ...nn.modules.linear import Identity
from ...nn.modules.module import Module
from ...nn.utils.parametrize import type_before_parametrizations
from .fuser_method_mappings import Fuser, get_fuser_method

__all__ = ["fuse_known_modules", "fuse_modules", "fuse_modules_qat"]

Groups = Sequence[str] | Sequence[Sequence[str]]
FuseGroup = Callable[..., Sequence[Module | None]]
"""Makes the new modules of a list."""


def fuse_known_modules(
    mod_list: Sequence[Module],
    is_qat: bool,
    additional_fuser_method_mapping: Mapping[object, Fuser] | None = None,
) -> list[Module | None]:
    """The fused module, and an `Identity` for each of the others.

    Hooks before the first and after the last module become those of the fused one.

    Raises:
        AssertionError: nothing fuses such modules.
    """
    types = tuple(type_before_parametrizations(module) for module in mod_list)
    fused = get_fuser_method(types, additional_fuser_method_mapping)(is_qat, *mod_list)
    first, last = mod_list[0], mod_list[-1]
    for hook in list(first._forward_pre_hooks.values()):
        fused.register_forward_pre_hook(hook)
    first._forward_pre_hooks.clear()
    for after in list(last._forward_hooks.values()):
        fused.register_forward_hook(after)
    last._forward_hooks.clear()
    rest = [Identity() for _ in mod_list[1:]]
    for each in rest:
        each.training = first.training
    return [fused, *rest]


def _parent_of(model: Module, path: str) -> tuple[object, str]:
    *parents, name = path.split(".")
    owner: object = model
    for each in parents:
        owner = getattr(owner, each)
    return owner, name


def _fuse_group(
    model: Module, names: Sequence[str], is_qat: bool, fuser: FuseGroup, extra: object
) -> None:
    places = [_parent_of(model, name) for name in names]
    held = [getattr(owner, name) for owner, name in places]
    for (owner, name), module in zip(places, fuser(held, is_qat, extra), strict=False):
        setattr(owner, name, module)


def _fuse_modules(
    model: Module,
    modules_to_fuse: Groups,
    is_qat: bool,
    inplace: bool = False,
    fuser_func: FuseGroup = fuse_known_modules,
    fuse_custom_config_dict: Mapping[str, object] | None = None,
) -> Module:
    made = model if inplace else copy.deepcopy(model)
    extra = (fuse_custom_config_dict or {}).get("additional_fuser_method_mapping", {})
    names = [each for each in modules_to_fuse if isinstance(each, str)]
    is_one = len(names) == len(modules_to_fuse)
    for group in [names] if is_one else map(list, modules_to_fuse):
        _fuse_group(made, group, is_qat, fuser_func, extra)
    return made


def fuse_modules(
    model: Module,
    modules_to_fuse: Groups,
    inplace: bool = False,
    fuser_func: FuseGroup = fuse_known_modules,
    fuse_custom_config_dict: Mapping[str, object] | None = None,
) -> Module:
    """A model with some of its modules fused, in evaluation.

    Convolutions and linear layers with batch norms, ReLUs, both, and batch norms with ReLUs.

    Args:
        modules_to_fuse: dotted names of modules that follow each other, or a list of such lists.
        fuser_func: makes the new modules of a list.
        fuse_custom_config_dict: `additional_fuser_method_mapping`, more kinds.

    Raises:
        AssertionError: nothing fuses such modules, or they are in training.
    """
    return _fuse_modules(
        model, modules_to_fuse, False, inplace, fuser_func, fuse_custom_config_dict
    )


def fuse_modules_qat(
    model: Module,
    modules_to_fuse: Groups,
    inplace: bool = False,
    fuser_func: FuseGroup = fuse_known_modules,
    fuse_custom_config_dict: Mapping[str, object] | None = None,
) -> Module:
    """`fuse_modules` for training with quantization: batch norms stay modules of their own."""
    return _fuse_modules(model, modules_to_fuse, True, inplace, fuser_func, fuse_custom_config_dict)
