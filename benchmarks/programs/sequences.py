"""Sequence models in script: many small operators in loops."""

from typing import List, Tuple

import rushlight as torch


class LSTM(torch.nn.Module):
    def __init__(self, inputs: int, hidden: int):
        super().__init__()
        self.w_x = torch.nn.Parameter(torch.randn(4 * hidden, inputs) * 0.1)
        self.w_h = torch.nn.Parameter(torch.randn(4 * hidden, hidden) * 0.1)
        self.b = torch.nn.Parameter(torch.randn(4 * hidden) * 0.1)

    def forward(
        self, x: torch.Tensor, h: torch.Tensor, c: torch.Tensor
    ) -> Tuple[torch.Tensor, torch.Tensor]:
        outputs: List[torch.Tensor] = []
        for t in range(x.size(0)):
            gates = torch.matmul(x[t], self.w_x.t()) + torch.matmul(h, self.w_h.t()) + self.b
            i, f, g, o = gates.chunk(4, 1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
            outputs.append(h)
        return torch.stack(outputs), c


def lstm64():
    torch.manual_seed(1)
    model = LSTM(64, 64)
    model.requires_grad_(False)
    state = torch.zeros(1, 64)
    return model, torch.jit.script(model), (torch.randn(30, 1, 64), state, state)


def viterbi_path(emissions: torch.Tensor, transitions: torch.Tensor) -> List[int]:
    score = emissions[0]
    history: List[torch.Tensor] = []
    for t in range(1, emissions.size(0)):
        best, index = torch.max(score.unsqueeze(1) + transitions, 0)
        score = best + emissions[t]
        history.append(index)
    last = int(score.argmax().item())
    path = [last]
    for t in range(len(history)):
        last = int(history[len(history) - 1 - t][last].item())
        path.append(last)
    path.reverse()
    return path


def viterbi():
    torch.manual_seed(2)
    arguments = torch.randn(30, 12), torch.randn(12, 12)
    return viterbi_path, torch.jit.script(viterbi_path), arguments


def beam_search(logits: torch.Tensor, table: torch.Tensor, width: int) -> torch.Tensor:
    scores = torch.zeros(1)
    tokens = torch.zeros(1, 1, dtype=torch.long)
    vocabulary = logits.size(1)
    for t in range(logits.size(0)):
        last = tokens[:, -1]
        step = torch.log_softmax(logits[t] + table[last], dim=-1)
        total = (scores.unsqueeze(1) + step).reshape(-1)
        scores, index = torch.topk(total, width)
        origin = torch.div(index, vocabulary, rounding_mode="floor")
        token = index % vocabulary
        tokens = torch.cat([tokens[origin], token.unsqueeze(1)], dim=1)
    return tokens


def beam():
    torch.manual_seed(3)
    arguments = torch.randn(12, 40), torch.randn(40, 40), 5
    return beam_search, torch.jit.script(beam_search), arguments


class MLP(torch.nn.Module):
    def __init__(self, sizes: List[int]):
        super().__init__()
        self.w1 = torch.nn.Parameter(torch.randn(sizes[1], sizes[0]) * 0.1)
        self.w2 = torch.nn.Parameter(torch.randn(sizes[2], sizes[1]) * 0.1)
        self.w3 = torch.nn.Parameter(torch.randn(sizes[3], sizes[2]) * 0.1)
        self.b1 = torch.nn.Parameter(torch.randn(sizes[1]))
        self.b2 = torch.nn.Parameter(torch.randn(sizes[2]))
        self.b3 = torch.nn.Parameter(torch.randn(sizes[3]))

    def forward(self, x):
        x = torch.relu(torch.nn.functional.linear(x, self.w1, self.b1))
        x = torch.relu(torch.nn.functional.linear(x, self.w2, self.b2))
        return torch.nn.functional.linear(x, self.w3, self.b3)


def mlp(sizes: List[int], batch: int):
    torch.manual_seed(4)
    model = MLP(sizes)
    model.requires_grad_(False)
    return model, torch.jit.script(model), (torch.randn(batch, sizes[0]),)


PROGRAMS = {
    "lstm64": lstm64,
    "viterbi": viterbi,
    "beam": beam,
    "mlp_batch1": lambda: mlp([64, 128, 128, 10], 1),
    "mlp_b128": lambda: mlp([512, 1024, 1024, 10], 128),
}
