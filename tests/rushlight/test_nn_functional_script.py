"""Functions of layers in script: the same results as eager, and the calls that torch makes."""

from __future__ import annotations

import inspect
import pickle
import typing
from collections.abc import Callable
from types import FunctionType
from typing import Any

import pytest

import rushlight as torch
import rushlight.nn.functional as F
from rushlight.jit.qualified_names import qualified_name


def pools(x: torch.Tensor) -> Any:
    return F.max_pool2d(x, 2), F.avg_pool2d(x, 2), F.adaptive_avg_pool2d(x, (2, 1))


def pools_with_places(x: torch.Tensor) -> Any:
    return F.max_pool2d(x, 2, return_indices=True), F.adaptive_max_pool2d(x, 2, True)


def unpooled(x: torch.Tensor) -> Any:
    values, places = F.max_pool2d(x, 2, return_indices=True)
    return F.max_unpool2d(values, places, 2), F.lp_pool2d(x, 2.0, 2)


def resized(x: torch.Tensor) -> Any:
    once = F.interpolate(x, scale_factor=2.0, mode="bilinear")
    return once, F.interpolate(x, size=[3, 2]), F.interpolate(x, size=5, mode="area")


def normalized(x: torch.Tensor) -> Any:
    return F.batch_norm(x, None, None, training=True), F.group_norm(x, 2), F.layer_norm(x, [4, 6])


def arranged(x: torch.Tensor) -> Any:
    columns = F.unfold(x, 2)
    return F.fold(columns, (4, 6), 2), F.pad(x, [1, 1, 2, 0], "reflect"), F.conv2d(x, x)


def flat(value: Any) -> list[Any]:
    return [part for each in value for part in flat(each)] if isinstance(value, tuple) else [value]


@pytest.mark.parametrize(
    "function", [pools, pools_with_places, unpooled, resized, normalized, arranged]
)
def test_script_gives_what_eager_gives(function: Callable[[torch.Tensor], Any]) -> None:
    x = torch.arange(96.0).reshape(2, 2, 4, 6).sin()
    for scripted, eager in zip(flat(torch.jit.script(function)(x)), flat(function(x)), strict=True):
        assert torch.equal(scripted, eager)


def test_a_flag_chooses_the_function_and_numbers_are_repeated() -> None:
    def pooled(x: torch.Tensor, k: int) -> tuple[torch.Tensor, tuple[torch.Tensor, torch.Tensor]]:
        return F.max_pool2d(x, k), F.max_pool2d(x, k, return_indices=True)

    assert torch.jit.script(pooled).code == (
        "def pooled(x: Tensor,\n"
        "    k: int) -> Tuple[Tensor, Tuple[Tensor, Tensor]]:\n"
        "  _0 = __torch__.torch.nn.functional._max_pool2d\n"
        "  _1 = __torch__.torch.nn.functional.max_pool2d_with_indices\n"
        "  _2 = _0(x, [k, k], None, [0, 0], [1, 1], False, False, )\n"
        "  _3 = _1(x, [k, k], None, [0, 0], [1, 1], False, True, )\n"
        "  return (_2, _3)\n"
    )


def test_the_flag_must_be_known() -> None:
    def pooled(x: torch.Tensor, places: bool) -> Any:
        return F.max_pool2d(x, 2, return_indices=places)

    with pytest.raises(RuntimeError, match="Keyword argument 'return_indices' for boolean"):
        torch.jit.script(pooled)


def test_functions_of_sizes_leave_no_trace() -> None:
    def pooled(x: torch.Tensor) -> torch.Tensor:
        return F.adaptive_avg_pool2d(x, 2)

    def unfolded(x: torch.Tensor) -> torch.Tensor:
        return F.unfold(x, 2)

    text = str(torch.jit.script(unfolded).inlined_graph)
    assert "prim::CallFunction" not in text
    assert text.count("prim::ListConstruct") == 4
    with pytest.raises(torch.jit.Error):
        torch.jit.script(pooled)(torch.ones(2, 2))


def test_functions_of_many_files_are_one_module_to_users_and_archives() -> None:
    for name in F.__all__:
        function = getattr(F, name)
        if isinstance(function, FunctionType):
            assert function.__module__ == "rushlight.nn.functional"
            assert pickle.loads(pickle.dumps(function)) is function
    for function in (F.relu, F._canonical_mask):  # `_canonical_mask` says which file it is in
        assert qualified_name(function) == f"__torch__.torch.nn.functional.{function.__name__}"


def test_modules_that_have_torchs_names_change_no_name(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, home in [("nn.functional.pooling", "nn.functional"), ("nn.init", "nn.init")]:
        monkeypatch.setattr(pools, "__module__", f"torch.{module}")  # as `as_torch()` has it
        assert qualified_name(pools) == f"__torch__.torch.{home}.pools"


def test_only_python_knows_what_offsets_are() -> None:
    def bags(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return F.embedding_bag(x, weight, x[0])

    given = torch.ones(2, 2, dtype=torch.int64), torch.ones(3, 4)
    with pytest.raises(ValueError, match=r"found offsets of type <class 'torch\.Tensor'>"):
        bags(*given)
    with pytest.raises(torch.jit.Error, match="found offsets of type <unknown>"):
        torch.jit.script(bags)(*given)


def test_annotations_are_types_for_all_that_read_signatures() -> None:
    for name in F.__all__:
        function = getattr(F, name)
        if isinstance(function, FunctionType):
            kinds = [p.annotation for p in inspect.signature(function).parameters.values()]
            assert not any(isinstance(kind, str) for kind in kinds)
            typing.get_type_hints(function)
    assert inspect.signature(F.relu).parameters["input"].annotation is torch.Tensor
    for builtin in (F.conv2d, torch.add, torch.Tensor.add):
        with pytest.raises(ValueError, match="no signature found for builtin"):
            inspect.signature(builtin)


def test_functions_that_are_exchanged_are_so_for_other_functions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: list[tuple[int, ...]] = []
    linear = F.linear

    def counted(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None) -> Any:
        calls.append(tuple(weight.shape))
        return linear(x, weight, bias)

    layer = torch.nn.MultiheadAttention(4, 2)
    x = torch.ones(3, 1, 4)
    wanted = layer(x, x, x)[0]
    monkeypatch.setattr(F, "linear", counted)
    assert torch.equal(layer(x, x, x)[0], wanted)
    assert calls == [(12, 4), (4, 4)]
    monkeypatch.undo()
    layer(x, x, x)
    assert len(calls) == 2
