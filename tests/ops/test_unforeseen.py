"""What operators stumble over is told in torch's words, or by the operator's name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops.memory.errors import IndexOutOfRange
from rushlight.ops.memory.unforeseen import told

W, ONE = torch.ones(3, 2), torch.tensor([0])
IDS = torch.tensor([0, 1])
Q = torch.quantize_per_tensor(torch.ones(2), 1.0, 0, torch.quint8)
fold = torch.ops.aten.col2im
bag = torch._embedding_bag


@pytest.mark.parametrize(
    ("action", "sentence"),
    [
        (
            lambda: np.ones((2, 3, 1)) + np.ones((3, 1, 2)),
            "The size of tensor a (2) must match the size of tensor b (3) at non-singleton "
            "dimension 0",
        ),
        (
            lambda: np.ones((2, 1)).__iadd__(np.ones((2, 2))),
            "aten::f cannot do this: non-broadcastable output operand with shape (2,1) doesn't "
            "match the broadcast shape (2,2)",
        ),
        (
            lambda: np.ones((4, 1)).__setitem__(slice(None), np.ones(4)),
            "output with shape [4, 1] doesn't match the broadcast shape [4, 4]",
        ),
        (
            lambda: np.ones((4, 2)).__setitem__(slice(None), np.ones((4, 3))),
            "The size of tensor a (2) must match the size of tensor b (3) at non-singleton "
            "dimension 1",
        ),
        (
            lambda: np.sum(np.ones(2), axis=3),
            "Dimension out of range (expected to be in range of [-1, 0], but got 3)",
        ),
        (
            lambda: np.broadcast_shapes((2,), (3,)),
            "The size of tensor a (2) must match the size of tensor b (3) at non-singleton "
            "dimension 0",
        ),
        (lambda: np.empty((2**62, 2**62)), "Storage size calculation overflowed"),
    ],
)
def test_errors_of_numpy_become_sentences_of_torch(
    action: Callable[[], object], sentence: str
) -> None:
    with pytest.raises((ValueError, IndexError)) as found:
        action()
    place = found.value.with_traceback(_inside_numpy())
    assert str(told(place, "aten::f")) == sentence


def _inside_numpy() -> Any:
    """A traceback that ends in NumPy, as of errors that operators cause there."""
    try:
        np.take_along_axis(np.ones(1), np.ones(1), 0)
    except IndexError as error:
        return error.__traceback__


def test_other_errors_are_told_by_the_operators_name() -> None:
    with pytest.raises(IndexOutOfRange, match=r"^aten::col2im_ cannot do this: nothing there$"):
        raise told(IndexError("nothing there").with_traceback(_inside_numpy()), "aten::col2im_")
    mine = IndexError("mine")
    assert told(mine, "aten::col2im") is mine


@pytest.mark.parametrize(
    ("action", "kind", "sentence"),
    [
        (
            lambda: fold(torch.ones(1, 4, 1), [2, 2], [2, 2, 3], [1, 1], [0, 0], [1, 1]),
            RuntimeError,
            "It is expected kernel_size equals to 2, but got size 3",
        ),
        (
            lambda: torch._euclidean_dist(torch.ones(3), torch.ones(3)),
            RuntimeError,
            "tensor.mT is only supported on matrices or batches of matrices. Got 1-D tensor.",
        ),
        (
            lambda: torch._euclidean_dist(torch.ones(3, 2), torch.ones(2, 5)),
            RuntimeError,
            "mat1 and mat2 shapes cannot be multiplied (3x4 and 7x2)",
        ),
        (
            lambda: torch._trilinear(*[torch.ones(3)] * 3, [], [], [], [0]),
            RuntimeError,
            "unroll_dim must be in [0,0]",
        ),
        (
            lambda: torch._trilinear(*[torch.ones(3)] * 3, [0, 0], [], [], [0]),
            RuntimeError,
            "dim 0 appears multiple times in the list of dims",
        ),
        (
            lambda: torch.nn.utils.rnn.pad_sequence([torch.ones(3), torch.ones(2, 2)]),
            RuntimeError,
            "output with shape [2] doesn't match the broadcast shape [2, 2]",
        ),
        (
            lambda: torch.nn.utils.rnn.pad_sequence([torch.ones(3), torch.ones(())]),
            IndexError,
            "Dimension specified as 0 but tensor has no dimensions",
        ),
        (
            lambda: torch.quantize_per_tensor(
                [torch.ones(3)] * 2, torch.ones(2), torch.zeros(1), torch.quint8
            ),
            IndexError,
            "select(): index 1 out of range for tensor of size [1] at dimension 0",
        ),
        (
            lambda: torch.quantize_per_tensor(
                torch.ones(3), torch.ones(2), torch.zeros(1), torch.quint8
            ),
            RuntimeError,
            "a Tensor with 2 elements cannot be converted to Scalar",
        ),
        (
            lambda: bag(torch.ones(3), IDS, ONE),
            RuntimeError,
            "weight has to be a 2D Tensor, but got Tensor of dimension 1",
        ),
        (
            lambda: bag(W, IDS, torch.tensor(0)),
            RuntimeError,
            "offsets has to be a 1D Tensor, but got Tensor of dimension 0",
        ),
        (lambda: bag(W, IDS, ONE, mode=7), RuntimeError, "`mode` must be sum, mean, or max."),
        (
            lambda: torch.gru_cell(torch.ones(()), W, W, W),
            IndexError,
            "Dimension specified as 1 but tensor has no dimensions",
        ),
        (
            lambda: torch.rnn_tanh_cell(
                torch.ones(1, 3), torch.ones(1, 2), torch.ones(2, 3), torch.ones(3, 2)
            ),
            RuntimeError,
            "weight_hh first dim must be 1 * hidden_size = 2, but got 3",
        ),
        (
            lambda: torch._softmax(torch.ones(3), 0, True),
            RuntimeError,
            "softmax with half to float conversion is not supported on CPU",
        ),
        (
            lambda: torch.randperm(3, dtype=torch.complex64),
            NotImplementedError,
            "\"randperm\" not implemented for 'ComplexFloat'",
        ),
        (
            lambda: torch.lcm(Q, torch.ones(2, dtype=torch.int64)),
            RuntimeError,
            "promoteTypes with quantized numbers is not handled yet; figure out what the correct "
            "rules should be, offending types: QUInt8 Long",
        ),
    ],
)
def test_what_nobody_thought_of(
    action: Callable[[], object], kind: type[Exception], sentence: str
) -> None:
    with pytest.raises(kind) as found:
        action()
    assert str(found.value) == sentence


def test_bags_of_rows_of_indices_and_of_nothing() -> None:
    """torch reads indices of two dimensions row by row, and gives no bags for no offsets."""
    ids = torch.tensor([[0, 1], [1, 2]])
    assert bag(W, ids, torch.tensor([0, 1]))[0].tolist() == [[1.0, 1.0], [3.0, 3.0]]
    assert [list(t.shape) for t in bag(W, IDS, IDS[:0])] == [[0, 2], [0], [0], [0]]


def test_a_script_names_the_operator_and_the_place() -> None:
    @torch.jit.script
    def f(x: torch.Tensor) -> torch.Tensor:
        return torch.linalg.householder_product(x, x[0, 0])

    with pytest.raises(RuntimeError, match="householder_product cannot do this: tuple") as e:
        f(torch.ones(3, 2))
    (found,) = e.value.diagnostics  # type: ignore[attr-defined]
    assert found.code == "index-out-of-range"
    assert found.primary.span.text == "torch.linalg.householder_product(x, x[0, 0])"


def test_a_number_that_is_no_dtype() -> None:
    @torch.jit.script
    def f(n: int) -> torch.Tensor:
        return torch.zeros([2], dtype=n)

    with pytest.raises(RuntimeError, match=r"Unsupported TypeMeta in ATen: nullptr"):
        f(100)


def test_memory_that_ends_in_another_room_is_told_as_ever() -> None:
    x = torch.ones(1, dtype=torch.complex64).conj().expand(10**13)
    for call in (
        x.resolve_conj,
        lambda: torch.sin(x),
        lambda: torch.ones(1).expand(10**13).to_sparse(),
    ):
        with pytest.raises(RuntimeError, match="not enough memory") as caught:
            call()
        assert not isinstance(caught.value, MemoryError)
