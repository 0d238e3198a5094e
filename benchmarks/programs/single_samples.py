"""Networks over texts, sounds, tables and series, asked about one sample at a time."""

import math
from typing import Dict, List, Tuple

from makers import network

import rushlight as torch

nn = torch.nn
F = torch.nn.functional


class Relative(nn.Module):
    """Attention with a bias for how far words are apart, and a norm without means."""

    def __init__(self, width: int, heads: int, causal: bool):
        super().__init__()
        self.q = nn.Linear(width, width, bias=False)
        self.k = nn.Linear(width, width, bias=False)
        self.v = nn.Linear(width, width, bias=False)
        self.o = nn.Linear(width, width, bias=False)
        self.far = nn.Embedding(32, heads)
        self.scale = nn.Parameter(torch.ones(width))
        self.heads = heads
        self.causal = causal

    def normed(self, x):
        return self.scale * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))

    def buckets(self, query: int, key: int):
        apart = torch.arange(key)[None] - torch.arange(query)[:, None]
        if self.causal:
            far = (-apart).clamp(min=0)
        else:
            far = apart.abs()
        near = far < 8
        log = 8 + (torch.log(far.float().clamp(min=1) / 8) / math.log(16.0) * 8).long()
        return torch.where(near, far, log.clamp(max=15)) + (apart > 0).long() * 16

    def forward(self, x, memory):
        batch, length, width = x.shape
        y = self.normed(x)
        q = self.q(y).view(batch, length, self.heads, -1).transpose(1, 2)
        k = self.k(memory).view(batch, memory.shape[1], self.heads, -1).transpose(1, 2)
        v = self.v(memory).view(batch, memory.shape[1], self.heads, -1).transpose(1, 2)
        scores = q @ k.transpose(-1, -2)
        scores = scores + self.far(self.buckets(length, memory.shape[1])).permute(2, 0, 1)[None]
        if self.causal:
            mask = torch.ones(length, memory.shape[1], dtype=torch.bool).triu(1)
            scores = scores.masked_fill(mask, float("-inf"))
        found = (scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, length, width)
        return x + self.o(found)


class Translator(nn.Module):
    """An encoder and a decoder that reads it again for each word."""

    def __init__(self, width: int = 128, heads: int = 4, layers: int = 2):
        super().__init__()
        self.words = nn.Embedding(1000, width)
        self.inner = nn.ModuleList([Relative(width, heads, False) for _ in range(layers)])
        self.outer = nn.ModuleList([Relative(width, heads, True) for _ in range(layers)])
        self.cross = nn.ModuleList([Relative(width, heads, False) for _ in range(layers)])
        self.up = nn.ModuleList([nn.Linear(width, 4 * width) for _ in range(layers)])
        self.down = nn.ModuleList([nn.Linear(4 * width, width) for _ in range(layers)])

    def forward(self, text, count: int = 8):
        x = self.words(text)
        for layer, up, down in zip(self.inner, self.up, self.down):
            x = layer(x, layer.normed(x))
            x = x + down(F.relu(up(x)))
        written = torch.zeros(1, 1, dtype=torch.long)
        for _ in range(count):
            y = self.words(written)
            for outer, cross, wide, thin in zip(self.outer, self.cross, self.up, self.down):
                y = outer(y, outer.normed(y))
                y = cross(y, x)
                y = y + thin(F.relu(wide(y)))
            scores = y[:, -1] @ self.words.weight.t()
            written = torch.cat([written, scores.argmax(-1, keepdim=True)], 1)
        return written


class Selective(nn.Module):
    """A state of its own for each channel, whose steps depend on the input."""

    def __init__(self, width: int = 64, states: int = 8):
        super().__init__()
        self.inward = nn.Linear(width, 4 * width, bias=False)
        self.near = nn.Conv1d(2 * width, 2 * width, 4, groups=2 * width, padding=3)
        self.steps = nn.Linear(2 * width, 2 * states + 4, bias=False)
        self.spread = nn.Linear(4, 2 * width)
        self.decay = nn.Parameter(torch.arange(1.0, states + 1).log().repeat(2 * width, 1))
        self.skip = nn.Parameter(torch.ones(2 * width))
        self.outward = nn.Linear(2 * width, width, bias=False)
        self.states = states

    def forward(self, x):
        batch, length, _ = x.shape
        x, gate = self.inward(x).chunk(2, -1)
        x = F.silu(self.near(x.transpose(1, 2))[:, :, :length].transpose(1, 2))
        delta, write, read = self.steps(x).split([4, self.states, self.states], -1)
        delta = F.softplus(self.spread(delta))
        kept = torch.exp(delta.unsqueeze(-1) * -torch.exp(self.decay))
        added = (delta * x).unsqueeze(-1) * write.unsqueeze(2)
        state = torch.zeros(batch, x.shape[-1], self.states)
        found: List[torch.Tensor] = []
        for place in range(length):
            state = kept[:, place] * state + added[:, place]
            found.append((state * read[:, place, None]).sum(-1))
        y = torch.stack(found, 1) + x * self.skip
        return self.outward(y * F.silu(gate))


class Conformer(nn.Module):
    """Attention and windows over sound, between halves of a wider layer."""

    def __init__(self, width: int = 96, heads: int = 4):
        super().__init__()
        self.before = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.SiLU(), nn.Linear(4 * width, width)
        )
        self.after = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.SiLU(), nn.Linear(4 * width, width)
        )
        self.norm = nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.windows = nn.LayerNorm(width)
        self.one = nn.Conv1d(width, 2 * width, 1)
        self.deep = nn.Conv1d(width, width, 15, padding=7, groups=width)
        self.batch = nn.BatchNorm1d(width)
        self.two = nn.Conv1d(width, width, 1)
        self.last = nn.LayerNorm(width)

    def forward(self, x):
        x = x + 0.5 * self.before(x)
        y = self.norm(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        y = F.glu(self.one(self.windows(x).transpose(1, 2)), 1)
        x = x + self.two(F.silu(self.batch(self.deep(y)))).transpose(1, 2)
        return self.last(x + 0.5 * self.after(x))


class Stacked(nn.Module):
    """Recurrent layers in both directions, and what of them matters."""

    def __init__(self):
        super().__init__()
        self.layers = nn.LSTM(32, 48, 2, batch_first=True, bidirectional=True)
        self.weights = nn.Linear(96, 1)
        self.head = nn.Linear(96, 5)

    def forward(self, x):
        found, _ = self.layers(x)
        return self.head((found * self.weights(found).softmax(1)).sum(1))


class Chosen(nn.Module):
    """Steps that each look at columns of a table of their own choice."""

    def __init__(self, columns: int = 32, width: int = 16, steps: int = 4):
        super().__init__()
        self.norm = nn.BatchNorm1d(columns)
        self.shared = nn.Linear(columns, 2 * width)
        self.own = nn.ModuleList([nn.Linear(width, 2 * width) for _ in range(steps)])
        self.masks = nn.ModuleList([nn.Linear(width, columns) for _ in range(steps)])
        self.norms = nn.ModuleList([nn.BatchNorm1d(columns) for _ in range(steps)])
        self.head = nn.Linear(width, 3)

    def sparse(self, x):
        ordered, _ = torch.sort(x, dim=-1, descending=True)
        sums = ordered.cumsum(-1) - 1
        ranks = torch.arange(1, x.shape[-1] + 1, dtype=x.dtype)
        count = (ordered * ranks > sums).sum(-1, keepdim=True)
        return F.relu(x - sums.gather(-1, count - 1) / count)

    def forward(self, x):
        x = self.norm(x)
        prior = torch.ones_like(x)
        state = F.glu(self.shared(x), -1)
        total = torch.zeros_like(state)
        for mask, norm, own in zip(self.masks, self.norms, self.own):
            weights = self.sparse(norm(mask(state)) * prior)
            prior = prior * (1.3 - weights)
            state = F.glu(self.shared(weights * x), -1)
            state = (state + F.glu(own(state), -1)) * math.sqrt(0.5)
            total = total + F.relu(state)
        return self.head(total)


class Basis(nn.Module):
    """Blocks that each explain a part of a series and hand on the rest."""

    def __init__(self, length: int = 96, ahead: int = 24, width: int = 128, blocks: int = 6):
        super().__init__()
        self.blocks = nn.ModuleList(
            [
                nn.Sequential(
                    nn.Linear(length, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(),
                    nn.Linear(width, width), nn.ReLU(), nn.Linear(width, length + ahead),
                )
                for _ in range(blocks)
            ]
        )  # fmt: skip
        self.length = length
        self.ahead = ahead

    def forward(self, x):
        scale = x.abs().amax(-1, keepdim=True) + 1e-6
        rest = x / scale
        found = torch.zeros(x.shape[0], self.ahead)
        for block in self.blocks:
            both = block(rest)
            rest = rest - both[:, : self.length]
            found = found + both[:, self.length :]
        return found * scale


class Clicked(nn.Module):
    """Bags of what somebody did, each with each."""

    def __init__(self, tables: int = 8, width: int = 16):
        super().__init__()
        self.tables = nn.ModuleList(
            [nn.EmbeddingBag(500, width, mode="sum") for _ in range(tables)]
        )
        self.dense = nn.Sequential(nn.Linear(13, 64), nn.ReLU(), nn.Linear(64, width), nn.ReLU())
        count = (tables + 1) * tables // 2
        self.top = nn.Sequential(nn.Linear(count + width, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, dense, sparse, starts):
        x = self.dense(dense)
        each = [x]
        for i, table in enumerate(self.tables):
            each.append(table(sparse[i], starts[i]))
        together = torch.stack(each, 1)
        products = together @ together.transpose(1, 2)
        places = torch.tril_indices(products.shape[1], products.shape[1], -1)
        pairs = products[:, places[0], places[1]]
        return torch.sigmoid(self.top(torch.cat([x, pairs], 1)))


class Listener(nn.Module):
    """A decoder over sound that keeps keys in a dict and chooses among the likeliest words."""

    def __init__(self, width: int = 96, heads: int = 4, layers: int = 2):
        super().__init__()
        self.words = nn.Embedding(600, width)
        self.places = nn.Parameter(torch.rand(32, width) * 0.02)
        self.inward = nn.ModuleList([nn.Linear(width, 3 * width) for _ in range(layers)])
        self.outward = nn.ModuleList([nn.Linear(width, width) for _ in range(layers)])
        self.query = nn.ModuleList([nn.Linear(width, width) for _ in range(layers)])
        self.memory = nn.ModuleList([nn.Linear(width, 2 * width) for _ in range(layers)])
        self.norms = nn.ModuleList([nn.LayerNorm(width) for _ in range(layers)])
        self.up = nn.ModuleList([nn.Linear(width, 4 * width) for _ in range(layers)])
        self.down = nn.ModuleList([nn.Linear(4 * width, width) for _ in range(layers)])
        self.heads = heads

    def split(self, x):
        return x.view(1, x.shape[1], self.heads, -1).transpose(1, 2)

    def joined(self, x):
        return x.transpose(1, 2).reshape(1, x.shape[2], -1)

    def forward(self, sound, count: int = 12) -> Tuple[torch.Tensor, torch.Tensor]:
        kept: Dict[str, torch.Tensor] = {}
        token = torch.zeros(1, 1, dtype=torch.long)
        written: List[int] = []
        total = torch.zeros(1)
        for place in range(count):
            x = self.words(token) + self.places[place]
            layers = zip(
                self.inward, self.outward, self.query, self.memory, self.norms, self.up, self.down
            )
            for i, (inward, outward, query, memory, norm, up, down) in enumerate(layers):
                q, k, v = inward(norm(x)).chunk(3, -1)
                name = "layer" + str(i)
                k, v = self.split(k), self.split(v)
                if place > 0:
                    k = torch.cat([kept[name + "k"], k], 2)
                    v = torch.cat([kept[name + "v"], v], 2)
                else:
                    both = memory(sound).chunk(2, -1)
                    kept[name + "a"] = self.split(both[0])
                    kept[name + "b"] = self.split(both[1])
                kept[name + "k"], kept[name + "v"] = k, v
                weights = (self.split(q) @ k.transpose(-1, -2) * 0.2).softmax(-1)
                x = x + outward(self.joined(weights @ v))
                seen = F.scaled_dot_product_attention(
                    self.split(query(x)), kept[name + "a"], kept[name + "b"]
                )
                x = x + down(F.gelu(up(x + self.joined(seen))))
            scores = torch.log_softmax(x[:, -1] @ self.words.weight.t(), -1)
            scores[:, :3] = float("-inf")
            best = scores.topk(4, -1)
            choice = int(best.indices[0, place % 4])
            total = total + best.values[0, place % 4]
            written.append(choice)
            token = torch.full((1, 1), choice, dtype=torch.long)
        return torch.tensor(written), total


class Features(nn.Module):
    """What a model of speech makes of sound before it attends: windows, norms, masks."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv1d(1, 64, 10, 5)
        self.norm = nn.GroupNorm(64, 64)
        self.others = nn.ModuleList([nn.Conv1d(64, 64, 3, 2) for _ in range(4)])
        self.layer = nn.LayerNorm(64)
        self.head = nn.Linear(64, 96)

    def forward(self, x, lengths):
        x = (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True) + 1e-7).sqrt()
        y = F.gelu(self.norm(self.first(x[:, None])))
        lengths = (lengths - 10) // 5 + 1
        for layer in self.others:
            y = F.gelu(layer(y))
            lengths = (lengths - 3) // 2 + 1
        y = self.head(self.layer(y.transpose(1, 2)))
        mask = torch.arange(y.shape[1])[None] < lengths[:, None]
        return y.masked_fill(~mask[..., None], 0.0), mask


class Dilated(nn.Module):
    """A network of causal windows that see further and further back."""

    def __init__(self, width: int = 32, layers: int = 5):
        super().__init__()
        self.inward = nn.Conv1d(4, width, 1)
        self.layers = nn.ModuleList(
            [nn.Conv1d(width, width, 3, dilation=2**i) for i in range(layers)]
        )
        self.norms = nn.ModuleList([nn.BatchNorm1d(width) for _ in range(layers)])
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        y = self.inward(x)
        back = 2
        for layer, norm in zip(self.layers, self.norms):
            y = y + F.relu(norm(layer(F.pad(y, (back, 0)))))
            back = back * 2
        return self.head(y[:, :, -1])


def bags():
    sparse = torch.randint(0, 500, (8, 20))
    return torch.rand(1, 13), sparse, torch.zeros(8, 1, dtype=torch.long)


PROGRAMS = {
    "translator_b1": network(Translator, lambda: (torch.randint(0, 1000, (1, 20)),), 41),
    "selective_b1": network(Selective, lambda: (torch.rand(1, 48, 64),), 41),
    "conformer_b1": network(Conformer, lambda: (torch.rand(1, 60, 96),), 41),
    "stacked_b1": network(Stacked, lambda: (torch.rand(1, 40, 32),), 41),
    "chosen_b1": network(Chosen, lambda: (torch.rand(1, 32),), 41),
    "basis_b1": network(Basis, lambda: (torch.rand(1, 96),), 41),
    "clicked_b1": network(Clicked, bags, 41),
    "listener_b1": network(Listener, lambda: (torch.rand(1, 50, 96),), 41),
    "features_b1": network(Features, lambda: (torch.rand(1, 4000), torch.tensor([3000])), 41),
    "dilated_b1": network(Dilated, lambda: (torch.rand(1, 4, 128),), 41),
}
