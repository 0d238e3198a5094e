"""Attacks on sameness: other processes, hash seeds, thread counts, orders of work."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from harness import ROOT, Broken, Family

FAMILY = Family(
    "determinism",
    "The same program gives the same bits, the same texts and the same bytes of archives in every "
    "process on one machine, whatever the hash seed and the way it is run; the number of threads "
    "changes at most the rounding of matrix products, which the matrix library shares out.",
)

PRELUDE = """
import sys, io, hashlib
import rushlight as torch
import rushlight.nn.functional as F
torch.manual_seed(7)
def told(*values):
    h = hashlib.sha256()
    for v in values:
        h.update(v if isinstance(v, bytes) else (v.detach().numpy().tobytes() if isinstance(v, torch.Tensor) else str(v).encode()))
    print(h.hexdigest())
"""

FUNCTION = """
def f(x, n: int):
    d = {"a": 1, "b": 2, "c": 3}
    for k in d.keys():
        x = x + d[k] * n
    s = {"z": x, "y": x * 2}
    for i in range(n):
        x = torch.tanh(x) + s["y"]
    return x
"""

MODEL = """
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 8, 3)
        self.norm = torch.nn.BatchNorm2d(8)
        self.lstm = torch.nn.LSTM(16, 16, batch_first=True)
        self.names = {"b": 1, "a": 2}
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = F.relu(self.norm(self.conv(x))).flatten(2)[:, :, :16]
        z, _ = self.lstm(y)
        return z.softmax(-1) + self.names["a"]
"""

PROGRAMS = {
    "a script's results": FUNCTION + "told(torch.jit.script(f)(torch.rand(50), 5))",
    "a script's graph": FUNCTION + "told(torch.jit.script(f).graph, torch.jit.script(f).code)",
    "a model's archive": MODEL + "told(torch.jit.script(Net()).save_to_buffer())",
    "a model's results": MODEL
    + "m = torch.jit.script(Net().eval())\nx = torch.rand(2, 3, 20, 20)\ntold(*[m(x) for i in range(4)])",
    "a model's gradients": MODEL
    + "m = Net()\nm(torch.rand(2, 3, 20, 20)).sum().backward()\ntold(*[p.grad for p in m.parameters()])",
    "a frozen model's graph": MODEL
    + "told(torch.jit.freeze(torch.jit.script(Net().eval())).inlined_graph)",
    "a trace": MODEL + "told(torch.jit.trace(Net().eval(), torch.rand(2, 3, 20, 20)).code)",
    "random numbers": "told(torch.rand(1000), torch.randn(1000), torch.randperm(1000), torch.randint(9, (50,)), torch.empty(100).exponential_())",
    "large sums": "x = torch.rand(1000, 1000)\ntold(x.sum(), x.sum(0), x.sum(1), x.mean(), x.var(), x.norm(), x.cumsum(0), x.logsumexp(1))",
    "large pointwise": "x = torch.rand(1000, 1000)\ntold(x.tanh(), x.exp(), x.sigmoid(), F.gelu(x), x.log1p(), x.pow(1.5), x.sin())",
    "large products": "x = torch.rand(300, 300)\ntold(x @ x, torch.linalg.inv(x), torch.linalg.svdvals(x))",
    "convolutions": "x = torch.rand(2, 16, 40, 40)\ntold(*[F.conv2d(x, torch.rand(16, 16, k, k), padding=k // 2, stride=s) for k in (1, 3, 5) for s in (1, 2)])",
    "pools and norms": "x = torch.rand(4, 16, 40, 40)\ntold(F.max_pool2d(x, 3), F.avg_pool2d(x, 3), F.layer_norm(x, (40, 40)), F.group_norm(x, 4), F.batch_norm(x, torch.zeros(16), torch.ones(16)))",
    "scatter and index": "i = torch.randint(100, (50000,))\nx = torch.rand(50000)\ntold(torch.zeros(100).scatter_add_(0, i, x), torch.zeros(100).index_add_(0, i, x), torch.bincount(i, x))",
    "sorts": "x = torch.randint(50, (20000,)).float()\ntold(*x.sort(), *x.topk(100), *x.sort(stable=True), x.unique())",
    "training": MODEL
    + "m = Net()\no = torch.optim.Adam(m.parameters())\nfor i in range(3):\n  o.zero_grad()\n  m(torch.rand(2, 3, 20, 20)).pow(2).sum().backward()\n  o.step()\ntold(*m.parameters())",
    "an error's text": "class N(torch.nn.Module):\n  def forward(self, x):\n    return x.nothing + y\ntry:\n  torch.jit.script(N())\nexcept Exception as e:\n  told(str(e).replace(__file__, ''))",
    "a weights file": "torch.save({'b': torch.ones(3), 'a': [torch.zeros(2)]}, sys.argv[1] + '.w')\ntold(open(sys.argv[1] + '.w', 'rb').read())",
    "a mobile file": MODEL
    + "told(torch.jit.script(Net().eval())._save_to_buffer_for_lite_interpreter())",
    "native loops": "def g(n: int) -> float:\n  t = 0.1\n  for i in range(n):\n    t = t * 1.0001 + i % 3\n  return t\ns = torch.jit.script(g)\nimport time\nb = time.time()\nr = []\nwhile time.time() - b < 2: r.append(s(10000))\nassert len(set(r)) == 1\ntold(r[0])",
}
WAYS: dict[str, list[dict[str, str]]] = {
    "hash seeds": [{"PYTHONHASHSEED": "0"}, {"PYTHONHASHSEED": "1"}, {"PYTHONHASHSEED": "12345"}],
    "threads": [{"OMP_NUM_THREADS": "1"}, {"OMP_NUM_THREADS": "2"}, {"OMP_NUM_THREADS": "3"}],
}
PLANS = [{"RUSHLIGHT_PLAN": "off"}, {"RUSHLIGHT_NATIVE": "off"}, {"RUSHLIGHT_NATIVE": "now"}]


def _told(program: str, settings: dict[str, str]) -> str:
    Path("program.py").write_text(PRELUDE + program + "\n")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **settings}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "program.py", "program"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=100,
    )
    if done.returncode:
        raise Broken(done.stderr[-1000:])
    return done.stdout


def _compared(program: str, ways: list[dict[str, str]]) -> Callable[[], None]:
    def run() -> None:
        told = {str(way): _told(program, way) for way in ways}
        if len(set(told.values())) != 1:
            raise Broken(f"processes differ: {told}")

    return run


for name, program in PROGRAMS.items():
    for way, settings in WAYS.items():
        if name == "large products" and way == "threads":
            continue  # the matrix library rounds by its own threads
        short = name == "a model's archive" and way == "hash seeds"
        FAMILY.attack(f"{name}, {way}", seconds=300.0, long=not short)(_compared(program, settings))
for name in ("a script's results", "a model's results", "native loops"):
    FAMILY.attack(f"{name}, ways of running", seconds=300.0, long=True)(
        _compared(PROGRAMS[name], [{}, *PLANS])
    )
