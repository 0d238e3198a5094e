"""A character RNN: an LSTM that writes text letter by letter.

The same file runs with PyTorch: replace the import by `import torch`.
"""

import tempfile
from pathlib import Path

import rushlight as torch

nn = torch.nn

LETTERS = "abcdefghijklmnopqrstuvwxyz ."


class CharRNN(nn.Module):
    """Letters (T, B) to scores of the letter that follows each, and the state to go on from."""

    letters: str

    def __init__(self, letters: str = LETTERS, width: int = 48) -> None:
        super().__init__()
        self.letters = letters
        self.embedding = nn.Embedding(len(letters), width)
        self.lstm = nn.LSTM(width, width, num_layers=2, dropout=0.2)
        self.scores = nn.Linear(width, len(letters))

    def forward(
        self,
        given: torch.Tensor,
        state: tuple[torch.Tensor, torch.Tensor] | None = None,
    ) -> tuple[torch.Tensor, tuple[torch.Tensor, torch.Tensor]]:
        output, state = self.lstm(self.embedding(given), state)
        return self.scores(output), state

    @torch.jit.export
    def write(self, start: str, count: int) -> str:
        """`start`, and `count` letters more: always the most probable one."""
        numbers = [self.letters.find(letter) for letter in start]
        scores, state = self.forward(torch.tensor(numbers).unsqueeze(1), None)
        text = start
        for _ in range(count):
            best = int(scores[-1, 0].argmax().item())
            text += self.letters[best]
            scores, state = self.forward(torch.tensor([[best]]), state)
        return text


def example() -> tuple[CharRNN, tuple[torch.Tensor]]:
    """A model with seeded weights, and inputs for it."""
    torch.manual_seed(0)
    return CharRNN().eval(), (torch.randint(0, len(LETTERS), (9, 2)),)


def main() -> torch.Tensor:
    model, inputs = example()
    scripted = torch.jit.script(model)
    with torch.no_grad(), tempfile.TemporaryDirectory() as folder:
        result, _ = scripted(*inputs)
        file = Path(folder) / "char_rnn.pt"
        scripted.save(str(file))
        loaded = torch.jit.load(str(file))
        assert torch.equal(loaded(*inputs)[0], result)
        print("written:", loaded.write("once upon", 12))
    return result


if __name__ == "__main__":
    main()
