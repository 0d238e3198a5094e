"""Operators of torch's that are here by name alone: packages make tables of them when imported."""

from __future__ import annotations

from typing import Final, NoReturn

__all__ = ["RefusedOperator", "refused_operator"]

_REASONS: Final = {
    "c10d": "torch.distributed has these collectives as functions",
    "_c10d_functional": "torch.distributed._functional_collectives has them as functions",
    "c10d_functional": "torch.distributed._functional_collectives has them as functions",
}
_NAMES: Final = {
    "c10d": """allgather_ allgather_into_tensor_coalesced_ _allgather_base_ allreduce_ alltoall_
        alltoall_base_ barrier broadcast_ gather_ reduce_ reduce_scatter_ _reduce_scatter_base_
        scatter_ send recv_""",
    "_c10d_functional": """all_gather_into_tensor all_gather_into_tensor_coalesced
        all_gather_into_tensor_out all_reduce all_reduce_ all_reduce_coalesced
        all_reduce_coalesced_ all_to_all_single broadcast broadcast_ reduce_scatter_tensor
        reduce_scatter_tensor_coalesced wait_tensor _wrap_tensor_autograd""",
    "c10d_functional": """all_gather_into_tensor all_reduce all_to_all_single broadcast
        reduce_scatter_tensor wait_tensor""",
}


class RefusedOperator:
    """All overloads of such an operator, or (`default`) one of them."""

    def __init__(self, name: str, reason: str) -> None:
        self.__name__ = name
        self._reason = reason

    def __getattr__(self, overload: str) -> RefusedOperator:
        if overload.startswith("__"):
            raise AttributeError(overload)
        made = RefusedOperator(f"{self.__name__}.{overload}", self._reason)
        setattr(self, overload, made)
        return made

    def __call__(self, *args: object, **kwargs: object) -> NoReturn:
        """Nothing.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError(f"torch.ops.{self.__name__}: {self._reason}")

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='{self.__name__}')>"


def refused_operator(namespace: str, name: str) -> RefusedOperator | None:
    """What stands for an operator that is here by name alone; None for other names."""
    if name in _NAMES.get(namespace, "").split():
        return RefusedOperator(f"{namespace}.{name}", _REASONS[namespace])
    return None
