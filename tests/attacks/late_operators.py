"""Attacks on what came late: known calls, nested and sparse tensors, storages from files, sharing."""

from __future__ import annotations

import attacks_on_memory as memory
import attacks_on_sandbox as sandbox
from harness import refused
from making import archive, load, pickled, text

KNOWN = "f = lambda i: {call}\nfor _ in range(20): f(torch.zeros(20, dtype=torch.long))\nf(torch.full((20,), {index}))"
"""A call is made known by indices that fit, and then made with one that does not."""

CALLS = {
    "gather": "torch.gather(torch.ones(64), 0, i)",
    "index_select": "torch.index_select(torch.ones(64, 8), 0, i)",
    "embedding": "F.embedding(i, torch.ones(64, 8))",
    "embedding_bag": "F.embedding_bag(i, torch.ones(64, 8), torch.tensor([0, 9]))",
    "take": "torch.take(torch.ones(64), i)",
    "index": "torch.ones(64, 8)[i]",
    "index of two": "torch.ones(64, 64)[i, i]",
    "index_put": "torch.ones(64).index_put((i,), torch.ones(20))",
    "index_add": "torch.zeros(64, 8).index_add(0, i, torch.ones(20, 8))",
    "index_copy": "torch.zeros(64, 8).index_copy(0, i, torch.ones(20, 8))",
    "index_fill": "torch.zeros(64, 8).index_fill(0, i, 1.0)",
    "scatter": "torch.zeros(64).scatter(0, i, 1.0)",
    "scatter_add": "torch.zeros(64).scatter_add(0, i, torch.ones(20))",
    "scatter_reduce": "torch.zeros(64).scatter_reduce(0, i, torch.ones(20), 'amax')",
    "take_along_dim": "torch.take_along_dim(torch.ones(64), i)",
    "put": "torch.ones(64).put(i, torch.ones(20))",
    "cross_entropy": "F.cross_entropy(torch.ones(20, 64), i)",
    "nll_loss": "F.nll_loss(torch.ones(20, 64), i)",
    "one_hot": "F.one_hot(i, 64)",
    "max_unpool1d": "F.max_unpool1d(torch.ones(1, 1, 20), i.view(1, 1, -1), 2)",
}

REFUSED = {
    **{
        f"a known {name} {where}": KNOWN.format(call=call, index=index)
        for name, call in CALLS.items()
        for where, index in (("far behind", 2**40), ("just behind", 64), ("before", -65))
    },
    "nested: a part that is not there": "torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])[7]",
    "nested: to_padded_tensor of too few": "torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]).to_padded_tensor(0.0, (2, 1))",
    "nested: to_padded_tensor of too many": "torch.nested.nested_tensor([torch.ones(2)]).to_padded_tensor(0.0, (2**40, 2**40))",
    "sparse: indices behind": "torch.sparse_coo_tensor(torch.tensor([[9]]), torch.ones(1), (4,)).to_dense()",
    "sparse: indices before": "torch.sparse_coo_tensor(torch.tensor([[-5]]), torch.ones(1), (4,)).to_dense()",
    "sparse: indices before no sizes": "torch.sparse_coo_tensor(torch.tensor([[-1]]), torch.ones(1)).to_dense()",
    "sparse: sizes that wrap": "torch.sparse_coo_tensor(torch.tensor([[0], [0]]), torch.ones(1), (2**40, 2**40)).to_dense()",
    "sparse: more values than indices": "torch.sparse_coo_tensor(torch.tensor([[0]]), torch.ones(5), (4,)).to_dense()",
    "sparse: rows that end behind": "torch.sparse_csr_tensor(torch.tensor([0, 9]), torch.tensor([0]), torch.ones(1), (1, 4)).to_dense()",
    "sparse: columns behind": "torch.sparse_csr_tensor(torch.tensor([0, 1]), torch.tensor([9]), torch.ones(1), (1, 4)).to_dense()",
    "sparse: rows that go down": "torch.sparse_csr_tensor(torch.tensor([0, 2, 1]), torch.tensor([0]), torch.ones(1), (2, 4)).to_dense()",
    "storage: from a file that is not there": "torch.UntypedStorage.from_file('gone', False, 100)",
    "storage: longer than its file": "open('s', 'wb').write(b'12345678')\ntorch.UntypedStorage.from_file('s', False, 2**40)",
    "storage: of a negative size": "torch.UntypedStorage(-5)",
    "storage: an element behind": "torch.ones(4).untyped_storage()[16]",
    "quantized: an index behind": "torch.quantize_per_tensor(torch.ones(4), 0.5, 0, torch.qint8)[9]",
    "quantized: an axis that is not there": "torch.quantize_per_channel(torch.ones(4, 2), torch.ones(4), torch.zeros(4, dtype=torch.long), 5, torch.qint8)",
    "quantized: scales that are not there": "torch._make_per_channel_quantized_tensor(torch.ones(4, 2, dtype=torch.int8), torch.ones(1), torch.zeros(1, dtype=torch.long), 0)",
    "boxes: scores of others": "import rushlight.ops\ntorch.ops.torchvision.nms(torch.ones(3, 4), torch.ones(9), 0.5)",
    "boxes: a batch that is not there": "torch.ops.torchvision.roi_align(torch.ones(1, 1, 4, 4), torch.tensor([[7.0, 0, 0, 2, 2]]), 1.0, 2, 2, 2, False)",
}
"""Lines that end in a documented error, arrays around them as they were."""

HARMLESS = {
    "storage: resized to nothing beneath a view": "x = torch.ones(4)\nx.untyped_storage().resize_(0)\nassert x.sum() == 4",
    "take_along_dim of indices that go round": "assert torch.take_along_dim(torch.arange(8), torch.full((3,), 2**40 + 1), 0).tolist() == [1] * 3",
    "a known sum of what becomes shorter": "f = lambda x: x.sum()\nx = torch.ones(4000)\nfor _ in range(20): f(x)\nx.resize_(4)\nassert f(x) == 4",
    "a known sum of what gets other memory": "f = lambda x: torch.relu(x)\nx = torch.ones(4000)\nfor _ in range(20): f(x)\nx.set_(torch.ones(3))\nassert f(x).shape == (3,)",
    "a known addition of what is repeated": "f = lambda x, y: x.add_(y)\nx = torch.ones(4000)\nfor _ in range(20): f(x, torch.ones(4000))\nx = torch.ones(1).expand(4000)\ntry: f(x, torch.ones(4000))\nexcept RuntimeError: pass",
    "a known call of other dtypes": "f = lambda x: torch.exp(x)\nfor d in (torch.float32, torch.float64, torch.bfloat16, torch.complex64) * 5: f(torch.ones(4000, dtype=d))",
    "a known call whose result is its operand": "x = torch.ones(4000)\nfor _ in range(30): torch.add(x, x, out=x)\nassert x[0] == 2.0**30",
    "a known call of a part of what is written": "x = torch.ones(4000)\nfor n in range(30): x[1:].add_(x[:-1])",
    "a group of what has other sizes each time": "def f(x, y):\n    return torch.relu(x + y) * 2 - x\nfor n in (1, 5, 4000, 3, 0, 100000, 2): f(torch.ones(n, 2), torch.ones(2))",
    "a group of operands that overlap": "def f(x, y):\n    return torch.relu(x + y) * 2 - x\nx = torch.ones(9000)\nfor n in range(20): f(x[n:n + 8900], x[:8900])",
}


for _name, _source in REFUSED.items():

    def attack(source: str = _source) -> None:
        with refused():
            memory._run(source)()

    memory.FAMILY.attack(f"late: {_name}", long=" before" in _name or "far behind" in _name)(attack)

for _name, _source in HARMLESS.items():
    memory.FAMILY.attack(f"late: {_name}")(memory._run(_source))


# -- pickles whose parts are shared

SHARED = {
    "a reduction remembered and done again": b"crushlight\nload\nq\x00h\x00)R",
    "a name made of two texts": b"\x80\x02"
    + text("os")
    + text("system")
    + b"\x93"
    + text("id")
    + b"\x85R",
    "a memo that is overwritten by a call": b"}q\x00cos\nsystem\nq\x00h\x00"
    + text("id")
    + b"\x85R",
    "an object whose state is a call": b"c__torch__\nM\n)\x81cos\nsystem\n"
    + text("id")
    + b"\x85Rb",
    "a persistent id that is a call": b"cos\nsystem\n" + text("id") + b"\x85RQ",
    "a dict whose key is a call": b"}cos\nsystem\n" + text("id") + b"\x85RNs",
}


for _name, _body in SHARED.items():

    def hostile(body: bytes = _body) -> None:
        with refused():
            load(archive(data=pickled(body)))(0)

    sandbox.FAMILY.attack(f"shared: {_name}")(hostile)
