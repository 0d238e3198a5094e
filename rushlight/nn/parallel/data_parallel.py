"""DataParallel: a module whose batches would be shared among GPUs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..modules.module import Module
from .replicate import parallel_apply, replicate
from .scatter_gather import Arguments, gather, scatter_kwargs

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
        self.device_ids: list[object] = []

    def forward(self, *inputs: object, **kwargs: object) -> Any:
        """What the module makes of the inputs."""
        return self.module(*inputs, **kwargs)

    # ------------------------------------- the parts of a call, which subclasses of packages change

    def replicate(self, module: Module, device_ids: Sequence[object]) -> list[Module]:
        """The module once for each device."""
        return replicate(module, device_ids)

    def scatter(
        self,
        inputs: tuple[object, ...],
        kwargs: Mapping[str, object] | None,
        device_ids: Sequence[object],
    ) -> Arguments:
        """The arguments of a call, cut into those of each device."""
        return scatter_kwargs(inputs, kwargs, device_ids, self.dim)

    def parallel_apply(
        self,
        replicas: Sequence[Module],
        inputs: Sequence[object],
        kwargs: Sequence[Mapping[str, object]],
    ) -> list[object]:
        """What the modules make of their arguments."""
        return parallel_apply(replicas, inputs, kwargs, self.device_ids[: len(replicas)])

    def gather(self, outputs: Sequence[object], output_device: object) -> object:
        """The results of the devices as one."""
        return gather(outputs, output_device, self.dim)


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
