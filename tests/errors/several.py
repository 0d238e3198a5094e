"""Independent mistakes in one module; torch tells of the first alone."""

import rushlight as torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.rand(3))

    def scale(self, x: torch.Tensor, k: int) -> torch.Tensor:
        return x * kk

    def shift(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.wieght

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.shift(self.scale(x, 2.0))
        return "done"


def run():
    torch.jit.script(Model())
