"""Small functions and classes of torch's that packages ask for; results are torch 2.13's."""

from __future__ import annotations

import pickle
from importlib import import_module
from typing import Any

import pytest

import rushlight as torch


def test_arguments_by_which_layers_make_tensors() -> None:
    made = torch.nn.factory_kwargs
    assert made(None) == {}
    assert made({"device": "cpu", "dtype": torch.half}) == {"device": "cpu", "dtype": torch.half}
    assert made({"factory_kwargs": {"device": "cpu"}}) == {"device": "cpu"}
    with pytest.raises(TypeError, match=r"unexpected kwargs \{'x'\}"):
        made({"x": 1})
    with pytest.raises(TypeError, match="device specified twice, in "):
        made({"device": "cpu", "factory_kwargs": {"device": "cpu"}})


def test_sets_that_keep_an_order() -> None:
    kind = import_module("rushlight.utils._ordered_set").OrderedSet
    made = kind([3, 1, 3])
    assert repr(made) == "OrderedSet([3, 1])"
    assert repr(made | [2]) == "OrderedSet([3, 1, 2])"
    assert made == {1, 3}
    made.update([5], [1, 4])
    assert list(made.intersection([4, 5])) == [5, 4]
    assert list(made.difference([1], [5])) == [3, 4]
    assert (made.pop(), list(reversed(made))) == (4, [5, 1, 3])
    assert made.issuperset([1])
    assert pickle.loads(pickle.dumps(made)) == made
    with pytest.raises(KeyError, match="pop from an empty set"):
        kind().pop()


def test_sizes_as_graphs_ask_for_them() -> None:
    x, aten = torch.ones(2, 3)[:, 1:], torch.ops.aten
    assert (aten.sym_size(x), aten.sym_size.int(x, 1), aten.sym_numel.default(x)) == ([2, 2], 2, 4)
    assert (aten.sym_stride.default(x), aten.sym_storage_offset(x)) == ([3, 1], 1)
    assert str(aten.sym_size.int._schema) == "aten::sym_size.int(Tensor self, int dim) -> SymInt"
    assert not aten.is_non_overlapping_and_dense(x)
    assert aten.is_non_overlapping_and_dense.default(torch.ones(2, 3).T)


def test_small_names_that_packages_ask_for() -> None:
    assert torch._disable_dynamo(len) is len
    assert torch._disable_dynamo(recursive=False)(len) is len
    assert torch._C._get_cudnn_enabled()
    assert torch._C._len_torch_dispatch_stack() == 0
    with pytest.raises(RuntimeError, match="get stack at idx that's too big"):
        torch._C._get_dispatch_stack_at(0)
    assert torch.utils.data.ConcatDataset.cumsum([[1, 2], [3]]) == [2, 3]
    assert torch.profiler._ExperimentalConfig(verbose=True).verbose
    with pytest.raises(TypeError, match="has no setting 'speed'"):
        torch._C._profiler._ExperimentalConfig(speed=1)
    with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
        torch.cuda._lazy_init()
    with pytest.warns(FutureWarning, match=r"torch\.distributed\.reduce_op` is deprecated"):
        assert torch.distributed.reduce_op.SUM is torch.distributed.ReduceOp.SUM
    assert torch.distributed.Backend.default_device_backend_map["cpu"] == "gloo"


def test_packages_keep_parametrized_tensors_for_a_while() -> None:
    parametrize = import_module("rushlight.nn.utils.parametrize")
    calls = []

    class Twice(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            calls.append(1)
            return 2 * x

    layer = torch.nn.Linear(2, 2)
    parametrize.register_parametrization(layer, "weight", Twice())
    calls.clear()
    parametrize._cache_enabled += 1
    try:
        assert layer.weight is layer.weight
        assert len(calls) == len(parametrize._cache) == 1
    finally:
        parametrize._cache_enabled -= 1
        parametrize._cache = {}
    assert layer.weight is not layer.weight


def test_what_a_compiler_would_log(caplog: pytest.LogCaptureFixture) -> None:
    logs = torch._logging
    logs.set_logs(dynamo=10, graph_breaks=True, all=None, modules={"a.b": 20})
    with pytest.raises(TypeError, match="unexpected keyword argument 'speed'"):
        logs.set_logs(speed=1)
    with pytest.raises(ValueError, match="Unrecognized log level for log dynamo: 11, valid level"):
        logs.set_logs(dynamo=11)
    logger = logs.getArtifactLogger("a.b", "guards")
    assert logger.name == "a.b.__guards"
    with pytest.raises(ValueError, match="Artifact name: 'speed' not registered"):
        logs.getArtifactLogger("a.b", "speed")
    for _ in range(2):
        logs.warning_once(logger, "slow: %s", "x")
    assert [record.getMessage() for record in caplog.records] == ["slow: x"]
    assert logs.trace_structured("step", lambda: {}) is None
