"""Private names of torch's that packages call."""

from __future__ import annotations

import threading
import warnings
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import get_type_hints

import pytest

import rushlight as torch
from rushlight.distributed import ReduceOp, rpc
from rushlight.frontend.foundations.chosen import Chosen
from rushlight.serialization import DEFAULT_PROTOCOL
from rushlight.utils.data._utils.pin_memory import pin_memory


def test_marks_for_the_compiler_are_taken() -> None:
    x = torch.ones(2)
    torch._dynamo.mark_static(x)
    torch._dynamo.mark_static(x, 0)
    torch._dynamo.mark_static_address(x)
    torch._dynamo.mark_static_address(x, guard=True)
    torch._dynamo.maybe_mark_dynamic(x, 0)


def test_kinds_of_reductions() -> None:
    assert ReduceOp.RedOpType.SUM is ReduceOp.SUM
    assert "RedOpType" not in ReduceOp.__members__


def test_functions_that_call_other_processes_can_be_defined() -> None:
    @rpc.api._require_initialized
    def ask() -> int:
        return 1

    with pytest.raises(RuntimeError, match="RPC has not been initialized"):
        ask()


def test_pinning_enters_containers() -> None:
    class Pins:
        def pin_memory(self) -> str:
            return "pinned"

    assert pin_memory({"a": [Pins(), 1], "b": "c"}) == {"a": ["pinned", 1], "b": "c"}
    assert DEFAULT_PROTOCOL == 2


@pytest.mark.parametrize("reverse", [False, True])
def test_a_scan_combines_slices(reverse: bool) -> None:
    scan = import_module("rushlight._higher_order_ops.associative_scan").associative_scan
    x = torch.randn(3, 5, dtype=torch.float64, requires_grad=True)
    pair = scan(
        lambda a, b: {"s": a["s"] + b["s"], "p": a["p"] * b["p"]},
        {"s": x, "p": x},
        1,
        reverse=reverse,
        combine_mode="generic",
    )
    turned = x.flip(1) if reverse else x
    expected = turned.cumsum(1), turned.cumprod(1)
    for found, wanted in zip((pair["s"], pair["p"]), expected, strict=True):
        assert torch.allclose(found, wanted.flip(1) if reverse else wanted)
    with pytest.raises(ValueError, match="need to be on CUDA or XPU"):
        scan(lambda a, b: a, x, 1)


def test_what_packages_tell_about_loaded_names_and_arrays() -> None:
    keys = torch.nn.modules.module._IncompatibleKeys(["a"], [])
    assert isinstance(torch.nn.Linear(1, 1).load_state_dict({}, strict=False), type(keys))
    pattern = import_module("rushlight.utils.data._utils.collate").np_str_obj_array_pattern
    assert [bool(pattern.search(each)) for each in ("<U3", "|O", "<f4")] == [True, True, False]


def test_warnings_about_lines_of_the_library_can_be_ignored() -> None:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        torch.jit.TracerWarning.ignore_lib_warnings()
        for module in ("rushlight.nn.layers", "rushlight.jit.trace", "mine"):
            warnings.warn_explicit("said", torch.jit.TracerWarning, module, 1, module)
    assert [warning.filename for warning in seen] == ["rushlight.jit.trace", "mine"]


def test_the_check_of_texts_has_a_second_name() -> None:
    assert torch._C.FileCheck is torch.testing.FileCheck


_CHECKED = {
    "_check": RuntimeError,
    "_check_index": IndexError,
    "_check_value": ValueError,
    "_check_type": TypeError,
    "_check_not_implemented": NotImplementedError,
}


@pytest.mark.parametrize(("name", "error"), _CHECKED.items())
def test_conditions_raise_an_error_of_their_class(name: str, error: type[Exception]) -> None:
    check = getattr(torch, name)
    check(True)
    with pytest.raises(error, match=r"^7$"):
        check(False, lambda: 7)
    with pytest.raises(error, match="Expected cond to be True, but got False"):
        check(False)
    with pytest.raises(TypeError, match="message must be a callable"):
        check(False, "said")
    with pytest.raises(TypeError, match="cond must be a bool, but got <class 'int'>"):
        check(1)
    with pytest.raises(TypeError, match="cond must be a bool, but got a Tensor"):
        check(torch.tensor(True))


def test_conditions_of_sizes_and_tensors() -> None:
    torch._check_is_size(5, max=5)
    with pytest.raises(RuntimeError, match="Expected cond"):
        torch._check_is_size(5, max=4)
    with pytest.raises(RuntimeError, match="Expected cond"):
        torch._check_is_size(-1)
    torch._check_tensor_all(torch.tensor([True, True]))
    with pytest.raises(ValueError, match="not all"):
        torch._check_tensor_all_with(ValueError, torch.tensor([True, False]), lambda: "not all")
    with pytest.raises(TypeError, match=r"cond tensor must have dtype torch.bool, but got torch.i"):
        torch._check_tensor_all(torch.tensor([1]))


def test_scripts_check_conditions() -> None:
    @torch.jit.script
    def positive(x: int) -> int:
        torch._check(x > 0, "not positive")
        torch._check(x < 9)
        return x

    assert positive(3) == 3
    with pytest.raises(torch.jit.Error, match="AssertionError: not positive"):
        positive(-1)


def test_arguments_of_to_are_told_apart() -> None:
    parse = torch._C._nn._parse_to
    assert parse("cpu", torch.float64) == (torch.device("cpu"), torch.float64, False, None)
    assert parse(torch.half, non_blocking=True) == (None, torch.half, True, None)
    assert parse(torch.ones(1)) == (torch.device("cpu"), torch.float32, False, None)
    assert parse() == (None, None, False, None)
    with pytest.raises(RuntimeError, match="Cannot access accelerator device"):
        parse(3)


def test_an_exception_is_raised_again_elsewhere() -> None:
    class Takes(Exception):
        def __init__(self, a: int, b: int) -> None:
            pass

    def wrapped(error: Exception) -> object:
        try:
            raise error
        except Exception:
            return torch._utils.ExceptionWrapper(where="in worker 1")

    said = (
        r"^Caught ZeroDivisionError in worker 1.\nOriginal Traceback \(most recent call last\):\n"
    )
    with pytest.raises(ZeroDivisionError, match=said):
        wrapped(ZeroDivisionError("a")).reraise()
    with pytest.raises(KeyError) as raised:
        wrapped(KeyError("a")).reraise()
    assert "\nKeyError: 'a'\n" in str(raised.value)
    with pytest.raises(RuntimeError, match="Caught Takes in worker 1"):
        wrapped(Takes(1, 2)).reraise()


def test_numbers_of_devices() -> None:
    index = torch._utils._get_device_index
    assert (index("cuda:1"), index(3), index(None, True)) == (1, 3, None)
    assert index("cpu", allow_cpu=True) == -1
    with pytest.raises(ValueError, match="Expected a non cpu device, but got: cpu"):
        index("cpu")
    with pytest.raises(ValueError, match="or an integer, but got:cuda"):
        index("cuda")


def test_suffixes_move_to_a_line_of_their_own() -> None:
    add = torch._tensor_str._add_suffixes
    assert add("tensor([1", ["dtype=x", "b"], 8, False) == "tensor([1, dtype=x, b)"
    assert add("t" * 71, ["dtype=x", "b"], 8, False) == "t" * 71 + ",\n        dtype=x, b)"
    assert add("t", ["dtype=x"], 2, True) == "t,\n  dtype=x)"
    with torch._tensor_str.printoptions(precision=1):
        assert repr(torch.tensor(1.25)) == "tensor(1.2)"
    assert repr(torch.tensor(1.25)) == "tensor(1.2500)"


def test_what_optimizers_of_others_take() -> None:
    from rushlight.optim import optimizer

    class Steps(torch.optim.Optimizer):
        @optimizer._use_grad_for_differentiable
        def step(self) -> bool:
            return torch.is_grad_enabled()

    parameter = torch.nn.Parameter(torch.ones(1))
    assert not Steps([parameter], {"differentiable": False}).step()
    assert Steps([parameter], {"differentiable": True}).step()
    pairs = [torch.ones(2, dtype=torch.complex64), torch.ones(2)]
    optimizer._view_as_real(pairs)
    assert [tuple(each.shape) for each in pairs] == [(2, 2), (2,)]


def test_modules_that_are_only_asked_for() -> None:
    config = import_module("rushlight._inductor.config")
    config.fx_graph_cache = True
    assert torch._inductor.config is config
    assert torch._inductor.codecache is import_module("rushlight._inductor.codecache")
    with pytest.raises(NotImplementedError, match="compiles to native code"):
        torch._inductor.compile(None)
    with pytest.raises(RuntimeError, match=r"Tried to instantiate class 'a\.b', but it does not"):
        torch.classes.a.b  # noqa: B018
    assert torch.utils.collect_env.run("echo a; echo b >&2; exit 3") == (3, "a", "b")


def test_layers_take_first_values_from_the_module_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("constant_", "xavier_normal_", "xavier_uniform_"):
        monkeypatch.setattr(torch.nn.init, name, lambda tensor, *rest: tensor.detach().fill_(7))
    layer = torch.nn.MultiheadAttention(4, 2, add_bias_kv=True)
    transformer = torch.nn.Transformer(4, 2, 1, 1, 4, batch_first=True)
    for parameter in (layer.in_proj_weight, layer.in_proj_bias, layer.bias_k, layer.bias_v):
        assert (parameter == 7).all()
    assert (transformer.encoder.layers[0].linear1.weight == 7).all()


def test_modules_of_devices() -> None:
    for named in (None, "cpu", torch.device("cpu")):
        assert torch.get_device_module(named) is torch.cpu
    assert torch.get_device_module("cuda:1") is torch.cuda
    with pytest.raises(RuntimeError, match="Device 'meta' does not have a corresponding module"):
        torch.get_device_module("meta")
    with pytest.raises(RuntimeError, match="Invalid value of device '3', expect"):
        torch.get_device_module(3)


def test_tests_of_packages_say_which_devices_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    assert torch._C._mps_is_available() is torch.backends.mps.is_available() is False
    monkeypatch.setattr(torch._C, "_mps_is_available", lambda: True)
    assert torch.backends.mps.is_available()


def test_a_pass_over_data_begins_without_what_others_replace(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kind = import_module("rushlight.utils.data.dataloader")._BaseDataLoaderIter
    monkeypatch.setattr(kind, "_reset", lambda self, loader, first_iter=False: None)
    loader = torch.utils.data.DataLoader([1, 2, 3], batch_size=2)
    assert [batch.tolist() for batch in loader] == [[1, 2], [3]]


@pytest.mark.parametrize(
    ("module", "names", "place"),
    [
        ("nn.modules.conv", "_pair _single _triple _reverse_repeat_tuple", "nn.modules.utils"),
        ("nn.modules.pooling", "_pair _single _triple", "nn.modules.utils"),
        ("nn.functional", "_pair _list_with_default", "nn.modules.utils"),
        ("nn.functional", "handle_torch_function has_torch_function", "overrides"),
        ("nn.modules.transformer", "Linear Dropout ModuleList MultiheadAttention", "nn"),
        ("nn.modules.activation", "NonDynamicallyQuantizableLinear", "nn.modules.linear"),
        ("nn.modules.activation", "constant_ xavier_normal_ xavier_uniform_", "nn.init"),
        ("distributions.kl", "Normal Beta TransformedDistribution", "distributions"),
        ("distributions.transforms", "lazy_property broadcast_all", "distributions.utils"),
        ("utils.data.dataloader", "Dataset Sampler", "utils.data"),
        ("utils.data", "DistributedSampler", "utils.data.distributed"),
        ("optim.optimizer", "RemovableHandle", "utils.hooks"),
        ("optim.swa_utils", "_group_tensors_by_device_and_dtype", "utils._foreach_utils"),
        ("autograd.grad_mode", "_DecoratorContextManager", "utils._contextlib"),
        ("fx.graph", "_get_qualified_name _type_repr", "fx.node"),
        ("jit._trace", "TracerWarning ScriptModule", "jit"),
    ],
)
def test_modules_lend_what_packages_import_from_them(module: str, names: str, place: str) -> None:
    lender, owner = (import_module(f"rushlight.{name}") for name in (module, place))
    for name in names.split():
        assert getattr(lender, name) is getattr(owner, name)


def test_a_module_with_other_tensors_for_a_block() -> None:
    layer = torch.nn.Linear(2, 1, bias=False)
    own, other = layer.weight, torch.full((1, 2), 3.0)
    exchanged = torch.nn.utils.stateless._reparametrize_module
    with exchanged(layer, {"weight": other}):
        assert layer(torch.ones(2)).item() == 6.0
    assert layer.weight is own
    with pytest.raises(RuntimeError, match="Missing key"), exchanged(layer, {}, strict=True):
        pass


def test_second_names_of_calls_and_classes() -> None:
    layer = torch.nn.Identity()
    assert layer._call_impl(3) == layer._wrapped_call_impl(3) == 3
    assert torch._C._LinAlgError is torch.linalg.LinAlgError
    assert torch._C.Generator is torch.Generator
    torch.optim.SGD([torch.ones(1)])._cuda_graph_capture_health_check()
    for device, error in (("mtia", AssertionError), ("ipu", RuntimeError)):
        assert getattr(layer, device)() is layer  # there is nothing to move
        with pytest.raises(error, match=f"(?i){device}"):
            getattr(torch.nn.Linear(1, 1), device)()


def test_what_data_loaders_are_made_of() -> None:
    class Stream(torch.utils.data.IterableDataset):
        def __iter__(self) -> object:
            return iter(range(3))

    loaders = import_module("rushlight.utils.data.dataloader")
    assert isinstance(loaders.DataLoader(Stream()).sampler, loaders._InfiniteConstantSampler)
    assert loaders._collate_fn_t
    assert loaders._T_co.__covariant__


def test_arguments_have_the_names_of_torch() -> None:
    layers = torch.nn.ModuleList([torch.nn.Identity()])
    assert isinstance(layers.pop(key=0), torch.nn.Identity)
    d = torch.distributions
    mixed = d.MixtureSameFamily(d.Categorical(torch.ones(1)), d.Normal(torch.zeros(1), 1.0))
    assert mixed.cdf(x=torch.zeros(())).item() == 0.5
    assert mixed.log_prob(x=torch.zeros(())).item() == pytest.approx(-0.9189385)
    z, corr = torch.zeros(3), torch.eye(3)
    transform = d.CorrCholeskyTransform()
    plain = transform.log_abs_det_jacobian(z, corr)
    assert plain.equal(transform.log_abs_det_jacobian(z, corr, intermediates=None))


def test_packed_sequences_move_as_tensors_do() -> None:
    packed = torch.nn.utils.rnn.pack_sequence([torch.ones(2)])
    assert packed.cpu() is packed
    assert packed.cpu(dtype=torch.float64).data.dtype == torch.float64
    with pytest.raises(AssertionError):
        packed.cuda()


def test_casts_are_for_tensors_of_their_device() -> None:
    cast = import_module("rushlight.amp.autocast_mode")._cast
    found = cast({"a": [torch.ones(1), 2]}, "cpu", torch.bfloat16)
    assert found["a"][0].dtype == torch.bfloat16
    assert found["a"][1] == 2
    assert cast(torch.ones(1), "cuda", torch.bfloat16).dtype == torch.float32


def test_the_order_of_einsum_has_settings() -> None:
    settings = torch.backends.opt_einsum
    with settings.flags(enabled=False):
        assert not settings.enabled
    with pytest.raises(ValueError, match="strategy"):
        settings.set_flags(_strategy="fastest")


def test_the_order_of_einsum_is_kept_with_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = torch.backends.opt_einsum
    monkeypatch.setattr(settings, "enabled", True)
    monkeypatch.setattr(settings, "strategy", "auto")
    monkeypatch.setattr(settings, "is_available", lambda: True)
    assert settings.set_flags(None, "greedy") == (True, "auto")
    assert settings.set_flags(False) == (True, "greedy")
    with settings.flags(True, "optimal"):
        assert (settings.enabled, settings.strategy) == (True, "optimal")
    assert (settings.enabled, settings.strategy) == (False, "greedy")
    with pytest.raises(ValueError, match=r"must be one of .* but is fastest"):
        settings.set_flags(True, "fastest")
    assert settings.set_flags() == (False, "greedy")


def test_the_order_of_einsum_is_refused_without_the_package(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings = torch.backends.opt_einsum
    monkeypatch.setattr(settings, "enabled", False)
    monkeypatch.setattr(settings, "strategy", "auto")  # which counts for nothing
    monkeypatch.setattr(settings, "is_available", lambda: False)
    with pytest.raises(ValueError, match=r"`enabled` to True will not reap the benefits"):
        settings.set_flags(True)
    with pytest.raises(ValueError, match=r"`strategy` to auto will not be meaningful"):
        settings.set_flags(_strategy="auto")
    assert settings.set_flags(False) == (False, None)


def test_marks_for_gpus_are_refused_when_they_are_made_not_when_they_are_named() -> None:
    marked = torch.cuda.nvtx.range("step {}", 1)
    with pytest.raises(RuntimeError, match="NVTX functions not installed"), marked:
        pass


def test_the_older_name_of_shared_tensors_leads_to_the_same() -> None:
    older = import_module("rushlight.distributed._tensor")
    newer = import_module("rushlight.distributed.tensor")
    assert (older.Shard, older.DTensor) == (newer.Shard, newer.DTensor)
    part = newer.Partial("avg")
    words = (None, "avg", "sum")
    assert [part.is_partial(word) for word in words] == [True, True, False]
    assert not newer.Shard(0).is_partial()
    assert [newer.Shard(1).is_shard(dim) for dim in (None, 1, 0)] == [True, True, False]
    experimental = import_module("rushlight.distributed._tensor.experimental")
    with pytest.raises(NotImplementedError):
        experimental.implicit_replication()


def test_references_are_the_operators_themselves() -> None:
    references = import_module("rushlight._refs")
    assert references.add is torch.add
    assert references.nn.functional.gelu is torch.nn.functional.gelu
    with pytest.raises(NotImplementedError, match="the operator itself runs here"):
        references.rpow(2, 3)


def test_settings_of_backends_can_be_frozen(monkeypatch: pytest.MonkeyPatch) -> None:
    switches = import_module("rushlight.backends.switches")
    monkeypatch.setattr(switches, "_FROZEN", Chosen(False))
    torch.backends.cudnn.enabled = True
    assert torch.backends.flags_frozen() is False
    torch.backends.disable_global_flags()
    assert torch.backends.flags_frozen() is True
    for backend in (torch.backends.cudnn, torch.backends.mkldnn):
        with pytest.raises(RuntimeError, match="please use flags"):
            backend.enabled = False
        with backend.flags(enabled=False):
            assert not backend.enabled
        assert backend.enabled


def test_old_names_of_storages_by_dtype() -> None:
    names = import_module("rushlight.storage")._dtype_to_storage_type_map()
    assert names[torch.float32] == "FloatStorage"
    assert names[torch.bool] == "BoolStorage"


def test_the_state_of_functions_that_ask_classes() -> None:
    low = torch._C
    states = low._TorchFunctionState
    assert low._get_torch_function_state() is states.ENABLED
    with low.DisableTorchFunctionSubclass():
        assert low._get_torch_function_state() is states.SUBCLASSES_DISABLED
    with low.DisableTorchFunction():
        assert low._get_torch_function_state() is states.ALL_DISABLED
        assert low._is_torch_function_all_disabled()
    low._set_torch_function_state(states.ALL_DISABLED)
    try:
        assert low._is_torch_function_all_disabled()
    finally:
        low._set_torch_function_state(states.ENABLED)
    assert low._get_torch_function_state() is states.ENABLED


def test_what_the_processor_and_the_devices_are() -> None:
    assert torch._C.has_lapack
    assert torch._C._get_cpu_capability() == torch.backends.cpu.get_cpu_capability()
    assert torch.cpu._is_avx2_supported() == torch.cpu.get_capabilities()["avx2"]
    assert import_module("rushlight._inductor.utils").GPU_TYPES == ["cuda", "mps", "xpu", "mtia"]
    assert not import_module("rushlight.backends.xnnpack").enabled
    assert import_module("rushlight.backends.python_native").available_dsls == []


def test_sizes_of_two_operands() -> None:
    size = torch.Size
    assert torch._C._infer_size(size((2, 1)), size((1, 3))) == (2, 3)
    with pytest.raises(RuntimeError, match=r"The size of tensor a \(2\) must match the size of"):
        torch._C._infer_size(size((2,)), size((3,)))
    with pytest.raises(RuntimeError, match=r"expected a torch\.Size as argument 1"):
        torch._C._infer_size((2,), size((3,)))


def test_numbers_of_dtypes() -> None:
    common = torch._prims_common
    kinds = [common.dtype_to_type(d) for d in (torch.bool, torch.int8, torch.half, torch.cfloat)]
    assert kinds == [bool, int, float, complex]
    assert common.corresponding_complex_dtype(torch.float32) is torch.complex64


def test_hooks_are_told_of_what_script_compiles() -> None:
    def double(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    class Doubling(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return double(x)

    class Nothing(torch.nn.Module):
        pass

    told: list[tuple[str, object]] = []
    torch._C._jit_set_emit_hooks(
        lambda module: told.append(("module", module)),
        lambda function: told.append(("function", function)),
    )
    try:
        function = torch.jit.script(double)
        module = torch.jit.script(Doubling())
        torch.jit.script(module)  # which is compiled already
        torch.jit.script(Nothing())  # in which nothing is compiled
        with torch._jit_internal._disable_emit_hooks():
            torch.jit.script(Doubling())
    finally:
        torch._C._jit_set_emit_hooks(None, None)
    assert told == [("function", function), ("module", module)]
    assert torch._C._jit_get_emit_hooks() == (None, None)


def test_a_block_without_hooks_is_of_its_thread() -> None:
    def told(_: object) -> None:
        pass

    found: list[object] = []
    torch._C._jit_set_emit_hooks(told, told)
    try:
        with torch._jit_internal._disable_emit_hooks():
            other = threading.Thread(target=lambda: found.append(torch._C._jit_get_emit_hooks()))
            other.start()
            other.join()
            torch._C._jit_set_emit_hooks(None, told)
            assert torch._C._jit_get_emit_hooks() == (None, told)
        assert torch._C._jit_get_emit_hooks() == (told, told)
    finally:
        torch._C._jit_set_emit_hooks(None, None)
    assert found == [(told, told)]


def test_tensors_are_grouped_by_device_and_dtype() -> None:
    lists = import_module("rushlight.utils._foreach_utils")
    group = lists._group_tensors_by_device_and_dtype
    a, b, c = torch.ones(1), torch.ones(2).double(), torch.ones(3)
    found = group([[a, b, c], [c, None, a], []], with_indices=True)
    cpu = torch.device("cpu")
    assert list(found) == [(cpu, torch.float32), (cpu, torch.float64)]
    (first, second, third), places = found[cpu, torch.float32]
    assert [first[0] is a, first[1] is c, second[0] is c, second[1] is a] == [True] * 4
    assert (third, places) == ([], [0, 2])
    assert found[cpu, torch.float64][0][1:] == [[None], []]
    for wrong in ([[a], [a, b]], [[]], []):
        with pytest.raises(RuntimeError, match="must have one length"):
            group(wrong)
    with pytest.raises(RuntimeError, match="the 1-th Tensor is not"):
        group([[a, None]])
    assert lists._has_foreach_support([a, None], cpu)
    assert not lists._has_foreach_support([a, 3], cpu)
    assert "cpu" in lists._get_fused_kernels_supported_devices()


def test_what_packages_ask_before_they_use_a_device_or_profiler() -> None:
    assert torch.cuda._lazy_call(lambda: 1 / 0) is None
    assert not torch.autograd._profiler_enabled()
    with torch.autograd.profiler.profile():
        assert torch.autograd._profiler_enabled()
    contiguous = import_module("rushlight._prims_common").is_contiguous_or_false
    assert [contiguous(x) for x in (torch.ones(2, 3), torch.ones(2, 3).t())] == [True, False]


def test_a_clipped_sigmoid_is_never_0_or_1() -> None:
    clipped = torch.distributions.transforms._clipped_sigmoid(torch.tensor([-1e3, 0.0, 1e3]))
    assert 0 < clipped[0] < clipped[1] == 0.5 < clipped[2] < 1


def test_ranks_are_found_by_an_old_name(monkeypatch: pytest.MonkeyPatch) -> None:
    c10d = import_module("rushlight.distributed.distributed_c10d")
    monkeypatch.setattr(c10d, "get_global_rank", lambda group, rank: (group, rank))
    with pytest.warns(FutureWarning, match="_get_global_rank` is deprecated"):
        assert c10d._get_global_rank("group", 3) == ("group", 3)


def test_a_trace_pauses_when_it_is_told_to() -> None:
    from rushlight._C import _get_tracing_state, _set_tracing_state

    seen: list[object] = []

    def function(x: torch.Tensor) -> torch.Tensor:
        state = _get_tracing_state()
        _set_tracing_state(None)
        seen.extend([torch.jit.is_tracing(), type(x.shape[0]), x.sum().item()])
        _set_tracing_state(state)
        _set_tracing_state(state)
        seen.append(torch.jit.is_tracing())
        seen.append(state)
        return x + 1

    traced = torch.jit.trace(function, torch.ones(2), check_trace=False)
    assert seen[:4] == [False, int, 2.0, True]
    assert [node.kind() for node in traced.graph.nodes() if "Constant" not in node.kind()] == [
        "aten::add"
    ]
    _set_tracing_state(None)
    with pytest.raises(RuntimeError, match="belongs to a trace that has ended"):
        _set_tracing_state(seen[4])


def test_no_function_stands_for_one_of_two_others() -> None:
    functional = torch.nn.functional
    assert functional.max_pool2d not in torch._jit_internal.boolean_dispatched
    _, places = functional.max_pool2d(torch.ones(1, 2, 2), 2, return_indices=True)
    assert places.tolist() == [[[0]]]


def test_internal_paths_and_switches(tmp_path: Path) -> None:
    internal = import_module("rushlight._utils_internal")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    assert internal.resolve_library_path(str(tmp_path / "link")) == str(tmp_path / "file")
    assert internal.get_file_path_2("a", "b") == str(Path("a", "b"))
    assert internal.get_writable_path(str(tmp_path)) == str(tmp_path)
    assert internal.get_writable_path(str(tmp_path / "none")).endswith("none")
    assert internal.justknobs_check("any")
    assert not internal.justknobs_check("any", default=False)
    assert internal.justknobs_getval_int("any") == 0
    assert not internal.is_fb_unit_test()


def test_annotations_of_losses_are_read_with_other_names() -> None:
    """fastai reads them with its own module's names."""
    names: dict[str, object] = {}
    assert get_type_hints(torch.nn.CrossEntropyLoss(), names, names)["ignore_index"] is int
    assert get_type_hints(torch.nn.Module(), names, names)["training"] is bool


def test_texts_of_tensors_whose_class_shows_them_in_another_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x, weight = torch.ones(2), torch.nn.Parameter(torch.zeros(1))
    shown = torch._tensor_str._str
    monkeypatch.setattr(torch.Tensor, "__repr__", lambda self: f"<{shown(self)}>")
    assert repr(x) == "<tensor([1., 1.])>"
    assert shown(weight) == "tensor([0.], requires_grad=True)"


@pytest.mark.parametrize("name", sorted(torch.storage._dtype_to_storage_type_map().values()))
def test_old_classes_of_storages_are_found_by_their_dtypes(name: str) -> None:
    kind = getattr(torch, name)
    assert torch.storage.class_of(kind.dtype) is kind


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_the_usual_class_of_storages_follows_the_usual_dtype(dtype: torch.dtype) -> None:
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        assert torch.storage.default_class().dtype is dtype
    finally:
        torch.set_default_dtype(before)


def test_names_that_stand_elsewhere_come_from_their_homes() -> None:
    torch._public_names()  # which holds some of these, too
    for name, home in torch._ELSEWHERE.items():
        found = getattr(torch, name)
        assert found is getattr(import_module(f"rushlight{home}"), name), name


@pytest.mark.parametrize(
    ("sizes", "dilated", "transposed", "way"),
    [
        ((2, 6, 9), False, False, "Slow2d"),
        ((2, 6, 9, 9), True, False, "SlowDilated2d"),
        ((2, 6, 9, 9), True, True, "SlowTranspose2d"),
        ((2, 6, 9, 9, 9), False, False, "Slow3d"),
        ((0, 6, 9, 9, 9), False, False, "Empty"),
        ((2, 0, 9), True, False, "Empty"),
    ],
)
def test_the_way_that_torch_takes_for_a_convolution(
    sizes: tuple[int, ...], dilated: bool, transposed: bool, way: str
) -> None:
    dims = len(sizes) - 2
    x, weight = torch.ones(sizes), torch.ones(6 if transposed else 12, sizes[1], *[3] * dims)
    ones = [1] * dims
    rest = [0] * dims, [1 + dilated] * dims, transposed, [0] * dims, 1
    found = torch._C._select_conv_backend(x, weight, None, ones, *rest)
    assert found is getattr(torch._C._ConvBackend, way)
    assert str(found) == f"_ConvBackend.{way}"


def test_the_way_of_no_convolution() -> None:
    with pytest.raises(RuntimeError, match="unsupported ConvNd parameters"):
        torch._C._select_conv_backend(torch.ones(2, 6), torch.ones(3, 6), None, *[[]] * 3, 0, [], 1)
    one = [1], [0], [1], False, [0], 1
    with pytest.raises(RuntimeError, match="Kernel size can't be greater than actual input"):
        torch._C._select_conv_backend(torch.ones(1, 1, 2), torch.ones(1, 1, 3), None, *one)


def test_writes_that_are_not_counted() -> None:
    x, y = torch.ones(2), torch.ones(1)
    x += 1
    with torch.autograd._unsafe_preserve_version_counter((x, y)):
        x += 1
        y += 1
    assert (x._version, y._version) == (1, 0)
    torch._C._autograd._unsafe_set_version_counter((x, y), (5, 2))
    assert (x._version, y._version) == (5, 2)
    with pytest.raises(TypeError, match="tensors must be a sequence"):
        torch._C._autograd._unsafe_set_version_counter(x, (1,))
    with pytest.raises(ValueError, match="to a value below 0: -1"):
        torch._C._autograd._unsafe_set_version_counter((x,), (-1,))


def test_switches_of_slices_that_go_one_by_one() -> None:
    assert not torch._C._debug_only_are_vmap_fallback_warnings_enabled()
    torch._C._debug_only_display_vmap_fallback_warnings(True)
    assert torch._C._debug_only_are_vmap_fallback_warnings_enabled()
    torch._C._debug_only_display_vmap_fallback_warnings(False)
    assert torch._C._functorch._is_vmap_fallback_enabled()
    torch._C._functorch._set_vmap_fallback_enabled(False)
    assert not torch._C._functorch._is_vmap_fallback_enabled()
    torch._C._functorch._set_vmap_fallback_enabled(True)


@pytest.mark.parametrize(
    "name",
    """_awaits _decomp _library _lobpcg _lowrank _utils_internal _vmap_internals _functorch.apis
    fx._compatibility fx.passes.infra.pass_base testing._creation utils._contextlib""".split(),
)
def test_inner_modules_are_there_without_an_import(name: str) -> None:
    module: object = torch
    for part in name.split("."):
        module = getattr(module, part)
    assert isinstance(module, ModuleType)
