"""ResNet-18: a classifier of images (He et al., arXiv:1512.03385), scripted, run, saved, loaded.

The same file runs with PyTorch: replace the import by `import torch`.
"""

import tempfile
from pathlib import Path

import rushlight as torch

nn = torch.nn


class Block(nn.Module):
    """Two convolutions, added to what goes in; `shortcut` fits sizes where they change."""

    def __init__(self, width_in: int, width: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(width_in, width, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.relu = nn.ReLU(inplace=True)
        if stride != 1 or width_in != width:
            self.shortcut: nn.Sequential | None = nn.Sequential(
                nn.Conv2d(width_in, width, 1, stride, bias=False), nn.BatchNorm2d(width)
            )
        else:
            self.shortcut = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        kept = x
        if self.shortcut is not None:
            kept = self.shortcut(x)
        x = self.relu(self.bn1(self.conv1(x)))
        return self.relu(self.bn2(self.conv2(x)) + kept)


class ResNet(nn.Module):
    """A stem, four stages of two blocks each, and a linear classifier."""

    def __init__(self, classes: int = 1000) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False),
            nn.BatchNorm2d(64),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(3, stride=2, padding=1),
        )
        blocks = []
        width_in = 64
        for stage, width in enumerate([64, 128, 256, 512]):
            blocks += [Block(width_in, width, 1 if stage == 0 else 2), Block(width, width, 1)]
            width_in = width
        self.blocks = nn.Sequential(*blocks)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Linear(512, classes)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        features = self.pool(self.blocks(self.stem(images)))
        return self.classifier(features.flatten(1))


def example() -> tuple[ResNet, tuple[torch.Tensor]]:
    """A model with seeded weights, and inputs for it."""
    torch.manual_seed(0)
    return ResNet().eval(), (torch.randn(2, 3, 64, 64),)


def main() -> torch.Tensor:
    model, inputs = example()
    scripted = torch.jit.script(model)
    with torch.no_grad(), tempfile.TemporaryDirectory() as folder:
        result = scripted(*inputs)
        file = Path(folder) / "resnet18.pt"
        scripted.save(str(file))
        loaded = torch.jit.load(str(file))
        assert torch.equal(loaded(*inputs), result)
    print("scores:", tuple(result.shape), "best classes:", result.argmax(1).tolist())
    return result


if __name__ == "__main__":
    main()
