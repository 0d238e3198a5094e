"""Fake quantization with observed and learned ranges; numbers by torch 2.13."""

from __future__ import annotations

import pytest

import rushlight as torch
from rushlight.ops.quantized_tensors import fake_quantize, observed_quantize

X = torch.tensor([[-1.0, 0.3, 2.0], [0.5, -0.25, 0.125]])
ON = torch.tensor([1])


def observe(
    x: torch.Tensor, per_row: bool, symmetric: bool, low: int, high: int
) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """Two calls, the second with twice the values; the last result and the state after it."""
    start = [] if per_row else [float("inf")]
    state = [
        torch.tensor(start),
        -torch.tensor(start),
        torch.tensor([1.0] * len(start)),
        torch.tensor([0] * len(start), dtype=torch.int32),
    ]
    for times in (1, 2):
        found = torch.fused_moving_avg_obs_fake_quant(
            x * times, ON, ON, *state, 0.01, low, high, 0, per_row, symmetric
        )
    return found, state


def test_observed_range_of_a_tensor() -> None:
    found, (least, most, scale, zero) = observe(X, False, False, 0, 255)
    assert least.tolist() == pytest.approx([-1.01])
    assert most.tolist() == pytest.approx([2.02])
    assert scale.tolist() == pytest.approx([3.03 / 255])
    assert zero.tolist() == [85]
    assert found.flatten().tolist() == pytest.approx(
        [-1.01, 0.59412, 2.02, 0.99812, -0.49906, 0.24953], abs=1e-5
    )


def test_observed_ranges_of_rows_make_their_state() -> None:
    _, (least, most, scale, zero) = observe(X, True, True, -128, 127)
    assert least.tolist() == pytest.approx([-1.01, -0.2525])
    assert most.tolist() == pytest.approx([2.02, 0.505])
    assert scale.tolist() == pytest.approx([2.02 / 127, 0.505 / 127])
    assert zero.tolist() == [0, 0]


def test_switched_off() -> None:
    state = [torch.ones(1), torch.ones(1), torch.ones(1), torch.zeros(1, dtype=torch.int32)]
    off = torch.tensor([0])
    found = torch.fused_moving_avg_obs_fake_quant(X, off, off, *state, 0.01, 0, 255, 0)
    assert found.tolist() == X.tolist()
    assert [s.item() for s in state] == [1, 1, 1, 0]


def test_errors() -> None:
    state = [torch.zeros(1), torch.zeros(1), torch.ones(1), torch.zeros(1, dtype=torch.int32)]
    with pytest.raises(RuntimeError, match=r"ch_axis must be < self.dim\(\)"):
        torch.fused_moving_avg_obs_fake_quant(X, ON, ON, *state, 0.01, 0, 255, 2)
    with pytest.raises(RuntimeError, match="only supported on axis == 0"):
        torch.fused_moving_avg_obs_fake_quant(X, ON, ON, *state, 0.01, 0, 255, 1, True)


def test_chosen_scales() -> None:
    assert torch._choose_qparams_per_tensor(X * 3, True) == (9 / 127, 42)
    assert torch._choose_qparams_per_tensor(X * 0) == (0.1, 0)
    assert torch._choose_qparams_per_tensor(X * 1e-4)[0] == pytest.approx(6.1e-5)


def test_gradients_stop_where_values_are_held_back() -> None:
    weights = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    passed = [0, 2, 0, 4, 0, 6]
    scales, zeros = torch.tensor([0.01, 0.02]), torch.tensor([3, 4], dtype=torch.int32)
    for make in (
        lambda x: torch.fake_quantize_per_tensor_affine(x, 0.01, 3, 0, 100),
        lambda x: torch._fake_quantize_learnable_per_tensor_affine(
            x, torch.tensor([0.01]), torch.tensor([3.0]), 0, 100
        ),
    ):
        x = X.clone().requires_grad_()
        (make(x) * weights).sum().backward()
        assert x.grad.flatten().tolist() == passed
    x = X.clone().requires_grad_()
    (torch.fake_quantize_per_channel_affine(x, scales, zeros, 0, 0, 100) * weights).sum().backward()
    assert x.grad.flatten().tolist() == passed


def test_gradients_of_learned_scales() -> None:
    weights = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    scale, zero = torch.tensor([0.01]).requires_grad_(), torch.tensor([3.0]).requires_grad_()
    made = torch._fake_quantize_learnable_per_tensor_affine(X, scale, zero, 0, 100, 0.5)
    (made * weights).sum().backward()
    assert scale.grad.tolist() == pytest.approx([138.0])
    assert zero.grad.tolist() == pytest.approx([-0.045])


@pytest.mark.parametrize("per_row", [False, True])
@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize(("low", "high"), [(0, 255), (-128, 127), (-8, 7)])
def test_kernels_give_the_bits_of_numpy(
    monkeypatch: pytest.MonkeyPatch, per_row: bool, symmetric: bool, low: int, high: int
) -> None:
    def all_of(x: torch.Tensor) -> list[bytes]:
        found, state = observe(x, per_row, symmetric, low, high)
        return [each.numpy().tobytes() for each in (found, *state)]

    torch.manual_seed(low + 7)
    for scale in (1e-6, 1.0, 3e5):
        for shape in [(3, 5), (2, 33, 7), (1, 5000)]:
            x = scale * (torch.randn(shape) + 0.5)
            made = all_of(x)
            with monkeypatch.context() as patched:
                patched.setattr(observed_quantize, "family", lambda name: None)
                patched.setattr(fake_quantize, "family", lambda name: None)
                assert all_of(x) == made
            if scale == 1.0:
                assert all_of(-x)[0] != made[0]


def test_the_node_is_that_of_the_operator_with_a_mask() -> None:
    x = torch.tensor([[-3.0, 0.2], [0.4, 9.0]], requires_grad=True)
    made = torch.fake_quantize_per_tensor_affine(x, 0.1, 0, -10, 10)
    made.backward(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    assert x.grad.tolist() == [[0, 2], [3, 0]]
    assert made.grad_fn.name() == "FakeQuantizePerTensorAffineCachemaskBackward0"
    assert torch.fake_quantize_per_tensor_affine(torch.zeros(0, 2), 0.1, 0, -10, 10).shape == (0, 2)


def test_of_several_results_those_are_kept_that_gradients_read() -> None:
    x = torch.tensor([[-3.0, 0.2], [0.4, 9.0]], requires_grad=True)
    kept = []

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        kept.append(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda each: each):
        made = torch.fake_quantize_per_tensor_affine(x, 0.1, 0, -10, 10)
    assert [each.tolist() for each in kept] == [[[False, True], [True, False]]]
    made.sum().backward()
    assert x.grad.tolist() == [[0, 1], [1, 0]]
