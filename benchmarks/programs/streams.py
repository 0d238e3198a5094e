"""What is called for each piece of a stream: decoders, recurrent detectors, and boxes to choose."""

from typing import List, Tuple

from makers import network

import rushlight as torch


class Decoder(torch.nn.Module):
    """A GRU that looks at a memory through attention, the best word of each step next."""

    def __init__(self, words: int, size: int):
        super().__init__()
        self.embedding = torch.nn.Embedding(words, size)
        self.cell = torch.nn.GRUCell(2 * size, size)
        self.query = torch.nn.Linear(size, size)
        self.out = torch.nn.Linear(2 * size, words)

    def forward(self, memory: torch.Tensor, steps: int) -> Tuple[torch.Tensor, torch.Tensor]:
        hidden = memory.mean(1)
        word = torch.zeros(memory.size(0), dtype=torch.long)
        context = torch.zeros_like(hidden)
        words: List[torch.Tensor] = []
        for _ in range(steps):
            given = torch.cat([self.embedding(word), context], 1)
            hidden = self.cell(given, hidden)
            scores = torch.bmm(memory, self.query(hidden).unsqueeze(2)).squeeze(2)
            shares = torch.softmax(scores, 1)
            context = torch.bmm(shares.unsqueeze(1), memory).squeeze(1)
            logits = self.out(torch.cat([hidden, context], 1))
            word = logits.argmax(1)
            words.append(word)
        return torch.stack(words, 1), hidden


class Voice(torch.nn.Module):
    """Whether somebody speaks in 512 samples, with the state of all before."""

    def __init__(self):
        super().__init__()
        self.filters = torch.nn.Conv1d(1, 32, 64, stride=32, padding=16)
        self.first = torch.nn.Conv1d(32, 32, 3, stride=2, padding=1)
        self.second = torch.nn.Conv1d(32, 64, 3, stride=2, padding=1)
        self.lstm = torch.nn.LSTM(64, 64, batch_first=True)
        self.out = torch.nn.Linear(64, 1)

    def forward(
        self, x: torch.Tensor, h: torch.Tensor, c: torch.Tensor
    ) -> Tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        x = torch.relu(self.filters(x.unsqueeze(1)))
        x = torch.relu(self.first(x))
        x = torch.relu(self.second(x))
        out, (h, c) = self.lstm(x.transpose(1, 2), (h, c))
        return torch.sigmoid(self.out(out)).mean(1), h, c


class Causal(torch.nn.Module):
    """A convolution over what comes, and the end of what came before."""

    def __init__(self):
        super().__init__()
        self.filters = torch.nn.Conv1d(16, 16, 5)
        self.register_buffer("before", torch.zeros(1, 16, 4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        whole = torch.cat([self.before, x], 2)
        self.before = whole[:, :, -4:]
        return x + torch.relu(self.filters(whole))


class Listening(torch.nn.Module):
    """Attention over the last sixteen steps, whose keys and values the module keeps."""

    def __init__(self, size: int = 32, heads: int = 4):
        super().__init__()
        self.inward = torch.nn.Linear(size, 3 * size)
        self.outward = torch.nn.Linear(size, size)
        self.heads = heads
        self.keys = torch.zeros(1, heads, 16, size // heads)
        self.values = torch.zeros(1, heads, 16, size // heads)
        self.steps = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        parts = self.inward(x).view(1, 3 * self.heads, 1, -1).chunk(3, 1)
        self.keys = torch.cat([self.keys, parts[1]], 2)[:, :, -16:]
        self.values = torch.cat([self.values, parts[2]], 2)[:, :, -16:]
        self.steps += 1
        shares = torch.softmax(parts[0] @ self.keys.transpose(-1, -2) * 0.35, -1)
        return x + self.outward((shares @ self.values).view(1, -1))


def nms(boxes: torch.Tensor, scores: torch.Tensor, limit: float) -> torch.Tensor:
    """Boxes, the best first, that overlap none before by more than a share."""
    areas = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    order = scores.argsort(descending=True)
    kept: List[int] = []
    while order.numel() > 0:
        best = int(order[0].item())
        kept.append(best)
        if order.numel() == 1:
            break
        rest = order[1:]
        low = torch.max(boxes[rest, :2], boxes[best, :2])
        high = torch.min(boxes[rest, 2:], boxes[best, 2:])
        sides = (high - low).clamp(min=0.0)
        both = sides[:, 0] * sides[:, 1]
        share = both / (areas[rest] + areas[best] - both)
        order = rest[share <= limit]
    return torch.tensor(kept)


def suppressed(boxes: torch.Tensor, limit: float) -> List[int]:
    """The same for boxes in order, element by element."""
    kept: List[int] = []
    for i in range(boxes.size(0)):
        is_kept = True
        for j in kept:
            width = min(float(boxes[i, 2]), float(boxes[j, 2]))
            width -= max(float(boxes[i, 0]), float(boxes[j, 0]))
            height = min(float(boxes[i, 3]), float(boxes[j, 3]))
            height -= max(float(boxes[i, 1]), float(boxes[j, 1]))
            if width > 0.0 and height > 0.0 and width * height > limit:
                is_kept = False
                break
        if is_kept:
            kept.append(i)
    return kept


def voices():
    state = torch.zeros(1, 1, 64)
    return torch.randn(1, 512), state, state


def boxes(count: int):
    torch.manual_seed(7)
    low = torch.rand(count, 2) * 100
    return torch.cat([low, low + torch.rand(count, 2) * 30 + 5], 1), torch.rand(count)


PROGRAMS = {
    "gru_decoder": network(lambda: Decoder(100, 64), lambda: (torch.randn(1, 20, 64), 20), 5),
    "voice_chunk": network(Voice, voices, 6),
    "causal_chunk": network(
        lambda: torch.nn.Sequential(*[Causal() for _ in range(4)]),
        lambda: (torch.randn(1, 16, 8),),
        8,
    ),
    "attention_step": network(Listening, lambda: (torch.randn(1, 32),), 9),
    "nms200": lambda: (nms, torch.jit.script(nms), (*boxes(200), 0.5)),
    "nms_by_element": lambda: (
        suppressed,
        torch.jit.script(suppressed),
        (boxes(60)[0], 200.0),
    ),
}
