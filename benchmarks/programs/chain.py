"""Fifty pointwise operators on sixteen elements: nothing but the cost of a step."""

import rushlight as torch


def chain(x, w, b):
    x = torch.sigmoid(torch.tanh(x * w + b) - w)
    x = torch.sigmoid(torch.tanh(x * w + b) - w)
    x = torch.sigmoid(torch.tanh(x * w + b) - w)
    x = torch.sigmoid(torch.tanh(x * w + b) - w)
    x = torch.sigmoid(torch.tanh(x * w + b) - w)
    x = torch.sigmoid(torch.tanh(x * w + b) - w)
    x = torch.sigmoid(torch.tanh(x * w + b) - w)
    x = torch.sigmoid(torch.tanh(x * w + b) - w)
    x = torch.sigmoid(torch.tanh(x * w + b) - w)
    x = torch.sigmoid(torch.tanh(x * w + b) - w)
    return x


def chain50():
    torch.manual_seed(0)
    arguments = torch.randn(16), torch.randn(16), torch.randn(16)
    return chain, torch.jit.script(chain), arguments


PROGRAMS = {"chain50x16": chain50}
