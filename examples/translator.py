"""A Transformer that translates: encoder, decoder, and greedy decoding in script.

The same file runs with PyTorch: replace the import by `import torch`.
"""

import math
import tempfile
from pathlib import Path

import rushlight as torch

nn = torch.nn


class Translator(nn.Module):
    """Tokens of one language (B, S) to scores of tokens of another (B, T, vocabulary)."""

    places: torch.Tensor

    def __init__(self, vocabulary: int, width: int = 32, longest: int = 64) -> None:
        super().__init__()
        self.width = width
        self.source = nn.Embedding(vocabulary, width, padding_idx=0)
        self.target = nn.Embedding(vocabulary, width, padding_idx=0)
        place = torch.arange(longest).unsqueeze(1)
        rate = torch.exp(torch.arange(0, width, 2) * (-math.log(10000.0) / width))
        places = torch.zeros(longest, width)
        places[:, 0::2] = torch.sin(place * rate)
        places[:, 1::2] = torch.cos(place * rate)
        self.register_buffer("places", places)
        self.transformer = nn.Transformer(
            width, 4, 1, 1, dim_feedforward=64, dropout=0.1, batch_first=True
        )
        self.scores = nn.Linear(width, vocabulary)

    def embedded(self, tokens: torch.Tensor, is_source: bool) -> torch.Tensor:
        """Vectors of tokens that know their places."""
        if is_source:
            vectors = self.source(tokens)
        else:
            vectors = self.target(tokens)
        return vectors * math.sqrt(self.width) + self.places[: tokens.size(1)]

    def forward(self, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        length = target.size(1)
        later = torch.ones(length, length, dtype=torch.bool).triu(1)
        padding = source == 0
        mixed = self.transformer(
            self.embedded(source, True),
            self.embedded(target, False),
            tgt_mask=later,
            src_key_padding_mask=padding,
            memory_key_padding_mask=padding,
        )
        return self.scores(mixed)

    @torch.jit.export
    def translate(self, source: torch.Tensor, length: int, start: int = 1) -> torch.Tensor:
        """The most probable token, again and again."""
        target = torch.full([source.size(0), 1], start, dtype=torch.long)
        for _ in range(length):
            best = self.forward(source, target)[:, -1].argmax(1, keepdim=True)
            target = torch.cat([target, best], 1)
        return target


def example() -> tuple[Translator, tuple[torch.Tensor, torch.Tensor]]:
    """A model with seeded weights, and inputs for it."""
    torch.manual_seed(0)
    model = Translator(20).eval()
    source = torch.randint(2, 20, (3, 7))
    source[1, 5:] = 0  # a shorter sentence
    return model, (source, torch.randint(2, 20, (3, 5)))


def main() -> torch.Tensor:
    model, inputs = example()
    scripted = torch.jit.script(model)
    with tempfile.TemporaryDirectory() as folder:
        result = scripted(*inputs)
        file = Path(folder) / "translator.pt"
        scripted.save(str(file))
        loaded = torch.jit.load(str(file))
        assert torch.equal(loaded(*inputs), result)
        print("translated:", loaded.translate(inputs[0], 6).tolist())
    return result


if __name__ == "__main__":
    main()
