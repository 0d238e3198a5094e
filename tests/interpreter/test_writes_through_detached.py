"""What a script writes through `detach()` is counted for the tensor, through `.data` it is not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import rushlight as torch


def detached(x: torch.Tensor) -> torch.Tensor:
    y = x.detach()[0]
    y.add_(1)
    return x * 2


def data(x: torch.Tensor) -> torch.Tensor:
    y = x.data
    y.add_(1)
    return x * 2


@pytest.mark.parametrize(("function", "counts"), [(detached, 1), (data, 0)])
def test_writes_are_counted(function: Callable[[torch.Tensor], torch.Tensor], counts: int) -> None:
    script = torch.jit.script(function)
    for _ in range(5):
        x, w = torch.ones(2, 2), torch.ones(2, 2, requires_grad=True)
        product = w * x
        script(x)
        assert x._version == counts
        if counts:
            with pytest.raises(RuntimeError, match="has been modified by an inplace operation"):
                product.sum().backward()
