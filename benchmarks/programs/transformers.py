"""Transformers: a network that looks at patches of images, and an encoder of texts with masks."""

from typing import List

from makers import network

import rushlight as torch

F = torch.nn.functional


class Attention(torch.nn.Module):
    def __init__(self, width: int, heads: int):
        super().__init__()
        self.inward = torch.nn.Linear(width, 3 * width)
        self.outward = torch.nn.Linear(width, width)
        self.heads = heads

    def forward(self, x, mask):
        batch, length, width = x.shape
        parts = self.inward(x).view(batch, length, 3, self.heads, width // self.heads)
        q, k, v = parts.permute(2, 0, 3, 1, 4).unbind(0)
        made = F.scaled_dot_product_attention(q, k, v, mask)
        return self.outward(made.transpose(1, 2).reshape(batch, length, width))


class Block(torch.nn.Module):
    def __init__(self, width: int, heads: int, is_first: bool):
        super().__init__()
        self.attention = Attention(width, heads)
        self.before = torch.nn.LayerNorm(width)
        self.after = torch.nn.LayerNorm(width)
        self.up = torch.nn.Linear(width, 4 * width)
        self.down = torch.nn.Linear(4 * width, width)
        self.is_first = is_first

    def forward(self, x, mask):
        if self.is_first:  # norms come first
            x = x + self.attention(self.before(x), mask)
            return x + self.down(F.gelu(self.up(self.after(x))))
        x = self.before(x + self.attention(x, mask))
        return self.after(x + self.down(F.gelu(self.up(x))))


class Vision(torch.nn.Module):
    def __init__(self, width: int, depth: int, heads: int):
        super().__init__()
        self.patches = torch.nn.Conv2d(3, width, 16, 16)
        self.token = torch.nn.Parameter(torch.randn(1, 1, width) * 0.02)
        self.places = torch.nn.Parameter(torch.randn(1, 197, width) * 0.02)
        blocks: List[torch.nn.Module] = [Block(width, heads, True) for _ in range(depth)]
        self.blocks = torch.nn.ModuleList(blocks)
        self.norm = torch.nn.LayerNorm(width)
        self.head = torch.nn.Linear(width, 1000)
        self.register_buffer("mask", torch.zeros(1, 1, 197, 197))

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1) + self.places
        for block in self.blocks:
            x = block(x, self.mask)
        return self.head(self.norm(x)[:, 0])


class Texts(torch.nn.Module):
    def __init__(self, width: int, depth: int, heads: int):
        super().__init__()
        self.words = torch.nn.Embedding(5000, width)
        self.places = torch.nn.Embedding(512, width)
        self.norm = torch.nn.LayerNorm(width)
        blocks: List[torch.nn.Module] = [Block(width, heads, False) for _ in range(depth)]
        self.blocks = torch.nn.ModuleList(blocks)
        self.pool = torch.nn.Linear(width, width)

    def forward(self, words, lengths):
        places = torch.arange(words.shape[1])
        x = self.norm(self.words(words) + self.places(places))
        hidden = places >= lengths.unsqueeze(1)
        mask = torch.zeros(hidden.shape).masked_fill(hidden, -10000.0)[:, None, None, :]
        for block in self.blocks:
            x = block(x, mask)
        return torch.tanh(self.pool(x[:, 0]))


def vision(batch):
    return network(lambda: Vision(384, 6, 6), lambda: (torch.randn(batch, 3, 224, 224),), 21)


def texts(batch):
    def inputs():
        return torch.randint(0, 5000, (batch, 128)), torch.arange(batch) * 9 + 60

    return network(lambda: Texts(384, 6, 6), inputs, 22)


PROGRAMS = {
    "vit_b1": vision(1),
    "vit_b8": vision(8),
    "bert_b1": texts(1),
    "bert_b8": texts(8),
}
