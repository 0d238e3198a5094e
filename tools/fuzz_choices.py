"""A family of tensor programs: loops that take parts of tensors by numbers and by masks."""

from __future__ import annotations

import random

from fuzz_families import Family

__all__ = ["CHOICES"]

_NUMBERS = ("i", "k", "i + 1", "k - i", "2 * i", "i // 2", "i % 3", "len(kept)", "j", "j + k")
_PARTS = (
    *("x[{0}]", "x[{0}]", "y[{0}]", "x.select(1, {0})[:4]", "x[{0}, :4]", "x[:4, {0}]"),
    *("x.narrow(0, {0}, 2).sum(0)", "x[{0}:{0} + 2].mean(0)", "x[{0}:].sum(0)", "y[:, {0}]"),
    *("x[{0}].view(2, 2).t().reshape(4)", "x[{0}].unsqueeze(0)[0]"),
)
_VALUES = (
    *("({0} + {1})", "({0} * {1})", "({0} - {1})", "torch.tanh({0})", "torch.relu({0})"),
    *("torch.max({0}, {1})", "({0} * 0.5)", "({0} / 2.0)", "({0} @ y)", "({0} * w)"),
    *("({0} + float(i))", "torch.where({0} > {1}, {0}, {1})", "{0}.clamp(min=-0.5)"),
    *("{0}[order]", "({0} - {0}.mean())", "{0}.abs()", "{0}.softmax(0)"),
)
_LINES = (
    *("h = {value}", "h = {value}", "a = {value}", "a = {part}", "h = h + {part}"),
    *(
        "kept.append({value})",
        "j = int(h.argmax())",
        "k = {number}",
        "total = total + {value}.sum()",
    ),
    *("h[{number}] = a[0]", "h = h.clone()\n        h[0] = {part}[1]", "order = h.argsort()"),
    *("if float(h.sum()) > {limit}:\n            {line}", "if k > {limit}:\n            {line}"),
    *("a = a[a > {limit}]\n        a = torch.cat([a, y[0]])[:4]", "if j == i:\n            break"),
    *("h = x[{number}]", "row = x[{number}]\n        h = h * row\n        kept.append(row * 2.0)"),
    *("for t in range(2):\n            h = torch.tanh(h @ y) + x[t + {number}]",),
)
_HEAD = """def f(x: Tensor, y: Tensor, w: float, n: int, k: int):
    h, a, total, j = y[0], x[1] * 2.0, torch.zeros(1), 0
    order = torch.tensor([3, 1, 0, 2])
    kept: List[Tensor] = []
    for i in range(n):
        """


def _program(rng: random.Random) -> tuple[str, list[str]]:
    """A program, and its calls."""

    def number() -> str:
        return rng.choice(_NUMBERS)

    def part() -> str:
        return rng.choice(_PARTS).format(number())

    def value(depth: int = 2) -> str:
        if depth and rng.random() < 0.7:
            return rng.choice(_VALUES).format(value(depth - 1), value(depth - 1))
        return rng.choice(("h", "a", part()))

    def line() -> str:
        template = rng.choice(_LINES)
        inner = line().replace("\n", "\n    ") if "{line}" in template else ""
        limit = rng.choice(("0", "1", "0.5", "-1"))
        return template.format(value=value(), part=part(), number=number(), limit=limit, line=inner)

    lines = [line() for _ in range(rng.randint(3, 8))]
    body = _HEAD + "\n        ".join(lines) + "\n    return h, a, total, kept, k, j"
    x, y = "torch.arange(24.0).view(6, 4)", "torch.ones(4, 4)"
    calls = [
        f"({x} * {scale} - 1.0, {y} * {scale}, {w}, {n}, {k})"
        for scale, w, n, k in (("0.1", "0.5", 4, 1), ("-0.3", "2.0", 3, 0), ("0.2", "1.0", 5, 2))
    ]
    return body, calls


CHOICES = Family(make=_program)
