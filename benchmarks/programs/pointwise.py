"""Pointwise chains, reductions and rows: memory and transcendental functions."""

import rushlight as torch

F = torch.nn.functional


def gelu(x, w, b):
    return F.gelu(x) * w[0] + b[0]


def layernorm(x, w, b):
    return F.layer_norm(x, [x.size(1)], w, b)


def gates(x, w, b):
    return torch.sigmoid(x) * torch.tanh(x * 0.5) + torch.sigmoid(x + 1.0) * x


def softmax(x, w, b):
    return torch.softmax(x, -1)


def logsumexp(x, w, b):
    return torch.logsumexp(x, 1)


def where_mask(x, w, b):
    return torch.where((x > 0.0) & (x < 1.0), x * 2.0, x - 1.0).masked_fill(x > 2.0, 0.0)


def reductions(x, w, b):
    return x.sum() + x.mean() + x.max() + x.std() + x.sum(0).min() + x.sum(1).max()


def broadcast(x, w, b):
    return (x + w) * b + x[:, :1]


def transposed(x, w, b):
    return (x.t().contiguous() + x.t() * 2.0).contiguous()


def int64(x, w, b):
    y = (x * 100.0).long()
    return (y * 3 + (y >> 2)) % 17 + y // 5


def boolean(x, w, b):
    a = x > 0.0
    c = x < 1.0
    return ((a & c) | (~a ^ c)).sum()


def chain_of(function, rows, columns):
    def make():
        torch.manual_seed(5)
        arguments = torch.randn(rows, columns), torch.randn(columns), torch.randn(columns)
        return function, torch.jit.script(function), arguments

    return make


SMALL, LARGE = (20, 500), (1000, 1000)

PROGRAMS = {
    **{
        f"{function.__name__}_{name}": chain_of(function, *sizes)
        for function in (gelu, layernorm, gates, softmax, logsumexp)
        for name, sizes in (("1e4", SMALL), ("1e6", LARGE))
    },
    **{
        f"{function.__name__}_1e6": chain_of(function, *LARGE)
        for function in (where_mask, reductions, broadcast, transposed, int64, boolean)
    },
}
