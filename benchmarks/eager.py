"""What an eager call costs beside the NumPy call it stands for, on 16 elements.

Exit status 1 if one costs more than 3 microseconds more.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np

import rushlight as torch

LIMIT = 3.0

Call = Callable[[], Any]


def calls() -> dict[str, tuple[Call, Call]]:
    """Pairs of an eager call and NumPy's."""
    a, b = np.random.default_rng(0).standard_normal((2, 16)).astype(np.float32)
    x, y = torch.from_numpy(a.copy()), torch.from_numpy(b.copy())
    m, n = torch.from_numpy(a.reshape(4, 4)), a.reshape(4, 4)
    positive, above = x > 0, a > 0
    where = torch.tensor([0, 3, 2])
    places = np.array([0, 3, 2])
    one = np.float32(1)
    return {
        "x.add(y)": (lambda: x.add(y), lambda: np.add(a, b)),
        "x + y": (lambda: x + y, lambda: a + b),
        "x * 2.0": (lambda: x * 2.0, lambda: a * 2.0),
        "x - 1": (lambda: x - 1, lambda: a - 1),
        "2 - x": (lambda: 2 - x, lambda: 2 - a),
        "x / y": (lambda: x / y, lambda: a / b),
        "x > 0": (lambda: x > 0, lambda: a > 0),
        "-x": (lambda: -x, lambda: -a),
        "x ** 2": (lambda: x**2, lambda: a**2),
        "torch.add(x, y)": (lambda: torch.add(x, y), lambda: np.add(a, b)),
        "torch.add(x, y, alpha=2)": (lambda: torch.add(x, y, alpha=2), lambda: a + 2 * b),
        "torch.tanh(x)": (lambda: torch.tanh(x), lambda: np.tanh(a)),
        "torch.exp(x)": (lambda: torch.exp(x), lambda: np.exp(a)),
        "torch.sigmoid(x)": (lambda: torch.sigmoid(x), lambda: 1 / (1 + np.exp(-a))),
        "torch.relu(x)": (lambda: torch.relu(x), lambda: np.maximum(a, 0)),
        "F.relu(x)": (lambda: torch.nn.functional.relu(x), lambda: np.maximum(a, 0)),
        "x.abs()": (lambda: x.abs(), lambda: np.abs(a)),
        "torch.where(c, x, y)": (
            lambda: torch.where(positive, x, y),
            lambda: np.where(above, a, b),
        ),
        "torch.clamp(x, 0, 1)": (lambda: torch.clamp(x, 0, 1), lambda: np.clip(a, 0, 1)),
        "x.clamp(min=0)": (lambda: x.clamp(min=0), lambda: np.maximum(a, 0)),
        "x.add_(1)": (lambda: x.add_(1), lambda: np.add(a, one, a)),
        "x.mul_(y)": (lambda: x.mul_(y), lambda: np.multiply(a, b, a)),
        "x += 1": (lambda: x.__iadd__(1), lambda: a.__iadd__(one)),
        "x.zero_()": (lambda: x.zero_(), lambda: a.fill(0)),
        "x[3]": (lambda: x[3], lambda: a[3:4].reshape(())),
        "x[2:5]": (lambda: x[2:5], lambda: a[2:5]),
        "m[1]": (lambda: m[1], lambda: n[1]),
        "m[:, 1]": (lambda: m[:, 1], lambda: n[:, 1]),
        "x[i]": (lambda: x[where], lambda: a[places]),
        "x.sum()": (lambda: x.sum(), lambda: a.sum()),
        "m.sum(0)": (lambda: m.sum(0), lambda: n.sum(0)),
        "m.mean(1)": (lambda: m.mean(1), lambda: n.mean(1)),
        "x.max()": (lambda: x.max(), lambda: a.max()),
        "m.max(1)": (lambda: m.max(1), lambda: (n.max(1), n.argmax(1))),
        "x.argmax()": (lambda: x.argmax(), lambda: a.argmax()),
        "m @ m": (lambda: m @ m, lambda: n @ n),
        "m.t()": (lambda: m.t(), lambda: n.T),
        "x.view(4, 4)": (lambda: x.view(4, 4), lambda: a.reshape(4, 4)),
        "x.reshape(4, 4)": (lambda: x.reshape(4, 4), lambda: a.reshape(4, 4)),
        "x.unsqueeze(0)": (lambda: x.unsqueeze(0), lambda: a[None]),
        "torch.cat([x, y])": (lambda: torch.cat([x, y]), lambda: np.concatenate([a, b])),
        "torch.stack([x, y])": (lambda: torch.stack([x, y]), lambda: np.stack([a, b])),
        "torch.zeros(16)": (lambda: torch.zeros(16), lambda: np.zeros(16, np.float32)),
        "torch.zeros(4, 4)": (lambda: torch.zeros(4, 4), lambda: np.zeros((4, 4), np.float32)),
        "torch.softmax(x, -1)": (
            lambda: torch.softmax(x, -1),
            lambda: np.exp(a - a.max()) / np.exp(a - a.max()).sum(),
        ),
        "x.float()": (lambda: x.float(), lambda: a.astype(np.float32, copy=False)),
        "x.long()": (lambda: x.long(), lambda: a.astype(np.int64)),
        "x.item()": (lambda: m[0, 0].item(), lambda: n[0, 0].item()),
        "x.clone()": (lambda: x.clone(), lambda: a.copy()),
    }


def microseconds(call: Call, rounds: int, count: int) -> float:
    """The median over rounds of one call's time."""
    found = []
    for _ in range(rounds):
        began = time.perf_counter()
        for _ in range(count):
            call()
        found.append((time.perf_counter() - began) / count * 1e6)
    return statistics.median(found)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Time eager calls and NumPy's.")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--count", type=int, default=2000, help="calls in a round")
    arguments = parser.parse_args()
    over = 0
    print(f"{'call':<26} {'eager us':>9} {'numpy us':>9} {'more us':>9}")
    for name, (eager, numpy) in calls().items():
        eager()
        ours = microseconds(eager, arguments.rounds, arguments.count)
        theirs = microseconds(numpy, arguments.rounds, arguments.count)
        mark = " *" if ours - theirs > LIMIT else ""
        over += bool(mark)
        print(f"{name:<26} {ours:>9.2f} {theirs:>9.2f} {ours - theirs:>9.2f}{mark}")
    print(f"{over} above {LIMIT:.0f} us")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
