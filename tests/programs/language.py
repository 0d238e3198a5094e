"""Smaller forms of the language: optionals, tuples, strings, comprehension, tensor indexing."""

from typing import Dict, List, Optional, Tuple

import rushlight as torch


def default_to_one(x: Optional[int]) -> int:
    if x is None:
        y = 1
    else:
        y = x + 1
    return y


def swap(pair: Tuple[int, str]) -> Tuple[str, int]:
    number, name = pair
    return name, number


def squares(n: int) -> List[int]:
    return [i * i for i in range(n)]


def describe(name: str, n: int) -> str:
    if n > 1 and len(name) > 2:
        name = name + "s"
    return "{} {}".format(n, name)


def clip(x: float, low: float = 0.0, high: float = 1.0) -> float:
    return low if x < low else (high if x > high else x)


def diagonal_sum(x: torch.Tensor) -> torch.Tensor:
    total = torch.zeros(1)
    for i in range(x.size(0)):
        total = total + x[i, i]
    return total


def window(x: torch.Tensor, n: int) -> torch.Tensor:
    parts = []
    for i in range(0, x.size(0) - n + 1):
        parts.append(x[i : i + n].sum())
    return torch.stack(parts)


def invert(table: Dict[str, int]) -> Dict[int, str]:
    result: Dict[int, str] = {}
    for key, value in table.items():
        result[value] = key
    return result


def dot(xs: List[float], ys: List[float]) -> float:
    assert len(xs) == len(ys), "lengths differ"
    total = 0.0
    for i, (x, y) in enumerate(zip(xs, ys)):
        total += x * y * (i + 1)
    return total


def fill(n: int, value: int) -> torch.Tensor:
    x = torch.zeros(n, dtype=torch.int64)
    for i in range(n):
        x[i] = value + i
    x[0] += 5
    return x


def both(function):
    return lambda: (function, torch.jit.script(function))


FUNCTIONS = [
    default_to_one,
    swap,
    squares,
    describe,
    clip,
    diagonal_sum,
    window,
    invert,
    dot,
    fill,
]
PROGRAMS = {function.__name__: both(function) for function in FUNCTIONS}
INPUTS = {
    "default_to_one": lambda: [(None,), (4,)],
    "swap": lambda: [((1, "one"),)],
    "squares": lambda: [(5,), (0,)],
    "describe": lambda: [("cat", 2), ("ox", 2), ("cat", 1)],
    "clip": lambda: [(0.5, 0.0, 1.0), (-1.0, 0.0, 1.0), (7.0, -2.0, 3.5)],
    "diagonal_sum": lambda: [(torch.arange(9.0).reshape(3, 3),)],
    "window": lambda: [(torch.arange(5.0), 2)],
    "invert": lambda: [({"a": 1, "b": 2},)],
    "dot": lambda: [([1.0, 2.0], [3.0, 4.0])],
    "fill": lambda: [(3, 7)],
}
