"""What stands against reading memory as another dtype, what sizes follow from sparse parts, and
what is taken by native code only in the form that it knows."""

from __future__ import annotations

import pytest

import rushlight as torch

BYTES = torch.arange(32, dtype=torch.uint8)


@pytest.mark.parametrize(
    ("sizes", "strides", "offset", "told"),
    [
        ((), (), 0, r"self.dim\(\) cannot be 0"),
        ((2, 3), (4, 1), 0, r"self.size\(-1\) must be divisible by 4 .*but got 3"),
        ((2, 4), (4, 2), 0, r"self.stride\(-1\) must be 1 .*but got 2"),
        ((2, 4), (4, 1), 1, r"self.storage_offset\(\) must be divisible by 4 .*but got 1"),
        ((2, 4), (5, 1), 0, r"self.stride\(0\) must be divisible by 4 .*but got 5"),
        ((2, 2, 4), (8, 6, 1), 0, r"self.stride\(1\) must be divisible by 4 .*but got 6"),
    ],
)
def test_bytes_are_read_as_numbers_where_they_lie_so(
    sizes: tuple[int, ...], strides: tuple[int, ...], offset: int, told: str
) -> None:
    with pytest.raises(RuntimeError, match=told):
        BYTES.as_strided(sizes, strides, offset).view(torch.float32)


def test_bytes_that_lie_so_are_read() -> None:
    read = BYTES.as_strided((2, 2, 4), (12, 4, 1), 4).view(torch.int32)
    whole = BYTES.view(torch.int32)
    assert read.squeeze(-1).tolist() == [whole[1:3].tolist(), whole[4:6].tolist()]
    assert BYTES[:8].view(torch.int32).view(torch.uint8).tolist() == list(range(8))


@pytest.mark.filterwarnings("ignore:Sparse")
@pytest.mark.parametrize(
    ("make", "sizes"),
    [(torch.sparse_csr_tensor, (2, 4)), (torch.sparse_csc_tensor, (4, 2))],
)
def test_sizes_follow_from_what_is_given(make: object, sizes: tuple[int, int]) -> None:
    assert callable(make)
    assert make([0, 1, 2], [0, 3], [1.0, 2.0]).shape == sizes
    assert make([0, 0, 0], torch.zeros(0, dtype=torch.int64), []).shape == (
        (2, 0) if sizes[0] == 2 else (0, 2)
    )


KINDS = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}


@pytest.mark.parametrize("has_biases", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_layers_of_64_bits_give_what_those_of_32_give(kind: str, has_biases: bool) -> None:
    torch.manual_seed(0)
    deep = KINDS[kind] * 5
    weights = [torch.randn(deep, 3), torch.randn(deep, 5)]
    weights += [torch.randn(deep), torch.randn(deep)] if has_biases else []
    x, h = torch.randn(4, 2, 3), torch.randn(1, 2, 5)
    found = []
    for dtype in (torch.float32, torch.float64):
        state = h.to(dtype)
        given = [each.to(dtype) for each in weights]
        call = getattr(torch, kind)
        states = (state, state) if kind == "lstm" else state
        with torch.no_grad():
            found.append(
                call(x.to(dtype), states, given, has_biases, 1, 0.0, False, False, False)[0]
            )
    assert found[1].dtype == torch.float64
    assert torch.allclose(found[0].double(), found[1], 1e-4, 1e-5)


@pytest.mark.parametrize("part", ["x[0]", "x[:1]", "x[None]", "x.view(3)", "x.t()"])
@pytest.mark.parametrize(
    ("mode", "word"), [(torch.no_grad, "no_grad"), (torch.inference_mode, "inference")]
)
def test_a_view_knows_the_mode_it_was_made_in(mode: type, word: str, part: str) -> None:
    leaf = torch.ones(3, requires_grad=True)
    x = torch.ones(3)
    with mode():
        view = eval(part, {"x": x})
    x.mul_(leaf)
    with pytest.raises(RuntimeError, match=f"A view was created in {word} mode"):
        view.add_(1)
