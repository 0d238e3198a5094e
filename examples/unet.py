"""A U-Net: every pixel of an image gets a class (Ronneberger et al., arXiv:1505.04597).

The same file runs with PyTorch: replace the import by `import torch`.
"""

import tempfile
from pathlib import Path

import rushlight as torch

nn = torch.nn
F = nn.functional


def double_convolution(width_in: int, width: int) -> nn.Sequential:
    """Twice convolution, normalisation and ReLU."""
    return nn.Sequential(
        nn.Conv2d(width_in, width, 3, padding=1),
        nn.GroupNorm(4, width),
        nn.ReLU(),
        nn.Conv2d(width, width, 3, padding=1),
        nn.GroupNorm(4, width),
        nn.ReLU(),
    )


class Up(nn.Module):
    """Twice as large, then joined with what was seen at that size on the way down."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.grow = nn.ConvTranspose2d(2 * width, width, 2, stride=2)
        self.mix = double_convolution(2 * width, width)

    def forward(self, x: torch.Tensor, seen: torch.Tensor) -> torch.Tensor:
        x = self.grow(x)
        below = seen.size(2) - x.size(2)
        right = seen.size(3) - x.size(3)
        x = F.pad(x, [0, right, 0, below])  # sizes that were odd
        return self.mix(torch.cat([seen, x], 1))


class UNet(nn.Module):
    """Images (B, 3, H, W) to scores (B, classes, H, W)."""

    def __init__(self, classes: int = 4, width: int = 8, depth: int = 3) -> None:
        super().__init__()
        widths = [width * 2**level for level in range(depth + 1)]
        self.first = double_convolution(3, width)
        self.downs = nn.ModuleList([double_convolution(a, 2 * a) for a in widths[:-1]])
        self.ups = nn.ModuleList([Up(a) for a in reversed(widths[:-1])])
        self.last = nn.Conv2d(width, classes, 1)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        x = self.first(images)
        seen = [x]
        for down in self.downs:
            x = down(F.max_pool2d(x, 2))
            seen.append(x)
        seen.pop()
        for up in self.ups:
            x = up(x, seen.pop())
        return self.last(x)


def example() -> tuple[UNet, tuple[torch.Tensor]]:
    """A model with seeded weights, and inputs for it."""
    torch.manual_seed(0)
    return UNet().eval(), (torch.randn(1, 3, 30, 44),)


def main() -> torch.Tensor:
    model, inputs = example()
    scripted = torch.jit.script(model)
    with torch.no_grad(), tempfile.TemporaryDirectory() as folder:
        result = scripted(*inputs)
        file = Path(folder) / "unet.pt"
        scripted.save(str(file))
        loaded = torch.jit.load(str(file))
        assert torch.equal(loaded(*inputs), result)
    print("scores:", tuple(result.shape))
    return result


if __name__ == "__main__":
    main()
