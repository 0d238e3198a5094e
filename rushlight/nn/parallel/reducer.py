"""What takes the mean of gradients over processes while the walk back goes on.

Parameters lie in buckets, the last first, since their gradients come first.  A bucket whose
gradients are all there is sent at once; buckets are sent in the same order in every process.  When
the last gradient has come the results are waited for and put into `grad`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Final

import numpy as np

from ...distributed.backends import ReduceOp
from ...distributed.collectives import all_reduce
from ...distributed.groups import ProcessGroup
from ...distributed.works import Work
from ...ops.gradients.nodes.autograd import AccumulateGrad, Node, edge_of
from ...ops.memory.dtype import Array
from ...ops.memory.versions import written
from ...ops.tensors.tensor import Tensor

__all__ = ["Reducer"]

FIRST_BUCKET: Final = 1 << 20
"""Bytes of the first bucket, which is small so that sending begins early."""

_UNFINISHED: Final = (
    "Expected to have finished reduction in the prior iteration before starting a new one. This "
    "error indicates that your module has parameters that were not used in producing loss. You "
    "can enable unused parameter detection by passing the keyword argument "
    "`find_unused_parameters=True` to `torch.nn.parallel.DistributedDataParallel`, and by making "
    "sure all `forward` function outputs participate in calculating loss. "
)
_TWICE: Final = (
    "Expected to mark a variable ready only once. A parameter got its gradient twice between two "
    "calls of `forward`: two walks back follow one call, or a parameter is used outside of it. "
)


@dataclass(eq=False)
class _Bucket:
    """Parameters whose gradients go together.

    Attributes:
        members: their numbers.
        flat: the buffer, in which their gradients lie one behind the other.
        missing: how many gradients are still to come.
        work: what was sent.
    """

    members: list[int] = field(default_factory=list)
    flat: Array = field(default_factory=lambda: np.empty(0, np.float32))
    missing: int = 0
    work: Work | None = None


class Reducer:
    """The means of the gradients of some parameters.

    Args:
        parameters: those of the module, by name; in the same order in every process.
        bucket_bytes: how much a bucket holds at most, unless one parameter is larger.
        finds_unused: whether parameters may have no part in a result.
        views: whether gradients become parts of the buckets.
    """

    def __init__(
        self,
        parameters: Mapping[str, Tensor],
        group: ProcessGroup,
        bucket_bytes: int,
        finds_unused: bool,
        views: bool,
    ) -> None:
        self._names, self._parameters = list(parameters), list(parameters.values())
        self._group = group
        self.finds_unused = finds_unused
        self._views = views
        self._buckets = _filled(self._parameters, bucket_bytes)
        self._bucket_of = {n: bucket for bucket in self._buckets for n in bucket.members}
        self._expects = False
        self._ready = set[int]()
        self._unused = set[int]()
        self._sent = 0
        for number, parameter in enumerate(self._parameters):
            parameter.register_post_accumulate_grad_hook(self._hook(number))

    def _hook(self, number: int) -> Callable[[Tensor], None]:
        def hook(parameter: Tensor) -> None:
            if self._expects:
                self._came(number)

        return hook

    def begin(self) -> None:
        """The module is called, and a walk back is to follow.

        Raises:
            RuntimeError: not all gradients of the last one have come.
        """
        if self._expects and 0 < len(self._ready) < len(self._parameters):
            missing = [n for at, n in enumerate(self._names) if at not in self._ready]
            raise RuntimeError(
                f"{_UNFINISHED}Parameters that got no gradient on rank {self._group.rank()}: "
                f"{', '.join(missing)}"
            )
        self._expects = False

    def expect(self, results: object) -> None:
        """Gradients are to come, of all parameters that had part in the results."""
        self._expects, self._sent = True, 0
        self._ready.clear()
        for bucket in self._buckets:
            bucket.missing, bucket.work = len(bucket.members), None
        self._unused = self._without_part(results) if self.finds_unused else set()

    def _without_part(self, results: object) -> set[int]:
        reached = _leaves(_held_tensors(results))
        return {at for at, each in enumerate(self._parameters) if id(each) not in reached}

    def _came(self, number: int) -> None:
        """A gradient has come."""
        if not self._ready:
            for unused in sorted(self._unused):
                self._counted(unused)
        if number in self._unused:
            raise RuntimeError(
                f"{self._names[number]} got a gradient, and had no part in what `forward` returned"
            )
        self._counted(number)
        for bucket in self._buckets[: self._sent]:
            if bucket.work is not None:
                bucket.work.is_completed()  # MPI goes on while it is asked
        if len(self._ready) == len(self._parameters):
            self._finish()

    def _counted(self, number: int) -> None:
        if number in self._ready:
            raise RuntimeError(f"{_TWICE}It is {self._names[number]}.")
        self._ready.add(number)
        self._bucket_of[number].missing -= 1
        while self._sent < len(self._buckets) and not self._buckets[self._sent].missing:
            self._send(self._buckets[self._sent])
            self._sent += 1

    def _send(self, bucket: _Bucket) -> None:
        share = 1 / self._group.size()
        for number, part in self._parts(bucket):
            grad = self._parameters[number].grad
            if grad is None:
                part[...] = 0
                continue
            if grad.is_sparse:
                raise NotImplementedError(
                    f"DistributedDataParallel: the gradient of {self._names[number]} is sparse"
                )
            np.multiply(grad._array, share, out=part, casting="same_kind")
        whole = Tensor._of(bucket.flat)
        bucket.work = all_reduce(whole, ReduceOp.SUM, self._group, async_op=True)

    def _parts(self, bucket: _Bucket) -> Iterable[tuple[int, Array]]:
        end = 0
        for number in bucket.members:
            array = self._parameters[number]._array
            begin, end = end, end + array.size
            yield number, bucket.flat[begin:end].reshape(array.shape)

    def _finish(self) -> None:
        self._expects = False
        nowhere = self._used_nowhere() if self.finds_unused else set()
        for bucket in self._buckets:
            assert bucket.work is not None
            bucket.work.wait()
            for number, part in self._parts(bucket):
                if number not in nowhere:
                    self._put(self._parameters[number], part)

    def _used_nowhere(self) -> set[int]:
        """The parameters that had no part in any process: their `grad` stays as it is."""
        used = np.ones(len(self._parameters), np.int32)
        used[list(self._unused)] = 0
        all_reduce(Tensor._of(used), ReduceOp.MAX, self._group)
        return set(np.flatnonzero(used == 0).tolist())

    def _put(self, parameter: Tensor, part: Array) -> None:
        grad = parameter.grad
        if self._views:
            if grad is None or not np.shares_memory(grad._array, part):
                parameter.grad = Tensor._of(part)
            else:
                written(grad._array)
        elif grad is None:
            parameter.grad = Tensor._of(part.copy())
        else:
            grad._array[...] = part
            written(grad._array)


def _filled(parameters: Sequence[Tensor], most: int) -> list[_Bucket]:
    """Buckets of parameters of one dtype each, the last parameter first."""
    buckets, room = list[_Bucket](), 0
    for number in range(len(parameters) - 1, -1, -1):
        array = parameters[number]._array
        if not buckets or buckets[-1].flat.dtype != array.dtype or room < array.nbytes:
            room = FIRST_BUCKET if not buckets else most
            buckets.append(_Bucket(flat=np.empty(0, array.dtype)))
        room -= array.nbytes
        buckets[-1].members.append(number)
    for bucket in buckets:
        size = sum(parameters[number]._array.size for number in bucket.members)
        bucket.flat = np.zeros(size, bucket.flat.dtype)
    return buckets


def _held_tensors(value: object) -> list[Tensor]:
    """The tensors in nested lists, tuples, dicts and dataclasses."""
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, (list, tuple, set)):
        return [tensor for each in value for tensor in _held_tensors(each)]
    if isinstance(value, Mapping):
        return [tensor for each in value.values() for tensor in _held_tensors(each)]
    if is_dataclass(value):
        return [tensor for f in fields(value) for tensor in _held_tensors(getattr(value, f.name))]
    return []


def _leaves(tensors: Iterable[Tensor]) -> set[int]:
    """The identities of the leaves that tensors were made from."""
    found, seen = set[int](), set[Node]()
    edges = [edge_of(tensor) for tensor in tensors if tensor.requires_grad]
    pending: list[Any] = [edge[0] for edge in edges if edge is not None]
    while pending:
        node = pending.pop()
        if node in seen:
            continue
        seen.add(node)
        if isinstance(node, AccumulateGrad):
            found.add(id(node.variable))
        pending += [edge[0] for edge in node.edges if edge is not None]
    return found
