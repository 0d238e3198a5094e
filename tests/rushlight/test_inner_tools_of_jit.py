"""What `torch._C` tells of modules and files, and what torch's own tests call."""

from __future__ import annotations

import io
from typing import Any, Dict, List, Optional  # noqa: UP035

import pytest

import rushlight as torch
from rushlight import Tensor, nn


class Inner(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("q", torch.ones(1))

    def forward(self, x: Tensor) -> Tensor:
        return x


class Outer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.p = nn.Parameter(torch.ones(1))
        self.inner = Inner()
        self.k = 3

    def forward(self, x: Tensor) -> Tensor:
        return self.inner(x) * self.p


class WithIgnored(Inner):
    @torch.jit.ignore
    def ignored(self, x: int) -> int:
        return x + self.k

    @torch.jit.export
    def exported(self, x: int) -> int:
        return x


def test_all_parts_of_a_module() -> None:
    scripted = torch.jit.script(Outer())
    found = torch._C._jit_debug_module_iterators(scripted._c)
    assert [name for name, _ in found["named_modules"]] == ["", "inner"]
    assert found["parameters"] == found["parameters_r"] == [scripted.p]
    assert (found["buffers"], found["named_buffers_r"]) == ([], [("inner.q", scripted.inner.q)])
    names = [name for name, _ in found["named_attributes_r"]]
    assert {"k", "inner", "inner.q", "training", "inner.training"} <= {*names}


def test_a_module_becomes_another() -> None:
    one, other = torch.jit.script(Inner()), torch.jit.script(Outer())
    one._reconstruct(other._c)
    assert (one.k, one.original_name) == (3, "Outer")
    assert one(torch.ones(2)).tolist() == [1.0, 1.0]


def test_what_only_python_knows_stays_where_a_module_becomes_another() -> None:
    one, other = torch.jit.script(WithIgnored()), torch.jit.script(Outer())
    one._reconstruct(other._c)
    assert (one.k, one.ignored(3)) == (3, 6)
    assert not hasattr(one, "exported")


def test_a_module_lists_the_names_of_the_class_that_was_scripted() -> None:
    for module in (Outer(), nn.Sequential(nn.Linear(2, 2), nn.ReLU())):
        missing = {*dir(module)} - {*dir(torch.jit.script(module))}
        assert not {name for name in missing if not name.startswith("__rushlight")}


class ByNames(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = Inner()

    def listed(self, x: Tensor) -> Tensor:
        found: List[Inner] = [self.inner]  # noqa: UP006
        for each in found:
            x = each.forward(x) + 1
        return x

    def forward(self, x: Tensor) -> Tensor:
        found: Dict[int, Inner] = {1: self.inner}  # noqa: UP006
        maybe: Optional[Inner] = found[1]  # noqa: UP045
        if maybe is not None:
            x = maybe.forward(x) * 2
        return self.listed(x)


def test_classes_of_modules_are_types_once_compiled() -> None:
    assert torch.jit.script(ByNames())(torch.ones(1)).tolist() == [3.0]

    def never(x: Tensor) -> Tensor:
        found: List[Outer] = []  # noqa: UP006
        return x + len(found)

    torch._C._jit_clear_class_registry()
    with pytest.raises(RuntimeError, match="Unknown type name 'Outer'"):
        torch.jit.script(never)


@pytest.mark.parametrize("flat", [True, False])
def test_extra_files_of_flatbuffers(flat: bool) -> None:
    module = torch.jit.script(nn.Linear(2, 2))
    extra = {"a.json": b"[1]"}
    made = module._save_to_buffer_for_lite_interpreter(_extra_files=extra, _use_flatbuffer=flat)
    found: dict[str, bytes] = {}
    assert torch._C._get_model_extra_files_from_buffer(made, found) is found
    assert found == (extra if flat else {})


class Halves(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x / 2


@pytest.mark.parametrize(("module", "version"), [(nn.Linear(2, 2), 1), (Halves(), 4)])
def test_flatbuffers_say_the_version_of_operators(module: nn.Module, version: int) -> None:
    file = io.BytesIO()
    torch.jit.save_jit_module_to_flatbuffer(torch.jit.script(module), file)
    file.seek(0)
    assert torch.jit._serialization.get_flatbuffer_module_info(file)["operator_version"] == version


def test_operators_of_torchs_tests() -> None:
    x = torch.tensor([-1.0, 1.0], requires_grad=True)
    torch.ops._test.leaky_relu(x).sum().backward()
    assert x.grad is not None
    assert torch.allclose(x.grad, torch.tensor([0.01, 1.0]))
    assert torch.ops._test.cat([x, x]).shape == (4,)
    assert torch.ops._test.get_first([["a"], ["b"]]) == "a"
    text = "Unknown keyword argument 'foo' for operator '_test::leaky_relu'"
    with pytest.raises(RuntimeError, match=text):
        torch.ops._test.leaky_relu(x, foo=1)


def test_what_is_put_in_has_a_place_only_by_its_pairs() -> None:
    def products(x: Tensor, y: Tensor) -> Tensor:
        return x * y * y

    pattern = "graph(%x, %y):\n  %t = aten::mul(%x, %y)\n  %o = aten::mul(%t, %y)\n  return (%o)"
    new = "graph(%x, %y):\n  %o = my::double(%x, %y)\n  return (%o)"
    ranges = []
    for pairs in ([], [("o", "t")]):
        graph = torch.jit.script(products).graph.copy()
        run = torch._C._jit_pass_custom_pattern_based_rewrite_graph
        run(pattern, new, graph, value_name_pairs=pairs)
        ranges.append(graph.findNode("my::double").sourceRange())
    assert __file__ not in ranges[0]
    assert __file__ in ranges[1]


def test_an_object_of_python_comes_back() -> None:
    given = object()
    assert torch._C._ivalue_debug_python_object(given) is given


class Named(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = Inner()

    @staticmethod
    def twice(x: Tensor) -> Tensor:
        return x * 2

    def forward(self, x: Tensor) -> Tensor:
        one: Inner = self.inner
        return Named.twice(one.forward(x)) if isinstance(one, Inner) else x


def test_classes_that_are_types_keep_their_static_methods() -> None:
    assert torch.jit.script(Named())(torch.ones(1)).tolist() == [2.0]


def sum_then_zero(a: Tensor, b: Tensor) -> Tensor:
    return torch.relu(torch.add(a, b, alpha=3))


def sum_of_number(a: Tensor, b: Tensor) -> Tensor:
    return torch.relu_(a + 1) * b


def in_place_twice(a: Tensor, b: Tensor) -> Tensor:
    return torch.relu_(a.add_(b))


def into_another(a: Tensor, b: Tensor) -> Tensor:
    x = torch.add(a, b, out=a)
    return torch.relu_(x)


def changed_between(a: Tensor, b: Tensor) -> Tensor:
    x = a + b
    a.mul_(0)
    return torch.relu(x)


def read_between(a: Tensor, b: Tensor) -> Tensor:
    x = a.add_(b)
    y = a * 2
    return torch.relu_(x) + y


def used_twice(a: Tensor, b: Tensor) -> Tensor:
    x = a + b
    return torch.relu(x) + x


@pytest.mark.parametrize(
    ("program", "fused"),
    [
        (sum_then_zero, "aten::_add_relu"),
        (sum_of_number, "aten::_add_relu"),
        (in_place_twice, "aten::_add_relu_"),
        (into_another, "aten::_add_relu"),
        (changed_between, "aten::_add_relu"),
        (read_between, ""),
        (used_twice, ""),
    ],
)
def test_sums_are_joined_with_what_follows(program: Any, fused: str) -> None:
    scripted = torch.jit.script(program)
    torch._C._jit_pass_fuse_add_relu(scripted.graph)
    kinds = {node.kind() for node in scripted.graph.nodes()}
    assert {kind for kind in kinds if "_add_relu" in kind} == ({fused} if fused else set())
    sink = io.BytesIO()
    torch.jit.save(scripted, sink)
    sink.seek(0)
    for run in (scripted, torch.jit.load(sink)):
        a, other, b = (torch.tensor([-2.0, 1.0, float("nan")]) for _ in range(3))
        wanted = program(other, b)
        assert torch.allclose(run(a, b), wanted, equal_nan=True)
        assert torch.allclose(a, other, equal_nan=True)


def plain(x: Tensor) -> Tensor:
    return torch.add(x, 1).view(-1)


def written(x: Tensor) -> Tensor:
    return x.mul_(2)


def a_part(x: Tensor) -> Tensor:
    return x[0:1]


def test_schemas_are_compared_with_what_operators_do(monkeypatch: pytest.MonkeyPatch) -> None:
    for program in (plain, written, a_part):
        x = torch.tensor([1.0, float("nan")])
        torch._C._jit_check_alias_annotation(torch.jit.script(program).graph, (x,), "add")
        assert x[0] == 1
    for schema, told in (
        ("aten::mul_.Scalar(Tensor self, Scalar other) -> Tensor", "changed an argument"),
        (
            "aten::slice.Tensor(Tensor self, int dim, int start, int end, int step) -> Tensor",
            "gave",
        ),
    ):
        graph = torch.jit.script(written if "mul_" in schema else a_part).graph
        kind = schema.partition(".")[0]
        node = next(node for node in graph.nodes() if node.kind() == kind)._inner
        monkeypatch.setattr(node, "signature", torch._C.parse_schema(schema)._inner)
        with pytest.raises(RuntimeError, match=f"{kind} {told}"):
            torch._C._jit_check_alias_annotation(graph, (torch.ones(2),), kind[6:])


def test_form_of_a_tensor_is_asserted() -> None:
    x = torch.ones(2, 3)
    torch._assert_tensor_metadata(x, [2, 3], [3, 1], torch.float32, device="cpu")
    torch._assert_tensor_metadata(x)
    for given, told in (
        (([3],), r"Tensor sizes mismatch! Expected: \[3\], Got: \[2, 3\]"),
        ((None, [1, 2]), r"Tensor strides mismatch! Expected: \[1, 2\], Got: \[3, 1\]"),
        ((None, None, torch.int32), "Tensor dtype mismatch! Expected: Int, Got: float"),
    ):
        with pytest.raises(RuntimeError, match=told):
            torch._assert_tensor_metadata(x, *given)


def test_random_numbers_of_a_block_leave_others_alone() -> None:
    from rushlight.testing._utils import freeze_rng_state, wrapper_set_seed

    torch.manual_seed(7)
    first = torch.rand(2).tolist()
    torch.manual_seed(7)
    with freeze_rng_state():
        torch.rand(5)
    drawn = [wrapper_set_seed(torch.rand, 3).tolist() for _ in range(2)]
    assert (torch.rand(2).tolist(), drawn[0]) == (first, drawn[1])


def test_arguments_that_need_not_be_given_are_tried_out() -> None:
    layers = torch._C._nn
    whole = torch.tensor([1, 2], dtype=torch.int)

    def integers(x: Tensor, addends: Optional[List[int]]) -> Tensor:  # noqa: UP006, UP045
        return torch._C._nn._test_optional_intlist(x, addends)

    for run in (integers, torch.jit.script(integers)):
        assert run(whole, [3, 4]).tolist() == [4, 6]
        assert run(whole, None).data_ptr() == whole.data_ptr()
    assert layers._test_optional_filled_intlist(whole, 10).tolist() == [11, 12]
    assert layers._test_optional_floatlist(torch.ones(2), [1.5, 2]).tolist() == [2.5, 3]
    assert layers._test_string_default(whole) is not None
    for call, told in (
        (lambda: integers(whole, [1]), "invalid index Index = 1; Length = 1"),
        (lambda: integers(whole.float(), [1, 2]), "expected scalar type Int but found Float"),
        (lambda: integers(whole[:, None], [1, 2]), r"Expected values.dim\(\) == 1"),
        (lambda: layers._test_string_default(whole, b="b"), "Default B failed"),
    ):
        with pytest.raises(RuntimeError, match=told):
            call()


def test_operators_at_the_top_of_torch_are_found_by_their_names() -> None:
    top, x = torch._VF, torch.arange(6.0).reshape(2, 3)
    assert top.relu is torch._C._VariableFunctions.relu is torch.relu
    for made, wanted in (
        (top.einsum("ij,kj->ik", [x, x]), x @ x.T),
        (top.tensordot(x, x, [1], [1]), x @ x.T),
        (top.meshgrid([x[0], x[1]])[0], torch.meshgrid(x[0], x[1], indexing="ij")[0]),
        (top.broadcast_tensors([x, torch.ones(3)])[1], torch.ones(2, 3)),
        (top.block_diag([x, x]), torch.block_diag(x, x)),
        (top.norm(x, 2), torch.norm(x)),
        (top._foreach_add([x], 1)[0], x + 1),
        (torch._C._nn.flatten_dense_tensors([x, x]), torch.cat([x.ravel()] * 2)),
    ):
        assert torch.equal(made, wanted)
    assert top.promote_types(torch.int8, torch.float32) is torch.float32
    assert not any(hasattr(top, name) for name in ("nothing", "nn", "compile", "__path__"))
