"""Programs whose annotations are no text but evaluated: names local to a function, and sizes."""

# ruff: noqa: UP045  (the annotations are to be objects)
from collections.abc import Callable
from typing import Any, Optional

import rushlight as torch
from rushlight.nn.common_types import _size_2_t, _size_3_t


def made() -> Callable[..., Any]:
    """A compiled function that uses a class with annotations by local names."""
    device_t = torch.device
    number_t = int

    class Kept:
        def __init__(self, number: number_t) -> None:
            self.number = number

        def given(self, device: device_t) -> device_t:
            return device

    def use(device: torch.device) -> tuple[torch.device, int]:
        kept = Kept(3)
        return kept.given(device), kept.number

    scripted: Callable[..., Any] = torch.jit.script(use)
    return scripted


def of_sizes(x: _size_2_t, y: Optional[_size_3_t] = None) -> int:
    total = x[0] + x[1]  # type: ignore[index]
    if y is not None:
        total += y[0] + y[1] + y[2]  # type: ignore[index]
    return total
