"""Embeddings, gathering and scattering, sorting, running sums."""

import rushlight as torch

F = torch.nn.functional


def embedding_mean(ids, table, values):
    return F.embedding(ids, table).mean(1)


def embedding_bag(ids, table, values):
    return F.embedding_bag(ids, table)


def index_add(ids, table, values):
    flat = ids.reshape(-1)
    return torch.zeros_like(table).index_add_(0, flat, table[flat])


def scatter_add(ids, table, values):
    return torch.zeros(1000).scatter_add_(0, ids.reshape(-1), values)


def topk(ids, table, values):
    return torch.topk(table, 5, -1)[0].sum() + torch.topk(values, 20)[0].sum()


def sort(ids, table, values):
    return torch.sort(table, -1)[0]


def cumsum(ids, table, values):
    return torch.cumsum(table, 0)


def cummax(ids, table, values):
    return torch.cummax(table, 1)[0]


def made(function):
    def make():
        torch.manual_seed(13)
        ids = torch.randint(0, 1000, (64, 32))
        arguments = ids, torch.randn(1000, 64), torch.randn(64 * 32)
        return function, torch.jit.script(function), arguments

    return make


PROGRAMS = {
    function.__name__: made(function)
    for function in (
        embedding_mean,
        embedding_bag,
        index_add,
        scatter_add,
        topk,
        sort,
        cumsum,
        cummax,
    )
}
