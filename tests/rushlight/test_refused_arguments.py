"""What functions of the library itself are given wrongly is refused in torch's words, and what is
right is taken."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import datetime
from importlib import import_module

import pytest

import rushlight as torch
from rushlight import nn
from rushlight.monitor import Event
from rushlight.nn import functional
from rushlight.overrides import _get_overloaded_args
from rushlight.utils import _pytree

NOW = datetime(2020, 1, 1)
ROW, MATRIX = torch.ones(3), torch.ones(2, 3)
TRIPLET = functional.triplet_margin_with_distance_loss
DETERMINISTIC = torch.use_deterministic_algorithms
EVENT = "incompatible constructor arguments"
DIMENSIONS = "expected to have the same number of dimensions"

REFUSED: list[tuple[Callable[[], object], type[Exception], str]] = [
    (lambda: Event(1, NOW, {}), TypeError, EVENT),  # type: ignore[arg-type]
    (lambda: Event("a", 1.0, {}), TypeError, EVENT),  # type: ignore[arg-type]
    (lambda: Event("a", NOW, [1]), TypeError, EVENT),  # type: ignore[arg-type]
    (lambda: Event("a", NOW, {1: 1}), TypeError, EVENT),  # type: ignore[dict-item]
    (lambda: Event("a", NOW, {"a": None}), TypeError, EVENT),
    (lambda: DETERMINISTIC(1), TypeError, r"'mode' \(position 1\) must be bool, not int"),  # type: ignore[arg-type]
    (lambda: DETERMINISTIC(True, warn_only=0), TypeError, "'warn_only' must be bool, not int"),  # type: ignore[arg-type]
    (lambda: nn.Sequential() * 1.5, TypeError, r"unsupported operand type\(s\) for \*"),  # type: ignore[operator]
    (lambda: nn.Sequential() * 0, ValueError, "Non-positive multiplication factor 0"),
    (lambda: nn.Sequential().__imul__(None), TypeError, r"unsupported operand type\(s\) for \*"),  # type: ignore[arg-type]
    (lambda: TRIPLET(ROW, MATRIX, MATRIX), RuntimeError, DIMENSIONS),
    (lambda: TRIPLET(MATRIX, ROW, MATRIX), RuntimeError, DIMENSIONS),
    (lambda: TRIPLET(MATRIX, MATRIX, ROW), RuntimeError, DIMENSIONS),
    (lambda: TRIPLET(ROW, ROW, ROW, margin=0.0), ValueError, "margin must be greater than 0"),
    (lambda: TRIPLET(ROW, ROW, ROW, reduction="all"), ValueError, "all is not a valid value"),
    (lambda: torch.autograd.forward_ad._level, AttributeError, "has no attribute '_level'"),
]


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_what_is_wrong_is_refused(number: int) -> None:
    call, error, told = REFUSED[number]
    with pytest.raises(error, match=told):
        call()


def test_what_is_right_is_taken() -> None:
    event = Event("a", NOW, {"b": True, "c": 2, "d": "e"})
    assert (event.name, event.timestamp, event.data) == ("a", NOW, {"b": 1.0, "c": 2, "d": "e"})
    doubled = nn.Sequential(nn.ReLU()) * 2
    assert [type(each) for each in doubled] == [nn.ReLU, nn.ReLU]
    assert torch.autograd.forward_ad._current_level == -1
    with torch.autograd.forward_ad.dual_level():
        assert torch.autograd.forward_ad._current_level == 0


def test_triplets_by_a_distance_of_ones_own_are_those_by_the_usual_one() -> None:
    torch.manual_seed(0)
    anchor, near, far = torch.randn(3, 4, 5)
    usual = functional.triplet_margin_loss(anchor, near, far, swap=True)
    own = functional.triplet_margin_with_distance_loss(anchor, near, far, swap=True)
    assert torch.allclose(own, usual)


@pytest.mark.parametrize(
    ("tree", "leaves"),
    [
        (1, [1, 1, 1]),
        ([1, 2], [1, 2, 2]),
        ([1, [2, 3]], [1, 2, 3]),
        ([1], None),
        ([1, 2, 3], None),
        ([1, {"a": 2}], None),
        ((1, 2), None),
    ],
)
def test_a_tree_stands_for_a_larger_one_of_its_form(tree: object, leaves: object) -> None:
    _, form = _pytree.tree_flatten([0, [0, 0]])
    assert _pytree._broadcast_to_and_flatten(tree, form) == leaves


@pytest.mark.parametrize(("tree", "leaves"), [({"a": 1, "b": 2}, [1, 2]), ({"a": 1, "c": 2}, None)])
def test_a_dict_stands_for_one_of_its_keys(tree: object, leaves: object) -> None:
    _, form = _pytree.tree_flatten({"a": 0, "b": 0})
    assert _pytree._broadcast_to_and_flatten(tree, form) == leaves


class Sub(torch.Tensor):
    pass


class SubOfSub(Sub):
    pass


def test_arguments_of_subclasses_are_asked_before_those_of_their_bases() -> None:
    plain, sub, inner = (torch.ones(1).as_subclass(kind) for kind in (torch.Tensor, Sub, SubOfSub))
    found = _get_overloaded_args([plain, 1, sub, inner, sub.clone()])
    assert [type(each) for each in found] == [SubOfSub, Sub, torch.Tensor]
    with torch._C.DisableTorchFunctionSubclass():
        assert _get_overloaded_args([plain, sub]) == []


@pytest.mark.parametrize(
    "make",
    [
        lambda: nn.LazyLinear(3),
        lambda: nn.LazyConv1d(3, 2),
        lambda: nn.LazyConv2d(3, 2),
        lambda: nn.LazyConvTranspose1d(3, 2),
        lambda: nn.LazyBatchNorm1d(),
        lambda: nn.LazyInstanceNorm1d(affine=True),
    ],
)
def test_parameters_that_have_no_sizes_yet_are_not_drawn(make: Callable[[], nn.Module]) -> None:
    layer = make()
    layer.reset_parameters()
    assert isinstance(layer.weight, nn.parameter.UninitializedParameter)
    layer(torch.ones(2, 3, *[4] * (2 if "2d" in type(layer).__name__ else 1)))
    with torch.no_grad():
        layer.weight.fill_(7)
    layer.reset_parameters()
    assert not torch.equal(layer.weight, torch.full_like(layer.weight, 7))


class Terminal:
    """Where a terminal is written to."""

    def __init__(self) -> None:
        self.text = ""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> None:
        self.text += text

    def flush(self) -> None:
        pass


@pytest.mark.parametrize(("total", "shown"), [(200, "\r25.0%"), (None, "\r50.0 bytes")])
def test_a_download_is_shown_as_a_part_of_what_is_known(
    total: int | None, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    import_module("rushlight.hub")._Progress(total=total).update(50)
    assert terminal.text == shown


def test_functions_are_traced_whose_annotations_nobody_else_knows() -> None:
    from rushlight.fx.experimental.rewriter import RewritingTracer

    class Here:
        pass

    def function(x: Here, *rest: Here, scale: Here = 2) -> Here:  # type: ignore[assignment]
        assert x.shape[0] == 2, "two rows"  # type: ignore[attr-defined]
        return x * 2  # type: ignore[operator, no-any-return]

    names = [node.op for node in RewritingTracer().trace(function).nodes]
    assert "call_function" in names
