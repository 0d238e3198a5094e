"""Steps of optimizers by one kernel a parameter give the bits of the operators one by one."""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

import rushlight as torch
from rushlight.ops.kernels import family
from rushlight.ops.table.row_updates import RowUpdate
from rushlight.ops.table.updates import Update
from rushlight.optim.together import Together

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


def _after_steps(make: Callable[..., Any], steps: int = 7) -> list[Any]:
    torch.manual_seed(0)
    whole = torch.randn(5, 7), torch.randn(1), torch.randn(33, dtype=torch.float64)
    parameters = [torch.nn.Parameter(each) for each in whole]
    optimizer = make(parameters)
    for _ in range(steps):
        for each in parameters:
            each.grad = torch.randn_like(each)
        optimizer.step()
    kept = [value for each in parameters for value in optimizer.state[each].values()]
    return [(each._version, each.tolist()) for each in (*parameters, *kept) if each is not None]


def _waiting(done: list[Update]) -> Callable[..., bool]:
    """Steps of a parameter that wait until their kernel is compiled, and say that they are done."""
    itself, end = Update.__call__, time.monotonic() + 60

    def waiting(update: Update, *args: Any) -> bool:
        while not itself(update, *args):
            assert time.monotonic() < end, "the kernel is never there"
            time.sleep(0.01)
        done.append(update)
        return True

    return waiting


@pytest.mark.skipif(family("elementwise.arrays") is None, reason="there is no native code")
@pytest.mark.parametrize("number", range(len(MAKERS)))
def test_bits_and_versions(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[Update] = []
    together: list[bool] = []
    itself = RowUpdate.__call__

    def noted(update: RowUpdate, *args: Any) -> bool:
        together.append(itself(update, *args))
        return together[-1]

    with monkeypatch.context() as patch:
        patch.setattr(Update, "__call__", _waiting(done))
        patch.setattr(RowUpdate, "__call__", noted)
        by_kernel = _after_steps(MAKERS[number])
    with monkeypatch.context() as patch:
        patch.setattr(Update, "__call__", lambda update, *args: False)
        patch.setattr(Together, "left", lambda self, optimizer, group: group["params"])
        assert _after_steps(MAKERS[number]) == by_kernel
    is_alone = MAKERS[number].func in (optim.NAdam, optim.ASGD)
    assert len(done) + 3 * sum(together) >= 18  # all but the first steps of three parameters
    assert any(together) is not is_alone


def _stepped(optimizer: Any, parameters: list[Any]) -> None:
    for each in parameters:
        each.grad = torch.randn_like(each)
    optimizer.step()


def _less(parameters: list[Any], optimizer: Any) -> None:
    parameters[1].grad = None
    optimizer.step()


def _rated(parameters: list[Any], optimizer: Any) -> None:
    optimizer.param_groups[0].update(lr=0.05, weight_decay=0.1)


def _loaded(parameters: list[Any], optimizer: Any) -> None:
    optimizer.load_state_dict(optimizer.state_dict())


def _replaced(parameters: list[Any], optimizer: Any) -> None:
    parameters[0].data = parameters[0].data.t().contiguous().t() * 2
    optimizer.state[parameters[1]]["exp_avg"] = torch.ones(4)


def _out_of_step(parameters: list[Any], optimizer: Any) -> None:
    optimizer.state[parameters[2]]["step"].fill_(50.0)


def _written(parameters: list[Any], optimizer: Any) -> None:
    for each in parameters:
        optimizer.state[each]["exp_avg_sq"].mul_(2.0)


def _added(parameters: list[Any], optimizer: Any) -> None:
    parameters.append(torch.nn.Parameter(torch.ones(2, 2)))
    optimizer.add_param_group({"params": parameters[-1:]})
    optimizer.param_groups[0]["params"].append(optimizer.param_groups.pop()["params"][0])


CHANGES = _less, _rated, _loaded, _replaced, _out_of_step, _written, _added


@pytest.mark.parametrize("change", CHANGES, ids=lambda each: each.__name__)
def test_what_changes_between_steps_is_seen(
    change: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    def ends() -> list[Any]:
        torch.manual_seed(1)
        parameters = [torch.nn.Parameter(torch.randn(*size)) for size in ((3, 4), (4,), (2, 3))]
        optimizer = Adam(parameters, lr=0.1)
        for _ in range(6):
            _stepped(optimizer, parameters)
        change(parameters, optimizer)
        for _ in range(6):
            _stepped(optimizer, parameters)
        kept = [value for each in parameters for value in optimizer.state[each].values()]
        return [each.tolist() for each in (*parameters, *kept)]

    found = ends()
    monkeypatch.setattr(Together, "left", lambda self, optimizer, group: group["params"])
    assert ends() == found


def test_gradients_among_what_is_kept_are_left_to_operators() -> None:
    parameters = [torch.nn.Parameter(torch.ones(4)) for _ in range(2)]
    optimizer = Adam(parameters, lr=0.1)
    for _ in range(6):
        _stepped(optimizer, parameters)
    kept = optimizer.state[parameters[1]]["exp_avg"]
    before, parameters[1].grad = kept.clone(), kept
    optimizer.step()
    torch.testing.assert_close(kept, before)


def test_large_parameters_are_left_to_threads() -> None:
    parameters = [torch.nn.Parameter(torch.zeros(size)) for size in (3, 5, 1 << 20)]
    optimizer = SGD(parameters, lr=0.5)
    for _ in range(6):
        for each in parameters:
            each.grad = torch.ones_like(each)
        optimizer.step()
    for each in parameters:
        assert bool((each == -3.0).all())
        assert each._version == 6


def test_parameters_that_may_overlap_are_left_to_operators() -> None:
    memory = torch.zeros(9)
    parameter = torch.nn.Parameter(memory[:8])
    parameter.grad = memory[1:]
    with pytest.raises(RuntimeError, match="single memory location"):
        SGD([parameter], lr=0.5).step()
