"""Arguments of eager calls: `asarray`, numbers between tensors, what is checked of them."""

from __future__ import annotations

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops.eager.dispatch import EagerMethod, make_function


def test_asarray_shares_or_copies() -> None:
    array = np.ones(2, np.float32)
    torch.asarray(array)[0] = 3
    torch.asarray(array, copy=True)[1] = 4
    assert array.tolist() == [3, 1]
    with pytest.raises(ValueError, match="can't alias tensor with dtype 'Float' into dtype 'Dou"):
        torch.asarray(array, dtype=torch.float64, copy=False)
    with pytest.raises(ValueError, match="can't alias arbitrary sequence"):
        torch.asarray([1.0], copy=False)


def test_asarray_reads_buffers() -> None:
    data = bytearray(b"\x00\x00\x80\x3f")
    assert torch.asarray(data).tolist() == [1.0]
    assert torch.asarray(data, dtype=torch.uint8).tolist() == [0, 0, 128, 63]


def test_asarray_keeps_or_cuts_history() -> None:
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    assert torch.asarray(x, requires_grad=True) is x
    assert torch.asarray(y, requires_grad=True).grad_fn is not None
    assert not torch.asarray(y, requires_grad=False).requires_grad
    assert torch.asarray([1.0], requires_grad=True).requires_grad


def test_numbers_between_tensors() -> None:
    x, two = torch.ones(2, 2), torch.full((2, 2), 2.0)
    with pytest.warns(UserWarning, match="This overload of addcmul is deprecated") as told:
        assert torch.addcmul(x, 0.5, two, two).tolist() == [[3, 3], [3, 3]]
    assert told[0].filename == __file__
    with pytest.warns(UserWarning, match="deprecated"):
        assert x.add(3, two).tolist() == [[7, 7], [7, 7]]
    with pytest.warns(UserWarning, match="deprecated"):
        assert torch.addmm(2, x, 3, two, two).tolist() == [[26, 26], [26, 26]]
    with pytest.warns(UserWarning, match="deprecated"):
        assert x.addmm_(2, two, two) is x
    assert x.tolist() == [[10, 10], [10, 10]]
    with pytest.raises(TypeError):
        torch.addcmul(x, two, two, 3)


def test_numbers_between_tensors_may_be_tensors_without_dimensions() -> None:
    x, half, scalar = torch.ones(3), torch.tensor(-0.5), torch.tensor(1.0)
    with pytest.warns(UserWarning, match="This overload of add_ is deprecated"):
        assert x.clone().add_(half, x).tolist() == [0.5] * 3
    with pytest.warns(UserWarning, match="deprecated"):
        assert scalar.add(half, x).tolist() == [0.5] * 3
    with pytest.warns(UserWarning, match="deprecated"):
        assert torch.addmm(half, torch.eye(2), half, torch.eye(2), torch.eye(2)).tolist() == [
            [-1, 0],
            [0, -1],
        ]
    for refused in (torch.tensor([0.5]), torch.tensor(0.5, requires_grad=True)):
        with pytest.raises(TypeError):
            x.add(refused, x)


def test_products_of_8_bit_numbers() -> None:
    a = torch.full((2, 3), 100, dtype=torch.int8)
    product = torch._int_mm(a, a.t())
    assert product.dtype == torch.int32
    assert product.tolist() == [[30000, 30000], [30000, 30000]]
    with pytest.raises(RuntimeError, match="mat2 dtype to be of type int8 but got float"):
        torch._int_mm(a, a.t().float())


def test_complex_tensors_without_elements() -> None:
    assert torch.view_as_complex(torch.ones(0, 2)).shape == (0,)
    assert torch.randn(3, 0, dtype=torch.complex64).shape == (3, 0)


def test_empty_bags_have_no_gradients() -> None:
    weight = torch.arange(6.0).view(3, 2).requires_grad_()
    offsets = torch.tensor([0, 0, 2])
    bags = torch.nn.functional.embedding_bag(torch.tensor([1, 2]), weight, offsets, mode="max")
    bags.sum().backward()
    assert weight.grad.tolist() == [[0, 0], [0, 0], [1, 1]]
    with pytest.raises(RuntimeError, match="found idx to be 7"):
        torch.nn.functional.embedding_bag(torch.tensor([7]), weight, offsets[:1], mode="max")


def test_lengths_of_ctc_loss_are_checked() -> None:
    scores = torch.zeros(5, 2, 4).log_softmax(-1)
    labels = torch.ones(2, 3, dtype=torch.int64)
    for inputs, targets, message in (
        ([6, 5], [1, 1], "input_lengths to have value at most 5, but got value 6"),
        ([-1, 5], [1, 1], "input_lengths to have value at least 0, but got value -1"),
        ([5, 5], [1, -2], "target_lengths to have value at least 0, but got value -2"),
    ):
        with pytest.raises(RuntimeError, match=message):
            torch.nn.functional.ctc_loss(scores, labels, inputs, targets)
    with pytest.raises(RuntimeError, match="must not be empty"):
        torch.nn.functional.ctc_loss(scores[:0], labels, [0, 0], [1, 1])


def test_label_smoothing_is_checked_first() -> None:
    with pytest.raises(RuntimeError, match=r"label_smoothing must be .* Got: 1\.5"):
        torch.nn.functional.cross_entropy(torch.ones(3, 5), torch.arange(4), label_smoothing=1.5)


def test_gradients_of_nothing_are_checked() -> None:
    for shape in ((0,), (2, 0)):
        x = torch.ones(shape, dtype=torch.float64, requires_grad=True)
        assert torch.autograd.gradcheck(lambda x: x * 2, (x,))
        assert torch.autograd.gradcheck(lambda x: x.sum(), (x,))
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: x[:0], (x,))


def test_the_gradient_by_its_other_name() -> None:
    x = torch.ones(2, requires_grad=True)
    x._grad = torch.full((2,), 3.0)
    assert x.grad.tolist() == [3, 3]
    assert x._grad is x.grad


def test_a_list_of_indices_is_one_for_each_dimension() -> None:
    x = torch.arange(1.0, 28).view(3, 3, 3)
    assert x[[[1, 2], [0, 1]]].tolist() == x[[1, 2], [0, 1]].tolist()
    assert x[[torch.tensor(0), torch.tensor(1)]].tolist() == x[0, 1].tolist()
    assert x[[0, slice(None)]].shape == (3, 3)
    assert x[[0, 1]].shape == (2, 3, 3)
    x[[[0, 1], [0, 1], [0, 1]]] = 0
    assert x[0, 0, 0] == x[1, 1, 1] == 0
    assert x[0, 0, 1] == 2


def test_overloads_are_listed_as_torch_lists_them() -> None:
    with pytest.raises(TypeError) as caught:
        torch.pow("a", "b")
    assert str(caught.value) == (
        "pow() received an invalid combination of arguments - got (str, str), but expected one of:"
        "\n * (Tensor input, Tensor exponent, *, Tensor out = None)"
        "\n * (Number self, Tensor exponent, *, Tensor out = None)"
        "\n * (Tensor input, Number exponent, *, Tensor out = None)\n"
    )
    with pytest.raises(TypeError, match=r"\n \* \(Tensor condition\)\n \* \(Tensor condition, T"):
        torch.where(1, 2)


def test_losses_are_not_reduced_unless_asked_in_python() -> None:
    x, y = torch.rand(2, 3), torch.rand(2, 3)
    losses = torch.kl_div, torch.hinge_embedding_loss, torch.binary_cross_entropy_with_logits
    for loss in losses:
        assert loss(x, y).shape == (2, 3)
        assert loss(x, y, reduction=1).shape == ()
    assert torch.margin_ranking_loss(x, y, y).shape == (2, 3)
    assert torch.triplet_margin_loss(x, y, x).shape == (2,)
    assert torch.cosine_embedding_loss(x, y, torch.ones(2)).shape == (2,)
    assert torch.ops.aten.kl_div.default(x, y).shape == ()
    assert torch.ops.aten.kl_div(x, y).shape == ()
    assert torch.nn.functional.kl_div(x, y, reduction="sum").shape == ()


def test_tensors_that_want_gradients_are_no_numbers() -> None:
    x, number = torch.ones(2), torch.tensor(0.5)
    calls = [
        (lambda n: torch.add(x, x, alpha=n), "argument 'alpha' must be Number, not Tensor"),
        (lambda n: torch.full((2,), n), "argument 'fill_value' .position 2. must be Number"),
        (lambda n: torch.dropout(x, n, False), "argument 'p' .position 2. must be float"),
    ]
    for call, said in calls:
        assert call(number).shape == (2,)
        with torch.no_grad(), pytest.raises(TypeError, match=said):
            call(number.clone().requires_grad_())
    with pytest.raises(TypeError, match=r"'p' .position 2. must be float, not Tensor"):
        torch.dropout(x, number[None], False)


def test_a_number_does_not_stand_for_a_tensor_that_may_be_none() -> None:
    with pytest.raises(TypeError, match=r"clamp\(\) received an invalid combination"):
        torch.clamp(torch.ones(2), 0, torch.ones(1))


def test_a_method_is_bound_where_no_native_code_does_it() -> None:
    method = make_function("aten::add", as_method=True)
    assert isinstance(method, EagerMethod)
    assert method.__get__(torch.ones(2))(1.0).tolist() == [2.0, 2.0]
    assert method.__get__(None, torch.Tensor) is method
    with pytest.raises(TypeError, match=r"^descriptor 'add' for .* doesn't apply to a 'int' obj"):
        method.__get__(3)


def test_only_what_makes_memory_takes_requires_grad() -> None:
    x = torch.ones(2)
    unexpected = "got an unexpected keyword argument 'requires_grad'"
    for call in (torch.add, torch.mul):
        with pytest.raises(TypeError, match=unexpected):
            call(x, x, requires_grad=True)
    with pytest.raises(TypeError, match=unexpected):
        x.add(x, requires_grad=True)
    with pytest.raises(TypeError, match=r"got \(Tensor, requires_grad=bool\)"):
        torch.sum(x, requires_grad=True)
    for made in (
        torch.zeros_like(x, requires_grad=True),
        x.new_ones(2, requires_grad=True),
        torch.normal(0.0, 1.0, (2,), requires_grad=True),
        torch.fft.fftfreq(3, requires_grad=True),
    ):
        assert made.requires_grad
        assert made.is_leaf
