"""Parts of tensors that are written where gradients are recorded: nodes, values, errors."""

from __future__ import annotations

import re

import pytest

import rushlight as torch
from rushlight import Tensor


def _chain(node: object, depth: int = 3) -> object:
    if node is None or not depth:
        return None
    found = [_chain(each, depth - 1) for each, _ in node.next_functions]  # type: ignore[attr-defined]
    return [type(node).__name__, *found]


def _leaf() -> Tensor:
    return torch.arange(1.0, 5.0).requires_grad_()


def test_rows_that_are_written_leave_one_node_each() -> None:
    w, out = _leaf(), torch.zeros(3, 4)
    for i in range(3):
        out[i] = w * (i + 1)
    assert type(out.grad_fn).__name__ == "CopySlices"
    assert out.grad_fn.name() == "torch::autograd::CopySlices"
    node, length = out.grad_fn, 0
    while node is not None and type(node).__name__ == "CopySlices":
        assert type(node.next_functions[1][0]).__name__ == "MulBackward0"
        node, length = node.next_functions[0][0], length + 1
    assert (node, length, out._version) == (None, 3, 3)
    (out * torch.arange(12.0).view(3, 4)).sum().backward()
    assert w.grad.tolist() == [32.0, 38.0, 44.0, 50.0]


def test_what_was_there_before_has_no_gradient_where_it_was_written() -> None:
    w, u = torch.ones(2, 3, requires_grad=True), torch.ones(2, requires_grad=True)
    whole = w * 2
    whole[:, 1] = u * 3
    whole[1, 2] = u[0]
    whole.sum().backward()
    assert w.grad.tolist() == [[2.0, 0.0, 2.0], [2.0, 0.0, 0.0]]
    assert u.grad.tolist() == [4.0, 3.0]


def test_gradients_through_written_parts_are_differentiated_themselves() -> None:
    w = _leaf()
    out = torch.zeros(2, 4)
    out[0] = w * w
    out[1, ::2] = w[:2] ** 3
    (first,) = torch.autograd.grad((out * out).sum(), w, create_graph=True)
    assert first.tolist() == [4 + 6.0, 32 + 192.0, 108.0, 256.0]
    (second,) = torch.autograd.grad(first.sum(), w)
    assert second.tolist() == [12 + 30.0, 48 + 480.0, 108.0, 192.0]


def test_views_made_before_hear_of_what_was_written() -> None:
    w, out = _leaf(), torch.zeros(2, 4)
    row, turned = out[0], out.t()
    out[0] = w * 2
    assert (row.requires_grad, turned.requires_grad) == (True, True)
    (row.sum() + turned.sum() * 10).backward()
    assert w.grad.tolist() == [22.0] * 4


def test_a_part_that_is_added_to_leaves_one_node() -> None:
    w, buffer = _leaf(), torch.zeros(2, 4)
    for k in range(4):
        buffer[k % 2] += w * (k + 1)
    assert buffer._version == 8
    buffer[0].mul_(w)
    (buffer * torch.tensor([[1.0], [10.0]])).sum().backward()
    assert buffer[1].tolist() == [6.0, 12.0, 18.0, 24.0]
    assert w.grad.tolist() == [8.0 * x + 60 for x in (1, 2, 3, 4)]


def test_a_part_without_its_history_is_written_to_itself() -> None:
    w = _leaf()
    whole = w * 2
    whole[:2] = whole[:2].detach()
    whole.sum().backward()
    assert w.grad.tolist() == [0.0, 0.0, 2.0, 2.0]


def test_what_lies_apart_or_turned_has_its_gradient() -> None:
    for base in (torch.zeros(4, 2).t(), torch.zeros(2, 8)[:, ::2], torch.zeros(3, 2, 4)[1]):
        w = _leaf()
        base[1] = w * 2
        base[:, 0].mul_(3.0)
        base.sum().backward()
        assert w.grad.tolist() == [6.0, 2.0, 2.0, 2.0]
    z = torch.zeros(4, dtype=torch.complex64)
    w = _leaf()
    z.real.copy_(w)
    torch.view_as_real(z)[:, 1].copy_(w * 2)
    (z.real.sum() + z.imag.sum() * 10).backward()
    assert w.grad.tolist() == [21.0] * 4


@pytest.mark.parametrize(
    ("key", "value", "names"),
    [
        (slice(None), "rows", ["CopyBackwards", "MulBackward0", "AccumulateGrad"]),
        (..., "rows", ["CopyBackwards", "MulBackward0", "AccumulateGrad"]),
        (0, "row", ["CopySlices", "MulBackward0", "AccumulateGrad"]),
        (slice(1, 3), "row", ["CopySlices", "MulBackward0", "ExpandBackward0"]),
        (True, "rows", ["CopySlices", "MulBackward0", "ExpandBackward0"]),
        (0, "one", ["CopySlices", "MulBackward0", "SelectBackward0"]),
    ],
)
def test_nodes_are_those_of_what_is_done(key: object, value: str, names: list[str]) -> None:
    w = torch.ones(4, 4, requires_grad=True)
    row = torch.ones(4, requires_grad=True)
    values = {"rows": w, "row": row, "one": row[0]}
    whole = w * 1
    whole[key] = values[value]
    first, before, other = _chain(whole.grad_fn)  # type: ignore[misc]
    assert [first, before[0], other[0]] == names


@pytest.mark.parametrize(
    ("text", "kind", "sentence"),
    [
        ("d[5] = w", IndexError, "index 5 is out of bounds for dimension 0 with size 4"),
        ("d[0, 0, 0] = 1.0", IndexError, "too many indices for tensor of dimension 2"),
        ("d[0, :, :] = 1.0", IndexError, "too many indices for tensor of dimension 2"),
        ("d[0, 0, :]", IndexError, "too many indices for tensor of dimension 2"),
        ("d[0] = None", TypeError, "can't assign a NoneType to a torch.FloatTensor"),
        ("d[0] = [1.0]", TypeError, "can't assign a list to a torch.FloatTensor"),
        ("d['a'] = 2", TypeError, "new(): invalid data type 'str'"),
        ("d[0] = d[:2]", RuntimeError, "expand(torch.FloatTensor{[2, 4]}, size=[4]): the num"),
        ("d[0] = w[:2]", RuntimeError, "The expanded size of the tensor (4) must match the "),
        ("d[[0, 1]] = w.double()", RuntimeError, "Index put requires the source and destinati"),
        ("w[0] = 1.0", RuntimeError, "a view of a leaf Variable that requires grad is being "),
        ("v = d.chunk(2)[0]; d[0] = w; v * 1", RuntimeError, "Output 0 of Split is a view and "),
    ],
)
def test_what_cannot_be_written_is_told(text: str, kind: type[Exception], sentence: str) -> None:
    w = _leaf()
    with pytest.raises(kind, match=re.escape(sentence)):
        exec(text, {"w": w, "d": torch.ones(4, 4).mul(w)})


def test_a_bool_writes_all_or_nothing() -> None:
    w = torch.ones(2, 2, requires_grad=True)
    whole = w * 2
    whole[False] = w[0]
    assert type(whole.grad_fn).__name__ == "MulBackward0"
    whole[True] = w.double()[0] * 5
    whole.sum().backward()
    assert w.grad.tolist() == [[10.0, 10.0], [0.0, 0.0]]
