"""What a mask chooses is read and written, with gradients: of wholes, and of parts at numbers."""

import pytest

import rushlight as torch

MASKS = {
    "rows": torch.tensor([True, False, True, True]),
    "elements": torch.arange(12).reshape(4, 3) % 5 < 2,
    "none": torch.zeros(4, dtype=torch.bool),
}


def leaves():
    torch.manual_seed(5)
    return torch.randn(4, 3, requires_grad=True), torch.randn(12, 3, requires_grad=True)


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
@pytest.mark.parametrize("is_double", [False, True])
def test_gradients_of_what_a_mask_chooses(mask, is_double):
    x, y = leaves()
    sizes = x[mask].shape
    values = y.reshape(-1)[: sizes.numel()].reshape(sizes)
    out = x * 1.0
    out[mask] = values * 2.0
    found = out[mask]
    weights = torch.arange(1.0, found.numel() + 1.0).reshape(found.shape)
    total = (out * out).sum() + (found * weights).sum()
    gx, gy = torch.autograd.grad(total, (x, y), create_graph=is_double)
    full = mask if mask.ndim == 2 else mask[:, None].expand(4, 3)
    assert torch.equal(gx, torch.where(full, 0.0, 2.0 * x))
    wanted = torch.zeros(12, 3)
    wanted.view(-1)[: sizes.numel()] = (8.0 * values + 2.0 * weights).detach().reshape(-1)
    assert torch.allclose(gy, wanted)


def test_zeros_that_are_read_by_a_mask_lose_their_sign():
    x = torch.ones(3, requires_grad=True)
    x[torch.tensor([True, False, True])].backward(torch.tensor([-0.0, 1.0]))
    assert not torch.signbit(x.grad).any()


def written(x, y, key, value):
    out = torch.ones(4, 3) * x
    out[key] = value
    return out


@pytest.mark.parametrize("number", [1, -1])
def test_what_is_chosen_of_a_row_is_written_by_one_node(number):
    x, y = leaves()
    mask = torch.tensor([True, False, True])
    out = written(x, y, (number, mask), y[0, :2] * 3.0)
    assert out.grad_fn.name() == "torch::autograd::CopySlices"
    assert [node.name() for node, _ in out.grad_fn.next_functions] == [
        "MulBackward0",
        "MulBackward0",
    ]
    (out * out).sum().backward()
    wanted = 2.0 * x.detach()
    wanted[number, mask] = 0.0
    assert torch.equal(x.grad, wanted)
    assert torch.allclose(y.grad[0, :2], 18.0 * y.detach()[0, :2])
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        out.sum().backward()


def test_its_gradients_have_gradients():
    x, y = leaves()
    mask = torch.tensor([True, False, True])
    out = written(x, y, (2, mask), y[0, :2] ** 2)
    (first,) = torch.autograd.grad((out**3).sum(), y, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), y)
    assert torch.allclose(second[0, :2], 30.0 * y.detach()[0, :2] ** 4)


def test_several_numbers_and_rows_behind_a_mask():
    x = torch.ones(2, 3, 4, 5, requires_grad=True)
    y = torch.ones(2, 5, requires_grad=True)
    mask = torch.tensor([False, True, False, True])
    out = x * 2.0
    out[1, 2, mask] = y * 3.0
    out.sum().backward()
    assert x.grad[1, 2].sum(1).tolist() == [10.0, 0.0, 10.0, 0.0]
    assert torch.equal(y.grad, torch.full((2, 5), 3.0))


def test_a_mask_that_is_changed_is_told():
    x, y = leaves()
    mask = torch.tensor([True, False, True])
    out = written(x, y, (0, mask), y[0, :2] * 3.0)
    mask[1] = True
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()


def test_who_packs_what_is_kept_hears_of_the_mask():
    x, y = leaves()
    mask, heard = torch.tensor([True, False, True]), []

    def pack(each):
        heard.append(each.dtype)
        return each

    value = y[0, :2] * 3.0
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda each: each):
        written(x, y, (0, mask), value).sum().backward()
    assert torch.bool in heard


def test_what_does_not_fit_is_told_as_always():
    x, y = leaves()
    out = x * 1.0
    with pytest.raises(RuntimeError, match="shape mismatch"):
        out[0, torch.tensor([True, False, True])] = y[0] * 2.0
    with pytest.raises(IndexError, match="The shape of the mask"):
        out[0, torch.tensor([True, False])] = y[0, :1] * 2.0
    with pytest.raises(IndexError, match=r"out of (bounds|range)"):
        out[7, torch.tensor([True, False, True])] = y[0, :2] * 2.0
    leaf = torch.ones(2, 3, requires_grad=True)
    with pytest.raises(RuntimeError, match="leaf Variable"):
        leaf[0, torch.tensor([True, False, True])] = y[0, :2] * 2.0


def test_a_value_from_the_same_memory():
    x, _ = leaves()
    out = x * 1.0
    out[0, torch.tensor([True, True, False])] = out[1, :2]
    assert torch.equal(out[0, :2].detach(), x.detach()[1, :2])
    out.sum().backward()
    assert x.grad.tolist() == [[0.0, 0.0, 1.0], [2.0, 2.0, 1.0], [1.0] * 3, [1.0] * 3]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.int16])
def test_the_largest_keep_their_dtype(dtype: torch.dtype) -> None:
    x = torch.tensor([[3, 1, 2, 5], [7, 9, 8, 6]] * 4).to(dtype)
    for _ in range(3):
        values, places = x.topk(2)
        assert values.dtype == dtype
        assert values.tolist() == [[5, 3], [9, 8]] * 4
        assert places.tolist() == [[3, 0], [1, 2]] * 4
