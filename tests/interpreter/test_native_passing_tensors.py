"""Functions that put tensors into containers, take them out, join them and make views of them are
native as wholes: what comes out is what went in, views share its memory, and one tensor is one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

import rushlight as torch
from rushlight.interpreter.native.native import is_native_possible
from rushlight.interpreter.running.invoking import tiers_of
from tests.interpreter.test_islands import fresh

pytestmark = pytest.mark.skipif(not is_native_possible(), reason="there is no native code here")

Tensor = torch.Tensor


class Track(NamedTuple):
    name: str
    box: Tensor


def by_name(names: list[str], xs: list[Tensor]) -> dict[str, list[Tensor]]:
    found: dict[str, list[Tensor]] = {}
    for i, x in enumerate(xs):
        name = names[i % len(names)]
        if name not in found:
            none: list[Tensor] = []
            found[name] = none
        found[name].append(x)
    return found


def padded(xs: list[Tensor]) -> tuple[Tensor, Tensor, list[Tensor]]:
    longest = 0
    for x in xs:
        longest = max(longest, x.size(0))
    rows: list[Tensor] = []
    sizes: list[int] = []
    for x in xs:
        rows.append(torch.cat([x, torch.zeros(longest - x.size(0))]))
        sizes.append(x.size(0))
    return torch.stack(rows), torch.tensor(sizes), rows


def first_of(xs: list[Tensor], found: Tensor | None) -> tuple[Tensor, int]:
    changes = 0
    for x in xs:
        if found is None:
            changes += 1
            found = x
    assert found is not None
    return found, changes


def views(xs: list[Tensor]) -> list[Tensor]:
    found: list[Tensor] = []
    for x in xs:
        found.append(x.t())
        found.append(x.transpose(0, -1))
        found.append(x.permute([1, 0]))
        found.append(x[0])
        found.append(x[:, 1:])
        found.append(x[1, 0])
        found.append(x.view(-1))
        found.append(x.unsqueeze(1).squeeze(1))
        found += x.unbind(1)
    return found


def rows_of(xs: list[Tensor], fill: float, n: int) -> list[Tensor]:
    out = torch.full([len(xs), n], fill)
    for i, x in enumerate(xs):
        out[i, : x.size(0)] = x
    return [out, torch.full([n], n), torch.full([1, n], n > 1)]


def views_twice(xs: list[Tensor], n: int) -> tuple[list[Tensor], Tensor, Tensor, Tensor]:
    found: list[Tensor] = []
    a = xs[0]
    for _ in range(n):
        a = a[0:1]
        found.append(a)
        found.append(xs[0][0:1])
        found.append(a)
    return found, a, xs[-1].t(), xs[-1]


def views_of_own(n: int) -> tuple[Tensor, list[Tensor], Tensor]:
    made = torch.zeros([n, 3])
    parts: list[Tensor] = []
    for i in range(n):
        made[i, 0] = i
        parts.append(made[i])
    return made, parts, made


def joined(xs: list[Tensor], dim: int) -> tuple[Tensor, Tensor]:
    for _ in range(len(xs)):
        xs = xs[1:] + xs[:1]
    return torch.cat(xs, dim), torch.stack(xs, dim)


def scaled(batch: dict[str, Tensor], mask: Tensor) -> dict[str, Tensor]:
    found: dict[str, Tensor] = {}
    for name, value in batch.items():
        found[name] = value * mask.unsqueeze(1) if value.dim() == 2 else value * mask
    return found


def tracks(xs: list[Tensor], before: list[Track]) -> tuple[list[Track], Tensor | None]:
    found: list[Track] = []
    for i, x in enumerate(xs):
        found.append(Track(str(i), x))
    for each in before:
        found.append(each)
    last = found[-1].box if len(found) > 2 else None
    return found, last


def wide(n: int) -> list[Tensor]:
    return [torch.arange(12.0).reshape(3, 4) + i for i in range(n)]


PARAMETER = torch.nn.Parameter(torch.arange(3.0), requires_grad=False)
TWICE = torch.ones(3)
CALLS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (by_name, (["a", "b"], [torch.ones(2), TWICE, PARAMETER, TWICE, torch.tensor(3)])),
    (by_name, (["a"], [torch.ones(2).bfloat16(), torch.ones(1, dtype=torch.complex64)])),
    (padded, ([torch.arange(3.0), torch.arange(5.0), torch.arange(2.0)],)),
    (padded, ([torch.arange(8.0)[::2], torch.arange(6.0).view(2, 3)[:, 0]],)),
    (padded, ([torch.arange(3.0).double()],)),
    (views, (wide(2),)),
    (views, ([each.t() for each in wide(2)],)),
    (views, ([wide(1)[0][::2, ::3], torch.zeros(2, 0), torch.ones(3, 3).half()],)),
    (views, ([torch.tensor([[1, 2], [3, 4]]), torch.tensor([[True], [False]]).expand(2, 3)],)),
    (rows_of, ([torch.ones(2), torch.arange(3.0)], -0.1, 3)),
    (rows_of, ([torch.ones(2)], float("nan"), 2)),
    (rows_of, ([torch.ones(2)], 1e300, 3)),
    (views_twice, (wide(2), 2)),
    (views_twice, (wide(1), 0)),
    (views_of_own, (4,)),
    (views_of_own, (0,)),
    (joined, (wide(3), 0)),
    (joined, (wide(3), 1)),
    (joined, (wide(3), -1)),
    (joined, ([each.t() for each in wide(3)], -2)),
    (joined, ([torch.tensor([1, 2]), torch.tensor([3, 4])], 0)),
    (joined, ([torch.tensor([1.0]), torch.tensor([2])], 0)),
    (joined, ([torch.tensor(1.0), torch.tensor(2.0)], 0)),
    (joined, ([torch.zeros(0), torch.zeros(0)], 0)),
    (joined, ([torch.ones(2, 3, 4)[:, :, ::2], torch.zeros(2, 3, 2)], 2)),
    (joined, ([torch.ones(1, 2, 3, 4), torch.zeros(1, 2, 3, 4)], 1)),
    (joined, ([torch.ones(2), torch.ones(3)], 0)),
    (joined, ([torch.ones(200, 200), torch.ones(200, 200)], 0)),
    (scaled, ({"a": torch.ones(3, 2), "b": torch.arange(3.0)}, torch.arange(3.0))),
    (scaled, ({"a": torch.ones(3, 2), "b": torch.arange(3)}, torch.arange(3.0))),
    (tracks, ([TWICE, torch.ones(1)], [Track("x", TWICE)])),
    (tracks, ([], [Track("x", PARAMETER)])),
    (first_of, ([TWICE, torch.ones(1)], None)),
    (first_of, ([TWICE], torch.ones(1))),
]


def tensors_in(value: Any) -> list[Tensor]:
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [x for each in value or () for x in tensors_in(each)] if _holds(value) else []


def _holds(value: Any) -> bool:
    return isinstance(value, (list, tuple))


def told(call: Callable[..., Any], given: tuple[Any, ...]) -> list[Any]:
    """What a call gives: its text, how tensors lie, which are given ones or each other, and what
    they share."""
    try:
        result = call(*given)
    except RuntimeError as error:
        return [str(error)]
    mine, theirs = tensors_in(given), tensors_in(result)
    found: list[Any] = [str(result), type(result)]
    for x in theirs:
        found.append((x.dtype, x.shape, x.stride(), x.storage_offset(), type(x), x.requires_grad))
        found.append(([x is each for each in mine], [x is each for each in theirs]))
        place = x.untyped_storage().data_ptr()
        found.append([place == each.untyped_storage().data_ptr() for each in (*mine, *theirs)])
        found.append(x.untyped_storage().nbytes())
    return found


@pytest.mark.parametrize(("function", "given"), CALLS)
def test_what_comes_out_is_what_lines_give(
    function: Callable[..., Any], given: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "off")
    wanted = told(torch.jit.script(fresh(function)), given)
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "now")
    scripted = torch.jit.script(fresh(function))
    assert told(scripted, given) == wanted
    assert (
        told(lambda *each: scripted(*each[:-1], **{last_of(function): each[-1]}), given) == wanted
    )
    for _ in range(40):  # as one Python function, in the end
        assert told(scripted, given) == wanted


def last_of(function: Callable[..., Any]) -> str:
    return function.__code__.co_varnames[function.__code__.co_argcount - 1]


def ready(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "now")
    return torch.jit.script(fresh(function))


@pytest.mark.parametrize(
    ("function", "given"), [CALLS[n] for n in (0, 2, 5, 9, 12, 14, 16, 28, 30)]
)
def test_they_are_native(
    function: Callable[..., Any], given: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted = ready(function, monkeypatch)
    scripted(*given)
    way = tiers_of(scripted._rushlight_function).way()
    assert way.tier == "native"
    assert way.executable.native is not None
    assert way.executable.native._straight_misses == 0


def test_tensors_that_want_gradients_have_them(monkeypatch: pytest.MonkeyPatch) -> None:
    scripted = ready(joined, monkeypatch)
    x = torch.ones(2, requires_grad=True)
    for _ in range(40):
        scripted([torch.ones(2), torch.ones(2)], 0)
        cat, stack = scripted([x, x * 2], 0)
        (cat.sum() + stack.sum()).backward()
    assert x.grad.tolist() == [240.0, 240.0]
    with torch.no_grad():
        assert not scripted([x, x], 0)[0].requires_grad


def test_views_write_to_what_was_given(monkeypatch: pytest.MonkeyPatch) -> None:
    scripted = ready(views, monkeypatch)
    for _ in range(40):
        x = torch.zeros(3, 4)
        found = scripted([x])
        version = x._version
        found[3] += 1
        found[-1][0] = 7
        assert x.tolist()[0] == [1.0, 1.0, 1.0, 7.0]
        assert x._version > version


def test_what_was_made_is_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    scripted = ready(views_of_own, monkeypatch)
    for _ in range(40):
        whole, parts, again = scripted(3)
        parts[1][2] = 5
        assert whole is again
        assert whole[1].tolist() == [1.0, 0.0, 5.0]


class Marked(torch.Tensor):
    pass


def test_classes_of_tensors_are_asked_as_always(monkeypatch: pytest.MonkeyPatch) -> None:
    scripted = ready(by_name, monkeypatch)
    marked = torch.ones(2).as_subclass(Marked)
    for _ in range(40):
        assert scripted(["a"], [marked])["a"][0] is marked
        assert scripted(["a"], [torch.ones(2, device="meta")])["a"][0].is_meta


def filled(x: Tensor, out: Tensor) -> list[Tensor]:
    found: list[Tensor] = []
    for i in range(x.size(0)):
        out[i] = float(x[i]) + 1.0
        found.append(x)
    return found


def test_what_writes_to_what_it_is_given_is_left_to_islands(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scripted = ready(filled, monkeypatch)
    x, out = torch.arange(3.0), torch.zeros(3)
    version = out._version
    for _ in range(40):
        assert scripted(x, out)[2] is x
    assert (out.tolist(), out._version > version) == ([1.0, 2.0, 3.0], True)
    native = tiers_of(scripted._rushlight_function).way().executable.native
    assert "islands" in native.refusal
