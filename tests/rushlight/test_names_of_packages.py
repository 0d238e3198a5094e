"""Functions and classes of torch's packages that few programs use; results are torch 2.13's."""

from __future__ import annotations

import importlib
import re
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import rushlight as torch
from rushlight import monitor
from rushlight.nn import grad as conv_grad
from rushlight.utils import mobile_optimizer as mobile
from rushlight.utils.checkpoint import CheckpointFunction
from rushlight.utils.throughput_benchmark import format_time


def test_statistics_tell_of_a_window() -> None:
    events: list[monitor.Event] = []
    handle = monitor.register_event_handler(events.append)
    kinds = [monitor.SUM, monitor.MEAN, monitor.MAX, monitor.MIN, monitor.COUNT, monitor.VALUE]
    stat = monitor.Stat("a", kinds, timedelta(hours=9), 3)
    stat.add(2)
    assert (stat.count, stat.get()[monitor.SUM]) == (1, 0)
    stat.add(5)
    stat.add(1)
    stat.add(9)  # the window has enough
    monitor.log_event(monitor.Event("n", datetime.now(UTC), {"b": True}))
    monitor.unregister_event_handler(handle)
    assert stat.count == 0
    assert [(each.name, each.data) for each in events] == [
        (
            "torch.monitor.Stat",
            {"a.mean": 8 / 3, "a.count": 3.0, "a.sum": 8.0, "a.max": 5.0, "a.min": 1.0},
        ),
        ("n", {"b": 1.0}),
    ]
    with pytest.raises(TypeError, match=r"^__init__\(\): incompatible constructor arguments"):
        monitor.Event("n", datetime.now(UTC), {"a": [1]})


@pytest.mark.parametrize(
    ("pattern", "sizes", "made"),
    [
        ("a b -> (b a)", {}, [0, 3, 1, 4, 2, 5]),
        ("a ... -> ... a", {}, [[0, 3], [1, 4], [2, 5]]),
        ("(c a) b -> a b () c", {"a": 1}, [[[[0, 3]], [[1, 4]], [[2, 5]]]]),
    ],
)
def test_rearranged_dimensions(pattern: str, sizes: dict[str, int], made: Any) -> None:
    assert torch.func.rearrange(torch.arange(6).view(2, 3), pattern, **sizes).tolist() == made


@pytest.mark.parametrize(
    ("pattern", "sizes", "said"),
    [
        ("a b", {}, "Pattern must contain a single '->' separator"),
        ("a a -> a a", {}, "Indexing expression contains duplicate dimension 'a'"),
        ("a b -> (b (a))", {}, "Axis composition is one-level (brackets inside brackets not allo"),
        ("a b -> b) a", {}, "Brackets are not balanced"),
        ("a b -> b a", {"z": 3}, "Identifiers not found in rearrange expression: {'z'}"),
        ("a b -> b a 2", {}, "rearrange only supports unnamed axes of size 1"),
        ("a.b -> b a", {}, "Expression may contain dots only inside ellipsis (...)"),
        ("(a b) c -> a b c", {}, "cannot infer the sizes of two dimensions at once"),
        ("(a b) c -> a b c", {"a": 3}, "the sizes [3, '?'] do not fill a dimension of size 2"),
    ],
)
def test_patterns_that_are_refused(pattern: str, sizes: dict[str, int], said: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(said)}"):
        torch.func.rearrange(torch.arange(6).view(2, 3), pattern, **sizes)


def test_loose_comparison() -> None:
    with pytest.warns(FutureWarning, match="assert_allclose"):
        torch.testing.assert_allclose(torch.ones(2), [1, 1.00001])
    with pytest.warns(FutureWarning), pytest.raises(AssertionError, match=r"^hey$"):
        torch.testing.assert_allclose(1, 2, rtol=0.1, atol=0.1, msg="hey")


def test_tensors_change_places() -> None:
    a: Any = torch.ones(2)
    b: Any = torch.nn.Parameter(torch.zeros(3))
    a.foo = 1
    torch.utils.swap_tensors(a, b)
    assert (a.tolist(), b.tolist(), b.foo) == ([0, 0, 0], [1, 1], 1)
    assert isinstance(a, torch.nn.Parameter)
    assert not isinstance(b, torch.nn.Parameter)


def test_kept_tensors_may_change() -> None:
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        x = torch.ones(2, requires_grad=True)
        y = x.clone()
        z = (y * y).sum()
        y.sin_()
        z.backward()
    assert x.grad.tolist() == [2, 2]


def test_gradients_of_convolutions() -> None:
    grad = conv_grad.conv1d_weight(
        torch.arange(12.0).view(1, 2, 6), (4, 1, 3), torch.ones(1, 4, 6), padding=1, groups=2
    )
    assert grad[1:3, 0].tolist() == [[10, 15, 15], [40, 51, 45]]
    weight = torch.arange(3.0).view(1, 1, 3)
    found = conv_grad.conv1d_input((1, 1, 5), weight, torch.ones(1, 1, 2), stride=2)
    assert found.tolist() == [[[0, 1, 2, 1, 2]]]


def test_a_function_is_computed_again() -> None:
    x = torch.ones(2, requires_grad=True)
    CheckpointFunction.apply(lambda a, b: (a * b).sum(), True, x, torch.full((2,), 3.0)).backward()
    assert x.grad.tolist() == [3, 3]


def test_random_numbers_are_the_same_when_computed_again() -> None:
    x = torch.ones(64, requires_grad=True)
    made = CheckpointFunction.apply(lambda a: torch.dropout(a, 0.5, True), True, x)
    state = torch.get_rng_state()
    made.sum().backward()
    assert x.grad.tolist() == made.tolist()
    assert torch.equal(torch.get_rng_state(), state)


class _Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(1, 2, 1)
        self.norm = torch.nn.BatchNorm2d(2)
        self.drop = torch.nn.Dropout()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.drop(self.norm(self.conv(x)))


def test_modules_for_small_devices() -> None:
    scripted = torch.jit.script(_Net())
    made = mobile.optimize_for_mobile(scripted)
    assert re.findall(r"torch\.(\w+)\(", made.code) == ["conv2d"]
    assert scripted.training
    x = torch.ones(1, 1, 2, 2)
    torch.testing.assert_close(made(x), scripted.eval()(x))
    kept = mobile.optimize_for_mobile(scripted, {mobile.MobileOptimizerType.CONV_BN_FUSION})
    assert "batch_norm" in kept.code
    names = [each["name"] for each in mobile.generate_mobile_module_lints(scripted)]
    assert names == ["BUNDLED_INPUT", *["REQUIRES_GRAD"] * 4, "BATCHNORM", "DROPOUT"]
    with pytest.raises(TypeError, match=r"but ScriptModule is expected\.$"):
        mobile.optimize_for_mobile(_Net())


@pytest.mark.parametrize("name", ["adam", "sgd", "rprop", "nadam"])
def test_steps_as_functions(name: str) -> None:
    """A step by hand is a step of the optimizer."""
    by_hand, by_class = torch.ones(2), torch.ones(2, requires_grad=True)
    optimizer = {"adam": torch.optim.Adam, "sgd": torch.optim.SGD, "nadam": torch.optim.NAdam}.get(
        name, torch.optim.Rprop
    )([by_class], lr=0.1)
    by_class.grad = torch.tensor([0.5, -0.25])
    optimizer.step()
    step = getattr(importlib.import_module(f"rushlight.optim.{name}"), name)
    means = [[torch.zeros(2)], [torch.zeros(2)]]
    numbers: dict[str, Any] = {"beta1": 0.9, "beta2": 0.999, "lr": 0.1, "weight_decay": 0}
    lists, options = {
        "adam": (
            [*means, [], [torch.tensor(0.0)]],
            {**numbers, "amsgrad": False, "eps": 1e-8, "maximize": False},
        ),
        "nadam": (
            [*means, [torch.tensor(1.0)], [torch.tensor(0.0)]],
            {**numbers, "momentum_decay": 4e-3, "eps": 1e-8},
        ),
        "sgd": (
            [[None]],
            {"weight_decay": 0, "momentum": 0, "lr": 0.1, "dampening": 0, "nesterov": False}
            | {"maximize": False},
        ),
        "rprop": (
            [[torch.zeros(2)], [torch.full((2,), 0.1)], [torch.tensor(0.0)]],
            {"step_size_min": 1e-6, "step_size_max": 50, "etaminus": 0.5, "etaplus": 1.2},
        ),
    }[name]
    step([by_hand], [by_class.grad], *lists, **options)
    assert by_hand.tolist() == by_class.tolist()


def test_storages_by_name() -> None:
    from rushlight import serialization

    assert serialization.StorageType("FloatStorage").dtype is torch.float32
    with pytest.raises(KeyError, match='pickle storage type "X" is not recognized'):
        serialization.StorageType("X")
    assert serialization.check_module_version_greater_or_equal(torch, (0, 0))


def test_results_written_elsewhere_have_a_class() -> None:
    out = (torch.ones(2), torch.ones(2, dtype=torch.int64))
    assert type(torch.max(torch.ones(2, 2), 0, out=out)) is torch.return_types.max_out


def test_throughput() -> None:
    bench = torch.utils.ThroughputBenchmark(torch.nn.Linear(2, 2))
    with pytest.raises(RuntimeError, match="Please provide benchmark inputs"):
        bench.benchmark()
    bench.add_input(torch.ones(2))
    found = bench.benchmark(num_calling_threads=2, num_warmup_iters=1, num_iters=8)
    assert (found.num_iters, found.latency_avg_ms > 0) == (8, True)
    assert [format_time(time_us=3.2), format_time(time_us=3e4)] == ["3.200us", "30.000ms"]


def test_points_of_sobol() -> None:
    engine = torch.quasirandom.SobolEngine(3)
    points = [[0.0, 0.0, 0.0], [0.5, 0.5, 0.5], [0.75, 0.25, 0.25], [0.25, 0.75, 0.75]]
    assert engine.draw(4).tolist() == points
    assert engine.reset().fast_forward(3).draw(2).tolist() == [points[3], [0.375, 0.375, 0.625]]
    with pytest.raises(ValueError, match=r"require n to be a power of 2. 5 points have been"):
        engine.draw_base2(2)
    mixed = torch.quasirandom.SobolEngine(3, scramble=True, seed=5)
    assert mixed.shift.tolist() == [515708045, 125905764, 133132919]
    assert mixed.sobolstate[0, :2].tolist() == [619217127, 409717082]
    assert round(mixed.draw(2)[1, 0].item(), 4) == 0.9115
    with pytest.raises(NotImplementedError, match="numbers for 1111 dimensions are kept here"):
        torch.quasirandom.SobolEngine(1112)
    assert torch.quasirandom.SobolEngine(1111).draw(2)[1].tolist() == [0.5] * 1111


def test_masks_that_say_where_they_are_aligned() -> None:
    from rushlight.nn.attention.bias import causal_lower_right, causal_upper_left

    mask = causal_lower_right(2, 3)
    assert repr(mask) == repr(torch.tensor([[True, True, False], [True, True, True]]))
    q, kv = torch.randn(1, 2, 3), torch.randn(1, 3, 3)
    attend = torch.nn.functional.scaled_dot_product_attention
    dense = attend(q, kv, kv, torch.ones(2, 3).tril().bool())
    assert attend(q, kv, kv, attn_mask=causal_upper_left(2, 3)).tolist() == dense.tolist()
    with pytest.raises(ValueError, match="should not be used with causal=True"):
        attend(q, kv, kv, mask, is_causal=True)


def test_products_in_groups() -> None:
    product, ends = torch.nn.functional.grouped_mm, torch.tensor([1, 3], dtype=torch.int32)
    a, b = torch.arange(6.0).view(3, 2), torch.arange(8.0).view(2, 2, 2)
    assert product(a, b, offs=ends).tolist() == [[2, 3], [26, 31], [46, 55]]
    whole = product(a.mT, torch.ones(3, 2), offs=ends)
    assert whole.tolist() == [[[0, 0], [1, 1]], [[6, 6], [8, 8]]]
    with pytest.raises(RuntimeError, match="Have to provide offsets if there is a 2d matrix, or"):
        product(a, b)


def test_products_in_groups_have_gradients_and_zeros_past_the_last_group() -> None:
    product, ends = torch.nn.functional.grouped_mm, torch.tensor([2, 2, 5], dtype=torch.int32)
    a = torch.randn(7, 4, generator=torch.Generator().manual_seed(0)).requires_grad_()
    b = torch.randn(3, 4, 2, generator=torch.Generator().manual_seed(1)).requires_grad_()
    made = product(a, b, offs=ends)
    assert made.shape == (7, 2)
    assert not made[5:].any()
    one = a.detach().clone().requires_grad_()
    other = b.detach().clone().requires_grad_()
    wanted = torch.cat([one[:2] @ other[0], one[2:5] @ other[2]])
    assert torch.equal(made[:5], wanted)
    made.square().sum().backward()
    wanted.square().sum().backward()
    assert torch.allclose(a.grad, one.grad)
    assert torch.allclose(b.grad, other.grad)
    columns = product(b.detach().mT, a.detach()[:2].repeat(2, 2)[:, :5], offs=ends)
    assert columns.shape == (2, 5)


@pytest.mark.parametrize(
    ("a", "b", "ends", "words"),
    [
        (torch.ones(3, 2).double(), torch.ones(2, 2, 2).double(), [1, 3], "mat_a to be Float32"),
        (torch.ones(3, 2), torch.ones(2, 2, 2).half(), [1, 3], "float != c10::Half"),
        (torch.ones(3, 2), torch.ones(2, 3, 2), [1, 3], "contraction dimension"),
        (torch.ones(3, 2), torch.ones(2, 2, 2), [1, 2, 3], "matrix batch sizes"),
        (torch.ones(3), torch.ones(2, 3, 2), [1, 3], "mat_a has to be 2 or 3d"),
    ],
)
def test_what_has_no_products_in_groups(a: Any, b: Any, ends: list[int], words: str) -> None:
    with pytest.raises(RuntimeError, match=words):
        torch.nn.functional.grouped_mm(a, b, offs=torch.tensor(ends, dtype=torch.int32))
    with pytest.raises(RuntimeError, match="Offsets have to be int32"):
        torch.nn.functional.grouped_mm(torch.ones(3, 2), torch.ones(2, 2, 2), offs=torch.ones(2))


def test_switches_of_attention_are_kept() -> None:
    switches = torch.backends.cuda
    with switches.sdp_kernel(enable_flash=False):
        assert (switches.flash_sdp_enabled(), switches.math_sdp_enabled()) == (False, True)
    assert switches.flash_sdp_enabled()


def test_a_module_in_the_place_of_a_function_is_one() -> None:
    module = importlib.import_module("rushlight.nn.parallel.parallel_apply")
    assert module.parallel_apply([abs], [(-3,)]) == [3]
    assert torch.nn.parallel.parallel_apply([abs], [(-3,)]) == [3]


def test_groups_of_one_process() -> None:
    from rushlight import distributed

    assert distributed.get_default_backend_for_device("cpu") == "gloo"
    distributed.init_process_group("gloo")
    try:
        mine, groups = distributed.new_subgroups()
        assert groups == [mine]
        assert distributed.get_pg_count() == 1
        with pytest.raises(ValueError, match="must not exceed the world size"):
            distributed.new_subgroups(2)
        lists = [[torch.zeros(2), torch.zeros(1)]]
        distributed.all_gather_coalesced(lists, [torch.ones(2), torch.full((1,), 5.0)])
        assert [each.tolist() for each in lists[0]] == [[1, 1], [5]]
        for mixed in ([torch.ones(2), torch.ones(1).long()], [torch.ones(2).long(), torch.ones(1)]):
            with pytest.raises(ValueError, match="tensors with different dtypes"):
                distributed.all_gather_coalesced(lists, mixed)
    finally:
        distributed.destroy_process_group()


def test_warnings_of_the_compiler_are_given_once() -> None:
    from rushlight._dynamo.utils import warn_once

    with pytest.warns(UserWarning, match="not as quick"):
        warn_once("not as quick as it could be")
    warn_once("not as quick as it could be")  # would be an error
    with pytest.warns(UserWarning, match="'set_vital' is deprecated"):
        torch.set_vital("Dataloader", "enabled", "True")


def test_jacobians_that_packages_write_themselves() -> None:
    from rushlight._vmap_internals import _vmap
    from rushlight.autograd.functional import (
        _as_tuple,
        _construct_standard_basis_for,
        _grad_postprocess,
        _tuple_postprocess,
    )

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x**3
    many, outputs = _as_tuple(y, "outputs", "jacobian")
    assert (many, _as_tuple(3)) == (False, (3,))
    with pytest.raises(TypeError, match="the given inputs has type <class 'int'>"):
        _as_tuple(3, "inputs", "jacobian")
    (basis,) = _construct_standard_basis_for(outputs, (2,))
    assert basis.tolist() == [[1, 0], [0, 1]]
    first, second = _construct_standard_basis_for((x, x[:1].double()), (2, 1))
    assert (first[1].tolist(), second.tolist()) == ([0, 1], [[0], [0], [1]])
    assert second.dtype is torch.float64
    rows = _vmap(lambda v: torch.autograd.grad(y, x, v, retain_graph=True)[0])(basis)
    assert rows.tolist() == [[3, 0], [0, 12]]
    with pytest.raises(NotImplementedError, match="allow_none_pass_through"):
        _vmap(abs, allow_none_pass_through=True)
    assert not _grad_postprocess(((y,),), create_graph=False)[0][0].requires_grad
    assert _grad_postprocess((y,), create_graph=True) == (y,)
    packed = ((1,),)
    asked = [(False, True), (True, False), (False, False), (True, True), False, True]
    given = [_tuple_postprocess(packed, each) for each in asked]
    assert given == [(1,), (1,), 1, ((1,),), (1,), ((1,),)]


def test_lengths_along_a_direction() -> None:
    from rushlight.optim.lbfgs import _cubic_interpolate, _strong_wolfe

    middle = _cubic_interpolate(0.0, 1.0, torch.tensor(-1.0), 1.0, 0.5, torch.tensor(0.5))
    assert middle.item() == pytest.approx(0.8165, abs=1e-4)

    def loss(x: torch.Tensor, t: float, d: torch.Tensor) -> tuple[float, torch.Tensor]:
        p = x + t * d
        return float((p**4).sum() + (p**2).sum()), 4 * p**3 + 2 * p

    x = torch.tensor([1.0, -2.0])
    f, g = loss(x, 0, x)
    given = (x, 5.0, -g, f, g, -g.dot(g))
    best, gradient, length, count = _strong_wolfe(loss, *given, c1=1e-3, c2=0.1, max_ls=5)
    assert (round(best, 4), round(length.item(), 4), count) == (0.6655, 0.0542, 6)
    assert gradient.tolist() == pytest.approx([2.5797, -0.0997], abs=1e-4)
    assert _strong_wolfe(loss, x, 0.01, *given[2:])[2:] == (0.01, 1)


def test_parts_of_attention_by_their_names() -> None:
    from rushlight.nn import functional

    torch.manual_seed(0)
    q, k, w, b = torch.rand(2, 3, 4), torch.rand(2, 3, 4), torch.rand(12, 4), torch.rand(12)
    together = functional._in_projection_packed(q, k, k, w, b)
    apart = functional._in_projection(q, k, k, *w.chunk(3), *b.chunk(3))
    assert type(together) is type(apart) is tuple
    for one, two in zip(together, apart, strict=True):
        torch.testing.assert_close(one, two)
    with pytest.raises(AssertionError, match="expecting query weights shape"):
        functional._in_projection(q, k, k, w, w, w)
    assert functional._mha_shape_check(q, k, k, None, None, 2)
    assert not functional._mha_shape_check(q[0], k[0], k[0], None, None, 2)
    with pytest.raises(AssertionError, match="Expected `attn_mask` shape to be"):
        functional._mha_shape_check(q[0], k[0], k[0], None, torch.ones(2, 2, 2), 2)
    with pytest.raises(AssertionError, match="to be 4, but got 3"):
        functional._check_key_padding_mask(torch.ones(2, 3), 4, 2)
    with pytest.raises(ValueError, match="Expected more than 1 value per channel"):
        functional._verify_batch_size([1, 3, 1])
    assert functional._Reduction.get_enum("mean") == 1


def test_threads_have_names_and_processes_no_gradients_together() -> None:
    place = Path(f"/proc/self/task/{threading.get_native_id()}/comm")
    before = place.read_text().strip() if place.exists() else ""
    torch.multiprocessing._set_thread_name("a name of twenty letters")
    try:
        assert not place.exists() or place.read_text() == "a name of twent\n"
    finally:
        torch.multiprocessing._set_thread_name(before)
    assert not torch.distributed.autograd.is_available()


def test_folders_of_extensions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from rushlight.utils.cpp_extension import _get_build_directory, get_default_build_root

    monkeypatch.delenv("TORCH_EXTENSIONS_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert get_default_build_root() == str(tmp_path / "torch_extensions")
    version = f"py{sys.version_info.major}{sys.version_info.minor}_cpu"
    folder = tmp_path / "torch_extensions" / version / "a" / "b"
    assert _get_build_directory("a/b", verbose=False) == str(folder)
    assert folder.is_dir()
    monkeypatch.setenv("TORCH_EXTENSIONS_DIR", str(tmp_path / "mine"))
    assert _get_build_directory("a", verbose=False) == str(tmp_path / "mine" / "a")
