"""Tensors without data: operators give the sizes, dtypes and errors that they give with data."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from recorded_operators import Sample, arguments, entries, resolve

import rushlight as torch
from rushlight.ops.memory.reserved import reserved

F = torch.nn.functional


def _without_data(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.to("meta")
    if isinstance(value, (list, tuple)):
        return type(value)(_without_data(part) for part in value)
    return value


def _form(value: Any) -> Any:
    """What is known of a result without looking at data."""
    if isinstance(value, torch.Tensor):
        return tuple(value.shape), value.dtype
    if isinstance(value, (list, tuple)):
        return [_form(part) for part in value]
    return type(value)


def _compare(name: str, sample: Sample) -> bool:
    """Whether there was something to compare."""
    args, kwargs = arguments(sample)
    without = (
        [_without_data(each) for each in args],
        {k: _without_data(v) for k, v in kwargs.items()},
    )
    try:
        wanted = _form(resolve(name)(*args, **kwargs))
    except Exception:
        return False
    try:
        found = resolve(name)(*without[0], **without[1])
    except NotImplementedError:
        return False
    assert _form(found) == wanted, name
    return True


@pytest.mark.filterwarnings("ignore")
def test_sizes_and_dtypes_are_those_of_results_with_data() -> None:
    names = [name for name, samples in entries() if any(_compare(name, s) for s in samples[-2:])]
    assert len(names) > 440


IMAGES, VOLUMES = torch.ones(2, 3, 8, 8), torch.ones(2, 3, 4, 6, 8)
LAST = torch.channels_last
LIES: dict[str, Any] = {
    "quantiles": lambda t: torch.quantile(t(torch.ones(5, 3)), t(torch.ones(2)), 1, True),
    "quantiles of all": lambda t: torch.nanquantile(t(torch.ones(5, 3)), t(torch.ones(2))),
    "tensorinv": lambda t: torch.linalg.tensorinv(t(torch.eye(24).reshape(4, 6, 8, 3))),
    "tensorsolve": lambda t: torch.linalg.tensorsolve(
        t(torch.eye(24).reshape(6, 4, 2, 3, 4)), t(torch.ones(6, 4))
    ),
    "multinomial": lambda t: torch.multinomial(t(torch.ones(5)), 2),
    "repeated": lambda t: t(torch.ones(3, 5)).repeat_interleave(
        t(torch.tensor([4, 2, 1])), 0, output_size=7
    ),
    "segments": lambda t: torch.segment_reduce(
        t(torch.ones(10, 2)), "sum", lengths=t(torch.tensor([4, 4, 2]))
    ),
    "segments between": lambda t: torch.segment_reduce(
        t(torch.ones(10, 2)), "max", offsets=t(torch.tensor([0, 4, 10]))
    ),
    "diagonal by letters": lambda t: torch.einsum("ii->i", t(torch.ones(2, 2))),
    "a mask with data": lambda t: t(torch.ones(5, 3))[:, torch.tensor([True, False, True])],
    "empty_strided": lambda t: t(torch.ones(1)).new_empty_strided((3, 2, 2), (1, 2, 3)),
    "empty_permuted": lambda t: torch.empty_permuted(
        (2, 3, 5), (0, 2, 1), device=t(torch.ones(1)).device
    ),
    "empty with channels last": lambda t: torch.empty(
        (2, 3, 5, 4), memory_format=LAST, device=t(torch.ones(1)).device
    ),
    "none of a dimension": lambda t: t(torch.ones(5, 5, 5)).narrow(1, 0, 0),
    "none of a batch": lambda t: torch.linalg.inv(t(torch.ones(0, 3, 3))),
    "maximum": lambda t: F.max_pool2d(t(IMAGES.to(memory_format=LAST)), 2, return_indices=True),
    "larger": lambda t: F.interpolate(t(IMAGES.to(memory_format=LAST)), scale_factor=2),
    "joined": lambda t: torch.cat([t(IMAGES.to(memory_format=LAST))] * 2, 1),
    "a volume's means": lambda t: F.avg_pool3d(
        t(VOLUMES.to(memory_format=torch.channels_last_3d)), 2
    ),
    "a triangle": lambda t: t(IMAGES.to(memory_format=LAST)).tril(),
    "convolved": lambda t: F.conv2d(t(IMAGES.to(memory_format=LAST)), t(torch.ones(4, 3, 3, 3))),
}


@pytest.mark.parametrize("name", LIES)
def test_results_lie_as_those_with_data(name: str) -> None:
    def lies(result: Any) -> list[Any]:
        parts = result if isinstance(result, tuple) else (result,)
        return [(each.shape, each.stride(), each.dtype) for each in parts]

    assert lies(LIES[name](lambda t: t.to("meta"))) == lies(LIES[name](lambda t: t))


def _refused(call: Any) -> str:
    with pytest.raises((NotImplementedError, RuntimeError, TypeError)) as caught:
        call()
    return str(caught.value)


def test_what_needs_data_is_refused() -> None:
    x = torch.empty(2, 3, device="meta")
    assert _refused(x.sum().item) == "Tensor.item() cannot be called on meta tensors"
    assert _refused(lambda: bool(x.sum())) == "Tensor.item() cannot be called on meta tensors"
    assert _refused(x.nonzero).startswith("aten::nonzero: its result depends on data")
    assert "a mask" in _refused(lambda: x[x > 0])
    assert _refused(x.numpy).startswith("can't convert meta device type tensor to numpy")
    for call in (x.tolist, x.cpu, lambda: x.to("cpu"), lambda: torch.ones(2, 3).copy_(x)):
        assert _refused(call) == "Cannot copy out of meta tensor; no data!"
    assert "gradients" in _refused(x.requires_grad_().sum().backward)
    with pytest.raises(NotImplementedError):
        pickle.dumps(x)


def test_errors_are_those_of_tensors_with_data() -> None:
    x, y = torch.empty(2, 3, device="meta"), torch.ones(2, 3)
    for call in (lambda t: t @ t, lambda t: t.view(7), lambda t: t + t[:, :2], lambda t: t.sum(5)):
        assert _refused(lambda call=call: call(x)) == _refused(lambda call=call: call(y))
    assert "does not match" not in _refused(lambda: x + y)
    assert _refused(lambda: x + y) == "Tensor on device cpu is not on the expected device meta!"
    assert (x + torch.ones(())).shape == (2, 3)
    with pytest.raises((RuntimeError, ValueError)):
        x[0] = torch.ones(7)


def test_what_they_are() -> None:
    x = torch.empty(2, 3, device="meta")
    assert isinstance(x, torch.Tensor)
    assert x.__class__ is torch.Tensor
    assert (x.is_meta, x.is_cpu, x.device.type, x.data_ptr()) == (True, False, "meta", 0)
    assert (x.t().stride(), x[:, 1].storage_offset(), x.numel(), len(x)) == ((1, 3), 1, 6, 2)
    assert f"{torch.empty((), device='meta')}" == "tensor(..., device='meta', size=())"
    assert repr(x.double()) == "tensor(..., device='meta', size=(2, 3), dtype=torch.float64)"
    weight = torch.nn.Parameter(x)
    assert isinstance(weight, torch.nn.Parameter)
    assert repr(weight) == (
        "Parameter containing:\ntensor(..., device='meta', size=(2, 3), requires_grad=True)"
    )
    assert repr(copy.deepcopy(weight)) == repr(weight)
    assert x.type() == "torch.meta.FloatTensor"
    assert torch.zeros_like(x, device="cpu").tolist() == [[0.0] * 3] * 2
    assert torch.tensor([1, 2], device="meta").dtype is torch.int64


def test_views_share_and_in_place_gives_the_tensor_back() -> None:
    x = torch.empty(2, 3, device="meta")
    assert x.add_(1) is x
    assert x.t_().shape == (3, 2)
    assert x.squeeze_().normal_().shape == (3, 2)
    x[0], x[:, 1] = 1, torch.ones(3)
    assert _refused(lambda: x[0].add_(torch.empty(5, 2, device="meta")))


def test_no_random_numbers_are_drawn() -> None:
    torch.manual_seed(3)
    wanted = torch.rand(2)
    torch.manual_seed(3)
    layer = torch.nn.Linear(4, 4, device="meta")
    F.dropout(torch.nn.init.xavier_normal_(layer.weight), 0.5)
    torch.randn(3, device="meta").bernoulli()
    assert torch.equal(torch.rand(2), wanted)


def test_the_device_that_is_entered_is_where_tensors_are_made() -> None:
    with torch.device("meta"):
        made = torch.nn.LSTM(2, 3), torch.ones(2), torch.tensor(1.0), torch.randn(2).log()
        assert torch.zeros(1, device="cpu").tolist() == [0.0]
        with torch.device("cpu"):
            assert torch.ones(1).tolist() == [1.0]
    assert made[0].weight_ih_l0.is_meta
    assert all(t.is_meta for t in made[1:])
    torch.set_default_device("meta")
    try:
        assert torch.arange(3).is_meta
        assert torch.get_default_device() == torch.device("meta")
    finally:
        torch.set_default_device(None)
    assert torch.arange(3).tolist() == [0, 1, 2]


def test_a_model_larger_than_memory() -> None:
    wide = 1 << 20
    with torch.device("meta"):
        model = torch.nn.Sequential(
            torch.nn.Linear(wide, wide),
            torch.nn.ReLU(),
            torch.nn.Dropout(),
            torch.nn.LayerNorm(wide),
        )
        assert model(torch.empty(8, wide)).shape == (8, wide)
    assert sum(p.nbytes for p in model.parameters()) > 1 << 42


def test_modules_move_there_and_come_back_empty_or_by_their_state() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
    state = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    moved = copy.deepcopy(model).to("meta")
    assert all(t.is_meta for t in moved.state_dict().values())
    assert "to_empty()" in _refused(lambda: moved.to("cpu"))
    moved.load_state_dict(state, assign=True)
    x = torch.ones(4, 2)
    assert torch.equal(moved.eval()(x), model.eval()(x))
    assert copy.deepcopy(model).to("meta").to_empty(device="cpu")[0].weight.shape == (3, 2)


def test_tensors_that_move_there_leave_what_they_were() -> None:
    x = torch.arange(6.0).view(2, 3).t()
    weight = torch.nn.Parameter(torch.ones(2, 3))
    meta = torch.empty(1, dtype=torch.float64, device="meta")
    for tensor in (x, weight):
        for moved in (tensor.to("meta"), tensor.to(device="meta", dtype=torch.float32)):
            assert moved is not tensor
            assert moved.is_meta
            assert not moved._is_view()
            assert moved.stride() == tensor.stride()
            assert tensor.device.type == "cpu"
    assert x.sum() == 15
    assert weight.to("meta").grad_fn is not None
    assert (x.to(meta).device.type, x.to(meta).dtype) == ("meta", torch.float64)
    assert meta.to("meta") is meta
    assert "Cannot copy out" in _refused(lambda: meta.to(x))


def test_copies_lie_as_their_operands_do() -> None:
    turned = torch.empty(2, 3, device="meta").t()
    for made in (turned.clone(), turned.to(torch.float64), turned.to(copy=True)):
        assert made.stride() == (1, 3)
    image = torch.empty(2, 3, 4, 5, device="meta")
    assert image.to(memory_format=torch.channels_last).stride() == (60, 1, 15, 3)


def test_reserved_arrays_take_no_memory_and_cannot_be_written() -> None:
    array = reserved((1 << 20, 1 << 20), np.dtype(np.float64))
    assert array.nbytes == 1 << 43
    assert array[-1, -1] == 0
    assert not array.flags.writeable
    assert reserved((3, 0), np.dtype(np.int8)).shape == (3, 0)
    with pytest.raises(RuntimeError, match="no addresses"):
        reserved((1 << 30, 1 << 30), np.dtype(np.float64))


def test_no_factory_forgets_where_tensors_shall_lie() -> None:
    for call in (
        lambda **options: torch.rand(2, **options),
        lambda **options: torch.randperm(3, **options),
        lambda **options: torch.eye(2, **options),
        lambda **options: torch.hann_window(4, **options),
        lambda **options: torch.linspace(0, 1, 3, **options),
        lambda **options: torch.randn_like(torch.ones(2), **options),
        lambda **options: torch.ones(2).to(**options),
    ):
        assert call(device="meta").is_meta
        with pytest.raises(AssertionError, match="CUDA"):
            call(device="cuda")


def test_operators_of_users_say_what_they_give() -> None:
    @torch.library.custom_op("test_meta::twice", mutates_args=())
    def twice(x: torch.Tensor) -> torch.Tensor:
        return torch.cat([x, x])

    x = torch.empty(2, 3, device="meta")
    assert "register_fake" in _refused(lambda: twice(x))

    @twice.register_fake
    def _(x: torch.Tensor) -> torch.Tensor:
        assert x.is_meta
        return torch.cat([x, x + 1])

    assert twice(x).shape == (4, 3)
    assert twice(x).is_meta
    assert torch.ops.test_meta.twice(torch.ones(1, 2)).shape == (2, 2)


def test_a_class_of_tensors_without_data_makes_what_its_name_says() -> None:
    held = torch.nn.Parameter(torch.empty(2, device="meta"))
    made = type(held)(torch.ones(2), requires_grad=False)
    assert (made.tolist(), made.requires_grad) == ([1.0, 1.0], False)
    assert isinstance(made, torch.nn.Parameter)
    assert type(torch.empty(1, device="meta"))([3.0]).tolist() == [3.0]
    assert torch._guards.active_fake_mode() is None
    assert torch._guards.detect_fake_mode([made]) is None
