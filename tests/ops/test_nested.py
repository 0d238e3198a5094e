"""Nested tensors: operators do with each part what they do; results are torch 2.13's."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

import rushlight as torch
from rushlight import nested

F = torch.nn.functional


def _made(**options: Any) -> Any:
    return nested.nested_tensor([torch.arange(6.0).view(2, 3), torch.ones(1, 3)], **options)


def _lists(tensor: Any) -> list[Any]:
    return [part.tolist() for part in tensor.unbind()]


def test_what_a_nested_tensor_is() -> None:
    n = _made()
    assert (n.is_nested, n.dim(), n.dtype, n.numel()) == (True, 3, torch.float32, 9)
    assert (n.size(0), n.size(-1), n.layout) == (2, 3, torch.strided)
    assert isinstance(n, torch.Tensor)
    assert repr(n) == (
        "nested_tensor([\n  tensor([[0., 1., 2.],\n          [3., 4., 5.]]),\n"
        "  tensor([[1., 1., 1.]])\n])"
    )
    with pytest.raises(RuntimeError, match=r"^Given dimension 1 is irregular and does not have a"):
        n.size(1)
    with pytest.raises(RuntimeError, match=r"^Internal error: NestedTensorImpl doesn't support s"):
        n.shape  # noqa: B018


def test_arithmetic() -> None:
    n = _made()
    assert _lists(n * n + 1) == [[[1, 2, 5], [10, 17, 26]], [[2, 2, 2]]]
    assert _lists(2 * n - n / 1) == _lists(n)
    n.mul_(torch.tensor(2.0))
    assert _lists(n.relu())[1] == [[2, 2, 2]]
    assert _lists(n > 4) == [[[False, False, False], [True, True, True]], [[False] * 3]]
    with pytest.raises(RuntimeError, match="but got a nested self and non-nested other"):
        n + torch.ones(3)
    with pytest.raises(RuntimeError, match="mul does not support broadcasting when given a Nested"):
        n * nested.nested_tensor([torch.ones(1, 3), torch.ones(1, 3)])


def test_layers() -> None:
    n = _made()
    assert _lists(F.linear(n, torch.ones(2, 3), torch.ones(2))) == [[[4, 4], [13, 13]], [[4, 4]]]
    assert [round(v, 4) for v in _lists(F.softmax(n, -1))[0][0]] == [0.09, 0.2447, 0.6652]
    assert _lists(torch.bmm(n, n.transpose(1, 2))) == [[[5, 14], [14, 50]], [[3]]]
    q = n.unsqueeze(1)
    attended = F.scaled_dot_product_attention(q, q, q).unbind()
    dense = [F.scaled_dot_product_attention(p, p, p) for p in q.unbind()]
    assert [a.tolist() for a in attended] == [d.tolist() for d in dense]
    with pytest.raises(ValueError, match="NestedTensor layer_norm requires weight and bias"):
        F.layer_norm(n, (3,))
    with pytest.raises(RuntimeError, match="Cannot apply softmax across nested dimension 0"):
        F.softmax(n, 0)


def test_padding() -> None:
    n = _made()
    assert nested.to_padded_tensor(n, -1.0)[1].tolist() == [[1, 1, 1], [-1, -1, -1]]
    assert n.to_padded_tensor(0.0, (3, 2, 4)).shape == (3, 2, 4)
    with pytest.raises(RuntimeError, match="Truncation is not supported"):
        n.to_padded_tensor(0.0, (2, 1, 4))


def test_gradients_reach_the_parts() -> None:
    n = _made(requires_grad=True)
    (n * 2).to_padded_tensor(0.0).sum().backward()
    assert _lists(n.grad) == [[[2, 2, 2], [2, 2, 2]], [[2, 2, 2]]]
    p = torch.ones(2, 3, requires_grad=True)
    nested.as_nested_tensor([p, torch.ones(1, 3)]).to_padded_tensor(0.0).pow(2).sum().backward()
    assert p.grad.tolist() == [[2, 2, 2], [2, 2, 2]]


def test_dimensions() -> None:
    n = _made()
    assert _lists(n.select(2, 1)) == [[1, 4], [1]]
    assert [_lists(each) for each in n.chunk(3, -1)][2] == [[[2], [5]], [[1]]]
    assert _lists(n.sum(-1, keepdim=True)) == [[[3], [12]], [[3]]]
    assert _lists(n.reshape(2, -1, 3, 1))[1] == [[[1], [1], [1]]]
    assert _lists(nested.narrow(torch.eye(3), 0, 1, 2)) == [[0, 1, 0], [0, 0, 1]]
    assert n[0, 1].tolist() == [3, 4, 5]
    with pytest.raises(RuntimeError, match="Nested tensor dimension 0 cannot be transposed"):
        n.transpose(0, 1)


def test_copies() -> None:
    n = _made()
    for other in (copy.deepcopy(n), pickle.loads(pickle.dumps(n)), n.clone()):
        other.add_(1)
        assert _lists(other)[1] == [[2, 2, 2]]
    assert _lists(n)[1] == [[1, 1, 1]]


def test_what_is_refused() -> None:
    with pytest.raises(NotImplementedError, match=r"^Could not run 'aten::exp' with"):
        _made().exp()
    with pytest.raises(NotImplementedError, match=r"layout torch\.jagged is not supported"):
        _made(layout=torch.jagged)
    with pytest.raises(RuntimeError, match="Found dimension 1 for Tensor at index 1 and dimension"):
        nested.nested_tensor([torch.ones(2, 2), torch.ones(2)])
    with pytest.raises(TypeError, match="Only lists"):
        nested.nested_tensor(3)


def test_sizes_of_parts_are_compared() -> None:
    n = _made()
    other = nested.nested_tensor([torch.ones(2, 3), torch.ones(2, 3)])
    assert (n.is_same_size(_made()), n.is_same_size(other)) == (True, False)
    for one, two, said in (
        (n, torch.ones(2), "Self is nested. While Other is not nested."),
        (torch.ones(2), n, "Self is not nested. While Other is nested."),
    ):
        with pytest.raises(RuntimeError, match=f"Expected both self and other to be .*{said}"):
            one.is_same_size(two)


def test_walks_back_begin_and_end_at_nested_tensors() -> None:
    rows = [torch.ones(2, 3), torch.ones(4, 3)]
    x = torch.nested.nested_tensor(rows, requires_grad=True)
    slopes = torch.nested.nested_tensor([rows[0], 2 * rows[1]])
    (x * 2).relu().backward(slopes)
    assert [part.unique().tolist() for part in x.grad.unbind()] == [[2.0], [4.0]]
    (found,) = torch.autograd.grad(x * 3, x, slopes)
    assert found.is_nested
    assert [part.unique().tolist() for part in found.unbind()] == [[3.0], [6.0]]
    leaves = torch.ones(2, requires_grad=True), torch.ones(3, requires_grad=True)
    joined = torch.nested.as_nested_tensor(list(leaves))
    joined.backward(torch.nested.nested_tensor([torch.ones(2), torch.zeros(3)]))
    assert [leaf.grad.tolist() for leaf in leaves] == [[1.0] * 2, [0.0] * 3]
    with pytest.raises(RuntimeError, match="implicitly created only for scalar outputs"):
        (x * 3).backward()
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        (x * 3).backward(torch.ones(2, 3))


def test_a_transformer_layer_takes_parts_by_themselves() -> None:
    layer = torch.nn.TransformerEncoderLayer(4, 2, 8, batch_first=True).eval()
    rows = [torch.randn(2, 4), torch.randn(3, 4)]
    with torch.no_grad():
        made = layer(torch.nested.nested_tensor(rows))
        for part, row in zip(made.unbind(), rows, strict=True):
            assert torch.allclose(part, layer(row[None])[0], atol=1e-6)
    nested = torch.nested.nested_tensor(rows)
    with pytest.raises(RuntimeError, match="copy_ only supports tensors that are the same size"):
        nested.copy_(torch.nested.nested_tensor(rows[:1]))


def test_what_a_mask_made_nested_is_padded_like_others() -> None:
    x = torch.arange(8.0).reshape(2, 2, 2) + 1
    made = torch._nested_tensor_from_mask(x, torch.tensor([[True, True], [True, False]]))
    padded = nested.to_padded_tensor(made, 0.5)
    assert padded.tolist() == [[[1, 2], [3, 4]], [[5, 6], [0.5, 0.5]]]
    with pytest.raises(NotImplementedError, match="Could not run 'aten::to_padded_tensor' with"):
        nested.to_padded_tensor(x, 0.0)


def test_random_numbers_of_the_same_sizes() -> None:
    given = nested.nested_tensor([torch.zeros(2, 3), torch.zeros(1, 3)])
    assert [part.shape for part in torch.randn_like(given).unbind()] == [(2, 3), (1, 3)]


def test_parts_lie_in_order_in_a_new_nested_tensor() -> None:
    turned = torch.arange(6.0).view(2, 3).t()
    for made in (nested.nested_tensor([turned]), nested.as_nested_tensor([turned])):
        assert made.is_contiguous()
        assert made.unbind()[0].stride() == (2, 1)
    n = _made(requires_grad=True)
    assert n.is_leaf
    assert n.requires_grad


def test_what_is_so_already_is_the_same_tensor() -> None:
    n = _made()
    assert n.to(torch.float32) is n
    assert n.to(n) is n
    assert n.to("cpu") is n
    assert n.contiguous() is n
    assert n.to(torch.float32, copy=True) is not n
    assert n.to(torch.float64).dtype is torch.float64
    turned = n.transpose(-1, -2)
    assert turned.contiguous() is not turned
    assert turned.contiguous().is_contiguous()


def test_only_numbers_stand_beside_nested_tensors() -> None:
    n, scalar = _made(), torch.tensor(2.0)
    with pytest.raises(RuntimeError, match=r"output with shape \[\] doesn't match the broadcast"):
        scalar.mul_(n)
    assert scalar == 2
    with pytest.raises(RuntimeError, match=r"but got a nested self and non-nested other"):
        n.mul_(torch.tensor([2.0]))
    with pytest.raises(RuntimeError, match=r"but got a non-nested self and nested other"):
        torch.tensor([2.0]) * n
    assert _lists(scalar * n) == _lists(n * 2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda n: n.sum((-1, -2)), r"only allows reduction of a single dimension for now"),
        (lambda n: n.view([]), r"shape '\[\]' is invalid for a nested tensor"),
        (lambda n: n.reshape(3, -1), r"reshape: For now nested reshape cannot change or infer"),
        (lambda n: n.view(3, -1), r"view: For now nested view cannot change or infer"),
        (lambda n: n.view(2, 6), r"shape '\[2, 6\]' is invalid for input of size 3"),
        (
            lambda n: n.clone(memory_format=torch.channels_last),
            r"supports Preserve and Contiguous memory formats, .* format: ChannelsLast$",
        ),
        (
            lambda n: nested.nested_tensor([*n.unbind(), torch.ones(1)]),
            r"Found dimension 1 for Tensor at index 2 and dimension 2 for Tensor at index 1\.",
        ),
    ],
)
def test_sentences_of_nested_tensors(call: Any, message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        call(_made())


def test_softmax_of_no_parts() -> None:
    empty = nested.nested_tensor([])
    assert F.softmax(empty, 1).is_nested


def test_what_dtypes_nested_tensors_have_and_where_they_are() -> None:
    nested = torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(1, 3)])
    assert nested.cpu() is nested
    assert (nested.is_floating_point(), nested.is_complex(), nested.is_signed()) == (
        True,
        False,
        True,
    )
    whole = nested.to(torch.int64)
    assert not whole.is_floating_point()
    assert whole.type_as(nested).dtype is torch.float32
    assert torch.ones(2).type_as(whole).dtype is torch.int64
    assert torch.is_floating_point(nested)


def test_what_torch_has_no_form_for() -> None:
    n = torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(1, 3)])
    vectors = torch.nested.nested_tensor([torch.ones(1), torch.ones(2)])
    linear = torch.nn.functional.linear
    with pytest.raises(RuntimeError, match=r"Nested tensor dim: 2. Dense tensor dim: 2"):
        linear(vectors, torch.ones(2, 2))
    with pytest.raises(RuntimeError, match=r"Nested tensor dim: 3. Dense tensor dim: 3"):
        linear(n, torch.ones(2, 2, 3))
    for name in ("view", "reshape"):
        with pytest.raises(RuntimeError, match="empty nested tensor cannot be reshaped"):
            getattr(torch.nested.nested_tensor([]), name)(-1)
    with pytest.raises(RuntimeError, match="squeezing dimension 0 is not supported"):
        n.squeeze(0)
    heads = torch.nested.nested_tensor([torch.ones(2, 4, 3), torch.ones(2, 1, 3)])
    attention = torch.nn.functional.scaled_dot_product_attention
    assert attention(heads, heads, heads, attn_mask=None).is_nested
    with pytest.raises(RuntimeError, match="when an explicit attn_mask is set"):
        attention(heads, heads, heads, attn_mask=torch.ones(1, dtype=torch.bool))
    with pytest.raises(RuntimeError, match="when an explicit attn_mask is set"):
        attention(heads, heads, heads, torch.ones(1, dtype=torch.bool))
