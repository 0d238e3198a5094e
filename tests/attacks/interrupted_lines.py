"""Attacks by an interrupt wherever Python looks for one amid saving, loading, scripting and the like.

After each interrupt nothing is switched that was not, no file is left behind or half written, and
the same job gives what it gave before.
"""

from __future__ import annotations

import gc
import io
import itertools
import linecache
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from attacks_on_threads import FAMILY
from harness import Broken
from places import interrupted, interruptible

__all__: list[str] = []

Job = tuple[Callable[[], object], Callable[[], object]]
"""What is interrupted, and what is looked at afterwards, which must stay the same."""

NUMBERS = itertools.count()


def _net() -> Any:
    import rushlight as torch

    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a = torch.nn.Linear(6, 5)
            self.b = torch.nn.BatchNorm1d(5)
            self.c = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Linear(5, 3))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            for i in range(2):
                x = x + i
            return self.c(self.b(self.a(x)))

    torch.manual_seed(0)
    return Net().eval()


def _given() -> Any:
    import rushlight as torch

    return torch.linspace(-1, 1, 24).reshape(4, 6)


def _bits(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(name): _bits(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_bits(each) for each in value]
    return value.detach().numpy().tobytes() if hasattr(value, "detach") else value


def saving() -> Job:
    import rushlight as torch

    module: Any = torch.jit.script(_net())
    module(_given())
    return lambda: module.save("m.pt"), Path("m.pt").read_bytes


def saving_for_mobiles() -> Job:
    import rushlight as torch

    module: Any = torch.jit.script(_net())
    return lambda: module._save_for_lite_interpreter("m.ptl"), Path("m.ptl").read_bytes


def saving_weights() -> Job:
    import rushlight as torch

    weights = _net().state_dict()
    return lambda: torch.save(weights, "w.pt"), Path("w.pt").read_bytes


def saving_safetensors() -> Job:
    from rushlight.safetensors import save_file

    weights = dict(_net().state_dict())
    return lambda: save_file(weights, "w.safetensors"), Path("w.safetensors").read_bytes


def saving_a_package() -> Job:
    import rushlight as torch

    def save() -> None:
        with torch.package.PackageExporter("p.pt") as package:
            package.save_pickle("a", "x.pkl", {"x": _given()})
            package.save_text("a", "t.txt", "hello")

    return save, Path("p.pt").read_bytes


def _loading(trust: str) -> Job:
    import rushlight as torch

    module: Any = torch.jit.script(_net())
    buffer = module.save_to_buffer()

    def load() -> Any:
        loaded: Any = torch.jit.load(io.BytesIO(buffer), trust=trust)
        return _bits(loaded(_given())), loaded.code

    return load, load


def loading_for_mobiles() -> Job:
    import rushlight as torch

    module: Any = torch.jit.script(_net())
    buffer = module._save_to_buffer_for_lite_interpreter()

    def load() -> Any:
        return _bits(torch.jit.mobile._load_for_lite_interpreter(io.BytesIO(buffer))(_given()))

    return load, load


def loading_weights() -> Job:
    import rushlight as torch

    sink = io.BytesIO()
    torch.save(_net().state_dict(), sink)

    def load() -> Any:
        return _bits(torch.load(io.BytesIO(sink.getvalue())))

    return load, load


def _function() -> Any:
    """A live function in a file of its own, which was never seen before."""
    number = next(NUMBERS)
    text = f"""import rushlight as torch
from typing import Dict, List
def outer{number}(x: torch.Tensor, k: List[int], d: Dict[str, torch.Tensor]) -> torch.Tensor:
    for i in k:
        x = inner{number}(x) * i
    return x + d['a']
def inner{number}(x: torch.Tensor) -> torch.Tensor:
    if bool(x.sum() > 1):
        return x + 1
    return torch.relu(x) - 1
"""
    file = f"<live{number}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    module = sys.modules[f"live{number}"] = ModuleType(f"live{number}")
    module.__file__ = file
    exec(compile(text, file, "exec"), vars(module))
    return getattr(module, f"outer{number}")


def scripting_functions() -> Job:
    import rushlight as torch

    last: list[Any] = [_function()]

    def script() -> Any:
        last[0] = _function()
        return look()

    def look() -> Any:
        return _bits(torch.jit.script(last[0])(_given(), [1, 2, 3], {"a": _given()}))

    return script, look


def scripting_modules() -> Job:
    import rushlight as torch

    last: list[Any] = [_net()]

    def script() -> Any:
        last[0] = _net()
        return look()

    def look() -> Any:
        return _bits([torch.jit.script(last[0])(_given()), last[0](_given())])

    return script, look


def tracing() -> Job:
    import rushlight as torch

    net = _net()

    def trace() -> Any:
        return _bits([torch.jit.trace(net, _given())(_given()), net(_given())])

    return trace, trace


def freezing() -> Job:
    import rushlight as torch

    module: Any = torch.jit.script(_net())
    module(_given())

    def freeze() -> Any:
        frozen = torch.jit.optimize_for_inference(torch.jit.freeze(module))
        return _bits([frozen(_given()), module(_given())])

    return freeze, freeze


def copying() -> Job:
    import copy

    import rushlight as torch

    module: Any = torch.jit.script(_net())

    def look() -> Any:
        return _bits([copy.deepcopy(module)(_given()), module(_given())])

    return look, look


JOBS: dict[str, Callable[[], Job]] = {
    "saving": saving,
    "saving for mobiles": saving_for_mobiles,
    "saving weights": saving_weights,
    "saving safetensors": saving_safetensors,
    "saving a package": saving_a_package,
    "loading": partial(_loading, "full"),
    "loading without trust": partial(_loading, "none"),
    "loading for mobiles": loading_for_mobiles,
    "loading weights": loading_weights,
    "scripting functions": scripting_functions,
    "scripting modules": scripting_modules,
    "tracing": tracing,
    "freezing": freezing,
    "copying": copying,
}


def _state() -> list[object]:
    """What contexts and jobs change while they last."""
    import rushlight as torch
    from rushlight.interpreter.bounds.guard import active_guard
    from rushlight.ops.memory.allocation import current_ledger

    return [
        *(torch.is_grad_enabled(), torch.is_inference_mode_enabled(), active_guard()),
        *(torch.is_autocast_enabled("cpu"), torch.get_default_dtype(), torch.get_num_threads()),
        *(current_ledger().is_open, torch.jit.is_tracing(), sys.getrecursionlimit()),
        gc.isenabled(),
        sorted(os.listdir()),
    ]


def _attack(make: Callable[[], Job], step: int) -> None:
    job, look = make()
    for _ in range(3):
        job()
    expected, state = look(), _state()
    for _ in range(2):
        places = interruptible(job)
    missed = 0
    for place in places[::step]:
        told = interrupted(job, place)
        missed += told == "no" and place in interruptible(job)  # else the job goes another way now
        if told not in ("yes", "no"):
            raise Broken(f"an interrupt at {place} became something else: {told}")
        if _state() != state:
            raise Broken(f"after an interrupt at {place}: {_state()}, before {state}")
        try:
            found = look()
        except Exception as error:
            raise Broken(f"after an interrupt at {place}: {error!r}") from error
        if found != expected:
            raise Broken(f"after an interrupt at {place} there is something else")
    if missed > 0.1 * len(places[::step]):
        raise Broken(f"of {len(places[::step])} interrupts {missed} did not come")


for name, make in JOBS.items():
    FAMILY.attack(f"interrupts amid {name}", seconds=200.0, long=True)(partial(_attack, make, 97))
    FAMILY.attack(f"interrupts amid {name}, every line", seconds=3000.0, long=True)(
        partial(_attack, make, 1)
    )
