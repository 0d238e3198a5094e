"""Calls that draw random numbers: once they come often native code does them, and the stream is as
that of a generator that is named, whose calls are not learned."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from threading import Thread
from typing import Any

import pytest

import rushlight as torch
from rushlight.ops.kernels import TRIALS
from rushlight.ops.random_numbers.random import default_generator, draws_noted
from rushlight.ops.table.direct import knows_calls

pytestmark = pytest.mark.skipif(not knows_calls(), reason="there is no native code here")
OFTEN = 4 * TRIALS
F = torch.nn.functional
X = torch.linspace(-1, 1, 16)

CALLS: list[Callable[..., Any]] = [
    lambda **g: torch.randn(16, **g),
    lambda **g: torch.randn(20, **g),
    lambda **g: torch.randn(4, 4, dtype=torch.float64, **g),
    lambda **g: torch.rand(5, **g),
    lambda **g: torch.empty(16).uniform_(-1, 1, **g),
    lambda **g: torch.empty(16).normal_(**g),
    lambda **g: torch.empty(16, dtype=torch.bfloat16).bernoulli_(0.25, **g),
    lambda **g: torch.empty(16).exponential_(**g),
    lambda **g: torch.randint(0, 10, (4,), **g),
    lambda **g: torch.randperm(16, **g),
    lambda **g: torch.normal(X, 1.0, **g),
    lambda **g: torch.bernoulli(X, 0.3, **g),
    lambda **g: torch.randn(7, **g),
    lambda **g: torch.randn(1, **g),
    lambda **g: torch.randn(2, 3, **g),
    lambda **g: torch.randn(15, dtype=torch.float64, **g),
    lambda **g: torch.randn(3, dtype=torch.bfloat16, **g),
    lambda **g: torch.randn(3, dtype=torch.complex64, **g),
    lambda **g: torch.randn(0, **g),
    lambda **g: torch.empty(3, 3).t()[:2].normal_(1.0, 2.0, **g),
    lambda **g: torch.normal(2.0, 0.5, (5,), **g),
    lambda **g: torch.normal(X[:3], 0.5, **g),
]


@pytest.mark.parametrize("call", CALLS)
def test_the_stream_is_that_of_a_named_generator(call: Callable[..., Any]) -> None:
    named = torch.Generator()
    named.manual_seed(3)
    torch.manual_seed(3)
    for _ in range(OFTEN):
        assert torch.equal(call(), call(generator=named))
    assert torch.equal(torch.get_rng_state(), named.get_state())
    torch.manual_seed(4)
    named.manual_seed(4)
    assert torch.equal(call(), call(generator=named))
    state = torch.get_rng_state()
    first = call()
    call()
    torch.set_rng_state(state)
    assert torch.equal(call(), first)


def test_a_kept_number_is_the_next_of_whichever_call() -> None:
    """An odd count of normal numbers leaves one to whoever draws some next: calls that are learned,
    others, and those of another state."""
    for call in CALLS:
        _repeated(call)
    named, random = torch.Generator(), Random(1)
    named.manual_seed(8)
    torch.manual_seed(8)
    kept = []
    for _ in range(600):
        call = random.choice(CALLS)
        assert torch.equal(call(), call(generator=named))
        if random.random() < 0.1:
            kept.append(torch.get_rng_state())
            assert torch.equal(kept[-1], named.get_state())
        if random.random() < 0.05 and kept:
            state = random.choice(kept)
            torch.set_rng_state(state)
            named.set_state(state)
        if random.random() < 0.05:
            with torch.random.fork_rng():
                torch.randn(3)


def test_a_seed_forgets_the_kept_number() -> None:
    _repeated(lambda: torch.randn(3))
    torch.manual_seed(9)
    wanted = torch.randn(3)
    torch.manual_seed(9)
    assert torch.equal(torch.randn(3), wanted)
    torch.manual_seed(9)
    state = default_generator.place()
    torch.randn(1)
    default_generator.return_to(state)
    assert torch.equal(torch.randn(3), wanted)


def _repeated(call: Callable[[], Any]) -> None:
    for _ in range(OFTEN):
        call()


@pytest.mark.parametrize("name", ["dropout", "alpha_dropout", "feature_dropout"])
def test_what_is_dropped_is_drawn_anew(name: str) -> None:
    x, drop = torch.ones(4, 8), getattr(torch, name)
    torch.manual_seed(1)
    first = [drop(x, 0.5, True) for _ in range(OFTEN)]
    assert not torch.equal(first[-1], first[-2])
    torch.manual_seed(1)
    assert all(torch.equal(drop(x, 0.5, True), each) for each in first)
    assert drop(x, 0.0, True) is x or torch.equal(drop(x, 0.0, True), x)


def test_who_wants_to_know_hears_of_draws() -> None:
    _repeated(lambda: torch.rand(3))
    with draws_noted() as have_been:
        assert not have_been()
        torch.rand(3)
        assert have_been()


def test_threads_share_the_stream() -> None:
    _repeated(lambda: torch.rand(8))
    torch.manual_seed(7)
    wanted = {tuple(torch.rand(8).tolist()) for _ in range(2000)}
    torch.manual_seed(7)
    found: list[tuple[float, ...]] = []
    threads = [
        Thread(target=lambda: found.extend(tuple(torch.rand(8).tolist()) for _ in range(500)))
        for _ in range(4)
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(found) == 2000
    assert set(found) == wanted


def test_a_block_of_its_own_stream_leaves_the_outer_one() -> None:
    _repeated(lambda: torch.randn(16))
    torch.manual_seed(2)
    wanted = [torch.randn(16) for _ in range(2)]
    torch.manual_seed(2)
    found = [torch.randn(16)]
    with torch.random.fork_rng():
        torch.manual_seed(5)
        torch.randn(16)
    found.append(torch.randn(16))
    assert all(map(torch.equal, found, wanted))
    assert default_generator.initial_seed() == 2


def test_new_memory_is_filled_where_that_is_wanted() -> None:
    makers = [lambda: torch.empty(16), lambda: torch.empty_like(X), lambda: X.new_empty(3)]
    for make in makers:
        _repeated(make)
    torch.use_deterministic_algorithms(True)
    try:
        for make in makers:
            for _ in range(OFTEN):
                assert make().isnan().all()
    finally:
        torch.use_deterministic_algorithms(False)
    for make in makers:
        _repeated(make)
