"""What was loaded is freed when nobody holds it any more."""

from __future__ import annotations

import gc
import io
import weakref

import rushlight as torch
from rushlight.typecheck.definitions.functions import Function


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)
        self.sizes = [1, 2]

    def forward(self, x: torch.Tensor, times: int = 2) -> torch.Tensor:
        for _ in range(times):
            x = self.linear(x)
        return x


def test_a_loaded_module_leaves_nothing_behind() -> None:
    archive = torch.jit.script(Model()).save_to_buffer()
    held: list[weakref.ref[Function]] = []
    for _ in range(3):
        loaded = torch.jit.load(io.BytesIO(archive))
        for _ in range(3):  # on the machine, then by its plan
            loaded(torch.ones(3))
        loaded.sizes = [3]
        function = next(iter(loaded._c.cls.methods.values()))
        assert isinstance(function, Function)
        held.append(weakref.ref(function))
        del loaded, function
    gc.collect()
    assert [reference() for reference in held[:-1]] == [None, None]  # the last call is remembered
