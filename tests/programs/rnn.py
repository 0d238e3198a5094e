"""The recurrent network of the TorchScript talks."""

import rushlight as torch


class RNN(torch.nn.Module):
    def __init__(self, inputs: int, hidden: int):
        super().__init__()
        self.W_h = torch.nn.Parameter(torch.randn(inputs, hidden))
        self.U_h = torch.nn.Parameter(torch.randn(hidden, hidden))
        self.W_y = torch.nn.Parameter(torch.randn(hidden, hidden))
        self.b_h = torch.nn.Parameter(torch.randn(hidden))
        self.b_y = torch.nn.Parameter(torch.randn(hidden))

    def forward(self, x, h):
        y = []
        for t in range(x.size(0)):
            h = torch.tanh(x[t] @ self.W_h + h @ self.U_h + self.b_h)
            y += [torch.tanh(h @ self.W_y + self.b_y)]
            if t % 10 == 0:
                print("stats: ", h.mean(), h.var())
        return torch.stack(y), h


def build():
    torch.manual_seed(5)
    return RNN(3, 4)


def sequence():
    torch.manual_seed(6)
    return [(torch.randn(12, 3), torch.zeros(4))]


PROGRAMS = {"rnn": lambda: (build(), torch.jit.script(build()))}
INPUTS = {"rnn": sequence}
