"""What eager calls on small tensors cost, beside torch's.

    python benchmarks/eager.py --torch PYTHON [--only TEXT]

Each library runs in processes of its own, in turn, CPU time of one thread; the best of the rounds
counts, since a busy machine only adds.  Exit status 1 if a call costs more than torch's.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from typing import Any

from in_turn import Call, Times, add_options, both, is_worker, measured, print_table

# What the expressions below see; a number behind a letter is a size of the tensor.
NAMES = """
x = torch.linspace(-1, 1, 16)
y = torch.linspace(2, 3, 16)
m = torch.linspace(-1, 1, 16).view(4, 4).clone()
n = torch.linspace(2, 3, 16).view(4, 4).clone()
b = torch.linspace(-1, 1, 64).view(4, 4, 4).clone()
i = torch.arange(16)
s = torch.tensor(0.5)
positive = x > 0
places = torch.tensor([0, 3, 2])
rows = torch.tensor([[0, 1, 2, 3], [3, 2, 1, 0]])
order = torch.tensor([3.0, 1.0, 2.0])
square = m > 0
weight = torch.linspace(-1, 1, 64).view(4, 16).clone()
bias = torch.zeros(4)
numbers = [1.0, 2.0, 3.0]
classes = torch.tensor([0, 1, 2, 3])
relu = nn.ReLU()
dense = nn.Linear(16, 4).requires_grad_(False)
layers = nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 4)).requires_grad_(False).eval()
norm = nn.LayerNorm(16).requires_grad_(False)
dropped = nn.Dropout().eval()
table = nn.Embedding(10, 4).requires_grad_(False)
class Nothing(nn.Module):
    def forward(self, x):
        return x
nothing = Nothing()
cell = nn.LSTMCell(16, 16).requires_grad_(False)
two = torch.zeros(2, 16)
half = x.to(torch.bfloat16)
"""

CALLS = """
x + y
x - y
x * y
x / y
x * 2.0
x - 1
2 - x
i + 1
i // 3
i % 3
x % y
m + x[:4]
m + n
x + s
s + 1
s * s
-x
x ** 2
x ** 0.5
i & 3
x == y
x != 0
x > 0
x <= y
~positive
positive & positive
x @ y
m @ n
m @ bias
b @ b
torch.mm(m, n)
torch.bmm(b, b)
torch.matmul(m, n)
torch.add(x, y)
torch.add(x, y, alpha=2)
torch.tanh(x)
torch.exp(x)
torch.log(y)
torch.sqrt(y)
torch.sigmoid(x)
torch.relu(x)
torch.sin(x)
torch.abs(x)
x.tanh()
x.exp()
x.abs()
x.neg()
x.square()
x.rsqrt()
x.round()
x.floor()
torch.where(positive, x, y)
torch.where(positive, x, 0.0)
torch.clamp(x, 0, 1)
x.clamp(min=0)
x.masked_fill(positive, 0.0)
torch.maximum(x, y)
torch.minimum(x, y)
torch.lerp(x, y, 0.5)
torch.addcmul(x, x, y)
torch.outer(x, y)
x.add_(0)
x.mul_(y).div_(y)
x.clamp_(-1, 1)
x.copy_(x)
two.zero_()
two.fill_(1.0)
x[3]
x[-1]
x[2:5]
x[::2]
m[1]
m[:, 1]
m[1, 2]
m[..., 0]
m[None]
m[1:3, 1:3]
x[places]
m[places]
m[[0, 2]]
x[[0, 2, 3]]
x[positive]
m[places, places]
x.__setitem__(3, 1.0)
x.__setitem__(3, s)
m.__setitem__(1, bias)
m.__setitem__((slice(None), 1), 0.0)
x.sum()
m.sum(0)
m.sum(1)
m.sum(dim=1, keepdim=True)
x.mean()
m.mean(1)
m.mean(dim=-1, keepdim=True)
x.max()
x.min()
m.max(1)
m.min(dim=0)
m.amax(1)
x.argmax()
m.argmax(1)
m.argmin(dim=-1)
x.prod()
x.std()
x.var()
m.var(1)
x.norm()
m.norm(dim=1)
x.all()
positive.any()
positive.all()
square.any(1)
positive.sum()
x.cumsum(0)
m.cumsum(1)
x.logsumexp(0)
x.median()
torch.softmax(x, -1)
m.softmax(1)
torch.log_softmax(x, -1)
F.softmax(m, dim=-1)
F.log_softmax(m, dim=-1)
F.relu(x)
F.gelu(x)
F.silu(x)
F.leaky_relu(x)
F.linear(x, weight)
F.linear(x, weight, bias)
F.linear(two, weight, bias)
F.layer_norm(x, (16,))
F.dropout(x, 0.5, False)
F.cross_entropy(m, classes)
F.mse_loss(x, y)
F.one_hot(classes, 5)
F.pad(x, (1, 1))
F.normalize(m, dim=1)
F.embedding(places, m)
F.cosine_similarity(x, y, dim=0)
m.t()
m.T
m.transpose(0, 1)
b.permute(2, 0, 1)
x.view(4, 4)
x.view(-1)
x.reshape(4, 4)
x.reshape(-1, 2)
m.t().reshape(-1)
m.flatten()
x.unsqueeze(0)
m.unsqueeze(-1)
m[None].squeeze(0)
x.expand(4, 16)
m.repeat(2, 1)
m.contiguous()
m.t().contiguous()
m.select(0, 1)
m.narrow(0, 1, 2)
x.unfold(0, 4, 2)
m.flip(0)
m.roll(1, 0)
m.diagonal()
m.tril()
torch.triu(m, 1)
torch.cat([x, y])
torch.cat([m, n], dim=1)
torch.cat((x, y, x, y))
torch.stack([x, y])
torch.stack([x, y], dim=1)
x.split(4)
x.chunk(4)
torch.split(x, [4, 12])
m.unbind(0)
x.sort()
order.sort(descending=True)
x.argsort()
x.topk(3)
m.topk(2, dim=1)
torch.zeros(16)
torch.zeros(4, 4)
torch.ones(16)
torch.full((4,), 2.0)
torch.empty(16)
torch.arange(16)
torch.arange(0, 16, 2)
torch.linspace(0, 1, 16)
torch.eye(4)
torch.randn(16)
torch.rand(4, 4)
torch.randint(0, 10, (4,))
torch.randperm(16)
torch.zeros_like(x)
torch.ones_like(x)
torch.empty_like(x)
torch.full_like(x, 2.0)
torch.randn_like(x)
x.new_zeros(4)
torch.tensor(1.0)
torch.tensor(3)
torch.tensor([1.0, 2.0, 3.0])
torch.tensor([[1, 2], [3, 4]])
torch.tensor(numbers, dtype=torch.float64)
s.item()
x.tolist()
m.tolist()
float(s)
int(s)
bool(s)
x[0].item()
x.numpy()
torch.from_numpy(x.numpy())
x.float()
x.long()
x.double()
x.to(torch.float32)
x.to(torch.float64)
x.to("cpu")
x.type(torch.int64)
half + half
half.float()
x.clone()
x.detach()
x.shape
x.size()
x.size(0)
m.shape[1]
len(x)
x.dim()
x.numel()
x.dtype
x.device
x.is_contiguous()
x.stride()
x.data
x.requires_grad
list(x)
x.gather(0, places)
m.gather(0, rows)
m.index_select(0, places)
x.scatter(0, places, 1.0)
m.scatter_add(0, rows, n)
m.index_add(0, places, m[:3])
x.nonzero()
x.unique()
torch.equal(x, y)
torch.allclose(x, y)
torch.isnan(x)
torch.isfinite(x)
torch.einsum("ij,jk->ik", m, n)
torch.bincount(places)
torch.searchsorted(y, x)
torch.meshgrid(x, y, indexing="ij")
torch.dot(x, y)
torch.baddbmm(b, b, b)
torch.addmm(m, m, n)
torch.broadcast_to(x, (4, 16))
torch.linalg.norm(x)
relu(x)
dense(x)
layers(x)
norm(x)
dropped(x)
table(places)
nothing(x)
cell(two)
"""


def calls() -> dict[str, Call]:
    """The calls, by what they say."""
    import rushlight as torch

    names: dict[str, Any] = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional}
    exec(NAMES, names)
    return {text: eval(f"lambda: {text}", names) for text in CALLS.strip().splitlines()}


def measure(arguments: argparse.Namespace) -> Times:
    """The nanoseconds of a call of each."""
    import rushlight as torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    chosen = {name: call for name, call in calls().items() if arguments.only in name}
    return measured(chosen, arguments, arguments.count)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Time eager calls on small tensors.")
    add_options(parser, rounds=9, count=500)
    parser.add_argument("--only", default="", help="calls that hold this text")
    arguments = parser.parse_args()
    if is_worker(arguments):
        print(json.dumps(measure(arguments)))
        return 0
    ours, theirs = both(__file__, arguments, ["--only", arguments.only])
    print_table(ours, theirs, 40)
    if not theirs:
        return 0
    ratios = [theirs[name] / ours[name] for name in ours]
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    slower = sum(ratio < 1 for ratio in ratios)
    print(f"{len(ratios)} calls, mean {mean:.2f}, {slower} slower than torch's")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
