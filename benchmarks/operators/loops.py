"""One operator in a loop: a scripted function for each row of a table."""

import importlib.util
import sys
import tempfile
from pathlib import Path

import rushlight as torch

TURNS = {"small": 100, "large": 2}

INPUTS = {
    "small": {
        **{"v": (16,), "w": (16,), "a": (4, 16), "b": (4, 16), "s": (16, 16), "row": (1, 16)},
        **{"x3": (2, 8, 16), "y3": (2, 16, 8), "image": (1, 4, 8, 8), "kernel": (4, 4, 3, 3)},
        **{"table": (20, 16), "bias": (16,), "column": (4, 1), "g4": (1, 64)},
    },
    "large": {
        **{"v": (500000,), "w": (500000,), "a": (512, 512), "b": (512, 512)},
        **{"s": (512, 512), "row": (1, 512), "x3": (16, 128, 64), "y3": (16, 64, 128)},
        **{"image": (1, 32, 56, 56), "kernel": (32, 32, 3, 3), "table": (5000, 128)},
        **{"bias": (512,), "column": (512, 1), "g4": (64, 2048)},
    },
}
"""Shapes of the float inputs."""

ROWS = {
    "empty": "v",
    **{"add": "a + b", "add vector": "v + w", "sub": "a - b", "mul": "a * b", "div": "a / b"},
    **{"add number": "a + 1.5", "mul number": "a * 2.0", "div number": "a / 3.0"},
    **{"rsub number": "1.0 - a", "add 0-d": "a + z", "add broadcast": "a + bias"},
    **{"add column": "a + column", "add int": "n + n", "add int number": "n + 1"},
    **{"neg": "-a", "abs": "a.abs()", "pow number": "a ** 2", "maximum": "torch.maximum(a, b)"},
    **{"exp": "torch.exp(a)", "log": "torch.log(p)", "sqrt": "torch.sqrt(p)"},
    **{"sin": "torch.sin(a)", "tanh": "torch.tanh(a)", "sigmoid": "torch.sigmoid(a)"},
    **{"relu": "torch.relu(a)", "gelu": "F.gelu(a)", "silu": "F.silu(a)", "elu": "F.elu(a)"},
    **{"leaky_relu": "F.leaky_relu(a, 0.1)", "softplus": "F.softplus(a)"},
    **{"hardtanh": "F.hardtanh(a)", "clamp": "a.clamp(-1.0, 1.0)", "rsqrt": "torch.rsqrt(p)"},
    **{"gt": "a > b", "gt number": "a > 0.0", "eq int": "n == n", "and": "m & k", "not": "~m"},
    **{"where": "torch.where(m, a, b)", "where number": "torch.where(m, a, 0.0)"},
    **{"masked_fill": "a.masked_fill(m, -1.0)", "addcmul": "torch.addcmul(a, b, b)"},
    **{"lerp": "torch.lerp(a, b, 0.5)", "floor": "torch.floor(a)", "to float": "n.float()"},
    **{"to double": "a.double()", "clone": "a.clone()", "zeros": "torch.zeros(4, 16)"},
    **{"zeros_like": "torch.zeros_like(a)", "full": "torch.full((4, 16), 2.0)"},
    **{"arange": "torch.arange(16)", "sum": "a.sum()", "sum dim": "a.sum(1)"},
    **{"sum first": "a.sum(0)", "mean": "a.mean()", "mean dim": "a.mean(-1)", "max": "a.max()"},
    **{"max dim": "torch.max(a, 1)[0]", "argmax": "a.argmax()", "argmax dim": "a.argmax(1)"},
    **{
        "amax": "torch.amax(a, 1)",
        "any": "m.any()",
        "var": "torch.var(a, 1)",
        "std": "torch.std(a)",
    },
    **{"norm": "torch.norm(a)", "prod": "v.prod()", "cumsum": "torch.cumsum(a, 1)"},
    **{"softmax": "torch.softmax(a, -1)", "log_softmax": "torch.log_softmax(a, -1)"},
    **{"logsumexp": "torch.logsumexp(a, 1)", "layer_norm": "F.layer_norm(a, (16,))"},
    **{"layer_norm affine": "F.layer_norm(a, (16,), bias, bias)"},
    **{"mm": "torch.mm(s, s)", "matmul": "torch.matmul(a, s)", "linear": "F.linear(row, s, bias)"},
    **{"linear no bias": "F.linear(row, s)", "addmm": "torch.addmm(bias, row, s)"},
    **{"matmul vector": "torch.matmul(s, bias)", "bmm": "torch.bmm(x3, y3)"},
    **{
        "matmul 3d": "torch.matmul(x3, y3)",
        "dot": "torch.dot(v, w)",
        "outer": "torch.outer(bias, bias)",
    },
    **{"einsum": "torch.einsum('ij,jk->ik', a, s)", "cat": "torch.cat([a, b], 1)"},
    **{"cat first": "torch.cat([a, b])", "stack": "torch.stack([a, b])", "select": "a[1]"},
    **{"item": "v[3].item()", "slice": "a[:, 1:3]", "slice first": "a[1:3]", "t": "a.t()"},
    **{"transpose": "x3.transpose(1, 2)", "permute": "x3.permute(0, 2, 1)"},
    **{"view": "a.view(-1)", "reshape": "a.reshape(-1)", "flatten": "x3.flatten(1)"},
    **{"unsqueeze": "a.unsqueeze(0)", "squeeze": "row.squeeze(0)", "expand": "row.expand(4, 16)"},
    **{"contiguous": "x3.transpose(1, 2).contiguous()", "chunk": "torch.chunk(g4, 4, 1)[0]"},
    **{"split": "torch.split(a, 2)[0]", "unbind": "torch.unbind(a)[0]", "size": "a.size(0)"},
    **{"index_select": "torch.index_select(table, 0, ids)", "gather": "torch.gather(a, 1, places)"},
    **{"index tensor": "table[ids]", "index mask": "a[m]", "embedding": "F.embedding(ids, table)"},
    **{"one_hot": "F.one_hot(ids, 20)", "scatter": "torch.scatter(a, 1, places, 1.0)"},
    **{"scatter_add": "torch.scatter_add(a, 1, places, a)", "topk": "torch.topk(a, 3)[0]"},
    **{"sort": "torch.sort(a)[0]", "argsort": "torch.argsort(a, 1)", "tril": "torch.tril(s)"},
    **{"flip": "torch.flip(a, [1])", "roll": "torch.roll(a, 1, 1)", "repeat": "row.repeat(2, 1)"},
    **{"pad": "F.pad(a, [1, 1])", "nonzero": "m.nonzero()", "bernoulli": "torch.bernoulli(half)"},
    **{"rand": "torch.rand(4, 16)", "dropout": "F.dropout(a, 0.5, False)"},
    **{"add_": "target.add_(1.0)", "mul_": "target.mul_(1.0)", "copy_": "target.copy_(a)"},
    **{"fill_": "target.fill_(2.0)", "set item": "target.zero_()"},
    **{"conv2d": "F.conv2d(image, kernel, None, 1, 1)", "max_pool2d": "F.max_pool2d(image, 2)"},
    **{"avg_pool2d": "F.avg_pool2d(image, 2)", "interpolate": "F.interpolate(image, None, 2.0)"},
    **{"adaptive_pool": "F.adaptive_avg_pool2d(image, 1)", "group_norm": "F.group_norm(image, 2)"},
    **{"batch_norm": "F.batch_norm(image, image[0, :, 0, 0], image[0, :, 1, 1].abs())"},
    **{"mse_loss": "F.mse_loss(a, b)", "cross_entropy": "F.cross_entropy(a, labels)"},
    **{"lstm cell": "cell(row, row, s, s)", "baddbmm": "torch.baddbmm(q3, x3, y3)"},
    **{"attention": "F.scaled_dot_product_attention(x3, x3, x3)", "normalize": "F.normalize(a)"},
}
"""Expressions over the inputs, by name."""

LARGER = {
    **{"(4, 16)": "(512, 512)", "(16)": "(500000)", "(16,)": "(512,)"},
    **{"(2, 1)": "(512, 1)", "ids, 20": "ids"},
}
"""How the sizes in expressions are written for large inputs."""

_HEAD = """
from typing import List
import rushlight as torch
F = torch.nn.functional

def cell(h, c, s, t):
    gates = torch.mm(h, s) + torch.mm(c, t)
    kept, made = gates.sigmoid(), gates.tanh()
    c = kept * c + kept * made
    return kept * torch.tanh(c)
"""

_FUNCTION = """
def {name}({signature}):
    i, {first} = 0, {first}_list[0]
    y = {expression}
    while i < {turns}:
        {first} = {first}_list[i]
        y = {expression}
        i += 1
    return y
"""
"""The first input is another one in each turn, as far as the library can know.

A `for` loop would be unrolled, and then the results that nobody uses left out.
"""


def tensors(size):
    """The inputs by name."""
    torch.manual_seed(3)
    made = {name: torch.randn(*shape) for name, shape in INPUTS[size].items()}
    a, rows = made["a"], made["table"].shape[0]
    made["n"] = torch.randint(0, 100, a.shape)
    made["m"], made["k"] = a > 0, made["b"] > 0
    made["p"], made["z"] = a.abs() + 0.1, torch.tensor(1.5)
    made["half"], made["target"] = torch.full_like(a, 0.5), torch.zeros_like(a)
    made["ids"] = torch.randint(0, rows, (4 if size == "small" else 4096,))
    made["places"] = torch.randint(0, a.shape[1], a.shape)
    made["labels"] = torch.randint(0, a.shape[1], (a.shape[0],))
    made["q3"] = torch.matmul(made["x3"], made["y3"])
    return made


def _inputs(expression, names):
    """The names of the inputs that an expression uses."""
    words = "".join(c if c.isalnum() or c == "_" else " " for c in expression).split()
    return [name for name in names if name in words] or ["a"]


def _source(size, names):
    text = _HEAD
    for number, expression in enumerate(ROWS.values()):
        if size == "large":
            for small, large in LARGER.items():
                expression = expression.replace(small, large)
        first, *rest = _inputs(expression, names)
        signature = ", ".join([f"{first}_list: List[torch.Tensor]", *rest])
        text += _FUNCTION.format(
            name=f"f{number}",
            first=first,
            signature=signature,
            expression=expression,
            turns=TURNS[size],
        )
    return text


def _made(size, number, kept):
    def make():
        if not kept:
            kept["tensors"] = tensors(size)
            path = Path(tempfile.mkdtemp()) / f"rows_{size}.py"
            path.write_text(_source(size, list(kept["tensors"])), encoding="utf-8")
            spec = importlib.util.spec_from_file_location(path.stem, path)
            module = importlib.util.module_from_spec(spec)
            sys.modules[path.stem] = module
            spec.loader.exec_module(module)
            kept["module"] = module
        function = getattr(kept["module"], f"f{number}")
        first, *rest = _inputs(list(ROWS.values())[number], list(kept["tensors"]))
        arguments = [kept["tensors"][name] for name in rest]
        lists = [kept["tensors"][first]] * TURNS[size]
        return function, torch.jit.script(function), (lists, *arguments)

    return make


def _programs(size):
    kept = {}
    return {f"{size} {name}": _made(size, number, kept) for number, name in enumerate(ROWS)}


PROGRAMS = {**_programs("small"), **_programs("large")}
