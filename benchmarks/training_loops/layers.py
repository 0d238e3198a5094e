"""Training loops of networks of layers.

A maker takes what is done with a model or function before it is used (nothing, or scripting) and
gives a step: a call that trains once and returns the loss.
"""

from makers import trained

import rushlight as torch
from rushlight import nn

F = nn.functional


def mlp_adam(prepared):
    torch.manual_seed(1)
    model = prepared(
        nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    )
    x, y = torch.randn(64, 32), torch.randint(0, 10, (64,))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    return trained(optimizer, lambda: F.cross_entropy(model(x), y))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, padding=1)
        self.norm1 = nn.BatchNorm2d(8)
        self.conv2 = nn.Conv2d(8, 16, 3, padding=1)
        self.norm2 = nn.BatchNorm2d(16)
        self.last = nn.Linear(16 * 7 * 7, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.norm1(self.conv1(x))), 2)
        x = F.max_pool2d(F.relu(self.norm2(self.conv2(x))), 2)
        return self.last(torch.flatten(x, 1))


def cnn_sgd(prepared):
    torch.manual_seed(2)
    model = prepared(Net())
    x, y = torch.randn(16, 1, 28, 28), torch.randint(0, 10, (16,))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
    return trained(optimizer, lambda: F.cross_entropy(model(x), y))


class Block(nn.Module):
    def __init__(self, width: int, heads: int, dropout: float):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width)
        self.norm2 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.qkv(self.norm1(x)).view(batch, length, 3, self.heads, width // self.heads)
        q, k, v = parts.permute(2, 0, 3, 1, 4).unbind(0)
        seen = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.dropout(self.out(seen.transpose(1, 2).reshape(batch, length, width)))
        return x + self.dropout(self.down(F.gelu(self.up(self.norm2(x)))))


class Reader(nn.Module):
    def __init__(self, words: int, width: int):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.block = Block(width, 4, 0.1)
        self.last = nn.Linear(width, words)

    def forward(self, tokens):
        return self.last(self.block(self.embedding(tokens)))


def transformer_adamw(prepared):
    torch.manual_seed(3)
    model = prepared(Reader(60, 64))
    tokens = torch.randint(0, 60, (8, 33))
    x, y = tokens[:, :-1], tokens[:, 1:]
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    return trained(optimizer, lambda: F.cross_entropy(model(x).reshape(-1, 60), y.reshape(-1)))


class Coder(nn.Module):
    def __init__(self):
        super().__init__()
        self.inward = nn.Linear(64, 48)
        self.mean = nn.Linear(48, 8)
        self.spread = nn.Linear(48, 8)
        self.outward = nn.Sequential(nn.Linear(8, 48), nn.ReLU(), nn.Linear(48, 64))

    def forward(self, x):
        hidden = F.relu(self.inward(x))
        mean, spread = self.mean(hidden), self.spread(hidden)
        code = mean + torch.exp(0.5 * spread) * torch.randn_like(spread)
        made = torch.sigmoid(self.outward(code))
        away = F.binary_cross_entropy(made, x, reduction="sum")
        return away - 0.5 * torch.sum(1 + spread - mean.pow(2) - spread.exp())


def vae_adam(prepared):
    torch.manual_seed(4)
    model = prepared(Coder())
    x = torch.rand(32, 64)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    return trained(optimizer, lambda: model(x) / 32)


class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(24, 48), nn.Tanh(), nn.Linear(48, 16))

    def forward(self, one, other):
        a = F.normalize(self.inner(one), dim=1)
        b = F.normalize(self.inner(other), dim=1)
        near = a @ b.t() / 0.1
        wanted = torch.arange(near.size(0))
        return (F.cross_entropy(near, wanted) + F.cross_entropy(near.t(), wanted)) / 2


def contrastive(prepared):
    torch.manual_seed(5)
    model = prepared(Pair())
    x = torch.randn(32, 24)
    other = x + 0.3 * torch.randn(32, 24)
    optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
    return trained(optimizer, lambda: model(x, other))


LOOPS = {
    "mlp_adam": mlp_adam,
    "cnn_sgd": cnn_sgd,
    "transformer_adamw": transformer_adamw,
    "vae_adam": vae_adam,
    "contrastive": contrastive,
}
