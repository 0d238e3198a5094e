# ruff: noqa: UP006, UP035, UP045 (what users of TorchScript write)
"""The program of `sample.pt` and `function.pt`, which PyTorch 2.13 wrote; see `make_samples.py`."""

from typing import Dict, List, Optional, Tuple

import torch


class Affine(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.arange(6.0).reshape(2, 3).t())
        self.register_buffer("b", torch.ones(2))

    def forward(self, x):
        return x @ self.w + self.b


class Sample(torch.nn.Module):
    names: List[str]
    rates: List[float]
    limit: Optional[int]
    steps: Dict[str, List[int]]

    def __init__(self):
        super().__init__()
        self.affine = Affine()
        self.base = torch.arange(10)
        self.view = self.base[2:5]
        self.sizes = [1, 2, 300]
        self.names = ["a", "b"]
        self.rates = []
        self.limit = None
        self.pair = (1, "a")
        self.big = 2**40
        self.negative = -1
        self.title = "gr\u00fcn"
        self.tensors = [self.base, torch.zeros(0), torch.tensor(3.5)]
        self.nested = [[1], [2]]
        self.z = 1 + 2j
        self.device = torch.device("cpu")
        self.steps = {"q": [1]}

    def forward(self, x: torch.Tensor) -> Tuple[torch.Tensor, str]:
        y = self.affine(x) + torch.tensor([1.5])
        for i in range(3):
            y = y + i
        return y, "caf\u00e9"


def scale(x: torch.Tensor, n: int = 3) -> torch.Tensor:
    return x * n
