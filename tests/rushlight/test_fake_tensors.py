"""Fake tensors have sizes and no elements, and say that they lie where others lie."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch
from rushlight import fx, nn
from rushlight._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensor,
    FakeTensorMode,
    is_fake,
    unset_fake_temporarily,
)
from rushlight.fx.passes.fake_tensor_prop import FakeTensorProp
from rushlight.nn import functional as F


def _form(value: Any) -> Any:
    parts = value if isinstance(value, (list, tuple)) else (value,)
    return [(tuple(p.shape), p.dtype, p.stride(), p.device.type) for p in parts]


PROGRAMS: dict[str, Callable[[], Any]] = {
    "made": lambda: torch.ones(3, 4),
    "of data": lambda: torch.tensor([1, 2]),
    "drawn": lambda: torch.randn(2, 3).double(),
    "product": lambda: torch.ones(3, 4) @ torch.ones(4, 2),
    "item": lambda: torch.ones(3, 4)[0, :2],
    "joined": lambda: torch.cat([torch.eye(3), torch.full((1, 3), 2.0)]),
    "counted": lambda: torch.arange(5),
    "turned": lambda: torch.ones(3, 4).t_(),
    "wider": lambda: torch.ones(3).unsqueeze_(0).mul_(2),
    "chosen": lambda: torch.where(torch.zeros(3, 4) > 0, torch.ones(4), 0.0),
    "several": lambda: torch.ones(3, 4).max(1),
    "layer": lambda: nn.Linear(4, 2)(torch.ones(3, 4)),
    "encoder": lambda: nn.TransformerEncoderLayer(16, 4, batch_first=True)(torch.ones(2, 5, 16)),
    "recurrent": lambda: nn.LSTM(4, 5)(torch.ones(3, 2, 4))[0],
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_sizes_are_those_of_tensors_with_elements(name: str) -> None:
    with FakeTensorMode():
        made = PROGRAMS[name]()
    assert all(map(is_fake, made if isinstance(made, tuple) else [made]))
    assert _form(made) == _form(PROGRAMS[name]())


def test_what_takes_no_memory() -> None:
    with FakeTensorMode():
        huge = torch.empty(10**6, 10**6)
        assert huge.mul(2).sum(0).shape == (10**6,)
    assert repr(huge) == "FakeTensor(..., size=(1000000, 1000000))"
    with pytest.raises(RuntimeError, match="not supported for tensor subclasses"):
        huge.numpy()


def test_training_steps_without_elements() -> None:
    torch.manual_seed(1)
    wanted = torch.rand(1)
    torch.manual_seed(1)
    with FakeTensorMode():
        layers = nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(288, 2)
        model = nn.Sequential(*layers)
        optimizer = torch.optim.AdamW(model.parameters())
        for _ in range(2):
            out = model(torch.randn(2, 3, 8, 8))
            F.cross_entropy(out, torch.tensor([0, 1])).backward()
            optimizer.step()
    weight = model[0].weight
    assert isinstance(weight, nn.Parameter)
    assert isinstance(weight.grad, FakeTensor)
    assert weight.grad.shape == weight.shape
    assert torch.equal(torch.rand(1), wanted)


def test_numbers_that_are_known_and_others() -> None:
    with FakeTensorMode():
        count = torch.tensor(3.0)
        assert count.item() == 3.0
        assert count.add_(1).item() == 4.0
        assert int(count * 2) == 8
        for call in (lambda: torch.ones(3).sum().item(), lambda: bool(torch.rand(1) > 2)):
            with pytest.raises(DataDependentOutputException):
                call()
        with pytest.raises(DynamicOutputShapeException):
            torch.ones(3).nonzero()


def test_fakes_of_tensors() -> None:
    mode = FakeTensorMode()
    real = nn.Parameter(torch.ones(3, 4))
    fake = mode.from_tensor(real)
    assert fake is mode.from_tensor(real)
    assert isinstance(fake, nn.Parameter)
    assert (fake.shape, fake.requires_grad, fake.is_meta) == ((3, 4), True, False)
    assert isinstance(fake * 2, FakeTensor)
    with pytest.raises(AssertionError, match="Please convert all Tensors to FakeTensors first"):
        fake + real
    allowing = FakeTensorMode(allow_non_fake_inputs=True)
    with allowing:
        assert isinstance(real + 1, FakeTensor)
        with unset_fake_temporarily() as left:
            assert left is allowing
            assert type(torch.ones(2)) is torch.Tensor
    assert not is_fake(real)


def test_operands_on_several_devices() -> None:
    mode = FakeTensorMode()
    one = FakeTensor(mode, torch.empty(2, device="meta"), torch.device("cuda:0"))
    other = mode.from_tensor(torch.ones(2))
    assert (one * 2).device == torch.device("cuda:0")
    with pytest.raises(RuntimeError, match="two different devices"):
        one + other


def test_nodes_of_graphs_know_their_fake_values() -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(4, 3)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.layer(x).relu()

    traced = fx.symbolic_trace(Model())
    made = FakeTensorProp(traced).propagate(torch.ones(2, 4))
    assert isinstance(made, FakeTensor)
    assert [tuple(n.meta["val"].shape) for n in traced.graph.nodes] == [(2, 4), *[(2, 3)] * 3]
