"""DistributedDataParallel: a module that processes train together; here one does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ...distributed.groups import is_several
from ..modules.module import Module

__all__ = ["DistributedDataParallel"]


class DistributedDataParallel(Module):
    """A module, under the name `module`, whose gradients are those of this process.

    Raises:
        RuntimeError: no parameter requires gradients.
        ValueError: `init_process_group` was not called.
    """

    def __init__(
        self,
        module: Module,
        device_ids: object = None,
        output_device: object = None,
        dim: int = 0,
        broadcast_buffers: bool = True,
        init_sync: bool = True,
        process_group: object = None,
        bucket_cap_mb: float | None = None,
        find_unused_parameters: bool = False,
        check_reduction: bool = False,
        gradient_as_bucket_view: bool = False,
        static_graph: bool = False,
        **options: object,
    ) -> None:
        super().__init__()
        del output_device, init_sync, bucket_cap_mb, check_reduction, options
        if is_several(process_group):
            raise NotImplementedError("DistributedDataParallel of several processes")
        if not any(each.requires_grad for each in module.parameters()):
            raise RuntimeError(
                "DistributedDataParallel is not needed when a module doesn't have any parameter "
                "that requires a gradient."
            )
        self.module = module
        self.dim = dim
        self.device_ids = device_ids
        self.process_group = process_group
        self.broadcast_buffers = broadcast_buffers
        self.find_unused_parameters = find_unused_parameters
        self.gradient_as_bucket_view = gradient_as_bucket_view
        self.static_graph = static_graph
        self.require_backward_grad_sync = True

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What the module makes of the inputs."""
        return self.module(*inputs, **kwargs)

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """A block in which gradients are not exchanged."""
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    @contextmanager
    def join(self, *arguments: object, **options: object) -> Iterator[None]:
        """A block in which processes may get uneven numbers of batches."""
        del arguments, options
        yield

    def register_comm_hook(self, state: object, hook: object) -> None:
        """Say how gradients are exchanged, which they are not."""

    def _set_static_graph(self) -> None:
        self.static_graph = True
