"""Attacks on the bounds of untrusted code: memory, time, instructions, output."""

from __future__ import annotations

import copy
import io
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness import Broken, Family, refused
from making import archive, load

FAMILY = Family(
    "bounds",
    "A call of untrusted code takes no more memory than its bound (and a quarter), ends within "
    "its seconds (and two), counts its instructions, and keeps its bounds through whatever is "
    "made of it; a bound that is passed ends in `limit-exceeded`, and no innocent call is ended.",
    frozenset(
        {
            "size: many kept",
            "size: to float64",
            "size: combinations",
            "size: pow in a chain",
            "text: lists kept",
            "time: sleep by cumsum",
            "time: list in list",
            "time: sorting a list",
            "time: string search",
            "time: a large product",
            "time: an endless loop of little",
            "compiling: many branches",
            "compiling: many lines",
            "what an earlier call keeps ends no later one",
            "size: cat in a loop",
            "text: str of a large tensor",
            "text: split",
            "text: format",
            "text: strings kept",
        }
    ),
)
MEMORY = 256 << 20
SECONDS = 2.0
SLACK = (MEMORY >> 2) + (64 << 20)


def _limits(**bounds: Any) -> Any:
    from rushlight.interpreter.bounds.guard import Bounds
    from rushlight.serialization.files.limits import Limits

    return Limits(running=Bounds(**{"memory": MEMORY, "seconds": SECONDS, **bounds}))


def _peak() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


def _measured(action: Callable[[], object], code: str = "") -> None:
    """Run an action, which must stay within memory and time; and be refused, if a code is given."""
    Path("/proc/self/clear_refs").write_text("5")
    before, began = _peak(), time.monotonic()
    try:
        if code:
            with refused(code):
                action()
        else:
            action()
    finally:
        took, grown = time.monotonic() - began, _peak() - before
        if grown > MEMORY + SLACK:
            raise Broken(f"it took {grown >> 20} MB under a bound of {MEMORY >> 20} MB")
        if took > SECONDS + 2 + (6 if os.getloadavg()[0] > 3 else 0):
            raise Broken(f"it took {took:.1f} s under a bound of {SECONDS:g} s")


def _bounded(body: str, before: str = "", code: str = "limit-exceeded") -> Callable[[], None]:
    data = archive(body, before)

    def run() -> None:
        import rushlight as torch

        try:
            module = load(data, limits=_limits())
        except Exception as error:
            raise Broken(f"what attacks is not compiled: {error}") from error
        x = torch.ones(1000)
        _measured(lambda: module(x), code)

    return run


L20 = "[20000, 20000]"
SIZES = {
    "zeros": f"return torch.zeros({L20}, dtype=None, layout=None, device=None, pin_memory=None)",
    "ones of bytes": "return torch.ones([60000, 60000], dtype=0, layout=None, device=None, pin_memory=None)",
    "full": f"return torch.full({L20}, 1., dtype=None, layout=None, device=None, pin_memory=None)",
    "empty and fill": f"return torch.fill_(torch.empty({L20}, dtype=None, layout=None, device=None, pin_memory=None, memory_format=None), 1)",
    "arange": "return torch.arange(400000000)",
    "linspace": "return torch.linspace(0, 1, 400000000, dtype=None, layout=None, device=None, pin_memory=None)",
    "rand": f"return torch.rand({L20}, dtype=None, layout=None, device=None, pin_memory=None)",
    "randint": f"return torch.randint(5, {L20}, dtype=None, layout=None, device=None, pin_memory=None)",
    "randperm": "return torch.randperm(100000000, dtype=None, layout=None, device=None, pin_memory=None)",
    "eye": "return torch.eye(20000, dtype=None, layout=None, device=None, pin_memory=None)",
    "tile": f"return torch.tile(x, {L20})",
    "repeat": "return torch.repeat(x, [1000, 1000])",
    "repeat_interleave": "return torch.repeat_interleave(x, 1000000)",
    "expand and contiguous": "return torch.contiguous(torch.expand(x, [1000000, 1000]))",
    "expand and add": "return torch.add(torch.expand(x, [1000000, 1000]), 1)",
    "expand and sort": "return (torch.sort(torch.expand(x, [200000, 1000])))[0]",
    "expand and cumsum": "return torch.cumsum(torch.expand(x, [1000000, 1000]), 0)",
    "outer": "y = torch.repeat(x, [30])\nreturn torch.outer(y, y)",
    "broadcast add": "y = torch.repeat(x, [30])\nreturn torch.add(torch.unsqueeze(y, 0), torch.unsqueeze(y, 1))",
    "matmul": "y = torch.reshape(torch.repeat(x, [30]), [30000, 1])\nreturn torch.matmul(y, torch.t(y))",
    "einsum": "y = torch.repeat(x, [30])\nreturn torch.einsum('i,j->ij', [y, y])",
    "einsum of sublists": "y = torch.repeat(x, [30])\nreturn torch.einsum(y, [0], y, [1])",
    "einsum of three": "return torch.einsum('i,j,k->ijk', [x, x, x])",
    "inner": "y = torch.reshape(torch.repeat(x, [30]), [30000, 1])\nreturn torch.inner(y, y)",
    "tensordot": "y = torch.repeat(x, [30])\nz = torch.unsqueeze(y, 0)\nreturn torch.tensordot(z, z, [0], [0])",
    "kron": "y = torch.repeat(x, [30])\nreturn torch.kron(y, y)",
    "cdist": "y = torch.reshape(torch.repeat(x, [30]), [30000, 1])\nreturn torch.cdist(y, y)",
    "diag": "return torch.diag(torch.repeat(x, [20]))",
    "diag_embed": "return torch.diag_embed(torch.repeat(x, [20]))",
    "diagflat": "return torch.diagflat(torch.repeat(x, [20]))",
    "vander": "return torch.vander(x, 400000)",
    "histc": "return torch.histc(x, 400000000)",
    "bincount": "return torch.bincount(torch.to(x, 4), None, 400000000)",
    "one_hot": "return torch.one_hot(torch.to(x, 4), 400000)",
    "combinations": "return torch.combinations(x, 3)",
    "cartesian_prod": "return torch.cartesian_prod([x, x, x])",
    "meshgrid": "y = torch.meshgrid([x, x, x])\nreturn torch.add(y[0], 1)",
    "stack": "return torch.stack([x for i in range(3)])",
    "pad": "return torch.constant_pad_nd(x, [400000000, 0])",
    "unfold and copy": "y = torch.repeat(x, [30])\nreturn torch.contiguous(torch.unfold(y, 0, 15000, 1))",
    "im2col": "y = torch.reshape(torch.repeat(x, [1000]), [1, 1, 1000, 1000])\nreturn torch.im2col(y, [50, 50], [1, 1], [0, 0], [1, 1])",
    "upsample_nearest1d": "return torch.upsample_nearest1d(torch.reshape(x, [1, 1, 1000]), [400000000])",
    "upsample_bilinear2d": f"return torch.upsample_bilinear2d(torch.reshape(x, [1, 1, 10, 100]), {L20}, False)",
    "upsample_bicubic2d": f"return torch.upsample_bicubic2d(torch.reshape(x, [1, 1, 10, 100]), {L20}, False)",
    "fft of a long s": "return torch.real(torch.fft_fft2(torch.reshape(x, [10, 100]), [20000, 20000]))",
    "fft of a long n": "return torch.real(torch.fft_fft(x, 200000000))",
    "fftfreq": "return torch.fft_fftfreq(400000000, 1., dtype=None, layout=None, device=None, pin_memory=None)",
    "stft": "y = torch.repeat(x, [100])\nreturn torch.view_as_real(torch.stft(y, 4000, 1, None, None, False, True, True))",
    "embedding": "y = torch.reshape(x, [1, 1000])\nz = torch.zeros([400000], dtype=4, layout=None, device=None, pin_memory=None)\nreturn torch.embedding(y, z)",
    "index": "z = torch.zeros([400000], dtype=4, layout=None, device=None, pin_memory=None)\nreturn torch.index(torch.reshape(x, [1, 1000]), [z])",
    "index_select": "z = torch.zeros([400000], dtype=4, layout=None, device=None, pin_memory=None)\nreturn torch.index_select(torch.reshape(x, [1, 1000]), 0, z)",
    "gather by an expanded index": "z = torch.expand(torch.zeros([1], dtype=4, layout=None, device=None, pin_memory=None), [400000000])\nreturn torch.gather(x, 0, z)",
    "nonzero": "return torch.nonzero(torch.expand(x, [100000, 1000]))",
    "attention": "y = torch.reshape(torch.repeat(x, [30]), [1, 30000, 1])\nreturn (torch._scaled_dot_product_attention_math(y, y, y))[1]",
    "attention of many": "y = torch.reshape(torch.repeat(x, [300]), [1, 300000, 1])\nreturn torch.scaled_dot_product_attention(y, y, y)",
    "attention of many heads": "y = torch.reshape(torch.repeat(x, [300]), [1, 300000, 1])\nw = torch.ones([3, 1], dtype=None, layout=None, device=None, pin_memory=None)\nb = torch.ones([3], dtype=None, layout=None, device=None, pin_memory=None)\nreturn (torch._native_multi_head_attention(y, y, y, 1, 1, w, b, torch.slice(w, 0, 0, 1), torch.slice(b, 0, 0, 1), None, False))[0]",
    "conv1d of many channels": "y = torch.reshape(x, [1, 1, 1000])\nw = torch.expand(torch.ones([1, 1, 1], dtype=None, layout=None, device=None, pin_memory=None), [400000, 1, 1])\nreturn torch.conv1d(y, w)",
    "conv_transpose1d by a long step": "y = torch.reshape(x, [1, 1, 1000])\nw = torch.ones([1, 1, 1], dtype=None, layout=None, device=None, pin_memory=None)\nreturn torch.conv_transpose1d(y, w, None, [400000])",
    "adaptive_avg_pool2d": f"return torch.adaptive_avg_pool2d(torch.reshape(x, [1, 10, 100]), {L20})",
    "triu_indices": "return torch.triu_indices(20000, 20000, 0, dtype=4, layout=None, device=None, pin_memory=None)",
    "multinomial": "return torch.multinomial(x, 400000000, True)",
    "block_diag": "y = torch.reshape(torch.repeat(x, [20]), [1, 20000])\nreturn torch.block_diag([y for i in range(20000)])",
    "cov": "return torch.cov(torch.reshape(torch.repeat(x, [20]), [20000, 1]))",
    "to float64": "return torch.to(torch.repeat(x, [50000]), 7)",
    "pow in a chain": "y = torch.repeat(x, [20000])\nz = torch.add(torch.mul(torch.pow(y, 2), 3), torch.exp(torch.sin(y)))\nreturn torch.cat([z, z, z, z, z])",
    "cat in a loop": "y = x\nfor i in range(40):\n  y = torch.cat([y, y])\nreturn y",
    "many kept": "l : List[Tensor] = []\nfor i in range(1000000):\n  _0 = torch.append(l, torch.add(x, i))\nreturn torch.stack(l)",
    "resize_": "return torch.resize_(torch.clone(x), [400000000])",
    "multigammaln of many dimensions": "return torch.special_multigammaln(x, 400000000)",
    "new_zeros": f"return torch.new_zeros(x, {L20})",
    "tensor of a big list": "return torch.tensor(torch.mul([1], 100000000))",
}
TEXTS = {
    "str times": "y = torch.ljust('', torch.mul(torch.size(x, 0), 4000000), 'a')\nreturn torch.add(x, torch.len(y))",
    "str doubled": "s = 'a'\nfor i in range(40):\n  s = torch.add(s, s)\nreturn torch.add(x, torch.len(s))",
    "ljust": "s = torch.ljust('a', 4000000000)\nreturn torch.add(x, torch.len(s))",
    "rjust": "s = torch.rjust('a', 4000000000)\nreturn torch.add(x, torch.len(s))",
    "center": "s = torch.center('a', 4000000000)\nreturn torch.add(x, torch.len(s))",
    "zfill": "s = torch.zfill('a', 4000000000)\nreturn torch.add(x, torch.len(s))",
    "expandtabs": "s = torch.expandtabs('\\t', 2000000000)\nreturn torch.add(x, torch.len(s))",
    "join": "s = torch.ljust('', 10000000, 'a')\nt = torch.join(s, torch.mul(['b'], 1000))\nreturn torch.add(x, torch.len(t))",
    "replace": "s = torch.ljust('', 1000000, 'a')\nt = torch.replace(s, 'a', s)\nreturn torch.add(x, torch.len(t))",
    "format": "s = torch.ljust('', 10000000, 'a')\nt = torch.format('{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}', s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s)\nreturn torch.add(x, torch.len(t))",
    "percent": "s = torch.ljust('', 10000000, 'a')\nt = torch.percentFormat('%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s', s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s)\nreturn torch.add(x, torch.len(t))",
    "split": "s = torch.replace(torch.ljust('', torch.mul(torch.size(x, 0), 30000), 'q'), 'q', 'a ')\nt = torch.split(s, ' ', -1)\nreturn torch.add(x, torch.len(t))",
    "list of a string": "s = torch.replace(torch.ljust('', torch.mul(torch.size(x, 0), 30000), 'q'), 'q', 'ab')\nt = torch.list(s)\nreturn torch.add(x, torch.len(t))",
    "list times": "l = torch.mul([1], 4000000000)\nreturn torch.add(x, torch.len(l))",
    "list doubled": "l = [1]\nfor i in range(40):\n  l = torch.add(l, l)\nreturn torch.add(x, torch.len(l))",
    "list extended by itself": "l = [1]\nfor i in range(40):\n  torch.extend(l, l)\nreturn torch.add(x, torch.len(l))",
    "lists kept": "l : List[List[int]] = []\nfor i in range(100000000):\n  _0 = torch.append(l, [i, i, i, i, i, i, i, i])\nreturn torch.add(x, torch.len(l))",
    "dict filled": "d : Dict[int, str] = {}\nfor i in range(100000000):\n  torch._set_item(d, i, 'a')\nreturn torch.add(x, torch.len(d))",
    "strings kept": "l : List[str] = []\nfor i in range(100000000):\n  _0 = torch.append(l, torch.add(torch.ljust('', 1000, 'a'), torch.str(i)))\nreturn torch.add(x, torch.len(l))",
    "a range as a list": "l = [i for i in range(100000000)]\nreturn torch.add(x, torch.len(l))",
    "tolist": "y = annotate(List[float], torch.repeat(x, [30000]).tolist())\nreturn torch.add(x, torch.len(y))",
    "str of a large tensor": "s = torch.str(torch.repeat(x, [30000]))\nreturn torch.add(x, torch.len(s))",
}
TIMES = {
    "an endless while": "n = 0\nwhile True:\n  n = torch.add(n, 1)\nreturn torch.add(x, n)",
    "an endless loop of little": "while True:\n  x = torch.neg(x)\nreturn x",
    "nested ranges": "n = 0\nfor i in range(9223372036854775807):\n  for j in range(9223372036854775807):\n    n = torch.add(n, 1)\nreturn torch.add(x, n)",
    "a large product": "y = torch.ones([5000, 5000], dtype=None, layout=None, device=None, pin_memory=None)\nwhile True:\n  y = torch.matmul(y, y)\nreturn y",
    "one huge product": "y = torch.expand(torch.ones([1, 1], dtype=None, layout=None, device=None, pin_memory=None), [30000, 30000])\nreturn torch.sum(torch.matmul(torch.expand(y, [30000, 30000]), torch.slice(y, 1, 0, 100)))",
    "a huge matrix_power": "y = torch.ones([1500, 1500], dtype=None, layout=None, device=None, pin_memory=None)\nreturn torch.matrix_power(y, 9223372036854775807)",
    "svd of a large matrix": "y = torch.ones([3000, 3000], dtype=None, layout=None, device=None, pin_memory=None)\nreturn (torch.linalg_svd(y))[1]",
    "sum of an expanded tensor": "y = torch.expand(x, [100000000, 1000])\nreturn torch.sum(y)",
    "einsum of an expanded tensor and its dimensions": "y = torch.expand(x, [100000000, 1000])\nreturn torch.einsum(y, [0, 1], [1])",
    "max of an expanded tensor": "y = torch.expand(x, [100000000, 1000])\nreturn torch.max(y)",
    "long convolution": "y = torch.ones([1, 64, 300, 300], dtype=None, layout=None, device=None, pin_memory=None)\nw = torch.ones([64, 64, 101, 101], dtype=None, layout=None, device=None, pin_memory=None)\nreturn torch.conv2d(y, w, None, [1, 1], [50, 50])",
    "pooling by large windows": "y = torch.ones([1, 8, 1000, 1000], dtype=None, layout=None, device=None, pin_memory=None)\nreturn torch.max_pool2d(y, [501, 501], [1, 1], [250, 250])",
    "sleep by cumsum": "y = torch.ones([3000000], dtype=None, layout=None, device=None, pin_memory=None)\nwhile True:\n  y = torch.cumsum(torch.sort(y)[0], 0)\nreturn y",
    "transform of a length with a large prime factor": "y = torch.ones([19918369], dtype=None, layout=None, device=None, pin_memory=None)\nreturn torch.abs(torch.fft_rfft(y))",
    "string search": "s = torch.ljust('', 1000000, 'a')\nt = torch.add(torch.ljust('', 500000, 'a'), 'b')\nn = 0\nwhile True:\n  n = torch.add(n, torch.find(s, t, 0, -1))\nreturn torch.add(x, n)",
    "sorting a list": "l = [torch.sub(1000000, i) for i in range(300000)]\nwhile True:\n  torch.sort(l, True)\n  torch.sort(l, False)\nreturn torch.add(x, torch.len(l))",
    "list in list": "l = [i for i in range(300000)]\nn = 0\nwhile True:\n  n = torch.add(n, int(torch.__contains__(l, -1)))\nreturn torch.add(x, n)",
}

for table, word in ((SIZES, "size"), (TEXTS, "text")):
    for name, body in table.items():
        code = "" if name in ("stack",) else "limit-exceeded"
        FAMILY.attack(f"{word}: {name}", megabytes=6000, seconds=40.0)(_bounded(body, code=code))
for name, body in TIMES.items():
    FAMILY.attack(f"time: {name}", megabytes=6000, seconds=40.0)(_bounded(body))


# --------------------------------------------------------------------------- ways around


LOOP = "n = 0\nfor i in range(9223372036854775807):\n  n = torch.add(n, 1)\nreturn torch.add(x, n)"
SIZE = "return torch.sum(torch.mul(torch.repeat(x, [400000]), 2))"


def _made(way: str, module: Any) -> Callable[[Any], object]:
    """Something that calls an untrusted module."""
    import rushlight as torch

    class Wrapper(torch.nn.Module):
        def __init__(self, inner: Any) -> None:
            super().__init__()
            self.inner = inner

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.inner(x) + 1

    if way == "freeze":
        return torch.jit.freeze(module.eval())
    if way == "optimize_for_inference":
        return torch.jit.optimize_for_inference(module.eval())
    if way == "script":
        return torch.jit.script(Wrapper(module))
    if way == "script and freeze":
        return torch.jit.freeze(torch.jit.script(Wrapper(module)).eval())
    if way == "trace":
        return torch.jit.trace(Wrapper(module), torch.ones(2), check_trace=False)
    if way == "deepcopy":
        return copy.deepcopy(module)
    if way == "copy":
        return copy.copy(module)
    if way == "a method":
        return module.forward
    if way == "eager wrapper":
        return Wrapper(module)
    if way == "Sequential":
        return torch.jit.script(torch.nn.Sequential(module, torch.nn.ReLU()))
    if way == "fork":
        return lambda x: torch.jit.wait(torch.jit.fork(module, x))
    if way == "no_grad":
        return lambda x: torch.no_grad()(module)(x)
    if way == "gradients":
        return lambda x: module(x.requires_grad_()).sum().backward()
    if way == "autocast":
        return lambda x: torch.autocast("cpu")(module)(x)
    if way == "a thread":
        return lambda x: _in_thread(module, x)
    if way == "the graph's function":
        return lambda x: module._c._get_method("forward")(x)
    raise ValueError(way)


def _in_thread(module: Any, x: Any) -> None:
    raised: list[BaseException] = []

    def run() -> None:
        try:
            module(x)
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if raised:
        raise raised[0]


WAYS = (
    *("freeze", "optimize_for_inference", "script", "script and freeze", "deepcopy", "copy"),
    *("a method", "eager wrapper", "Sequential", "fork", "no_grad", "gradients", "autocast"),
    *("a thread", "the graph's function"),
)
for way in WAYS:
    for word, body in (("instructions", LOOP), ("memory", SIZE)):

        def around(way: str = way, body: str = body) -> None:
            import rushlight as torch

            module = load(archive(body), limits=_limits(instructions=200_000))

            def use() -> None:
                made = _made(way, module)
                made(torch.ones(1000))

            _measured(use, "limit-exceeded")

        FAMILY.attack(f"{word} through {way}", megabytes=6000, seconds=40.0)(around)


@FAMILY.attack("a trace keeps the bounds of what it calls", megabytes=6000)
def trace() -> None:
    import rushlight as torch

    body = "n = 0\nfor i in range(torch.mul(torch.size(x, 0), 1000)):\n  n = torch.add(n, 1)\nreturn torch.add(x, n)"
    module = load(archive(body), limits=_limits(instructions=200_000))

    class Wrapper(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = module

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.inner(x) + 1

    traced = torch.jit.trace(Wrapper(), torch.ones(2), check_trace=False)
    traced(torch.ones(3))
    _measured(lambda: traced(torch.ones(100_000)), "limit-exceeded")


@FAMILY.attack("a trace of sizes keeps the memory bound", megabytes=6000)
def trace_sizes() -> None:
    import rushlight as torch

    body = "return torch.sum(torch.outer(x, x))"
    module = load(archive(body), limits=_limits())
    traced = torch.jit.trace(module, torch.ones(2), check_trace=False)
    _measured(lambda: traced(torch.ones(40_000)), "limit-exceeded")


@FAMILY.attack("saving and loading again without trust keeps nothing open", megabytes=6000)
def saved_again() -> None:
    import rushlight as torch

    module = load(archive(LOOP), limits=_limits(instructions=100_000))
    again = torch.jit.load(
        io.BytesIO(module.save_to_buffer()), trust="none", limits=_limits(instructions=100_000)
    )
    _measured(lambda: again(torch.ones(2)), "limit-exceeded")


@FAMILY.attack("__setstate__ is bounded", megabytes=6000)
def setstate() -> None:
    methods = (
        "  def __setstate__(self: __torch__.M, s: int) -> NoneType:\n"
        "    n = 0\n    while True:\n      n = torch.add(n, 1)\n    return None\n"
        "  def __getstate__(self: __torch__.M) -> int:\n    return 1\n"
    )
    data = archive(methods=methods, data=b"\x80\x02c__torch__\nM\n)\x81K\x01b.")
    _measured(lambda: load(data, limits=_limits(instructions=100_000)), "limit-exceeded")


@FAMILY.attack("a mobile module counts", megabytes=6000)
def mobile() -> None:
    import rushlight as torch

    class Endless(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            n = 0
            while n >= 0:
                n += 1
                n -= 1
            return x + n

    module: Any = torch.jit.script(Endless())
    for flat in (False, True):
        data = module._save_to_buffer_for_lite_interpreter(_use_flatbuffer=flat)
        Path("m.ptl").write_bytes(data)
        from rushlight.__main__ import main

        began = time.monotonic()
        try:
            main(["run", "m.ptl", "[1.0]"])
        except SystemExit as left:
            if left.code == 0:
                raise Broken("an endless mobile program ended well") from left
        if time.monotonic() - began > 100:
            raise Broken("a mobile program ran for too long")


@FAMILY.attack("what another thread takes ends no innocent call", megabytes=6000)
def innocent() -> None:
    import rushlight as torch

    module = load(
        archive("for i in range(2000):\n  x = torch.add(x, 1)\nreturn x"), limits=_limits()
    )
    kept: list[Any] = []

    def take() -> None:
        for _ in range(20):
            kept.append(torch.ones(8_000_000))
            time.sleep(0.01)

    thread = threading.Thread(target=take)
    thread.start()
    try:
        for _ in range(20):
            module(torch.ones(1000))
    except RuntimeError as error:
        raise Broken(f"an innocent call was ended: {error}") from error
    finally:
        thread.join()


@FAMILY.attack("what an earlier call keeps ends no later one", megabytes=6000)
def earlier() -> None:
    import rushlight as torch

    module = load(archive("return torch.repeat(x, [30000])"), limits=_limits(seconds=30.0))
    kept = []
    try:
        for _ in range(8):
            kept.append(module(torch.ones(1000)))
    except RuntimeError as error:
        raise Broken(f"call {len(kept)} was ended: {error}") from error


@FAMILY.attack("freed memory counts no more", megabytes=6000)
def freed() -> None:
    import rushlight as torch

    body = "for i in range(200):\n  y = torch.repeat(x, [10000])\nreturn torch.sum(y)"
    module = load(archive(body), limits=_limits(seconds=30.0))
    module(torch.ones(1000))


@FAMILY.attack("print in a loop", megabytes=6000)
def printing() -> None:
    import rushlight as torch

    body = "s = torch.ljust('', 1000000, 'a')\nwhile True:\n  print(s)\nreturn x"
    module = load(archive(body), limits=_limits())
    _measured(lambda: module(torch.ones(2)), "limit-exceeded")
    if os.fstat(1).st_size > MEMORY:
        raise Broken(f"{os.fstat(1).st_size} bytes were printed")


COMPILING = {
    "a deep expression": "return " + "torch.neg(" * 3000 + "x" + ")" * 3000,
    "many branches": "".join(f"if bool(x):\n  x = torch.add(x, {i})\n" for i in range(3000))
    + "return x",
    "deep ifs": "".join("  " * i + "if bool(x):\n" for i in range(90))
    + "  " * 90
    + "x = x\nreturn x",
    "many lines": "x = torch.add(x, 1)\n" * 60_000 + "return x",
}
for name, body in COMPILING.items():

    def compiling(body: str = body) -> None:
        import rushlight as torch

        def use() -> None:
            try:
                load(archive(body), limits=_limits())(torch.ones([]))
            except Exception as error:
                from harness import is_documented

                if not is_documented(error):
                    raise

        began = time.monotonic()
        use()
        if time.monotonic() - began > 60:
            raise Broken("compiling took a minute")

    FAMILY.attack(f"compiling: {name}", megabytes=6000, seconds=90.0)(compiling)


@FAMILY.attack("functions that double what they call", megabytes=6000, seconds=60.0)
def doubling() -> None:
    import rushlight as torch

    before = "def f0(x: Tensor) -> Tensor:\n  return torch.neg(x)\n"
    for i in range(1, 40):
        before += (
            f"def f{i}(x: Tensor) -> Tensor:\n  return __torch__.f{i - 1}(__torch__.f{i - 1}(x))\n"
        )
    with refused("limit-exceeded"):
        load(archive("return __torch__.f39(x)", before), limits=_limits())(torch.ones(2))
