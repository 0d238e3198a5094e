"""Pipes wound forward to where others stood."""

from __future__ import annotations

from typing import Any

from .....module_names import names_of
from ...graph_settings import apply_random_seed
from ..single_iterator import _SnapshotState

__all__: list[str] = []


def _simple_graph_snapshot_restoration(datapipe: Any, n_iterations: int, rng: Any = None) -> None:
    """Have the next iterator of a pipe begin behind some samples, which are computed and dropped.

    Args:
        n_iterations: how many samples.
        rng: what seeds of pipes that draw come from.

    Raises:
        RuntimeError: it was done before and not yet used, or there are fewer samples.
    """
    if datapipe._snapshot_state is _SnapshotState.Restored:
        raise RuntimeError(
            "Snapshot restoration cannot be applied. You can only restore simple snapshot to the "
            "graph if your graph has not been restored."
        )
    datapipe.reset()
    apply_random_seed(datapipe, rng)
    samples = iter(datapipe)
    for _ in range(n_iterations):
        try:
            next(samples)
        except StopIteration as error:
            raise RuntimeError(
                f"Fast-forward {datapipe} by {n_iterations} iterations exceeds the number of "
                "samples available."
            ) from error
    datapipe._fast_forward_iterator = samples
    datapipe._snapshot_state = _SnapshotState.Restored


__getattr__ = names_of(__name__)
