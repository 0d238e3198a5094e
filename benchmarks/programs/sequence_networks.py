"""Networks over sounds, texts, sets, tables and graphs, as people build them of layers."""

from typing import List, Tuple

from makers import network

import rushlight as torch

nn = torch.nn
F = torch.nn.functional


class CachedBlock(nn.Module):
    """Of a decoder: attention of one word over all before it, whose keys are kept."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.inward = nn.Linear(width, 3 * width)
        self.outward = nn.Linear(width, width)
        self.first = nn.LayerNorm(width)
        self.second = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)
        self.heads = heads

    def forward(self, x, keys, values) -> Tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        batch, length, width = x.shape
        q, k, v = self.inward(self.first(x)).split(width, 2)
        q = q.view(batch, length, self.heads, -1).transpose(1, 2)
        k = k.view(batch, length, self.heads, -1).transpose(1, 2)
        v = v.view(batch, length, self.heads, -1).transpose(1, 2)
        keys, values = torch.cat([keys, k], 2), torch.cat([values, v], 2)
        y = F.scaled_dot_product_attention(q, keys, values)
        x = x + self.outward(y.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.second(x)), approximate="tanh")), keys, values


class Writer(nn.Module):
    """A language model that writes words one by one."""

    def __init__(self, width: int = 256, heads: int = 4, layers: int = 4):
        super().__init__()
        self.words = nn.Embedding(2000, width)
        self.places = nn.Embedding(64, width)
        self.blocks = nn.ModuleList([CachedBlock(width, heads) for _ in range(layers)])
        self.norm = nn.LayerNorm(width)
        self.heads = heads

    def forward(self, word, count: int = 24):
        batch, width = word.shape[0], self.words.weight.shape[1]
        keys: List[torch.Tensor] = []
        values: List[torch.Tensor] = []
        for _ in self.blocks:
            keys.append(torch.zeros(batch, self.heads, 0, width // self.heads))
            values.append(torch.zeros(batch, self.heads, 0, width // self.heads))
        written = [word]
        for place in range(count):
            x = self.words(written[-1]) + self.places.weight[place]
            for i, block in enumerate(self.blocks):
                x, keys[i], values[i] = block(x, keys[i], values[i])
            scores = self.norm(x)[:, -1] @ self.words.weight.t()
            written.append(scores.argmax(-1, keepdim=True))
        return torch.cat(written, 1)


class Rotated(nn.Module):
    """A block as in Llama: RMS norms, rotated places, gates, fewer keys than questions."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.q = nn.Linear(width, width, bias=False)
        self.k = nn.Linear(width, width // 2, bias=False)
        self.v = nn.Linear(width, width // 2, bias=False)
        self.o = nn.Linear(width, width, bias=False)
        self.gate = nn.Linear(width, 2 * width, bias=False)
        self.up = nn.Linear(width, 2 * width, bias=False)
        self.down = nn.Linear(2 * width, width, bias=False)
        self.first = nn.Parameter(torch.ones(width))
        self.second = nn.Parameter(torch.ones(width))
        self.heads = heads

    def norm(self, x, weight):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * weight

    def turn(self, x, cos, sin):
        a, b = x.chunk(2, -1)
        return x * cos + torch.cat((-b, a), -1) * sin

    def forward(self, x, cos, sin):
        batch, length, width = x.shape
        y = self.norm(x, self.first)
        q = self.turn(self.q(y).view(batch, length, self.heads, -1).transpose(1, 2), cos, sin)
        k = self.turn(self.k(y).view(batch, length, self.heads // 2, -1).transpose(1, 2), cos, sin)
        v = self.v(y).view(batch, length, self.heads // 2, -1).transpose(1, 2)
        k, v = k.repeat_interleave(2, 1), v.repeat_interleave(2, 1)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.o(y.transpose(1, 2).reshape(batch, length, width))
        y = self.norm(x, self.second)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Llama(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(1000, 256)
        self.blocks = nn.ModuleList([Rotated(256, 4) for _ in range(4)])

    def forward(self, words):
        x = self.words(words)
        half = torch.arange(0, 64, 2, dtype=torch.float32) / 64
        angles = torch.outer(torch.arange(words.shape[1]).float(), 10000.0**-half)
        angles = torch.cat((angles, angles), -1)
        cos, sin = angles.cos(), angles.sin()
        for block in self.blocks:
            x = block(x, cos, sin)
        return x[:, -1] @ self.words.weight.t()


class Heard(nn.Module):
    """The encoder of a recogniser of speech: spectra, two convolutions, layers of a transformer."""

    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.hann_window(400))
        self.register_buffer("filters", torch.rand(80, 201))
        self.a = nn.Conv1d(80, 192, 3, padding=1)
        self.b = nn.Conv1d(192, 192, 3, 2, 1)
        layer = nn.TransformerEncoderLayer(192, 6, 768, 0.1, "gelu", batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

    def forward(self, sound):
        spectrum = torch.stft(sound, 400, 160, window=self.window, return_complex=True)
        mel = torch.log10((self.filters @ spectrum.abs().pow(2)).clamp(min=1e-10))
        mel = (torch.maximum(mel, mel.max() - 8.0) + 4.0) / 4.0
        x = F.gelu(self.b(F.gelu(self.a(mel))))
        return self.layers(x.transpose(1, 2))


class Waves(nn.Module):
    """WaveNet: dilated convolutions with gates, and what they skip."""

    def __init__(self, width: int = 32):
        super().__init__()
        self.begin = nn.Conv1d(1, width, 1)
        self.filters = nn.ModuleList([nn.Conv1d(width, width, 2, dilation=2**i) for i in range(8)])
        self.gates = nn.ModuleList([nn.Conv1d(width, width, 2, dilation=2**i) for i in range(8)])
        self.outs = nn.ModuleList([nn.Conv1d(width, width, 1) for _ in range(8)])
        self.end = nn.Conv1d(width, 64, 1)

    def forward(self, x):
        x = self.begin(x)
        total = torch.zeros_like(x)
        for i, (one, gate, out) in enumerate(zip(self.filters, self.gates, self.outs)):
            padded = F.pad(x, [1 << i, 0])
            y = out(torch.tanh(one(padded)) * torch.sigmoid(gate(padded)))
            total = total + y
            x = x + y
        return self.end(F.relu(total))


class Sounds(nn.Module):
    """The first layers of wav2vec 2: long strides over the sound itself."""

    def __init__(self):
        super().__init__()
        rows = [(1, 10, 5), (128, 3, 2), (128, 3, 2), (128, 2, 2)]
        self.layers = nn.ModuleList([nn.Conv1d(w, 128, k, s, bias=False) for w, k, s in rows])
        self.norm = nn.GroupNorm(128, 128)

    def forward(self, x):
        for i, layer in enumerate(self.layers):
            x = layer(x)
            if i == 0:
                x = self.norm(x)
            x = F.gelu(x)
        return x


class Reader(nn.Module):
    """Text in images: convolutions, an LSTM both ways, the best letters without repeats."""

    def __init__(self):
        super().__init__()
        self.a = nn.Conv2d(1, 32, 3, padding=1)
        self.b = nn.Conv2d(32, 64, 3, padding=1)
        self.lstm = nn.LSTM(64 * 8, 96, bidirectional=True, batch_first=True)
        self.head = nn.Linear(192, 40)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.a(x)), 2)
        x = F.max_pool2d(F.relu(self.b(x)), [2, 2])
        x = x.permute(0, 3, 1, 2).flatten(2)
        y, _ = self.lstm(x)
        best = self.head(y).argmax(-1)
        found: List[List[int]] = []
        for row in best:
            letters: List[int] = []
            before = 0
            for each in row:
                letter = int(each)
                if letter != before and letter != 0:
                    letters.append(letter)
                before = letter
            found.append(letters)
        return found


class Clicks(nn.Module):
    """A recommender: numbers and bags of things, multiplied with each other (DLRM)."""

    def __init__(self):
        super().__init__()
        self.bags = nn.ModuleList([nn.EmbeddingBag(5000, 32, mode="sum") for _ in range(8)])
        self.bottom = nn.Sequential(nn.Linear(13, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU())
        self.top = nn.Sequential(nn.Linear(68, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, numbers, things, starts):
        x = self.bottom(numbers)
        parts = [x]
        for i, bag in enumerate(self.bags):
            parts.append(bag(things[i], starts))
        both = torch.stack(parts, 1)
        products = torch.bmm(both, both.transpose(1, 2))
        pairs = torch.tril_indices(9, 9, -1)
        return torch.sigmoid(self.top(torch.cat([x, products[:, pairs[0], pairs[1]]], 1)))


class Points(nn.Module):
    """A set of points in space: the same layers for each, then the largest (PointNet)."""

    def __init__(self):
        super().__init__()
        widths = [3, 64, 128, 512]
        self.layers = nn.ModuleList([nn.Conv1d(a, b, 1) for a, b in zip(widths, widths[1:])])
        self.norms = nn.ModuleList([nn.BatchNorm1d(b) for b in widths[1:]])
        self.head = nn.Sequential(nn.Linear(512, 128), nn.ReLU(), nn.Linear(128, 10))

    def forward(self, x):
        for layer, norm in zip(self.layers, self.norms):
            x = F.relu(norm(layer(x)))
        return F.log_softmax(self.head(x.max(2)[0]), 1)


class Messages(nn.Module):
    """Two layers of a graph network: messages along edges, their attention, their sums."""

    def __init__(self, width: int = 64):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(width, width) for _ in range(2)])
        self.weights = nn.Parameter(torch.randn(2, 2 * width) * 0.1)

    def forward(self, x, edges):
        source, target = edges[0], edges[1]
        for i, layer in enumerate(self.layers):
            y = layer(x)
            both = torch.cat([y[source], y[target]], 1)
            score = F.leaky_relu((both * self.weights[i]).sum(1), 0.2)
            top = torch.full((x.shape[0],), -1e9).scatter_reduce(0, target, score, "amax")
            score = (score - top[target]).exp()
            total = torch.zeros(x.shape[0]).index_add(0, target, score)
            share = (score / (total[target] + 1e-9)).unsqueeze(1)
            x = F.elu(torch.zeros_like(y).index_add(0, target, y[source] * share))
        return x


class Scanned(nn.Module):
    """A layer as in Mamba: a state for each channel, walked along the sequence."""

    def __init__(self, width: int = 64, state: int = 16):
        super().__init__()
        self.inward = nn.Linear(width, 2 * width)
        self.conv = nn.Conv1d(width, width, 4, padding=3, groups=width)
        self.chosen = nn.Linear(width, 2 * state + width)
        self.rates = nn.Parameter(torch.rand(width, state))
        self.outward = nn.Linear(width, width)
        self.state = state

    def forward(self, x):
        batch, length, width = x.shape
        x, gate = self.inward(x).chunk(2, -1)
        x = F.silu(self.conv(x.transpose(1, 2))[:, :, :length].transpose(1, 2))
        b, c, step = self.chosen(x).split([self.state, self.state, width], -1)
        step = F.softplus(step)
        h = torch.zeros(batch, width, self.state)
        out: List[torch.Tensor] = []
        for t in range(length):
            decay = torch.exp(-step[:, t, :, None] * self.rates)
            h = decay * h + step[:, t, :, None] * b[:, t, None, :] * x[:, t, :, None]
            out.append((h * c[:, t, None, :]).sum(-1))
        return self.outward(torch.stack(out, 1) * F.silu(gate))


class Rows(nn.Module):
    """A table: columns of categories as words of a transformer, numbers beside."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(500, 32)
        layer = nn.TransformerEncoderLayer(32, 4, 64, 0.0, batch_first=True)
        self.mixed = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.norm = nn.BatchNorm1d(12)
        self.head = nn.Sequential(nn.Linear(8 * 32 + 12, 64), nn.ReLU(), nn.Linear(64, 2))

    def forward(self, words, numbers):
        x = self.mixed(self.words(words)).flatten(1)
        return self.head(torch.cat([x, self.norm(numbers)], 1))


class Forecast(nn.Module):
    """A series: an encoder and a decoder of GRU cells, one step after the other."""

    def __init__(self, width: int = 48):
        super().__init__()
        self.encoder = nn.GRU(4, width, batch_first=True)
        self.cell = nn.GRUCell(4, width)
        self.head = nn.Linear(width, 4)

    def forward(self, x, steps: int = 16):
        h = self.encoder(x)[1]
        state, last = h[0], x[:, -1]
        made: List[torch.Tensor] = []
        for _ in range(steps):
            state = self.cell(last, state)
            last = last + self.head(state)
            made.append(last)
        return torch.stack(made, 1)


class Copied(nn.Module):
    """Relations between all pairs with places that only their distance tells (T5)."""

    def __init__(self, width: int = 256, heads: int = 8):
        super().__init__()
        self.inward = nn.Linear(width, 3 * width, bias=False)
        self.outward = nn.Linear(width, width, bias=False)
        self.near = nn.Embedding(32, heads)
        self.heads = heads

    def forward(self, x):
        batch, length, width = x.shape
        places = torch.arange(length)
        away = (places[None, :] - places[:, None]).clamp(-15, 15) + 15
        bias = self.near(away).permute(2, 0, 1).unsqueeze(0)
        parts = self.inward(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        q, k, v = parts[0], parts[1], parts[2]
        weights = F.softmax((q @ k.transpose(-1, -2) + bias).float(), -1).type_as(x)
        return self.outward((weights @ v).transpose(1, 2).reshape(batch, length, width))


def things():
    starts = torch.arange(0, 256, 2)
    return torch.rand(128, 13), torch.randint(0, 5000, (8, 256)), starts


def rows():
    return torch.randint(0, 500, (64, 8)), torch.rand(64, 12)


PROGRAMS = {
    "writer": network(Writer, lambda: (torch.randint(0, 2000, (1, 1)),), 41),
    "llama": network(Llama, lambda: (torch.randint(0, 1000, (1, 96)),), 41),
    "heard": network(Heard, lambda: (torch.rand(1, 32000),), 41),
    "wavenet": network(Waves, lambda: (torch.rand(1, 1, 4000),), 41),
    "wav2vec": network(Sounds, lambda: (torch.rand(1, 1, 16000),), 41),
    "reader": network(Reader, lambda: (torch.rand(2, 1, 32, 128),), 41),
    "clicks": network(Clicks, things, 41),
    "points": network(Points, lambda: (torch.rand(4, 3, 1024),), 41),
    "messages": network(
        Messages, lambda: (torch.rand(2000, 64), torch.randint(0, 2000, (2, 10000))), 41
    ),
    "scanned": network(Scanned, lambda: (torch.rand(2, 64, 64),), 41),
    "rows": network(Rows, rows, 41),
    "forecast": network(Forecast, lambda: (torch.rand(8, 32, 4),), 41),
    "distances": network(Copied, lambda: (torch.rand(1, 128, 256),), 41),
}
