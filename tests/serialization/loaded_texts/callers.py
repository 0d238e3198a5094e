"""Modules whose archives' graphs and errors PyTorch 2.13 has written down (`record.py`)."""

import warnings

import torch


def inner(a: torch.Tensor, b: torch.Tensor):
    return torch.add(a, b)


def outer(a: torch.Tensor, b: torch.Tensor):
    if a.sum() > -1:
        for _ in range(3):
            a = a + inner(a, b)
    return a


class Calls(torch.nn.Module):
    def forward(self, x, y):
        return inner(x, y)


class Deep(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = Calls()

    def forward(self, x, y):
        """A text that does nothing."""
        z = self.calls(x, x)
        return outer(z, y), [-1, 2]


class Refuses(torch.nn.Module):
    def forward(self, x, y):
        if x.size(0) != y.size(-1):
            warnings.warn("sizes differ")  # noqa: B028
            raise ValueError("bad sizes")
        assert x.dim() == 1, "no vector"
        return x[0]


class Leaves(torch.nn.Module):
    def forward(self, x, y):
        for i in range(y.size(0)):
            if i * 2 > 1:
                return x.view(-1, 5)
        return y
