"""What `torch.fx` makes of small programs, as texts: `python cases.py` prints those of torch."""

from __future__ import annotations

import copy
import json
import operator
import pickle
import re
from collections import namedtuple
from typing import Any

Pair = namedtuple("Pair", "a b")


def _error(function: Any, *args: Any) -> str:
    try:
        return str(function(*args))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def _traced(torch: Any, function: Any, **options: Any) -> str:
    made = torch.fx.symbolic_trace(function, **options)
    return f"{made.graph}\n{made.code}"


def _operators(x: Any) -> Any:
    a = x + 1
    b = 2 // a - 1.5 * x @ (a % 3)
    c = ~x & a | -b ^ +x
    return abs(c) << 1 >> 2, a**x, 2**x, x == a, x != 1, x < a, x >= 1, 1 / x, x / 2


def _in_place(x: Any) -> Any:
    x += 1
    x @= x
    x <<= 2
    return x


def _indexing(x: Any) -> Any:
    a, b = x
    return a[0], b[..., 1:, None, ::2], x[[1, 2]], x[{"k": a}["k"]], Pair(a, 1), range(3), 1j


def _attributes(x: Any, y: Any) -> Any:
    return x.add(y, alpha=2).shape[0], x.T, x.foo.bar(1, k=y), x.size()[1:], x.dtype


def functions(torch: Any) -> dict[str, str]:
    """Functions of operators and methods."""
    values = float("inf"), float("nan"), "a'b\n", None, ..., torch.float32, torch.device("cpu")
    found = {
        "operators": _traced(torch, _operators),
        "in place": _traced(torch, _in_place),
        "attributes": _traced(torch, _attributes),
        "stars": _traced(torch, lambda x, *a, k=1, **o: a[0] + o["x"] + k),
        "values": _traced(torch, lambda x: (x, *values)),
        "constants": _traced(torch, lambda x: x + torch.ones(2) + torch.zeros(1)),
        "flag": _traced(torch, lambda x, f: x + 1 if f else x, concrete_args={"f": True}),
        "none": _traced(torch, lambda x, f=None: x if f is None else f, concrete_args={"f": None}),
    }
    made = torch.fx.symbolic_trace(_indexing)
    found["indexing"] = re.sub(f"{Pair.__module__}[._]", "", f"{made.graph}\n{made.code}")
    ph = torch.fx.PH
    given = {"a": {"x": ph}, "b": [ph, (5, ph)]}
    nested = torch.fx.symbolic_trace(
        lambda a, b: (a["x"] + b[0], {"k": b[1][0] * b[1][1]}), concrete_args=given
    )
    arguments = {"x": 1}, [2, (5, 3)]
    again = pickle.loads(pickle.dumps(nested))
    results = [each(*arguments) for each in (nested, copy.deepcopy(nested), again)]
    found["nested"] = f"{nested.code}{results}{nested.graph.process_inputs(*arguments)}"
    found["other value"] = _error(nested, {"x": 1}, [2, (6, 3)])
    return found


def refusals(torch: Any) -> dict[str, str]:
    """What cannot be traced."""
    trace = torch.fx.symbolic_trace
    asked = {
        "if": lambda x: 1 if x else 2,
        "for": lambda x: [each for each in x],  # noqa: C416
        "in": lambda x: 1 in x,
        "spread": lambda x: max(*x),
        "len": lambda x: len(x),
        "int": lambda x: int(x),
        "key": lambda x: {x: 1},
        "set": lambda x: {1},
        "range": lambda x: range(x),
        "round": lambda x: round(x),
        "index": lambda x: [1][x],
    }
    found = {name: _error(trace, function) for name, function in asked.items()}
    found["concrete"] = _error(lambda: trace(lambda x, y: x, concrete_args=(1,)))
    found["wrap"] = _error(torch.fx.wrap, 5)
    found["wrap below"] = _error(torch.fx.wrap, "f")
    return found


def _graph(torch: Any) -> Any:
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    y = graph.placeholder("y", default_value=None)
    a = graph.call_function(operator.add, (x, y))
    b = graph.call_method("relu", (a,))
    c = graph.call_module("sub.lin", (b,))
    d = graph.get_attr("sub.w")
    graph.output(graph.call_function(operator.mul, (c, d)))
    return graph


def _root(torch: Any) -> Any:
    root = torch.nn.Module()
    root.sub = torch.nn.Module()
    root.sub.lin = torch.nn.Linear(2, 2)
    root.sub.w = torch.nn.Parameter(torch.zeros(2))
    root.extra = torch.nn.Dropout()
    return root


_NAMES = """x x x_1 class add 1abc a.b.c getattr torch self inf device FooBar __foo None a-b x_01
x_2 math list x _1 _1 x_ x_ a__1 a__1 add_1 add""".split()


def graphs(torch: Any) -> dict[str, str]:
    """Graphs made by hand."""
    graph = _graph(torch)
    nodes = list(graph.nodes)
    add = nodes[2]
    said = [add.args, add.kwargs, add.users, add.next, add.prev, add.all_input_nodes, nodes[-1]]
    free = torch.fx.Graph()
    made = [free.create_node("call_method", "f", name=name).name for name in (*_NAMES, "")]
    targets = "FooBar __add__ 1a layer1.0.conv 0 BN getattr x".split()
    made += [free.call_module(each).name for each in targets for _ in range(2)]
    other = torch.fx.Graph()
    values = {nodes[0]: other.placeholder("add")}
    result = other.graph_copy(graph, values)
    edited = _graph(torch)
    first, second, third = list(edited.nodes)[:3]
    with edited.inserting_after(third):
        neg = edited.call_function(operator.neg, (third,))
    changed = third.replace_all_uses_with(neg, lambda user: user is not neg)
    with edited.inserting_before(neg):
        kept = edited.call_method("foo", (third,), {"a": [third, {"z": first}]})
    kept.replace_input_with(third, second)
    kept.insert_arg(0, first)
    kept.update_kwarg("b", 6)
    return {
        "graph": str(graph),
        "nodes": str(said),
        "lines": str([node.format_node() for node in nodes]),
        "names": str(made),
        "copied": f"{other} {result}",
        "edited": f"{edited} {changed} {third.users} {edited.find_nodes(op='call_method')}",
        "code": edited.python_code("root").src,
        "empty": torch.fx.Graph().python_code("self").src,
    }


def mistakes(torch: Any) -> dict[str, str]:
    """Graphs that are not well formed."""
    graph, other = _graph(torch), _graph(torch)
    nodes, others = list(graph.nodes), list(other.nodes)
    nodes[2].prepend(nodes[3])
    found = {
        "order": _error(graph.lint),
        "used": _error(graph.erase_node, nodes[2]),
        "elsewhere": _error(graph.erase_node, others[-1]),
        "moved": _error(nodes[0].prepend, others[0]),
        "before": _error(graph.inserting_before, others[0]),
        "after": _error(graph.inserting_after, others[0]),
        "target": _error(torch.fx.Graph().call_function, "f"),
        "kind": _error(torch.fx.Graph().create_node, "foo", "x"),
        "args": _error(torch.fx.Graph().create_node, "call_method", "x", [1]),
        "kwargs": _error(torch.fx.Graph().create_node, "call_method", "x", (), [1]),
        "impure": _error(other.eliminate_dead_code),
        "root": _error(torch.fx.GraphModule, 5, other),
        "missing": _error(torch.fx.GraphModule, {}, other),
    }
    others[3].args = (nodes[0],)
    found["foreign"] = _error(other.lint)
    others[3].args = (others[2],)
    others[3].name = "add"
    found["name"] = _error(other.lint)
    lists = torch.fx.Graph().call_method("f", ([1, {"a": 2}],), {"k": [3]})
    found["list"] = _error(lists.args[0].append, 1)
    found["dict"] = _error(lists.kwargs.update, 1)
    return found


def modules(torch: Any) -> dict[str, str]:
    """GraphModules."""
    made = torch.fx.GraphModule(_root(torch), _graph(torch))
    found = {
        "printed": str(made),
        "readable": made.print_readable(print_output=False),
        "pickled": str(pickle.loads(pickle.dumps(made))),
        "copied": str(copy.deepcopy(made)),
        "transformed": torch.fx.Transformer(made).transform().code,
        "few": _error(torch.fx.Interpreter(made).run).split("\nUse")[0],
        "named": torch.fx.GraphModule({}, torch.fx.Graph(), "Foo").print_readable(False),
    }
    done = [
        made.add_submodule("a.b.c", torch.nn.ReLU()),
        made.add_submodule("sub.w.q", torch.nn.ReLU()),
        made.delete_submodule("a.b"),
        made.delete_submodule("nothing"),
        made.delete_all_unused_submodules(),
    ]
    found["changed"] = f"{done}{made}"
    code = made.graph.python_code("self", expanded_def=True)
    found["expanded"] = f"{code.src}{[*code.globals]}"
    with made.graph.on_generate_code(lambda _: lambda body: ["print(1)\n", *body]):
        made.recompile()
        found["transformed code"] = made.code
    return found


def leaves(torch: Any) -> dict[str, str]:
    """Modules that call others."""

    class Inner(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(2))
            self.register_buffer("shift", torch.ones(2))

        def forward(self, x: Any) -> Any:
            return x * self.weight + self.shift

    class Outer(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = Inner()
            self.again = self.inner
            self.layers = torch.nn.ModuleList([torch.nn.ReLU(), torch.nn.Linear(2, 2)])

        def forward(self, x: Any, scale: float = 2.0) -> Any:
            for layer in self.layers:
                x = layer(self.inner(x))
            return self.again(x) * scale

    class Everything(torch.fx.Tracer):
        def is_leaf_module(self, m: Any, module_qualified_name: str) -> bool:
            return True

    traced = torch.fx.symbolic_trace(Outer())
    graph = Everything().trace(Outer())
    stacks = [[*node.meta.get("nn_module_stack", ())] for node in traced.graph.nodes]
    split = torch.fx.passes.split_module.split_module
    count = iter(range(100))
    names: dict[str, str] = {}
    parts = split(traced, traced, lambda _: next(count) // 3, names)
    ordered = split(traced, traced, lambda n: len(n.name) % 2 or 1, keep_original_order=True)
    return {
        "outer": f"{traced}{traced.graph}{stacks}",
        "all": str(graph),
        "parts": f"{parts}{parts.submod_0.code}{parts.submod_1.code}{names}",
        "ordered": ordered.code,
        "not below": _error(torch.fx.symbolic_trace, lambda x: torch.nn.ReLU()(x)),
    }


def patterns(torch: Any) -> dict[str, str]:
    """Pieces that take the place of others."""

    def replaced(function: Any, pattern: Any, replacement: Any) -> str:
        made = torch.fx.symbolic_trace(function)
        matches = torch.fx.replace_pattern(made, pattern, replacement)
        return f"{matches}{made.code}"

    return {
        "twice": replaced(
            lambda x, y: (x + y).relu() * (y + x).relu(),
            lambda a, b: (a + b).relu(),
            lambda a, b: a.foo(b) - 1,
        ),
        "literals": replaced(
            lambda x: (x + 1).relu() * (x + 2).relu(),
            lambda a: (a + 1).relu(),
            lambda a: a.sin(),
        ),
        "used within": replaced(
            lambda x: (x + 1) * (x + 1).sin(), lambda a: (a + 1).sin(), lambda a: a.cos()
        ),
        "nowhere": replaced(lambda x: x + 1, lambda a: a - 1, lambda a: a),
    }


def calls(torch: Any) -> dict[str, str]:
    """Functions of torch, and operators of tensors with what is traced."""
    f, one = torch.nn.functional, torch.ones(2)
    asked = {
        "add": lambda x: torch.add(x, 1),
        "cat": lambda x: torch.cat((one, x), dim=1),
        "einsum": lambda x: torch.einsum("i,i->", x, x),
        "split": lambda x: torch.split(x, 2),
        "norms": lambda x: torch.linalg.norm(x) + torch.norm(x) + torch.special.erf(x),
        "relu": lambda x: f.relu(f.linear(x, x) + f.gelu(x)),
        "pad": lambda x: f.pad(x, (1, 1)),
        "interpolate": lambda x: f.interpolate(x, scale_factor=2),
        "pool": lambda x: f.max_pool2d(x, 2) + f.avg_pool2d(x, 2),
        "dropout": lambda x: f.dropout(x, 0.5),
        "layer_norm": lambda x: f.layer_norm(x, (2,)),
        "softmax": lambda x: f.softmax(x, -1),
        "loss": lambda x: f.cross_entropy(x, x) + f.mse_loss(x, x),
        "attention": lambda x: f.scaled_dot_product_attention(x, x, x, dropout_p=0.1),
        "conv": lambda x: f.conv2d(x, x, stride=2),
        "reflected": lambda x: (one - x) @ (one * x) / (one & x),
        "method": lambda x: one.masked_fill(x, 0.0).expand(2, x)[x],
        "sizes": lambda x: torch.full((2, x), 1.0) + torch.ones(2, x) + torch.rand(x.size()),
        "overloads": lambda x: torch.ops.aten.add.Tensor(x, x) + torch.ops.aten.cat([x, x]),
        "foreign": lambda x: x * torch.nn.Parameter(one),
    }
    found = {name: _error(_traced, torch, function) for name, function in asked.items()}
    layers = torch.nn.Conv2d(1, 2, 3), torch.nn.BatchNorm2d(2), torch.nn.ReLU(inplace=True)
    model = torch.nn.Sequential(*layers, torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten()).eval()

    class Everything(torch.fx.Tracer):
        def is_leaf_module(self, m: Any, module_qualified_name: str) -> bool:
            return isinstance(m, torch.nn.BatchNorm2d)

    found["layers"] = str(Everything().trace(model))
    traced, x = torch.fx.symbolic_trace(model), torch.ones(1, 1, 4, 4)
    found["equal"] = str(torch.equal(traced(x), model(x)))
    random = torch.fx.symbolic_trace(
        lambda x: (x, x + 1, torch.rand_like(x), torch._assert(x, "a"), torch.relu_(x))[0]
    )
    found["impure"] = str([node.is_impure() for node in random.graph.nodes])
    return found


CASES = calls, functions, refusals, graphs, mistakes, modules, leaves, patterns


def all_cases(torch: Any) -> dict[str, dict[str, str]]:
    """The texts of all cases, without addresses."""
    return {
        make.__name__: {key: re.sub("0x[0-9a-f]+", "0x", text) for key, text in make(torch).items()}
        for make in CASES
    }


if __name__ == "__main__":
    import torch
    import torch.fx.passes.split_module

    print(json.dumps(all_cases(torch), indent=0))
