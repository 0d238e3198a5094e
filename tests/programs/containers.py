"""Modules that hold modules; hooks, properties, attributes that are functions, left-out methods."""

from typing import List, Tuple

import rushlight as torch
from rushlight import nn


class Scale(nn.Module):
    def __init__(self, factor: float):
        super().__init__()
        self.factor = factor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.factor


class Shift(nn.Module):
    def __init__(self):
        super().__init__()
        self.by = nn.Parameter(torch.ones(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.by


class Lists(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Scale(2.0), Shift(), Scale(0.5)])
        self.again = nn.ModuleList([Shift(), Shift(), Shift()])
        self.steps = nn.Sequential(Scale(3.0), Shift())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x)
        for number, step in enumerate(self.again):
            x = step(x) + number
        for one, other in zip(self.layers, self.again):
            x = one(x) + other(x)
        first = self.layers[0]
        x = first(x) - self.layers[-1](x)
        outputs = [each(x) for each in self.again]
        return self.steps(torch.stack(outputs).sum(0)) + len(self.layers)


class Dicts(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleDict({"scale": Scale(2.0), "shift": Shift()})

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for name, head in self.heads.items():
            if name == "shift":
                x = head(x)
        for head in self.heads.values():
            x = head(x)
        count = 0
        for name in self.heads.keys():
            count += len(name)
        if "scale" in self.heads:
            x = self.heads["scale"](x)
        return x + count + len(self.heads)


def doubled(x: torch.Tensor) -> torch.Tensor:
    return x + x


class Members(nn.Module):
    __constants__ = ["rate"]

    def __init__(self):
        super().__init__()
        self.rate = 3
        self.combine = doubled
        self.scale = Scale(4.0)
        self.weights = nn.ParameterList([nn.Parameter(torch.ones(2)), nn.Parameter(torch.zeros(2))])

    @property
    def twice(self) -> int:
        return self.rate * 2

    @staticmethod
    def plus(x: torch.Tensor, n: int) -> torch.Tensor:
        return x + n

    @torch.jit.unused
    def left_out(self, x: torch.Tensor) -> torch.Tensor:
        return x

    @torch.jit.export
    def extra(self, n: int) -> int:
        return n + self.twice

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.plus(self.combine(x), self.twice)
        for weight in self.weights:
            x = x + weight
        if isinstance(self.scale, Scale):
            x = self.scale(x)
        if x.dim() > 5:
            x = self.left_out(x)
        return x * self.rate


class Hooked(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Scale(2.0)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.inner(x) + 1


def before(self, inputs: Tuple[torch.Tensor]) -> Tuple[torch.Tensor]:
    return (inputs[0] + 10,)


def after(self, inputs: Tuple[torch.Tensor], output: torch.Tensor) -> torch.Tensor:
    return output - inputs[0]


def hooked():
    module = Hooked()
    module.inner.register_forward_pre_hook(before)
    module.inner.register_forward_hook(after)
    module.register_forward_hook(after)
    return module


@torch.jit.interface
class Step(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        pass


class Chosen(nn.Module):
    step: Step

    def __init__(self):
        super().__init__()
        self.step = Shift()
        self.steps = nn.ModuleList([Scale(2.0), Shift()])

    def forward(self, x: torch.Tensor, order: List[int]) -> torch.Tensor:
        for number in order:
            chosen: Step = self.steps[number]
            x = chosen.forward(x)
        return self.step(x)


class Overloaded(nn.Module):
    @torch.jit._overload_method
    def same(self, x: int) -> int:
        pass

    @torch.jit._overload_method
    def same(self, x: str) -> str:
        pass

    def same(self, x):
        return x

    def forward(self, n: int):
        return self.same(n), self.same("a")


def both(build):
    return build(), torch.jit.script(build())


def vectors():
    return [(torch.tensor([1.0, 2.0]),), (torch.tensor([-1.0, 0.5]),)]


PROGRAMS = {
    "lists": lambda: both(Lists),
    "dicts": lambda: both(Dicts),
    "members": lambda: both(Members),
    "hooked": lambda: both(hooked),
    "chosen": lambda: both(Chosen),
    "overloaded": lambda: both(Overloaded),
}
INPUTS = {
    "lists": vectors,
    "dicts": vectors,
    "members": vectors,
    "hooked": vectors,
    "chosen": lambda: [(torch.tensor([1.0, 2.0]), [1, 0, 1])],
    "overloaded": lambda: [(3,)],
}
