"""A vector that does not fit the matrix, at run time."""

import rushlight as torch


class MyModule(torch.nn.Module):
    def __init__(self, N, M):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.rand(N, M))

    def forward(self, input):
        if input.sum() > 0:
            output = self.weight.mv(input)
        else:
            output = self.weight + input
        return output


def run():
    ms = torch.jit.script(MyModule(3, 4))
    ms(torch.rand(111))
