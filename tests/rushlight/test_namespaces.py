"""Parts of torch's namespace that programs reach for beside tensors and layers."""

from __future__ import annotations

import copy
import io
import pickle
import re
import threading
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import rushlight as torch
from rushlight import distributed, futures, hub
from rushlight.amp import GradScaler
from rushlight.serialization.files.errors import ArchiveError
from rushlight.utils import _pytree as pytree
from rushlight.utils.data import DistributedSampler

Pair = namedtuple("Pair", "a b")

# ----------------------------------------------------------------------------------------- trees


def test_trees_come_apart_and_together() -> None:
    tree = {
        "b": [1, (2, None)],
        "a": Pair(3, {"x": 4}),
        "o": OrderedDict(z=5),
        "d": defaultdict(list, q=[6]),
        "e": deque([7, 8], maxlen=4),
    }
    leaves, spec = pytree.tree_flatten(tree)
    assert leaves == [1, 2, None, 3, 4, 5, 6, 7, 8]
    assert (spec.num_leaves, spec.num_nodes) == (9, 18)
    again = pytree.tree_unflatten(leaves, spec)
    assert again == tree
    assert type(again["a"]) is Pair
    assert again["e"].maxlen == 4
    ways = [pytree.keystr(path) for path, _ in pytree.tree_leaves_with_path(tree)]
    assert ways[2:5] == ["['b'][1][1]", "['a'].a", "['a'].b['x']"]
    assert hash(pytree.tree_structure([1])) == hash(pytree.tree_structure([2]))


def test_trees_are_mapped() -> None:
    pairs = pytree.tree_map(lambda a, b: (a, b), [1, {"a": 2}], [3, {"a": [4, 5]}])
    assert pairs == [(1, 3), {"a": (2, [4, 5])}]
    assert pytree.tree_map_only(int, lambda x: -x, [1, 2.0, "a"]) == [-1, 2.0, "a"]
    spec = pytree.tree_structure([[1, 2], 3])
    assert pytree._broadcast_to_and_flatten([1, 2], spec) == [1, 1, 2]
    assert pytree._broadcast_to_and_flatten([1], spec) is None
    with pytest.raises(ValueError, match=r"Node arity mismatch; expected 2, but got 1\."):
        pytree.tree_map(lambda a, b: 0, [1, 2], [3])
    with pytest.raises(ValueError, match="holds 3 items"):
        pytree.tree_unflatten([1], spec)


def test_classes_become_nodes() -> None:
    class Point:
        def __init__(self, x: int, y: int) -> None:
            self.x, self.y = x, y

    pytree.register_pytree_node(Point, lambda p: ([p.x, p.y], None), lambda v, _: Point(*v))
    try:
        doubled = pytree.tree_map(lambda x: 2 * x, Point(1, 2))
        assert (doubled.x, doubled.y) == (2, 4)
        with pytest.raises(ValueError, match="already registered"):
            pytree.register_pytree_node(Point, lambda p: ([], None), lambda v, _: None)
    finally:
        pytree._deregister_pytree_node(Point)
    assert len(pytree.tree_leaves(Point(1, 2))) == 1


# ---------------------------------------------------------------------------- futures, processes


def test_futures_are_completed() -> None:
    first: Any = futures.Future()
    second = first.then(lambda done: done.wait() + 1)
    both = futures.collect_all([first, second])
    assert not both.done()
    threading.Timer(0.01, first.set_result, [2]).start()
    assert second.wait() == 3
    assert futures.wait_all(both.wait()) == [2, 3]
    with pytest.raises(RuntimeError, match="mark a completed Future as complete again"):
        first.set_result(3)
    failed: Any = futures.Future()
    following = failed.then(lambda done: done.wait())
    failed.set_exception(ValueError("no"))
    with pytest.raises(ValueError, match="no"):
        failed.wait()
    with pytest.raises(RuntimeError, match="ValueError: no"):
        following.wait()


@pytest.fixture
def group() -> Iterator[None]:
    distributed.init_process_group("gloo", world_size=1, rank=0)
    yield
    distributed.destroy_process_group()


@pytest.mark.usefixtures("group")
def test_a_group_of_one_process() -> None:
    assert distributed.is_initialized()
    assert (distributed.get_rank(), distributed.get_world_size()) == (0, 1)
    assert distributed.get_backend() == "gloo"
    x, out = torch.tensor([1.0, 2.0]), [torch.zeros(2)]
    distributed.all_reduce(x)
    work = distributed.all_gather(out, x, async_op=True)
    assert work is not None
    assert work.wait()
    assert out[0].tolist() == x.tolist() == [1.0, 2.0]
    gathered: list[Any] = [None]
    distributed.all_gather_object(gathered, {"a": 1})
    assert gathered == [{"a": 1}]
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 1))
    with model.no_sync():
        model(x).sum().backward()
    assert model.module.weight.grad.tolist() == [[1.0, 2.0]]
    with pytest.raises(ValueError, match="twice"):
        distributed.init_process_group()
    with pytest.raises(ValueError, match="Global rank 1 is not part of group"):
        distributed.send(x, 1)
    with pytest.raises(RuntimeError, match="expected length 1, got 2"):
        distributed.all_gather([x, x], x)
    mine: list[Any] = [None]
    distributed.scatter_object_list(mine, ["a"])
    assert mine == ["a"]
    for wrong in ([], ("a",)):
        with pytest.raises(ValueError, match="scatter_object_output_list to be a list of size"):
            distributed.scatter_object_list(wrong, ["a"])


def test_a_group_is_asked_for_before_the_lists_of_objects() -> None:
    with pytest.raises(ValueError, match="Default process group has not been initialized"):
        distributed.scatter_object_list([], None)


def test_stores_hold_texts() -> None:
    store = distributed.PrefixStore("job", distributed.HashStore())
    store.set("a", "1")
    assert store.add("a", 4) == 5
    assert store.get("a") == b"5"
    assert store.underlying_store.get("job/a") == b"5"
    assert store.delete_key("a")
    assert not store.check(["a"])


def test_parts_of_a_data_set_are_torchs() -> None:
    def parts(**options: Any) -> list[list[int]]:
        return [list(DistributedSampler(range(10), 3, rank, **options)) for rank in range(3)]

    assert parts() == [[4, 5, 0, 2], [1, 3, 8, 4], [7, 9, 6, 1]]
    assert parts(shuffle=False) == [[0, 3, 6, 9], [1, 4, 7, 0], [2, 5, 8, 1]]
    assert parts(drop_last=True) == [[4, 5, 0], [1, 3, 8], [7, 9, 6]]
    sampler = DistributedSampler(range(5), 2, 1)
    sampler.set_epoch(4)
    assert list(sampler) == [3, 4, 0]
    with pytest.raises(ValueError, match=r"interval \[0, 1\]"):
        DistributedSampler(range(5), 2, 2)


# --------------------------------------------------------------------------------- mixed precision


def test_losses_are_scaled_and_bad_steps_skipped() -> None:
    scaler = GradScaler("cpu", init_scale=4.0, growth_interval=2)
    weight = torch.nn.Parameter(torch.ones(2))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    scales, values = [], []
    for step in range(4):
        optimizer.zero_grad()
        scaler.scale((weight * 2).sum()).backward()
        if step == 2:
            weight.grad[0] = float("inf")
        scaler.step(optimizer)
        scaler.update()
        scales.append(scaler.get_scale())
        values.append(round(weight[0].item(), 4))
    assert scales == [4.0, 8.0, 4.0, 4.0]
    assert values == [0.8, 0.6, 0.6, 0.4]
    assert scaler.state_dict()["_growth_tracker"] == 1
    scaler.step(optimizer)
    with pytest.raises(RuntimeError, match=r"unscale_\(\) is being called after step\(\)"):
        scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match="source state dict is empty"):
        scaler.load_state_dict({})
    with pytest.warns(UserWarning, match="CUDA is not available"):
        assert not GradScaler().is_enabled()


class _Scaling(torch.optim.Optimizer):
    _step_supports_amp_scaling = True

    def step(self) -> tuple[float | None, float]:  # type: ignore[override]
        scale, bad = self.grad_scale, self.found_inf
        return None if scale is None else scale.item(), bad.item()


class _Passed(_Scaling):
    def step(self, *, grad_scaler: GradScaler) -> bool:  # type: ignore[override]
        return hasattr(self, "grad_scale")


def test_optimizers_that_scale_themselves_are_told_the_factor() -> None:
    scaler, weight = GradScaler("cpu", init_scale=4.0), torch.nn.Parameter(torch.ones(2))
    optimizer, found = _Scaling([weight], {}), []
    for number in (1.0, float("inf")):
        weight.grad = torch.tensor([1.0, number])
        scaler.scale(weight)
        found.append(scaler.step(optimizer))
        scaler.update()
    assert found == [(4.0, 0.0), (4.0, 1.0)]
    assert scaler.get_scale() == 2.0
    assert not hasattr(optimizer, "grad_scale")
    scaler.unscale_(optimizer)
    assert scaler.step(optimizer) == (None, 1.0)
    with pytest.warns(FutureWarning, match="going to stop passing itself"):
        assert scaler.step(_Passed([weight], {})) is False


def test_what_was_found_lies_by_device_and_the_state_goes_along() -> None:
    weight = torch.nn.Parameter(torch.ones(2))
    optimizer, scaler = torch.optim.SGD([weight], lr=0.1), GradScaler("cpu", 4.0)
    scaler.scale(weight)
    with pytest.raises(AssertionError, match="No inf checks were recorded for this optimizer"):
        scaler.step(optimizer)
    scaler.update(8.0)
    assert scaler.get_scale() == 8.0
    weight.grad = torch.tensor([16.0, float("inf")], dtype=torch.float32)
    assert scaler._check_inf_per_device(optimizer)[torch.device("cpu")].item() == 1.0
    assert weight.grad[0].item() == 16.0
    scaler.unscale_(optimizer)
    assert weight.grad[0].item() == 2.0
    with pytest.raises(AssertionError, match="only be pickled at the beginning of an iteration"):
        pickle.dumps(scaler)
    scaler.update()
    assert (scaler.get_scale(), pickle.loads(pickle.dumps(scaler)).get_scale()) == (4.0, 4.0)
    with pytest.raises(AssertionError, match="should be a float or a 1-element"):
        scaler.update(torch.ones(2))
    with pytest.warns(FutureWarning, match=r"`torch\.cpu\.amp\.GradScaler\(args\.\.\.\)` is"):
        assert torch.cpu.amp.GradScaler().is_enabled()


def test_the_factor_moves_by_what_was_found() -> None:
    scale, steps = torch.tensor(4.0), torch.tensor(0, dtype=torch.int32)
    found, gradients = torch.tensor(0.0), [torch.tensor([4.0]), torch.tensor([float("nan")])]
    for expected in ([4.0, 1], [8.0, 0]):
        torch._amp_update_scale_(scale, steps, found, 2.0, 0.25, 2)
        assert [scale.item(), steps.item()] == expected
    torch._amp_foreach_non_finite_check_and_unscale_(gradients, found, torch.tensor(0.5))
    assert [gradients[0].item(), found.item()] == [2.0, 1.0]
    assert torch._amp_update_scale_(scale, steps, found, 2.0, 0.25, 2) is scale
    assert scale.item() == 2.0
    with pytest.raises(RuntimeError, match="found_inf must be a float tensor"):
        torch._amp_update_scale_(scale, steps, steps, 2.0, 0.25, 2)


def test_gradients_of_few_rows_are_unscaled_where_they_lie() -> None:
    table = torch.nn.Embedding(4, 2, sparse=True)
    optimizer, scaler = torch.optim.SGD(table.parameters(), lr=1.0), GradScaler("cpu", 4.0)
    scaler.scale(table(torch.tensor([1, 1, 2])).sum()).backward()
    scaler.unscale_(optimizer)
    assert table.weight.grad.to_dense()[:, 0].tolist() == [0.0, 2.0, 1.0, 0.0]


def test_operators_over_lists() -> None:
    tensors = [torch.tensor([1.0, 2.0]), torch.tensor([3.0])]
    assert [x.tolist() for x in torch._foreach_add(tensors, 1.0)] == [[2.0, 3.0], [4.0]]
    torch._foreach_mul_(tensors, [2.0, 3.0])
    torch._foreach_addcmul_(tensors, tensors, tensors, 0.5)
    assert [x.tolist() for x in tensors] == [[4.0, 12.0], [49.5]]
    assert torch._foreach_norm(tensors, 1)[0].item() == 16.0
    with pytest.raises(RuntimeError, match="same number of tensors, got 2 and 1"):
        torch._foreach_add(tensors, [torch.ones(2)])
    with pytest.raises(RuntimeError, match="at least one tensor"):
        torch._foreach_neg([])
    with pytest.raises(
        RuntimeError, match=r"^Tensor lists must have the same number .*, got 0 and 1$"
    ):
        torch._foreach_add([], [torch.ones(2)])
    assert not hasattr(torch, "_foreach_copy")


# ------------------------------------------------------------------------------------------ files


class Kept:
    """A class that a program may vouch for."""

    def __init__(self, x: int = 1) -> None:
        self.x = x


class Calls:
    """What a hostile file would have made of a class that nobody vouches for."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (print, ("called",))


def _saved(value: object) -> io.BytesIO:
    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    return file


def test_files_may_name_what_a_program_vouches_for() -> None:
    name = f"{__name__}.Kept"
    assert torch.serialization.get_unsafe_globals_in_checkpoint(_saved([Kept()])) == [name]
    with pytest.raises(ArchiveError, match="Kept"):
        torch.load(_saved(Kept()))
    with torch.serialization.safe_globals([Kept]):
        assert torch.load(_saved({"a": Kept(3), "t": torch.ones(2)}))["a"].x == 3
        with pytest.raises(ArchiveError, match=r"builtins\.print"):
            torch.load(_saved([Kept(), Calls()]))
    assert torch.serialization.get_safe_globals() == []
    with pytest.raises(ArchiveError):
        torch.load(_saved(Kept()))


@pytest.mark.parametrize(
    "hostile",
    [
        # a vouched object's bound method, got by a call of what it gave
        b"\x80\x02cMODULE\nKept\n)R)R.",
        # attributes of a dtype
        b"\x80\x02ctorch\nfloat32\n}X\x01\x00\x00\x00ai\x01sb.",
        # items appended to what is no list
        b"\x80\x02ctorch\nfloat32\n(K\x01e.",
    ],
)
def test_vouching_for_a_class_lets_files_do_nothing_else(hostile: bytes) -> None:
    import zipfile

    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("m/data.pkl", hostile.replace(b"MODULE", __name__.encode()))
        archive.writestr("m/version", b"3\n")
    with torch.serialization.safe_globals([Kept]), pytest.raises(ArchiveError):
        torch.load(file)


def test_models_of_local_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "parts.py").write_text("import rushlight as torch\nsize = 3\n")
    (tmp_path / "hubconf.py").write_text(
        "import rushlight as torch\nfrom parts import size\ndependencies = ['numpy']\n"
        "def small(width=size):\n    '''A small model.'''\n    return torch.nn.Linear(width, 1)\n"
    )
    assert hub.load(tmp_path, "small", source="local", width=2).in_features == 2
    with pytest.raises(RuntimeError, match="Cannot find callable large in hubconf"):
        hub.load(tmp_path, "large", source="local")
    with pytest.raises(ValueError, match="Unknown source"):
        hub.load(tmp_path, "small", source="web")
    with pytest.raises(ValueError, match="not a repository"):
        hub.load("../../elsewhere/name", "small")
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    with pytest.raises(PermissionError, match="list of trusted repositories"):
        hub.load("someone/something:main", "small")


def test_weights_come_from_an_address(tmp_path: Path) -> None:
    source = tmp_path / "weights-abc.pt"
    torch.save({"w": torch.ones(2)}, source)
    folder = tmp_path / "kept"
    url = source.as_uri()
    found = hub.load_state_dict_from_url(url, str(folder), progress=False)
    assert found["w"].tolist() == [1.0, 1.0]
    with pytest.raises(RuntimeError, match="invalid hash value"):
        hub.load_state_dict_from_url(url, str(folder / "checked"), check_hash=True)
    assert list((folder / "checked").iterdir()) == []


# -------------------------------------------------------------------------- what is not here


def test_absent_devices_answer_and_refuse() -> None:
    for device, library in ((torch.cuda, "CUDA"), (torch.xpu, "XPU"), (torch.mtia, "MTIA")):
        assert not device.is_available()
        assert device.device_count() == device.memory_allocated() == 0
        device.manual_seed_all(1)
        with pytest.raises(AssertionError, match=f"Torch not compiled with {library} enabled"):
            device.synchronize()
        with device.stream(None):
            pass
        with pytest.raises(RuntimeError):
            device.Stream()
    assert torch.cuda.Stream is torch.cuda.streams.Stream
    assert not isinstance(torch.ones(1), torch.cuda.FloatTensor)
    assert torch.accelerator.current_accelerator() is None
    with pytest.raises(RuntimeError, match="Cannot access accelerator device"):
        torch.accelerator.synchronize()


def test_the_cpu_has_one_stream_and_events_that_nothing_records() -> None:
    stream, event = torch.Stream(), torch.Event("cpu", enable_timing=True)
    assert stream == torch.Stream("cpu", priority=-1) != torch.Stream("meta")
    assert str(stream) == "torch.Stream device_type=cpu, device_index=-1, stream_id=0"
    with stream as entered:
        entered.wait_event(event)
        entered.synchronize()
    assert (stream.query(), event.query()) == (True, True)
    event.wait(stream)
    for refused in (stream.record_event, event.record, lambda: stream.wait_stream(stream)):
        with pytest.raises(RuntimeError, match="cpu backend doesn't support events"):
            refused()
    with pytest.raises(ValueError, match="must be recorded before"):
        event.elapsed_time(event)
    for device in ("cuda", "xpu:1"):
        with pytest.raises(RuntimeError, match="PyTorch is not linked with support for"):
            torch.Stream(device)
    with pytest.raises(RuntimeError, match="Cannot access accelerator device"):
        torch.Event(0)


def test_compilers_leave_programs_as_they_are() -> None:
    model = torch.nn.Linear(1, 1)
    compiled = torch.compile(model, mode="max-autotune")
    assert isinstance(compiled, torch._dynamo.OptimizedModule)
    assert torch.compile(compiled) is compiled
    x = torch.ones(1, 1)
    assert torch.equal(compiled(x), model(x))
    scripted = torch.jit.script(model)
    assert torch.compile(scripted) is scripted

    @torch.compile(fullgraph=True)
    @torch.compiler.disable
    def double(x: int) -> int:
        return 2 * x

    assert double(2) == 4
    assert not torch.compiler.is_compiling()
    with pytest.raises(RuntimeError, match="Either mode or options"):
        torch.compile(model, mode="default", options={})
    with pytest.raises(TypeError, match="fast"):
        torch.compile(model, fast=True)


def test_compiled_modules_are_the_module_with_another_name() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Dropout())
    compiled = torch.compile(model)
    assert compiled._orig_mod is model
    assert list(compiled.state_dict()) == ["_orig_mod.0.weight", "_orig_mod.0.bias"]
    assert [name for name, _ in compiled.named_children()] == ["_orig_mod"]
    assert not compiled.eval().training
    assert not model.training
    assert not model[1].training
    compiled.train()
    assert model[1].training
    compiled.note = 3
    compiled.more = torch.nn.Linear(1, 1)
    assert (model.note, list(model._modules)) == (3, ["0", "1", "more"])
    del compiled.note, compiled.more
    assert not hasattr(model, "note")
    assert len(compiled) == 2
    with pytest.raises(AttributeError, match="'Sequential' object has no attribute 'other'"):
        _ = compiled.other
    again = pickle.loads(pickle.dumps(copy.deepcopy(compiled)))
    assert type(again) is type(compiled)
    x = torch.ones(1, 2)
    assert torch.equal(again.eval()(x), model.eval()(x))
    assert torch.equal(torch.jit.script(compiled)(x), model(x))
    seen: list[object] = []
    compiled.register_forward_hook(lambda *_: seen.append("outer"))
    model.register_forward_hook(lambda *_: seen.append("inner"))
    compiled(x)
    assert seen == ["inner", "outer"]


def test_old_names_of_initialisers_warn() -> None:
    x = torch.empty(3)
    with pytest.warns(FutureWarning, match=r"deprecated in favor of `nn\.init\.constant_`"):
        torch.nn.init.constant(x, 2.0)
    assert x.tolist() == [2.0, 2.0, 2.0]


def test_functions_are_handed_to_tensor_like_classes() -> None:
    from rushlight import overrides

    class Like:
        @classmethod
        def __torch_function__(
            cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            return func.__name__, args[1]

    @overrides.wrap_torch_function(lambda a, b: (a,))
    def scaled(a: Any, b: int) -> Any:
        return a * b

    assert scaled(Like(), 3) == ("scaled", 3)
    assert scaled(torch.ones(1), 3).tolist() == [3.0]
    assert overrides.is_tensor_like(Like())
    assert not overrides.has_torch_function([torch.ones(1), 1])


def test_compiled_libraries_are_refused() -> None:
    with pytest.raises(OSError, match=r"Could not load this library: /.*nowhere\.so"):
        torch.ops.load_library("nowhere.so")


@pytest.mark.usefixtures("group")
def test_an_optimizer_with_all_its_state_here() -> None:
    from rushlight.distributed.optim import ZeroRedundancyOptimizer

    def trained(make: Any) -> list[float]:
        weight = torch.nn.Parameter(torch.ones(2))
        optimizer = make([weight])
        for _ in range(3):
            optimizer.zero_grad()
            (weight * weight).sum().backward()
            optimizer.step()
        again = make([weight])
        again.load_state_dict(optimizer.state_dict())
        weight.grad = torch.ones(2)
        again.step()
        return weight.tolist()

    def spread(parameters: Any) -> Any:
        return ZeroRedundancyOptimizer(parameters, torch.optim.SGD, lr=0.1, momentum=0.9)

    assert trained(spread) == trained(lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9))


def test_names_in_files_that_hold_no_weights() -> None:
    import zipfile

    other = io.BytesIO()
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("a/b", "c")
    names = torch.serialization.get_unsafe_globals_in_checkpoint
    with pytest.raises(ValueError, match=r"no data\.pkl"):
        names(other)
    with pytest.raises(ValueError, match="central directory"):
        names(io.BytesIO(b"PK"))


def test_operators_by_name_refuse_arguments_in_the_words_of_operators() -> None:
    x = torch.ones(2)
    for arguments, named, said in (
        ((1, 2), {}, "aten::type_as() Expected a value of type 'Tensor' for argument 'self'"),
        ((x,), {}, "aten::type_as() is missing value for argument 'other'. Declaration: "),
        ((x, x, x), {}, "aten::type_as() expected at most 2 argument(s) but received 3 argument"),
        ((x,), {"a": x}, "aten::type_as() is missing value for argument 'other'."),
    ):
        with pytest.raises(RuntimeError, match=rf"^{re.escape(said)}"):
            torch.ops.aten.type_as(*arguments, **named)
    with pytest.raises(RuntimeError) as met:
        torch.ops.aten.add(x, 1, 2, 3)
    first, second, *_ = str(met.value).split("\n\n")
    assert first == (
        "Overloaded torch operator invoked from Python failed to match any schema:\n"
        "aten::add() expected at most 3 argument(s) but received 4 argument(s). "
        "Declaration: aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"
    )
    assert "aten::add.Scalar(" in second
    with pytest.raises(
        RuntimeError, match=r"takes 2 positional argument\(s\) but 3 was/were given"
    ):
        torch.ops.aten.add.Tensor(x, x, 3)
    with pytest.raises(
        AttributeError, match="Invalid attribute '__self__' for '_OpNamespace' 'me'"
    ):
        torch.ops.me.__self__  # noqa: B018


def test_operators_over_lists_give_tuples_and_what_they_were_given() -> None:
    ones = [torch.ones(2), torch.ones(1)]
    assert isinstance(torch._foreach_neg(ones), tuple)
    assert isinstance(torch._foreach_norm(ones), tuple)
    assert torch._foreach_mul_(ones, 2.0) is ones
    for scalars in ([1.0, 2.0], torch.tensor([1.0, 2.0])):
        made = torch._foreach_addcdiv(ones, ones, ones, scalars=scalars)
        assert [each.tolist() for each in made] == [[3.0, 3.0], [4.0]]
    refused = {
        "must have same number of elements as scalar list": lambda: torch._foreach_add(ones, [1.0]),
        "Expected length of scalars to match input of length 2 but got 3": lambda: (
            torch._foreach_addcmul(ones, ones, ones, torch.ones(3))
        ),
        "Expected scalars to be contiguous.": lambda: torch._foreach_addcmul(
            ones, ones, ones, torch.ones(4)[::2]
        ),
        "to be of dimension 1. Got 2": lambda: torch._foreach_addcmul(
            ones, ones, ones, torch.ones(2, 2)
        ),
        "0 dim but it has 1 dimensions and 2 elements": lambda: torch._foreach_add(
            ones, torch.ones(2)
        ),
        "maximum of an empty tensor": lambda: torch._foreach_max([torch.ones(0)]),
    }
    for message, call in refused.items():
        with pytest.raises(RuntimeError, match=message):
            call()
