"""Script a module, run it, read what was compiled, save it, load it, run it again.

The same file runs with PyTorch: replace the import by `import torch`.
"""

import tempfile
from pathlib import Path

import rushlight as torch


class Gate(torch.nn.Module):
    def __init__(self, n: int, m: int):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.rand(n, m))

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        if input.sum() > 0:
            output = self.weight.mv(input)
        else:
            output = self.weight + input
        return output


torch.manual_seed(0)
gate = torch.jit.script(Gate(2, 3))
x = torch.tensor([1.0, 2.0, 3.0])
print("result:", gate(x))
print("graph:", gate.graph, sep="\n")
print("code:", gate.code, sep="\n")

with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "gate.pt"
    gate.save(str(file))
    loaded = torch.jit.load(str(file))

print("loaded:", loaded(x))
assert torch.equal(loaded(x), gate(x))
