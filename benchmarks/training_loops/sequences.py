"""Training loops over sequences: recurrent layers, a network in a loop, bags of words."""

from makers import trained

import rushlight as torch
from rushlight import nn

F = nn.functional


class Recurrent(nn.Module):
    def __init__(self, words: int, inner: nn.Module):
        super().__init__()
        self.embedding = nn.Embedding(words, 32)
        self.inner = inner
        self.last = nn.Linear(64, words)

    def forward(self, tokens):
        outputs, _ = self.inner(self.embedding(tokens))
        return self.last(outputs)


def _characters(prepared, inner):
    """A step of a model of characters."""
    model = prepared(Recurrent(40, inner))
    tokens = torch.randint(0, 40, (16, 26))
    x, y = tokens[:, :-1], tokens[:, 1:].reshape(-1)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = F.cross_entropy(model(x).reshape(-1, 40), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss

    return step


def lstm_characters(prepared):
    torch.manual_seed(11)
    return _characters(prepared, nn.LSTM(32, 64, batch_first=True))


def gru_characters(prepared):
    torch.manual_seed(12)
    return _characters(prepared, nn.GRU(32, 64, num_layers=2, batch_first=True))


class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.inward = nn.Linear(8, 32)
        self.around = nn.Linear(32, 32)
        self.last = nn.Linear(32, 1)

    def forward(self, x):
        state = torch.zeros(x.size(1), 32)
        for t in range(x.size(0)):
            state = torch.tanh(self.inward(x[t]) + self.around(state))
        return self.last(state)


def rnn_by_hand(prepared):
    torch.manual_seed(13)
    model = prepared(Cell())
    x, y = torch.randn(25, 16, 8), torch.randn(16, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    return trained(optimizer, lambda: F.mse_loss(model(x), y))


class Bags(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.EmbeddingBag(500, 32, mode="mean")
        self.last = nn.Linear(32, 4)

    def forward(self, words, starts):
        return self.last(self.words(words, starts))


def bag_classifier(prepared):
    torch.manual_seed(14)
    model = prepared(Bags())
    words, starts = torch.randint(0, 500, (640,)), torch.arange(0, 640, 20)
    y = torch.randint(0, 4, (32,))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    return trained(optimizer, lambda: F.cross_entropy(model(words, starts), y))


LOOPS = {
    "lstm_characters": lstm_characters,
    "gru_characters": gru_characters,
    "rnn_by_hand": rnn_by_hand,
    "bag_classifier": bag_classifier,
}
