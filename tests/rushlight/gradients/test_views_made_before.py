"""Views that were made before what they are of had a history: they get one when it does."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import pytest

import rushlight as torch

WAYS = 60
"""Calls of one kind after which native code does them."""

VIEWS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "row": lambda x: x[1],
    "rows": lambda x: x[1:],
    "several keys": lambda x: x[..., 1],
    "view": lambda x: x.view(9),
    "t": lambda x: x.t(),
    "T": lambda x: x.T,
    "of a view": lambda x: x[1:][0][:2],
    "select": lambda x: x.select(0, 1),
    "expanded": lambda x: x.expand(2, 3, 3),
    "reshaped": lambda x: torch.reshape(x, (9,)),
}


def _weights() -> torch.Tensor:
    return torch.ones(3, 3, requires_grad=True)


def _expected(view: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
    """The gradient where the view is made at the end."""
    y = _weights()
    (view(torch.ones(3, 3) * y) * 2).sum().backward()
    assert y.grad is not None
    return y.grad


@pytest.mark.parametrize("name", VIEWS)
def test_views_follow_their_base(name: str) -> None:
    expected = _expected(VIEWS[name])
    for _ in range(WAYS):
        x, y = torch.ones(3, 3), _weights()
        v = VIEWS[name](x)
        assert not v.requires_grad
        assert v.grad_fn is None
        x.mul_(y)
        (v * 2).sum().backward()
    assert torch.equal(y.grad, expected)
    assert type(v.grad_fn).__name__ == "AsStridedBackward0"


def test_a_view_hears_of_what_another_view_wrote() -> None:
    x, y = torch.zeros(3, 3), torch.ones(3, requires_grad=True)
    first, second = x[0], x[:2]
    x.t()[0].add_(y)  # the first column
    assert first.requires_grad
    assert second.requires_grad
    assert x.requires_grad
    (grad,) = torch.autograd.grad(first.sum() + 10 * second.sum(), y)
    assert grad.tolist() == [11, 10, 0]


def test_buffers_that_are_filled_row_by_row() -> None:
    w, out = torch.ones(3, requires_grad=True), torch.zeros(4, 3)
    rows = [out[i] for i in range(4)]
    for i in range(4):
        out[i] = w * i
    sum((row * row).sum() for row in rows).backward()
    assert w.grad.tolist() == [28, 28, 28]


USES: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "stack": lambda v: torch.stack([v, v]),
    "linear": lambda v: torch.nn.functional.linear(torch.ones(2, 3), torch.ones(3, 3), v),
    "copy_": lambda v: torch.zeros(3).copy_(v),
    "item of it": lambda v: v[:2],
    "kept": lambda v: torch.ones(3, requires_grad=True) * v,
    "iterated": lambda v: next(iter(v)),
}


@pytest.mark.parametrize("name", USES)
def test_uses_of_such_a_view(name: str) -> None:
    x, y = torch.ones(3, 3), _weights()
    v = x[1]
    x.mul_(y)
    USES[name](v).sum().backward()
    assert y.grad[1].any()
    assert not y.grad[0].any()


def test_writing_such_a_view() -> None:
    x, y = torch.ones(3, 3), _weights()
    v = x[1]
    x.mul_(y)
    v.mul_(3)
    assert x.grad_fn.name() == "torch::autograd::CopySlices"
    x.sum().backward()
    assert y.grad.tolist() == [[1, 1, 1], [3, 3, 3], [1, 1, 1]]


def test_numpy_and_outs_refuse_such_a_view() -> None:
    x = torch.ones(3, 3)
    v = x[1]
    x.mul_(_weights())
    with pytest.raises(RuntimeError, match=r"Can't call numpy\(\)"):
        v.numpy()
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        torch.add(torch.ones(3), 1, out=v)


def test_detached_memory_has_a_history_of_its_own() -> None:
    x, y = torch.ones(3, 3), _weights()
    row, d = x[1], x.detach()
    of_d = d[1]
    d.mul_(y)
    assert of_d.requires_grad
    assert (of_d * 2).requires_grad
    assert not x.requires_grad
    assert not row.requires_grad
    assert not (row * 2).requires_grad


def test_copies_have_no_history() -> None:
    for _ in range(WAYS):
        x = torch.ones(3, 3)
        picked, turned = x[torch.tensor([0, 1])], x.t().reshape(9)
        x.mul_(_weights())
        assert not (picked * 2).requires_grad
        assert not (turned * 2).requires_grad


def test_what_comes_to_be_a_leaf() -> None:
    x = torch.ones(3, 3)
    v, w = x[1], x[1][:2]
    x.requires_grad_()
    assert v.requires_grad
    assert v.is_leaf
    assert w.requires_grad
    with pytest.raises(RuntimeError, match="a view of a leaf Variable"):
        v.add_(1)
    x.requires_grad_(False)
    assert not v.requires_grad
    assert not (v * 2).requires_grad
    x.mul_(_weights())
    assert (w * 2).requires_grad


def test_leaves_over_part_of_a_tensor() -> None:
    for mode in (torch.no_grad(), torch.enable_grad()):
        x = torch.ones(3, 3)
        with mode:
            v = x[1]
        v.requires_grad_()
        (v * 2).sum().backward()
        assert v.grad.tolist() == [2, 2, 2]
        assert not x.requires_grad
        v.requires_grad_(False)
        assert not v.requires_grad
    x.mul_(_weights())
    assert (v * 2).requires_grad


MODES: dict[str, tuple[Callable[[], AbstractContextManager[object]], str]] = {
    "no_grad": (torch.no_grad, "A view was created in no_grad mode and its base"),
    "inference": (torch.inference_mode, "A view was created in inference mode and its base"),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["row", "rows", "view", "t"])
def test_views_made_while_nothing_was_recorded(mode: str, name: str) -> None:
    inside, told = MODES[mode]
    for _ in range(WAYS):
        x = torch.ones(3, 3)
        with inside():
            v = VIEWS[name](x)
        x.mul_(_weights())
        with pytest.raises(RuntimeError, match=told):
            v * 2
    with torch.no_grad():
        assert (v * 2).sum() > 0


SEVERAL: dict[str, Callable[[torch.Tensor], Iterator[torch.Tensor]]] = {
    "unbind": lambda x: iter(x.unbind(0)),
    "chunk": lambda x: iter(x.chunk(3)),
    "iter": lambda x: iter(x),
}


@pytest.mark.parametrize("name", SEVERAL)
def test_one_of_several_views_is_neither_used_nor_written(name: str) -> None:
    told = "output of a function that returns multiple views"
    for _ in range(WAYS):
        x = torch.ones(3, 3)
        first, second, _third = SEVERAL[name](x)
        assert first._base is x
        with pytest.raises(RuntimeError, match=told):
            first.mul_(torch.ones(3, requires_grad=True))
        x.mul_(_weights())
        with pytest.raises(RuntimeError, match=told):
            second * 2


@torch.jit.script
def scaled(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    x.mul_(y)
    return x


@torch.jit.script
def scaled_in_a_loop(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    v = x[1]
    for _ in range(2):
        x.mul_(y)
    return v * 2


@torch.jit.script
def doubled(v: torch.Tensor) -> torch.Tensor:
    return v * 2 + 0


def test_scripts_that_write_the_base() -> None:
    for _ in range(WAYS):
        x, y = torch.ones(3, 3), _weights()
        v = x[1]
        scaled(x, y)
        (v * 2).sum().backward()
        assert torch.equal(y.grad, _expected(VIEWS["row"]))


def test_scripts_that_take_such_a_view() -> None:
    for _ in range(WAYS):
        x, y = torch.ones(3, 3), _weights()
        v = x[1]
        assert not doubled(v).requires_grad
        x.mul_(y)
        doubled(v).sum().backward()
        assert torch.equal(y.grad, _expected(VIEWS["row"]))


def test_views_inside_scripts() -> None:
    for _ in range(WAYS):
        y = _weights()
        scaled_in_a_loop(torch.ones(3, 3), y).sum().backward()
        assert torch.equal(y.grad, 2 * _expected(VIEWS["row"]))


def test_functions_that_take_such_a_view() -> None:
    class Tripled(torch.autograd.Function):
        @staticmethod
        def forward(ctx: object, given: torch.Tensor) -> torch.Tensor:
            return given * 3

        @staticmethod
        def backward(ctx: object, grad: torch.Tensor) -> torch.Tensor:
            return grad * 3

    x, y = torch.ones(3, 3), _weights()
    v = x[1]
    x.mul_(y)
    Tripled.apply(v).sum().backward()
    assert y.grad.tolist() == [[0, 0, 0], [3, 3, 3], [0, 0, 0]]


def test_functions_that_write_the_base() -> None:
    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx: object, given: torch.Tensor, by: torch.Tensor) -> torch.Tensor:
            ctx.mark_dirty(given)  # type: ignore[attr-defined]
            return given.mul_(by)

        @staticmethod
        def backward(ctx: object, grad: torch.Tensor) -> tuple[None, torch.Tensor]:
            return None, grad

    x, y = torch.ones(3, 3), _weights()
    v = x[1]
    Scaled.apply(x, y)
    (v * 2).sum().backward()
    assert torch.equal(y.grad, _expected(VIEWS["row"]))


def test_parts_that_are_no_views_are_written_apart() -> None:
    for cut in (
        lambda t: t.unsafe_split(1),
        lambda t: t.unsafe_split_with_sizes((1, 1, 1)),
        lambda t: t.unsafe_chunk(3),
    ):
        x = torch.full((3, 3), 2.0, requires_grad=True)
        first, second, _third = cut(x * 1)
        first.mul_(second)
        first.sum().backward()
        assert x.grad.tolist() == [[2, 2, 2], [2, 2, 2], [0, 0, 0]]


def _unseen(x: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        return x[1:]


class Halves(torch.autograd.Function):
    """A view that a function of a user's makes."""

    @staticmethod
    def forward(ctx: object, x: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
        return x[1:]

    @staticmethod
    def backward(ctx: object, grad: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
        return grad


@pytest.mark.parametrize(
    ("limited", "told"),
    [
        (lambda x: x.unbind(0)[1], "is a view and is being modified inplace. This view is the out"),
        (lambda x: x.split(2)[0], "is a view and is being modified inplace. This view is the out"),
        (_unseen, "is a view of a view which was created in no_grad mode and is being modified"),
        (Halves.apply, "is a view and is being modified inplace. This view was created inside a"),
    ],
)
def test_a_view_of_a_view_that_is_not_to_be_written_is_not_to_be(
    limited: Callable[[torch.Tensor], torch.Tensor], told: str
) -> None:
    view = limited(torch.ones(3, 3) * _weights())
    within = view[:1]
    with pytest.raises(RuntimeError, match=f"Output 0 of Slice {told}"):
        within.mul_(2)
    view.clone()[:1].mul_(2)
    within.detach().mul_(2)
