"""`torch.distributed._composable_state`: what modules are composed with; here with nothing."""

from __future__ import annotations

__all__ = ["_get_module_state"]


def _get_module_state(module: object) -> None:
    """The state of a module that is in parts over processes, of which there is none."""
    del module
