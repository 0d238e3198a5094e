"""Matrix products and attention."""

import rushlight as torch

F = torch.nn.functional


def product(a, b):
    return torch.matmul(a, b)


def attention(q, k, v):
    scores = torch.matmul(q, k.transpose(-2, -1)) * 0.125
    return torch.matmul(torch.softmax(scores, -1), v)


def products(first, second):
    def make():
        torch.manual_seed(6)
        return product, torch.jit.script(product), (torch.randn(*first), torch.randn(*second))

    return make


def attentions():
    torch.manual_seed(7)
    arguments = torch.randn(8, 128, 64), torch.randn(8, 128, 64), torch.randn(8, 128, 64)
    return attention, torch.jit.script(attention), arguments


class Encoder(torch.nn.Module):
    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.qkv = torch.nn.Linear(width, 3 * width)
        self.out = torch.nn.Linear(width, width)
        self.up = torch.nn.Linear(width, 4 * width)
        self.down = torch.nn.Linear(4 * width, width)
        self.first = torch.nn.LayerNorm(width)
        self.second = torch.nn.LayerNorm(width)

    def forward(self, x):
        length, width = x.size(0), x.size(1)
        parts = self.qkv(self.first(x)).view(length, 3, self.heads, width // self.heads)
        q, k, v = parts.permute(1, 2, 0, 3).unbind(0)
        scores = torch.matmul(q, k.transpose(1, 2)) * 0.125
        mixed = torch.matmul(torch.softmax(scores, -1), v)
        x = x + self.out(mixed.transpose(0, 1).reshape(length, width))
        return x + self.down(F.gelu(self.up(self.second(x))))


def encoder_layer():
    torch.manual_seed(8)
    model = Encoder(256, 4).eval()
    model.requires_grad_(False)
    return model, torch.jit.script(model), (torch.randn(128, 256),)


PROGRAMS = {
    "matmul64": products((64, 64), (64, 64)),
    "matmul256": products((256, 256), (256, 256)),
    "matmul1024": products((1024, 1024), (1024, 1024)),
    "bmm_32x64": products((32, 64, 64), (32, 64, 64)),
    "attention": attentions,
    "encoder_layer": encoder_layer,
}
