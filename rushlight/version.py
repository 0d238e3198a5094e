"""`torch.version`: what programs compare before they start."""

from __future__ import annotations

__all__ = ["__version__", "cuda", "debug", "git_version", "hip", "rocm", "xpu"]

__version__ = "2.13.0+cpu"
"""The version of PyTorch that is followed; rushlight has its own, `rushlight.__version__`."""
debug = False
git_version = "Unknown"
cuda: str | None = None
hip: str | None = None
rocm: str | None = None
xpu: str | None = None
