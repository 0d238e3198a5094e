"""Modules as people write them: members of every kind, what is exported, ignored, inherited."""

from typing import Any, Callable, ClassVar, Dict, Final, List, NamedTuple, Optional, Tuple, Union

import rushlight as torch
from rushlight import Tensor, nn
from rushlight.nn import functional as F


def helper(x: Tensor, n: int = 2) -> Tensor:
    return x * n


def untyped(x, y):
    return x + y


class Plain(nn.Module):
    def forward(self, x):
        return untyped(x, helper(x))


class WithParameter(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3, 2))
        self.bias = None
        self.register_parameter("absent", None)
        self.register_buffer("mean", torch.zeros(2))
        self.register_buffer("nothing", None)

    def forward(self, x: Tensor) -> Tensor:
        if self.bias is not None:
            x = x + self.bias
        if self.absent is not None:
            x = x + self.absent
        self.mean = self.mean * 0.9
        return F.linear(x, self.weight.t()) + self.mean


class WithNumbers(nn.Module):
    __constants__ = ["size", "flag", "names", "shape"]
    scale: Final[float]

    def __init__(self):
        super().__init__()
        self.size = 3
        self.flag = True
        self.names = ["a", "b"]
        self.shape = (1, 2)
        self.scale = 0.5
        self.count = 0
        self.text = "t"
        self.rate = 0.1
        self.device = torch.device("cpu")
        self.dtype = torch.float32

    def forward(self, x: Tensor):
        self.count += 1
        if self.flag:
            x = x * self.scale
        for n in self.names:
            print(n)
        return x.to(self.dtype), self.shape, self.size, self.count, self.text, self.rate, self.device


class WritesConstant(nn.Module):
    scale: Final[int]

    def __init__(self):
        super().__init__()
        self.scale = 1

    def forward(self, x: Tensor):
        self.scale = 2
        return x


class WithContainers(nn.Module):
    table: Dict[str, int]
    rows: List[List[float]]
    maybe: Optional[Tensor]

    def __init__(self):
        super().__init__()
        self.table = {}
        self.rows = [[]]
        self.maybe = None
        self.numbers = [1, 2]
        self.pairs = [(1, "a")]
        self.by_name = {"a": torch.zeros(1)}

    def forward(self, x: Tensor):
        self.table["n"] = len(self.numbers)
        self.rows[0].append(1.0)
        if self.maybe is None:
            self.maybe = x
        else:
            x = x + self.maybe
        self.numbers.append(3)
        return x, self.pairs[0], self.by_name["a"]


class EmptyListWithoutType(nn.Module):
    def __init__(self):
        super().__init__()
        self.rows = []

    def forward(self, x: Tensor):
        self.rows.append(1)
        return x


class MixedList(nn.Module):
    def __init__(self):
        super().__init__()
        self.rows = [1, "a"]

    def forward(self, x: Tensor):
        return x, self.rows


class Unscriptable(nn.Module):
    def __init__(self):
        super().__init__()
        self.thing = object()

    def forward(self, x: Tensor):
        return x, self.thing


class UnscriptableUnused(nn.Module):
    def __init__(self):
        super().__init__()
        self.thing = object()

    def forward(self, x: Tensor):
        return x


class SetsNewAttribute(nn.Module):
    def forward(self, x: Tensor):
        self.made = x
        return x


class AsksNothing(nn.Module):
    def forward(self, x: Tensor):
        return self.absent


class CallsNothing(nn.Module):
    def forward(self, x: Tensor):
        return self.absent(x)


class Methods(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 1

    def inner(self, x: Tensor, by: int = 2) -> Tensor:
        return x * by + self.n

    @torch.jit.export
    def outer(self, x: Tensor) -> Tensor:
        return self.inner(x, by=3)

    @torch.jit.ignore
    def python(self, x: Tensor) -> Tensor:
        return x.apply_(lambda v: v)

    @torch.jit.unused
    def never(self, x: Tensor) -> Tensor:
        return self.nothing_like_it

    @staticmethod
    def still(x: Tensor) -> Tensor:
        return x - 1

    @property
    def twice(self) -> int:
        return self.n * 2

    def forward(self, x: Tensor) -> Tensor:
        if self.n > 100:
            x = self.never(x)
        return self.python(self.inner(x)) + self.still(x) + self.twice


class ClassMethod(nn.Module):
    @classmethod
    def of_class(cls, x: Tensor) -> Tensor:
        return x

    def forward(self, x: Tensor):
        return self.of_class(x)


class Base(nn.Module):
    def __init__(self, n: int = 2):
        super().__init__()
        self.n = n

    def step(self, x: Tensor) -> Tensor:
        return x + self.n

    def forward(self, x: Tensor) -> Tensor:
        return self.step(x)


class Derived(Base):
    def step(self, x: Tensor) -> Tensor:
        return x * self.n


class CallsBase(Base):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) + 1


class Recursive(nn.Module):
    def down(self, n: int) -> int:
        if n < 1:
            return 0
        return self.down(n - 1)

    def forward(self, n: int) -> int:
        return self.down(n)


class Mutual(nn.Module):
    def one(self, n: int) -> int:
        return self.two(n)

    def two(self, n: int) -> int:
        return self.one(n)

    def forward(self, n: int) -> int:
        return self.one(n)


class NoForward(nn.Module):
    def other(self, x: Tensor):
        return x


class ForwardWithDefaults(nn.Module):
    def forward(self, x: Tensor, n: int = 2, flag: bool = False, w: Optional[Tensor] = None, *, k: float = 1.0):
        if w is not None and flag:
            return x * w * k
        return x * n


class Children(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = Base()
        self.two = Base(3)
        self.three = Derived()
        self.maybe: Optional[nn.Module] = None

    def forward(self, x: Tensor):
        if self.maybe is not None:
            x = self.maybe(x)
        return self.one(x) + self.two(x) + self.three.step(x) + self.one.n


class Lists(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Base(1), Derived(2)])

    def forward(self, x: Tensor):
        for layer in self.layers:
            x = layer(x)
        for i, layer in enumerate(self.layers):
            x = layer(x) + i
        for a, b in zip(self.layers, self.layers):
            x = a(x) + b(x)
        return x, len(self.layers)


class ListByVariable(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Base(1), Base(2)])

    def forward(self, x: Tensor, n: int):
        return self.layers[n](x)


class ListOutside(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Base(1), Base(2)])

    def forward(self, x: Tensor):
        return self.layers[2](x)


class ListOfPython(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [Base(1), Base(2)]

    def forward(self, x: Tensor):
        for layer in self.layers:
            x = layer(x)
        return x


class BreaksOutOfList(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Base(1), Base(2)])

    def forward(self, x: Tensor):
        for layer in self.layers:
            x = layer(x)
            if x.sum() > 3:
                break
        return x


class ReturnsOutOfList(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Base(1), Base(2)])

    def forward(self, x: Tensor):
        for layer in self.layers:
            x = layer(x)
            if x.sum() > 3:
                return x
        return x + 1


class Dicts(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleDict({"a": Base(1), "b": Derived(2)})

    def forward(self, x: Tensor):
        for name, part in self.parts.items():
            print(name)
            x = part(x)
        for name in self.parts.keys():
            print(name)
        for part in self.parts.values():
            x = part(x)
        if "a" in self.parts:
            x = self.parts["a"](x)
        return x, len(self.parts)


class DictByVariable(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleDict({"a": Base(1)})

    def forward(self, x: Tensor, name: str):
        return self.parts[name](x)


class DictWithoutKey(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleDict({"a": Base(1)})

    def forward(self, x: Tensor):
        return self.parts["z"](x)


class Chained(nn.Module):
    def __init__(self):
        super().__init__()
        self.chain = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), Base())

    def forward(self, x: Tensor):
        for part in self.chain:
            x = part(x)
        return self.chain(x), self.chain[0](x), len(self.chain)


class Parameters(nn.Module):
    def __init__(self):
        super().__init__()
        self.weights = nn.ParameterList([nn.Parameter(torch.ones(2)), nn.Parameter(torch.zeros(2))])
        self.named = nn.ParameterDict({"a": nn.Parameter(torch.ones(2))})

    def forward(self, x: Tensor):
        for w in self.weights:
            x = x * w
        for i, w in enumerate(self.weights):
            x = x + w * i
        return x + self.weights[0] + self.named["a"]


class Functions(nn.Module):
    def __init__(self, act=F.relu):
        super().__init__()
        self.act = act
        self.other = torch.tanh
        self.mine = helper

    def forward(self, x: Tensor):
        return self.act(x) + self.other(x) + self.mine(x, 3)


class ClassAttributes(nn.Module):
    size = 4
    shape: ClassVar[Tuple[int, int]] = (1, 2)

    def forward(self, x: Tensor):
        return x * self.size


class WithTraining(nn.Module):
    def forward(self, x: Tensor):
        if self.training:
            return F.dropout(x, 0.5, self.training)
        return x


class HasAttributes(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 1

    def forward(self, x: Tensor):
        if hasattr(self, "n"):
            x = x + self.n
        if hasattr(self, "absent"):
            x = x + self.absent
        return x + getattr(self, "n")


class NamedResult(NamedTuple):
    out: Tensor
    n: int


class ReturnsNamed(nn.Module):
    def forward(self, x: Tensor) -> NamedResult:
        return NamedResult(x, n=2)


class Generators(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = Base()

    def forward(self, x: Tensor):
        for name, m in self.named_modules():
            print(name)
        for name, m in self.named_children():
            print(name)
        for m in self.children():
            print("child")
        return x


class Hooked(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = Base()

        def hook(self, inputs: Tuple[Tensor], output: Tensor) -> Tensor:
            return output + 1

        self.one.register_forward_hook(hook)

    def forward(self, x: Tensor):
        return self.one(x)


class WrongHook(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = Base()

        def hook(self, inputs: Tuple[int], output: Tensor) -> Tensor:
            return output + 1

        self.one.register_forward_hook(hook)

    def forward(self, x: Tensor):
        return self.one(x)


class WrongArgument(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = Base()

    def forward(self, x: Tensor):
        return self.one("x")


class TooManyArguments(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = Base()

    def forward(self, x: Tensor):
        return self.one(x, x)


class ModuleAsValue(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = Base()

    def forward(self, x: Tensor):
        m = self.one
        return m(x)


class OverloadedMethods(nn.Module):
    @torch.jit._overload_method
    def pick(self, x: int) -> int:
        pass

    @torch.jit._overload_method
    def pick(self, x: str) -> str:
        pass

    def pick(self, x):
        return x

    def forward(self, n: int, s: str):
        return self.pick(n), self.pick(s)


@torch.jit.interface
class Steps(nn.Module):
    def step(self, x: Tensor) -> Tensor:
        pass


class ThroughInterface(nn.Module):
    part: Steps

    def __init__(self):
        super().__init__()
        self.part = Base()

    def forward(self, x: Tensor):
        return self.part.step(x)


class LayersOfTorch(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 3, 3, padding=1)
        self.norm = nn.BatchNorm2d(3)
        self.pool = nn.MaxPool2d(2)
        self.drop = nn.Dropout(0.5)
        self.embed = nn.Embedding(5, 2)

    def forward(self, x: Tensor, i: Tensor):
        return self.drop(self.pool(F.relu(self.norm(self.conv(x))))), self.embed(i)


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(2, 3)
        self.cell = nn.GRUCell(2, 3)

    def forward(self, x: Tensor, h: Optional[Tensor]):
        y, (a, b) = self.lstm(x)
        return y, self.cell(x[0], h)
