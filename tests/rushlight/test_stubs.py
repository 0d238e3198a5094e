"""The stubs and annotations: up to date, and of use to type checkers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import typed_program

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


@torch.jit.script
def times(x: torch.Tensor, by: int = 2) -> torch.Tensor:
    return x * by


reveal_type(times)
reveal_type(times(x))
times("x")
reveal_type(torch.jit.script(torch.nn.Linear(3, 3)))
reveal_type(torch.jit.script(torch.nn.Linear(3, 3)).graph)
reveal_type(torch.jit.load("model.pt"))
reveal_type(torch.nn.LSTM(3, 3)(x))
reveal_type(torch.nn.ModuleList([torch.nn.ReLU()])[0])
reveal_type(list(torch.nn.ReLU().modules()))
"""


def test_the_stubs_are_what_the_tool_makes() -> None:
    subprocess.run([sys.executable, ROOT / "tools" / "make_stubs.py", "--check"], check=True)


def checked(*command: str, cwd: Path) -> list[str]:
    """What a type checker says of programs in a folder, in lines."""
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=cwd,
        env={**os.environ, "MYPYPATH": str(ROOT), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    return (done.stdout + done.stderr).splitlines()


needs_mypy = pytest.mark.skipif(find_spec("mypy") is None, reason="mypy is not installed")
needs_pyright = pytest.mark.skipif(find_spec("pyright") is None, reason="pyright is not installed")


def programs(folder: Path) -> Path:
    """The examples and a typed program, in a folder of their own."""
    for file in [*(ROOT / "examples").glob("*.py"), Path(__file__).with_name("typed_program.py")]:
        shutil.copy(file, folder)
    return folder


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, list[str]]:
    """What mypy says of `PROGRAM` (True) and of programs that are right: reading the library takes
    it seconds, so it runs once."""
    folder = programs(tmp_path_factory.mktemp("typed"))
    (folder / "revealing.py").write_text(PROGRAM, encoding="utf-8")
    options = "--strict --follow-imports=silent --no-error-summary --hide-error-codes".split()
    lines = checked("mypy", *options, f"--cache-dir={os.devnull}", ".", cwd=folder)
    split: dict[bool, list[str]] = {True: [], False: []}
    for line in lines:
        split[line.startswith("revealing.py:")].append(line)
    return split


@needs_mypy
def test_what_a_type_checker_learns(told: dict[bool, list[str]]) -> None:
    lines = [line.split(": ", 2)[2] for line in told[True]]
    revealed = [line.split('"')[1] for line in lines if line.startswith("Revealed")]
    shown = [word.replace("builtins.", "").replace("typing.", "") for word in revealed]
    tensor = "rushlight.ops.tensors.tensor.Tensor"
    module = "rushlight.jit.module.RecursiveScriptModule"
    assert shown == [
        *[tensor] * 5,
        "rushlight.ops.memory.dtype.DType",
        "rushlight.ops.tensors.sizes.Size",
        "bool",
        f"rushlight.jit.function.ScriptFunction[[x: {tensor}, by: int =], {tensor}]",
        tensor,
        f"{module}[[input: {tensor}], {tensor}]",
        "rushlight._C.handles.Graph",
        "rushlight.jit.module.ScriptModule",
        f"tuple[{tensor}, tuple[{tensor}, {tensor}]]",
        "rushlight.nn.modules.module.Module",
        "list[rushlight.nn.modules.module.Module]",
    ]
    errors = [line for line in lines if not line.startswith("Revealed")]
    assert errors == [
        'Argument 1 to "tanh" has incompatible type "str"; expected "Tensor"',
        'Module has no attribute "tahn"; maybe "tan"?',
        'Argument 1 to "__call__" of "ScriptFunction" has incompatible type "str"; '
        'expected "Tensor"',
    ]


@needs_mypy
def test_mypy_finds_no_errors_in_right_programs(told: dict[bool, list[str]]) -> None:
    assert told[False] == []


@needs_pyright
def test_pyright_finds_no_errors_in_right_programs(tmp_path: Path) -> None:
    settings = f'{{"extraPaths": ["{ROOT}"]}}'
    (programs(tmp_path) / "pyrightconfig.json").write_text(settings, encoding="utf-8")
    lines = checked("pyright", ".", cwd=tmp_path)
    assert lines[-1:] == ["0 errors, 0 warnings, 0 informations"], lines


@pytest.mark.filterwarnings("ignore")  # of numbers that a trace keeps
def test_the_typed_program_runs(tmp_path: Path) -> None:
    typed_program.main(tmp_path)
