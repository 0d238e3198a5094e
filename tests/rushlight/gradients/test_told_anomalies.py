"""`detect_anomaly`: what failed on the way back is told with the line it was called at."""

from __future__ import annotations

import warnings

import pytest

import rushlight as torch

ENABLED = "Anomaly Detection has been enabled"


def told(function) -> list[str]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        function()
    return [str(each.message) for each in found]


def test_a_nan_is_told_with_the_line_of_its_operator() -> None:
    x = torch.zeros(1, requires_grad=True)

    def walk() -> None:
        with torch.autograd.detect_anomaly():
            y = (x * 0).sqrt() * 0  # the line
            with pytest.raises(
                RuntimeError, match="'SqrtBackward0' returned nan values in its 0th"
            ):
                y.backward()

    first, second = told(walk)
    assert first.startswith(ENABLED)
    assert second.startswith(
        "Error detected in SqrtBackward0. Traceback of forward call that caused the error:\n"
    )
    assert "# the line" in second
    assert second.rstrip().endswith("# the line")


def test_what_was_written_since_is_told_so() -> None:
    x = torch.ones(2, requires_grad=True)

    def walk() -> None:
        with torch.autograd.set_detect_anomaly(True):
            y = x.exp()
            total = y.sum()
            with torch.no_grad():
                y.mul_(2)
            with pytest.raises(RuntimeError, match="the backtrace further above shows"):
                total.backward()

    (only,) = told(walk)
    assert only.startswith("Error detected in ExpBackward0. Traceback")


def test_nodes_made_before_know_nothing() -> None:
    y = (torch.zeros(1, requires_grad=True) * 0).sqrt() * 0

    def walk() -> None:
        with torch.autograd.detect_anomaly(), pytest.raises(RuntimeError, match="nan"):
            y.backward()

    assert "No forward pass information available" in told(walk)[1]


def test_scripts_are_told_of_with_their_call() -> None:
    @torch.jit.script
    def rooted(x: torch.Tensor):
        return (x * 0.0).sqrt() * 2.0 * x

    x = torch.zeros(3, requires_grad=True)
    for _ in range(6):
        rooted(x).requires_grad  # noqa: B018

    def walk() -> None:
        with torch.autograd.detect_anomaly():
            made = rooted(x)
            with pytest.raises(RuntimeError, match="'SqrtBackward0'"):
                made.sum().backward()

    assert told(walk)[1].startswith("Error detected in SqrtBackward0. Traceback of forward call")


def test_without_nan_nothing_is_looked_at() -> None:
    x = torch.zeros(1, requires_grad=True)

    def walk() -> None:
        with torch.autograd.detect_anomaly(check_nan=False):
            ((x * 0).sqrt() * 0).backward()

    assert len(told(walk)) == 1
    assert x.grad.isnan().all()


def test_leaves_are_told_before_what_lies_deeper() -> None:
    """As in torch, what adds to a leaf comes as soon as its gradient is there."""
    order = []
    x = torch.ones(1, 2, requires_grad=True)
    layers = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
    layers[0].register_full_backward_hook(lambda *given: order.append("layer"))
    layers[0].weight.register_hook(lambda grad: order.append("weight"))
    layers[0].weight.register_post_accumulate_grad_hook(lambda leaf: order.append("added"))
    x.register_hook(lambda grad: order.append("input"))
    layers(x).sum().backward()
    assert order == ["weight", "added", "layer", "input"]


class _Fails(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, grad):
        raise ArithmeticError("no gradient")


class _Outer(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, grad):
        return _Fails.apply(grad)


def test_what_a_walk_made_is_told_with_the_node_it_had_come_to() -> None:
    x = torch.ones(1, requires_grad=True)

    def walk() -> None:
        with torch.autograd.detect_anomaly():
            made = _Outer.apply(x * 1)  # the line
            (grad,) = torch.autograd.grad(
                made, x, torch.ones(1).requires_grad_(), create_graph=True
            )
            with pytest.raises(ArithmeticError, match="no gradient"):
                grad.backward()

    _, failed, induced = told(walk)
    assert failed.startswith("Error detected in _FailsBackward.")
    assert induced.startswith("\n\nPrevious calculation was induced by _OuterBackward. Traceback")
    assert "# the line" in induced


def test_a_failure_is_raised_where_warnings_are_errors(capsys: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with torch.autograd.detect_anomaly():
            y = _Fails.apply(torch.ones(1, requires_grad=True))
            warnings.simplefilter("error")
            with pytest.raises(ArithmeticError):
                y.backward()
    assert "Error detected in _FailsBackward" in capsys.readouterr().err
