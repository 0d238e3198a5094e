"""`tensor[key]` of tensors that want gradients: native code takes the steps that Python does."""

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops.tensors.tensor import Tensor

KEYS = (
    *(0, -1, 2, 7, -9, None, ..., slice(None), slice(1, None), slice(None, -1), slice(5, 1)),
    *(slice(-9, 9), slice(None, None, 2), slice(None, None, -1), slice(None, None, 0), True),
    *((), (0, 1), (..., 0), (0, ...), (slice(None), 1), (slice(1, 3), slice(None, None, 3))),
    *((None, 0), (0, None, slice(2)), (..., None), (None, ..., None), (slice(None), ..., -1)),
    *((..., ...), (..., 0, ...), (0, 0, 0, 0), (slice(None), slice(None), slice(None), 0)),
    *((slice(None), slice(None)), (0, 1, 2), (False, 0), (np.int64(1), 0), 1 << 80, slice(1 << 80)),
)


@pytest.fixture(scope="module", autouse=True)
def natively():
    """Calls have come so often that native code does them, if there is any."""
    x = torch.ones(3, requires_grad=True)
    for _ in range(100):
        torch.abs(x)
        x[0], x[:2], x[1:], x[None], x[...]


def bases():
    base = np.arange(60.0, dtype=np.float32)
    return [
        *(base.reshape(5, 12), base.reshape(5, 12).T, base.reshape(3, 4, 5)[::2, 1:, ::2]),
        *(base[:3], base.reshape(4, 15)[:, 3:3]),
    ]


def came(view):
    """The nodes that a view came by."""
    names, node = [], view.grad_fn
    while node is not None:
        names.append(type(node).__name__)
        node = node.next_functions[0][0] if node.next_functions else None
    return names


def outcome(call):
    try:
        return call()
    except (IndexError, ValueError, RuntimeError, TypeError, OverflowError) as error:
        return type(error), str(error)


@pytest.mark.parametrize("number", range(5))
@pytest.mark.parametrize("key", KEYS, ids=str)
def test_parts_are_recorded_as_in_python(number, key):
    for is_leaf in (True, False):
        x, y = (torch.from_numpy(bases()[number]).requires_grad_() for _ in range(2))
        here, there = (x, y) if is_leaf else (x * 2, y * 2)
        found = outcome(lambda key=key, here=here: here[key])
        expected = outcome(lambda key=key, there=there: Tensor.__getitem__(there, key))
        if isinstance(expected, tuple):
            assert found == expected
            continue
        assert torch.equal(found, expected)
        assert found.stride() == expected.stride()
        assert came(found) == came(expected)
        assert (found._base is here) == (expected._base is there)
        (found * found).sum().backward()
        (expected * expected).sum().backward()
        assert torch.equal(x.grad, y.grad)


def test_a_part_that_is_written_tells_its_tensor():
    x = torch.ones(3, 4, requires_grad=True)
    y = x * 1
    part = y[1:, 2]
    part.mul_(3)
    assert "CopySlices" in came(y)
    y.sum().backward()
    assert x.grad.tolist() == [[1, 1, 1, 1], [1, 1, 3, 1], [1, 1, 3, 1]]


def test_grad_modes_classes_and_dtypes_are_asked_as_ever():
    x = torch.ones(3, 4, requires_grad=True)
    with torch.no_grad():
        assert x[0].grad_fn is None
    with torch.inference_mode():
        assert x[0].requires_grad == Tensor.__getitem__(x, 0).requires_grad
    assert type(torch.nn.Parameter(torch.ones(3, 4))[:, 1]) is Tensor

    class Own(Tensor):
        pass

    own = torch.ones(3, 4).as_subclass(Own).requires_grad_()
    assert type(own[0]) is Own
    assert own[0].grad_fn is not None
    z = torch.ones(3, dtype=torch.complex64, requires_grad=True)
    assert z[1:].grad_fn is not None
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert x[:, 1].dtype is torch.float32


def test_parts_of_parts_lead_back_through_two_walks():
    x = torch.arange(12.0, requires_grad=True)
    y = (x.view(3, 4) ** 3)[1, 1:3]
    (first,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    first[5:7].sum().backward()
    assert x.grad.tolist() == [0] * 5 + [30, 36] + [0] * 5
