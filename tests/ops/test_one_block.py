"""An operator of elements is one block: its gradient, its precisions and its kernel follow."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import rushlight as torch
from rushlight.ops.memory.dtype import Array
from rushlight.ops.table.declare import with_twin
from rushlight.ops.table.formula import formula
from rushlight.ops.table.inline import ON_FLOAT32, inline


@with_twin(
    "aten::twofold(Tensor self) -> Tensor",
    autocast="full",
    autocast_in_graphs="lower",
    formula=formula("multiply", 0, 0),
    gradients={"self": lambda g, self: g * 2 * self},
    inline=inline("({0} * {0})", ON_FLOAT32),
)
def twofold(self: Array) -> Array:
    return self * self


@torch.jit.script
def scripted(x: torch.Tensor) -> torch.Tensor:
    return torch.twofold(x) + x.twofold()


@torch.jit.script
def under_autocast(x: torch.Tensor) -> torch.Tensor:
    with torch.autocast("cpu", torch.bfloat16):
        y = torch.twofold(x)
    return y


x = torch.tensor([1.5, -2.0], requires_grad=True)
y = torch.twofold(x)
assert y.grad_fn.name() == "TwofoldBackward0"
y.sum().backward()
assert x.grad.tolist() == [3.0, -4.0]
(once,) = torch.autograd.grad(torch.twofold(x).sum(), x, create_graph=True)
assert torch.autograd.grad(once.sum(), x)[0].tolist() == [2.0, 2.0]
assert x.detach().clone().twofold_().tolist() == [2.25, 4.0]
z = x * 1
z.twofold_()
assert torch.autograd.grad(z.sum(), x)[0].tolist() == [3.0, -4.0]
for _ in range(30):
    assert scripted(x).tolist() == [4.5, 8.0]
x.grad = None
scripted(x).sum().backward()
assert x.grad.tolist() == [6.0, -8.0]
with torch.autocast("cpu", torch.bfloat16):
    assert torch.twofold(x.to(torch.bfloat16)).dtype == torch.float32
assert under_autocast(x).dtype == torch.bfloat16
large = torch.ones(5000) * 3
assert torch.twofold(large, out=torch.empty(0)).tolist() == [9.0] * 5000
assert torch.twofold(torch.empty(3, device="meta")).shape == (3,)
assert torch.vmap(torch.twofold)(torch.ones(2, 2)).tolist() == [[1.0, 1.0]] * 2
print("all of it")
"""


def test_one_block_says_all(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(PROGRAM, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    words = [sys.executable, str(file)]
    done = subprocess.run(words, capture_output=True, text=True, env=environment)
    assert (done.stdout, done.stderr) == ("all of it\n", "")
