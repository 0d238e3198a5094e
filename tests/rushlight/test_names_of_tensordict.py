"""Private names with which packages put their containers into `vmap`, batches and contexts."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

import rushlight as torch
from rushlight._C import _functorch
from rushlight._functorch import vmap as steps
from rushlight.utils._contextlib import _DecoratorContextManager
from rushlight.utils.data import default_collate
from rushlight.utils.data._utils import collate
from rushlight.utils.data._utils.worker import _generate_state


def test_what_a_tensor_is_inside_vmap() -> None:
    seen = []

    def function(x: Any) -> Any:
        levels = _functorch.maybe_get_level(x), _functorch.maybe_get_bdim(x)
        seen.append((levels, _functorch.is_batchedtensor(x), _functorch.current_level()))
        assert _functorch.get_unwrapped(x).shape == (3, 2)
        return _functorch._remove_batch_dim(x * 2, 1, 3, 1)

    result = torch.vmap(function, in_dims=1, out_dims=None)(torch.arange(6).reshape(2, 3))
    assert result.tolist() == [[0, 2, 4], [6, 8, 10]]
    assert seen == [((1, 0), True, 1)]
    plain = torch.ones(3)
    assert (_functorch.maybe_get_level(plain), _functorch.is_batchedtensor(plain)) == (-1, False)
    assert _functorch.maybe_current_level() is None
    with pytest.raises(RuntimeError, match="No wrappers present!"):
        _functorch.get_unwrapped(plain)
    with pytest.raises(RuntimeError, match="no level 1 runs"):
        _functorch._add_batch_dim(plain, 0, 1)


def test_vmap_takes_steps_that_a_package_puts_in_their_places(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ours = steps._create_batched_inputs

    def doubled(dims: Any, flat: Any, level: int, spec: Any) -> Any:
        return ours(dims, [each * 2 for each in flat], level, spec)

    monkeypatch.setattr(steps, "_create_batched_inputs", doubled)
    assert torch.vmap(torch.sum)(torch.ones(2, 3)).tolist() == [6, 6]


def test_a_type_of_a_package_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    class Box:
        def __init__(self, value: int) -> None:
            self.value = value

    class Small(Box):
        pass

    def boxes(batch: Any, *, collate_fn_map: Any) -> Any:
        return collate.collate([each.value for each in batch], collate_fn_map=collate_fn_map)

    with pytest.raises(TypeError, match=r"numbers, dicts or lists; found .*Box"):
        default_collate([Box(1)])
    monkeypatch.setitem(collate.default_collate_fn_map, Box, boxes)
    made = default_collate([{"a": (Small(1), "x")}, {"a": (Box(2), "y")}])
    assert made["a"][0].tolist() == [1, 2]
    assert made["a"][1] == ("x", "y")


def test_the_seed_of_a_worker() -> None:
    assert _generate_state(123456789012345, 3) == [3999280408, 2418223825, 1775828080, 3641838301]


class Noted(_DecoratorContextManager):
    log: list[str] = []  # noqa: RUF012

    def __enter__(self) -> None:
        self.log.append("in")

    def __exit__(self, *raised: object) -> None:
        self.log.append("out")


def test_a_context_around_a_function_and_around_each_step_of_a_generator() -> None:
    Noted.log.clear()

    @Noted()
    def function(x: int) -> int:
        Noted.log.append("call")
        return x

    @Noted()
    def generator() -> Generator[int, int, str]:
        try:
            Noted.log.append(str((yield 1)))
        except KeyError:
            yield 7
        return "end"

    assert function(3) == 3
    assert Noted.log == ["in", "call", "out"]
    running = generator()
    assert next(running) == 1
    Noted.log.clear()
    with pytest.raises(StopIteration, match="end"):
        running.send(5)
    assert Noted.log == ["in", "5", "out"]
    running = generator()
    next(running)
    assert running.throw(KeyError()) == 7
    running.close()
    with pytest.warns(FutureWarning, match="Decorating classes is deprecated"):
        assert Noted()(int)("4") == 4
