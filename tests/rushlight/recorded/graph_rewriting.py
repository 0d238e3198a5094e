"""Matching, rewriting, folding and splitting of graphs; run here and under torch."""

from __future__ import annotations

import operator
from importlib import import_module
from typing import Any

from values import plain, said, wave


def _part(torch: Any, name: str) -> Any:
    return import_module(f"{torch.__name__}.fx.{name}")


class _Layers:
    """A class of modules with attributes, for one library or the other."""

    def __new__(cls, torch: Any) -> Any:
        class Model(torch.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.a, self.b = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
                self.w = torch.nn.Parameter(torch.ones(2))
                self.register_buffer("held", torch.ones(2))
                self.number = 3

            def forward(self, x: Any) -> Any:
                return torch.relu(self.a(x) + self.w) - torch.relu(self.b(x) + self.held)

        return Model()


def matches(torch: Any) -> Any:
    """How often patterns are found, by each setting."""
    matcher = _part(torch, "passes.utils.matcher_utils").SubgraphMatcher
    aten = torch.ops.aten

    def whole(x: Any, y: Any) -> Any:
        a = torch.add(torch.relu(x), 2)
        b = torch.add(torch.relu(y), 3)
        c = aten.add.Tensor(a, b, alpha=1)
        d = aten.add.Tensor(c, b)
        return a * b, torch.add(a, a), torch.cat([a, b]), torch.cat([a, b], 1), c, d, x - x

    patterns = {
        "relu": lambda x: torch.add(torch.relu(x), 2),
        "other": lambda x: torch.add(torch.relu(x), 5),
        "kind": lambda x: torch.add(torch.relu(x), 2.0),
        "any": lambda x, n: torch.add(torch.relu(x), n),
        "same": lambda x: torch.add(x, x),
        "less": lambda x: x - x,
        "list": lambda x, y: torch.cat([x, y]),
        "long": lambda x, y, z: torch.cat([x, y, z]),
        "default": lambda x, y: aten.add.Tensor(x, y),
        "named": lambda x, y: aten.add.Tensor(x, other=y),
        "twice": lambda x, y: aten.add.Tensor(x, y, alpha=2),
        "two": lambda x: (torch.relu(x), torch.add(torch.relu(x), 2)),
        "inner": lambda x: torch.relu(x),
    }
    graph = torch.fx.symbolic_trace(whole).graph
    settings: list[dict[str, Any]] = [{}, {"ignore_literals": True}, {"match_output": True}]
    settings += [{"match_placeholder": True}, {"remove_overlapping_matches": False}]
    rows = {}
    for name, pattern in patterns.items():
        wanted = torch.fx.symbolic_trace(pattern).graph
        for place, options in enumerate(settings):
            found = matcher(wanted, **options).match(graph)
            texts = [
                [
                    sorted(f"{k}={v}" for k, v in each.nodes_map.items()),
                    [str(n) for n in each.placeholder_nodes],
                    [str(n) for n in each.returning_nodes],
                    [str(n) for n in each.anchors],
                ]
                for each in found
            ]
            rows[f"{name} {place}"] = texts
    named = matcher(torch.fx.symbolic_trace(patterns["other"]).graph).match(graph, "relu")
    rows["by name"] = len(named)
    dead = torch.fx.Graph()
    x = dead.placeholder("x")
    dead.call_function(operator.neg, (x,))
    dead.output(x)
    return [rows, said(lambda: matcher(dead)), said(lambda: matcher(torch.fx.Graph()))]


def replaced(torch: Any) -> Any:
    """Graphs after replacing, with filters and callbacks."""
    lib = _part(torch, "subgraph_rewriter")
    trace = torch.fx.symbolic_trace

    def whole(x: Any, y: Any) -> Any:
        a = torch.relu(x) + 1
        b = torch.relu(y) + 2
        return a * b, torch.relu(a)

    def run(*args: Any, **options: Any) -> Any:
        module = trace(whole)
        made: list[Any] = []
        text = said(lambda: made.extend(lib.replace_pattern_with_filters(module, *args, **options)))
        return [text, module.code, [[str(n) for n in each.replacements] for each in made]]

    def pattern(x: Any) -> Any:
        return torch.relu(x) + 1

    def sigmoid(x: Any) -> Any:
        return torch.sigmoid(x)

    module = trace(_Layers(torch))
    inner = trace(torch.nn.Sequential(torch.nn.Linear(2, 2)))
    first = lib.replace_pattern(module, lambda x: torch.relu(x), inner)
    rows: list[Any] = [module.code, len(first), sorted(dict(module.named_modules()))]
    rows += [
        run(pattern, sigmoid),
        run(trace(pattern), trace(sigmoid).graph),
        run(trace(pattern).graph, trace(sigmoid)),
        run(pattern, sigmoid, ignore_literals=True),
        run(pattern, sigmoid, [lambda match, graph, wanted: False]),
        run(pattern, sigmoid, [lambda *a: True, lambda match, *a: "x" in str(match.nodes_map)]),
        run(pattern, None, None, True, lambda match, *a: trace(sigmoid).graph),
        run(pattern, sigmoid, None, True, lambda match, *a: trace(pattern).graph),
        run(pattern),
        run(pattern, lambda x, y: x + y)[0],
        run(lambda x: torch.tanh(x) + 1, sigmoid, node_name_match="relu"),
        run(lambda a, b: a * b, lambda a, b: b * a),
        run(lambda x: torch.relu(x), lambda x: torch.relu(torch.neg(x))),
        run(lambda x: (torch.relu(x), torch.relu(x) + 1), lambda x: (x, torch.tanh(x))),
    ]
    return rows


def folded(torch: Any) -> Any:
    """What is computed once of graphs."""
    lib = _part(torch, "experimental.const_fold")
    nn = torch.nn

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.v, self.w = nn.Parameter(torch.ones(2)), nn.Parameter(torch.ones(2) * 3)
            self.layer = nn.ReLU()

        def forward(self, x: Any) -> Any:
            a = self.v + self.w
            b = self.layer(a) * 2
            return x * a + b + torch.rand(2) * 0 + (self.v - 1)

    made = []
    skips = None, lambda n: n.op == "call_module", lambda n: n.name.startswith("add")
    for skip in skips:
        module = lib.split_const_subgraphs(Model(), skip)
        part = module.const_subgraph_module.graph
        before = [
            module.has_folding_been_run,
            sorted(n.op for n in module.graph.nodes if n.target is not operator.getitem),
        ]
        before.append(len(part.output_node().all_input_nodes))
        value = plain(module(torch.ones(2)))
        kept = getattr(module, module.fx_const_folded_attrs_name)
        made.append([*before, value, module.has_folding_been_run, type(kept).__name__])
        made.append([plain(module(torch.ones(2) * 2)), said(module.run_folding)])
    none = lib.split_const_subgraphs(torch.fx.symbolic_trace(nn.ReLU()))
    empty = lib.FoldedGraphModule(nn.Module(), none.graph)
    empty.run_folding()
    made.append([none.const_subgraph_module, none.fx_const_folded_attrs_name])
    made += [plain(none(torch.ones(1))), none.code, empty.has_folding_been_run]
    holder = torch.fx.symbolic_trace(nn.ReLU())
    holder.a, holder.a_1, holder.b_7, holder._1c = 1, 2, 3, 4
    names = ["a", "b", "b_7", "a_1", "c.d", "1c", "x y"]
    return [*made, [lib.get_unique_attr_name_in_module(holder, name) for name in names]]


def faster(torch: Any) -> Any:
    """Norms fused and dropouts removed."""
    lib = _part(torch, "experimental.optimization")
    nn = torch.nn

    def norm(kind: Any, count: int, **options: Any) -> Any:
        made = kind(count, **options)
        for each in (*made.parameters(), *made.buffers()):
            if each.dtype == torch.float32:
                each.data = wave(torch, *each.shape).abs() + 0.5
        return made

    def line(*layers: Any) -> Any:
        for layer in layers:
            if isinstance(layer, (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)):
                for each in layer.parameters():
                    each.data = wave(torch, *each.shape) / 4
        return nn.Sequential(*layers).eval()

    tried = [
        line(nn.Linear(3, 2), norm(nn.BatchNorm1d, 2)),
        line(nn.Linear(3, 2), nn.ReLU(), norm(nn.BatchNorm1d, 2)),
        line(nn.Linear(3, 2), nn.BatchNorm1d(2, track_running_stats=False)),
        line(nn.Linear(3, 2), nn.Dropout(0.5), nn.ReLU()),
    ]
    rows: list[Any] = []
    x = wave(torch, 2, 3)
    for model in tried:
        fused = lib.fuse(model)
        rows.append([fused.code, plain(fused(x)), [type(m).__name__ for m in model]])
        rows.append([type(m).__name__ for m in lib.optimize_for_inference(model).modules()][1:])
    image = wave(torch, 1, 2, 4, 4)
    fused = lib.fuse(line(nn.Conv2d(2, 2, 2), norm(nn.BatchNorm2d, 2)))
    rows.append([fused.code, plain(fused(image))])

    class Twice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b = line(nn.Linear(3, 2))[0], norm(nn.BatchNorm1d, 2)

        def forward(self, x: Any) -> Any:
            y = self.a(x)
            return self.b(y) + y

    rows.append(lib.fuse(Twice().eval()).code)
    training = said(lambda: lib.fuse(nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))))
    rows.append(training)
    given = torch.fx.symbolic_trace(tried[0])
    rows.append(
        [lib.fuse(given, inplace=True, no_trace=True).code, type(given.get_submodule("0")).__name__]
    )
    rows.append([type(m).__name__ for m in tried[0]])
    lib.fuse(tried[0], inplace=True)
    rows.append(plain(tried[0][0].weight))
    for config in ({"remove_dropout": False}, {"conv_bn_fuse": False}, {"none": 1}):
        made: list[Any] = []
        model = line(nn.Linear(3, 2), norm(nn.BatchNorm1d, 2), nn.Dropout())
        text = said(lambda m=model, c=config: made.append(lib.optimize_for_inference(m, c)))  # noqa: B023
        rows.append([text, [each.code for each in made]])
    graph = torch.fx.symbolic_trace(line(nn.Linear(3, 2), nn.ReLU(), nn.Tanh())).graph
    nodes = list(graph.nodes)
    below = dict(graph.owning_module.named_modules())
    pairs = [(nn.Linear, nn.ReLU), (nn.ReLU, nn.Tanh), (nn.Linear, nn.Tanh)]
    match = lib.matches_module_pattern
    rows.append([[match(pair, node, below) for node in nodes] for pair in pairs])
    rows.append(match(pairs[0], nodes[2], {}))
    part = lib.extract_subgraph(graph.owning_module, nodes[2:3], nodes[1:2], nodes[2:3])
    rows.append(part.code)
    return rows


def known(torch: Any) -> Any:
    """What is noted of tensors when a graph is run."""
    lib = _part(torch, "passes.shape_prop")
    tell = lib._extract_tensor_metadata
    images = torch.ones(2, 3, 4, 5).contiguous(memory_format=torch.channels_last)
    rooms = torch.ones(1, 2, 2, 3, 2).contiguous(memory_format=torch.channels_last_3d)
    eight = torch.quantize_per_tensor(torch.ones(2), 0.5, 3, torch.qint8)
    scales, zeros = torch.tensor([0.5, 0.25]), torch.tensor([0, 1])
    by_channels = torch.quantize_per_channel(torch.ones(2, 2), scales, zeros, 0, torch.quint8)
    tensors = [torch.ones(2, 3).requires_grad_(), images, rooms, torch.ones(2, 3).T, eight]
    tensors += [by_channels, torch.ones((), dtype=torch.int64)]
    rows: list[Any] = [
        [plain(list(tell(each))), plain(tell(each, False).memory_format)] for each in tensors
    ]

    def several(x: Any, n: Any) -> Any:
        parts = torch.split(x, 1)
        return parts[0] + n, x.size(0), x.shape

    module = torch.fx.symbolic_trace(several)
    run = lib.ShapeProp(module)
    rows.append(plain(run.propagate(torch.ones(2, 3), 2)[1:]))
    for node in module.graph.nodes:
        meta = node.meta.get("tensor_meta")
        kind = node.meta["type"].__name__
        rows.append(
            [node.name, kind, plain(list(meta)) if hasattr(meta, "dtype") else len(meta or ())]
        )
    rows.append(said(lambda: lib.ShapeProp(module).propagate(5, 2))[:60])
    return rows


def apart(torch: Any) -> Any:
    """Modules split into parts, by each setting."""
    lib = _part(torch, "passes.split_module")

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w, self.v = torch.nn.Parameter(torch.ones(2)), torch.nn.Parameter(torch.ones(2))
            self.deep = torch.nn.Sequential(torch.nn.ReLU())

        def forward(self, x: Any, y: Any) -> Any:
            a = x + self.v
            b = self.deep(a) * self.w
            c = torch.sigmoid(y)
            return b + c + self.v, a

    class Whole(torch.fx.Tracer):
        def is_leaf_module(self, m: Any, module_qualified_name: str) -> bool:
            return isinstance(m, torch.nn.ReLU)

    model = Model()
    module = torch.fx.GraphModule(model, Whole().trace(model))
    calls = [n for n in module.graph.nodes if n.op.startswith("call")]
    chosen = {n: place for n, place in zip(calls, (1, 2, 2, 0, 3, 3), strict=True)}  # noqa: C416
    settings: list[dict[str, Any]] = [
        {},
        {"keep_original_order": True},
        {"keep_original_node_name": True},
        {"keep_original_input_name": False},
        {"partition_affix": "z", "keep_original_order": True},
        {"tuple_return": True},
    ]
    rows: list[Any] = []
    for options in settings:
        names: dict[str, str] = {}
        made = lib.split_module(module, module, chosen.__getitem__, names, **options)
        below = {name: m.code for name, m in made.named_children() if hasattr(m, "code")}
        value = plain(made(torch.ones(2), torch.zeros(2)))
        rows.append([made.code, below, names, value])
    circle = dict.fromkeys(calls, 1)
    circle[calls[1]] = 0
    rows.append(said(lambda: lib.split_module(module, module, circle.__getitem__)))
    return rows


def flattened(torch: Any) -> Any:
    """Trees taken apart by a structure known before."""
    lib, trees = _part(torch, "_pytree"), import_module(f"{torch.__name__}.utils._pytree")
    values = {"a": 1, "b": [2, (3, 4)]}
    _, spec = trees.tree_flatten(values)
    flat = lib.tree_flatten_spec
    rows = [flat(values, spec), flat({"b": [5, (6, 7)], "a": 8, "c": 9}, spec)]
    rows += [said(lambda: flat({"a": 1}, spec)), said(lambda: flat({"a": 1, "b": [1]}, spec))]
    match = lib.SUPPORTED_NODES_EXACT_MATCH
    _, pair = trees.tree_flatten([1, 2])
    rows.append([match[dict](v, spec) for v in (values, {"b": 1, "a": 2}, {"a": 1})])
    rows.append([match[list](v, pair) for v in ([1, 2], [1], [1, 2, 3])])
    return rows


CASES = {
    **{"matches": matches, "replaced": replaced, "folded": folded, "faster": faster},
    **{"known": known, "apart": apart, "flattened": flattened},
}
