"""What nodes keep, as users see it: `_saved_self`, and `_raw_saved_self`, which takes hooks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from ...tensors.tensor import Tensor
from ..table.rules import Meta
from .autograd import FREED, Node, Saved
from .kept_arguments import about
from .packing import PACKING

__all__ = ["SavedTensor", "kept_by", "raw_tensors"]


class SavedTensor:
    """A tensor as a node keeps it."""

    __slots__ = ("_node", "_saved")

    _node: Node
    _saved: Saved | None

    def __init__(self) -> None:
        raise RuntimeError("Trying to create a SavedTensor object from Python is forbidden.")

    @classmethod
    def of(cls, saved: Saved | None, node: Node) -> Self:
        """What a node keeps; None for a tensor that was not given."""
        made = cls.__new__(cls)
        made._saved, made._node = saved, node
        return made

    @property
    def data(self) -> Any:
        """What is kept: the tensor, or what a hook has made of it.

        Raises:
            RuntimeError: it was released.
        """
        saved = self._saved
        if saved is not None and saved.packed is not None:
            return saved.packed[0]
        return self.unpack()

    def unpack(self) -> Tensor | None:
        """The tensor again.

        Raises:
            RuntimeError: it was released, or its memory was written since.
        """
        return None if self._saved is None else self._saved.seen(self._node)

    @property
    def unpack_hook(self) -> Callable[[object], Tensor] | None:
        """The hook that makes the tensor again, if there is one."""
        packed = None if self._saved is None else self._saved.packed
        return None if packed is None else packed[1]

    def register_hooks(self, pack_hook: object = None, unpack_hook: object = None) -> None:
        """Have what one hook makes of the tensor kept in its place; the other makes it again.

        Raises:
            TypeError: one of them cannot be called.
            RuntimeError: nothing is kept, it was released, it has hooks already, or the first hook
                writes the tensor.
        """
        saved = self._saved
        if not (callable(pack_hook) and callable(unpack_hook)):
            raise TypeError(
                "register_hooks(): incompatible function arguments. The following argument types "
                "are supported:\n    1. (self: torch._C._autograd.SavedTensor, arg0: "
                "collections.abc.Callable, arg1: collections.abc.Callable) -> None"
            )
        if saved is None:
            raise RuntimeError(
                "Calling register_hooks on a saved tensor with value None is forbidden"
            )
        if saved.array is None:
            raise RuntimeError(f"Calling register_hooks on a saved tensor after it has {_FREED}")
        if saved.packed is not None:
            raise RuntimeError(
                "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: "
                "only one pair of hooks is allowed at a time."
            )
        tensor = saved.tensor(self._node)
        saved.keep_packed(PACKING.packed_by(pack_hook, unpack_hook, tensor), tensor)


_FREED = (
    "been freed. Saved intermediate values of the graph are freed when you call .backward() or "
    "autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second "
    "time or if you need to access saved variables after calling backward."
)


def raw_tensors(kept: tuple[object, ...], node: Node) -> tuple[SavedTensor, ...]:
    """What a function of a user's keeps.

    Raises:
        RuntimeError: it was released.
    """
    if any(isinstance(each, Saved) and each.array is None for each in kept):
        raise RuntimeError(FREED)
    return tuple(SavedTensor.of(s if isinstance(s, Saved) else None, node) for s in kept)


def kept_by(node: Any, name: str) -> object:
    """What a node of an operator keeps under a name of torch's: an argument, its result, or the
    sizes of an argument (`_saved_self_sym_sizes`).

    Raises:
        AttributeError: it keeps no such thing.
        RuntimeError: that was released.
    """
    is_raw = name.startswith("_raw_saved_")
    word = name.removeprefix("_raw" if is_raw else "").removeprefix("_saved_")
    if word != name:
        if word == "result" and node._results:
            return SavedTensor.of(node._results[0], node) if is_raw else node._results[0].seen(node)
        at = node._bound.positions.get(word)
        if at is not None and not isinstance(node._arguments[at], Meta):
            found = _raw(node._arguments[at], node) if is_raw else node.value(at)
            return tuple(found) if isinstance(found, list) else found
        at = node._bound.positions.get(word.removesuffix("_sym_sizes"))
        if at is not None and not is_raw:
            return about(node._arguments[at], "sizes")
    raise AttributeError(f"'{node.name()}' object has no attribute '{name}'")


def _raw(value: object, node: Node) -> object:
    if isinstance(value, (list, tuple)):
        return [_raw(each, node) for each in value]
    return SavedTensor.of(value, node) if isinstance(value, Saved) or value is None else value
