"""Steps of optimizers by one kernel a parameter give the bits of the operators one by one."""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

import rushlight as torch
from rushlight.ops.kernels import family
from rushlight.ops.table.updates import Update

optim = torch.optim
Adam, AdamW, SGD = optim.Adam, optim.AdamW, optim.SGD
MAKERS = [
    partial(Adam, lr=0.1, amsgrad=True, weight_decay=0.1),
    partial(AdamW, maximize=True, betas=(0.3, 0.9)),
    partial(SGD, lr=1),
    partial(SGD, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01),
    partial(SGD, lr=0.1, momentum=0.9, dampening=0.2, maximize=True),
    partial(optim.NAdam, lr=0.1, weight_decay=0.1, decoupled_weight_decay=True),
    partial(optim.RAdam, lr=0.1, weight_decay=0.1),
    partial(optim.RAdam, lr=0.1, betas=(0.9, 0.5), maximize=True),
    partial(optim.ASGD, lr=0.1, weight_decay=0.1),
    partial(optim.ASGD, lr=0.1, lambd=0.2, t0=1),
    partial(optim.Adadelta, lr=0.5, weight_decay=0.1),
    partial(optim.Adamax, lr=0.1, maximize=True),
    partial(optim.Adagrad, lr=0.1, lr_decay=0.1, weight_decay=0.1),
    partial(optim.RMSprop, lr=0.1, weight_decay=0.1),
    partial(optim.RMSprop, lr=0.1, momentum=0.9),
    partial(optim.RMSprop, lr=0.1, centered=True, maximize=True),
    partial(optim.RMSprop, lr=0.1, centered=True, momentum=0.5),
]


def _after_steps(make: Callable[..., Any]) -> list[Any]:
    torch.manual_seed(0)
    whole = torch.randn(5, 7), torch.randn(1), torch.randn(33, dtype=torch.float64)
    parameters = [torch.nn.Parameter(each) for each in whole]
    optimizer = make(parameters)
    for _ in range(3):
        for each in parameters:
            each.grad = torch.randn_like(each)
        optimizer.step()
    kept = [value for each in parameters for value in optimizer.state[each].values()]
    return [(each._version, each.tolist()) for each in (*parameters, *kept) if each is not None]


@pytest.mark.skipif(family("arrays") is None, reason="there is no native code")
@pytest.mark.parametrize("number", range(len(MAKERS)))
def test_bits_and_versions(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    itself, done, end = Update.__call__, [], time.monotonic() + 60

    def waiting(update: Update, *args: Any) -> bool:
        while not itself(update, *args):  # until the kernel is compiled
            assert time.monotonic() < end, "the kernel is never there"
            time.sleep(0.01)
        done.append(update)
        return True

    with monkeypatch.context() as patch:
        patch.setattr(Update, "__call__", waiting)
        by_kernel = _after_steps(MAKERS[number])
    with monkeypatch.context() as patch:
        patch.setattr(Update, "__call__", lambda update, *args: False)
        assert _after_steps(MAKERS[number]) == by_kernel
    assert len(done) >= 6


def test_parameters_that_may_overlap_are_left_to_operators() -> None:
    memory = torch.zeros(9)
    parameter = torch.nn.Parameter(memory[:8])
    parameter.grad = memory[1:]
    with pytest.raises(RuntimeError, match="single memory location"):
        SGD([parameter], lr=0.5).step()
