"""Tensors with a mask; the expected values and texts are those of torch 2.13."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

import rushlight as torch
from rushlight.masked import MaskedTensor, as_masked_tensor, is_masked_tensor, masked_tensor
from rushlight.masked.maskedtensor.binary import NATIVE_BINARY_FNS
from rushlight.masked.maskedtensor.unary import NATIVE_UNARY_FNS

DATA = torch.tensor([[1.0, 2, 3], [4, 5, 6]])
MASK = torch.tensor([[True, False, True], [False, False, False]])


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """torch warns at each of them that they are a prototype."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The PyTorch API of MaskedTensors")
        yield


def pair(requires_grad: bool = False) -> MaskedTensor:
    return masked_tensor(DATA, MASK, requires_grad)


def shown(value: Any) -> str:
    """The numbers in one line."""
    return " ".join(repr(value).replace("MaskedTensor", "").split())


def test_making_one() -> None:
    assert is_masked_tensor(pair())
    assert isinstance(pair(), torch.Tensor)
    with pytest.warns(UserWarning, match="in prototype stage"):
        MaskedTensor(DATA, MASK)
    with pytest.raises(TypeError, match="data must be a Tensor"):
        masked_tensor(pair(), MASK)
    with pytest.raises(TypeError, match="mask must have dtype bool"):
        masked_tensor(DATA, DATA)
    with pytest.raises(TypeError, match="must have the same layout"):
        masked_tensor(DATA.to_sparse(), MASK)
    with pytest.raises(ValueError, match=r"data\.size\(\) must equal mask\.size\(\)"):
        masked_tensor(DATA, MASK[:, :2])
    with pytest.raises(RuntimeError, match="Only Tensors of floating point"):
        masked_tensor(MASK, MASK, requires_grad=True)


def test_how_it_is_printed() -> None:
    assert repr(pair()) == (
        "MaskedTensor(\n  [\n    [  1.0000,       --,   3.0000],\n"
        "    [      --,       --,       --]\n  ]\n)"
    )
    assert repr(pair().sum()) == "MaskedTensor(  4.0000, True)"
    assert shown(pair().to(torch.int32)) == "( [ [1, --, 3], [ --, --, --] ] )"


def test_what_it_tells_of_its_data() -> None:
    mt = pair()
    assert (mt.shape, mt.dtype, mt.layout) == (torch.Size([2, 3]), torch.float32, torch.strided)
    assert (mt.size(0), mt.dim(), mt.numel(), len(mt), mt.stride()) == (2, 2, 6, 2, (3, 1))
    assert mt.to_tensor(9).tolist() == [[1, 9, 3], [9, 9, 9]]
    assert mt.sum().item() == 4


def test_single_elements() -> None:
    mt = pair()
    assert shown(-mt) == "( [ [ -1.0000, --, -3.0000], [ --, --, --] ] )"
    assert shown(mt * mt + 1) == "( [ [ 2.0000, --, 10.0000], [ --, --, --] ] )"
    assert shown(mt < 2) == "( [ [True, --, False], [ --, --, --] ] )"
    assert shown(torch.ops.aten.clamp(mt, min=2)) == "( [ [ 2.0000, --, 3.0000], [ --, --, --] ] )"
    mt += 1
    assert mt.to_tensor(0).tolist() == [[2, 0, 4], [0, 0, 0]]
    with pytest.raises(ValueError, match="Input masks must match"):
        pair() + masked_tensor(DATA, ~MASK)
    assert len(NATIVE_UNARY_FNS) == 62
    assert len(NATIVE_BINARY_FNS) == 36


def test_reductions() -> None:
    mt = pair()
    assert shown(mt.sum(0, keepdim=True)) == "( [ [ 1.0000, --, 3.0000] ] )"
    assert shown(mt.mean((0, 1))) == "( 2.0000, True)"
    assert shown(mt.prod(1)) == "( [ 3.0000, --] )"
    assert shown(mt.argmax(1)) == "( [ 2.0000, --] )"
    assert shown(mt.amin()) == "( 1.0000, True)"
    assert shown(mt.var()) == "( 2.0000, True)"
    assert shown(mt.all()) == "(True, True)"


def test_moves_and_choices() -> None:
    mt = pair()
    assert shown(mt[0]) == "( [ 1.0000, --, 3.0000] )"
    assert shown(mt.t()[2]) == "( [ 3.0000, --] )"
    assert shown(torch.cat([mt, mt], 1)[0]) == ("( [ 1.0000, --, 3.0000, 1.0000, --, 3.0000] )")
    assert shown(mt.softmax(1)) == "( [ [ 0.1192, --, 0.8808], [ --, --, --] ] )"
    assert shown(torch.where(DATA > 2, mt, -mt)[0]) == "( [ -1.0000, --, 3.0000] )"


@pytest.mark.parametrize("name", ["max", "relu", "squeeze", "any"])
def test_what_has_no_form_is_refused_by_name(name: str) -> None:
    with pytest.raises(TypeError, match=rf"Multiple dispatch failed for 'torch._ops.aten.{name}"):
        getattr(pair(), name)()


def test_gradients() -> None:
    mt = pair(requires_grad=True)
    mt.exp().mean().backward()
    assert shown(mt.grad) == "( [ [ 1.3591, --, 10.0428], [ --, --, --] ] )"
    values = DATA.clone().requires_grad_()
    as_masked_tensor(values, MASK).sum().backward()
    assert values.grad is not None
    rows = pair(requires_grad=True)
    rows.softmax(1)[0, 0].backward()
    assert shown(rows.grad) == "( [ [ 0.1050, --, -0.1050], [ --, --, --] ] )"
    with pytest.raises(RuntimeError, match="does not require grad and does not have a grad_fn"):
        pair().sum().backward()


def test_sparse_ones() -> None:
    sparse = pair().to_sparse()
    assert sparse.is_sparse_coo()
    assert shown(sparse * sparse) == "( [ [ 1.0000, --, 9.0000], [ --, --, --] ] )"
    assert shown(sparse.sum()) == "( 4.0000, True)"
    assert shown(sparse.argmax()) == "( 2.0000, True)"
    assert shown(pair().to_sparse_csr().exp().to_dense()) == (
        "( [ [ 2.7183, --, 20.0855], [ --, --, --] ] )"
    )
    with pytest.raises(ValueError, match="sparse data do not have is_contiguous"):
        sparse.is_contiguous()


def test_copies_and_pickles() -> None:
    mt = pair(requires_grad=True)
    for again in (copy.deepcopy(mt), pickle.loads(pickle.dumps(mt))):
        assert again.requires_grad
        assert shown(again) == shown(mt)


def test_inputs_of_reductions() -> None:
    kept = torch.masked._combine_input_and_mask(torch.amax, DATA, MASK)
    assert kept.tolist() == [[1, -float("inf"), 3], [-float("inf")] * 3]


def test_inputs_of_norms_begin_where_their_order_says() -> None:
    numbers, mask, infinite = torch.tensor([1.0, 2.0]), torch.tensor([True, False]), float("inf")
    norm = torch.masked.norm
    for order, first in ((2.0, 0.0), (infinite, 0.0), (-infinite, infinite)):
        kept = torch.masked._combine_input_and_mask(norm, numbers, mask, order)
        assert kept.tolist() == [1.0, first]
    assert torch.masked._combine_input_and_mask(torch.sum, numbers, mask).tolist() == [1.0, 0.0]
