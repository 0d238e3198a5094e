"""A recurrent network of 50 steps, one input row a step, at three widths."""

import rushlight as torch

STEPS, INPUTS = 50, 8


class RNN(torch.nn.Module):
    def __init__(self, inputs: int, hidden: int):
        super().__init__()
        self.W_h = torch.nn.Parameter(torch.randn(inputs, hidden) * 0.1)
        self.U_h = torch.nn.Parameter(torch.randn(hidden, hidden) * 0.1)
        self.W_y = torch.nn.Parameter(torch.randn(hidden, hidden) * 0.1)
        self.b_h = torch.nn.Parameter(torch.randn(hidden) * 0.1)
        self.b_y = torch.nn.Parameter(torch.randn(hidden) * 0.1)

    def forward(self, x, h):
        y = []
        for t in range(x.size(0)):
            h = torch.tanh(x[t] @ self.W_h + h @ self.U_h + self.b_h)
            y += [torch.tanh(h @ self.W_y + self.b_y)]
        return torch.stack(y), h


def rnn(hidden: int):
    torch.manual_seed(hidden)
    model = RNN(INPUTS, hidden)
    model.requires_grad_(False)
    return model, torch.jit.script(model), (torch.randn(STEPS, INPUTS), torch.zeros(hidden))


PROGRAMS = {
    "rnn4": lambda: rnn(4),
    "rnn64": lambda: rnn(64),
    "rnn256": lambda: rnn(256),
}
