"""Names and habits of older packages."""

from __future__ import annotations

from typing import Any
from typing import Optional as Maybe
from typing import Tuple as typing_Tuple  # noqa: UP035

import pytest

import rushlight as torch
from rushlight._subclasses.fake_tensor import FakeTensor, FakeTensorMode, is_fake
from rushlight.utils import _pytree as pytree

PLACES = torch.tensor([[0, 1], [1, 0]])


def test_sparse_tensors_by_their_old_classes() -> None:
    made = torch.sparse.FloatTensor(PLACES, torch.tensor([2.0, 3.0]), torch.Size([2, 3]))
    assert made.to_dense().tolist() == [[0.0, 2.0, 0.0], [3.0, 0.0, 0.0]]
    assert made.type() == "torch.sparse.FloatTensor"
    assert isinstance(made, torch.sparse.FloatTensor)
    assert not isinstance(made, torch.sparse.DoubleTensor)
    assert torch.sparse.LongTensor(PLACES, torch.tensor([2, 3])).shape == (2, 2)
    assert torch.sparse.DoubleTensor(2, 3).dtype is torch.float64
    with pytest.raises(TypeError, match="only accepts sizes"):
        torch.sparse.FloatTensor([2, 3])


def test_functions_of_ones_own_take_sparse_tensors() -> None:
    class Product(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, sparse: Any, dense: Any) -> Any:
            ctx.sparse = sparse
            return torch.sparse.mm(sparse, dense)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return None, torch.sparse.mm(ctx.sparse.t(), grad)

    sparse = torch.sparse_coo_tensor(PLACES, torch.tensor([2.0, 3.0]), (2, 2))
    dense = torch.ones(2, 1, requires_grad=True)
    Product.apply(sparse, dense).sum().backward()
    assert dense.grad.tolist() == [[3.0], [2.0]]


def test_a_default_device_leaves_normal_alone() -> None:
    torch.set_default_device("cpu")
    try:
        assert torch.normal(torch.zeros(2), torch.ones(2)).shape == (2,)
        with torch.device("meta"):
            assert torch.normal(0.0, 1.0, (2,)).device.type == "cpu"
            assert torch.linspace(0, 1, 3).device.type == "meta"
    finally:
        torch.set_default_device(None)


def test_sizes_and_named_results_are_nodes_of_trees() -> None:
    sizes = torch.Size([2, 3])
    assert pytree.tree_leaves(sizes) == [2, 3]
    assert type(pytree.tree_map(float, sizes)) is tuple
    found = torch.max(torch.eye(2), 0)
    leaves, spec = pytree.tree_flatten(found)
    assert [leaf.tolist() for leaf in leaves] == [[1.0, 1.0], [0, 1]]
    assert type(pytree.tree_unflatten(leaves, spec)) is type(found)


def test_other_tensors_are_no_fake_ones() -> None:
    assert not is_fake(torch.ones(2, device="meta"))
    assert not isinstance(torch.ones(2), FakeTensor)
    with FakeTensorMode():
        assert is_fake(torch.ones(2))


def test_constructors_of_types_may_be_imported_by_other_names() -> None:
    @torch.jit.script
    def swapped(
        pair: typing_Tuple[int, Maybe[float]],  # noqa: UP006, UP045
    ) -> typing_Tuple[Maybe[float], int]:  # noqa: UP006, UP045
        return pair[1], pair[0]

    assert swapped((1, None)) == (None, 1)
    assert str(swapped.schema) == "swapped((int, float?) pair) -> ((float?, int))"


def test_transposed_convolutions_have_their_older_base() -> None:
    conv = torch.nn.modules.conv
    assert conv._ConvTransposeMixin.__mro__[1] is conv._ConvTransposeNd


class Labelled(torch.Tensor):
    def __new__(cls, given: torch.Tensor, labels: tuple[str, ...] = ()) -> Labelled:
        return super().__new__(cls, given)


def test_classes_called_with_a_tensor_are_views_of_it() -> None:
    leaf = torch.ones(2, requires_grad=True)
    doubled = leaf * 2
    for make in (torch.Tensor, torch.FloatTensor, Labelled, doubled.new, Labelled(doubled).new):
        made = make(doubled)
        assert made.requires_grad
        assert made._is_view()
        assert made.data_ptr() == doubled.data_ptr()
        (gradient,) = torch.autograd.grad(made.sum(), leaf)
        assert gradient.tolist() == [2, 2]
    assert type(Labelled(doubled)) is Labelled
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        torch.Tensor(leaf).add_(1)


def test_classes_called_with_names() -> None:
    x = torch.arange(3.0)
    assert torch.Tensor(data=[1, 2]).tolist() == torch.FloatTensor(data=[1, 2]).tolist() == [1, 2]
    assert torch.Tensor(size=(2, 3)).shape == x.new(size=(2, 3)).shape == (2, 3)
    for view in (torch.Tensor(other=x), torch.Tensor(storage=x.untyped_storage())):
        view[0] += 1
    assert x.tolist() == [2, 1, 2]
    for names, message in {
        (("data", x),): r"new\(\): data must be a sequence \(got Tensor\)",
        (("sizes", 2),): "some of the keywords were incorrect: sizes",
        (("size", (2,)), ("dtype", x.dtype)): "keywords were incorrect: size, dtype",
    }.items():
        with pytest.raises(TypeError, match=message):
            torch.Tensor(**dict(names))
    with pytest.raises(RuntimeError, match=r"torch\.Tensor\(tensor, device=device\) is not"):
        torch.Tensor(x, device="cpu")
