"""Attacks on arrays: arguments, archives and threads that reach for what lies beside them."""

from __future__ import annotations

import struct
import threading
from collections.abc import Callable
from typing import Any

from harness import Family, refused
from making import archive, integer, load, text

FAMILY = Family(
    "memory",
    "No argument, archive or second thread makes an operator read or write outside the arrays it "
    "was given.",
    frozenset(
        {
            "eager: large cross_entropy beyond",
            "eager: combinations of too many",
            "eager: unbind of too many views",
            "threads: gather and its index",
            "threads: index_select and its index",
            "threads: index_put_ and its index",
            "threads: embedding and its index",
            "threads: embedding_bag and its offsets",
            "threads: nll_loss and its target",
            "threads: bincount and its input",
            "threads: set_ and an addition",
        }
    ),
)
HUGE = 2**62
SURROUNDINGS = 64


def _canaries() -> list[Any]:
    import numpy as np

    return [np.full(size, 77, np.uint8) for size in (8, 64, 512, 4096) for _ in range(SURROUNDINGS)]


def _check(canaries: list[Any]) -> None:
    from harness import Broken

    for canary in canaries:
        if (canary != 77).any():
            raise Broken("memory outside the array was written")


def _run(source: str) -> Callable[[], None]:
    """Run lines with `torch` and `np` between arrays that must stay as they are."""

    def run() -> None:
        import numpy as np

        import rushlight as torch

        canaries = _canaries()
        kept = np.full(1000, 77, np.uint8)
        names = {"torch": torch, "np": np, "F": torch.nn.functional, "HUGE": HUGE}
        try:
            exec(source, names)
        finally:
            _check([*canaries, kept])
            names.clear()

    return run


REFUSED = {
    # -- views
    "set_ before the memory, bfloat16": "y = torch.ones(4).bfloat16()\ny.set_(torch.ones(4).bfloat16(), 0, (1000,), (-1000000,))\ny.fill_(1.)",
    "set_ behind the memory": "y = torch.ones(4)\ny.set_(torch.ones(4), 1000000, (10,), (1,))\ny.fill_(1)",
    "set_ with steps that wrap": "y = torch.ones(4)\ny.set_(torch.ones(4), 0, (3,), (2**61,))\ny.fill_(1)",
    "set_ with sizes that wrap": "y = torch.ones(4)\ny.set_(torch.ones(4), 0, (2**32, 2**32), (0, 1))\ny.fill_(1)",
    "set_ with a negative offset": "y = torch.ones(4)\ny.set_(torch.ones(4), -100000, (4,), (1,))\ny.fill_(1)",
    "as_strided behind the memory": "torch.ones(4).as_strided((1000,), (1000,)).fill_(1)",
    "as_strided with a negative step": "torch.ones(4).as_strided((1000,), (-1,)).fill_(1)",
    "as_strided with a negative size": "torch.ones(4).as_strided((-5, 3), (1, 1))",
    "as_strided with a negative offset": "torch.ones(4).as_strided((2,), (1,), -1000).fill_(1)",
    "as_strided with a huge offset": "torch.ones(4).as_strided((2,), (1,), 2**62).fill_(1)",
    "as_strided with a reach that wraps": "torch.ones(4).as_strided((2, 2), (2**62, 2**62)).fill_(1)",
    "as_strided_ of bool": "torch.ones(4, dtype=torch.bool).as_strided_((100000,), (1,)).fill_(True)",
    "as_strided of complex": "torch.ones(4, dtype=torch.complex64).as_strided((5,), (1,)).fill_(1)",
    "as_strided_scatter outside": "torch.as_strided_scatter(torch.ones(4), torch.ones(9), (9,), (1,))",
    "as_strided of a view": "torch.arange(10.)[2:4].as_strided((3,), (1,), 8).fill_(5)",
    "unfold beyond": "torch.ones(4).unfold(0, 5, 1)",
    "unfold by a negative step": "torch.ones(4).unfold(0, 2, -1)",
    "unfold of a negative size": "torch.ones(4).unfold(0, -2, 1)",
    "narrow beyond": "torch.ones(4).narrow(0, 2, 2**62).fill_(1)",
    "narrow before": "torch.ones(4).narrow(0, -100, 2).fill_(1)",
    "select beyond": "torch.ones(4).select(0, 2**40)",
    "expand to a negative size": "torch.ones(1).expand(-5)",
    "view with sizes that wrap": "torch.ones(4).view(2**32, 2**32)",
    "view_as_complex of odd steps": "torch.view_as_complex(torch.ones(3, 3)[:, :2])",
    "view of another dtype with odd size": "torch.ones(3, dtype=torch.uint8).view(torch.float64)",
    "diagonal far outside": "assert torch.ones(3, 3).diagonal(2**40).numel() == 0\nraise ValueError('empty')",
    "split with negative sizes": "torch.ones(4).split([-2, 6])",
    "resize_ to sizes that wrap": "torch.ones(4).resize_(2**32, 2**32).fill_(1)",
    "resize_ to a negative size": "torch.ones(4).resize_(-4).fill_(1)",
    # -- indices
    "gather beyond": "torch.gather(torch.ones(4), 0, torch.tensor([2**40]))",
    "gather before": "torch.gather(torch.ones(4), 0, torch.tensor([-2**40]))",
    "scatter_ beyond": "torch.ones(4).scatter_(0, torch.tensor([100000]), 5.)",
    "scatter_ before": "torch.ones(4).scatter_(0, torch.tensor([-100000]), 5.)",
    "scatter_add_ beyond": "torch.zeros(20000).scatter_add_(0, torch.full((20000,), 20000), torch.ones(20000))",
    "scatter_reduce_ beyond": "torch.zeros(4).scatter_reduce_(0, torch.tensor([9]), torch.ones(1), 'sum')",
    "index_add_ beyond": "torch.zeros(20000, 4).index_add_(0, torch.full((20000,), 2**33), torch.ones(20000, 4))",
    "index_copy_ beyond": "torch.zeros(4).index_copy_(0, torch.tensor([4]), torch.ones(1))",
    "index_fill_ beyond": "torch.zeros(4).index_fill_(0, torch.tensor([-5]), 1.)",
    "index_put_ beyond": "torch.zeros(4).index_put_((torch.tensor([2**50]),), torch.ones(1))",
    "index_put_ accumulate beyond": "torch.zeros(4).index_put_((torch.tensor([4, -5]),), torch.ones(2), True)",
    "index_reduce_ beyond": "torch.zeros(4).index_reduce_(0, torch.tensor([4]), torch.ones(1), 'prod')",
    "index_select beyond": "torch.index_select(torch.ones(4), 0, torch.tensor([4]))",
    "index_select before": "torch.index_select(torch.ones(4), 0, torch.tensor([-1]))",
    "take beyond": "torch.take(torch.ones(4), torch.tensor([4]))",
    "put_ beyond": "torch.ones(4).put_(torch.tensor([-5]), torch.ones(1))",
    "take_along_dim beyond": "torch.take_along_dim(torch.ones(4), torch.tensor([2**62]))",
    "embedding beyond": "F.embedding(torch.tensor([10]), torch.ones(10, 4))",
    "embedding before": "F.embedding(torch.tensor([-1]), torch.ones(10, 4))",
    "large embedding beyond": "F.embedding(torch.full((50000,), 1000), torch.ones(1000, 64))",
    "embedding_bag with wild offsets": "F.embedding_bag(torch.zeros(4, dtype=torch.long), torch.ones(10, 4), torch.tensor([0, 2**63 - 1, -2**63, -1]))",
    "embedding_bag beyond": "F.embedding_bag(torch.full((4,), 10), torch.ones(10, 4), torch.tensor([0, 2]))",
    "embedding_bag with a first offset": "F.embedding_bag(torch.zeros(4, dtype=torch.long), torch.ones(10, 4), torch.tensor([1, 2]))",
    "nll_loss beyond": "F.nll_loss(torch.ones(2, 3), torch.tensor([0, 3]))",
    "large cross_entropy beyond": "F.cross_entropy(torch.ones(10000, 10), torch.full((10000,), 10))",
    "cross_entropy before": "F.cross_entropy(torch.ones(2, 3), torch.tensor([0, -1]))",
    "multi_margin_loss beyond": "F.multi_margin_loss(torch.ones(2, 3), torch.tensor([0, 3]))",
    "multilabel_margin_loss beyond": "F.multilabel_margin_loss(torch.ones(1, 3), torch.tensor([[3, -1, -1]]))",
    "ctc_loss with a long target": "F.ctc_loss(torch.zeros(5, 1, 3), torch.ones(1, 2, dtype=torch.long), torch.tensor([5]), torch.tensor([100000]))",
    "ctc_loss with a long input": "F.ctc_loss(torch.zeros(5, 1, 3), torch.ones(1, 2, dtype=torch.long), torch.tensor([500000]), torch.tensor([2]))",
    "ctc_loss with a wild class": "F.ctc_loss(torch.zeros(5, 1, 3).log_softmax(2), torch.full((1, 2), 2**40), torch.tensor([5]), torch.tensor([2]))",
    "one_hot beyond": "F.one_hot(torch.tensor([5]), 3)",
    "one_hot before": "F.one_hot(torch.tensor([-1]), 3)",
    "one_hot of a huge class": "F.one_hot(torch.tensor([2**62]))",
    "bincount of a huge value": "torch.bincount(torch.tensor([2**62]))",
    "bincount of a negative value": "torch.bincount(torch.tensor([-2**62]))",
    "bincount with a huge minlength": "torch.bincount(torch.tensor([1]), minlength=2**62)",
    "max_unpool beyond": "F.max_unpool2d(torch.ones(1, 1, 2, 2), torch.full((1, 1, 2, 2), 99999), 2)",
    "max_unpool before": "F.max_unpool2d(torch.ones(1, 1, 2, 2), torch.full((1, 1, 2, 2), -1), 2)",
    "index by a list beyond": "torch.ones(4)[[4]]",
    "masked by a longer mask": "torch.ones(4)[torch.ones(5, dtype=torch.bool)]",
    "masked_scatter_ of too few": "torch.ones(4).masked_scatter_(torch.ones(4, dtype=torch.bool), torch.ones(2))",
    "searchsorted with a wild sorter": "torch.searchsorted(torch.ones(4), torch.ones(2), sorter=torch.tensor([0, 1, 2, 2**40]))",
    "bucketize by a matrix": "torch.bucketize(torch.ones(2), torch.ones(2, 2))",
    "tensordot over what does not fit": "torch.tensordot(torch.ones(2, 3), torch.ones(2, 3), dims=([1], [0]))",
    "segment_reduce with wild lengths": "torch.segment_reduce(torch.ones(4), 'sum', lengths=torch.tensor([2**62, 2**62, 2**62, 2**62 + 4]))",
    "segment_reduce with negative lengths": "torch.segment_reduce(torch.ones(4), 'sum', lengths=torch.tensor([-4, 8]))",
    "pack_padded_sequence with long lengths": "torch.nn.utils.rnn.pack_padded_sequence(torch.ones(2, 2, 3), torch.tensor([1000, 1]))",
    # -- counts
    "repeat_interleave with a sum that wraps": "torch.repeat_interleave(torch.ones(4), torch.tensor([HUGE, HUGE, HUGE, HUGE + 3]))",
    "repeat_interleave of repeats alone": "torch.repeat_interleave(torch.tensor([HUGE, HUGE, HUGE, HUGE + 3]))",
    "repeat_interleave with a negative count": "torch.repeat_interleave(torch.ones(2), torch.tensor([5, -1]))",
    "repeat_interleave of a huge number": "torch.ones(4).repeat_interleave(2**62)",
    "repeat with a product that wraps": "torch.ones(4).repeat(2**31, 2**31, 4)",
    "tile with a product that wraps": "torch.ones(4).tile((2**32, 2**32))",
    "zeros with a product that wraps": "torch.zeros(2**32, 2**32)",
    "empty_strided that wraps": "torch.empty_strided((2, 2), (2**62, 2**62)).fill_(1)",
    "empty_strided of negative steps": "torch.empty_strided((4,), (-1,)).fill_(1)",
    "arange of too many": "torch.arange(0, 2**62)",
    "arange by a tiny step": "torch.arange(0., 1e300, 1e-300)",
    "linspace of too many": "torch.linspace(0, 1, 2**62)",
    "eye that wraps": "torch.eye(2**32, 2**32)",
    "tril_indices that wrap": "torch.tril_indices(2**40, 2**40)",
    "combinations of too many": "torch.combinations(torch.arange(1000), 500)",
    "histc of too many": "torch.histc(torch.ones(4), 2**62)",
    "vander of too many": "torch.vander(torch.ones(4), 2**62)",
    "pad that wraps": "F.pad(torch.ones(4), (2**62, 2**62))",
    "pad below zero": "F.pad(torch.ones(4), (-3, -3))",
    "upsample to what wraps": "F.interpolate(torch.ones(1, 1, 4, 4), size=(2**32, 2**32))",
    "upsample by infinity": "F.interpolate(torch.ones(1, 1, 4, 4), scale_factor=float('inf'))",
    "unbind of too many views": "torch.ones(1).expand(2**40).unbind()",
    # -- geometry
    "conv2d by a huge step": "F.conv2d(torch.ones(1, 1, 4, 4), torch.ones(1, 1, 5, 5), stride=2**62)",
    "conv2d dilated beyond": "F.conv2d(torch.ones(1, 1, 4, 4), torch.ones(1, 1, 3, 3), dilation=2**62)",
    "conv2d with a huge padding": "F.conv2d(torch.ones(1, 1, 4, 4), torch.ones(1, 1, 3, 3), padding=2**62)",
    "conv2d in too many groups": "F.conv2d(torch.ones(1, 4, 4, 4), torch.ones(4, 4, 3, 3), groups=2**40)",
    "conv_transpose2d with a huge step": "F.conv_transpose2d(torch.ones(1, 1, 4, 4), torch.ones(1, 1, 3, 3), stride=2**61)",
    "conv_transpose2d with a huge output padding": "F.conv_transpose2d(torch.ones(1, 1, 4, 4), torch.ones(1, 1, 3, 3), output_padding=2**61)",
    "max_pool2d with a huge window": "F.max_pool2d(torch.ones(1, 1, 4, 4), 2**62)",
    "max_pool2d padded beyond half": "F.max_pool2d(torch.ones(1, 1, 4, 4), 2, padding=2**40)",
    "avg_pool2d by no step": "F.avg_pool2d(torch.ones(1, 1, 4, 4), 2, stride=0)",
    "fold to what wraps": "F.fold(torch.ones(1, 4, 9), (2**40, 2**40), 2)",
    "unfold windows by no step": "F.unfold(torch.ones(1, 1, 4, 4), 2, stride=0)",
    "pixel_shuffle by a huge factor": "F.pixel_shuffle(torch.ones(1, 4, 2, 2), 2**40)",
    "pixel_shuffle by none": "F.pixel_shuffle(torch.ones(1, 4, 2, 2), 0)",
    "channel_shuffle by none": "F.channel_shuffle(torch.ones(1, 4, 2, 2), 0)",
    "grid_sample of another batch": "F.grid_sample(torch.ones(1, 1, 4, 4), torch.ones(2, 3, 3, 2))",
    "stft of a long window": "torch.stft(torch.ones(10), 2**40, return_complex=True)",
    "istft of short frames": "torch.istft(torch.ones(3, 2, dtype=torch.complex64), 2**40)",
    "fft of a huge length": "torch.fft.fft(torch.ones(4), n=2**62)",
    "fft of no length": "torch.fft.fft(torch.ones(4), n=0)",
    "lstm of other sizes": "torch.nn.LSTM(4, 4)(torch.ones(3, 2, 5))",
    "batch_norm of short statistics": "F.batch_norm(torch.ones(2, 4, 3, 3), torch.ones(2), torch.ones(2))",
    "layer_norm of a short weight": "F.layer_norm(torch.ones(2, 4), (4,), torch.ones(2))",
    "group_norm of a short weight": "F.group_norm(torch.ones(2, 4, 3), 2, torch.ones(2))",
    "attention of other lengths": "F.scaled_dot_product_attention(torch.ones(1, 4, 8), torch.ones(1, 5, 8), torch.ones(1, 6, 8))",
    "lu_solve with wild pivots": "torch.linalg.lu_solve(torch.eye(3), torch.full((3,), 2**30, dtype=torch.int32), torch.ones(3, 1))",
    "lu_unpack with wild pivots": "torch.lu_unpack(torch.eye(3), torch.full((3,), 2**30, dtype=torch.int32))",
    "ormqr of a long tau": "torch.ormqr(torch.ones(3, 2), torch.ones(9), torch.ones(3, 3))",
    "quantize_per_channel of short scales": "torch.quantize_per_channel(torch.ones(4, 2), torch.ones(2), torch.zeros(2), 0, torch.qint8)",
    "fake quantize by short scales": "torch.fake_quantize_per_channel_affine(torch.ones(4, 2), torch.ones(2), torch.zeros(2, dtype=torch.int32), 0, 0, 255)",
    "frombuffer beyond": "torch.frombuffer(bytearray(8), dtype=torch.float32, count=100)",
    "frombuffer before": "torch.frombuffer(bytearray(8), dtype=torch.float32, offset=-100)",
    "frombuffer with a count that wraps": "torch.frombuffer(bytearray(8), dtype=torch.float64, count=2**61)",
    "a generator's state of other sizes": "torch.Generator().set_state(torch.zeros(10, dtype=torch.uint8))",
    **{
        f"a generator's state that goes on at {place} of {left}": (
            "import struct\ng = torch.Generator()\nx = g.get_state()\n"
            f"x[8:24] = torch.frombuffer(bytearray(struct.pack('<iiQ', {left}, 1, {place})), dtype=torch.uint8)\n"
            "g.set_state(x)\ntorch.rand(2000, generator=g)"
        )
        for left, place in ((5, 2**31 - 5), (-1, 626), (2**31 - 1, 0), (5, 2**64 - 9), (1, 625))
    },
    "multinomial of too many": "torch.multinomial(torch.ones(3), 2**62, replacement=True)",
    "randperm of too many": "torch.randperm(2**62)",
    "matrix_power of a huge power": "torch.linalg.matrix_power(torch.ones(2, 3), 2**62)",
    "put_ into an expanded tensor": "torch.ones(1).expand(4).put_(torch.tensor([0]), torch.ones(1))",
    "copy_ into an expanded tensor": "torch.ones(1).expand(4).copy_(torch.ones(4))",
    "gather into a short out": "torch.gather(torch.ones(4), 0, torch.tensor([0, 9]), out=torch.ones(1))",
}

HARMLESS = {
    "fractional pooling with wild samples": "F.fractional_max_pool2d(torch.ones(1, 1, 8, 8), 2, output_size=(4, 4), _random_samples=torch.full((1, 1, 2), 1e9))",
    "squeeze_ of adjoints without dimensions": "l = [torch.ones([]).mH if hasattr(torch.Tensor, 'mH') and False else torch.adjoint(torch.ones([])) for i in range(1000)]\nfor t in l: t.squeeze_()",
    "squeeze_ of matrix_H without dimensions": "l = []\nfor i in range(1000): l.append(torch.ones([]).matrix_H if False else torch.ones([]).H)\nfor t in l: t.squeeze_()",
    "t_ of every 0-d result": "for f in (torch.neg, torch.abs, torch.sum, torch.max, torch.conj, torch.real, torch.squeeze, torch.t):\n  for i in range(300): f(torch.ones([])).unsqueeze_(0).squeeze_()",
    "an index that is what is written": "x = torch.zeros(20000, dtype=torch.int64)\nx.scatter_add_(0, x.view(-1), torch.full((20000,), 2**40))",
    "an index that is a view of what is added to": "x = torch.zeros(40000, dtype=torch.int64)\nx.index_add_(0, x[:40000], torch.full((40000,), 2**41))",
    "an index that overlaps through set_": "x = torch.zeros(20000, dtype=torch.int64)\ny = torch.empty(0, dtype=torch.int64).set_(x, 0, (20000,), (1,))\nx.scatter_add_(0, y, torch.full((20000,), 2**40))",
    "an index that overlaps through NumPy": "a = np.zeros(20000, np.int64)\nx = torch.from_numpy(a)\ny = torch.from_numpy(a[:])\nx.index_put_((y,), torch.full((20000,), 2**40), True)",
    "resize_ beneath a view": "x = torch.ones(4)\nv = x[1:]\nx.resize_(1000000)\nx.fill_(2)\nv.fill_(3)\nassert v.numel() == 3",
    "resize_ beneath NumPy": "x = torch.ones(4)\na = x.numpy()\nx.resize_(1000000)\ndel x\na[:] = 5",
    "set_ to itself": "x = torch.ones(4)\nfor i in range(100): x.set_(x)\nx.fill_(3)",
    "set_ in a circle": "x = torch.ones(4)\ny = torch.ones(9)\nfor i in range(200):\n  x.set_(y)\n  y.set_(x)\nx.fill_(3)\ny.fill_(4)",
    "a view that outlives its owner": "v = [torch.ones(1000)[i:] for i in range(100)]\nfor t in v: t.add_(1)",
    "a buffer that outlives its owner": "b = bytearray(4000)\nt = torch.frombuffer(b, dtype=torch.float32)\ndel b\nt.fill_(1)",
    "a buffer that wants to grow": "b = bytearray(4000)\nt = torch.frombuffer(b, dtype=torch.float32)\ntry:\n  b.extend(b'x' * 100000)\nexcept BufferError: pass\nt.fill_(1)",
    "DLPack that outlives its owner": "t = torch.from_dlpack(np.ones(1000, np.float32))\nt.add_(1)\nassert float(t.sum()) == 2000",
    "conv2d by a huge step, one output": "assert F.conv2d(torch.ones(1, 1, 3, 3), torch.ones(1, 1, 3, 3), stride=2**20).item() == 9",
    "pool over one pixel by a huge step": "assert F.max_pool2d(torch.ones(1, 1, 2, 2), 2, stride=2**40).item() == 1",
    "empty tensors everywhere": "e = torch.ones(0, 3)\nF.linear(e, torch.ones(2, 3))\nF.embedding(torch.ones(0, dtype=torch.long), torch.ones(2, 3))\ntorch.cat([e, e])\ntorch.sort(e)\ntorch.cumsum(e, 0)",
    "sums over steps of zero": "x = torch.ones(1).expand(100000)\nassert float(x.sum()) == 100000\nx.softmax(0)\nx.cumsum(0)",
    "out= that is the input": "x = torch.rand(100, 100)\ntorch.mm(x, x, out=torch.empty(0))\ntorch.cumsum(x, 0, out=x)",
    "flip and roll of huge amounts": "torch.roll(torch.ones(4), 2**62)\ntorch.roll(torch.ones(4), -2**62)\ntorch.ones(4).flip(0)",
    "grid_sample far outside and nan": "F.grid_sample(torch.ones(1, 1, 4, 4), torch.full((1, 3, 3, 2), float('nan')), align_corners=False)\nF.grid_sample(torch.ones(1, 1, 4, 4), torch.full((1, 3, 3, 2), 1e30), align_corners=False)\nF.grid_sample(torch.ones(1, 1, 4, 4), torch.full((1, 3, 3, 2), float('inf')), padding_mode='reflection', align_corners=False)",
    "indices of nan": "torch.ones(4)[torch.tensor([float('nan')]).long().clamp(0, 3)]",
    "quantized arrays of other sizes": "q = torch.quantize_per_tensor(torch.ones(4), 0.5, 1, torch.qint8)\nq.resize_(2) if False else None\nq[1:].dequantize()",
}

for name, source in REFUSED.items():

    def attack(source: str = source) -> None:
        with refused():
            _run(source)()

    FAMILY.attack(f"eager: {name}")(attack)

for name, source in HARMLESS.items():
    FAMILY.attack(f"eager: {name}")(_run(source))


# --------------------------------------------------------------------------- archives

TENSOR = "ctorch._utils\n_rebuild_tensor_v2\n"


def _numbers(values: tuple[int, ...]) -> bytes:
    return b"(" + b"".join(map(integer, values)) + b"t"


def _tensor(
    offset: int,
    sizes: tuple[int, ...],
    steps: tuple[int, ...],
    storage: str = "FloatStorage",
    key: str = "0",
    count: int = 4,
) -> bytes:
    """The opcodes of a tensor over a storage."""
    storage_id = (
        b"(" + text("storage") + f"ctorch\n{storage}\n".encode() + text(key) + text("cpu")
    ) + (integer(count) + b"tQ")
    return (
        TENSOR.encode()
        + b"("
        + storage_id
        + integer(offset)
        + _numbers(sizes)
        + _numbers(steps)
        + b"\x89ccollections\nOrderedDict\n)RtR"
    )


def _with_tensors(
    *tensors: bytes, body: str, storage: bytes = b"\0" * 16, kinds: str = ""
) -> bytes:
    slots = "".join(f"  t{i} : Tensor\n" for i in range(len(tensors)))
    items = b"".join(text(f"t{i}") + tensor for i, tensor in enumerate(tensors))
    data = b"\x80\x02c__torch__\nM\n)\x81}(" + items + b"ub."
    return archive(body, data=data, slots=slots, more={"data/0": storage})


TENSORS = {
    "behind its storage": (_tensor(0, (100000,), (1,)),),
    "before its storage": (_tensor(0, (1000,), (-1000,)),),
    "at an offset behind": (_tensor(10**9, (4,), (1,)),),
    "at a negative offset": (_tensor(-1000, (4,), (1,)),),
    "of steps that wrap": (_tensor(0, (3,), (2**61,)),),
    "of sizes that wrap": (_tensor(0, (2**32, 2**32), (0, 1)),),
    "of negative sizes": (_tensor(0, (-4,), (1,)),),
    "of fewer steps than sizes": (_tensor(0, (2, 2), (1,)),),
    "of numbers beyond 64 bits": (_tensor(0, (2**70,), (1,)),),
    "of a storage that says more than it has": (_tensor(0, (1000,), (1,), count=1000),),
    "of a storage that says less than nothing": (_tensor(0, (4,), (1,), count=-4),),
    "of bfloat16 behind": (_tensor(0, (1000,), (1,), "BFloat16Storage", count=8),),
    "of complex behind": (_tensor(0, (4,), (1,), "ComplexDoubleStorage", count=4),),
    "of half a number": (_tensor(0, (3,), (1,), "DoubleStorage", count=3),),
}

for name, tensors in TENSORS.items():

    def attack_archive(tensors: tuple[bytes, ...] = tensors) -> None:
        with refused():
            module = load(_with_tensors(*tensors, body="self.t0.fill_(1.)\nreturn x"))
            import rushlight as torch

            canaries = _canaries()
            module(torch.ones(2))
            _check(canaries)

    FAMILY.attack(f"archive: a tensor {name}")(attack_archive)


@FAMILY.attack("archive: one storage, two dtypes, an index that is written")
def two_dtypes() -> None:
    import rushlight as torch

    pair = (
        _tensor(0, (2,), (1,), "LongStorage", count=2),
        _tensor(0, (2,), (1,), "DoubleStorage", count=2),
    )
    body = (
        "y = torch.scatter_add_(self.t1, 0, self.t0, torch.to(torch.ones([2]), 7))\n"
        "return torch.fill_(self.t1, 1e300)"
    )
    canaries = _canaries()
    try:
        module = load(_with_tensors(*pair, body=body))
        module(torch.ones(2))
        module(torch.ones(2))
    finally:
        _check(canaries)


@FAMILY.attack("archive: set_ in script")
def set_in_script() -> None:
    import rushlight as torch

    body = "y = torch.set_(x, x, 0, [1000], [-100000])\nreturn torch.fill_(y, 1)"
    with refused():
        load(archive(body))(torch.ones(4))


# --------------------------------------------------------------------------- threads


def _race(setup: str, one: str, other: str, rounds: int = 150) -> Callable[[], None]:
    """Two threads run lines over the same names, again and again."""

    def run() -> None:
        import sys

        import numpy as np

        import rushlight as torch

        sys.setswitchinterval(1e-6)
        names = {"torch": torch, "np": np, "F": torch.nn.functional}
        exec(setup, names)
        first, second = compile(one, "<one>", "exec"), compile(other, "<other>", "exec")
        canaries, stop = _canaries(), threading.Event()

        def loop() -> None:
            while not stop.is_set():
                exec(second, names)

        thread = threading.Thread(target=loop)
        thread.start()
        try:
            for _ in range(rounds):
                try:
                    exec(first, names)
                except (RuntimeError, IndexError):
                    continue
        finally:
            stop.set()
            thread.join()
            _check(canaries)

    return run


INDEX = "i = torch.zeros(50000, dtype=torch.int64)\nx = torch.zeros(50000)\nw = torch.ones(50000)\n"
WILD = "i.fill_(2**40)\ni.fill_(0)"
RACES = {
    "scatter_add_ and its index": (INDEX, "x.scatter_add_(0, i, w)", WILD),
    "index_add_ and its index": (INDEX, "x.index_add_(0, i, w)", WILD),
    "gather and its index": (INDEX, "torch.gather(x, 0, i)", WILD),
    "index_select and its index": (INDEX, "torch.index_select(x, 0, i)", WILD),
    "index_put_ and its index": (INDEX, "x.index_put_((i,), w, True)", WILD),
    "embedding and its index": (
        INDEX + "e = torch.ones(1000, 16)\n",
        "F.embedding(i, e)",
        WILD,
    ),
    "embedding_bag and its offsets": (
        "i = torch.zeros(1000, dtype=torch.int64)\no = torch.arange(1000)\ne = torch.ones(100, 64)\n",
        "F.embedding_bag(i, e, o)",
        "o[5] = 2**40\no[5] = 5",
    ),
    "nll_loss and its target": (
        "i = torch.zeros(20000, dtype=torch.int64)\nx = torch.zeros(20000, 10)\n",
        "F.nll_loss(x, i)",
        WILD,
    ),
    "bincount and its input": (INDEX, "torch.bincount(i)", "i.fill_(5000)\ni.fill_(0)"),
    "resize_ and a sum": (
        "x = torch.ones(100000)\n",
        "x.sum()",
        "x.resize_(10)\nx.resize_(100000)",
    ),
    "set_ and an addition": (
        "x = torch.ones(100000)\nsmall = torch.ones(3)\nlarge = torch.ones(100000)\n",
        "x.add_(1)",
        "x.set_(small)\nx.set_(large)",
    ),
}
for name, (setup, one, other) in RACES.items():
    FAMILY.attack(f"threads: {name}", seconds=40.0)(_race(setup, one, other))


@FAMILY.attack("a pickled NumPy array of a foreign byte order")
def foreign_order() -> None:
    import numpy as np

    import rushlight as torch

    with refused():
        torch.from_numpy(np.ones(4, ">f4"))


@FAMILY.attack("DLPack of a lying producer")
def lying_dlpack() -> None:
    import rushlight as torch

    class Liar:
        def __dlpack__(self, **_: Any) -> Any:
            return struct.pack("<q", 1)

        def __dlpack_device__(self) -> tuple[int, int]:
            return (1, 0)

    with refused():
        torch.from_dlpack(Liar())
