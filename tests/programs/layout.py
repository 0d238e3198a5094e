"""Unusual layouts, non-ASCII text, printing, in-place writing."""
import math
from typing import (
    List,
    Dict, Tuple, Optional)
import rushlight as torch
from rushlight import Tensor, nn


def outer():
    scale = 3
    def inner(
        x: Tensor,          # a comment
        k: int,
    ) -> Tensor:
        """Docstring with "quotes"
        over lines."""
        # comment
        y = (x
             + k)  # more
        if (k > 1 and
                k < 10):
            y = y * \
                2
        return (y)
    return inner


class Deep(nn.Module):
    """Doc."""

    __constants__ = ["k"]
    size: int

    def __init__(self):
        super().__init__()
        self.k = 4
        self.size = 2
        self.w = nn.Parameter(torch.ones(2, 2))
        self.register_buffer("buf", torch.arange(2.0))

    def helper(self, x):
        # type: (Tensor) -> Tensor
        return x @ self.w

    def forward(self, x: "Tensor", y: Optional[Tensor] = None) -> Tuple[Tensor, int]:
        """Doc."""
        z = self.helper(x) + self.buf * self.k
        if y is not None: z = z + y
        s: Dict[str, List[int]] = {"a": [1, 2], "b": [3]}
        n = 0
        for v in s.values():
            n += len(v)
        return z, n + self.size


def uni(s: str) -> int:
    é = s + "u"; n = len(é)
    return n + math.floor(2.7)


def tabs(x: int) -> int:
	if x > 0:
		return x
	else:
		return -x


def long_expression(x: Tensor, y: Tensor, z: Tensor) -> Tensor:
    return torch.sigmoid(torch.tanh(x * y + z) * torch.relu(x - y) + torch.exp(-(z ** 2)) / (1 + torch.abs(x + y + z)))


def consts(x: float) -> List[float]:
    return [x * math.pi, 1e-7, 1e22, -0.0, float("inf"), 3.0, 0.1, 123456789.123, x // 2, x % 3, 2 ** 3]


def prints(x: Tensor, n: int, f: float, b: bool, s: str, l: List[int], d: Dict[str, float], o: Optional[int]):
    print("all:", x, n, f, b, s, l, d, o, (1, 2.5, "t"), [True, False])
    print()
    print("a", "b\n", 'c"')
    return x


def inplace(x: Tensor) -> Tensor:
    y = x.clone()
    y += 1
    y *= x
    y[0] = 5
    y[1:] -= 2
    y.add_(1).mul_(2)
    y[y > 3] = 0
    return y

def fn(f): return lambda: (f, torch.jit.script(f))
PROGRAMS = {
 "inner": lambda: (outer(), torch.jit.script(outer())),
 "deep": lambda: (Deep(), torch.jit.script(Deep())),
 "uni": fn(uni), "tabs": fn(tabs), "long_expression": fn(long_expression), "consts": lambda: (None, torch.jit.script(consts)), "prints": fn(prints), "inplace": fn(inplace),
}
def tri():
    return [(torch.ones(2), torch.ones(2) * 2, torch.arange(2.0))]
INPUTS = {
 "inner": lambda: [(torch.ones(2), 2), (torch.ones(2), 0)],
 "deep": lambda: [(torch.ones(1, 2),), (torch.ones(1, 2), torch.ones(2))],
 "uni": lambda: [("ab",)], "tabs": lambda: [(3,), (-3,)], "long_expression": tri, "consts": lambda: [(1.5,)],
 "prints": lambda: [(torch.arange(6.0).reshape(2, 3), 3, 2.5, True, "s", [1, 2], {"k": 1.5}, None)],
 "inplace": lambda: [(torch.arange(4.0),)],
}
