"""More attacks on bounds: what operators, methods of texts and lists, and errors use that few
programs call; compiling under a bound of two seconds."""

from __future__ import annotations

import time

from attacks_on_bounds import FAMILY, _bounded, _limits
from harness import Broken, is_documented
from making import archive, load

_PLAIN = "dtype=None, layout=None, device=None, pin_memory=None"
_LONG = "y = torch.repeat(x, [30])\n"
_WIDE = "y = torch.expand(torch.unsqueeze(x, 0), [200000, 1000])\n"

SIZES = {
    "hann_window": f"return torch.hann_window(400000000, {_PLAIN})",
    "kaiser_window": f"return torch.kaiser_window(400000000, {_PLAIN})",
    "blackman_window": f"return torch.blackman_window(400000000, {_PLAIN})",
    "logspace": f"return torch.logspace(0, 1, 400000000, 10., {_PLAIN})",
    "empty_strided and fill": f"return torch.fill_(torch.empty_strided([20000, 20000], [20000, 1], {_PLAIN}), 1)",
    "new_full": f"return torch.new_full(x, [20000, 20000], 1., {_PLAIN})",
    "tril_indices": "return torch.tril_indices(20000, 20000, 0, dtype=4, layout=None, device=None, pin_memory=None)",
    "replication_pad1d": "return torch.replication_pad1d(torch.reshape(x, [1, 1, 1000]), [400000000, 0])",
    "affine_grid": "return torch.affine_grid_generator(torch.reshape(torch.slice(x, 0, 0, 6), [1, 2, 3]), [1, 1, 20000, 20000], False)",
    "pdist": _LONG + "return torch.pdist(torch.reshape(y, [30000, 1]))",
    "max_unpool2d": "y = torch.reshape(x, [1, 1, 10, 100])\nreturn torch.max_unpool2d(y, torch.to(y, 4), [20000, 20000])",
    "convolution with wide padding": "y = torch.reshape(x, [1, 1, 10, 100])\nreturn torch.conv2d(y, torch.slice(torch.slice(y, 2, 0, 1), 3, 0, 1), None, [1, 1], [10000, 10000])",
    "masked_select": _WIDE + "return torch.masked_select(y, torch.gt(y, 0))",
    "logcumsumexp": _WIDE + "return torch.logcumsumexp(y, 0)",
    "complex": _WIDE + "return torch.real(torch.complex(y, y))",
    "roll": _WIDE + "return torch.roll(y, [1], [0])",
    "flip": _WIDE + "return torch.flip(y, [0])",
    "rot90": _WIDE + "return torch.contiguous(torch.rot90(y, 1, [0, 1]))",
    "searchsorted": _WIDE + "return torch.searchsorted(x, y)",
    "bucketize": _WIDE + "return torch.bucketize(y, x)",
    "isin": _WIDE + "return torch.isin(y, x)",
    "where": _WIDE + "return torch.where(torch.gt(y, 0), y, y)",
    "unique_consecutive": _WIDE + "return (torch.unique_consecutive(y))[0]",
    "quantize_per_tensor": _WIDE + "return torch.dequantize(torch.quantize_per_tensor(y, 0.1, 0, 13))",
    "bernoulli": _WIDE + "return torch.bernoulli(y)",
    "poisson": _WIDE + "return torch.poisson(y)",
    "softmax": _WIDE + "return torch.softmax(y, 1)",
    "layer_norm": _WIDE + "return torch.layer_norm(y, [1000])",
    "cdist of many": "y = torch.reshape(torch.repeat(x, [30]), [1, 30000, 1])\nreturn torch.cdist(y, y, 1.)",
    "nested calls": "y = torch.repeat(x, [10000])\nreturn torch.atan2(torch.exp(y), torch.hypot(torch.exp(y), torch.logaddexp(torch.exp(y), torch.exp(torch.cat([y, y, y])))))",
}  # fmt: skip
for name, body in SIZES.items():
    long = name not in ("hann_window", "masked_select")
    FAMILY.attack(f"size: {name}, rarely", megabytes=6000, seconds=60.0, long=long)(_bounded(body))

_TEXT = "s = torch.ljust('', torch.mul(torch.size(x, 0), 30000), 'a')\n"
TEXTS = {
    "a capital that is two letters": "s = torch.upper(torch.replace(torch.ljust('', torch.mul(torch.size(x, 0), 60000), 'q'), 'q', '\u00df'))\nt = torch.add(s, s)\nreturn torch.add(x, torch.len(torch.add(t, t)))",
    "nothing is replaced by much": _TEXT + "t = torch.replace(s, '', 'aaaaaaaaaa')\nreturn torch.add(x, torch.len(t))",
    "lines": "s = torch.ljust('', torch.mul(torch.size(x, 0), 2000), '\\n')\nk = annotate(List[List[str]], [])\nfor i in range(100):\n  _0 = torch.append(k, torch.splitlines(s, False))\nreturn torch.add(x, torch.len(k))",
    "splitting from the right": "l = torch.rsplit(torch.replace(torch.ljust('', torch.mul(torch.size(x, 0), 30000), 'q'), 'q', 'a '), ' ', -1)\nreturn torch.add(x, torch.len(l))",
    "slices of a text that are kept": _TEXT + "l = annotate(List[str], [])\nfor i in range(1000):\n  _0 = torch.append(l, torch.slice(s, torch.add(i, 1), 30000000, 1))\nreturn torch.add(x, torch.len(l))",
    "other cases of a text that are kept": _TEXT + "l = annotate(List[str], [])\nfor i in range(1000):\n  _0 = torch.append(l, torch.add(torch.swapcase(s), str(i)))\nreturn torch.add(x, torch.len(l))",
    "pieces of partition that are kept": _TEXT + "l = annotate(List[str], [])\nfor i in range(1000):\n  a, b, c = torch.partition(s, 'b')\n  _0 = torch.append(l, torch.add(a, str(i)))\nreturn torch.add(x, torch.len(l))",
    "copies of a list": "l = torch.mul([1], 1000000)\nk = annotate(List[List[int]], [])\nfor i in range(1000):\n  _0 = torch.append(k, torch.copy(l))\nreturn torch.add(x, torch.len(k))",
    "slices of a list": "l = torch.mul([1], 1000000)\nk = annotate(List[List[int]], [])\nfor i in range(1000):\n  _0 = torch.append(k, torch.slice(l, 1, 1000000, 1))\nreturn torch.add(x, torch.len(k))",
    "sorted copies of a list": "l = torch.mul([1], 1000000)\nk = annotate(List[List[int]], [])\nfor i in range(1000):\n  _0 = torch.append(k, torch.sorted(l))\nreturn torch.add(x, torch.len(k))",
    "keys of a dict": "d = annotate(Dict[int, int], {})\nfor i in range(100000):\n  torch._set_item(d, i, i)\nk = annotate(List[List[int]], [])\nfor i in range(1000):\n  _0 = torch.append(k, torch.keys(d))\nreturn torch.add(x, torch.len(k))",
    "items of a dict": "d = annotate(Dict[int, int], {})\nfor i in range(100000):\n  torch._set_item(d, i, i)\nk = annotate(List[List[Tuple[int, int]]], [])\nfor i in range(1000):\n  _0 = torch.append(k, torch.items(d))\nreturn torch.add(x, torch.len(k))",
    "copies of a dict": "d = annotate(Dict[int, int], {})\nfor i in range(100000):\n  torch._set_item(d, i, i)\nk = annotate(List[Dict[int, int]], [])\nfor i in range(1000):\n  _0 = torch.append(k, torch.copy(d))\nreturn torch.add(x, torch.len(k))",
    "many views": "return torch.stack(torch.unbind(torch.repeat(x, [10000])))",
    "many pieces": "l = torch.split(torch.repeat(x, [10000]), 1)\nreturn torch.add(x, torch.len(l))",
}  # fmt: skip
for name, body in TEXTS.items():
    long = name != "many views"
    FAMILY.attack(f"text: {name}", megabytes=6000, seconds=60.0, long=long)(_bounded(body))

EITHER = {
    "a width of a billion": "s = torch.percentFormat('%1000000000d', 1)\nreturn torch.add(x, torch.len(s))",
    "digits of a billion": "s = torch.percentFormat('%.1000000000f', 1.5)\nreturn torch.add(x, torch.len(s))",
    "a width that is an argument": "s = torch.percentFormat('%*d', 1000000000, 1)\nreturn torch.add(x, torch.len(s))",
    "a width in braces": "s = torch.format('{:1000000000}', 1)\nreturn torch.add(x, torch.len(s))",
    "a chosen index in braces": "s = torch.format('{0.__class__}', 1)\nreturn torch.add(x, torch.len(s))",
    "a number of ten million digits": "n = int(torch.ljust('', torch.mul(torch.size(x, 0), 10000), '9'))\nreturn torch.add(x, n)",
    "a float of ten million digits": "n = float(torch.ljust('', torch.mul(torch.size(x, 0), 10000), '9'))\nreturn torch.add(x, n)",
    "a large factorial": "n = torch.factorial(1000000000)\nreturn torch.add(x, n)",
    "ldexp by much": "n = torch.ldexp(1.5, 1000000000)\nreturn torch.add(x, n)",
    "an exception of 150 million letters": "ops.prim.RaiseException(torch.ljust('', torch.mul(torch.size(x, 0), 100000), 'a'))\nreturn x",
    "an exception in a loop of tasks": "for i in range(100):\n  ops.prim.RaiseException(torch.ljust('', torch.mul(torch.size(x, 0), 1000), 'a'))\nreturn x",
    "a shape of ten million ones": "return torch.reshape(x, torch.mul([1], 10000000))",
    "a view of a million sizes": "return torch.view(x, torch.mul([1], 1000000))",
    "a permutation of a million": "return torch.permute(x, torch.mul([1], 1000000))",
    "an expansion to a million sizes": "return torch.expand(x, torch.mul([1], 1000000))",
    "repeats of a million sizes": "return torch.repeat(x, torch.mul([1], 1000000))",
    "einsum of a million letters": "return torch.einsum(torch.replace(torch.ljust('', torch.mul(torch.size(x, 0), 1000), 'q'), 'q', 'i,'), [x, x])",
    "a range of differences": "return torch.diff(x, 900000000)",
    "pieces beyond counting": "return (torch.tensor_split(x, 400000000))[0]",
    "chunks beyond counting": "return (torch.chunk(x, 9223372036854775807))[0]",
    "polygamma of a huge order": "return torch.polygamma(9223372036854775807, x)",
    "a list printed": "l = torch.mul([1], 10000000)\nprint(l)\nreturn x",
    "a dict printed in a loop": "d = annotate(Dict[int, int], {})\nfor i in range(100000):\n  torch._set_item(d, i, i)\nfor i in range(1000):\n  print(d)\nreturn x",
    "warnings in a loop": "s = torch.ljust('', torch.mul(torch.size(x, 0), 1000), 'a')\nfor i in range(1000):\n  torch.warn(torch.add(s, str(i)), 2)\nreturn x",
    "a tensor of a list of lists": "return torch.tensor(torch.mul([torch.mul([1], 1000)], 30000))",
    "determinants of many": "y = torch.expand(torch.reshape(torch.slice(x, 0, 0, 400), [1, 20, 20]), [2000000, 20, 20])\nreturn torch.linalg_det(y)",
}  # fmt: skip
for name, body in EITHER.items():
    long = not name.startswith(("an exception", "a width"))
    odd = FAMILY.attack(f"odd: {name}", megabytes=6000, seconds=60.0, long=long)
    odd(_bounded(body, code=""))

TIMES = {
    "removing from a list": "l = [i for i in range(300000)]\nwhile True:\n  torch.insert(l, 0, -1)\n  torch.remove(l, 299999)\n  _0 = torch.append(l, 299999)\nreturn torch.add(x, torch.len(l))",
    "counting in a text": "s = torch.replace(torch.ljust('', torch.mul(torch.size(x, 0), 5000), 'q'), 'q', 'ab')\nn = 0\nwhile True:\n  n = torch.add(n, torch.count(s, 'ab', 0, -1))\nreturn torch.add(x, n)",
    "replacing in a text": "s = torch.replace(torch.ljust('', torch.mul(torch.size(x, 0), 5000), 'q'), 'q', 'ab')\nt = s\nwhile True:\n  t = torch.replace(s, 'ab', 'ba')\nreturn torch.add(x, torch.len(t))",
    "comparing long lists": "l = torch.mul([1], 3000000)\nk = torch.mul([1], 3000000)\nn = 0\nwhile True:\n  n = torch.add(n, int(torch.eq(l, k)))\nreturn torch.add(x, n)",
    "keys that are not numbers": "d = annotate(Dict[float, int], {})\nn = float('nan')\nwhile True:\n  torch._set_item(d, torch.add(n, 1.), 1)\nreturn torch.add(x, torch.len(d))",
}  # fmt: skip
for name, body in TIMES.items():
    FAMILY.attack(f"time: {name}", megabytes=6000, seconds=60.0, long=True)(_bounded(body))


# --------------------------------------------------------------------------- compiling

COMPILED = {
    "a row of 3,000 functions": (
        "return __torch__.f2999(x)",
        "".join(
            f"def f{i}(x: Tensor) -> Tensor:\n  return torch.add({f'__torch__.f{i - 1}(x)' if i else 'x'}, {i})\n"
            for i in range(3000)
        ),
    ),
    "20,000 lines of numbers": ("".join(f"y{i} = {i}\n" for i in range(20_000)) + "return x", ""),
    "a tuple of 20,000": (f"y = ({'x, ' * 20_000})\nreturn x", ""),
    "1,000 variables through 500 branches": (
        "".join(f"v{i} = {i}\n" for i in range(1000))
        + "".join(f"if bool(x):\n  v{i} = torch.add(v{i}, v{i + 1})\n" for i in range(500))
        + "return torch.add(x, v0)",
        "",
    ),
    "a list through 3,000 lists": (
        "l0 = [x]\n"
        + "".join(f"l{i + 1} = [l{i}[0]]\ntorch.append(l{i}, x)\n" for i in range(3000))
        + "return x",
        "",
    ),
    "80 loops in each other over 200 variables": (
        "".join(f"v{i} = {i}\n" for i in range(200))
        + "".join("  " * i + f"for i{i} in range(1):\n" for i in range(80))
        + "".join("  " * 80 + f"v{i} = torch.add(v{i}, 1)\n" for i in range(200))
        + "return torch.add(x, v0)",
        "",
    ),
}


def _late(body: str, before: str) -> None:
    data = archive(body, before)
    began = time.process_time()
    try:
        load(data, limits=_limits(seconds=1.0))
    except Exception as error:
        if not is_documented(error):
            raise
    took = time.process_time() - began
    if took > 3.0:
        raise Broken(f"it was compiled for {took:.1f} s under a bound of 1 s")


for name, (body, before) in COMPILED.items():
    long = "functions" not in name
    attack = FAMILY.attack(f"compiling within a second: {name}", seconds=60.0, long=long)
    attack(lambda body=body, before=before: _late(body, before))


@FAMILY.attack("what is bounded stays so while somebody debugs", megabytes=6000, seconds=60.0)
def debugged() -> None:
    import rushlight as torch

    torch.debug()
    _bounded("while True:\n  x = torch.add(x, 1)\nreturn x")()
    _bounded(SIZES["hann_window"])()
