"""ZeroRedundancyOptimizer: another optimizer, of which each process keeps all the state.

Steps are torch's, which come of the same gradients in every process; memory is not saved.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...optim.optimizer import Optimizer
from ...optim.saved_state import StateDict
from ..groups import get_group_rank, group_of

__all__ = ["ZeroRedundancyOptimizer"]


class ZeroRedundancyOptimizer(Optimizer):
    """Another optimizer, `optim`, of which each process keeps all the state there is.

    Raises:
        ValueError: `init_process_group` was not called.
    """

    def __init__(
        self,
        params: object,
        optimizer_class: Callable[..., Optimizer],
        process_group: object = None,
        parameters_as_bucket_view: bool = False,
        overlap_with_ddp: bool = False,
        **defaults: object,
    ) -> None:
        del parameters_as_bucket_view, overlap_with_ddp
        self._group = group_of(process_group)
        self.optim = optimizer_class(params, **defaults)
        super().__init__(self.optim.param_groups, self.optim.defaults)
        self.param_groups, self.state = self.optim.param_groups, self.optim.state

    def step(self, closure: Callable[[], object] | None = None, **options: object) -> Any:
        """The other optimizer's step."""
        return self.optim.step(closure, **options)

    def consolidate_state_dict(self, to: int = 0) -> None:
        """Bring the state of all processes to one: it is there.

        Raises:
            ValueError: there is no such process.
        """
        get_group_rank(self._group, to)

    def state_dict(self) -> StateDict:
        """The other optimizer's."""
        return self.optim.state_dict()

    def load_state_dict(self, state_dict: StateDict) -> None:
        """Go on where another one was."""
        self.optim.load_state_dict(state_dict)
        self.param_groups, self.state = self.optim.param_groups, self.optim.state
