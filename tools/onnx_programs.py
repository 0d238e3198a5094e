"""Functions with branches and loops, and the models of the examples, for `check_onnx.py`."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import rushlight as torch
from rushlight import Tensor

__all__ = ["CASES", "examples"]


def chosen(x: Tensor) -> Tensor:
    if bool(x.sum() > 0):
        return x * 2
    return x - 1


def nested(x: Tensor, n: int) -> Tensor:
    if n > 2:
        if bool(x.mean() > 0):  # noqa: SIM108
            y = x.exp()
        else:
            y = x.abs()
    else:
        y = x
    return y


def counted(x: Tensor, n: int) -> tuple[Tensor, int]:
    k = 0
    for i in range(n):
        x = x + i
        k += i
    return x, k


def halved(x: Tensor) -> Tensor:
    while bool(x.abs().max() > 0.1):
        x = x / 2
    return x


def skipped(x: Tensor, n: int) -> Tensor:
    for i in range(n):
        if i % 2 == 0:
            continue
        if i > 5:
            break
        x = x * 2 + i
    return x


def early(x: Tensor, n: int) -> Tensor:
    for _ in range(n):
        x = x + 1
        if bool(x[0] > 3):
            return x * 10
    return x


def collected(x: Tensor, n: int) -> Tensor:
    found = []
    for _ in range(n):
        x = torch.tanh(x)
        found.append(x)
    return torch.stack(found, 1)


def joined(x: Tensor, n: int) -> Tensor:
    found = [x]
    for i in range(n):
        found += [x * i]
    return torch.cat(found)


def rows(x: Tensor) -> Tensor:
    out = torch.zeros_like(x)
    for i in range(x.size(0)):
        out[i] = x[i].cumsum(0)
    return out


def columns(x: Tensor) -> Tensor:
    y = x.clone()
    for i in range(x.size(1)):
        y[:, i] += i
    y[1:, ::2] = 0
    return y


def grown(x: Tensor, n: int) -> Tensor:
    sizes = [2]
    for _ in range(n):
        sizes.append(sizes[-1] * 2)
    sizes[0] = 7
    return x.sum() + torch.tensor(sizes)


def fibonacci(n: int) -> int:
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


def collatz(n: int) -> int:
    rounds = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        rounds += 1
    return rounds


def grid(x: Tensor, n: int) -> Tensor:
    total = torch.zeros(1)
    for i in range(n):
        for j in range(i):
            if j == 2:
                break
            total = total + x.sum() * i * j
    return total


def in_place(x: Tensor, n: int) -> Tensor:
    y = x.clone()
    for i in range(n):
        y.add_(i).mul_(2)
    return y


def cell(x: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
    out = []
    for t in range(x.size(0)):
        h = torch.tanh(x[t] + h)
        out.append(h)
    return torch.stack(out), h


def popped(x: Tensor, n: int) -> Tensor:
    stack = [x, x + 1, x + 2]
    for _ in range(n):
        last = stack.pop()
        stack[0] = stack[0] + last
    return stack[0]


def named(x: Tensor, n: int) -> Tensor:
    kept = {"a": x, "b": x * 2}
    for i in range(n):
        kept["a"] = kept["a"] + kept["b"] * i
    return kept["a"]


def power(x: Tensor, n: int) -> Tensor:
    y = torch.eye(x.size(0))
    while n > 0:
        if n % 2 == 1:
            y = y @ x
        x = x @ x
        n = n // 2
    return y


def logic(x: Tensor, n: int) -> Tensor:
    if (n > 1 and bool(x.min() < 0)) or n == 7:
        x = -x
    elif not bool((x > 100).any()):
        x = x + 0.5
    assert n < 100, "too large"
    return x


def floats(x: Tensor, n: int) -> tuple[Tensor, float]:
    rate = 1.0
    for i in range(n):
        rate = rate * 0.5 + float(i)
    return x * rate, rate


def argument(x: Tensor) -> Tensor:
    best = 0
    for i in range(x.numel()):
        if bool(x.flatten()[i] > x.flatten()[best]):
            best = i
    return torch.tensor(best)


X = (1.0, -2.0, 0.5)
CASES: list[tuple[str, Any, tuple[Any, ...]]] = [
    ("chosen", chosen, (torch.tensor(X),)),
    ("chosen, otherwise", chosen, (torch.tensor([1.0, 2.0]),)),
    ("nested", nested, (torch.tensor(X), 3)),
    ("counted", counted, (torch.tensor(X), 4)),
    ("halved", halved, (torch.tensor(X),)),
    ("skipped", skipped, (torch.tensor(X), 9)),
    ("early", early, (torch.tensor(X), 9)),
    ("early, not", early, (torch.tensor(X), 1)),
    ("collected", collected, (torch.tensor(X), 3)),
    ("joined", joined, (torch.tensor(X), 3)),
    ("rows", rows, (torch.arange(6.0).reshape(2, 3),)),
    ("columns", columns, (torch.arange(6.0).reshape(2, 3),)),
    ("grown", grown, (torch.tensor(X), 4)),
    ("fibonacci", fibonacci, (10,)),
    ("collatz", collatz, (27,)),
    ("grid", grid, (torch.tensor(X), 5)),
    ("in_place", in_place, (torch.tensor(X), 3)),
    ("cell", cell, (torch.arange(6.0).reshape(2, 3), torch.tensor(X))),
    ("popped", popped, (torch.tensor(X), 2)),
    ("named", named, (torch.tensor(X), 3)),
    ("power", power, (torch.tensor([[1.0, 2.0], [0.5, 1.0]]), 5)),
    ("logic", logic, (torch.tensor(X), 2)),
    ("floats", floats, (torch.tensor(X), 4)),
    ("argument", argument, (torch.tensor(X),)),
]


def examples() -> Iterator[tuple[str, Any, tuple[Any, ...], dict[str, Any]]]:
    """The models of the examples that give one by `example()`, scripted."""
    for name in ("char_rnn", "crf_tagger", "mobilenet", "resnet", "seq2seq", "translator", "unet"):
        made = import_module(name).example()
        model, given = made if isinstance(made, tuple) else (made, ())
        yield name, torch.jit.script(model.eval()), tuple(given), {}
