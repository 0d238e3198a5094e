"""What users do less often: windows that do not divide, grids, distances, alignments, bags,
equations, losses and layers of 16-bit floats, small systems; few elements and many."""

import rushlight as torch

nn = torch.nn
F = torch.nn.functional


def windows(x):
    return F.adaptive_avg_pool2d(x, [7, 5]) + F.adaptive_max_pool2d(x, [7, 5])


def windows_of_lines(x):
    return F.adaptive_avg_pool1d(x, 7)


def bicubic_grid(x, grid):
    return F.grid_sample(x, grid, mode="bicubic", padding_mode="border", align_corners=False)


def volume_grid(x, grid):
    return F.grid_sample(x, grid, align_corners=True)


def city_distances(x, y):
    return torch.cdist(x, y, p=1.0).min(dim=1)[1]


def own_distances(x, y):
    return F.pdist(x).mean() + F.pairwise_distance(x, y[: x.size(0)]).sum()


def likeness(x, y):
    return F.cosine_similarity(x, y[: x.size(0)])


def rows_added(x, index):
    places = index.unsqueeze(1).expand_as(x)
    return torch.zeros(200, x.size(1)).scatter_add(0, places, x)


def rows_extremes(x, index):
    places = index.unsqueeze(1).expand_as(x)
    return torch.full([200, x.size(1)], -1e9).scatter_reduce(0, places, x, "amax")


def rows_means(x, index):
    places = index.unsqueeze(1).expand_as(x)
    return torch.zeros(200, x.size(1)).scatter_reduce(0, places, x, "mean")


def alignments(logs, targets, steps, sizes):
    return F.ctc_loss(logs, targets, steps, sizes)


def weighted_bags(table, index, starts, shares):
    return F.embedding_bag(index, table, starts, mode="sum", per_sample_weights=shares)


def largest_of_bags(table, index, starts, shares):
    return F.embedding_bag(index, table, starts, mode="max")


def equation_of_heads(q, k):
    return torch.einsum("bqhd,bkhd->bhqk", q, k)


def equation_of_three(q, k):
    return torch.einsum("bqhd,bkhd,bkhe->bqe", q, k, k)


def masked_attention(q, k, v, mask):
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def narrow_losses(scores, index):
    return F.cross_entropy(scores, index)


def hat_of_steps(x):
    steps = torch.linspace(-1.0, 1.0, x.size(-1))
    return x * (1.0 - steps.abs())


def unique_numbers(index):
    values, back, counts = torch.unique(index, return_inverse=True, return_counts=True)
    return values.sum() + back.sum() + counts.max()


def systems(a, b):
    lower = torch.linalg.cholesky(a)
    return torch.cholesky_solve(b, lower) + torch.linalg.solve(a, b)


def spectra(x):
    window = torch.hann_window(256)
    found = torch.stft(x, 256, 64, window=window, return_complex=True)
    return found.abs().square().clamp_min(1e-5).log()


def _program(call, inputs):
    def make():
        torch.manual_seed(9)
        return call, torch.jit.script(call), inputs()

    return make


def _grid(*sizes):
    return torch.rand(*sizes) * 2 - 1


def _speech(steps, batch, labels, size):
    logs = torch.randn(steps, batch, labels).log_softmax(2)
    targets = torch.randint(1, labels, (batch, size))
    return logs, targets, torch.full((batch,), steps), torch.full((batch,), size)


def _bags(rows, width, count, each):
    index = torch.randint(0, rows, (count,))
    return torch.randn(rows, width), index, torch.arange(0, count, each), torch.randn(count)


def _heads(batch, length, heads, width):
    return torch.randn(batch, length, heads, width), torch.randn(batch, length, heads, width)


def _attention(batch, heads, length, width):
    q, k, v = (torch.randn(batch, heads, length, width) for _ in range(3))
    return q, k, v, torch.randn(length, length) > -1.0


def _positive(batch, size):
    a = torch.randn(batch, size, size)
    return a @ a.transpose(1, 2) + size * torch.eye(size), torch.randn(batch, size, 3)


def _rows(rows, width, places):
    return torch.randn(rows, width), torch.randint(0, places, (rows,))


def _layer(make, inputs):
    def program():
        torch.manual_seed(9)
        layer = make().eval().requires_grad_(False)
        return layer, torch.jit.script(layer), (inputs(),)

    return program


_PAIRS = {
    windows: (lambda: (torch.randn(2, 3, 16, 16),), lambda: (torch.randn(4, 16, 64, 64),)),
    windows_of_lines: (lambda: (torch.randn(2, 3, 100),), lambda: (torch.randn(8, 64, 1000),)),
    bicubic_grid: (
        lambda: (torch.randn(2, 8, 16, 16), _grid(2, 16, 16, 2)),
        lambda: (torch.randn(4, 32, 64, 64), _grid(4, 64, 64, 2)),
    ),
    volume_grid: (
        lambda: (torch.randn(1, 2, 8, 8, 8), _grid(1, 8, 8, 8, 3)),
        lambda: (torch.randn(2, 8, 16, 16, 16), _grid(2, 16, 16, 16, 3)),
    ),
    city_distances: (
        lambda: (torch.randn(50, 8), torch.randn(60, 8)),
        lambda: (torch.randn(500, 32), torch.randn(600, 32)),
    ),
    own_distances: (
        lambda: (torch.randn(50, 8), torch.randn(60, 8)),
        lambda: (torch.randn(500, 32), torch.randn(600, 32)),
    ),
    likeness: (
        lambda: (torch.randn(50, 8), torch.randn(60, 8)),
        lambda: (torch.randn(5000, 64), torch.randn(6000, 64)),
    ),
    rows_added: (lambda: _rows(1000, 16, 200), lambda: _rows(20000, 64, 200)),
    rows_extremes: (lambda: _rows(1000, 16, 200), lambda: _rows(20000, 64, 200)),
    rows_means: (lambda: _rows(1000, 16, 200), lambda: _rows(20000, 64, 200)),
    alignments: (lambda: _speech(30, 4, 12, 8), lambda: _speech(200, 16, 40, 40)),
    weighted_bags: (lambda: _bags(100, 16, 200, 10), lambda: _bags(10000, 64, 20000, 20)),
    largest_of_bags: (lambda: _bags(100, 16, 200, 10), lambda: _bags(10000, 64, 20000, 20)),
    equation_of_heads: (lambda: _heads(2, 10, 4, 8), lambda: _heads(4, 100, 8, 32)),
    equation_of_three: (lambda: _heads(2, 10, 4, 8), lambda: _heads(4, 100, 8, 32)),
    masked_attention: (lambda: _attention(2, 4, 16, 16), lambda: _attention(2, 8, 256, 64)),
    narrow_losses: (
        lambda: (torch.randn(32, 10).bfloat16(), torch.randint(0, 10, (32,))),
        lambda: (torch.randn(512, 512).bfloat16(), torch.randint(0, 512, (512,))),
    ),
    hat_of_steps: (lambda: (torch.randn(4, 100),), lambda: (torch.randn(400, 2000),)),
    unique_numbers: (
        lambda: (torch.randint(0, 50, (1000,)),),
        lambda: (torch.randint(0, 5000, (100000,)),),
    ),
    systems: (lambda: _positive(8, 4), lambda: _positive(64, 16)),
    spectra: (lambda: (torch.randn(2, 1000),), lambda: (torch.randn(8, 16000),)),
}

PROGRAMS = {
    f"{call.__name__}_{name}": _program(call, inputs)
    for call, pair in _PAIRS.items()
    for name, inputs in zip(("few", "many"), pair)
}
PROGRAMS |= {
    "norm_of_rows": _layer(lambda: nn.BatchNorm1d(100), lambda: torch.randn(256, 100)),
    "norm_of_turned": _layer(
        lambda: nn.LayerNorm(64), lambda: torch.randn(8, 64, 500).transpose(1, 2)
    ),
    "norm_bf16": _layer(
        lambda: nn.BatchNorm2d(32).bfloat16(), lambda: torch.randn(2, 32, 64, 64).bfloat16()
    ),
}
