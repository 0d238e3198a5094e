"""`optim.LBFGS` and `optim.swa_utils`; the numbers are PyTorch's."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as torch
from rushlight.optim.swa_utils import (
    SWALR,
    AveragedModel,
    get_ema_avg_fn,
    get_ema_multi_avg_fn,
    update_bn,
)

WOLFE = {"line_search_fn": "strong_wolfe"}


@pytest.mark.parametrize(
    ("options", "losses", "evaluations"),
    [
        ({}, [355.7, 4.01009372, 3.72982257], 60),
        (WOLFE, [355.7, 3.76648627, 3.70142861], 46),
        ({**WOLFE, "history_size": 3, "max_iter": 7}, [355.7, 4.24313504, 4.1884716], 24),
        ({"lr": 0.01, "max_iter": 5}, [355.7, 206.838417, 153.072494], 15),
    ],
)
def test_lbfgs_goes_torchs_way(options: Any, losses: list[float], evaluations: int) -> None:
    x = torch.nn.Parameter(torch.tensor([-1.2, 1.0, 0.5, 2.0], dtype=torch.float64))
    optimizer = torch.optim.LBFGS([x], **options)

    def loss() -> Any:
        optimizer.zero_grad()
        value = (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()  # Rosenbrock's
        value.backward()
        return value

    found = [optimizer.step(loss).item() for _ in range(3)]
    assert found == pytest.approx(losses, rel=1e-7)
    assert optimizer.state_dict()["state"][0]["func_evals"] == evaluations


def test_lbfgs_takes_one_group_and_one_kind_of_search() -> None:
    x, y = torch.nn.Parameter(torch.ones(1)), torch.nn.Parameter(torch.ones(1))
    one, two = torch.tensor([0.5]), torch.tensor([0.5, 0.5])
    assert torch.optim.LBFGS([x], lr=one).param_groups[0]["lr"] is one
    with pytest.raises(ValueError, match="Tensor lr must be 1-element"):
        torch.optim.LBFGS([x], lr=two)
    with pytest.raises(ValueError, match="doesn't support per-parameter options"):
        torch.optim.LBFGS([{"params": [x]}, {"params": [y]}])
    optimizer = torch.optim.LBFGS([x], line_search_fn="other")
    x.grad = torch.ones(1)
    with pytest.raises(RuntimeError, match="only 'strong_wolfe' is supported"):
        optimizer.step(lambda: 1.0)


def test_lbfgs_asks_for_what_computes_the_loss() -> None:
    optimizer = torch.optim.LBFGS([torch.nn.Parameter(torch.ones(2))])
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'closure'"):
        optimizer.step()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [2.3333333, 4.6666667]),
        ({"avg_fn": get_ema_avg_fn(0.9)}, [1.39, 2.78]),
        ({"multi_avg_fn": get_ema_multi_avg_fn(0.9)}, [1.39, 2.78]),
    ],
)
def test_averages_of_weights(options: Any, expected: list[float]) -> None:
    model = torch.nn.Linear(2, 1, bias=False)
    model.weight.data.copy_(torch.tensor([[1.0, 2.0]]))
    averaged = AveragedModel(model, **options)
    for _ in range(3):
        averaged.update_parameters(model)
        model.weight.data.mul_(2)
    assert averaged.module.weight[0].tolist() == pytest.approx(expected)
    assert (averaged.n_averaged.item(), averaged.n_averaged.dtype) == (3, torch.int64)


@pytest.mark.parametrize(
    ("strategy", "rates"),
    [("cos", [0.158579, 0.3, 0.441421, 0.5, 0.5]), ("linear", [0.2, 0.3, 0.4, 0.5, 0.5])],
)
def test_rates_go_to_the_averaging_one(strategy: str, rates: list[float]) -> None:
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], 0.1)
    scheduler, found = SWALR(optimizer, 0.5, 4, strategy), []
    for _ in rates:
        optimizer.step()
        scheduler.step()
        found += scheduler.get_last_lr()
    assert found == pytest.approx(rates, abs=1e-6)


def test_statistics_of_batches_are_taken_anew() -> None:
    layer = torch.nn.BatchNorm1d(1, momentum=0.3).eval()
    update_bn([torch.tensor([[1.0], [3.0]]), [torch.tensor([[5.0], [7.0]]), "label"]], layer)
    assert (layer.running_mean.item(), layer.running_var.item()) == (4.0, 2.0)
    assert (layer.momentum, layer.training) == (0.3, False)
