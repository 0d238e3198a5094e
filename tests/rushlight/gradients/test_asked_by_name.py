"""Gradients that are asked for by functions of their own, and what is known while they are."""

import pytest

import rushlight as torch
from rushlight.nn import grad
from rushlight.utils.checkpoint import CheckpointFunction


def test_gradients_of_convolutions_have_a_history() -> None:
    torch.manual_seed(0)
    x = torch.randn(1, 3, 5, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(2, 3, 3, dtype=torch.float64, requires_grad=True)
    given = torch.randn(1, 2, 3, dtype=torch.float64, requires_grad=True)
    by_input = lambda w, g: grad.conv1d_input(x.shape, w, g)  # noqa: E731
    by_weight = lambda i, g: grad.conv1d_weight(i, weight.shape, g)  # noqa: E731
    assert torch.autograd.gradcheck(by_input, (weight, given))
    assert torch.autograd.gradcheck(by_weight, (x, given))
    with torch.no_grad():
        assert not by_input(weight, given).requires_grad


@pytest.mark.filterwarnings("ignore:Anomaly Detection")
def test_anomalies_are_said_to_be_looked_for() -> None:
    with torch.autograd.detect_anomaly(check_nan=False):
        assert (torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()) == (True, False)
    assert (torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()) == (False, True)
    with torch.autograd.set_detect_anomaly(True):
        assert torch.is_anomaly_enabled()
    assert not torch.is_anomaly_enabled()


def test_what_is_computed_again_is_under_the_same_autocast() -> None:
    seen = []

    def product(x: torch.Tensor) -> torch.Tensor:
        seen.append((torch.is_autocast_enabled("cpu"), (x @ x).dtype))
        return x @ x

    x = torch.randn(3, 3, requires_grad=True)
    with torch.autocast("cpu"):
        made = CheckpointFunction.apply(product, True, x)
    made.float().sum().backward()
    assert seen == [(True, torch.bfloat16)] * 2
    assert not torch.is_autocast_enabled("cpu")
