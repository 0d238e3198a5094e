"""Modes see what operators eager calls come down to, as torch has them; counts follow from that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch
from rushlight import nn
from rushlight.nn import functional as F
from rushlight.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode
from rushlight.utils.flop_counter import FlopCounterMode, register_flop_formula

LINEAR = nn.Linear(4, 2)
X = torch.arange(12.0).reshape(3, 4)
IMAGES = torch.ones(2, 3, 8, 8)
HEADS = torch.ones(2, 2, 5, 4)


class Log(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.seen.append(func.name().removeprefix("aten::"))
        return func(*args, **(kwargs or {}))


def seen(program: Callable[[], Any]) -> str:
    with Log() as log:
        program()
    return " ".join(log.seen)


RECORDED: dict[str, tuple[Callable[[], Any], str]] = {
    "linear": (lambda: LINEAR(X), "t addmm"),
    "add": (lambda: X + 1, "add.Tensor"),
    "reflected": (lambda: 1 - X, "rsub.Scalar"),
    "power": (lambda: X**2, "pow.Tensor_Scalar"),
    "in place": (lambda: X.clone().add_(1), "clone add_.Tensor"),
    "compare": (lambda: (X > 0) & (X < 1), "gt.Scalar lt.Scalar bitwise_and.Tensor"),
    "second names": (
        lambda: torch.special.i0(X).greater(torch.special.erfc(X)),
        "i0 erfc gt.Tensor",
    ),
    "matmul": (lambda: X @ X.t(), "t mm"),
    "heads": (lambda: HEADS @ HEADS.mT, "transpose.int expand view expand view bmm _unsafe_view"),
    "attention": (
        lambda: F.scaled_dot_product_attention(HEADS, HEADS, HEADS),
        "_scaled_dot_product_flash_attention_for_cpu",
    ),
    "index": (lambda: X[0, 1:], "select.int slice.Tensor"),
    "mask": (lambda: X[X > 5], "gt.Scalar index.Tensor"),
    "rows": (lambda: list(X), "unbind.int"),
    "reshape": (lambda: X.t().reshape(-1), "t clone _unsafe_view"),
    "dtype": (lambda: X.double().to(torch.float64), "_to_copy"),
    "item": (lambda: X.sum().item(), "sum _local_scalar_dense"),
    "softmax": (lambda: X.softmax(-1), "_softmax"),
    "norm": (lambda: F.layer_norm(X, [4]), "native_layer_norm"),
    "pool": (lambda: F.adaptive_avg_pool2d(IMAGES, 1), "mean.dim"),
    "maximum": (lambda: F.max_pool2d(IMAGES, 2), "max_pool2d_with_indices"),
    "of a volume": (lambda: torch.max_pool3d(IMAGES, [2]), "max_pool3d_with_indices"),
    "dropout": (lambda: F.dropout(X), "empty_like bernoulli_.float div_.Scalar mul.Tensor"),
    "loss": (lambda: F.cross_entropy(X, X.argmax(1)), "argmax _log_softmax nll_loss_forward"),
    "resize": (lambda: F.interpolate(IMAGES, scale_factor=2), "upsample_nearest2d"),
}


@pytest.mark.parametrize("name", RECORDED)
def test_what_modes_see(name: str) -> None:
    program, expected = RECORDED[name]
    plain = program()
    assert seen(program) == expected
    if name not in ("dropout", "rows"):
        assert torch.equal(torch.as_tensor(program()), torch.as_tensor(plain))


def test_layers_and_their_gradients() -> None:
    conv = nn.Conv2d(3, 4, 3)
    assert seen(lambda: conv(IMAGES)) == "convolution"
    assert seen(lambda: nn.BatchNorm2d(3).eval()(IMAGES)).endswith("native_batch_norm")
    linear = nn.Linear(4, 2)
    loss = linear(X).sum()
    assert " mm " in seen(loss.backward)
    torch.testing.assert_close(linear.weight.grad, X.sum(0).expand(2, 4))


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_the_last_mode_is_left_while_it_answers(device: str) -> None:
    class Sums(TorchDispatchMode):
        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            return torch.add(args[0], 1) + func(*args, **(kwargs or {}))

    ones = torch.ones(2, device=device)
    with Sums():
        made = ones * 3
    assert made.shape == (2,)
    assert device == "meta" or made.tolist() == [5.0, 5.0]


def test_gradients_outlive_modes() -> None:
    x = torch.arange(4.0, requires_grad=True)
    with Log():
        total = x.flip(0).roll(1).unfold(0, 2, 1).sum()
    total.backward()
    assert x.grad.tolist() == [1.0, 1.0, 2.0, 2.0]


class Doubled(TorchDispatchMode):
    """Gives twice what products give; keeps the last call."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        assert _get_current_dispatch_mode() is None
        made = func(*args, **(kwargs or {}))
        if func is torch.ops.aten.mul.Tensor:
            self.last = func, types, args, kwargs
            assert not made.requires_grad  # gradients are recorded above
            return made + made
        return made


def test_a_mode_answers_below_gradients() -> None:
    x = torch.tensor([3.0], requires_grad=True)
    with Doubled() as mode:
        y = x * 2
    assert y.item() == 12
    assert mode.last == (torch.ops.aten.mul.Tensor, (), (x, 2), {})
    assert mode.last[2][0] is x
    y.backward()
    assert x.grad.item() == 2  # of what was called
    assert (x * 2).item() == 6


def test_modes_in_modes_and_in_other_threads() -> None:
    outer, inner = Log(), Log()
    with outer, inner:
        _ = X * 2 + 1
    assert outer.seen == inner.seen == ["mul.Tensor", "add.Tensor"]
    with pytest.raises(ZeroDivisionError), Log():
        _ = 1 / 0
    assert _get_current_dispatch_mode() is None


def test_a_mode_that_knows_nothing() -> None:
    class Silent(TorchDispatchMode):
        def __torch_dispatch__(self, *given: Any) -> Any:
            return NotImplemented

    with pytest.raises(TypeError, match="Multiple dispatch failed for"), Silent():
        _ = X + 1


def test_counting_asks_for_no_modules() -> None:
    with pytest.warns(UserWarning, match="mods argument is not needed anymore"):
        FlopCounterMode(LINEAR)


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_counts_of_layers(device: str) -> None:
    model = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Sequential(nn.Linear(3, 30))).to(device)
    with FlopCounterMode(display=False) as counter:
        model(torch.ones(2, 4, device=device))
    aten = torch.ops.aten
    assert counter.get_flop_counts() == {
        "Global": {aten.addmm: 408},
        "Sequential": {aten.addmm: 408},
        "Sequential.0": {aten.addmm: 48},
        "Sequential.2": {aten.addmm: 360},
        "Sequential.2.0": {aten.addmm: 360},
    }
    assert [line.rstrip() for line in counter.get_table().splitlines()] == [
        "Module             FLOP    % Total",
        "--------------  -------  ---------",
        "Sequential      408.000    100.00%",
        " - aten.addmm   408.000    100.00%",
        " Sequential.0    48.000     11.76%",
        "  - aten.addmm   48.000     11.76%",
        " Sequential.2   360.000     88.24%",
        "  - aten.addmm  360.000     88.24%",
    ]


def test_counts_of_others() -> None:
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    with FlopCounterMode(display=False) as counter:
        layer(torch.ones(2, 5, 8))
    assert counter.get_total_flops() == 11840
    with FlopCounterMode(display=False) as counter:
        nn.ConvTranspose2d(3, 4, 3, stride=2)(torch.ones(2, 3, 5, 5))
    assert counter.get_total_flops() == 10800
    with pytest.raises(ValueError, match="expected each target to be OpOverloadPacket"):
        register_flop_formula(1)(lambda: 0)
    with pytest.raises(RuntimeError, match="duplicate registrations for"):
        register_flop_formula(torch.ops.aten.mm)(lambda: 0)


def test_blocks_without_modes() -> None:
    seen: list[str] = []

    class Listening(TorchDispatchMode):
        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            seen.append(func.__name__)
            return func(*args, **(kwargs or {}))

    x = torch.ones(2)
    with Listening():
        x + 1
        with torch.utils._mode_utils.no_dispatch(), torch._C._DisableFuncTorch():
            x * 2
        x / 2
    assert [name.partition(".")[0] for name in seen] == ["add", "div"]
