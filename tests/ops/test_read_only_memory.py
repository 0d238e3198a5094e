"""Memory that NumPy lets nobody write stays as it is, whichever operator is asked to write it."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pytest

import rushlight as torch

PLACES = torch.tensor([[0, 1, 1]])


@pytest.mark.parametrize(
    "write",
    [
        lambda x: x.add_(1),
        lambda x: x.scatter_add_(1, PLACES, torch.ones(1, 3)),
        lambda x: x.scatter_reduce_(1, PLACES, torch.ones(1, 3), "amax"),
        lambda x: x.scatter_reduce_(1, PLACES, torch.ones(1, 3), "prod", include_self=False),
        lambda x: x.scatter_(1, PLACES, torch.ones(1, 3), reduce="add"),
        lambda x: x.view(-1).index_put_((PLACES[0],), torch.ones(3), accumulate=True),
        lambda x: x.view(-1).index_add_(0, PLACES[0], torch.ones(3)),
        lambda x: x.view(-1).index_reduce_(0, PLACES[0], torch.ones(3), "amax"),
        lambda x: x[0, 0].scatter_add_(0, torch.tensor(0), torch.tensor(1.0)),
        lambda x: x.uniform_(),
        lambda x: x.normal_(),
        lambda x: x.exponential_(),
        lambda x: x.bernoulli_(0.3),
        lambda x: x.random_(),
    ],
)
@pytest.mark.parametrize("is_known", [False, True], ids=["at first", "known"])
@pytest.mark.parametrize("turn", [lambda x: x, lambda x: x.t_().t_(), lambda x: x.unsqueeze_(0)[0]])
def test_what_is_only_to_be_read_is_not_written(
    write: Callable[[torch.Tensor], object],
    turn: Callable[[torch.Tensor], torch.Tensor],
    is_known: bool,
) -> None:
    for _ in range(300 * is_known):  # after which native code does what it has seen
        write(turn(torch.ones(4, 4)))
    memory = bytes(4 * 16)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x = turn(torch.from_numpy(np.frombuffer(memory, np.float32).reshape(4, 4)))
    for _ in range(4):  # some are looked at to learn from them
        with pytest.raises(RuntimeError, match="read-only"):
            write(x)
    assert not any(memory)
    assert x.sum() == 0
