"""`torch._dynamo.eval_frame`: the class of compiled modules, of which there are none."""

from __future__ import annotations

from ..nn.modules.module import Module

__all__ = ["OptimizedModule", "is_dynamo_supported"]


def is_dynamo_supported() -> bool:
    """Whether torch's compiler of Python's byte code is there: no."""
    return False


class OptimizedModule(Module):
    """What `torch.compile` makes of a module elsewhere; here that gives the module itself."""

    _orig_mod: Module
