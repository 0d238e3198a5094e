"""MobileNetV2: a small classifier of images (Sandler et al., arXiv:1801.04381).

The same file runs with PyTorch: replace the import by `import torch`.
"""

import tempfile
from pathlib import Path

import rushlight as torch

nn = torch.nn


def convolution(
    width_in: int, width: int, size: int, stride: int = 1, groups: int = 1
) -> nn.Sequential:
    """Convolution, normalisation and ReLU6."""
    return nn.Sequential(
        nn.Conv2d(width_in, width, size, stride, (size - 1) // 2, groups=groups, bias=False),
        nn.BatchNorm2d(width),
        nn.ReLU6(inplace=True),
    )


class InvertedResidual(nn.Module):
    """Wider, each channel by itself, narrow again; added to the input where that fits."""

    def __init__(self, width_in: int, width: int, stride: int, expand: int) -> None:
        super().__init__()
        hidden = width_in * expand
        layers: list[nn.Module] = []
        if expand != 1:
            layers.append(convolution(width_in, hidden, 1))
        layers += [
            convolution(hidden, hidden, 3, stride, groups=hidden),
            nn.Conv2d(hidden, width, 1, bias=False),
            nn.BatchNorm2d(width),
        ]
        self.layers = nn.Sequential(*layers)
        self.adds = stride == 1 and width_in == width

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.adds:
            return x + self.layers(x)
        return self.layers(x)


STAGES = [  # expansion, width, blocks, stride of the first
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
]


class MobileNetV2(nn.Module):
    """A stem, seven stages, and a linear classifier."""

    def __init__(self, classes: int = 1000) -> None:
        super().__init__()
        features: list[nn.Module] = [convolution(3, 32, 3, stride=2)]
        width_in = 32
        for expand, width, count, stride in STAGES:
            for number in range(count):
                step = stride if number == 0 else 1
                features.append(InvertedResidual(width_in, width, step, expand))
                width_in = width
        features.append(convolution(width_in, 1280, 1))
        self.features = nn.Sequential(*features)
        self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(1280, classes))

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return self.classifier(self.features(images).mean([2, 3]))


def example() -> tuple[MobileNetV2, tuple[torch.Tensor]]:
    """A model with seeded weights, and inputs for it."""
    torch.manual_seed(0)
    return MobileNetV2().eval(), (torch.randn(2, 3, 64, 64),)


def main() -> torch.Tensor:
    model, inputs = example()
    scripted = torch.jit.script(model)
    with torch.no_grad(), tempfile.TemporaryDirectory() as folder:
        result = scripted(*inputs)
        file = Path(folder) / "mobilenet.pt"
        scripted.save(str(file))
        loaded = torch.jit.load(str(file))
        assert torch.equal(loaded(*inputs), result)
    print("scores:", tuple(result.shape), "best classes:", result.argmax(1).tolist())
    return result


if __name__ == "__main__":
    main()
