"""DistributedDataParallel: a module that processes train together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Final

from ...distributed.groups import ProcessGroup, group_of
from ...distributed.objects import all_gather_object
from ...distributed.staging import joined, shared_out
from ...distributed.works import waited
from ...ops.table.grad_mode import is_grad_enabled
from ...ops.tensors.tensor import Tensor
from ..modules.module import Module
from .reducer import Reducer
from .scatter_gather import Arguments, gather, scatter_kwargs

__all__ = ["DistributedDataParallel"]

_BUCKET_MB: Final = 25
_TAKEN: Final = ("batched_grad_copy",)
_REFUSED: Final = (
    *("delay_all_reduce_named_params", "param_to_hook_all_reduce", "mixed_precision"),
    *("device_mesh", "skip_all_reduce_unused_params", "forward_sync_buffers", "bucket_cap_mb_list"),
)


class DistributedDataParallel(Module):
    """A module, under the name `module`, whose gradients are the means of those of all processes.

    All processes have the same module, and begin with the parameters and buffers of the first one.
    Gradients are sent in buckets while the walk back goes on.

    Args:
        module: the module.
        broadcast_buffers: whether each call begins with the buffers of the first process.
        init_sync: whether parameters and buffers are compared and sent at the beginning.
        process_group: the processes; all of them if None.
        bucket_cap_mb: MiB of a bucket, 25 if None; the first one has 1.
        find_unused_parameters: whether parameters may have no part in a result.
        gradient_as_bucket_view: whether gradients lie in the buckets, which saves their memory.
        static_graph: parameters may have no part in results.

    Raises:
        RuntimeError: no parameter requires gradients; modules of processes differ.
        ValueError: `init_process_group` was not called.
        NotImplementedError: an option that is not supported is given.
    """

    def __init__(
        self,
        module: Module,
        device_ids: object = None,
        output_device: object = None,
        dim: int = 0,
        broadcast_buffers: bool | None = None,
        init_sync: bool = True,
        process_group: ProcessGroup | None = None,
        bucket_cap_mb: float | None = None,
        find_unused_parameters: bool = False,
        check_reduction: bool = False,
        gradient_as_bucket_view: bool = False,
        static_graph: bool = False,
        **options: object,
    ) -> None:
        super().__init__()
        del output_device, check_reduction
        _check_options(options)
        members = group_of(process_group)
        parameters = _trained(module)
        self.module = module
        self.dim = dim
        self.device_ids = device_ids
        self.process_group = members
        self.broadcast_buffers = broadcast_buffers is not False
        self.find_unused_parameters = find_unused_parameters
        self.gradient_as_bucket_view = gradient_as_bucket_view
        self.static_graph = static_graph
        self.require_backward_grad_sync = True
        bucket_bytes = int((bucket_cap_mb or _BUCKET_MB) * (1 << 20))
        self._reducer: Reducer | None = None
        if members.size() > 1:
            if init_sync:
                _check_alike(parameters, members)
                _send_from_first([*_state(module).values()], members)
            finds, views = find_unused_parameters or static_graph, gradient_as_bucket_view
            self._reducer = Reducer(parameters, members, bucket_bytes, finds, views)

    def forward(self, *inputs: object, **kwargs: object) -> Any:
        """What the module makes of the inputs.

        Raises:
            RuntimeError: parameters had no part in the result before, which was not announced.
        """
        reducer = self._reducer
        if reducer is None:
            return self.module(*inputs, **kwargs)
        syncs = is_grad_enabled() and self.require_backward_grad_sync
        if syncs:
            reducer.begin()
        if self.broadcast_buffers and self.require_backward_grad_sync:
            _send_from_first(_buffers(self.module), self.process_group)
        results = self.module(*inputs, **kwargs)
        if syncs:
            reducer.expect(results)
        return results

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """A block in which gradients are only added up in this process; the next walk back after it
        takes the means of the sums."""
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        if self._reducer is not None:
            self._reducer.begin()
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    def join(
        self,
        divide_by_initial_world_size: bool = True,
        enable: bool = True,
        throw_on_early_termination: bool = False,
    ) -> AbstractContextManager[None]:
        """A block in which processes may get uneven numbers of batches.

        Raises:
            NotImplementedError: there are several processes, whose numbers may be uneven.
        """
        del divide_by_initial_world_size, throw_on_early_termination
        if enable and self._reducer is not None:
            raise NotImplementedError(
                "DistributedDataParallel.join: uneven numbers of batches in several processes are "
                "not supported; give all of them as many (`DistributedSampler`)"
            )
        return nullcontext()

    def register_comm_hook(self, state: object, hook: object) -> None:
        """Say how gradients are exchanged.

        Raises:
            NotImplementedError: there are several processes.
        """
        if self._reducer is not None:
            raise NotImplementedError(
                "DistributedDataParallel.register_comm_hook: gradients of several processes are "
                "exchanged in one way, by their means"
            )

    # ------------------------------------- the parts of a call, which subclasses of packages change

    def scatter(
        self,
        inputs: tuple[object, ...],
        kwargs: Mapping[str, object] | None,
        device_ids: Sequence[object],
    ) -> Arguments:
        """The arguments of a call, cut into those of each device."""
        return scatter_kwargs(inputs, kwargs, device_ids, self.dim)

    def to_kwargs(
        self,
        inputs: tuple[object, ...],
        kwargs: Mapping[str, object] | None,
        device_id: object,
    ) -> Arguments:
        """The arguments of a call on one device: tuples of the only ones."""
        return scatter_kwargs(inputs, kwargs, [device_id], self.dim)

    def gather(self, outputs: Sequence[object], output_device: object) -> object:
        """The results of devices as one."""
        return gather(outputs, output_device, self.dim)

    def _set_static_graph(self) -> None:
        self.static_graph = True
        if self._reducer is not None:
            self._reducer.finds_unused = True


def _check_options(options: Mapping[str, object]) -> None:
    for name, value in options.items():
        if name not in (*_TAKEN, *_REFUSED):
            raise TypeError(
                f"DistributedDataParallel.__init__() got an unexpected keyword argument '{name}'"
            )
        if name in _REFUSED and value:
            raise NotImplementedError(f"DistributedDataParallel: {name} is not supported")


def _ignored(module: Module) -> frozenset[str]:
    """Names that the module itself wants left out (torch's convention)."""
    return frozenset(getattr(module, "_ddp_params_and_buffers_to_ignore", ()))


def _trained(module: Module) -> dict[str, Tensor]:
    """The parameters that require gradients, by name.

    Raises:
        RuntimeError: there are none.
    """
    ignored = _ignored(module)
    found: dict[str, Tensor] = {
        name: each
        for name, each in module.named_parameters()
        if each.requires_grad and name not in ignored
    }
    if not found:
        raise RuntimeError(
            "DistributedDataParallel is not needed when a module doesn't have any parameter "
            "that requires a gradient."
        )
    return found


def _state(module: Module) -> dict[str, Tensor]:
    """Parameters and buffers, each once."""
    ignored = _ignored(module)
    pairs = [*module.named_parameters(), *module.named_buffers()]
    return {name: each.detach() for name, each in pairs if name not in ignored}


def _buffers(module: Module) -> list[Tensor]:
    ignored = _ignored(module)
    return [each for name, each in module.named_buffers() if name not in ignored]


def _check_alike(parameters: Mapping[str, Tensor], group: ProcessGroup) -> None:
    """
    Raises:
        RuntimeError: processes have other parameters.
    """
    mine = [(name, tuple(each.shape), str(each.dtype)) for name, each in parameters.items()]
    everyones: list[Any] = [None] * group.size()
    all_gather_object(everyones, mine, group)
    first = everyones[0]
    for rank, theirs in enumerate(everyones):
        if len(theirs) != len(first):
            raise RuntimeError(
                f"DDP expects same model across all ranks, but Rank {rank} has {len(theirs)} "
                f"params, while rank 0 has inconsistent {len(first)} params."
            )
        for number, (one, other) in enumerate(zip(first, theirs, strict=True)):
            if one[1:] != other[1:]:
                raise RuntimeError(
                    f"[{rank}]: params[{number}] in this process with sizes {list(other[1])} "
                    f"appears not to match sizes of the same param in process 0: {other[0]} is "
                    f"{other[2]}, and {one[0]} is {one[2]} with sizes {list(one[1])}."
                )


def _send_from_first(tensors: list[Tensor], group: ProcessGroup) -> None:
    """Have tensors be those of the group's first process, by one message."""
    if not tensors:
        return
    values = joined(tensors)
    pending = group.communicator.broadcast(values, 0)
    waited(pending, group.timeout.total_seconds(), "broadcast")
    if group.rank():
        shared_out(values, tensors)()
