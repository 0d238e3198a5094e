# ruff: noqa: UP006, UP035, UP045 (what users of TorchScript write)
"""The programs of the archives beside this file, written by PyTorch 2.13: `make_samples.py`."""

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


class Scaled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.tensor([2.0, 3.0]))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.scale


class Mobile(torch.nn.Module):
    names: Dict[str, int]

    def __init__(self):
        super().__init__()
        self.part = Scaled()
        self.names = {"a": 1, "b": 2}
        self.sizes = [1, 2, 3]
        self.rates = [0.5, 1.5]
        self.words = ["x", "y"]
        self.flags = [True, False]
        self.pair = (1, "one")
        self.turn = 1 + 2j
        self.place = torch.device("cpu")
        self.register_buffer("calls", torch.zeros(1))
        scales, zero_points = torch.tensor([0.5, 0.25]), torch.tensor([0, 1])
        table = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
        rows = torch.quantize_per_channel(table, scales, zero_points, 0, torch.qint8)
        self.register_buffer("rows", rows)
        self.register_buffer("one", torch.quantize_per_tensor(table, 0.5, 1, torch.quint8))

    def forward(
        self, x: torch.Tensor, key: Optional[str] = None
    ) -> Tuple[torch.Tensor, List[float]]:
        self.calls.add_(1)
        found: List[float] = []
        for i in range(len(self.sizes)):
            if self.flags[i % 2]:
                found.append(self.sizes[i] * self.rates[0])
        if key is not None:
            found.append(float(self.names[key]))
        table = self.rows.dequantize() + self.one.dequantize()
        return self.part(x) + table + torch.tensor([1.5]), found

    @torch.jit.export
    def count(self, step: int = 2) -> int:
        return len(self.words) * step


class Rows(torch.nn.Module):
    def forward(self, x: torch.Tensor, n: int) -> torch.Tensor:
        return x.view(n, 2)


class Reshaped(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.rows = Rows()

    def forward(self, x: torch.Tensor, n: int) -> torch.Tensor:
        y = self.rows(x, n)
        if n > 5:
            raise ValueError("too many")
        return y + torch.ones(7)


class Sparse(torch.nn.Module):
    both: List[torch.Tensor]

    def __init__(self):
        super().__init__()
        table = torch.tensor([[0.0, 1.0, 0.0], [2.0, 0.0, 3.0]])
        self.weight = torch.nn.Parameter(table.to_sparse())
        twice = torch.tensor([[0, 0], [1, 1]])
        self.register_buffer("twice", torch.sparse_coo_tensor(twice, torch.ones(2), (2, 3)))
        self.register_buffer("rows", table.to_sparse_csr())
        self.both = [self.twice, self.rows]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.mm(self.weight, x) + torch.mm(self.rows, x)
        return y + torch.mm(self.twice, x)
