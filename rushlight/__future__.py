"""`torch.__future__`: how `Module` replaces parameters when it converts them or loads a state dict.

Tensors keep their identity here whichever way they get new contents, so swapping is what happens
anyway; its switch is kept for programs that set it.
"""

from __future__ import annotations

from .nn import replacement

__all__ = [
    "get_overwrite_module_params_on_conversion",
    "get_swap_module_params_on_conversion",
    "set_overwrite_module_params_on_conversion",
    "set_swap_module_params_on_conversion",
]


def set_overwrite_module_params_on_conversion(value: bool) -> None:
    """Whether `module.to(...)` and the like put new parameters in the place of the old ones."""
    replacement.REPLACEMENT.overwrite = value


def get_overwrite_module_params_on_conversion() -> bool:
    """Whether conversions make new parameters; False unless set."""
    return replacement.REPLACEMENT.overwrite


def set_swap_module_params_on_conversion(value: bool) -> None:
    """Whether conversions and `load_state_dict` swap the contents of parameters."""
    replacement.REPLACEMENT.swap = value


def get_swap_module_params_on_conversion() -> bool:
    """Whether contents are swapped; False unless set."""
    return replacement.REPLACEMENT.swap
