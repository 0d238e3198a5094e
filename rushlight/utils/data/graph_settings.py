"""What is set for all pipes that a pipe is made of: seeds, orders, shares."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator
from typing import Any

from ...ops.random_numbers.random import Generator
from .datapipes.iter.sharding import SHARDING_PRIORITIES
from .graph import DataPipe, DataPipeGraph, traverse_dps
from .sampler import drawn_seed

__all__ = [
    *("apply_random_seed", "apply_sharding", "apply_shuffle_seed", "apply_shuffle_settings"),
    "get_all_graph_pipes",
]


def get_all_graph_pipes(graph: DataPipeGraph) -> list[DataPipe]:
    """The pipes of a tree (see `traverse_dps`), each once, the outer ones first."""
    found: dict[int, DataPipe] = {}

    def visit(level: DataPipeGraph) -> None:
        for number, (pipe, below) in level.items():
            if number not in found:
                found[number] = pipe
                visit(below)

    visit(graph)
    return list(found.values())


def _having(datapipe: DataPipe, *methods: str) -> Iterator[Any]:
    """The pipes that a pipe is made of which have some methods."""
    for pipe in get_all_graph_pipes(traverse_dps(datapipe)):
        if all(inspect.ismethod(getattr(pipe, name, None)) for name in methods):
            yield pipe


def apply_sharding(
    datapipe: DataPipe,
    num_of_instances: int,
    instance_id: int,
    sharding_group: SHARDING_PRIORITIES = SHARDING_PRIORITIES.DEFAULT,
) -> DataPipe:
    """Tell the pipes that share their samples (`apply_sharding`) with how many, and which it is.

    Raises:
        RuntimeError: one that shares holds another one that does.
    """

    def visit(graph: DataPipeGraph, told: object) -> None:
        for pipe, below in graph.values():
            method = getattr(pipe, "apply_sharding", None)
            if not inspect.ismethod(method):
                visit(below, told)
                continue
            if told is not None:
                raise RuntimeError(
                    "Sharding twice on a single pipeline is likely unintended and will cause data "
                    f"loss. Sharding already applied to {told} while trying to apply to {pipe}"
                )
            knows_groups = len(inspect.signature(method).parameters) > 2
            method(
                num_of_instances,
                instance_id,
                **({"sharding_group": sharding_group} if knows_groups else {}),
            )
            visit(below, pipe)

    visit(traverse_dps(datapipe), None)
    return datapipe


def apply_shuffle_settings(datapipe: DataPipe, shuffle: bool | None = None) -> DataPipe:
    """Tell the pipes that have `set_shuffle` and `set_seed` whether to; None leaves them alone.

    Gives back the pipe; one that shuffles it where none did and it should, with a warning.
    """
    if shuffle is None:
        return datapipe
    shufflers = list(_having(datapipe, "set_shuffle", "set_seed"))
    if shuffle and not shufflers:
        warnings.warn(
            "`shuffle=True` was set, but the datapipe does not contain a `Shuffler`. Adding one at "
            "the end. Be aware that the default buffer size might not be sufficient for your task.",
            stacklevel=2,
        )
        datapipe = datapipe.shuffle()
        shufflers = [datapipe]
    for pipe in shufflers:
        pipe.set_shuffle(shuffle)
    return datapipe


def apply_shuffle_seed(datapipe: DataPipe, rng: Generator) -> DataPipe:
    """The old name of `apply_random_seed`."""
    warnings.warn(
        "`apply_shuffle_seed` is deprecated since 1.12 and will be removed in the future releases. "
        "Please use `apply_random_seed` instead.",
        FutureWarning,
        stacklevel=2,
    )
    return apply_random_seed(datapipe, rng)


def apply_random_seed(datapipe: DataPipe, rng: Generator | None) -> DataPipe:
    """Draw a seed for each pipe that takes one (`set_seed`)."""
    for pipe in _having(datapipe, "set_seed"):
        pipe.set_seed(drawn_seed(rng))
    return datapipe
