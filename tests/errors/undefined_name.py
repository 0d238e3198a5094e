"""A misspelled argument in a method."""

import rushlight as torch


class MyModule(torch.nn.Module):
    def __init__(self, N, M):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.rand(N, M))

    def forward(self, input):
        if input.sum() > 0:
            output = self.weight.mv(inpu)
        else:
            output = self.weight + input
        return output


def run():
    torch.jit.script(MyModule(3, 4))
