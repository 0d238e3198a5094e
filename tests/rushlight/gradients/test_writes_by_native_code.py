"""Calls that write their first argument, recorded by native code once they have come often: all
such calls give what the first one gave, which Python recorded, errors too."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import rushlight as torch
from rushlight import Tensor

OFTEN = 80
"""Calls after which native code records them."""


def seen(program: Callable[[Tensor], Tensor]) -> object:
    """The gradients of what a program makes of a leaf, and those of their squares; or the error."""
    leaf = torch.tensor([0.5, -1.0, 2.0], requires_grad=True)
    try:
        made = program(leaf)
        (first,) = torch.autograd.grad(made.pow(2).sum(), leaf, create_graph=True)
        (second,) = torch.autograd.grad(first.pow(2).sum(), leaf)
        return made.tolist(), first.tolist(), second.tolist(), names_behind(made)
    except RuntimeError as error:
        return str(error)


def names_behind(made: Tensor) -> list[str]:
    """The names of the nodes behind a tensor, the first ways first."""
    names, waiting = [], [made.grad_fn]
    while waiting:
        node = waiting.pop(0)
        if node is not None:
            names.append(node.name())
            waiting += [each for each, _ in node.next_functions]
    return names


def scaled(leaf: Tensor) -> Tensor:
    out = leaf * torch.ones(4, 1)
    for place in range(4):
        out[place].mul_(place + 2.0)
    return out


def added(leaf: Tensor) -> Tensor:
    out = torch.zeros(4, 3)
    for place in range(4):
        out[place].add_(leaf * place)
    return out


def reads_what_was(leaf: Tensor) -> Tensor:
    out = leaf * torch.ones(2, 1)
    for place in range(2):
        out[place].sin_()
        out[:, place].clamp_(min=0.1)
    return out


def reads_what_comes(leaf: Tensor) -> Tensor:
    out = leaf * torch.ones(2, 1)
    for place in range(2):
        out[place].tanh_()
    return out.sigmoid_()


def reads_two(leaf: Tensor) -> Tensor:
    out = leaf * 2.0
    factor = leaf * 3.0
    out.mul_(factor)
    out[1:].mul_(factor[1:])
    return out


def reads_itself(leaf: Tensor) -> Tensor:
    out = leaf * 2.0
    out[:2].mul_(out[1:])
    return out


def other_views_follow(leaf: Tensor) -> Tensor:
    out = leaf * 2.0
    before = out[1:]
    out[:2].mul_(3.0)
    return before * out[1:].add_(leaf[:2])


def of_a_view_of_a_view(leaf: Tensor) -> Tensor:
    out = (leaf * 2.0).reshape(1, 3)
    out[0][1:].mul_(4.0)
    return out


def turned(leaf: Tensor) -> Tensor:
    out = (leaf * torch.ones(2, 1)).t()
    out[1].mul_(4.0)
    out.t()[1].exp_()
    return out


def by_places(leaf: Tensor) -> Tensor:
    out = torch.zeros(4, 3) * leaf
    for place in range(3):
        out[torch.tensor([place, place + 1])] = leaf * place
    out[torch.tensor([0, 0])] += leaf
    return out


def by_masks(leaf: Tensor) -> Tensor:
    out = torch.ones(4, 3) * leaf
    out[torch.tensor([True, False, True, False])] = leaf * 2.0
    out[1:][leaf > 0.0, 1] = 5.0
    out[torch.tensor([True, False, True, False]), 1:] = leaf[1:]
    return out


def places_are_written_later(leaf: Tensor) -> Tensor:
    out, places = leaf * 2.0, torch.tensor([0, 2])
    out[places] = leaf[1:] * 3.0
    places.fill_(1)
    return out


def a_leaf(leaf: Tensor) -> Tensor:
    return leaf.mul_(2.0)


def part_of_a_leaf(leaf: Tensor) -> Tensor:
    return leaf[1].mul_(2.0)


def one_of_several(leaf: Tensor) -> Tensor:
    return (leaf * 2.0).unbind(0)[1].mul_(2.0)


def without_gradients(leaf: Tensor) -> Tensor:
    out = leaf * 2.0
    with torch.no_grad():
        part = out[1:]
    return part.mul_(2.0)


def kept_then_written(leaf: Tensor) -> Tensor:
    out = leaf * 2.0
    kept = out.exp()
    kept[1].mul_(2.0)
    return out + kept


def kept_gradient(leaf: Tensor) -> Tensor:
    out = leaf * 2.0
    out.retain_grad()
    out[1].mul_(2.0)
    out.sum().backward(retain_graph=True)
    gradient = out.grad
    assert gradient is not None
    leaf.grad = None
    return out * gradient


PROGRAMS = [
    *(scaled, added, reads_what_was, reads_what_comes, reads_two, reads_itself, turned),
    *(other_views_follow, of_a_view_of_a_view, by_places, by_masks, places_are_written_later),
    *(a_leaf, part_of_a_leaf, one_of_several, without_gradients, kept_then_written, kept_gradient),
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: str(program.__name__))
def test_every_call_gives_what_the_first_one_gave(program: Callable[[Tensor], Tensor]) -> None:
    first = seen(program)
    for _ in range(OFTEN):
        assert seen(program) == first


SCRIPTED = [
    *(scaled, added, reads_what_was, reads_what_comes, reads_two, reads_itself, turned),
    *(other_views_follow, of_a_view_of_a_view, by_places, by_masks, places_are_written_later),
    *(a_leaf, part_of_a_leaf, kept_then_written),
]


@pytest.mark.parametrize("program", SCRIPTED, ids=lambda program: str(program.__name__))
def test_scripts_give_the_same(program: Callable[[Tensor], Tensor]) -> None:
    wanted, scripted = seen(program), torch.jit.script(program)
    for _ in range(OFTEN):
        found = seen(scripted)
        if isinstance(wanted, str):
            assert isinstance(found, str)
            assert wanted.partition(":")[0] in found
        else:
            assert isinstance(found, tuple)
            assert isinstance(wanted, tuple)
            assert found[:3] == wanted[:3]


def test_writes_are_counted() -> None:
    out = torch.ones(2, requires_grad=True) * 2.0
    for count in range(OFTEN):
        assert out._version == count
        out[0].mul_(1.0)


def test_the_whole_is_copied_only_where_gradients_change() -> None:
    leaf = torch.ones(3, requires_grad=True)
    out = leaf * 2.0
    for _ in range(OFTEN):
        out[1].add_(1.0)
    out[2].mul_(3.0)
    gradient = torch.ones(3)
    out.backward(gradient)
    assert leaf.grad is not None
    assert (leaf.grad.tolist(), gradient.tolist()) == ([2.0, 2.0, 6.0], [1.0, 1.0, 1.0])


def leading_ones(leaf: Tensor) -> Tensor:
    out = torch.zeros(3, 3) * leaf
    out[torch.tensor([0, 2])] = leaf.reshape(1, 1, 3)
    out[torch.tensor([True, False, True])] = torch.ones(1, 1, 2, 3) * leaf
    return out


def the_same_for_all(leaf: Tensor) -> Tensor:
    out = torch.ones(4, 3) * leaf
    out[torch.tensor([0, 3])] = leaf * 2.0
    out[torch.tensor([[0, 1], [1, 0]])] = leaf * 3.0
    out[torch.tensor([True, False, True, False])] = leaf * 4.0
    out[leaf.detach().expand(4, 3) > 1.0] = 5.0
    out[torch.tensor([False] * 4)] = leaf[0]
    out[torch.tensor([], dtype=torch.int64)] = leaf[:1]
    return out


@pytest.mark.parametrize("program", [leading_ones, the_same_for_all])
def test_values_are_spread_over_places(program: Callable[[Tensor], Tensor]) -> None:
    first = seen(program)
    assert isinstance(first, tuple)
    plain = program(torch.tensor([0.5, -1.0, 2.0]))
    assert first[0] == plain.tolist()
    for _ in range(OFTEN):
        assert seen(program) == first
        assert program(torch.tensor([0.5, -1.0, 2.0])).equal(plain)


def test_values_that_do_not_fit_are_refused_early_and_late() -> None:
    out, mask = torch.zeros(3, 4), torch.tensor([True, False, True])
    said = r"shape mismatch: value tensor of shape \[3\] cannot be broadcast to indexing result of"
    for _ in range(OFTEN):
        out[mask] = torch.ones(4)
        out[mask] = 1.0
        with pytest.raises(RuntimeError, match=said):
            out[mask] = torch.ones(3)
    assert out.tolist() == [[1.0] * 4, [0.0] * 4, [1.0] * 4]


def test_what_a_mask_chose_has_gradients_among_zeros() -> None:
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    mask = torch.tensor([[True, False, True], [False, True, False]])
    x[mask].mul(torch.tensor([1.0, 2.0, -0.0])).sum().backward()
    assert str(x.grad) == str(torch.tensor([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0]]))
