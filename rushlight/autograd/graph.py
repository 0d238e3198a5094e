"""`torch.autograd.graph`: the nodes that operators leave behind."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Literal, NoReturn, TypeVar, overload
from weakref import WeakKeyDictionary, ref

from ..module_names import names_of
from ..ops.gradients.nodes.autograd import WALKING, Edge
from ..ops.gradients.nodes.autograd import Node as Node
from ..ops.gradients.nodes.edges import GradientEdge as GradientEdge
from ..ops.gradients.nodes.edges import get_gradient_edge as get_gradient_edge
from ..ops.gradients.nodes.edges import target_of
from ..ops.gradients.nodes.packing import PACKING
from ..ops.memory.inference import is_for_inference
from ..ops.memory.versions import written
from ..ops.tensors.tensor import Tensor

if TYPE_CHECKING:
    from ..nn.handles import RemovableHandle

__all__ = [
    *("GradientEdge", "Node", "allow_mutation_on_saved_tensors", "disable_saved_tensors_hooks"),
    *("get_gradient_edge", "increment_version", "region_activation_memory_budget"),
    *("register_multi_grad_hook", "save_on_cpu", "saved_tensors_hooks"),
    *("set_override_stale_capture_stream", "set_warn_on_accumulate_grad_stream_mismatch"),
]


Packed = TypeVar("Packed")


# --------------------------------------------------------------------------- kept tensors


class saved_tensors_hooks:
    """A block in which tensors that are kept for the way back go through hooks.

    Args:
        pack_hook: called with a tensor that is kept; what it gives is kept in its place.
        unpack_hook: makes the tensor of that again, when it is needed.

    Raises:
        RuntimeError: hooks are refused here (see `disable_saved_tensors_hooks`).
    """

    def __init__(
        self, pack_hook: Callable[[Tensor], Packed], unpack_hook: Callable[[Packed], Tensor]
    ) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook: Callable[..., Tensor] = unpack_hook

    def __enter__(self) -> None:
        if PACKING.refusal:
            raise RuntimeError(PACKING.refusal)
        outside = PACKING.hooks
        try:
            PACKING.put([*outside, (self._pack, self.unpack_hook)])
        except BaseException:  # an interrupt: what is not entered is never left
            PACKING.put(outside)
            raise

    def _pack(self, tensor: Tensor) -> object:
        held = PACKING.hooks
        try:
            PACKING.put([])
            return self.pack_hook(tensor)
        finally:
            PACKING.put(held)

    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        # Hooks of a walk back may enter and leave the block, too, which ends with that walk.
        PACKING.put(PACKING.hooks[:-1])


class save_on_cpu(saved_tensors_hooks):
    """A block in which kept tensors are moved to the CPU, where they are: they are copied."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(lambda tensor: tensor.detach().clone(), lambda tensor: tensor)


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """A block in which `saved_tensors_hooks` raise an error of that text.

    Raises:
        RuntimeError: such hooks are entered already.
    """
    before = PACKING.refusal
    PACKING.refuse(error_message)
    try:
        yield
    finally:
        PACKING.refusal = before


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Count a change of memory that was written behind the back of gradients.

    Raises:
        RuntimeError: one of them is no tensor.
    """
    for each in (tensor,) if isinstance(tensor, Tensor) else tensor:
        if not isinstance(each, Tensor):
            raise RuntimeError(
                "increment_version expects each element of the iterable to be a tensor"
            )
        known: Any = each
        if getattr(type(each), "_is_turned", False):
            known = known._under()
        if not is_for_inference(known._array):  # whose changes nobody counts
            written(known._array)


# --------------------------------------------------------------------------- hooks of several


class _Several:
    """Collects the gradients of those of several tensors that a walk back comes to."""

    def __init__(self, tensors: Sequence[Tensor], fn: Callable[..., None], mode: str) -> None:
        self._fn, self._mode = fn, mode
        self._walks = _Walks()
        self.hooks = [each.register_hook(self._hook(place)) for place, each in enumerate(tensors)]
        # hooks are put on nodes of single operators, which may only then stand behind a call's
        self._edges = [target_of(each) for each in tensors]

    def _hook(self, place: int) -> Callable[[Tensor], None]:
        """The hook of the tensor of that number."""

        def called(gradient: Tensor) -> None:
            walks = self._walks
            found = walks.begun(self._edges)
            found[place] = gradient if self._mode == "all" else None
            if self._mode == "any":
                if len(found) == 1:
                    self._fn(gradient)
            elif len(found) == walks.awaited:
                walks.found = {}
                self._fn([found.get(each) for each in range(len(self._edges))])

        return called


class _Walks(threading.local):
    """The last walk of a thread that came to some of the tensors."""

    def __init__(self) -> None:
        self._last: Callable[[], object] = lambda: None
        self.found: dict[int, Tensor | None] = {}
        self.awaited = 0

    def begun(self, edges: Sequence[Edge | None]) -> dict[int, Tensor | None]:
        """What the walk that runs has found so far; of a new one, how much it will find."""
        walk = WALKING.walk
        assert walk is not None
        if self._last() is not walk:
            self._last, self.found = ref(walk), {}
            self.awaited = sum(1 for edge in edges if edge is not None and walk.reaches(edge[0]))
        return self.found


@overload
def register_multi_grad_hook(
    tensors: Sequence[Tensor],
    fn: Callable[[Sequence[Tensor | None]], None],
    *,
    mode: Literal["all"] = "all",
) -> RemovableHandle: ...
@overload
def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: Callable[[Tensor], None], *, mode: Literal["any"]
) -> RemovableHandle: ...
def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: Callable[..., None], *, mode: str = "all"
) -> RemovableHandle:
    """Have a function called once the gradients of several tensors are known, or the first is.

    Of tensors that a walk back does not come to there is None.

    Raises:
        ValueError: `mode` is neither "all" nor "any".
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    from ..nn.handles import MultiHandle  # with all modules

    return MultiHandle(_Several(tensors, fn, mode).hooks)


class _Handle:
    """What a node keeps in place of a tensor."""

    __slots__ = ("__weakref__",)


class _AllowMutationOnSavedContext:
    """The tensors that are kept in a block of `allow_mutation_on_saved_tensors`, by what nodes keep
    in their places: copies (`cloned`), and those that are not copied (`original`: none)."""

    def __init__(self) -> None:
        self.cloned: WeakKeyDictionary[_Handle, Tensor] = WeakKeyDictionary()
        self.original: WeakKeyDictionary[_Handle, Tensor] = WeakKeyDictionary()

    def clear(self) -> None:
        """Forget them: no walk goes back through what the block recorded any more."""
        self.cloned.clear()
        self.original.clear()

    def _pack(self, tensor: Tensor) -> _Handle:
        handle = _Handle()
        self.cloned[handle] = tensor.detach().clone()
        return handle

    def _unpack(self, handle: _Handle) -> Tensor:
        found = self.cloned.get(handle)
        if found is None:
            raise AssertionError(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context"
                "in which the graph was originally recorded."
            )
        return found


_MAY_MUTATE: Final = ContextVar("may_mutate", default=False)
"""Whether this thread is in a block of `allow_mutation_on_saved_tensors`."""


@contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[_AllowMutationOnSavedContext]:
    """A block whose tensors may be changed in place though their old values are needed later.

    Torch copies a tensor when it is changed; here every tensor that is kept is copied.  The way
    back is to be gone within the block.

    Raises:
        RuntimeError: another such block is entered.
    """
    if _MAY_MUTATE.get():
        raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
    made = _AllowMutationOnSavedContext()
    before = _MAY_MUTATE.set(True)
    try:
        with saved_tensors_hooks(made._pack, made._unpack):
            yield made
    finally:
        made.clear()
        _MAY_MUTATE.reset(before)


def region_activation_memory_budget(budget: float) -> NoReturn:
    """How much a region of a compiled program may keep.

    Raises:
        RuntimeError: always, since nothing is compiled so.
    """
    raise RuntimeError(
        "torch.autograd.graph.region_activation_memory_budget can only be used inside a "
        "torch.compile region; it has no effect in eager mode."
    )


def set_override_stale_capture_stream(enabled: bool) -> None:
    """How graphs of a device are captured, of which there are none."""


def set_warn_on_accumulate_grad_stream_mismatch(enabled: bool) -> None:
    """Whether queues of a device are compared, of which there are none."""


__getattr__ = names_of(__name__)
