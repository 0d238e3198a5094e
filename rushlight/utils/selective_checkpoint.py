"""Checkpoints that keep the results of some operators, and compute the others again."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Final

from ..ops.eager.packets import Overload, Packet
from ..ops.memory.versions import version_of
from ..ops.tensors.tensor import Tensor
from ._python_dispatch import TorchDispatchMode
from ._pytree import tree_map

__all__ = ["SAC_IGNORED_OPS", "CheckpointPolicy", "SelectiveCheckpointContext", "blocks_of"]


class CheckpointPolicy(Enum):
    """What becomes of an operator's result."""

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


_RECOMPUTED: Final = (CheckpointPolicy.MUST_RECOMPUTE, CheckpointPolicy.PREFER_RECOMPUTE)

SAC_IGNORED_OPS: Final = frozenset({"aten.detach.default", "prim.device.default"})
"""The operators that no policy is asked about."""


class SelectiveCheckpointContext:
    """What a policy is told besides an operator and its arguments."""

    def __init__(self, *, is_recompute: bool, op_output: object = None) -> None:
        self.is_recompute = is_recompute
        self.op_output = op_output


Policy = Callable[..., CheckpointPolicy | bool]


class _Kept:
    """A result that is kept, with the version its memory had."""

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor
        self.version = version_of(tensor._array)

    def taken(self, may_change: bool) -> Tensor:
        """The result.

        Raises:
            RuntimeError: its memory was written since.
        """
        if not may_change and version_of(self.tensor._array) != self.version:
            raise RuntimeError(
                "Tensor cached during selective activation checkpoint has been mutated"
            )
        return self.tensor


_Notes = defaultdict[str, deque[tuple[bool, object]]]
"""For each operator whether results were kept, and these, in the order of its calls."""


class _Keeping(TorchDispatchMode):
    """Asks the policy, and keeps what it says."""

    def __init__(self, policy: Policy, notes: _Notes) -> None:
        super().__init__()
        self._policy, self._notes = policy, notes

    def __torch_dispatch__(
        self,
        func: Callable[..., object],
        types: object,
        args: tuple[object, ...] = (),
        kwargs: dict[str, object] | None = None,
    ) -> object:
        """Run an operator."""
        given = kwargs or {}
        made = func(*args, **given)
        if str(func) in SAC_IGNORED_OPS:
            return made
        about = SelectiveCheckpointContext(is_recompute=False, op_output=made)
        said = self._policy(about, func, *args, **given)
        if isinstance(said, bool):
            said = CheckpointPolicy.MUST_SAVE if said else CheckpointPolicy.PREFER_RECOMPUTE
        is_kept = said not in _RECOMPUTED
        kept = None
        if is_kept:
            kept = tree_map(lambda v: _Kept(v) if isinstance(v, Tensor) else v, made)
        self._notes[str(func)].append((is_kept, kept))
        return made


class _Giving(TorchDispatchMode):
    """Gives what was kept in the place of computing it again."""

    def __init__(self, notes: _Notes, may_change: bool) -> None:
        super().__init__()
        self._notes, self._may_change = notes, may_change

    def __torch_dispatch__(
        self,
        func: Callable[..., object],
        types: object,
        args: tuple[object, ...] = (),
        kwargs: dict[str, object] | None = None,
    ) -> object:
        """Run an operator, or give what was kept of it.

        Raises:
            RuntimeError: it was not run before, or this is the second walk back.
        """
        if str(func) in SAC_IGNORED_OPS:
            return func(*args, **(kwargs or {}))
        calls = self._notes.get(str(func))
        if calls is None:
            raise RuntimeError(f"{func} encountered during backward but not found in storage. ")
        if not calls:
            raise RuntimeError(
                "Trying to backward an extra time. You are only allowed to backward once on any "
                "region computed under selective activation checkpoint."
            )
        is_kept, kept = calls.popleft()
        if not is_kept:
            return func(*args, **(kwargs or {}))
        may_change = self._may_change
        return tree_map(lambda v: v.taken(may_change) if isinstance(v, _Kept) else v, kept)


def blocks_of(policy: Policy | Sequence[object], may_change: bool) -> tuple[_Keeping, _Giving]:
    """The blocks for the first computation and for the second.

    Raises:
        TypeError: neither a function nor a list.
        ValueError: a list of something else than overloads of operators.
    """
    if isinstance(policy, list):
        for each in policy:
            if isinstance(each, Packet):
                raise ValueError(
                    "Please update the OpOverloadPacket to a specific OpOverload.For example, if "
                    "you have `torch.ops.aten.mm`, change it to `torch.ops.aten.mm.default`."
                )
            if not isinstance(each, Overload):
                raise ValueError(
                    f"Expected op in `op_list` to be an OpOverload but got: {each} of type "
                    f"{type(each)}."
                )
        kept = {str(each) for each in policy}

        def of_list(about: object, func: object, *args: object, **kwargs: object) -> bool:
            return str(func) in kept

        chosen: Policy = of_list
    elif callable(policy):
        chosen = policy
    else:
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")
    notes = _Notes(deque)
    return _Keeping(chosen, notes), _Giving(notes, may_change)
