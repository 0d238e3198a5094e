"""Programs of archives that ask for far more memory than they are given, and what runs them.

As a script: runs each of them under a bound and prints what became of it, then the peak of the
process above its start, in bytes, as JSON.
"""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import rushlight as torch
from rushlight.interpreter.bounds.guard import Bounds
from rushlight.serialization.files.limits import Limits

BOUND = 1 << 26
DATA = b"\x80\x02c__torch__\nM\n)\x81}(X\x08\x00\x00\x00training\x89ub."

TENSORS = {
    "tile": "torch.tile(x, [20000, 20000])",
    "repeat": "torch.repeat(x, [20000, 20000])",
    "hann": "torch.hann_window(1000000000)",
    "kaiser": "torch.kaiser_window(1000000000)",
    "eye": "torch.eye(30000)",
    "diag": "torch.diag(torch.ones([30000]))",
    "diag_embed": "torch.diag_embed(torch.ones([30000]))",
    "vander": "torch.vander(torch.ones([30000]), 30000)",
    "fft": "torch.fft_fft(torch.ones([8]), 200000000)",
    "fft2": "torch.fft_fft2(torch.ones([8, 8]), [20000, 20000])",
    "irfft": "torch.fft_irfft(torch.ones([8]), 400000000)",
    "stft": "torch.stft(torch.ones([99999]), 4000, 1, 4000, None, False, True, True)",
    "histc": "torch.histc(x, 500000000)",
    "histogramdd": "(torch.histogramdd(torch.ones([4, 3]), [999, 999, 999]))[0]",
    "bincount": "torch.bincount(torch.tensor([1000000000]))",
    "nearest": "torch.upsample_nearest2d(torch.ones([1, 1, 8, 8]), [20000, 20000])",
    "bicubic": "torch.upsample_bicubic2d(torch.ones([1, 1, 8, 8]), [20000, 20000], False)",
    "one_hot": "torch.one_hot(torch.arange(30000), 30000)",
    "combinations": "torch.combinations(torch.arange(200), 4)",
    "cartesian": "torch.cartesian_prod([torch.arange(2000.0), torch.arange(2000.0), x])",
    "einsum": 'torch.einsum("a,b->ab", [torch.ones([20000]), torch.ones([20000])])',
    "inner": "torch.inner(torch.ones([20000, 1]), torch.ones([20000, 1]))",
    "outer": "torch.outer(torch.ones([20000]), torch.ones([20000]))",
    "kron": "torch.kron(torch.ones([200, 200]), torch.ones([200, 200]))",
    "tensordot": "torch.tensordot(torch.ones([20000, 1]), torch.ones([20000, 1]), [1], [1])",
    "matmul": "torch.matmul(torch.ones([20000, 1]), torch.ones([1, 20000]))",
    "stack": "torch.stack([torch.ones([4000000]), torch.ones([4000000]), torch.ones([4000000])])",
    "index": "torch.index(torch.ones([2, 10000]), [torch.zeros([9999], dtype=4)])",
    "index_select": "torch.index_select(torch.ones([2, 9999]), 0, torch.zeros([9999], dtype=4))",
    "embedding": "torch.embedding(torch.ones([2, 9999]), torch.zeros([9999], dtype=4))",
    "attention": "torch.scaled_dot_product_attention(torch.ones([30000, 8]),"
    " torch.ones([30000, 8]), torch.ones([30000, 8]))",
    "cdist": "torch.cdist(torch.ones([30000, 1]), torch.ones([30000, 1]))",
    "pdist": "torch.pdist(torch.ones([30000, 1]))",
    "clone": "torch.clone(torch.expand(torch.ones([1]), [20000, 20000]))",
    "unfold": "torch.clone(torch.unfold(torch.ones([100000]), 0, 50000, 1))",
    "conv2d": "torch.conv2d(torch.ones([1, 1, 999, 999]), torch.ones([64, 1, 9, 9]))",
    "padding": "torch.conv1d(torch.ones([1, 1, 8]), torch.ones([1, 1, 1]), None, [1], [200000000])",
    "transposed": "torch.conv_transpose1d(torch.ones([1, 1, 999]), torch.ones([1, 1, 1]), None,"
    " [1000000])",
    "pad": "torch.constant_pad_nd(x, [0, 500000000])",
    "replicate": "torch.replication_pad1d(torch.ones([1, 8]), [0, 500000000])",
    "interleave": "torch.repeat_interleave(x, 500000000)",
    "arange": "torch.arange(500000000)",
    "linspace": "torch.linspace(0., 1., 500000000)",
    "randn": "torch.randn([500000000])",
    "randperm": "torch.randperm(500000000)",
    "multinomial": "torch.multinomial(torch.ones([4]), 500000000, True)",
    "full": "torch.full([20000, 20000], 1.)",
    "tril_indices": "torch.tril_indices(20000, 20000)",
    "sort": "(torch.sort(torch.expand(torch.ones([1]), [40000000])))[0]",
    "cumsum": "torch.cumsum(torch.expand(torch.ones([1]), [200000000]), 0)",
    "softmax": "torch.softmax(torch.expand(torch.ones([1]), [40000000]), 0)",
    "erfinv": "torch.special_erfinv(torch.expand(torch.ones([1]), [200000000]))",
    "where": "torch.where(torch.ones([30000, 1], dtype=11), torch.ones([1, 30000]), x[0])",
}
OTHERS = {
    "ljust": 's = torch.ljust("a", 3000000000, "b")',
    "center": 's = torch.center("a", 3000000000, "b")',
    "zfill": 's = torch.zfill("a", 3000000000)',
    "join": 's = torch.join("ab", torch.mul(["b"], 50000000))',
    "replace": 'a = torch.ljust("a", 100000, "a")\ns = torch.replace(a, "a", a)',
    "expandtabs": 's = torch.expandtabs("\\t\\t", 1000000000)',
    "format": 's = torch.ljust("a", 999999)\nfor i in range(99):\n  s = torch.format("{}{}", s, s)',
    "list": "s = torch.mul([1], 1000000000)",
    "extend": "s = [1]\nfor i in range(99):\n  s = torch.add(s, s)",
    "str": "s = torch.str(torch.ones([9000000]))",
    "print": 's = torch.ljust("a", 10000000)\nfor i in range(99):\n  print(s)',
    "warn": 's = torch.ljust("a", 10000000)\nfor i in range(99):\n  torch.warn(s)',
}
PROGRAMS = {name: f"return {text}" for name, text in TENSORS.items()} | {
    name: f"{text}\nreturn torch.add(x, torch.len(s))" for name, text in OTHERS.items()
}


def archive(body: str) -> bytes:
    """An archive of a module whose `forward` has this body."""
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    head = "class M(Module):\n  training : bool\n"
    code = f"{head}  def forward(self: __torch__.M, x: Tensor) -> Tensor:\n{lines}"
    records = {
        "version": b"3\n",
        "constants.pkl": b"\x80\x02).",
        "data.pkl": DATA,
        "code/__torch__.py": code.encode(),
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name, content in records.items():
            file.writestr(f"a/{name}", content)
    return buffer.getvalue()


def became(body: str) -> str:
    """The code of the error that a program ends with; `result` if it ends with none."""
    limits = Limits(running=Bounds(memory=BOUND, seconds=10, output=1 << 20))
    module = torch.jit.load(io.BytesIO(archive(body)), trust="none", limits=limits)
    try:
        module(torch.ones(2))
    except RuntimeError as error:
        return ",".join(each.code for each in getattr(error, "diagnostics", ()))
    return "result"


def _peak() -> int:
    """The most memory that this program has had; `getrusage` would count its parent's."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))


def main() -> None:
    """Run all."""
    became("return x")
    start = int(Path("/proc/self/statm").read_text().split()[1]) * 4096
    found = {name: became(body) for name, body in PROGRAMS.items()}
    peak = _peak()
    print(json.dumps([found, peak - start]))


if __name__ == "__main__":
    main()
