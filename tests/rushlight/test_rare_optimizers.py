"""`optim.Adafactor`, `optim.Muon` and `optim.SparseAdam`; the numbers are PyTorch's."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as torch
from rushlight import optim
from rushlight.optim import _muon as muon

MATRIX = [[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]]
SPARSE = [
    [0.9, 0.9, 0.9],
    [1.0, 0.9255863, 0.9255863],
    [0.8141538, 0.8141846, 0.8145859],
    [1.0, 1.0, 1.0],
]
FAR: Any = {"lr": 0.4, "d": 3.0, "eps": (1e-3, 0.1), "beta2_decay": -0.5}


def weight(*sizes: int) -> Any:
    return torch.nn.Parameter(torch.ones(*sizes))


def rows(*numbers: int) -> Any:
    """A sparse gradient of 4 rows of 3, these of them named."""
    values = torch.arange(3.0 * len(numbers)).reshape(-1, 3)
    return torch.sparse_coo_tensor(torch.tensor([numbers]), values, (4, 3))


@pytest.mark.parametrize(
    ("name", "options", "expected"),
    [
        ("Adafactor", {}, [0.448866875, -0.921814305, 1.99433954, 1.43727588, 0.224371396]),
        (
            "Adafactor",
            {"lr": 0.3, "weight_decay": 0.1, "maximize": True},
            [1.92501363, -2.0306902, 2.01475649, 1.99866166, 1.97421362],
        ),
        ("Adafactor", FAR, [0.000120472795, -0.000211685699, 0.735818498, 0.00651004199]),
        ("Muon", {}, [0.496942021, -0.99474324, 1.99843976, 1.49604767, 0.248023831]),
        ("Muon", {"lr": 0.1, "nesterov": False}, [0.223378192, -0.495137788, 1.82096338]),
        (
            "Muon",
            {"lr": 0.1, "adjust_lr_fn": "match_rms_adamw", "ns_steps": 3},
            [0.381236704, -0.803785504, 1.88620319, 1.29894625, 0.18823619],
        ),
    ],
)
def test_five_steps_of_a_matrix(name: str, options: Any, expected: list[float]) -> None:
    w = torch.nn.Parameter(torch.tensor(MATRIX, dtype=torch.float64))
    optimizer = getattr(optim, name)([w], **options)
    for _ in range(5):
        optimizer.zero_grad()
        (w.sin() * w).sum().backward()
        optimizer.step()
    assert w.flatten().tolist()[: len(expected)] == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("sizes", [(3, 5), (7, 2), (1, 1), (0, 3), (33, 40)])
def test_muon_does_the_same_with_and_without_kernels(
    sizes: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def trained() -> Any:
        torch.manual_seed(0)
        w = torch.nn.Parameter(torch.randn(*sizes))
        optimizer = optim.Muon([w], lr=0.1)
        for _ in range(8):  # later ones are known beforehand
            w.grad = torch.randn(*sizes)
            optimizer.step()
        return w.detach()

    natively = trained()
    for name in ("family", "_KNOWN"):
        monkeypatch.setattr(muon, name, {"family": lambda _: None, "_KNOWN": Plain}[name])
    monkeypatch.setattr(muon, "folded", lambda *_, **__: None)
    assert torch.allclose(trained(), natively, rtol=1e-6, atol=1e-6)


class Plain:
    """Calls that are done in Python each time."""

    call = staticmethod(muon._iterated)


def test_sparse_adam_moves_only_the_rows_named() -> None:
    w = weight(4, 3)
    optimizer = optim.SparseAdam([w], lr=0.1)
    for named in ((0, 2, 0), (1,), (2, 2), ()):
        w.grad = rows(*named)
        optimizer.step()
    assert w.tolist() == [pytest.approx(row, abs=1e-6) for row in SPARSE]
    assert optimizer.state_dict()["state"][0]["step"] == 4


@pytest.mark.parametrize("name", ["Adam", "AdamW", "RMSprop", "Muon", "Adafactor", "Rprop"])
def test_others_refuse_sparse_gradients(name: str) -> None:
    w = weight(4, 3)
    w.grad = rows(1)
    shown = "Adam" if name == "AdamW" else name
    with pytest.raises(RuntimeError, match=f"^{shown} does not support sparse gradients"):
        getattr(optim, name)([w]).step()


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: optim.Adafactor([weight(2)], lr=-1.0),
            "Learning rate should be >= 0 but is: -1.0",
        ),
        (lambda: optim.Adafactor([weight(2)], beta2_decay=0.1), "beta2_decay should be <= 0"),
        (lambda: optim.Adafactor([weight(2)], eps=(-1.0, 0.1)), "epsilon1 should be >= 0"),
        (lambda: optim.Adafactor([weight(2)], d=0.5), "Clipping threshold d should be >= 1 but is"),
        (lambda: optim.Muon([weight(2)]), r"with size: torch.Size\(\[2\]\)"),
        (lambda: optim.Muon([weight(2, 2)], adjust_lr_fn="a"), "function a is not supported"),
        (lambda: optim.Muon([weight(2, 2)], lr=torch.ones(2)), "Tensor lr must be 1-element"),
        (lambda: optim.SparseAdam([weight(2)], eps=0.0), "Invalid epsilon value: 0.0"),
        (lambda: optim.SparseAdam([weight(2), rows(1)]), r"Sparse params at indices \[\[0, 1\]\]"),
    ],
)
def test_options_out_of_range(make: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        make()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"ns_steps": 100}, "Number of steps must be less than 100"),
        ({"ns_coefficients": (1.0, 2.0)}, "must be a tuple of exactly 3 values"),
    ],
)
def test_muon_refuses_iterations_when_it_comes_to_them(options: Any, text: str) -> None:
    w = weight(2, 2)
    optimizer = optim.Muon([w], **options)
    w.grad = torch.ones(2, 2)
    with pytest.raises(ValueError, match=text):
        optimizer.step()


def test_sparse_adam_refuses_dense_gradients() -> None:
    w = weight(2)
    w.grad = torch.ones(2)
    with pytest.raises(RuntimeError, match="does not support dense gradients, please consider Ad"):
        optim.SparseAdam([w]).step()
