"""rushlight/__init__.pyi: up to date, and of use to a type checker."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

PROGRAM = """\
import rushlight as torch

x = torch.zeros(2, 3, dtype=torch.float32)
reveal_type(x)
reveal_type(torch.max(x, 0).values)
reveal_type(x.tanh() + 1)
reveal_type(x.view(3, 2)[0])
reveal_type(torch.tensor([1.0]).topk(1).indices)
reveal_type(torch.float32)
reveal_type(x.shape)
reveal_type(x.is_contiguous())
torch.tanh("x")
torch.tahn(x)
"""


def test_the_stub_is_what_the_tool_makes() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "make_stubs.py", "--print"],
        capture_output=True,
        check=True,
    )
    kept = (ROOT / "rushlight" / "__init__.pyi").read_bytes()
    assert done.stdout.splitlines() == kept.splitlines(), "run tools/make_stubs.py"


@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="mypy is not installed")
def test_what_a_type_checker_learns(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    options = ["--follow-imports=silent", "--no-error-summary", "--hide-error-codes"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, "program.py"],
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [line.split(": ", 2)[2] for line in done.stdout.splitlines()]
    revealed = [line.split('"')[1] for line in lines if line.startswith("Revealed")]
    tensor = "rushlight.Tensor"
    assert revealed == [
        *[tensor] * 5,
        "rushlight.ops.memory.dtype.DType",
        "rushlight.ops.tensors.sizes.Size",
        revealed[-1],
    ]
    assert revealed[-1] in ("bool", "builtins.bool")
    errors = [line for line in lines if not line.startswith("Revealed")]
    assert errors == [
        'Argument 1 to "tanh" has incompatible type "str"; expected "Tensor"',
        'Module has no attribute "tahn"; maybe "tan"?',
    ]
