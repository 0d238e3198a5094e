"""Calls of scripted code that write to parts of what they have made leave one node as well."""

import pytest

import rushlight as torch
from rushlight.ops.gradients.calls.nodes import BEFORE_LONG, CallNode

CALLS = 6


def scaled_rows(x, w):
    out = torch.ones(5, 4) * x
    for i in range(5):
        out[i].mul_(w)
    return out


def copied_rows(x, w):
    out = torch.zeros(5, 4)
    for i in range(5):
        out[i] = torch.tanh(x * i) * w
    return out


def columns(x, w):
    out = torch.ones(4, 5) * x[:, None]
    for j in range(5):
        out[:, j].clamp_(min=0.1 * j)
    return out * w[:, None]


def each_from_the_last(x, w):
    out = torch.zeros(5, 4) * w
    out[0] = x
    for i in range(1, 5):
        out[i] += out[i - 1] * 2.0 + w
    return out


def blocks_and_numbers(x, w):
    out = torch.zeros(6, 6)
    for i in range(3):
        out[2 * i : 2 * i + 2, 1:5] = x * w * float(i)
        out[i, 0] = w[i]
    out[1::2, ::3].mul_(3.0)
    out[4] = 2.0
    return out * out


def the_same_part_again(x, w):
    out = torch.ones(5, 4) * w
    part = out[1]
    before = part + x
    part.mul_(x)
    part.add_(w)
    after = part * 2.0
    return out, before, after


def the_whole_as_well(x, w):
    out = torch.zeros(4, 4)
    out[0] = x
    out.add_(w)
    out[1].mul_(x)
    out.mul_(x)
    return out


def inner_parts(x, w):
    out = torch.zeros(3, 4) * w
    out.t()[2, :2] = x[:2]
    out[1:][0][1:3].sub_(x[1:3])
    out.unsqueeze(0)[0, 2] = w
    return out


def chosen_places(x, w):
    out = torch.ones(4, 4) * w
    for i in range(4):
        out[i, x > 0.0] = x[x > 0.0]
    return out


def memory_like_another(x, w):
    out = torch.zeros_like(x)
    out.index_add_(0, torch.tensor([0, 2]), (x * w)[:2])
    rows = x.new_zeros(3, 4)
    rows[1] = out * w
    return rows


def places_written_before(x, w):
    places = torch.zeros(4, dtype=torch.long)
    places[0] = 2
    places.add_(1)
    return x[places] * w


PROGRAMS = [
    *(memory_like_another, places_written_before),
    *(scaled_rows, copied_rows, columns, each_from_the_last, blocks_and_numbers),
    *(the_same_part_again, the_whole_as_well, inner_parts, chosen_places),
]


def operands():
    torch.manual_seed(3)
    return [torch.randn(4).requires_grad_() for _ in range(2)]


def tensors(result):
    return list(result) if isinstance(result, tuple) else [result]


def total(result):
    return sum((each * each.cos()).sum() for each in tensors(result))


def warm(program):
    scripted = torch.jit.script(program)
    for _ in range(CALLS):
        given = operands()
        found = tensors(scripted(*given))
        found[0].requires_grad  # noqa: B018
    return found, given


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_gradients_are_those_of_the_operators(program):
    found, given = warm(program)
    assert all(isinstance(each._grad_node, CallNode) for each in found)
    own = operands()
    wanted = torch.autograd.grad(total(program(*own)), own)
    gradients = torch.autograd.grad(total(tuple(found)), given)
    for one, other in zip(gradients, wanted, strict=True):
        assert torch.equal(one, other) or torch.allclose(one, other, rtol=1e-6, atol=0)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_gradients_have_gradients(program):
    def second(result, given):
        first = torch.autograd.grad(total(result), given, create_graph=True)
        return torch.autograd.grad(sum((each * each).sum() for each in first), given)

    found, given = warm(program)
    own = operands()
    wanted = second(program(*own), own)
    for one, other in zip(second(tuple(found), given), wanted, strict=True):
        assert torch.allclose(one, other, rtol=1e-5, atol=1e-5)


def test_who_looks_sees_what_was_copied_to_parts():
    (found,), _ = warm(scaled_rows)
    node, names = found.grad_fn, []
    while node is not None:
        names.append(node.name())
        node = node.next_functions[0][0]
    assert names[:6] == [*["torch::autograd::CopySlices"] * 5, "MulBackward0"]


def last_part(x, w):
    out = torch.ones(3, 4) * w
    part = out[1]
    part.mul_(x)
    return part, out


def test_a_written_part_that_goes_out_is_a_view():
    (part, out), _ = warm(last_part)
    assert part._base is out
    assert part.grad_fn.name() == "AsStridedBackward0"
    with torch.no_grad():
        out.zero_()
    assert not part.any()


def places_written_after(x, w):
    places = torch.zeros(4, dtype=torch.long)
    before = x[places] * w
    places[0] = 1
    return before + x[places]


def mask_written_after(x, w):
    mask = torch.zeros(4, dtype=torch.bool)
    before = torch.where(mask, x, w)
    mask[0] = True
    return before + torch.where(mask, x, w)


@pytest.mark.parametrize("program", [places_written_after, mask_written_after])
def test_places_that_are_written_after_they_were_needed_are_refused(program):
    (found,), given = warm(program)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        torch.autograd.grad(found.sum(), given)


def needed_before(x, w):
    out = torch.ones(3, 4) * w
    squares = out * x
    out[0].add_(1.0)
    return out, squares


def needed_behind_a_cut(x, w):
    out = torch.ones(3, 4) * w
    cut = out.detach()
    squares = cut * x
    out.mul_(3.0)
    return out, squares


def needed_in_part_behind_a_cut(x, w):
    out = torch.ones(3, 4) * w
    cut = out[0].detach()
    squares = cut * x
    out[0].mul_(3.0)
    return out, squares


def needed_as_result(x, w):
    out = torch.ones(3, 4) * w
    for i in range(3):
        out[i].sigmoid_()
    return out, x


@pytest.mark.parametrize(
    "program",
    [needed_before, needed_behind_a_cut, needed_in_part_behind_a_cut, needed_as_result],
    ids=lambda p: p.__name__,
)
def test_what_was_needed_and_written_is_told_each_time(program):
    scripted = torch.jit.script(program)
    for _ in range(CALLS):
        result = scripted(*operands())
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            total(result).backward()


def other_view(x, w):
    out = torch.ones(3, 4) * w
    one, other = out[0], out[0]
    one.mul_(x)
    return out, other * 2.0


def other_key(x, w, i: int):
    out = torch.ones(3, 4) * w
    out[i] = x
    return out * out


def test_other_views_are_seen_as_they_are_now():
    found, given = warm(other_view)
    own = operands()
    wanted = torch.autograd.grad(total(other_view(*own)), own)
    for one, other in zip(torch.autograd.grad(total(tuple(found)), given), wanted, strict=True):
        assert torch.equal(one, other)


def test_another_key_is_another_call():
    scripted = torch.jit.script(other_key)
    for i in [0, 0, 0, 0, 1, 2, 0]:
        x, w = operands()
        scripted(x, w, i)[i].sum().backward()
        assert torch.equal(x.grad, 2 * x)
        assert not w.grad.any()


def many_rows(x, w):
    out = torch.zeros(110, 4)
    for i in range(110):
        x = torch.tanh(x * w + 0.25)
        out[i] = x
    return out


def test_long_loops_that_write_leave_one_node_once_it_pays():
    scripted = torch.jit.script(many_rows)
    x, w = operands()
    for _ in range(BEFORE_LONG):
        found = scripted(x, w)
        gradients = torch.autograd.grad(total(found), (x, w))
    assert isinstance(found._grad_node, CallNode)
    wanted = torch.autograd.grad(total(many_rows(x, w)), (x, w))
    for one, other in zip(gradients, wanted, strict=True):
        assert torch.allclose(one, other, rtol=1e-5, atol=1e-6)
