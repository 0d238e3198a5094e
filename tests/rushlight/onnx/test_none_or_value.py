"""Values of which only a run knows whether they are None, and forms of losses and attention."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight import nn

onnx = pytest.importorskip("onnx")
reference = pytest.importorskip("onnx.reference")


def check(program: Any, given: tuple[Any, ...], *others: tuple[Any, ...], **options: Any) -> None:
    """What is exported with `given` computes as the program does, of others too."""
    file = io.BytesIO()
    torch.onnx.export(program, given, file, **options)
    onnx.checker.check_model(file.getvalue(), full_check=True)
    model = onnx.load_from_string(file.getvalue())
    names = [each.name for each in model.graph.input]
    for arguments in (given, *others):
        tensors = [x for x in arguments if isinstance(x, torch.Tensor)]
        arrays = dict(zip(names, [x.numpy() for x in tensors], strict=True))
        with torch.no_grad():
            wanted = program(*[x.clone() if isinstance(x, torch.Tensor) else x for x in arguments])
        found = reference.ReferenceEvaluator(model).run(None, arrays)
        for a, b in zip(_listed(wanted), found, strict=True):
            np.testing.assert_allclose(b, np.asarray(a), rtol=1e-4, atol=1e-6)


def _listed(value: Any) -> list[Any]:
    several = isinstance(value, list | tuple) and isinstance(value[0], torch.Tensor)
    return list(value) if several else [value]


def _halved(x: torch.Tensor) -> torch.Tensor | None:
    if bool(x.sum() > 0):
        return x / 2
    return None


def chosen(x: torch.Tensor) -> torch.Tensor:
    y = _halved(x)
    if y is None:
        return x - 1
    return x + y


def both(x: torch.Tensor) -> torch.Tensor:
    y = _halved(x)
    if y is not None and y.dim() == 2:
        y = y.unsqueeze(0)
    return x.unsqueeze(0) if y is None else y


def carried(x: torch.Tensor) -> torch.Tensor:
    best: torch.Tensor | None = None
    for i in range(x.size(0)):
        if best is None or bool(x[i].sum() > best.sum()):
            best = x[i]
    return x[0] if best is None else best


def numbers(x: torch.Tensor) -> torch.Tensor:
    n: int | None = None
    if bool(x.sum() > 0):
        n = int(x.argmax().item())
    return x if n is None else x + n


def pairs(x: torch.Tensor) -> torch.Tensor:
    found: tuple[torch.Tensor, int] | None = None
    if bool(x.sum() > 0):
        found = (x * 2, 3)
    if found is not None:
        return found[0] + found[1]
    return x


def turned(x: torch.Tensor) -> list[int]:
    found = [1]
    for i in range(x.size(0)):
        found.append(int(x[i].argmax().item()))
    found.reverse()
    return found


def extended(x: torch.Tensor) -> torch.Tensor:
    found = [x[0]]
    other = found
    for i in range(x.size(0)):
        found += [x[i] * i]
    return torch.stack(other)


@pytest.mark.parametrize("function", [chosen, both, carried, numbers, pairs, turned, extended])
def test_a_run_decides(function: Callable[..., Any]) -> None:
    x = torch.arange(6.0).reshape(2, 3) - 1
    varies = {"dynamic_axes": {"x": {0: "n"}}} if function in (turned, extended, carried) else {}
    check(torch.jit.script(function), (x,), (-x,), (x * 0,), **varies)


def test_an_argument_that_may_be_none_is_refused_by_operators() -> None:
    def summed(x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.linear(x, x, _halved(x[0]))

    with pytest.raises(
        torch.onnx.errors.UnsupportedOperatorError, match="whether an argument is None"
    ):
        torch.onnx.export(torch.jit.script(summed), (torch.ones(2, 2),), io.BytesIO())


def test_masks_of_encoders_and_decoders() -> None:
    torch.manual_seed(0)
    x, causal = torch.randn(2, 3, 4), nn.Transformer.generate_square_subsequent_mask(3)
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), 1)
    script = torch.jit.script(encoder.eval())
    ends = torch.tensor([[False, False, True], [False, True, True]])
    holes = torch.tensor([[True, False, True], [False, True, False]])
    with torch.no_grad():
        check(script, (x, None, ends), (x, None, holes))
        check(script, (x, causal), (x, torch.zeros(3, 3)))
    decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(4, 2, 8, batch_first=True), 1)
    check(torch.jit.script(decoder.eval()), (x, x, causal), (x, x, torch.zeros(3, 3)))


X, WEIGHTS = torch.tensor([[0.3, -1.0, 2.0], [1.5, 0.2, -0.7]]), torch.tensor([0.5, 2.0, 1.0])
PLACES, SHARES = torch.tensor([2, 0]), torch.tensor([[0.1, 0.2, 0.7], [0.6, 0.4, 0.0]])
LABELS = torch.tensor([[2, 0, -1], [-1, 1, 0]])


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize(
    ("loss", "target"),
    [
        (lambda r: nn.CrossEntropyLoss(WEIGHTS, label_smoothing=0.1, reduction=r), PLACES),
        (lambda r: nn.CrossEntropyLoss(None, None, 2, None, r, 0.1), PLACES),
        (lambda r: nn.CrossEntropyLoss(WEIGHTS, label_smoothing=0.1, reduction=r), SHARES),
        (lambda r: nn.MultiMarginLoss(2, 0.7, WEIGHTS, reduction=r), PLACES),
        (lambda r: nn.MultiMarginLoss(reduction=r), PLACES),
        (lambda r: nn.MultiLabelMarginLoss(reduction=r), LABELS),
        (lambda r: nn.PoissonNLLLoss(full=True, reduction=r), SHARES * 9),
    ],
)
def test_losses(loss: Callable[[str], nn.Module], target: torch.Tensor, reduction: str) -> None:
    check(torch.jit.script(loss(reduction)), (X, target))


def test_nearest_exact_and_layers_with_arguments_left_out() -> None:
    check(torch.jit.script(nn.Upsample(size=5, mode="nearest-exact")), (torch.rand(1, 2, 3, 4),))
    check(nn.GRU(3, 4), (torch.rand(5, 2, 3),))
