"""Gradients where values are not finite or at a corner, as torch 2.13 has them."""

from __future__ import annotations

import math
from typing import Any

import pytest

import rushlight as torch
from rushlight.nn import functional

NAN = math.nan


def gradient(function: Any, values: Any, upstream: Any = None) -> Any:
    x = torch.tensor(values, dtype=torch.float64, requires_grad=True)
    y = function(x)
    y.backward(torch.ones_like(y) if upstream is None else torch.tensor(upstream).to(y.dtype))
    return x.grad


def test_nan_in_a_window_leaves_the_gradients_of_other_windows() -> None:
    found = gradient(lambda x: functional.lp_pool1d(x, 2, 2), [[[3.0, 4.0, NAN, 3.0, 4.0, 3.0]]])
    expected = torch.tensor([[[0.6, 0.8, NAN, NAN, 0.8, 0.6]]], dtype=torch.float64)
    torch.testing.assert_close(found, expected, equal_nan=True)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: functional.avg_pool1d(x, 2),
        lambda x: functional.adaptive_avg_pool1d(x, 2),
        lambda x: functional.interpolate(x, 2, mode="area"),
    ],
)
def test_an_infinite_gradient_goes_to_its_own_window(function: Any) -> None:
    found = gradient(function, [[[1.0, 2.0, 3.0, 4.0]]], [[[math.inf, 1.0]]])
    assert found.tolist() == [[[math.inf, math.inf, 0.5, 0.5]]]


def test_an_infinite_gradient_of_a_resized_row() -> None:
    found = gradient(
        lambda x: functional.interpolate(x, 4, mode="nearest"),
        [[[1.0, 2.0]]],
        [[[math.inf, 1.0, 1.0, 1.0]]],
    )
    assert found.tolist() == [[[math.inf, 2.0]]]


def test_random_slopes_at_zero() -> None:
    torch.manual_seed(0)
    found = gradient(lambda x: functional.rrelu(x, 0.1, 0.3, True), [-1.0, 0.0, 1.0, -0.0, NAN])
    recorded = [0.2940106003613106, 0.2415639728799576, 1.0, 0.19187658862549017, 1.0]
    assert found.tolist() == pytest.approx(recorded)


def test_random_slopes_in_place_and_in_script() -> None:
    def in_place(x: torch.Tensor) -> torch.Tensor:
        y = x * 1
        return torch.rrelu_(y, 0.1, 0.3, True)

    results = []
    for function in (
        lambda x: torch.rrelu(x, 0.1, 0.3, True),
        in_place,
        torch.jit.script(in_place),
    ):
        torch.manual_seed(0)
        results.append(gradient(function, [-1.0, 0.0, 1.0]).tolist())
    assert results[0] == results[1] == results[2]


def test_writes_into_data_count_by_themselves() -> None:
    x = torch.ones(3, requires_grad=True)
    squares = x * x
    x.data.add_(1)
    squares.sum().backward()
    assert x.grad.tolist() == [4, 4, 4]  # of what is there now, as torch does
    part = x.data[1:]
    assert (part.add_(1)._version, part[0]._version, x._version) == (1, 1, 0)
    assert part.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    shared = torch.ones(2)
    assert (shared.detach().add_(1)._version, shared._version) == (1, 1)


def test_writes_into_data_in_script_count_by_themselves() -> None:
    @torch.jit.script
    def f(x: torch.Tensor):
        y = x * x
        x.data.mul_(2)
        return y.sum()

    x = torch.ones(3, requires_grad=True)
    f(x).backward()
    assert x.grad.tolist() == [4, 4, 4]


def test_data_of_data_is_no_chain() -> None:
    y = torch.ones(3)
    for _ in range(100_000):
        y = y[:].data
    del y  # which a chain would do by recursion


@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("sizes", [(0, 2, 4), (2, 0, 4), (2, 3, 0)])
def test_a_grid_without_elements_has_gradients(mode: str, sizes: tuple[int, int, int]) -> None:
    batch, channels, height = sizes
    x = torch.ones(batch, channels, 3, 3, requires_grad=True)
    grid = torch.zeros(batch, height, 4, 2, requires_grad=True)
    made = functional.grid_sample(x, grid, mode=mode, align_corners=False)
    made.backward(torch.ones_like(made))
    assert x.grad is not None
    assert grid.grad is not None
    assert x.grad.count_nonzero() == grid.grad.count_nonzero() == 0


@pytest.mark.parametrize("name", ["dropout", "alpha_dropout", "feature_dropout"])
def test_gradients_of_dropped_results_have_gradients(name: str) -> None:
    """What was drawn is a tensor there, whatever its dtype."""
    x = torch.ones(4, 3, 2, dtype=torch.float64, requires_grad=True)
    torch.manual_seed(3)
    y = getattr(torch, name)(x * x, 0.5, True)
    (first,) = torch.autograd.grad((y * y).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    with torch.no_grad():  # y = n x^2 + s, so that y^2 has 4 n x y and 12 n^2 x^2 + 4 n s
        torch.manual_seed(3)
        shifted = getattr(torch, name)(torch.zeros(4, 3, 2, dtype=torch.float64), 0.5, True)
        noise = y - shifted
    assert torch.allclose(first, 4 * noise * y)
    assert torch.allclose(second, 12 * noise * noise + 4 * noise * shifted)


@pytest.mark.parametrize("sizes", [(0, 3), (2, 3, 0), (0, 3, 2, 2)])
def test_batches_of_nothing_have_second_gradients(sizes: tuple[int, ...]) -> None:
    x, weight, bias = torch.zeros(sizes), torch.ones(3), torch.zeros(3)
    given = [each.requires_grad_() for each in (x, weight, bias)]
    running = torch.zeros(3), torch.ones(3)
    made = torch.batch_norm(x, weight, bias, *running, True, 0.1, 1e-5, False)
    first = torch.autograd.grad(made, given, torch.ones(sizes), create_graph=True)
    assert [each.tolist() for each in first[1:]] == [[0.0] * 3] * 2
    second = torch.autograd.grad(first[0], weight, torch.ones(sizes))
    assert second[0].tolist() == [0.0] * 3


@pytest.mark.parametrize("kind", ["avg", "max"])
def test_adaptive_pools_without_results_have_no_gradient(kind: str) -> None:
    for count in (1, 2, 3):
        x = torch.ones(1, 2, *[4] * count, requires_grad=True)
        made = getattr(functional, f"adaptive_{kind}_pool{count}d")(x, 0)
        said = rf"adaptive_{kind}_pool{max(count, 2)}d_backward\(\): Expected grad_output to have"
        with pytest.raises(RuntimeError, match=said):
            made.sum().backward()


@pytest.mark.parametrize(("name", "edge"), [("xlogy", 0.0), ("xlog1py", -1.0)])
def test_zero_times_a_logarithm_that_is_no_number_has_no_slope(name: str, edge: float) -> None:
    function = getattr(torch.special, name)
    others = torch.tensor([edge, edge - 1.5], dtype=torch.float64)
    assert gradient(lambda x: function(x, others), [0.0, 0.0]).tolist() == [0, 0]
    for other in others.tolist():
        assert gradient(lambda x, other=other: function(x, other), [0.0]).tolist() == [0]
    assert math.isnan(gradient(lambda x: function(x, others), [1.0, 1.0])[1])


def test_steps_have_no_derivative() -> None:
    for function in (lambda x: torch.heaviside(x, x), lambda x: x // 2):
        with pytest.raises(RuntimeError, match=r"derivative for aten::.* is not implemented"):
            gradient(function, [1.0])


@pytest.mark.parametrize("name", ["smooth_l1_loss", "huber_loss"])
def test_losses_that_are_lines_have_slopes_at_infinity(name: str) -> None:
    for dtype in (torch.float64, torch.float16):
        x = torch.tensor([math.inf, -math.inf, 0.5], dtype=dtype, requires_grad=True)
        getattr(functional, name)(x, torch.zeros_like(x), reduction="sum").backward()
        assert x.grad is not None
        assert x.grad.tolist() == [1, -1, 0.5]


@pytest.mark.parametrize("padding", ["border", "reflection"])
@pytest.mark.parametrize("volume", [False, True])
def test_a_grid_does_not_move_what_it_reads_at_the_edge(padding: str, volume: bool) -> None:
    image = torch.arange(8.0).view(1, 1, *((2, 2, 2) if volume else (2, 4))) * 3 + 1
    count = image.ndim - 2

    def read(grid: torch.Tensor) -> torch.Tensor:
        places = grid.view(1, *(1,) * (count - 1), -1, count)
        return functional.grid_sample(
            image.double(), places, padding_mode=padding, align_corners=True
        )

    for edge in (1.0, -1.0):
        assert gradient(read, [[edge] * count]).tolist() == [[0.0] * count]
    within = gradient(read, [[0.25] + [1.0] * (count - 1)])
    assert within[0, 0] > 0
    assert within[0, 1:].tolist() == [0.0] * (count - 1)


INF = math.inf
SPREADS: list[tuple[Any, list[list[float]]]] = [
    (lambda x: x.var(1, correction=2), [[-INF, INF], [-INF, INF]]),
    (lambda x: x.var(1, correction=3), [[1.0, -1.0], [1.0, -1.0]]),
    (lambda x: x.std(1, correction=2), [[NAN, NAN], [NAN, NAN]]),
    (lambda x: x.std(1, correction=3), [[0.0, 0.0], [0.0, 0.0]]),
    (lambda x: torch.var_mean(x, 1, correction=3)[0], [[1.0, -1.0], [1.0, -1.0]]),
    (lambda x: x.var((0, 1), correction=5), [[3.0, 1.0], [-1.0, -3.0]]),
    (lambda x: x.var(correction=4), [[INF, INF], [INF, INF]]),
    (lambda x: x.var(correction=5), [[INF, INF], [INF, INF]]),
    (lambda x: x.std(correction=4), [[NAN, NAN], [NAN, NAN]]),
    (lambda x: x.std(correction=5), [[NAN, NAN], [NAN, NAN]]),
    (lambda x: x[:, :1].var(1), [[NAN, 0.0], [NAN, 0.0]]),
    (lambda x: x[0, 0].var(), [[NAN, 0.0], [0.0, 0.0]]),
    (lambda x: x[0, 0].var(correction=0), [[0.0, 0.0], [0.0, 0.0]]),
]


@pytest.mark.parametrize("number", range(len(SPREADS)))
def test_spreads_of_no_more_elements_than_are_taken_off(number: int) -> None:
    function, wanted = SPREADS[number]
    for _ in range(4):
        found = gradient(function, [[1.0, 2.0], [3.0, 4.0]])
        expected = torch.tensor(wanted, dtype=torch.float64)
        torch.testing.assert_close(found, expected, equal_nan=True)
