"""DataParallel: a module whose batches would be shared among GPUs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..modules.module import Module

__all__ = ["DataParallel", "data_parallel"]


class DataParallel(Module):
    """A module on the only device, under the name `module`.

    Args:
        device_ids, output_device, dim: of GPUs; taken, and without meaning.
    """

    _not_stateless = "nn.DataParallel module"

    def __init__(
        self, module: Module, device_ids: object = None, output_device: object = None, dim: int = 0
    ) -> None:
        super().__init__()
        del output_device
        self.module = module
        self.dim = dim
        self.device_ids: list[Any] = []

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What the module makes of the inputs."""
        return self.module(*inputs, **kwargs)


def data_parallel(
    module: Module,
    inputs: object,
    device_ids: object = None,
    output_device: object = None,
    dim: int = 0,
    module_kwargs: Mapping[str, object] | None = None,
) -> Any:
    """What a module makes of inputs, on the only device."""
    del device_ids, output_device, dim
    given = inputs if isinstance(inputs, tuple) else (inputs,)
    return module(*given, **(module_kwargs or {}))
