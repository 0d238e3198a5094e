"""Containers of tensors, as loaders and trackers pass them around; sorting and counting."""

from typing import Dict, List, Tuple

import rushlight as torch
from rushlight import Tensor


def collate(samples: List[Tuple[Tensor, int]]) -> Tuple[Tensor, Tensor, Tensor]:
    longest = 0
    for x, _ in samples:
        longest = max(longest, x.size(0))
    rows: List[Tensor] = []
    lengths: List[int] = []
    labels: List[int] = []
    for x, label in samples:
        rows.append(torch.cat([x, torch.zeros(longest - x.size(0), x.size(1))]))
        lengths.append(x.size(0))
        labels.append(label)
    return torch.stack(rows), torch.tensor(lengths), torch.tensor(labels)


def by_name(names: List[str], xs: List[Tensor]) -> Dict[str, List[Tensor]]:
    found: Dict[str, List[Tensor]] = {}
    for i, name in enumerate(names):
        if name not in found:
            none: List[Tensor] = []
            found[name] = none
        found[name].append(xs[i])
    return found


def masked(batch: Dict[str, Tensor], mask: Tensor) -> Dict[str, Tensor]:
    found: Dict[str, Tensor] = {}
    for name, value in batch.items():
        found[name] = value * mask.unsqueeze(1) if value.dim() == 2 else value * mask
    return found


def merged(batches: List[Dict[str, Tensor]]) -> Dict[str, Tensor]:
    found: Dict[str, Tensor] = {}
    for name in batches[0].keys():
        parts: List[Tensor] = []
        for batch in batches:
            parts.append(batch[name])
        found[name] = torch.cat(parts)
    return found


def unpacked(x: Tensor, ends: List[int]) -> List[Tensor]:
    found: List[Tensor] = []
    for i in range(len(ends) - 1):
        found.append(x[ends[i] : ends[i + 1]])
    return found


def heads(xs: List[Tensor], count: int) -> List[Tensor]:
    return [x.view(x.size(0), count, -1).transpose(0, 1) for x in xs]


def histogram(x: Tensor, bins: int) -> Tensor:
    found = torch.zeros(bins, dtype=torch.int64)
    for i in range(x.size(0)):
        found[min(max(int(x[i] * bins), 0), bins - 1)] += 1
    return found


def in_order(numbers: List[float]) -> List[float]:
    return sorted(numbers)


def swing(s: Tensor, action: int) -> Tuple[Tensor, float, bool]:
    x, v, angle, turn = float(s[0]), float(s[1]), float(s[2]), float(s[3])
    push = ((10.0 if action == 1 else -10.0) + 0.05 * turn * turn * angle) / 1.1
    bend = (9.8 * angle - push) / (0.5 * (4.0 / 3.0 - 0.1 / 1.1))
    v_after = v + 0.02 * (push - 0.05 * bend / 1.1)
    done = abs(x) > 2.4 or abs(angle) > 0.2
    return torch.tensor([x + 0.02 * v, v_after, angle + 0.02 * turn, turn + 0.02 * bend]), 1.0, done


def program(function, *arguments):
    """A function, and what it is called with."""
    return lambda: (function, torch.jit.script(function), arguments)


def batches(count):
    """Batches of three tensors each."""
    return [
        {"a": torch.arange(32.0).view(8, 4) + i, "b": torch.arange(8.0) * i, "c": torch.ones(8, 4)}
        for i in range(count)
    ]


PROGRAMS = {
    "collate": program(collate, [(torch.ones(3 + i % 5, 8) * i, i) for i in range(16)]),
    "by_name": program(
        by_name, [f"n{i % 5}" for i in range(40)], [torch.ones(4) * i for i in range(40)]
    ),
    "masked": program(masked, batches(1)[0], torch.arange(8.0)),
    "merged": program(merged, batches(6)),
    "unpacked": program(unpacked, torch.arange(50.0), [0, 5, 9, 20, 21, 30, 44, 50]),
    "heads": program(heads, [torch.arange(32.0).view(4, 8) for _ in range(6)], 2),
    "histogram": program(histogram, torch.arange(200.0) * 7 % 200 / 200, 16),
    "in_order": program(in_order, [i * 7919 % 1009 / 7 for i in range(200)]),
    "swing": program(swing, torch.tensor([0.01, 0.02, 0.03, 0.04]), 1),
}
