"""The layers, a file a kind."""

from __future__ import annotations

from ......module_names import names_of
from .conv import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from .linear import Linear
from .sparse import Embedding, EmbeddingBag

__all__ = [
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
    "Embedding",
    "EmbeddingBag",
    "Linear",
]

__getattr__ = names_of(__name__)
