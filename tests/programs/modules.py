"""Modules with a weight, with state, in the plain and in the older form."""

from typing import List

import rushlight as torch


class MyModule(torch.nn.Module):
    def __init__(self, N, M):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.rand(N, M))

    def forward(self, input):
        if input.sum() > 0:
            output = self.weight.mv(input)
        else:
            output = self.weight + input
        return output


class MyScriptModule(torch.jit.ScriptModule):
    def __init__(self, N, M):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.rand(N, M))

    @torch.jit.script_method
    def forward(self, input):
        if bool(input.sum() > 0):
            output = self.weight.mv(input)
        else:
            output = self.weight + input
        return output


class MyStateModule(torch.nn.Module):
    def __init__(self, N, M, state: List[torch.Tensor]):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.rand(N, M))
        self.state = state

    def forward(self, input):
        self.state.append(input)
        if input.sum() > 0:
            output = self.weight.mv(input)
        else:
            output = self.weight + input
        return output + len(self.state)


class Scale(torch.nn.Module):
    def __init__(self, size: int, factor: float):
        super().__init__()
        self.factor = factor
        self.weight = torch.nn.Parameter(torch.rand(size))
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        return x * self.weight * self.factor


class Pair(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Scale(3, 0.5)
        self.second = Scale(3, 2.0)

    def combine(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.stack([x, y])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        both = self.combine(self.first(x), self.second(x))
        if self.training:
            both = both + self.first.calls
        return both


def seeded(build):
    torch.manual_seed(3)
    return build()


def both(build):
    return seeded(build), torch.jit.script(seeded(build))


def vectors():
    return [(torch.tensor([1.0, 2.0, 3.0]),), (torch.tensor([-1.0, 0.5, -2.0]),)]


PROGRAMS = {
    "my_module": lambda: both(lambda: MyModule(2, 3)),
    "my_script_module": lambda: (seeded(lambda: MyModule(2, 3)), seeded(lambda: MyScriptModule(2, 3))),
    "my_state_module": lambda: both(lambda: MyStateModule(2, 3, [torch.ones(3)])),
    "pair": lambda: both(Pair),
}
INPUTS = {
    "my_module": vectors,
    "my_script_module": vectors,
    "my_state_module": vectors,
    "pair": vectors,
}
