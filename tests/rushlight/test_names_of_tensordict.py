"""Private names with which packages put their containers into `vmap`, batches and contexts."""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import Any

import pytest

import rushlight as torch
from rushlight import _utils
from rushlight._C import _functorch
from rushlight._functorch import vmap as steps
from rushlight.nn.utils._named_member_accessor import swap_tensor
from rushlight.utils import _pytree
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


def test_a_list_of_a_class_of_its_own_is_a_node() -> None:
    class Linked(list[Any]):
        pass

    functions = _pytree._list_flatten, _pytree._list_unflatten
    keys = _pytree._list_flatten_with_keys
    _pytree.register_pytree_node(Linked, *functions, flatten_with_keys_fn=keys)
    try:
        assert _pytree.tree_leaves([Linked([1, 2]), 3]) == [1, 2, 3]
        paths = _pytree.tree_flatten_with_path(Linked([5]))[0]
        assert [(_pytree.keystr(way), leaf) for way, leaf in paths] == [("[0]", 5)]
        assert not _pytree.tree_is_leaf(Linked())
    finally:
        _pytree._deregister_pytree_node(Linked)
    assert _pytree.tree_is_leaf(Linked())


def test_several_results_of_an_operator_are_known() -> None:
    several = torch.max(torch.ones(2, 2), 0), time.gmtime()
    assert all(map(_pytree.is_structseq_instance, several))
    assert not any(map(_pytree.is_structseq_instance, ((1,), torch.Size([1]), [1])))


def test_tensors_put_in_the_places_of_others() -> None:
    module = torch.nn.Linear(2, 2)
    weight = module.weight
    assert swap_tensor(module, "weight", torch.ones(1)) is weight
    assert type(module.weight) is torch.Tensor
    missing = swap_tensor(module, "new", torch.zeros(1), allow_missing=True)
    assert module.new.tolist() == [0]
    swap_tensor(module, "new", missing)
    assert not hasattr(module, "new")
    with pytest.raises(AttributeError, match="Linear has no attribute `nope`"):
        swap_tensor(module, "nope", torch.ones(1))
    with pytest.raises(TypeError, match=r"`in_features`: 2 is not an instance of torch.Tensor"):
        swap_tensor(module, "in_features", torch.ones(1))


def test_modules_of_kinds_of_devices() -> None:
    assert _utils._get_available_device_type() is None
    assert _utils._get_device_module("cpu") is torch.cpu
    with pytest.raises(RuntimeError, match=r"registered as 'torch\.nope'"):
        _utils._get_device_module("nope")
