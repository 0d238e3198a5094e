"""`torch.autocast`, in Python, in script and in archives."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import rushlight as torch

BF16, F16, F32 = torch.bfloat16, torch.float16, torch.float32


@pytest.fixture
def x() -> torch.Tensor:
    return torch.tensor([[1.0, 2.0], [3.0, 4.0]])


@pytest.fixture(autouse=True)
def _off() -> Iterator[None]:
    yield
    assert not torch.is_autocast_enabled("cpu")


def eager_dtypes(x: torch.Tensor) -> list[torch.dtype]:
    with torch.autocast("cpu"):
        product = torch.mm(x, x)
        results = [product, x @ x, torch.nn.functional.linear(x, x), torch.einsum("ij,jk", x, x)]
        results += [product + x, torch.exp(product), torch.cat([x, product])]
        results += [torch.nn.functional.mse_loss(product, product), x.double() @ x.double()]
        results += [torch.nn.Conv1d(2, 2, 1)(x), x.matmul(x)]
    return [each.dtype for each in results]


def test_operators_choose_their_precision(x: torch.Tensor) -> None:
    wanted = [BF16, BF16, BF16, BF16, F32, BF16, F32, F32, torch.float64, BF16, BF16]
    assert eager_dtypes(x) == wanted
    assert torch.mm(x, x).dtype is F32


def test_contexts_nest_and_decorate(x: torch.Tensor) -> None:
    with torch.autocast("cpu", F16):
        assert (x @ x).dtype is F16
        with torch.autocast("cpu", enabled=False):
            assert (x @ x).dtype is F32
        assert torch.get_autocast_dtype("cpu") is F16
    assert torch.get_autocast_dtype("cpu") is BF16
    assert torch.autocast("cpu")(torch.mm)(x, x).dtype is BF16
    with pytest.raises(ZeroDivisionError), torch.autocast("cpu"):
        raise ZeroDivisionError


@pytest.mark.parametrize("kind", ["cpu", "cuda"])
def test_older_names_tell_of_the_newer_one(kind: str) -> None:
    said = rf"`torch\.{kind}\.amp\.autocast\(args\.\.\.\)` is deprecated. Please use .*'{kind}'"
    with pytest.warns(FutureWarning, match=said):
        getattr(torch, kind).amp.autocast(enabled=False)


def test_what_has_no_effect_says_so(x: torch.Tensor) -> None:
    with pytest.warns(UserWarning, match="CUDA is not available"), torch.autocast("cuda"):
        assert (x @ x).dtype is F32
    with pytest.warns(UserWarning, match="not supported"), torch.autocast("cpu", torch.float64):
        assert (x @ x).dtype is F32
    with pytest.raises(RuntimeError, match="Expected one of cpu, cuda"):
        torch.autocast("xyz")
    with pytest.raises(ValueError, match="of type `str`"):
        torch.autocast(3)


def test_gradients_pass_the_casts(x: torch.Tensor) -> None:
    weight = torch.ones(2, 2, requires_grad=True)
    with torch.autocast("cpu"):
        loss = (x @ weight).sum()
    loss.backward()
    assert weight.grad.dtype is F32
    assert weight.grad.tolist() == [[4.0, 4.0], [6.0, 6.0]]


def inside(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    with torch.autocast("cpu"):
        low = torch.mm(x, x)
        full = torch.exp(low)
        with torch.autocast("cpu", enabled=False):
            off = torch.mm(x, x)
    return low, full, off


def older_name(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    with torch.cpu.amp.autocast(dtype=torch.float16):
        low = helper(x)
    return low, low + x, helper(x)


def helper(x: torch.Tensor) -> torch.Tensor:
    return torch.mm(x, x)


CASES: list[tuple[Callable[..., Any], list[torch.dtype]]] = [
    (inside, [BF16, F32, F32]),
    (older_name, [F16, F32, F32]),
]


@pytest.mark.filterwarnings("ignore:.*amp.autocast.args.* is deprecated:FutureWarning")
@pytest.mark.parametrize(("function", "wanted"), CASES)
def test_script_casts_where_it_is_entered(
    function: Callable[..., Any], wanted: list[torch.dtype], x: torch.Tensor
) -> None:
    scripted = torch.jit.script(function)
    for _ in range(3):
        assert [each.dtype for each in scripted(x)] == wanted
    buffer = io.BytesIO()
    torch.jit.save(scripted, buffer)
    loaded = torch.jit.load(io.BytesIO(buffer.getvalue()))
    assert [each.dtype for each in loaded(x)] == wanted
    assert [each.tolist() for each in loaded(x)] == [each.tolist() for each in scripted(x)]


def test_script_follows_the_state_around_it(x: torch.Tensor) -> None:
    scripted = torch.jit.script(helper)
    assert scripted(x).dtype is F32
    with torch.autocast("cpu"):
        assert scripted(x).dtype is BF16
        with torch.autocast("cpu", F16):
            assert scripted(x).dtype is F16
    assert scripted(x).dtype is F32


@pytest.mark.parametrize("bias", [True, False])
def test_tensors_that_may_be_none_are_cast_where_python_switched_it_on(bias: bool) -> None:
    layer = torch.nn.Conv2d(3, 4, 3, bias=bias)
    scripted, x = torch.jit.script(layer), torch.randn(2, 3, 5, 5)
    with torch.autocast("cpu"):
        expected = layer(x)
        for _ in range(3):
            made = scripted(x)
            assert made.dtype is BF16
            assert made.tolist() == expected.tolist()
    made.float().sum().backward()
    assert all(p.grad is not None and p.grad.dtype is F32 for p in layer.parameters())


def left_alone(x: torch.Tensor) -> torch.Tensor:
    with torch.autocast("cpu"):
        y = torch.mm(x, x)
    return y


def test_graphs_can_be_left_as_they_are(x: torch.Tensor) -> None:
    assert torch._C._jit_set_autocast_mode(False) is True
    try:
        assert torch.jit.script(left_alone)(x).dtype is F32
    finally:
        assert torch._C._jit_set_autocast_mode(True) is False


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(2, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with torch.autocast("cpu", torch.bfloat16):
            y = self.linear(x)
        return y


def test_modules_train_and_freeze(x: torch.Tensor) -> None:
    scripted = torch.jit.script(Model())
    scripted(x).float().sum().backward()
    assert scripted.linear.weight.grad.dtype is F32
    frozen = torch.jit.freeze(scripted.eval())
    assert frozen(x).dtype is BF16
    assert frozen(x).tolist() == scripted(x).tolist()


def undecided(x: torch.Tensor, on: bool) -> torch.Tensor:
    with torch.autocast("cpu", enabled=on):
        y = torch.mm(x, x)
    return y


def banned(x: torch.Tensor) -> torch.Tensor:
    with torch.autocast("cpu"):
        y = torch.nn.functional.binary_cross_entropy(x, x)
    return y


def test_what_cannot_be_decided_is_refused(x: torch.Tensor) -> None:
    with pytest.raises(RuntimeError, match="Autocast _enabled argument must be a constant"):
        torch.jit.script(undecided)(x, True)
    with pytest.raises(RuntimeError, match="Unsafe to autocast"):
        torch.jit.script(banned)(x)
