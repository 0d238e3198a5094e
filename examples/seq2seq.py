"""Sequence to sequence with GRUs and attention (Bahdanau et al., arXiv:1409.0473).

The same file runs with PyTorch: replace the import by `import torch`.
"""

import tempfile
from pathlib import Path

import rushlight as torch

nn = torch.nn
pack = nn.utils.rnn.pack_padded_sequence
unpack = nn.utils.rnn.pad_packed_sequence


class Encoder(nn.Module):
    """Sentences of different lengths, read in both directions."""

    def __init__(self, vocabulary: int, width: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.gru = nn.GRU(width, width, batch_first=True, bidirectional=True)
        self.bridge = nn.Linear(2 * width, width)

    def forward(
        self, tokens: torch.Tensor, lengths: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        packed = pack(self.embedding(tokens), lengths, batch_first=True, enforce_sorted=False)
        read, last = self.gru(packed)
        outputs, _ = unpack(read, batch_first=True)
        return outputs, torch.tanh(self.bridge(torch.cat([last[0], last[1]], 1)))


class Attention(nn.Module):
    """How much each place of the source matters now, and the mean that follows from it."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(2 * width, width, bias=False)
        self.weigh = nn.Linear(width, 1, bias=False)

    def forward(
        self, state: torch.Tensor, outputs: torch.Tensor, lengths: torch.Tensor
    ) -> torch.Tensor:
        energy = torch.tanh(self.query(state).unsqueeze(1) + self.key(outputs))
        scores = self.weigh(energy).squeeze(2)
        outside = torch.arange(outputs.size(1)).unsqueeze(0) >= lengths.unsqueeze(1)
        weights = scores.masked_fill(outside, float("-inf")).softmax(1)
        return torch.bmm(weights.unsqueeze(1), outputs).squeeze(1)


class Seq2Seq(nn.Module):
    """Writes `steps` tokens, each from the one before; gives the scores (B, steps, vocabulary)."""

    def __init__(self, vocabulary: int, width: int = 24) -> None:
        super().__init__()
        self.encoder = Encoder(vocabulary, width)
        self.attention = Attention(width)
        self.embedding = nn.Embedding(vocabulary, width)
        self.cell = nn.GRUCell(3 * width, width)
        self.scores = nn.Linear(3 * width, vocabulary)

    def forward(self, tokens: torch.Tensor, lengths: torch.Tensor, steps: int) -> torch.Tensor:
        outputs, state = self.encoder(tokens, lengths)
        token = torch.zeros(tokens.size(0), dtype=torch.long)
        written = []
        for _ in range(steps):
            context = self.attention(state, outputs, lengths)
            state = self.cell(torch.cat([self.embedding(token), context], 1), state)
            scores = self.scores(torch.cat([state, context], 1))
            token = scores.argmax(1)
            written.append(scores)
        return torch.stack(written, 1)


def example() -> tuple[Seq2Seq, tuple[torch.Tensor, torch.Tensor, int]]:
    """A model with seeded weights, and inputs for it."""
    torch.manual_seed(0)
    model = Seq2Seq(15).eval()
    return model, (torch.randint(1, 15, (3, 6)), torch.tensor([4, 6, 2]), 5)


def main() -> torch.Tensor:
    model, inputs = example()
    scripted = torch.jit.script(model)
    with torch.no_grad(), tempfile.TemporaryDirectory() as folder:
        result = scripted(*inputs)
        file = Path(folder) / "seq2seq.pt"
        scripted.save(str(file))
        loaded = torch.jit.load(str(file))
        assert torch.equal(loaded(*inputs), result)
    print("written:", result.argmax(2).tolist())
    return result


if __name__ == "__main__":
    main()
