"""What passes over graphs of torch.fx make, and what they refuse; run here and under torch."""

from __future__ import annotations

import operator
import typing
from collections.abc import Callable
from importlib import import_module
from typing import Any

from values import plain, said

NONE = type(None)


class Pair(typing.NamedTuple):
    """Two values of two types."""

    left: int
    right: str


def _modules(torch: Any, *names: str) -> list[Any]:
    return [import_module(f"{torch.__name__}.fx.{name}") for name in names]


def _traced(torch: Any, thing: Any, **options: Any) -> Any:
    return torch.fx.symbolic_trace(thing, **options)


def types_of_sizes(torch: Any) -> Any:
    """Types by sizes: equal, consistent, more precise."""
    (kinds,) = _modules(torch, "tensor_type")
    dyn, made = kinds.Dyn, kinds.TensorType
    known = [dyn, made((1, 2)), made((1, dyn)), made[1], made[1, 2], made((1, 2, 3)), 5]
    tests = operator.eq, kinds.is_consistent, kinds.is_more_precise
    return [
        [[bool(test(one, other)) for one in known for other in known] for test in tests],
        [[str(each), repr(each)] for each in known],
    ]


def types_of_elements(torch: Any) -> Any:
    """What elements of containers are told of their types."""
    (passes,) = _modules(torch, "passes.annotate_getitem_nodes")
    containers = [list[int], tuple[int, str], tuple[int, ...], dict[str, int], Pair, int, None]
    containers += [typing.List[int], typing.Tuple[int, str]]  # noqa: UP006
    made = []
    for container in containers:
        graph = torch.fx.Graph()
        x = graph.placeholder("x")
        x.type = container
        parts = [graph.call_function(operator.getitem, (x, i)) for i in (0, 1)]
        other = graph.call_function(operator.add, (x, 0))
        graph.output((*parts, other))
        passes.annotate_getitem_nodes(graph)
        made.append([str(each.type) for each in (*parts, other)])
    return made


def orders_of_passes(torch: Any) -> Any:
    """Passes in the orders that constraints allow, once or several times over."""
    old, new = _modules(torch, "passes.pass_manager", "passes.infra.pass_manager")
    (base,) = _modules(torch, "passes.infra.pass_base")

    def one(x: Any) -> Any:
        return [*x, 1]

    def two(x: Any) -> Any:
        return [*x, 2]

    def three(x: Any) -> Any:
        return [*x, 3]

    before = old.this_before_that_pass_constraint(one, two)
    wrapped = old.loop_pass(one, n_iter=2)
    those = old.these_before_those_pass_constraint(one, two)
    manager = old.PassManager([two, one], [before])
    shorter, other = old.PassManager([one, two, three]), old.PassManager([one, two])
    shorter.remove_pass(["two"])
    other.replace_pass(one, three)
    looped = old.loop_pass(one, predicate=lambda x: len(x) < 3)
    kept: list[int] = []
    given = old.inplace_wrapper(lambda x: x.append(1))(kept)
    module = _traced(torch, lambda x: x + 1)
    runs: list[str] = []

    def changes(name: str, times: int) -> Callable[..., Any]:
        left = [times]

        def run(gm: Any) -> Any:
            runs.append(name)
            left[0] -= 1
            return base.PassResult(gm, left[0] >= 0)

        run.__name__ = name
        return run

    def checked(gm: Any) -> None:
        runs.append("checked")
        raise ValueError("a check")

    def none(gm: Any) -> None:
        runs.append("none")

    made = new.PassManager([changes("a", 2), changes("b", 1)], steps=5)
    first = made(module).modified
    quiet = new.PassManager([changes("c", 0)])(module).modified
    wrap = new.pass_result_wrapper
    results = [wrap(none)(module), wrap(lambda gm: gm)(module), wrap(changes("d", 0))(module)]
    ordered = new.PassManager([two, one, three], [new.this_before_that_pass_constraint(one, two)])
    ordered.solve_constraints()
    both = [new.this_before_that_pass_constraint(*each) for each in ((one, two), (two, one))]
    circle = new.PassManager([one, two], both)
    tested = new.PassManager([wrap(none)], run_checks_after_each_pass=True)
    tested.add_checks(checked)
    later = new.PassManager([wrap(none)])
    later.add_checks(checked)
    return [
        *([those(one, two), those(two, one), those(wrapped, two), those(two, wrapped)]),
        *(said(lambda: manager([])), shorter([]), other([]), looped([]), wrapped([]), given),
        *(old.PassManager.build_from_passlist([one, three])([]), old.log_hook(one)([])),
        *(said(lambda: old.loop_pass(one)), said(lambda: old.loop_pass(one, 1, len))),
        *(first, quiet, [each.modified for each in results]),
        [each.__name__ for each in ordered.passes],
        *(
            said(circle.solve_constraints),
            said(lambda: tested(module)),
            said(lambda: later(module)),
        ),
        *(said(lambda: tested.add_checks(5)), said(lambda: tested.add_checks(lambda a, b: None))),
        said(lambda: new.PassManager([one])([])),
        runs,
    ]


def supports(torch: Any) -> Any:
    """Which nodes a back end is said to run."""
    (lib, common, shapes) = _modules(
        torch, "passes.operator_support", "passes.tools_common", "passes.shape_prop"
    )

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer, self.weight = torch.nn.ReLU(), torch.nn.Parameter(torch.ones(2))

        def forward(self, x: Any, y: Any) -> Any:
            z = torch.add(self.layer(x), y)
            return torch.mul(input=z, other=y).sigmoid() + self.weight

    model = _traced(torch, Model())
    shapes.ShapeProp(model).propagate(torch.ones(2), torch.ones(2, dtype=torch.int64))
    below = dict(model.named_modules())
    f, i = [torch.float32], [torch.int64]
    target = common.get_node_target
    texts = [target(below, n) for n in model.graph.nodes if n.op.startswith("call")]
    add, mul, relu = texts[1], texts[2], texts[0]
    tables: list[Any] = [
        None,
        {},
        {relu: None, add: None},
        {relu: ([f], {}), add: ([f, f], {})},
        {add: ([f, i], {}), mul: ((), {"input": f, "other": f})},
        {mul: ((), {"input": f, "other": i})},
    ]
    made: list[Any] = [lib.OperatorSupport(table) for table in tables]
    made.append(lib.OpSupports.decline_if_input_dtype(torch.int64))
    made.append(lib.OpSupports.decline_if_node_in_names({"add", "layer"}))
    made += [lib.chain(made[2], made[6]), lib.any_chain(made[2], made[6])]
    made.append(lib.create_op_support(lambda below, node: node.op == "output"))
    rows = [[each.is_node_supported(below, n) for n in model.graph.nodes] for each in made]
    whether = [common.is_node_output_tensor(n) for n in model.graph.nodes]
    return [texts[1:], rows, whether]


def orders_of_nodes(torch: Any) -> Any:
    """Nodes sorted behind what they need, and what cannot be sorted."""
    (common,) = _modules(torch, "passes.tools_common")

    def turned(circle: bool) -> Any:
        module = _traced(torch, lambda x, y: ((x + 1) * 2, y - x))
        first, second = list(module.graph.nodes)[2:4]
        second.append(first)
        if circle:
            first.args = (second, 1)
        return module

    sorted_ = common.stable_topological_sort(turned(False))
    return [
        [each.name for each in sorted_.graph.nodes],
        said(lambda: common.stable_topological_sort(turned(True))),
        said(turned(False).graph.lint),
    ]


def attributes_of_layers(torch: Any) -> Any:
    """What layers are computed from, by the book."""
    (lib,) = _modules(torch, "passes.param_fetch")
    nn = torch.nn
    layers = nn.Linear(2, 2), nn.Conv2d(1, 1, 1), nn.BatchNorm2d(2), nn.MaxPool2d(2), nn.ReLU()
    names = [list(lib.extract_attrs_for_lowering(each)) for each in layers]
    inner = _traced(torch, nn.Sequential(nn.ReLU(inplace=True)))
    outer = _traced(torch, nn.Sequential(nn.Linear(2, 2), nn.ReLU()))
    lib.lift_lowering_attrs_to_nodes(outer)
    lifted = [sorted(getattr(n, "attrs_for_lowering", {})) for n in outer.graph.nodes]
    newer = nn.Linear(2, 2)
    newer._version = 7

    class Both(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = inner

        def forward(self, x: Any) -> Any:
            return self.inner(x)

    class Whole(torch.fx.Tracer):
        def is_leaf_module(self, m: Any, module_qualified_name: str) -> bool:
            return isinstance(m, torch.fx.GraphModule)

    both = Both()
    nested = torch.fx.GraphModule(both, Whole().trace(both))
    lib.lift_lowering_attrs_to_nodes(nested)
    below = [getattr(n, "attrs_for_lowering", {}) for n in inner.graph.nodes]
    return [
        *(names, lifted, plain(below), said(lambda: lib.extract_attrs_for_lowering(newer))),
        said(lambda: lib.extract_attrs_for_lowering(nn.Tanh())),
    ]


def pictures(torch: Any) -> Any:
    """What is said where no picture can be drawn."""
    (lib,) = _modules(torch, "passes.graph_drawer")
    module = _traced(torch, lambda x: x + 1)
    return [said(lambda: lib.FxGraphDrawer(module, "a"))[:60]]


def alike(torch: Any) -> Any:
    """Whether graphs are the same but for names."""
    (lib,) = _modules(torch, "passes.utils.common")
    graphs = [
        _traced(torch, each).graph
        for each in (
            lambda x, y: torch.relu(x + y) * 2,
            lambda a, b: torch.relu(a + b) * 2,
            lambda a, b: torch.relu(a + b) * 3,
            lambda a, b: torch.relu(a - b) * 2,
            lambda a: torch.relu(a + a) * 2,
            lambda a, b: (torch.relu(a + b) * 2, a),
        )
    ]
    return [[lib.compare_graphs(one, other) for other in graphs] for one in graphs]


def notes(torch: Any) -> Any:
    """Notes that new nodes are given, and where a node was made from."""
    (lib,) = _modules(torch, "traceback")
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    x.meta["a"] = 1
    node = graph.call_function(operator.neg, (x,))
    graph.output(node)
    with_none = [lib.NodeSource(None), lib.NodeSource(None, "p", lib.NodeSourceAction.CREATE)]
    many = lib.NodeSource(None, "q", [lib.NodeSourceAction.CREATE, lib.NodeSourceAction.REPLACE])
    node.meta["from_node"] = [lib.NodeSource(x, "r", lib.NodeSourceAction.REPLACE)]
    deep = with_none[0]
    for _ in range(4):
        outer = lib.NodeSource(None, "deep")
        outer.from_node = [deep]
        deep = outer
    lib.set_stack_trace(["unseen"])
    lib.set_grad_fn_seq_nr(1)
    states: list[Any] = [lib.has_preserved_node_meta(), dict(lib.get_current_meta())]
    with lib.preserve_node_meta():
        with lib.set_current_meta(x, "pass"):
            states.append([lib.has_preserved_node_meta(), sorted(lib.get_current_meta())])
        lib.set_stack_trace(["a\n", "b\n"])
        states.append([lib.format_stack(), lib.get_current_meta().get("stack_trace")])
        lib.set_stack_trace([])
        states.append(lib.get_current_meta().get("stack_trace"))
        for number in (3, 4):
            lib.set_grad_fn_seq_nr(number)
        states.append([plain(lib.get_current_meta().get(k)) for k in ("grad_fn_seq_nr",)])
        for _ in range(2):
            lib.reset_grad_fn_seq_nr()
            states.append(lib.get_current_meta().get("in_grad_fn"))
        states.append(said(lib.reset_grad_fn_seq_nr))
        with lib.annotate({"k": 1}), lib.annotate({"l": 2}):
            states.append(lib.get_current_meta().get("custom"))
        with lib.preserve_node_meta(False), lib.set_current_meta(x):
            states.append([lib.has_preserved_node_meta(), "a" in lib.get_current_meta()])
    source = node.meta["from_node"][0].to_dict()
    return [
        [each.print_readable() for each in (*with_none, many)],
        [deep.print_readable().count("\n"), deep.print_readable(indent=9).count("\n")],
        *([many.name, many.target, many.graph_id], {k: source[k] for k in ("name", "target")}),
        *(source["action"], states, sorted(lib.get_graph_provenance_json(graph))),
    ]


CASES = {
    **{"types_of_sizes": types_of_sizes, "types_of_elements": types_of_elements},
    **{"orders_of_passes": orders_of_passes, "supports": supports, "pictures": pictures},
    **{"orders_of_nodes": orders_of_nodes, "attributes_of_layers": attributes_of_layers},
    **{"alike": alike, "notes": notes},
}
