"""Each function that is no operator by itself asks the classes of its arguments first, whichever of
them is of a class that answers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import rushlight as torch
from rushlight.nn import functional

INNER = {
    **{
        (name, "input"): "interpolate"
        for name in ("upsample", "upsample_bilinear", "upsample_nearest")
    },
    **{("nonzero", "out"): "nonzero", ("stft", "window"): "stft"},
    **{("sigmoid", "input"): "sigmoid", ("tanh", "input"): "tanh"},
}
"""Arguments that another function inside asks, and its name."""

LEFT_ALONE = {
    ("l1_loss", "weight"),
    *((f"max_unpool{n}d", "indices") for n in (1, 2, 3)),
    *(("multi_head_attention_forward", f"{name}_proj_weight") for name in "qkv"),
    *(("multi_head_attention_forward", f"static_{name}") for name in "kv"),
    *(("multi_head_attention_forward", f"{name}_mask") for name in ("attn", "key_padding")),
}
"""Arguments that are not asked before they are looked at."""


class Answering(torch.Tensor):
    """Answers by the function that asks."""

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> tuple[object, bool]:
        return func, cls in types


def functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    names = (
        *("cdist", "lu", "norm", "numel", "nonzero", "split", "stft", "tensordot", "unique"),
        *("unique_consecutive", "unravel_index"),
    )
    for name in names:
        yield name, getattr(torch, name)
    for name in functional.__all__:
        value = getattr(functional, name)
        if inspect.isfunction(value):
            yield f"functional.{name}", value


def ways() -> Iterator[Any]:
    """Calls with one argument of the class each: those that must be given, and tensors."""
    for name, function in functions():
        parameters = inspect.signature(function, eval_str=True).parameters.values()
        if any(each.kind is each.VAR_POSITIONAL for each in parameters):
            continue
        needed = [each.name for each in parameters if each.default is each.empty]
        for each in parameters:
            is_tensor = each.annotation in (torch.Tensor, torch.Tensor | None)
            if is_tensor and (function.__name__, each.name) not in LEFT_ALONE:
                yield pytest.param(function, needed, each.name, id=f"{name}: {each.name}")


@pytest.mark.filterwarnings("ignore:.*is deprecated")
@pytest.mark.parametrize(("function", "needed", "asked"), list(ways()))
def test_an_argument_is_asked(function: Callable[..., Any], needed: list[str], asked: str) -> None:
    given: dict[str, Any] = {name: torch.ones(2, 2) for name in needed}
    given[asked] = torch.ones(2, 2).as_subclass(Answering)
    func, is_named = function(**given)
    inner = INNER.get((function.__name__, asked))
    assert is_named
    assert func.__name__ == (inner or function.__name__)
    assert (func is function) is (inner is None)


def test_the_functions_of_layers_are_among_them() -> None:
    ids = {str(way.id) for way in ways()}
    assert {"functional.relu: input", "functional.batch_norm: running_var"} <= ids
    assert len(ids) > 150
