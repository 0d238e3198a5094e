"""Gradients of whole calls of scripted code: as those of the same code run operator by operator."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import rushlight as torch
from rushlight import nn
from rushlight.ops.gradients.calls.long_calls import parts_of
from rushlight.ops.gradients.calls.nodes import CallNode

F = nn.functional
CALLS = 6
"""Calls by which the node of a whole call is surely there."""


def chain(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    h = torch.tanh(F.linear(x, w, b))
    return torch.sigmoid(h * 2.0 + h * h) / (1.5 - h)


def several(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor):
    h = F.relu(F.linear(x, w, b))
    left, right = h.chunk(2, 1)
    return h, torch.cat([right, left * right], 1).sum(1), left.mean()


def views(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    h = torch.matmul(x, w.t()).view(2, -1, 4).transpose(0, 1)
    return h[1:, 0].exp() + h.permute(1, 0, 2)[0, 1:] * b


def rows(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    h = torch.zeros(4)
    found = []
    for row in x.unbind(0):
        h = torch.tanh(torch.mv(w, row) + h + b)
        found.append(h)
    return torch.stack(found)


def spread(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    h = torch.softmax(F.linear(x, w), -1) + F.layer_norm(x, [3]).sum(-1, keepdim=True)
    return torch.where(h > b, h, b * 0.1).clamp(max=1.0).log_softmax(0)


def bent(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    h = x.sigmoid()
    y = h.exp().log1p() + h.sin() * h.cos() / (h + 1.5) - h.sqrt().rsqrt() + h.erf().neg()
    y = torch.where(y > 0.4, y * y, y.abs() + 1.0) + F.gelu(x) + F.silu(x) * F.leaky_relu(x, 0.1)
    y = torch.maximum(y, h) + y.clamp(min=0.3) + F.softplus(x) + F.elu(x) + F.hardswish(x) + y**3
    y = y.masked_fill(x > 1.0, 0.5) + torch.pow(h, y.sigmoid()) + torch.atan2(x, h) + 2.0 / h
    return y * w.mean(0) + w[:1] * b.mean() - b.sum() + torch.lerp(x, h, 0.3) + w.select(0, 1)


def passed(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Operators that give what they were given, and views of that."""
    h = F.linear(x, w, b).t().contiguous().t()
    return F.dropout(h.t().contiguous(), 0.5, False).t() * h.contiguous()


def written(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Values made here are written in place, with and without a copy of what was there."""
    h = F.relu(F.linear(x, w, b), inplace=True) * 1.5
    h += b
    y = h * 2.0
    y.mul_(h).pow_(2).sigmoid_()
    found = torch.zeros(2, 4, dtype=x.dtype).index_add_(0, torch.tensor([0, 1, 1, 0, 1, 0]), y)
    return found.masked_fill_(found > 2.0, 0.5).view(-1) * 3.0


PROGRAMS = [chain, several, views, rows, spread, bent, passed, written]


def operands():
    torch.manual_seed(0)
    x, w, b = torch.randn(6, 3), torch.randn(4, 3), torch.randn(4)
    return [each.requires_grad_() for each in (x, w, b)]


def tensors(result):
    return list(result) if isinstance(result, (tuple, list)) else [result]


def total(result):
    return sum((each * each.detach().cos()).sum() for each in tensors(result))


def is_whole(tensor):
    """Whether a tensor came from the node of a whole call."""
    assert tensor.requires_grad
    return isinstance(tensor._grad_node, CallNode)


def warm(function, *args):
    for _ in range(CALLS):
        found = function(*args)
        tensors(found)[0].requires_grad  # noqa: B018
    return found


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_gradients_are_those_of_the_operators(program):
    scripted, given = torch.jit.script(program), operands()
    assert is_whole(tensors(warm(scripted, *given))[0])
    wanted = torch.autograd.grad(total(program(*given)), given)
    found = torch.autograd.grad(total(scripted(*given)), given)
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other)
    total(scripted(*given)).backward()
    for tensor, other in zip(given, wanted, strict=True):
        torch.testing.assert_close(tensor.grad, other)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
@pytest.mark.parametrize("which", range(3))
def test_gradients_for_some_arguments(program, which):
    scripted, given = torch.jit.script(program), operands()
    warm(scripted, *given)
    (wanted,) = torch.autograd.grad(total(program(*given)), given[which])
    (found,) = torch.autograd.grad(total(scripted(*given)), given[which])
    torch.testing.assert_close(found, wanted)
    given = [each.detach().requires_grad_(i == which) for i, each in enumerate(given)]
    warm(scripted, *given)
    (found,) = torch.autograd.grad(total(scripted(*given)), given[which])
    torch.testing.assert_close(found, wanted)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_gradients_have_gradients(program):
    scripted, given = torch.jit.script(program), operands()
    warm(scripted, *given)

    def second(function):
        first = torch.autograd.grad(total(function(*given)), given, create_graph=True)
        return torch.autograd.grad(sum((g * g).sum() for g in first), given)

    for one, other in zip(second(scripted), second(program), strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_nodes_of_single_operators_are_there_for_who_looks(program):
    scripted, given = torch.jit.script(program), operands()

    def names(node, found):
        found.append(node.name())
        for each, _ in node.next_functions:
            if each is not None:
                names(each, found)
        return found

    first = scripted(*given)
    warm(scripted, *given)
    made = scripted(*given)
    assert is_whole(tensors(made)[0])
    for one, other in zip(tensors(made), tensors(first), strict=True):
        assert names(one.grad_fn, []) == names(other.grad_fn, [])
        assert one.output_nr == other.output_nr
    for one, other in zip(
        torch.autograd.grad(total(made), given),
        torch.autograd.grad(total(first), given),
        strict=True,
    ):
        torch.testing.assert_close(one, other)


def test_hooks_hear_of_what_goes_out_and_of_single_operators():
    scripted, given = torch.jit.script(several), operands()
    warm(scripted, *given)
    heard = []
    for function in (several, scripted):
        made = function(*given)
        made[0].register_hook(lambda grad: heard.append(grad))
        made[0].retain_grad()
        made[1].grad_fn.register_hook(lambda after, before: heard.append(before[0]))
        made[2].register_hook(lambda grad: grad * 2)
        heard.append(torch.autograd.grad(total(made), given)[0])
        total(function(*given)).backward(inputs=[given[0]])
        heard.append(given[0].grad)
        given[0].grad = None
    half = len(heard) // 2
    for one, other in zip(heard[half:], heard[:half], strict=True):
        torch.testing.assert_close(one, other)


def test_calls_that_are_always_looked_behind_leave_single_nodes():
    def bent(x: torch.Tensor):
        return torch.tanh(x) * x

    scripted, given = torch.jit.script(bent), operands()
    for _ in range(30):
        made = scripted(given[0])
        assert made.grad_fn.name() == "MulBackward0"
    assert not is_whole(scripted(given[0]))
    (first,) = torch.autograd.grad(made.sum(), given[0])
    (wanted,) = torch.autograd.grad(bent(given[0]).sum(), given[0])
    torch.testing.assert_close(first, wanted)


def gradients(function, given, order):
    made = total(function(*given))
    for _ in range(order - 1):
        found = torch.autograd.grad(made, given, create_graph=True)
        made = sum((each * each).sum() for each in found)
    return torch.autograd.grad(made, given)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
@pytest.mark.parametrize("order", [2, 3])
def test_gradients_of_gradients_are_calls(program, order):
    scripted = torch.jit.script(program)
    for turn in range(CALLS + 5):
        torch.manual_seed(turn)
        given = [torch.randn_like(each).double().requires_grad_() for each in operands()]
        pairs = zip(
            gradients(scripted, given, order), gradients(program, given, order), strict=True
        )
        for one, other in pairs:
            torch.testing.assert_close(one, other)
    made = warm(scripted, *given)
    (first,) = torch.autograd.grad(total(made), given[0], create_graph=True)
    assert is_whole(tensors(made)[0])
    assert not tensors(made)[0]._grad_node.is_open or program is bent
    assert first.requires_grad


def test_gradients_that_were_given_come_back_themselves():
    @torch.jit.script
    def joined(x: torch.Tensor, y: torch.Tensor):
        z = x + y
        return z + x * y

    for _ in range(CALLS + 5):
        x, y = (torch.randn(3, requires_grad=True) for _ in range(2))
        g = torch.randn(3, requires_grad=True)
        one, other = torch.autograd.grad(joined(x, y), (x, y), g, create_graph=True)
        (found,) = torch.autograd.grad((one * one).sum(), g)
        torch.testing.assert_close(found, 2 * g * (1 + y) ** 2)
        torch.testing.assert_close(other, g * (1 + x))
    assert is_whole(one)


def differentiated(function, given):
    """What comes of a call whose gradients were differentiated often before, and its gradients."""
    for _ in range(CALLS + 5):
        made = function(*given)
        (first,) = torch.autograd.grad(tensors(made)[0].sum(), given[0], create_graph=True)
    return made, first


def bowed(x: torch.Tensor, w: torch.Tensor):
    h = torch.tanh(x * w)
    return h, h * h.exp()


def bowed_operands():
    torch.manual_seed(3)
    return [torch.randn(4, requires_grad=True) for _ in range(2)]


def test_results_of_a_call_are_on_the_way_of_its_gradients():
    found = []
    for function in (bowed, torch.jit.script(bowed)):
        (h, _), first = differentiated(function, bowed_operands())
        found.append(torch.autograd.grad(first.sum(), h)[0])
    torch.testing.assert_close(found[1], found[0])
    assert found[0].abs().sum() > 0


def test_hooks_hear_of_gradients_of_gradients():
    heard = []
    for function in (bowed, torch.jit.script(bowed)):
        given = bowed_operands()
        (h, _), first = differentiated(function, given)
        h.register_hook(heard.append)
        h.retain_grad()
        first.sum().backward()
        heard += [h.grad, given[0].grad, given[1].grad]
    assert len(heard) == 8
    for one, other in zip(heard[4:], heard[:4], strict=True):
        torch.testing.assert_close(one, other)


def test_gradients_of_calls_have_nodes_of_single_operators():
    def names(tensor):
        found, pending = [], [tensor.grad_fn]
        while pending:
            node = pending.pop(0)
            found.append(node.name())
            pending += [each for each, _ in node.next_functions if each is not None]
        return sorted(set(found))

    wanted = names(differentiated(bowed, bowed_operands())[1])
    (made, _), first = differentiated(torch.jit.script(bowed), bowed_operands())
    assert is_whole(first)
    assert is_whole(made)
    assert set(names(first)) == set(wanted)


@pytest.mark.parametrize("early", [True, False])
def test_writing_what_gradients_of_gradients_keep_is_noticed(early):
    given = bowed_operands()
    scripted = torch.jit.script(bowed)
    differentiated(scripted, given)
    h, made = scripted(*given)
    if early:
        h.detach().mul_(2)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            torch.autograd.grad(made.sum(), given[0], create_graph=True)
        return
    (first,) = torch.autograd.grad(made.sum(), given[0], create_graph=True)
    assert first.requires_grad
    h.detach().mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        first.sum().backward()


def test_gradients_of_gradients_without_a_second_walk():
    given = bowed_operands()
    scripted = torch.jit.script(bowed)
    _, first = differentiated(scripted, given)
    first.sum().backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        first.sum().backward()
    h, _ = scripted(*given)
    (first,) = torch.autograd.grad(h.sum(), given[0], create_graph=True, retain_graph=False)
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        first.sum().backward()


def test_gradients_for_what_went_out_on_the_way():
    scripted, given = torch.jit.script(several), operands()
    warm(scripted, *given)
    found = []
    for function in (several, scripted):
        h, sums, mean = function(*given)
        found.append(torch.autograd.grad(sums.sum() + 3 * mean, h)[0])
    torch.testing.assert_close(found[1], found[0])
    assert found[1].abs().sum() > 0


def test_a_second_walk_is_refused_and_can_be_asked_for():
    scripted, given = torch.jit.script(chain), operands()
    made = warm(scripted, *given)
    made.sum().backward(retain_graph=True)
    once = given[1].grad.clone()
    made.sum().backward()
    torch.testing.assert_close(given[1].grad, once * 2)
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        made.sum().backward()
    assert made.grad_fn.name() == "DivBackward0"
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        made.sum().backward()


def test_what_keeps_nothing_can_be_walked_twice():
    @torch.jit.script
    def shifted(x: torch.Tensor, y: torch.Tensor):
        return (x + y).neg()

    x, y = torch.randn(3, requires_grad=True), torch.randn(3)
    made = warm(shifted, x, y)
    assert is_whole(made)
    made.sum().backward()
    made.sum().backward()
    assert x.grad.tolist() == [-2.0] * 3


@pytest.mark.parametrize("which", ["argument", "result"])
def test_writing_what_is_kept_is_noticed(which):
    @torch.jit.script
    def scaled(x: torch.Tensor, y: torch.Tensor):
        return (x * y).exp()

    x, y = torch.randn(3, requires_grad=True), torch.randn(3)
    made = warm(scaled, x, y)
    assert is_whole(made)
    total = made.sum()
    with torch.no_grad():
        (y if which == "argument" else made).mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        total.backward()


def test_what_is_not_kept_may_be_written():
    @torch.jit.script
    def shifted(x: torch.Tensor, y: torch.Tensor):
        return (x + y) * 3.0

    x, y = torch.randn(3, requires_grad=True), torch.randn(3)
    made = warm(shifted, x, y)
    y.zero_()
    made.sum().backward()
    assert x.grad.tolist() == [3.0] * 3


def test_views_that_go_out_are_views():
    @torch.jit.script
    def turned(x: torch.Tensor):
        return (x * 2).view(2, 3).t()

    x = torch.randn(6, requires_grad=True)
    made = warm(turned, x)
    assert is_whole(made)
    assert made._is_view()
    assert made._base.shape == (6,)
    made.mul_(3)
    made.sum().backward()
    assert x.grad.tolist() == [6.0] * 6


def test_parts_that_go_out_may_not_be_written():
    @torch.jit.script
    def halves(x: torch.Tensor):
        return (x * 2).chunk(2)

    x = torch.randn(6, requires_grad=True)
    _, other = warm(halves, x)
    assert is_whole(other)
    with pytest.raises(RuntimeError, match="Output 1 of Split"):
        other.mul_(2)


def test_results_may_be_written_afterwards():
    scripted, given = torch.jit.script(chain), operands()
    warm(scripted, *given)
    made = scripted(*given).add_(1).mul_(2)
    other = chain(*given).add(1).mul(2)
    for one, wanted in zip(
        torch.autograd.grad(made.sum(), given),
        torch.autograd.grad(other.sum(), given),
        strict=True,
    ):
        torch.testing.assert_close(one, wanted)


def test_code_that_counts_what_it_does_has_one_node():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = nn.BatchNorm1d(3)
            self.last = nn.Linear(3, 2)

        def forward(self, x):
            return self.last(torch.relu(self.norm(x)))

    torch.manual_seed(1)
    plain = Net()
    scripted = torch.jit.script(Net())
    scripted.load_state_dict(plain.state_dict())
    x = torch.randn(5, 3)
    for _ in range(CALLS):
        one, other = scripted(x), plain(x)
        one.square().sum().backward()
        other.square().sum().backward()
        whole = is_whole(one)
    assert whole
    for mine, theirs in zip(scripted.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(mine.grad, theirs.grad)
    torch.testing.assert_close(scripted.norm.running_var, plain.norm.running_var)


def test_other_sizes_and_ways_are_other_calls():
    @torch.jit.script
    def turned(x: torch.Tensor, w: torch.Tensor, times: int):
        for _ in range(times):
            x = torch.tanh(x @ w)
        return x * x if times > 2 else x + x

    for size in (2, 3, 4):
        w = torch.randn(size, size, requires_grad=True)
        for times in (1, 2, 3) * 4:
            x = torch.randn(5, size)
            turned(x, w, times).sum().backward()
            found, w.grad = w.grad, None
            y = x
            for _ in range(times):
                y = torch.tanh(y @ w)
            (wanted,) = torch.autograd.grad((y * y if times > 2 else y + y).sum(), w)
            torch.testing.assert_close(found, wanted)


def test_memory_is_given_back():
    scripted, given = torch.jit.script(chain), operands()
    warm(scripted, *given)
    made = scripted(*given)
    assert is_whole(made)
    kept = [weakref.ref(array) for array in made._grad_node._values]
    made.sum().backward()
    gc.collect()
    alive = [each() for each in kept if each() is not None]
    assert all(any(a is t._array for t in (*given, made)) for a in alive)


def test_who_packs_what_is_kept_hears_of_single_operators():
    scripted, given = torch.jit.script(chain), operands()
    warm(scripted, *given)
    packed = []

    def pack(tensor):
        packed.append(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        made = scripted(*given)
        assert not is_whole(made)
    assert packed


@pytest.mark.filterwarnings("ignore:Anomaly Detection", "ignore:Error detected in")
def test_a_nan_is_found_where_it_was_made():
    @torch.jit.script
    def rooted(x: torch.Tensor):
        return (x * 0.0).sqrt() * 2.0 * x

    x = torch.zeros(3, requires_grad=True)
    made = warm(rooted, x)
    assert is_whole(made)
    with (
        pytest.raises(RuntimeError, match="Function 'SqrtBackward0' returned nan"),
        torch.autograd.detect_anomaly(),
    ):
        made.sum().backward()


def test_sixteen_bits():
    @torch.jit.script
    def mixed(x: torch.Tensor, w: torch.Tensor):
        return torch.relu(x.to(torch.bfloat16) @ w.to(torch.bfloat16)).float()

    x, w = torch.randn(4, 3), torch.randn(3, 2, requires_grad=True)
    assert is_whole(warm(mixed, x, w))
    (found,) = torch.autograd.grad(mixed(x, w).sum(), w)
    wide = torch.relu(x.to(torch.bfloat16) @ w.to(torch.bfloat16)).float()
    (wanted,) = torch.autograd.grad(wide.sum(), w)
    assert found.dtype == torch.float32
    np.testing.assert_array_equal(found.numpy(), wanted.numpy())


def lost(x: torch.Tensor) -> torch.Tensor:
    y = x.exp()
    y.add_(1.0)
    return y * x


def lost_for_another(x: torch.Tensor) -> torch.Tensor:
    y = x * 2.0
    z = y * y
    y.mul_(x)
    return z + y


def lost_unheard(x: torch.Tensor) -> torch.Tensor:
    y = x.exp()
    with torch.no_grad():
        y.add_(1.0)
    return y * x


@pytest.mark.parametrize("function", [lost, lost_for_another, lost_unheard])
def test_what_was_needed_and_written_is_told(function) -> None:
    scripted = torch.jit.script(function)
    for _ in range(CALLS):
        x = torch.ones(3, requires_grad=True)
        with pytest.raises(RuntimeError, match="has been modified by an inplace operation"):
            scripted(x).sum().backward()


def seen_by_a_view(x: torch.Tensor) -> torch.Tensor:
    y = x * 2.0
    z = y.view(-1)
    y.add_(1.0)
    return z * 2.0


def of_another_dtype(x: torch.Tensor) -> torch.Tensor:
    y = x * 2.0
    y.add_(torch.ones(1, dtype=torch.float64))
    return y * y


def kept_outside(x: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        mean = torch.zeros(3)
        mean.add_(x)
    return x * mean


@pytest.mark.parametrize("function", [seen_by_a_view, of_another_dtype, kept_outside])
def test_writes_that_others_see(function) -> None:
    scripted = torch.jit.script(function)
    for _ in range(CALLS):
        found = []
        for each in (function, scripted):
            x = torch.arange(3.0, requires_grad=True)
            each(x).sum().backward()
            found.append(x.grad.tolist())
        assert found[0] == found[1]


def test_long_loops_are_known_by_their_rounds():
    def filtered(
        z: torch.Tensor, w: torch.Tensor, rounds: int
    ) -> tuple[torch.Tensor, torch.Tensor]:
        h = torch.zeros(3)
        total = torch.zeros(())
        seen: list[torch.Tensor] = []
        for i in range(rounds):
            u = torch.mv(w, h) + z[i]
            h = torch.tanh(u) * 0.5 + h.sigmoid() * u.exp().log1p()
            total = total + (h - z[i]).pow(2).mean().sqrt() + (w @ w).diagonal().sum() * 0.01
            seen.append(h)
        return torch.stack(seen), total

    z, w = torch.linspace(-1, 1, 360).view(120, 3), torch.linspace(-0.3, 0.4, 9).view(3, 3)
    scripted = torch.jit.script(filtered)
    for rounds in (60, 60, 60, 60, 75, 118, 61):
        found = []
        for function in (filtered, scripted):
            own = w.clone().requires_grad_()
            made, total = function(z, own, rounds)
            found.append(torch.autograd.grad((made * made).sum() + total, own)[0])
        torch.testing.assert_close(found[1], found[0], rtol=1e-5, atol=1e-6)
    assert isinstance(total._grad_node, CallNode)
    nodes, behind = set[object](), [total._grad_node]
    while behind:
        node = behind.pop()
        if node not in nodes:
            nodes.add(node)
            behind += [edge[0] for edge in node.edges if edge is not None]
    assert sum(type(node) is CallNode for node in nodes) * 4 > len(nodes)
    assert total.grad_fn.name() == "AddBackward0"


def test_parts_of_long_calls():
    kinds = [9, 8, *[1, 2, 3, 2] * 150, 7, 6]
    parts = parts_of(kinds)
    assert [begin for begin, _ in parts] == [0, *[end for _, end in parts[:-1]]]
    assert parts[-1][1] == len(kinds)
    assert {tuple(kinds[begin:end]) for begin, end in parts[1:5]} == {(1, 2, 3, 2) * 32}
    other = parts_of([5, *range(100, 1100)])
    assert sum(end - begin for begin, end in other) == 1001
    assert max(end - begin for begin, end in other) <= 128
