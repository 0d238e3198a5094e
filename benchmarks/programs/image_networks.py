"""Networks over images and volumes, as people build them of layers."""

from typing import List

from makers import network

import rushlight as torch

nn = torch.nn
F = torch.nn.functional


def conv_norm(inputs: int, outputs: int, size: int = 3, stride: int = 1, groups: int = 1):
    conv = nn.Conv2d(inputs, outputs, size, stride, size // 2, groups=groups, bias=False)
    return nn.Sequential(conv, nn.BatchNorm2d(outputs))


def seen(make, *sizes):
    """A network and an image of some sizes."""
    return network(make, lambda: (torch.rand(*sizes),), 31)


class Double(nn.Module):
    def __init__(self, inputs: int, outputs: int):
        super().__init__()
        self.first = conv_norm(inputs, outputs)
        self.second = conv_norm(outputs, outputs)

    def forward(self, x):
        return F.relu(self.second(F.relu(self.first(x))))


class UNet(nn.Module):
    """Segmentation: down four times, up again, each level joined with what came before."""

    def __init__(self, width: int = 16):
        super().__init__()
        widths = [width * 2**level for level in range(4)]
        self.begin = Double(3, width)
        self.down = nn.ModuleList([Double(w, 2 * w) for w in widths])
        self.up = nn.ModuleList([nn.ConvTranspose2d(2 * w, w, 2, 2) for w in reversed(widths)])
        self.join = nn.ModuleList([Double(2 * w, w) for w in reversed(widths)])
        self.end = nn.Conv2d(width, 4, 1)

    def forward(self, x):
        x = self.begin(x)
        kept: List[torch.Tensor] = [x]
        for block in self.down:
            x = block(F.max_pool2d(x, 2))
            kept.append(x)
        place = len(kept) - 2
        for grow, block in zip(self.up, self.join):
            x = block(torch.cat([kept[place], grow(x)], 1))
            place -= 1
        return self.end(x)


class Squeezed(nn.Module):
    """The block of EfficientNets: wide depthwise convolutions, each channel weighed by all."""

    def __init__(self, inputs: int, outputs: int, stride: int, size: int):
        super().__init__()
        wide = inputs * 4
        self.up = conv_norm(inputs, wide, 1)
        self.mid = conv_norm(wide, wide, size, stride, wide)
        self.less = nn.Conv2d(wide, inputs // 4, 1)
        self.more = nn.Conv2d(inputs // 4, wide, 1)
        self.down = conv_norm(wide, outputs, 1)
        self.same = stride == 1 and inputs == outputs

    def forward(self, x):
        y = F.silu(self.mid(F.silu(self.up(x))))
        weights = self.more(F.silu(self.less(F.adaptive_avg_pool2d(y, 1))))
        y = self.down(y * torch.sigmoid(weights))
        return x + y if self.same else y


class Efficient(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = conv_norm(3, 24, 3, 2)
        rows = [
            (24, 2, 3),
            (40, 2, 5),
            (40, 1, 5),
            (80, 2, 3),
            (80, 1, 3),
            (112, 1, 5),
            (192, 2, 5),
        ]
        blocks: List[nn.Module] = []
        inputs = 24
        for outputs, stride, size in rows:
            blocks.append(Squeezed(inputs, outputs, stride, size))
            inputs = outputs
        self.blocks = nn.Sequential(*blocks)
        self.head = nn.Linear(inputs, 100)

    def forward(self, x):
        x = self.blocks(F.silu(self.stem(x)))
        return self.head(x.mean([2, 3]))


class ConvNextBlock(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.deep = nn.Conv2d(width, width, 7, padding=3, groups=width)
        self.norm = nn.LayerNorm(width, eps=1e-6)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)
        self.scale = nn.Parameter(torch.full((width,), 0.1))

    def forward(self, x):
        y = self.norm(self.deep(x).permute(0, 2, 3, 1))
        y = self.scale * self.down(F.gelu(self.up(y)))
        return x + y.permute(0, 3, 1, 2)


class ConvNext(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 48, 4, 4)
        self.first = nn.Sequential(ConvNextBlock(48), ConvNextBlock(48))
        self.narrow = nn.Conv2d(48, 96, 2, 2)
        self.second = nn.Sequential(ConvNextBlock(96), ConvNextBlock(96))

    def forward(self, x):
        return self.second(self.narrow(self.first(self.stem(x)))).mean([2, 3])


class Windowed(nn.Module):
    """Attention in windows of 7 x 7 that move by half of one, as in Swin."""

    def __init__(self, width: int, heads: int, shift: int):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.inward = nn.Linear(width, 3 * width)
        self.outward = nn.Linear(width, width)
        self.bias = nn.Parameter(torch.randn(heads, 49, 49) * 0.1)
        self.heads = heads
        self.shift = shift

    def forward(self, x):
        batch, height, width, channels = x.shape
        y = torch.roll(self.norm(x), [-self.shift, -self.shift], [1, 2])
        y = y.view(batch, height // 7, 7, width // 7, 7, channels).permute(0, 1, 3, 2, 4, 5)
        y = y.reshape(-1, 49, channels)
        parts = self.inward(y).view(-1, 49, 3, self.heads, channels // self.heads)
        q, k, v = parts.permute(2, 0, 3, 1, 4).unbind(0)
        scores = q * (channels // self.heads) ** -0.5 @ k.transpose(-2, -1) + self.bias
        y = (F.softmax(scores, -1) @ v).transpose(1, 2).reshape(-1, 49, channels)
        y = self.outward(y).view(batch, height // 7, width // 7, 7, 7, channels)
        y = y.permute(0, 1, 3, 2, 4, 5).reshape(batch, height, width, channels)
        return x + torch.roll(y, [self.shift, self.shift], [1, 2])


class Swin(nn.Module):
    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(3, 96, 4, 4)
        self.blocks = nn.ModuleList([Windowed(96, 3, shift) for shift in (0, 3, 0, 3)])

    def forward(self, x):
        x = self.patches(x).permute(0, 2, 3, 1)
        for block in self.blocks:
            x = block(x)
        return x.mean([1, 2])


class Detector(nn.Module):
    """One stage of a YOLO: boxes of a grid, and of those that overlap the best."""

    def __init__(self):
        super().__init__()
        rows = [(3, 32), (32, 64), (64, 128), (128, 128)]
        self.blocks = nn.ModuleList([conv_norm(a, b, 3, 2) for a, b in rows])
        self.head = nn.Conv2d(128, 85, 1)

    def best(self, boxes, scores, limit: float):
        order = scores.argsort(descending=True)[:50]
        kept: List[int] = []
        corners = boxes[order]
        area = (corners[:, 2] - corners[:, 0]) * (corners[:, 3] - corners[:, 1])
        alive = torch.ones(order.numel(), dtype=torch.bool)
        for i in range(order.numel()):
            if bool(alive[i]):
                kept.append(int(order[i]))
                low = torch.maximum(corners[i, :2], corners[:, :2])
                high = torch.minimum(corners[i, 2:], corners[:, 2:])
                shared = (high - low).clamp(min=0).prod(1)
                alive = alive & (shared / (area + area[i] - shared) <= limit)
        return torch.tensor(kept)

    def forward(self, x):
        for block in self.blocks:
            x = F.silu(block(x))
        x = self.head(x)
        rows, columns = x.shape[2], x.shape[3]
        y, x_ = torch.meshgrid(torch.arange(rows), torch.arange(columns), indexing="ij")
        grid = torch.stack([x_, y], -1).view(-1, 2)
        flat = x.flatten(2).transpose(1, 2)[0].sigmoid()
        center, size = flat[:, :2] + grid, 4 * flat[:, 2:4] ** 2
        boxes = torch.cat([center - size / 2, center + size / 2], 1)
        scores, classes = (flat[:, 4:5] * flat[:, 5:]).max(1)
        kept = self.best(boxes, scores, 0.5)
        return boxes[kept], scores[kept], classes[kept]


class Generator(nn.Module):
    """A generator of images: transposed convolutions with norms."""

    def __init__(self):
        super().__init__()
        layers: List[nn.Module] = [nn.ConvTranspose2d(64, 256, 4, 1, 0, bias=False)]
        for wide in (256, 128, 64):
            layers += [nn.BatchNorm2d(wide), nn.ReLU(True)]
            layers.append(nn.ConvTranspose2d(wide, wide // 2, 4, 2, 1, bias=False))
        layers += [nn.BatchNorm2d(32), nn.ReLU(True), nn.ConvTranspose2d(32, 3, 4, 2, 1), nn.Tanh()]
        self.main = nn.Sequential(*layers)

    def forward(self, x):
        return self.main(x)


class Styled(nn.Module):
    """A network that changes the style of images: reflected edges, norms of each image."""

    def __init__(self):
        super().__init__()
        self.pad = nn.ReflectionPad2d(1)
        self.a = nn.Conv2d(3, 32, 3)
        self.b = nn.Conv2d(32, 64, 3, 2)
        self.c = nn.Conv2d(64, 32, 3)
        self.d = nn.Conv2d(32, 3, 3)
        self.norms = nn.ModuleList([nn.InstanceNorm2d(w, affine=True) for w in (32, 64, 32)])

    def forward(self, x):
        x = F.relu(self.norms[0](self.a(self.pad(x))))
        x = F.relu(self.norms[1](self.b(self.pad(x))))
        x = F.interpolate(x, scale_factor=2.0, mode="nearest")
        x = F.relu(self.norms[2](self.c(self.pad(x))))
        return torch.sigmoid(self.d(self.pad(x)))


class Finer(nn.Module):
    """Images three times as large, by shuffled pixels."""

    def __init__(self):
        super().__init__()
        self.a = nn.Conv2d(1, 64, 5, padding=2)
        self.b = nn.Conv2d(64, 32, 3, padding=1)
        self.c = nn.Conv2d(32, 9, 3, padding=1)

    def forward(self, x):
        x = torch.tanh(self.b(torch.tanh(self.a(x))))
        return F.pixel_shuffle(self.c(x), 3).clamp(0.0, 1.0)


class Volumes(nn.Module):
    """A video: convolutions over time, height and width."""

    def __init__(self):
        super().__init__()
        self.a = nn.Conv3d(3, 16, 3, padding=1)
        self.b = nn.Conv3d(16, 32, 3, (1, 2, 2), 1)
        self.norm = nn.BatchNorm3d(32)
        self.head = nn.Linear(32, 10)

    def forward(self, x):
        x = F.max_pool3d(F.relu(self.a(x)), 2)
        x = F.relu(self.norm(self.b(x)))
        return self.head(x.mean([2, 3, 4]))


class Dense(nn.Module):
    """DenseNet's block: each layer sees all before it; norms come first."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 32, 7, 2, 3)
        widths = [32 + 16 * i for i in range(6)]
        self.norms = nn.ModuleList([nn.BatchNorm2d(w) for w in widths])
        self.layers = nn.ModuleList([nn.Conv2d(w, 16, 3, padding=1) for w in widths])

    def forward(self, x):
        seen = [F.max_pool2d(F.relu(self.stem(x)), 3, 2, 1)]
        for norm, layer in zip(self.norms, self.layers):
            seen.append(layer(F.relu(norm(torch.cat(seen, 1)))))
        return F.avg_pool2d(torch.cat(seen, 1), 2)


class Shuffled(nn.Module):
    """ShuffleNet's block: half of the channels go on, then channels are mixed."""

    def __init__(self, width: int):
        super().__init__()
        half = width // 2
        self.a = conv_norm(half, half, 1)
        self.b = conv_norm(half, half, 3, 1, half)
        self.c = conv_norm(half, half, 1)

    def forward(self, x):
        kept, y = x.chunk(2, 1)
        y = F.relu(self.c(self.b(F.relu(self.a(y)))))
        x = torch.cat([kept, y], 1)
        batch, channels, height, width = x.shape
        x = x.view(batch, 2, channels // 2, height, width).transpose(1, 2)
        return x.reshape(batch, channels, height, width)


PROGRAMS = {
    "unet": seen(UNet, 1, 3, 128, 128),
    "efficientnet": seen(Efficient, 1, 3, 160, 160),
    "convnext": seen(ConvNext, 1, 3, 160, 160),
    "swin": seen(Swin, 1, 3, 224, 224),
    "detector": seen(Detector, 1, 3, 320, 320),
    "generator": seen(Generator, 4, 64, 1, 1),
    "style": seen(Styled, 1, 3, 128, 128),
    "finer": seen(Finer, 1, 1, 96, 96),
    "video": seen(Volumes, 1, 3, 8, 64, 64),
    "densenet": seen(Dense, 1, 3, 160, 160),
    "shufflenet": seen(lambda: nn.Sequential(*[Shuffled(116) for _ in range(4)]), 1, 116, 28, 28),
}
