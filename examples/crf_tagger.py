"""A tagger of words: a recurrent layer below a conditional random field.

The field scores whole sequences of tags; `decode` finds the best one (Viterbi), `forward` gives
minus the log probability of the right one.  The same file runs with PyTorch: replace the import
by `import torch`.
"""

import tempfile
from pathlib import Path

import rushlight as torch

nn = torch.nn


class CRF(nn.Module):
    """Scores of tags that follow each other; (T, tags) are the scores of tags by themselves."""

    def __init__(self, tags: int) -> None:
        super().__init__()
        self.follow = nn.Parameter(torch.randn(tags, tags))  # [from, to]
        self.first = nn.Parameter(torch.randn(tags))
        self.last = nn.Parameter(torch.randn(tags))

    def total(self, emissions: torch.Tensor) -> torch.Tensor:
        """The logarithm of the sum over all sequences of tags."""
        alpha = self.first + emissions[0]
        for t in range(1, emissions.size(0)):
            alpha = torch.logsumexp(alpha.unsqueeze(1) + self.follow, 0) + emissions[t]
        return torch.logsumexp(alpha + self.last, 0)

    def score(self, emissions: torch.Tensor, tags: torch.Tensor) -> torch.Tensor:
        """The score of one sequence of tags."""
        own = emissions.gather(1, tags.unsqueeze(1)).sum()
        between = self.follow[tags[:-1], tags[1:]].sum()
        return self.first[tags[0]] + own + between + self.last[tags[-1]]

    def forward(self, emissions: torch.Tensor, tags: torch.Tensor) -> torch.Tensor:
        return self.total(emissions) - self.score(emissions, tags)

    def decode(self, emissions: torch.Tensor) -> list[int]:
        """The best sequence of tags."""
        best = self.first + emissions[0]
        came_from: list[torch.Tensor] = []
        for t in range(1, emissions.size(0)):
            value, place = torch.max(best.unsqueeze(1) + self.follow, 0)
            came_from.append(place)
            best = value + emissions[t]
        tag = int((best + self.last).argmax().item())
        path = [tag]
        for step in range(len(came_from)):
            tag = int(came_from[len(came_from) - 1 - step][tag].item())
            path.append(tag)
        path.reverse()
        return path


class Tagger(nn.Module):
    """Words (T) and their tags (T) to the loss and the tags found."""

    def __init__(self, words: int, tags: int, width: int = 16) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.gru = nn.GRU(width, width, bidirectional=True)
        self.emit = nn.Linear(2 * width, tags)
        self.crf = CRF(tags)

    def forward(self, words: torch.Tensor, tags: torch.Tensor) -> tuple[torch.Tensor, list[int]]:
        read, _ = self.gru(self.embedding(words))
        emissions = self.emit(read)
        return self.crf(emissions, tags), self.crf.decode(emissions)


def example() -> tuple[Tagger, tuple[torch.Tensor, torch.Tensor]]:
    """A model with seeded weights, and inputs for it."""
    torch.manual_seed(0)
    model = Tagger(words=30, tags=5).eval()
    return model, (torch.randint(0, 30, (8,)), torch.randint(0, 5, (8,)))


def main() -> torch.Tensor:
    model, inputs = example()
    scripted = torch.jit.script(model)
    with torch.no_grad(), tempfile.TemporaryDirectory() as folder:
        loss, path = scripted(*inputs)
        file = Path(folder) / "crf_tagger.pt"
        scripted.save(str(file))
        loaded = torch.jit.load(str(file))
        assert loaded(*inputs)[1] == path
        assert torch.equal(loaded(*inputs)[0], loss)
    print("loss:", round(loss.item(), 4), "tags:", path)
    return torch.cat([loss.reshape(1), torch.tensor(path).float()])


if __name__ == "__main__":
    main()
