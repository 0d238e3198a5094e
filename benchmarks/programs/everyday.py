"""What users write most: rows with masks, norms, rotations, losses, lookups, quantising."""

from typing import List

import rushlight as torch

F = torch.nn.functional


def masked_softmax(x, y, w, i, m):
    return torch.softmax(x.masked_fill(m, float("-inf")), -1)


def rms_norm(x, y, w, i, m):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w


def group_norm(x, y, w, i, m):
    return F.group_norm(x.view(8, 32, -1), 8)


def rotary(x, y, w, i, m):
    a, b = x.chunk(2, -1)
    c, s = y.chunk(2, -1)
    return torch.cat([a * c - b * s, a * s + b * c], -1)


def rotate_half(x, y, w, i, m):
    half = x.size(-1) // 2
    turned = torch.cat((-x[..., half:], x[..., :half]), dim=-1)
    return x * torch.cos(y) + turned * torch.sin(y)


def swiglu(x, y, w, i, m):
    a, b = x.chunk(2, -1)
    return F.silu(a) * b


def cross_entropy(x, y, w, i, m):
    return F.cross_entropy(x, i)


def nll_by_hand(x, y, w, i, m):
    return -(torch.log_softmax(x, -1).gather(1, i.unsqueeze(1))).mean()


def mse(x, y, w, i, m):
    return F.mse_loss(x, y) + F.smooth_l1_loss(x, y) + (x - y).abs().mean()


def bce(x, y, w, i, m):
    return F.binary_cross_entropy_with_logits(x, torch.sigmoid(y))


def cosine(x, y, w, i, m):
    return F.cosine_similarity(x, y, dim=-1)


def cumulative(x, y, w, i, m):
    return torch.cumsum(x, 1) / (torch.arange(x.size(1)) + 1)


def gather_rows(x, y, w, i, m):
    return x[i] + y.index_select(0, i)


def gather_columns(x, y, w, i, m):
    return x.gather(1, i.unsqueeze(1).expand(-1, x.size(1)).contiguous())


def stack_cat(x, y, w, i, m):
    a, b, c, d = x.chunk(4, -1)
    return torch.stack([torch.cat([a, d], -1), torch.cat([c, b], -1)], 1)


def one_hot(x, y, w, i, m):
    return F.one_hot(i, x.size(1)).to(torch.float32) * 0.9 + 0.1 / x.size(1)


def argmax(x, y, w, i, m):
    return (x.argmax(-1) == i).float().mean()


def quantise(x, y, w, i, m):
    scale = x.abs().max() / 127.0
    q = torch.clamp(torch.round(x / scale), -128, 127).to(torch.int8)
    return q.to(torch.float32) * scale


def clamp_scale(x, y, w, i, m):
    return torch.clamp(x * 2.0 + 0.5, 0.0, 1.0) * 255.0


def index_math(x, y, w, i, m):
    return ((i.unsqueeze(1) * 31 + torch.arange(x.size(1))) % 1009).bitwise_and(255) // 3


def normalise(x, y, w, i, m):
    return F.normalize(x, dim=-1)


def standardise(x, y, w, i, m):
    return (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + 1e-5)


def minmax(x, y, w, i, m):
    lo, hi = x.amin(-1, keepdim=True), x.amax(-1, keepdim=True)
    return (x - lo) / (hi - lo)


def residual_norm(x, y, w, i, m):
    return F.layer_norm(x + y, [x.size(1)], w, w)


def causal_mask(x, y, w, i, m):
    n = x.size(0)
    mask = torch.triu(torch.ones(n, n, dtype=torch.bool), 1)
    return (x @ x.t()).masked_fill(mask, -1e9).softmax(-1)


def pairwise(x, y, w, i, m):
    return (x[:, None, :8] - y[None, :, :8]).pow(2).sum(-1)


def swish_gate(x, y, w, i, m):
    return x * torch.sigmoid(1.702 * x) + F.relu(y).square()


def softplus(x, y, w, i, m):
    return F.softplus(x) + F.elu(y) + F.leaky_relu(x, 0.1)


def exp_sum(x, y, w, i, m):
    return torch.exp(x - x.max()).sum()


def weighted_sum(x, y, w, i, m):
    return (x * y * w).sum(-1)


def column_mean(x, y, w, i, m):
    return (x * y).mean(0)


def masked_mean(x, y, w, i, m):
    return x.masked_fill(m, 0.0).sum(-1) / (~m).sum(-1)


def any_all(x, y, w, i, m):
    return (x > 3.0).any(-1) | (y < 0).all(-1)


def permute_heads(x, y, w, i, m):
    return (
        x.view(x.size(0), 4, -1)
        .transpose(0, 1)
        .contiguous()
        .view(4, -1)
        .transpose(0, 1)
        .reshape(x.size(0), -1)
    )


def roll_flip(x, y, w, i, m):
    return torch.roll(x, 1, 0) + torch.flip(y, [1])


def where_index(x, y, w, i, m):
    return torch.where(m, x, y.mean()) + torch.where(x > y, 1.0, 0.0)


def linear_relu(x, y, w, i, m):
    return torch.relu(F.linear(x, y[:64], None))


def double_math(x, y, w, i, m):
    z = x.double()
    return (z * z + 1.0).sqrt().sum(-1)


def variance(x, y, w, i, m):
    return x.var(0) + x.mean(0)


def norm_clip(x, y, w, i, m):
    n = x.norm()
    return x * torch.clamp(1.0 / (n + 1e-6), max=1.0)


def bincount(x, y, w, i, m):
    return torch.bincount(i, minlength=16)


def masked_select(x, y, w, i, m):
    return x[m].sum()


def nonzero(x, y, w, i, m):
    return torch.nonzero(m).size(0)


def repeat_expand(x, y, w, i, m):
    return x.unsqueeze(1).expand(-1, 4, -1).reshape(-1, x.size(1)) + 1.0


def tril_mask(x, y, w, i, m):
    return torch.tril(x) + torch.triu(y, 1)


def outer(x, y, w, i, m):
    return x[:, :1] * w + w[:, None][:1] * y


def addcmul(x, y, w, i, m):
    return torch.addcmul(x, x, y, value=0.5) + torch.lerp(x, y, 0.3)


def pow_sqrt(x, y, w, i, m):
    return (x.abs() + 1e-3).pow(1.5) + (y.abs() + 1e-3).sqrt()


def floor_mod(x, y, w, i, m):
    return torch.floor(x * 4) / 4 + torch.remainder(y, 0.25)


def sincos(x, y, w, i, m):
    return torch.sin(x) * torch.cos(y) + torch.atan2(x, y)


def in_place(x, y, w, i, m):
    z = x.clone()
    z.mul_(2.0).add_(y).clamp_(-1.0, 1.0)
    return z


def slice_write(x, y, w, i, m):
    z = torch.zeros_like(x)
    z[:, ::2] = x[:, ::2]
    z[:, 1::2] = y[:, 1::2]
    return z


def kl(x, y, w, i, m):
    return F.kl_div(torch.log_softmax(x, -1), torch.softmax(y, -1), reduction="batchmean")


def greedy(x, y, w, i, m):
    out: List[int] = []
    state = x[0]
    for t in range(20):
        state = torch.tanh(state * 0.9 + y[t % y.size(0)])
        out.append(int(state.argmax().item()))
    return torch.tensor(out)


def topk_mask(x, y, w, i, m):
    v, _ = torch.topk(x, 10, -1)
    return x.masked_fill(x < v[:, -1:], float("-inf")).softmax(-1)


def top_p(x, y, w, i, m):
    p, at = torch.sort(torch.softmax(x, -1), -1, descending=True)
    keep = p.cumsum(-1) - p < 0.9
    return torch.zeros_like(p).scatter(1, at, p * keep)


def iou(x, y, w, i, m):
    a, b = x[:, :4], y[:, :4]
    lt = torch.max(a[:, None, :2], b[:, :2])
    rb = torch.min(a[:, None, 2:], b[:, 2:])
    wh = (rb - lt).clamp(min=0)
    return wh[:, :, 0] * wh[:, :, 1]


def scatter_mean(x, y, w, i, m):
    s = torch.zeros_like(x).index_add_(0, i, x)
    n = torch.zeros(x.size(0)).index_add_(0, i, torch.ones(x.size(0)))
    return s / n.clamp(min=1.0).unsqueeze(1)


def made(function, rows, columns):
    def make():
        torch.manual_seed(7)
        x, y = torch.randn(rows, columns), torch.randn(rows, columns)
        index = torch.randint(0, min(rows, columns), (rows,))
        mask = torch.randn(rows, columns) > 1.0
        arguments = x, y, torch.randn(columns), index, mask
        return function, torch.jit.script(function), arguments

    return make


PROGRAMS = {
    f"{function.__name__}_{name}": made(function, *sizes)
    for function in (
        masked_softmax,
        rms_norm,
        group_norm,
        rotary,
        rotate_half,
        swiglu,
        cross_entropy,
        nll_by_hand,
        mse,
        bce,
        cosine,
        cumulative,
        gather_rows,
        gather_columns,
        stack_cat,
        one_hot,
        argmax,
        quantise,
        clamp_scale,
        index_math,
        normalise,
        standardise,
        minmax,
        residual_norm,
        causal_mask,
        pairwise,
        swish_gate,
        softplus,
        exp_sum,
        weighted_sum,
        column_mean,
        masked_mean,
        any_all,
        permute_heads,
        roll_flip,
        where_index,
        linear_relu,
        double_math,
        variance,
        norm_clip,
        bincount,
        masked_select,
        nonzero,
        repeat_expand,
        tril_mask,
        outer,
        addcmul,
        pow_sqrt,
        floor_mod,
        sincos,
        in_place,
        slice_write,
        kl,
        greedy,
        topk_mask,
        top_p,
        iou,
        scatter_mean,
    )
    for name, sizes in (("small", (32, 64)), ("large", (512, 512)))
}
