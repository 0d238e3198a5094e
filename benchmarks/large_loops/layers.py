"""Training loops whose steps need tens of megabytes, for `memory.py`."""

from makers import trained

import rushlight as torch
from rushlight import nn

F = nn.functional


def wide_mlp(prepared):
    torch.manual_seed(0)
    layers = [nn.Linear(512, 1024), nn.GELU()]
    for _ in range(4):
        layers += [nn.Linear(1024, 1024), nn.ReLU()]
    model = prepared(nn.Sequential(*layers, nn.Linear(1024, 10)))
    x, y = torch.randn(1024, 512), torch.randint(0, 10, (1024,))
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    return trained(optimizer, lambda: F.cross_entropy(model(x), y))


def wide_adam(prepared):
    torch.manual_seed(1)
    model = prepared(nn.Sequential(nn.Linear(2048, 2048), nn.Tanh(), nn.Linear(2048, 2048)))
    x = torch.randn(16, 2048)
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    return trained(optimizer, lambda: F.mse_loss(model(x), x))


class Block(nn.Module):
    def __init__(self, channels: int):
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, padding=1)
        self.norm = nn.BatchNorm2d(channels)
        self.second = nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x):
        return F.relu(x + self.second(F.relu(self.norm(self.first(x)))))


def planes(prepared):
    torch.manual_seed(2)
    blocks = [Block(16) for _ in range(4)]
    model = prepared(nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), *blocks, nn.Conv2d(16, 1, 1)))
    x, y = torch.randn(8, 3, 64, 64), torch.randn(8, 1, 64, 64)
    optimizer = torch.optim.SGD(model.parameters(), 1e-3, momentum=0.9)
    return trained(optimizer, lambda: F.mse_loss(model(x), y))


def words(prepared):
    torch.manual_seed(3)
    layer = nn.TransformerEncoderLayer(64, 4, 256, 0.0, batch_first=True)
    model = prepared(nn.TransformerEncoder(layer, 4, enable_nested_tensor=False))
    x = torch.randn(16, 128, 64)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    return trained(optimizer, lambda: (model(x) ** 2).mean())


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.inward = nn.LSTM(64, 128, 2, batch_first=True)
        self.outward = nn.Linear(128, 64)

    def forward(self, x):
        return self.outward(self.inward(x)[0])


def sequences(prepared):
    torch.manual_seed(4)
    model = prepared(Reader())
    x = torch.randn(32, 200, 64)
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    return trained(optimizer, lambda: F.mse_loss(model(x), x))


class Long(nn.Module):
    def __init__(self):
        super().__init__()
        self.step = nn.Linear(256, 256)

    def forward(self, x):
        for _ in range(30):
            x = torch.tanh(self.step(x)) * 0.5 + x
        return x


def long_chain(prepared):
    torch.manual_seed(5)
    model = prepared(Long())
    x = torch.randn(512, 256)
    optimizer = torch.optim.SGD(model.parameters(), 1e-3)
    return trained(optimizer, lambda: model(x).pow(2).mean())


def pointwise(prepared):
    torch.manual_seed(6)

    def curved(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        h = torch.sigmoid(x * w) + torch.sin(x) * torch.exp(-x * x)
        return (h * torch.tanh(h + w) / (1.0 + h * h)).sum()

    function = prepared(curved)
    x, w = torch.randn(1_000_000), torch.ones(1, requires_grad=True)
    optimizer = torch.optim.SGD([w], 1e-9)
    return trained(optimizer, lambda: function(x, w))


LOOPS = {
    "wide_mlp": wide_mlp,
    "wide_adam": wide_adam,
    "planes": planes,
    "words": words,
    "sequences": sequences,
    "long_chain": long_chain,
    "pointwise": pointwise,
}
