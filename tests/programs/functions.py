"""Functions over tensors, alone and calling each other."""

import rushlight as torch


def myfun(x):
    y = x * x
    z = y.tanh()
    return z


@torch.jit.script
def myfun_decorated(x):
    y = x * x
    z = y.tanh()
    return z


def foo(x, w):
    y = torch.zeros(2, 2)
    for t in x:
        y = y.mm(w) + t
    return y


def bar(x, w):
    y = torch.zeros(1, 2, 2)
    for t in x:
        y = y + foo(x, w) + t
    return y


@torch.jit.script
def halve(x: torch.Tensor, by: float = 2.0) -> torch.Tensor:
    return x / by


@torch.jit.script
def caller(x: torch.Tensor, n: int) -> torch.Tensor:
    for i in range(n):
        if i % 2 == 0:
            x = halve(x)
        else:
            x = halve(x, by=0.25) + i
    return x


def matrices(n: int):
    torch.manual_seed(n)
    return torch.rand(n, 2, 2), torch.rand(2, 2)


PROGRAMS = {
    "myfun": lambda: (myfun, torch.jit.script(myfun)),
    "myfun_decorated": lambda: (myfun, myfun_decorated),
    "foo": lambda: (foo, torch.jit.script(foo)),
    "bar": lambda: (bar, torch.jit.script(bar)),
    "caller": lambda: (None, caller),
}
INPUTS = {
    "myfun": lambda: [(torch.arange(6.0).reshape(2, 3),), (torch.tensor(0.5),)],
    "myfun_decorated": lambda: [(torch.ones(3),)],
    "foo": lambda: [matrices(3), matrices(1)],
    "bar": lambda: [matrices(3)],
    "caller": lambda: [(torch.ones(2), 0), (torch.ones(2), 3)],
}
