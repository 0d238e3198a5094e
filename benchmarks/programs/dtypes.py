"""What users do in other dtypes than float32, and on tensors that do not lie in one piece."""

import rushlight as torch

F = torch.nn.functional


def gated_bf16(x, y, i, m):
    return F.silu(x.to(torch.bfloat16) * 0.5) * y.to(torch.bfloat16) + 0.25


def norm_bf16(x, y, i, m):
    a = x.to(torch.bfloat16) + y.to(torch.bfloat16)
    return F.layer_norm(a, [a.size(1)]).abs()


def scores_bf16(x, y, i, m):
    return torch.softmax(x.to(torch.bfloat16).masked_fill(m, -1e4), -1)


def totals_half(x, y, i, m):
    a = x.half()
    return a.sum(-1) + a.amax(-1) + (a * a).mean(-1)


def error_double(x, y, i, m):
    return F.mse_loss(x.double(), y.double()) + F.smooth_l1_loss(x.double(), y.double())


def rows_double(x, y, i, m):
    a = x.double()
    return torch.log_softmax(a, -1) - torch.logsumexp(a, 0)


def angles_double(x, y, i, m):
    a, b = x.double(), y.double()
    return torch.atan2(a, b) + torch.hypot(a, b) % 0.7


def bytes_to_floats(x, y, i, m):
    pixels = (x * 64.0 + 128.0).clamp(0.0, 255.0).to(torch.uint8)
    return (pixels.float() / 255.0 - 0.45) / 0.22


def counts(x, y, i, m):
    return m.sum(0) + (x > y).sum(0) + (i % 7).unsqueeze(-1).int().sum()


def steps_int32(x, y, i, m):
    a = i.int().unsqueeze(1) + torch.arange(x.size(1), dtype=torch.int32)
    return torch.where(a % 3 == 0, a // 3, a * 2).amax(-1)


def points(x, y, i, m):
    corners = x.reshape(-1, 4)
    return corners.sum(0) + corners.mean(0) * corners.amax(0)


def turned(x, y, i, m):
    a = x.t()
    return (a * 2.0 + y.t()).sum(0) + a.softmax(0).sum(1)


def every_second(x, y, i, m):
    return x[:, ::2] * y[:, 1::2] + x[:, 1::2].abs()


def neighbours(x, y, i, m):
    return (x[:, 1:] - x[:, :-1]).abs().mean() + (y[1:] - y[:-1]).square().mean()


def _program(call, rows, columns):
    def make():
        torch.manual_seed(5)
        x, y = torch.randn(rows, columns), torch.randn(rows, columns)
        i = torch.randint(0, columns, (rows,))
        return call, torch.jit.script(call), (x, y, i, torch.randn(rows, columns) > 0.8)

    return make


PROGRAMS = {
    f"{call.__name__}_{name}": _program(call, *sizes)
    for call in (
        gated_bf16,
        norm_bf16,
        scores_bf16,
        totals_half,
        error_double,
        rows_double,
        angles_double,
        bytes_to_floats,
        counts,
        steps_int32,
        points,
        turned,
        every_second,
        neighbours,
    )
    for name, sizes in (("1e4", (100, 100)), ("1e6", (1000, 1000)))
}
