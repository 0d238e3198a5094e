"""Where llvmlite is not installed everything works, slower."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

PROGRAM = """
import importlib.util

known = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: (
    None if name.partition(".")[0] == "llvmlite" else known(name, *rest)
)

import rushlight as torch
from rushlight.interpreter.running.invoking import tiers_of


@torch.jit.script
def numbers(n: int):
    found = [0]
    found.clear()
    for i in range(n):
        found.append(i * i)
    return found


@torch.jit.script
def tensors(x: torch.Tensor, n: int):
    total, out = 0.0, torch.zeros(n)
    for i in range(n):
        total += float(x[i])
        out[i] = total
    for _ in range(n):
        x = torch.tanh(x * (x @ x)) * 0.5 + x[0]
    return x, out, total


for _ in range(60):
    assert numbers(4) == [0, 1, 4, 9]
    x, out, total = tensors(torch.ones(3), 3)
    assert out.tolist() == [1.0, 2.0, 3.0] and total == 3.0
    assert torch.nn.functional.softmax(torch.ones(2, 3), -1).sum().item() == 2.0
print(tiers_of(numbers._rushlight_function).way().why_not_native)
"""


@pytest.mark.parametrize("mode", ["", "now"])
def test_programs_run_without_a_compiler(mode: str, tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, str(file)],
        env={"RUSHLIGHT_NATIVE": mode, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "nothing can be compiled here\n"
