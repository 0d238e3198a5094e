"""How long opening an archive takes, here and in PyTorch.

    python benchmarks/load.py [PYTHON_WITH_TORCH]

Archives are made: a convolutional network of the size of ResNet-18, MobileNetV2, an encoder of
texts, an LSTM, and a program of 1,500 lines.  Each is opened and called once in fresh processes of
one thread, after the import of all that opens archives, from byte code and with caches that earlier
processes have filled; the best of six is told in seconds of the processor, with the most memory
the process had, and how much of it opening and calling came to.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

MAKE = """
import sys
sys.path[:0] = [{root!r} + each for each in ("/benchmarks/programs", "/benchmarks", "")]
import rushlight as torch
from transformers import texts
from vision import PROGRAMS
nn = torch.nn

class Block(nn.Module):
    def __init__(self, inner, outer, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inner, outer, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outer)
        self.conv2 = nn.Conv2d(outer, outer, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outer)
        self.short = nn.Conv2d(inner, outer, 1, stride, bias=False)
    def forward(self, x):
        y = torch.relu(self.bn1(self.conv1(x)))
        return torch.relu(self.bn2(self.conv2(y)) + self.short(x))

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        sizes = [(64, 64, 1), (64, 64, 1), (64, 128, 2), (128, 128, 1), (128, 256, 2),
                 (256, 256, 1), (256, 512, 2), (512, 512, 1)]
        self.first = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
        self.blocks = nn.Sequential(*[Block(*size) for size in sizes])
        self.last = nn.Linear(512, 1000)
    def forward(self, x):
        x = self.blocks(torch.relu(self.first(x)))
        return self.last(x.mean(2).mean(2))

class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(1000, 64)
        self.steps = nn.LSTM(64, 64, num_layers=2, batch_first=True, bidirectional=True)
        self.tags = nn.Linear(128, 20)
    def forward(self, x):
        return self.tags(self.steps(self.words(x))[0])

torch.jit.script(Net().eval()).save({folder!r} + "/network.pt")
PROGRAMS["mobilenetv2_b1"]()[1].save({folder!r} + "/mobilenetv2.pt")
texts(1)()[1].save({folder!r} + "/encoder.pt")
torch.jit.script(Tagger().eval()).save({folder!r} + "/lstm.pt")
lines = ["def forward(x):"]
for i in range(500):
    lines += ["    x = torch.neg(x)", "    if bool(x.sum() > 3):", "        x = x + 1"]
unit = torch.jit.CompilationUnit("\\n".join([*lines, "    return x"]))
torch.jit.save(unit.forward, {folder!r} + "/program.pt")
"""

MEASURE = """
import sys, time, json, resource
sys.path.insert(0, {root!r})
import {module} as torch
inputs = {inputs}
load = torch.jit.load
def memory():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
before = memory()
started = time.process_time()
module = load({path!r})
loaded = time.process_time()
module(*inputs)
print(json.dumps([loaded - started, time.process_time() - loaded, memory(), memory() - before]))
"""

INPUTS = {
    "network": "(torch.ones(1, 3, 64, 64),)",
    "mobilenetv2": "(torch.ones(1, 3, 224, 224),)",
    "encoder": "(torch.ones(1, 128, dtype=torch.int64), torch.tensor([60]))",
    "lstm": "(torch.ones(2, 16, dtype=torch.int64),)",
    "program": "(torch.ones(3),)",
}


def measure(python: str, module: str, path: Path, rounds: int = 6) -> list[float]:
    """Seconds to load, seconds of the first call, megabytes of the process, megabytes more than
    before loading: the least of all rounds."""
    root = str(ROOT) if module == "rushlight" else str(ROOT / "benchmarks")
    text = MEASURE.format(root=root, module=module, path=str(path), inputs=INPUTS[path.stem])
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    environment |= {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(path.parent / "code")}
    found = []
    for _ in range(rounds):
        done = subprocess.run(
            [python, "-c", text], capture_output=True, text=True, check=True, env=environment
        )
        found.append(json.loads(done.stdout))
    return [min(column) for column in zip(*found, strict=True)]


def main() -> None:
    """Make the archives, measure, print a table."""
    pythons = [(sys.executable, "rushlight"), *((p, "torch") for p in sys.argv[1:2])]
    with tempfile.TemporaryDirectory() as folder:
        make = MAKE.format(root=str(ROOT), folder=folder)
        script = Path(folder) / "make.py"  # scripting reads the source of what it compiles
        script.write_text(make)
        subprocess.run([sys.executable, str(script)], check=True)
        print(f"{'archive':12} {'by':10} {'load':>9} {'1st call':>9} {'memory':>9} {'more':>9}")
        for path in sorted(Path(folder).glob("*.pt")):
            for python, module in pythons:
                load, call, memory, more = measure(python, module, path)
                times = f"{load:8.3f}s {call:8.3f}s"
                print(f"{path.stem:12} {module:10} {times} {memory:6.0f} MB {more:6.0f} MB")


if __name__ == "__main__":
    main()
