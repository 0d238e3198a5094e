"""Nodes of torch.fx, tracers, code and interpreters in rare ways; run here and under torch."""

from __future__ import annotations

import copy
import dataclasses
import enum
import itertools
import operator
import typing
from importlib import import_module
from typing import Any

from values import plain, said


class Color(enum.Enum):
    """An argument of nodes."""

    RED = 1


@dataclasses.dataclass
class Held:
    """Another one."""

    a: Any
    b: int = 2


def _part(torch: Any, name: str) -> Any:
    return import_module(f"{torch.__name__}.fx.{name}")


def _chain(torch: Any) -> Any:
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    nodes = [x]
    for _ in range(3):
        nodes.append(graph.call_function(operator.neg, (nodes[-1],)))
    graph.output(nodes[-1])
    return graph, nodes


def orders(torch: Any) -> Any:
    """Before and behind, moves, inserts between the same two nodes."""
    graph, (x, a, b, c) = _chain(torch)
    tests = [operator.lt, operator.le, operator.gt, operator.ge]
    made: list[Any] = [[test(*pair) for test in tests for pair in ((a, b), (b, a), (a, a))]]
    b.prepend(b)
    made.append([each.name for each in graph.nodes])
    a.append(c)
    made.append([[each.name for each in graph.nodes], c < b, b < c, said(graph.lint)])
    many = []
    for _ in range(70):
        with graph.inserting_after(x):
            many.append(graph.call_function(operator.pos, (x,)))
    made.append([all(after < before for before, after in itertools.pairwise(many))])
    made.append([x < many[-1], many[0] < a, [each.name for each in graph.nodes][:3]])
    other, _ = _chain(torch)
    made += [said(lambda: a.prepend(next(iter(other.nodes)))), said(lambda: other.erase_node(a))]
    made += [[n.name for n in reversed(graph.nodes)][:2], len(graph.nodes)]
    with graph.inserting_before():
        made.append(graph.call_function(operator.pos, (x,)).prev.op)
    with graph.inserting_after():
        made.append(graph.call_function(operator.pos, (x,)).next.op)
    made.append(said(lambda: type(graph.nodes)(graph, "up")))
    return made


def arguments(torch: Any) -> Any:
    """Arguments changed, replaced and normal; metadata that goes along."""
    graph, (x, a, b, c) = _chain(torch)
    y = graph.create_node("call_function", torch.add, (a, a), {"alpha": 2})
    y.insert_arg(2, c)
    made: list[Any] = [
        str(y.args),
        said(lambda: y.insert_arg(4, 1)),
        said(lambda: y.insert_arg(-1, 1)),
    ]
    y.insert_arg(0, 5), y.update_arg(1, b), y.update_kwarg("out", x)
    made.append([str(y.args), str(y.kwargs), str(y.all_input_nodes), y in c.users, y in a.users])
    y.insert_arg(4, 9)
    x.meta["said"] = 1
    made.append([str(y.args), str(x.replace_all_uses_with(b, lambda n: n is y)), str(y.kwargs)])
    new = graph.placeholder("new")
    made.append([str(x.replace_all_uses_with(new, propagate_meta=True)), plain(new.meta)])
    made.append(said(lambda: b.replace_all_uses_with(new, propagate_meta=True)))
    held = graph.create_node("call_function", print, ([x, {"k": c}], slice(a, None, 2)))
    held.replace_input_with(c, b)
    made.append([str(held.args), [n.name for n in held.all_input_nodes], held.format_node()])
    fx = torch.fx
    made += [said(lambda: fx.node.map_arg(1, 2)), str(fx.node.map_arg((x, [1, slice(a)]), str))]
    made.append(said(lambda: fx.Node(graph, "n", "no_op", "t", (), {})))
    root = torch.nn.Sequential(torch.nn.Linear(2, 3))
    called = graph.create_node("call_module", "0", (x,))
    method = graph.create_node("call_method", "neg", (x,))
    away = graph.create_node("call_module", "5", (x,))
    for only in (False, True):
        for node in (called, method):
            found = node.normalized_arguments(root, normalize_to_only_use_kwargs=only)
            made.append(found and [str(found.args), str(found.kwargs)])
    made += [said(lambda: away.normalized_arguments(root)), called.is_impure.__name__]
    made += [said(called.is_impure).partition("for")[0], method.is_impure(), x.is_impure()]
    return made


def targets(torch: Any) -> Any:
    """What targets are refused, and how others print."""
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    make = graph.create_node
    tried = [("call_function", "relu"), ("call_method", len), ("call_method", 5), ("get_attr", 5)]
    tried += [("call_module", torch.nn.ReLU), ("placeholder", None)]
    texts = [said(lambda t=t: make(*t, (x,))).partition("target ")[2][:70] for t in tried]
    kept = ["len", "relu", "built", "ReLU"]
    texts = [text for text in texts if not any(word in text for word in kept)]
    nodes = [make("call_function", t, (x,)) for t in (operator.add, len, torch.relu, getattr)]
    named = [make("call_method", t, (x,)).name for t in ("__add__", "__x", "size", "toFloat")]
    find = graph.find_nodes
    found = [[n.name for n in find(op="call_method", target=t)] for t in ("size", None, "no")]
    found.append([n.name for n in find(op="call_function", target=len)])
    return [
        texts,
        [n.format_node() for n in nodes],
        named,
        found,
        said(lambda: find(op="call_function")),
    ]


def proxies(torch: Any) -> Any:
    """What proxies do with the rare questions Python asks."""
    fx = torch.fx

    def traced(function: Any, **options: Any) -> str:
        return said(lambda: found.append(fx.symbolic_trace(function, **options).code)) + "".join(
            found[-1:]
        )

    found: list[str] = []
    given = [
        lambda x: len(x),
        lambda x: [*x],
        lambda x: torch.add(x, other=x[x:2]),
        lambda x: torch.cat([x, {"a": x}["a"]]),
        lambda x: {x: 1}[x] + x,
        lambda x: x.f({(1, 2): x, "a": 5}),
        lambda x: x.f({(x, 2): x}),
        lambda x: x.f(object()),
        lambda x: x.f(..., (x, None), Color),
        lambda x: x if x else 1,
        lambda x: x.fill_(Color.RED),
        lambda x: x.fill_(range(1, 5, 2)),
        lambda x: [y for y in x],  # noqa: C416
        lambda x: f(**x) if (f := dict) else 0,
    ]
    texts = []
    for each in given:
        found.clear()
        texts.append(traced(each).replace("rushlight", "torch"))
    made = fx.symbolic_trace(lambda x: x.fill_(Held(x, 3)))
    graph, other = fx.Graph(), fx.Graph()
    one, two = fx.Proxy(graph.placeholder("x")), fx.Proxy(other.placeholder("y"))
    texts += [made.code.replace(f"{Held.__module__}_", ""), said(lambda: torch.add(one, two))[:40]]
    texts += [repr(one), repr(copy.deepcopy(one)), repr(one.size)]
    return texts


def tracers(torch: Any) -> Any:
    """What settings of tracers change."""
    fx = torch.fx

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(2, 3))
            self.register_buffer("held", torch.zeros(2))
            self.layer = torch.nn.ReLU()

        def forward(self, x: Any, y: Any = 3) -> Any:
            return self.layer(x).reshape(self.weight.shape) + self.held + self.weight.size(1) + y

        def other(self, x: Any) -> Any:
            return x - self.held

    def texts(make: Any, *args: Any, method: str = "forward", **options: Any) -> Any:
        tracer = make(*args)
        for name, value in options.items():
            setattr(tracer, name, value)
        tracer.traced_func_name = method
        made: list[str] = []
        said_ = said(lambda: made.append(str(tracer.trace(Model()))))
        return [said_, made]

    class Whole(fx.Tracer):
        def is_leaf_module(self, m: Any, module_qualified_name: str) -> bool:
            return False

    rows = [
        texts(fx.Tracer),
        texts(fx.Tracer, param_shapes_constant=True),
        texts(fx.Tracer, proxy_buffer_attributes=True),
        texts(Whole),
        texts(fx.Tracer, method="other"),
        texts(fx.Tracer, method="missing"),
        texts(fx.Tracer, check_mutable_operations=True),
    ]
    checking = fx.Tracer()
    checking.check_mutable_operations = True

    def changes(x: Any, out: Any) -> Any:
        return torch.add(x, x, out=out)

    rows.append(said(lambda: checking.trace(changes)))
    told = fx.Tracer()
    told.record_stack_traces = True
    for each in (lambda x: torch.relu(x), Model()):
        places = [n.stack_trace or "" for n in told.trace(each).nodes]
        rows.append(["in forward" in place for place in places])
    plainly = fx.Tracer().trace(lambda x: x + 1)
    rows.append(["stack_trace" in n.meta for n in plainly.nodes])
    wanted = torch.nn.Parameter(torch.ones(1))
    buffer = torch.ones(1)
    rows.append(said(lambda: fx.symbolic_trace(lambda x: x + wanted).code))
    rows.append(said(lambda: fx.symbolic_trace(lambda x: (x + buffer) * buffer)))
    rows.append(fx.symbolic_trace(lambda x: (x + buffer) * buffer).code)
    rows.append(said(lambda: fx.symbolic_trace(len)))
    concrete = [{"y": 3}, (fx.PH, 4), (1, 2, 3), {"x": None}, {"y": "s"}]
    for each in concrete:
        made: list[str] = []
        text = said(
            lambda e=each, made=made: made.append(fx.symbolic_trace(Model(), concrete_args=e).code)
        )
        rows.append([text, made])
    return rows


def wrapped(torch: Any) -> Any:
    """What wrap refuses."""
    wrap = torch.fx.wrap
    return [said(lambda: wrap(5)), said(lambda: wrap("len")), said(lambda: wrap(len))]


def codes(torch: Any) -> Any:
    """Code of rare annotations, values and calls."""
    fx = torch.fx
    kinds = [
        (),
        typing.List[int],  # noqa: UP006
        list[typing.Optional[int]],  # noqa: UP045
        typing.Union[int, str],  # noqa: UP007
        int | None,
        typing.Dict[str, typing.List[torch.Tensor]],  # noqa: UP006
        tuple[int, ...],
        typing.Any,
        list,
        typing.List,  # noqa: UP006
        torch.device,
        torch.Size,
        Color,
    ]
    texts = []
    for kind in kinds:
        graph = fx.Graph()
        x = graph.placeholder("x", kind)
        graph.output(x, kind)
        made = graph.python_code("self")
        texts.append(
            [
                made.src,
                sorted(
                    set(made.globals)
                    - {"inf", "nan", "NoneType", "torch", "device", "fx_pytree", "pytree"}
                ),
            ]
        )
    graph = fx.Graph()
    x = graph.placeholder("x", default_value=4)
    call = graph.call_function
    first = call(operator.iadd, (x, 1))
    parts = [
        call(operator.setitem, (x, 0, 5)),
        call(getattr, (x, "a-b")),
        call(getattr, (x, "shape", None)),
        call(getattr, (x, "shape")),
        call(getattr, (x, first)),
        call(torch.ops.aten.relu.default, (x,)),
        call(torch.add, (x, Color.RED), {"alpha": torch.device("cpu"), "k": (torch.int8, ...)}),
        call(isinstance, (x, (int, str))),
        graph.get_attr("a.0.b-c"),
        graph.call_module("layers.0", (x,), {"k": {"a": [x, slice(None, x)]}}),
    ]
    graph.output((first, *parts[1:]))
    texts += [graph.python_code("self").src, graph.python_code("root", expanded_def=True).src]
    texts.append(str(graph))
    with graph.on_generate_code(lambda _: lambda body: ["# first\n", *body]):
        texts.append(graph.python_code("self").src[:60])
    codegen = fx.graph.CodeGen()
    texts += [codegen.gen_fn_def([], ""), codegen.gen_fn_def(["self", "x"], " -> int")]
    texts += [codegen.gen_fn_def(["x"], ""), codegen.generate_output((1, "a"))]
    return texts


def running(torch: Any) -> Any:
    """Interpreters with environments given, errors, and missing values."""
    fx = torch.fx
    graph = fx.Graph()
    x, more = graph.placeholder("x", default_value=7), graph.placeholder("*more")
    y = graph.call_function(operator.add, (x, 1))
    z = graph.call_function(operator.mul, (y, 10))
    graph.output((z, more))
    module = fx.GraphModule({}, graph)
    run = fx.Interpreter(module).run
    made: list[Any] = [plain(run()), plain(run(1)), plain(run(1, 2, 3))]
    made.append(plain(run(1, initial_env={y: 100, more: ()})))
    kept = fx.Interpreter(module, garbage_collect_values=False)
    kept.run(2)
    dropped = fx.Interpreter(module)
    dropped.run(2)
    made += [len(kept.env), len(dropped.env)]
    other, _ = _chain(torch)
    made.append(plain(fx.Interpreter(module, graph=other).run(5)))
    made.append(said(lambda: fx.Interpreter(module, graph=other).run()))
    last = fx.Interpreter(module)
    made += [said(lambda: last.fetch_attr("a.b")), said(lambda: last.placeholder(5, (), {}))]
    made += [
        said(lambda: last.call_function("f", (), {})),
        said(lambda: last.map_nodes_to_values(y, z)),
    ]
    made.append([last.boxed_run(arguments := [1, 2]), arguments])
    made += [said(lambda: last.boxed_run([1])), said(lambda: last.boxed_run([1, 2, 3]))]

    def fails(place: int) -> Any:
        raise (ValueError("m"), ValueError(), KeyError("k"))[place]

    for place in range(3):
        bad = fx.Graph()
        bad.output(bad.call_function(fails, (place,)))
        runner = fx.Interpreter(fx.GraphModule({}, bad))
        made.append(said(runner.run).partition("%fails")[0])
        runner.extra_traceback = False
        made.append(said(runner.run))
    made.append(fx.Transformer(module).transform().code)
    return made


def modules_of_graphs(torch: Any) -> Any:
    """GraphModules from dicts and of modules; what is missing and unused."""
    fx, nn = torch.fx, torch.nn
    graph = fx.Graph()
    x = graph.placeholder("x")
    graph.output(graph.call_module("a.b", (graph.call_module("c", (x,)),)))
    make = fx.GraphModule
    made = make({"a.b": nn.ReLU(), "c": nn.Tanh(), "d": nn.ReLU()}, graph)
    rows: list[Any] = [
        *(sorted(name for name, _ in made.named_modules()), made.training),
        *(said(lambda: make({"c": nn.Tanh()}, graph)), said(lambda: make(5, graph))),
        make(nn.Sequential().eval(), fx.Graph()).training,
        said(lambda: setattr(made, "graph", 5)),
        *(made.add_submodule("e.f", nn.ReLU()), made.add_submodule("a.b.g", nn.ReLU())),
    ]
    made.x = 5
    rows += [made.add_submodule("x.y", nn.ReLU()), made.delete_submodule("x")]
    rows += [made.delete_submodule("e.none"), made.delete_submodule("no.f")]
    made.delete_all_unused_submodules()
    rows.append(sorted(name for name, _ in made.named_modules()))
    rows += [made.delete_submodule("a.b"), sorted(name for name, _ in made.named_modules())]
    rows.append(said(graph.lint))
    fresh = fx.Graph()
    fresh.output(fresh.create_node("get_attr", "w"))
    owner = nn.Module()
    owner.w = 5
    held = make(owner, fresh)
    held.w = torch.ones(1)
    held.custom = [1]
    twin = copy.deepcopy(held)
    rows += [plain(held()), said(lambda: fx.Graph(owning_module=None).lint())]
    rows.append(
        [type(twin).__name__, plain(twin()), hasattr(twin, "custom"), held.meta == twin.meta]
    )
    rows.append(said(lambda: make(owner, fresh).print_readable(print_output=False)))
    rows.append(make(owner, fresh).print_readable(print_output=False))
    outer = nn.Module()
    outer.inner = held
    calling = fx.Graph()
    calling.output(calling.call_module("inner", ()))
    rows.append(make(outer, calling, "Outer").print_readable(print_output=False))
    dead = fx.Graph()
    a = dead.placeholder("a")
    dead.call_function(operator.neg, (a,)), dead.call_function(torch.rand, (2,))
    dead.call_function(torch.relu_, (a,)), dead.output(a)
    again = copy.deepcopy(dead)
    rows += [dead.eliminate_dead_code(), len(dead.nodes), dead.eliminate_dead_code()]
    rows += [again.eliminate_dead_code(lambda n: n.op != "call_function"), len(again.nodes)]
    return rows


CASES = {
    **{"orders": orders, "arguments": arguments, "targets": targets, "proxies": proxies},
    **{"tracers": tracers, "wrapped": wrapped, "codes": codes, "running": running},
    "modules_of_graphs": modules_of_graphs,
}
