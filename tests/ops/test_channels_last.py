"""What lies with channels last gives what it does with channels first, and lies as it did."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rushlight as torch

F = torch.nn.functional

SAME: dict[str, Callable[[Any], Any]] = {
    "nearest": lambda x: F.interpolate(x, scale_factor=2.0),
    "nearest, one side": lambda x: F.interpolate(x, size=(x.size(2), 9)),
    "the same size": lambda x: F.interpolate(x, size=x.shape[2:], mode="bilinear"),
    "bilinear": lambda x: F.interpolate(x, size=(31, 12), mode="bilinear"),
    "bicubic": lambda x: F.interpolate(x, size=(9, 40), mode="bicubic", align_corners=True),
    "largest": lambda x: F.max_pool2d(x, 3, 2, 1),
    "largest and places": lambda x: torch.cat(
        [each.float() for each in F.max_pool2d(x, 3, 2, 1, return_indices=True)]
    ),
    "means": lambda x: F.avg_pool2d(x, 3, 2, 1),
    "normal": lambda x: F.batch_norm(x, x[0, :, 0, 0], x[0, :, 1, 1].abs()),
    "a copy": lambda x: x.clone(),
}


@pytest.mark.parametrize("shape", [(2, 40, 17, 15), (1, 3, 8, 70)])
@pytest.mark.parametrize("name", SAME)
def test_elements_and_layout_are_those_expected(name: str, shape: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    x = torch.randn(*shape)
    last = x.contiguous(memory_format=torch.channels_last)
    assert last.stride()[1] == 1
    wanted, made = SAME[name](x), SAME[name](last)
    assert made.is_contiguous(memory_format=torch.channels_last)
    assert made is not last
    assert made.data_ptr() != last.data_ptr()
    assert made.contiguous().numpy().tobytes() == wanted.numpy().tobytes()


@pytest.mark.parametrize(
    "name", ["nearest", "nearest, one side", "the same size", "bilinear", "bicubic", "largest"]
)
def test_one_image_whose_batch_was_added_gives_others_that_lie_as_usual(name: str) -> None:
    last = torch.randn(1, 3, 8, 70).contiguous(memory_format=torch.channels_last)
    added = last[0][None]
    assert added.stride() == (3, 1, 210, 3)
    made = SAME[name](added)
    assert made.is_contiguous()
    assert torch.equal(made, SAME[name](last))


CONVOLUTIONS: dict[str, tuple[tuple[int, ...], Callable[[Any, Any], Any]]] = {
    "single": ((24, 16, 1, 1), F.conv2d),
    "single, stepping": ((24, 16, 1, 1), lambda x, w: F.conv2d(x, w, stride=2)),
    "squares": ((24, 16, 3, 3), lambda x, w: F.conv2d(x, w, padding=1)),
    "named": ((24, 16, 3, 3), lambda x, w: F.conv2d(x, w, padding="same")),
    "by channel": ((16, 1, 5, 5), lambda x, w: F.conv2d(x, w, padding=2, groups=16)),
    "groups": ((32, 4, 3, 3), lambda x, w: F.conv2d(x, w, groups=4)),
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
@pytest.mark.parametrize("which", ["input", "weight", "both", "part"])
def test_convolutions_follow_either_operand(name: str, which: str) -> None:
    torch.manual_seed(0)
    shape, convolve = CONVOLUTIONS[name]
    x, weight = torch.randn(2, 16, 14, 19), torch.randn(*shape)
    wanted = convolve(x, weight).numpy()
    if which == "part":  # that lies in no such way
        x = torch.cat([x, x], 1).contiguous(memory_format=torch.channels_last)[:, :16]
    elif which != "weight":
        x = x.contiguous(memory_format=torch.channels_last)
    if which in ("weight", "both"):
        weight = weight.contiguous(memory_format=torch.channels_last)
    made = convolve(x, weight)
    is_told = which != "weight" or weight.stride() != torch.empty(shape).stride()
    assert made.is_contiguous(memory_format=torch.channels_last) == is_told
    np.testing.assert_allclose(made.numpy(), wanted, rtol=1e-4, atol=1e-4)


def test_convolutions_are_the_same_for_all_threads() -> None:
    torch.manual_seed(0)
    x = torch.randn(1, 64, 40, 40).contiguous(memory_format=torch.channels_last)
    before, found = torch.get_num_threads(), set()
    for count in (1, 2, 3):
        torch.set_num_threads(count)
        for shape in ((96, 64, 1, 1), (96, 64, 3, 3)):
            torch.manual_seed(1)
            found.add((shape, F.conv2d(x, torch.randn(*shape)).numpy().tobytes()))
    torch.set_num_threads(before)
    assert len(found) == 2
