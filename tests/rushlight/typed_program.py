"""A typed program of what people use; `test_stubs.py` has type checkers read it, and runs it."""

from __future__ import annotations

import io
import math
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from enum import Enum
from pathlib import Path
from typing import Any, Callable, Dict, Final, List, NamedTuple, Optional, Tuple, Union

import numpy as np

import rushlight as torch
import rushlight.nn as nn
import rushlight.nn.functional as F
from rushlight import Tensor, optim
from rushlight.autograd import Function
from rushlight.distributions import Categorical, Distribution, Independent, Normal, constraints
from rushlight.jit import ScriptFunction, ScriptModule
from rushlight.nn import Parameter
from rushlight.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from rushlight.optim.lr_scheduler import CosineAnnealingLR, LambdaLR
from rushlight.utils.data import DataLoader, Dataset, WeightedRandomSampler, random_split


class Kind(Enum):
    PLAIN = 0
    DEEP = 1


class Output(NamedTuple):
    scores: Tensor
    state: Optional[Tensor]
    steps: int


class Lines(Dataset[Tuple[Tensor, Tensor]]):
    def __init__(self, count: int) -> None:
        self.x = torch.linspace(-1.0, 1.0, count).unsqueeze(1)
        self.y = 3 * self.x + 0.5

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, index: int) -> Tuple[Tensor, Tensor]:
        return self.x[index], self.y[index]


class Attention(nn.Module):
    heads: Final[int]
    mask: Tensor

    def __init__(self, size: int, heads: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(size, 3 * size)
        self.out = nn.Linear(size, size)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.ones(16, 16, dtype=torch.bool).tril())

    def forward(self, x: Tensor) -> Tensor:
        b, t, c = x.shape
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q = q.view(b, t, self.heads, c // self.heads).transpose(1, 2)
        k = k.view(b, t, self.heads, c // self.heads).transpose(1, 2)
        v = v.reshape([b, t, self.heads, c // self.heads]).permute(0, 2, 1, 3)
        scores = q @ k.transpose(-2, -1) / math.sqrt(c // self.heads)
        scores = scores.masked_fill(~self.mask[:t, :t], float("-inf"))
        weights = self.dropout(F.softmax(scores, dim=-1))
        return self.out((weights @ v).transpose(1, 2).contiguous().view(b, t, c))


class Layer(nn.Module):
    def __init__(self, size: int, kind: Kind) -> None:
        super().__init__()
        self.norm = nn.LayerNorm([size])
        self.attention = Attention(size, 2)
        layers: List[nn.Module] = [nn.Linear(size, 4 * size), nn.GELU()]
        if kind is Kind.DEEP:
            layers.append(nn.Linear(4 * size, 4 * size))
        self.mlp = nn.Sequential(*layers, nn.Linear(4 * size, size))
        self.scale = Parameter(torch.full((size,), 0.1))

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.norm(x))
        return x + self.scale * self.mlp(x)


class Model(nn.Module):
    __constants__ = ["vocabulary"]

    def __init__(self, vocabulary: int, size: int, depth: int) -> None:
        super().__init__()
        self.vocabulary = vocabulary
        self.embedding = nn.Embedding(vocabulary, size, padding_idx=0)
        self.layers = nn.ModuleList(Layer(size, Kind.PLAIN) for _ in range(depth))
        self.heads = nn.ModuleDict({"main": nn.Linear(size, vocabulary)})
        self.rnn = nn.LSTM(size, size, batch_first=True)
        self.gru = nn.GRU(size, size)
        self.body = nn.Sequential(
            OrderedDict([("first", nn.Linear(size, size)), ("act", nn.ReLU(inplace=True))])
        )
        self.apply(self._init)

    @staticmethod
    def _init(module: nn.Module) -> None:
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
            if module.bias is not None:
                nn.init.zeros_(module.bias)

    def forward(self, tokens: Tensor, lengths: Optional[Tensor] = None) -> Output:
        x = self.embedding(tokens)
        for layer in self.layers:
            x = layer(x)
        out, (h, c) = self.rnn(x)
        if lengths is not None:
            packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
            run, _ = self.rnn(packed)
            out, _ = pad_packed_sequence(run, batch_first=True)
        g, hidden = self.gru(out)
        x = self.body(g + h[-1].unsqueeze(1) * c.mean())
        return Output(self.heads["main"](x), hidden, tokens.size(1))

    @torch.jit.export
    def generate(self, tokens: Tensor, steps: int, temperature: float = 1.0) -> Tensor:
        for _ in range(steps):
            scores = self(tokens).scores[:, -1, :] / temperature
            values, indices = torch.topk(scores, k=min(5, scores.size(-1)))
            picked = torch.multinomial(F.softmax(values, dim=-1), num_samples=1)
            tokens = torch.cat((tokens, indices.gather(-1, picked)), dim=1)
        return tokens

    @torch.jit.ignore
    def report(self, scores: Tensor) -> Dict[str, float]:
        return {"mean": scores.mean().item(), "max": float(scores.max())}

    @torch.jit.unused
    def debug(self, x: Tensor) -> None:
        print(x.numpy().shape, x.tolist())


class Square(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        x: Tensor = ctx.saved_tensors[0]
        return 2 * x * grad


class Scaled(Function):
    @staticmethod
    def forward(x: Tensor, by: float) -> Tensor:
        return x * by

    @staticmethod
    def setup_context(ctx: Any, inputs: Tuple[Tensor, float], output: Tensor) -> None:
        ctx.by = inputs[1]

    @staticmethod
    def vjp(ctx: Any, grad: Tensor) -> Tuple[Tensor, None]:
        return grad * ctx.by, None

    @staticmethod
    def vmap(
        info: Any, in_dims: Tuple[Optional[int], ...], x: Tensor, by: float
    ) -> Tuple[Tensor, Optional[int]]:
        return x * by, in_dims[0]


@torch.jit.script
def gelu(x: Tensor, approximate: bool = False) -> Tensor:
    if approximate:
        return 0.5 * x * (1 + torch.tanh(0.79788456 * (x + 0.044715 * x**3)))
    return x * 0.5 * (1.0 + torch.erf(x / math.sqrt(2.0)))


@torch.jit.script
def lookup(table: Dict[str, int], words: List[str]) -> List[int]:
    found: List[int] = []
    for word in words:
        if word in table:
            found.append(table[word])
    return found


@torch.jit.script
class Counter:
    def __init__(self, start: int) -> None:
        self.count = start

    def add(self, by: int) -> int:
        self.count += by
        return self.count


@torch.jit.interface
class Shaped:
    def forward(self, x: Tensor) -> Tensor:
        return x


def helper(x: Tensor, *rest: Tensor, scale: Union[int, float] = 1) -> Tuple[Tensor, int]:
    total = torch.zeros_like(x)
    for each in rest:
        total += each * scale
    total[0] = 1.0
    total[x > 0] = 0
    return total.to(torch.float64).to("cpu", non_blocking=True), total.dim()


def loss_of(model: nn.Module, batch: Tuple[Tensor, Tensor]) -> Tensor:
    x, y = batch
    return F.mse_loss(model(x), y, reduction="mean")


def train(epochs: int) -> List[float]:
    torch.manual_seed(0)
    data = Lines(64)
    first, second = random_split(data, [48, 16])
    loader = DataLoader(first, batch_size=8, shuffle=True, drop_last=True)
    model = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
    scheduler = CosineAnnealingLR(optimizer, T_max=epochs)
    history: List[float] = []
    for _ in range(epochs):
        model.train()
        for batch in loader:
            optimizer.zero_grad(set_to_none=True)
            loss = loss_of(model, (batch[0], batch[1]))
            loss.backward()
            norm = nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
            if not torch.isfinite(norm):
                continue
            optimizer.step()
            history.append(loss.item())
        scheduler.step()
        model.eval()
        with torch.no_grad():
            held = sum(
                loss_of(model, (x[None], y[None])).item()
                for x, y in DataLoader(second, batch_size=None)
            )
            history.append(held / len(second))
    for group in optimizer.param_groups:
        group["lr"] *= 0.5
    for name, parameter in model.named_parameters():
        if parameter.grad is not None and parameter.requires_grad:
            print(name, parameter.grad.norm().item(), parameter.data.std())
    LambdaLR(optimizer, lr_lambda=lambda step: 0.9**step)
    return history


def shapes(model: nn.Module) -> Iterator[Tuple[str, Tuple[int, ...]]]:
    for name, value in model.state_dict().items():
        yield name, tuple(value.shape)


def save_and_load(module: ScriptModule, folder: Path) -> ScriptModule:
    file = folder / "model.pt"
    extra: Dict[str, Any] = {"note": ""}
    torch.jit.save(module, str(file), _extra_files={"note": "hello"})
    loaded = torch.jit.load(str(file), map_location=torch.device("cpu"), _extra_files=extra)
    buffer = io.BytesIO()
    torch.save({"state": loaded.state_dict(), "epoch": 3}, buffer)
    buffer.seek(0)
    state = torch.load(buffer, map_location="cpu")
    loaded.load_state_dict(state["state"])
    return loaded.eval()


def inspect(function: ScriptFunction, module: ScriptModule) -> List[str]:
    kinds = [node.kind() for node in function.graph.nodes()]
    for node in module.inlined_graph.nodes():
        for value in node.inputs():
            kinds.append(f"{value.debugName()}: {value.type()}")
        kinds.append(str(node.output().type()) if node.outputsSize() == 1 else "")
    graph: torch.Graph = module.graph
    print(graph, module.code, function.code)
    return kinds


def sample(count: int, generator: Optional[torch.Generator] = None) -> Tensor:
    generator = generator or torch.Generator().manual_seed(1)
    x = torch.randn(count, 3, generator=generator)
    y = torch.from_numpy(np.arange(count, dtype=np.float32))
    normal = Normal(torch.zeros(3), torch.ones(3))
    picked = Categorical(logits=x).sample()
    order = torch.argsort(y, descending=True)
    values, where = x.max(dim=1)
    mask = (x > 0.5) & (x < 2) | ~torch.isnan(x)
    parts = torch.split(x, 2, dim=0)
    stacked = torch.stack([normal.log_prob(x).sum(-1), values, picked.float(), where.float()])
    pair = torch.where(mask, x, torch.zeros_like(x)).sum(dim=(0, 1), keepdim=True)
    rows = torch.nonzero(mask, as_tuple=True)
    edges = pad_sequence([x[0], x[1]], batch_first=True)
    u, s, vh = torch.linalg.svd(x, full_matrices=False)
    print(parts[0].shape[0], rows[0].numel(), edges.size(), order.stride(0), u.T, s.ndim, vh.dtype)
    print(pair.item(), torch.einsum("ij,kj->ik", x, x), torch.fft.fft(x).real, x.device.type)
    print(torch.tensor([1, 2, 3], dtype=torch.int64, device="cpu"), torch.iinfo(torch.int32).max)
    total = int(picked.sum()) + len(x) + float(x[0, 0]) + bool(mask.any())
    return stacked * total


def resized(image: Tensor) -> List[Tensor]:
    return [
        F.interpolate(image, size=8),
        F.interpolate(image, size=(4, 6), mode="bilinear", align_corners=False),
        F.interpolate(image, scale_factor=2.0),
        F.interpolate(image, scale_factor=[0.5, 1.5], mode="bicubic"),
        F.pad(image, (1, 1)),
        F.layer_norm(image, image.shape[1:]),
        F.adaptive_avg_pool2d(image, (2, 1)),
        F.unfold(image, kernel_size=2, stride=(1, 2)),
        F.max_pool2d(image, 2),
    ]


@torch.no_grad()
def measured(model: nn.Module, x: Tensor) -> Tensor:
    kinds, counts = torch.unique(x.round(), return_counts=True)
    found: Tensor = nn.DataParallel(model)(x)
    return found + torch.norm(x) + torch.unique(x).sum() + counts.sum() * kinds.max()


def weighted(data: Lines) -> List[Tuple[int, ...]]:
    order = WeightedRandomSampler([0.5] * len(data), num_samples=4)
    return [tuple(x.shape) for x, _ in DataLoader(data, batch_size=2, sampler=order)]


def widths(layers: nn.ModuleList) -> List[int]:
    found = [layer.out_features for layer in layers if isinstance(layer, nn.Linear)]
    first: nn.Module = layers[0]
    return [*found, sum(1 for _ in first.modules()), len(layers[:1])]


class Even(Distribution):
    """A law of one's own: whole numbers below a bound."""

    arg_constraints = {"high": constraints.positive}
    support = constraints.nonnegative_integer

    def __init__(self, high: Tensor) -> None:
        self.high = high
        super().__init__(high.shape)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return (torch.rand(self._extended_shape(torch.Size(sample_shape))) * self.high).floor()


def standard(like: Tensor) -> Independent:
    return Independent(Normal(torch.zeros_like(like), torch.ones_like(like)), 1)


def noted(path: Path, module: ScriptModule) -> Dict[str, str]:
    extra = {"note.txt": ""}
    torch.jit.save(module, path, _extra_files={"note.txt": "read me"})
    torch.jit.load(path, _extra_files=extra)
    return extra


def each(values: List[Tensor], function: Callable[[Tensor], Tensor]) -> List[Tensor]:
    return [function(value) for value in values]


def main(folder: Path) -> None:
    model = Model(20, 8, 2)
    scripted = torch.jit.script(model)
    tokens = torch.randint(0, 20, (2, 5))
    out = scripted(tokens)
    print(out.scores.argmax(-1).tolist(), out.steps + 1, scripted.generate(tokens, 3))
    print(model.report(out.scores)["mean"], dict(shapes(model)))
    traced = torch.jit.trace(Layer(8, Kind.DEEP), torch.randn(1, 4, 8))
    y = traced(torch.randn(1, 4, 8)).detach().cpu()
    frozen = torch.jit.freeze(scripted.eval())
    fast = torch.jit.optimize_for_inference(frozen)
    loaded = save_and_load(scripted, folder)
    print(inspect(gelu, loaded), fast(tokens), y.sum(), each([y], gelu))
    x = torch.ones(3, requires_grad=True)
    squared: Tensor = Square.apply(x)
    (gradient,) = torch.autograd.grad(squared.sum(), [x])
    print(standard(gradient).sample(), Even(torch.full((2,), 3.0)).sample((2,)), gradient.sum())
    print(
        noted(folder / "noted.pt", frozen),
        lookup({"a": 1}, ["a", "b"]),
        Counter(3).add(4),
        helper(x.detach(), x, scale=2),
    )
    with torch.jit.optimized_execution(True), torch.enable_grad():
        print(train(2), sample(6), gelu(x, approximate=True).shape)
    future = torch.jit.fork(gelu, x)
    waited: Tensor = torch.jit.wait(future)
    print(Scaled.apply(torch.ones(2), 3.0), torch.vmap(Scaled.apply, (0, None))(torch.ones(2), 2.0))
    print(weighted(Lines(8)), measured(nn.ReLU(), torch.ones(2)).tolist())
    print(resized(torch.randn(1, 2, 4, 4)), widths(nn.ModuleList([nn.Linear(2, 3), nn.ReLU()])))
    print(waited, torch.jit.annotate(List[int], []), torch.__version__)
