"""Arguments that torch has no gradient for may not require one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch
from rushlight.nn import functional

ones = torch.ones


def wanting(*sizes: int) -> torch.Tensor:
    """Ones that require gradients."""
    return torch.ones(*sizes, requires_grad=True)


def norm(mean: torch.Tensor, var: torch.Tensor, training: bool) -> torch.Tensor:
    """Three channels, normalized."""
    return functional.batch_norm(wanting(2, 3), mean, var, training=training)


CLASSES = torch.tensor([0, 1])
IMAGE = torch.zeros(1, 2, 2, dtype=torch.int64)
CALLS: dict[str, tuple[Callable[[], Any], str, str]] = {
    "mean in training": (
        lambda: norm(wanting(3), ones(3), True),
        *("native_batch_norm", "running_mean"),
    ),
    "variance in evaluation": (
        lambda: norm(ones(3), wanting(3), False),
        *("native_batch_norm", "running_var"),
    ),
    "mean of instances": (
        lambda: functional.instance_norm(wanting(2, 3, 4), wanting(3), ones(3)),
        *("native_batch_norm", "running_mean"),
    ),
    "mean of a call of the library": (
        lambda: torch.ops.aten._batch_norm_no_update(
            wanting(2, 3), None, None, wanting(3), ones(3), 0.1, 1e-5
        ),
        *("_batch_norm_no_update", "running_mean"),
    ),
    "weights of classes": (
        lambda: functional.cross_entropy(wanting(2, 3), CLASSES, wanting(3)),
        *("nll_loss_forward", "weight"),
    ),
    "weights of classes in images": (
        lambda: functional.nll_loss(wanting(1, 3, 2, 2), IMAGE, wanting(3)),
        *("nll_loss2d_forward", "weight"),
    ),
    "weights of probabilities": (
        lambda: functional.binary_cross_entropy(wanting(3), ones(3), wanting(3)),
        *("binary_cross_entropy", "weight"),
    ),
    "weights of what holds": (
        lambda: functional.binary_cross_entropy_with_logits(
            wanting(3), ones(3), pos_weight=wanting(3)
        ),
        *("binary_cross_entropy_with_logits", "pos_weight"),
    ),
    "weights of margins": (
        lambda: functional.multi_margin_loss(wanting(2, 3), CLASSES, weight=wanting(3)),
        *("multi_margin_loss", "weight"),
    ),
    "signs": (
        lambda: functional.soft_margin_loss(wanting(3), wanting(3)),
        *("soft_margin_loss", "target"),
    ),
    "scales": (
        lambda: torch.fake_quantize_per_channel_affine(
            wanting(2, 3), wanting(3), torch.zeros(3, dtype=torch.int32), 1, 0, 255
        ),
        *("fake_quantize_per_channel_affine_cachemask", "scale"),
    ),
}


@pytest.mark.parametrize("what", CALLS)
def test_the_function_and_the_argument_are_named(what: str) -> None:
    call, function, argument = CALLS[what]
    with pytest.raises(RuntimeError) as caught:
        call()
    assert str(caught.value) == (
        f"The function '{function}' is not differentiable with respect to argument '{argument}'. "
        "This input cannot have requires_grad True."
    )
    with torch.no_grad():
        call()


def test_calls_that_came_often_refuse_it_too() -> None:
    x, mean, var = wanting(2, 3), torch.zeros(3), ones(3)
    for _ in range(50):
        assert functional.batch_norm(x, mean, var, training=True).requires_grad
    mean.requires_grad_()
    with pytest.raises(RuntimeError, match="with respect to argument 'running_mean'"):
        functional.batch_norm(x, mean, var, training=True)
    mean.requires_grad_(False)
    assert functional.batch_norm(x, mean, var, training=True).requires_grad


def test_weights_of_probable_classes_have_gradients() -> None:
    weight = wanting(3)
    functional.cross_entropy(wanting(2, 3), ones(2, 3), weight).backward()
    assert weight.grad is not None


def test_arguments_that_are_alone_in_wanting_one_are_refused() -> None:
    with pytest.raises(RuntimeError, match="with respect to argument 'weight'"):
        functional.cross_entropy(ones(2, 3), CLASSES, wanting(3))
