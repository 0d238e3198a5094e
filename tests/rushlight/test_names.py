"""Names of torch's: those that are refused say so, old ones stand for what serves now."""

from __future__ import annotations

import ast
import builtins
import importlib
import pickle
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path

import pytest

import rushlight as torch
from rushlight.module_names import names_in
from rushlight.ops.eager.namespace import public_names
from rushlight.refused_names import reason_of

ROOT = Path(__file__).parents[2]


def test_names_of_modules_stand_once_in_their_list() -> None:
    text = re.sub(r"\n +", " ", (ROOT / "rushlight" / "module_names.txt").read_text("utf-8"))
    lines = (line.partition(": ") for line in text.splitlines() if line[:2] not in ("", "= ", "! "))
    found = Counter((module, name) for module, _, names in lines for name in names.split())
    assert [each for each, times in found.items() if times > 1] == []


def test_the_page_of_names_is_up_to_date() -> None:
    tool = ROOT / "tools" / "make_coverage.py"
    done = subprocess.run([sys.executable, tool, "--print"], capture_output=True, check=True)
    page = (ROOT / "docs" / "coverage.md").read_text("utf-8")
    assert done.stdout.decode("utf-8").split("\n") == page.split("\n"), "run tools/make_coverage.py"


@pytest.mark.parametrize(
    "path",
    [
        *("autograd.forward_ad.make_dual", "autograd.grad_mode.no_grad", "nn.grad.conv2d_input"),
        *("nn.parallel.replicate", "nn.DataParallel", "utils.backcompat.keepdim_warning"),
        *("utils.data.distributed.DistributedSampler", "utils.data.DistributedSampler"),
    ],
)
def test_modules_below_are_there_without_an_import_of_theirs(path: str) -> None:
    program = f"import rushlight; rushlight.{path}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert not done.stderr


def test_refused_names_exist_and_say_why() -> None:
    for name, rule in names_in("rushlight").items():
        stands = getattr(torch, name)
        if rule.startswith("="):
            assert reason_of(stands) is None
            continue
        assert not (isinstance(stands, type) and isinstance(torch.ones(1), stands))
        with pytest.raises(NotImplementedError) as caught:
            stands(1)
        assert str(caught.value) == f"torch.{name}: {rule[2:]}"


def test_modules_that_are_nothing_but_names() -> None:
    from rushlight.distributed.elastic.agent import server
    from rushlight.signal.windows.windows import hann

    assert hann is torch.signal.windows.hann
    assert "WorkerSpec" in server.__all__
    with pytest.raises(NotImplementedError, match=r"^torch\..*\.WorkerSpec: belongs"):
        server.WorkerSpec()
    with pytest.raises(AttributeError, match=r"^module 'rushlight.ao.nn' has no attribute 'nil'$"):
        torch.ao.nn.nil  # noqa: B018
    with pytest.raises(ModuleNotFoundError, match=r"^No module named 'rushlight.ao.nil'$"):
        importlib.import_module("rushlight.ao.nil")


def test_unknown_names_are_attribute_errors() -> None:
    with pytest.raises(AttributeError):
        torch.no_such_name  # noqa: B018


def test_old_names_of_storages() -> None:
    storage = torch.FloatStorage([1.0, 2.0])
    assert isinstance(storage, torch.FloatStorage)
    assert not isinstance(storage, torch.LongStorage)
    assert storage.tolist() == [1, 2]
    assert isinstance(torch.ones(2).storage(), torch.Storage)
    assert len(torch.LongStorage(3)) == 3


def test_results_with_names() -> None:
    assert isinstance(torch.ones(2, 2).max(0), torch.return_types.max)
    assert isinstance(torch.ones(2, 2).topk(1), torch.return_types.topk)
    made = pickle.loads(pickle.dumps(torch.ones(2, 2).max(0)))
    assert isinstance(made, torch.return_types.max)
    match torch.tensor([[1, 3]]).max(1):
        case torch.return_types.max(values, indices):
            assert (values.item(), indices.item()) == (3, 1)
        case _:
            raise AssertionError
    cls = torch.return_types.linalg_svd
    assert cls.__match_args__ == ("U", "S", "Vh")
    assert (cls.n_fields, cls.n_sequence_fields, cls.n_unnamed_fields) == (3, 3, 0)
    assert made.indices.tolist() == [0, 0]
    with pytest.raises(AttributeError):
        torch.return_types.add  # noqa: B018


def test_old_products_of_sparse_matrices() -> None:
    s, dense = torch.eye(2).to_sparse(), torch.ones(2, 2)
    assert torch.spmm(s, dense).tolist() == [[1, 1], [1, 1]]
    assert torch.smm(s, dense).to_dense().tolist() == [[1, 1], [1, 1]]
    assert torch.sspaddmm(s, s, dense).to_dense().tolist() == [[2, 1], [1, 2]]
    assert torch.saddmm(s, s, dense).to_dense().tolist() == [[2, 1], [1, 2]]


def test_tables_that_hold_no_keys() -> None:
    from rushlight.utils.weak import TensorWeakRef, WeakTensorKeyDictionary

    table, key = WeakTensorKeyDictionary(), torch.ones(1)
    table[key] = 3
    reference = TensorWeakRef(key)
    assert (key in table, torch.ones(1) in table, reference() is key) == (True, False, True)
    del key
    assert (len(table), reference()) == (0, None)


def test_tables_that_hold_no_keys_are_joined_and_copied() -> None:
    from rushlight.utils.weak import WeakIdKeyDictionary

    class Equal:
        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 0

    class Failing:
        def keys(self) -> Iterator[object]:
            yield first
            raise LookupError("no more")

        __getitem__ = id

    first, second = Equal(), Equal()
    table, other = WeakIdKeyDictionary({first: [1]}), WeakIdKeyDictionary()
    other[first], other[second] = 3, 4
    assert [len(x) for x in (table | other, {second: 1} | table)] == [2, 2]
    assert (table.copy()[first] is table[first], deepcopy(table)[first]) == (True, [1])
    assert deepcopy(table)[first] is not table[first]
    with pytest.raises(LookupError, match="no more"):
        other.update(Failing())
    table |= [(second, 5)]
    assert (list(table.values()), list(other.values())) == ([[1], 5], [3, 4])
    assert [reference() for reference in table.keyrefs()] == [first, second]
    assert repr(table).startswith("<WeakIdKeyDictionary at 0x")
    del second
    assert (len(table), len(other)) == (1, 1)


def test_what_the_processor_can_do() -> None:
    assert torch.backends.cpu.get_cpu_capability() in ("AVX512", "AVX2", "DEFAULT")


def test_parts_for_devices_that_are_all_the_cpu() -> None:
    from rushlight.nn.parallel import gather, parallel_apply, replicate, scatter
    from rushlight.nn.parallel.scatter_gather import scatter_kwargs

    x = torch.arange(6.0).reshape(3, 2)
    parts = scatter({"x": x, "k": 1}, ["cpu", "cpu"])
    assert [(len(part["x"]), part["k"]) for part in parts] == [(2, 1), (1, 1)]
    assert torch.equal(gather([part["x"] for part in parts], "cpu"), x)
    double = torch.nn.Linear(2, 2)
    made = parallel_apply(replicate(double, ["cpu"] * 2), [part["x"] for part in parts])
    assert torch.allclose(gather(made, "cpu"), double(x))
    by_place, by_name = scatter_kwargs((x,), {"a": 2}, ["cpu"])
    assert (len(by_place), by_name) == (1, ({"a": 2},))


def test_collectives_that_give_new_tensors() -> None:
    from rushlight.distributed import _functional_collectives as collectives

    x = torch.ones(2)
    store = torch.distributed.HashStore()
    torch.distributed.init_process_group("gloo", rank=0, world_size=1, store=store)
    try:
        group = torch.distributed.group.WORLD
        assert torch.equal(collectives.wait_tensor(collectives.all_reduce(x, "sum", group)), x)
        with pytest.raises(ValueError, match="not part of group"):
            collectives.broadcast(x, 1, group)
    finally:
        torch.distributed.destroy_process_group()


def test_no_memory_is_pinned() -> None:
    with pytest.raises(RuntimeError, match="Cannot access accelerator device"):
        torch.ops.aten._pin_memory.default(torch.ones(1))


def test_what_works_over_several_processes_is_refused_by_name() -> None:
    from rushlight.distributed import checkpoint, device_mesh, fsdp, rpc, tensor
    from rushlight.distributed.checkpoint import default_planner, hf_storage, state_dict

    for stands in (
        *(checkpoint.save, device_mesh.DeviceMesh, fsdp.fully_shard, rpc.rpc_sync),
        *(tensor.distribute_tensor, tensor.DTensor, default_planner.DefaultLoadPlanner),
        *(hf_storage.HuggingFaceStorageReader, state_dict.get_model_state_dict),
    ):
        with pytest.raises(NotImplementedError, match="what processes do together"):
            stands()
    assert not rpc.is_available()
    assert fsdp.MixedPrecisionPolicy().cast_forward_inputs
    assert tensor.Shard(0).is_shard(0)
    with pytest.raises(AttributeError):
        fsdp.no_such_name  # noqa: B018


def test_parts_of_containers_with_what_finds_them() -> None:
    from rushlight.utils import _pytree

    pairs, context = _pytree._dict_flatten_with_keys({"a": 1})
    assert [(str(key), value) for key, value in pairs] == [("['a']", 1)]
    assert _pytree._dict_unflatten([2], context) == {"a": 2}


def test_the_module_holds_its_names_once_one_was_used() -> None:
    """Some look for dtypes and functions in `vars`."""
    torch.tanh(torch.ones(1))
    elsewhere = {*torch._PACKAGES, *torch._ELSEWHERE}
    assert not set(public_names()) - vars(torch).keys() - elsewhere
    assert vars(torch)["float32"] is torch.float32


def test_the_module_itself_uses_no_function_of_python_that_its_names_hide() -> None:
    tree = ast.parse(Path(torch.__file__).read_text("utf-8"))
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert used & vars(builtins).keys()
    assert not used & vars(builtins).keys() & public_names().keys()
