"""The operators of torchaudio, against slow statements of what they mean."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight import Tensor

RNG = np.random.default_rng(11)
AUDIO = torch.ops.torchaudio


def tensor(array: Any, dtype: Any = None) -> Tensor:
    return torch.tensor(np.asarray(array), dtype=dtype)


# ---------------------------------------------------------------------------------------- filters


@pytest.mark.parametrize("kernels", ["", "numpy"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_filter_takes_earlier_outputs_from_inputs(
    dtype: Any, kernels: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if kernels:
        monkeypatch.setattr("rushlight.ops.audio.filters.family", lambda name: None)
    x = RNG.normal(size=(2, 3, 20)).astype(dtype)
    by = RNG.uniform(-0.5, 0.5, (3, 3)).astype(dtype)
    expected = np.zeros((2, 3, 22), dtype)
    expected[:, :, :2] = start = RNG.normal(size=(2, 3, 2)).astype(dtype)
    for batch, channel, time in np.ndindex(2, 3, 20):
        sample = x[batch, channel, time]
        for place in range(3):
            sample -= expected[batch, channel, time + place] * by[channel, place]
        expected[batch, channel, time + 2] = sample
    out = torch.zeros(2, 3, 22, dtype=tensor(x).dtype)
    out[:, :, :2] = tensor(start)
    version = out._version
    assert AUDIO._lfilter_core_loop(tensor(x), tensor(by), out) is out
    assert np.array_equal(out.numpy(), expected)
    assert out._version == version + 1


def test_filters_refuse_what_does_not_fit() -> None:
    x, by, out = torch.zeros(2, 3, 5), torch.zeros(3, 2), torch.zeros(2, 3, 6)
    for arguments, words in (
        ((x.half(), by.half(), out.half()), "not implemented for 'Half'"),
        ((x, by.double(), out), "expected scalar type Float but found Double"),
        ((x, by[:2], out), "a_coeff_flipped must be 2-D"),
        ((x, by, torch.zeros(2, 3, 7)), "order - 1 samples more"),
        ((x, by[:, :0], torch.zeros(2, 3, 4)), "order - 1 samples more"),
        ((x, by, torch.zeros(3, 2, 6).transpose(0, 1)), "padded_output_waveform must be contig"),
    ):
        with pytest.raises(RuntimeError, match=words):
            AUDIO._lfilter_core_loop(*arguments)


@pytest.mark.parametrize("is_contiguous", [True, False])
def test_overdrive_sums_in_float64(is_contiguous: bool) -> None:
    waveform, temp = RNG.normal(size=(2, 2, 30)).astype(np.float32)
    last_in, last_out = RNG.normal(size=(2, 2)).astype(np.float32)
    arrays = [tensor(each) for each in (waveform, temp, last_in, last_out)]
    out = torch.zeros(2, 30)
    if not is_contiguous:
        arrays[1] = arrays[1].t().contiguous().t()
    expected = np.zeros((2, 30), np.float32)
    for time in range(30):
        step = (temp[:, time] - last_in).astype(np.float64)
        last_out = (step + 0.995 * last_out.astype(np.float64)).astype(np.float32)
        last_in = temp[:, time]
        wide = waveform[:, time].astype(np.float64)
        expected[:, time] = wide * 0.5 + last_out.astype(np.float64) * 0.75
    made = AUDIO._overdrive_core_loop(*arrays, out)
    assert all(a is b for a, b in zip(made, (arrays[2], arrays[3], out), strict=True))
    for found, wanted in zip(made, (last_in, last_out, expected), strict=True):
        assert np.array_equal(found.numpy(), wanted)
    with pytest.raises(RuntimeError, match="temp must have the shape of waveform"):
        AUDIO._overdrive_core_loop(arrays[0], arrays[1][:, :3], *arrays[2:], out)


# -------------------------------------------------------------------------------------- alignment


def collapsed(path: tuple[int, ...]) -> list[int]:
    return [label for label, _ in itertools.groupby(path) if label]


@pytest.mark.parametrize("targets", [[1], [1, 2], [2, 2], [1, 2, 1]])
@pytest.mark.parametrize("steps", [3, 5])
def test_the_best_path_of_all(targets: list[int], steps: int) -> None:
    log_probs = RNG.normal(size=(1, steps, 3))
    paths = [p for p in itertools.product(range(3), repeat=steps) if collapsed(p) == targets]
    best = max(paths, key=lambda path: sum(log_probs[0, t, k] for t, k in enumerate(path)))
    given = tensor(log_probs)
    lengths = (torch.tensor([steps]), torch.tensor([len(targets)]))
    path, same = AUDIO.forced_align(given, torch.tensor([targets]).int(), *lengths, 0)
    assert (path.tolist(), path.dtype) == ([list(best)], torch.int32)
    assert same is given


def test_alignment_refuses_what_does_not_fit() -> None:
    x, labels, six, two = torch.zeros(1, 6, 4), *map(torch.tensor, ([[1, 1]], [6], [2]))
    for arguments, words in (
        ((x, labels, six - 1, two, 0), "input length mismatch"),
        ((x, labels, six, two + 1, 0), "target length mismatch"),
        ((x, labels, six, two, 4), "blank must be within"),
        ((x, labels + 3, six, two, 0), "targets must be within"),
        ((x.bfloat16(), labels, six, two, 0), "log_probs must be float64"),
        ((torch.zeros(2, 6, 4), labels, six, two, 0), "batch dimension for log_probs must be 1"),
        (
            (x[:, :2], labels, six - 4, two, 0),
            "Found log_probs length: 2, targets length: 2, and number of repeats: 1",
        ),
    ):
        with pytest.raises(RuntimeError, match=words):
            AUDIO.forced_align(*arguments)


# ------------------------------------------------------------------------------------- transducer


def likelihood(log_probs: Any, targets: list[int], blank: int) -> float:
    """Of all ways through the lattice, one by one."""
    steps, places = len(log_probs), len(targets)

    def ways(time: int, label: int) -> float:
        if time == steps:
            return float(label == places)
        total = math.exp(log_probs[time, label, blank]) * ways(time + 1, label)
        if label < places:
            total += math.exp(log_probs[time, label, targets[label]]) * ways(time, label + 1)
        return total

    return ways(0, 0)


def test_a_transducers_loss_and_its_gradient() -> None:
    logits = torch.tensor(RNG.normal(size=(2, 4, 3, 5)), dtype=torch.float32, requires_grad=True)
    targets = torch.tensor([[1, 2], [3, 0]], dtype=torch.int32)
    lengths = (torch.tensor([4, 3], dtype=torch.int32), torch.tensor([2, 1], dtype=torch.int32))
    costs, _ = AUDIO.rnnt_loss_forward(logits, targets, *lengths, 4, -1.0, True)
    normal = logits.detach().double().log_softmax(-1).numpy()
    expected = [
        -math.log(likelihood(normal[0], [1, 2], 4)),
        -math.log(likelihood(normal[1, :3, :2], [3], 4)),
    ]
    assert costs.tolist() == pytest.approx(expected, rel=1e-6)
    costs.sum().backward()
    given = logits.detach().double().numpy()
    for place in [(0, 1, 1, 4), (0, 3, 2, 4), (1, 2, 0, 3), (1, 0, 1, 2), (1, 3, 0, 0)]:
        values = []
        for step in (1e-4, -1e-4):
            moved = given.copy()
            moved[place] += step
            one = tensor(moved).log_softmax(-1).numpy()[place[0]]
            used = (one, [1, 2]) if place[0] == 0 else (one[:3, :2], [3])
            values.append(-math.log(likelihood(*used, 4)))
        slope = (values[0] - values[1]) / 2e-4
        assert logits.grad[place].item() == pytest.approx(slope, abs=1e-6)


def test_the_loss_of_log_probabilities() -> None:
    log_probs = torch.randn(1, 3, 3, 4).log_softmax(-1)
    rest = (torch.tensor([[1, 2]]).int(), torch.tensor([3]).int(), torch.tensor([2]).int(), 0)
    fused, _ = AUDIO.rnnt_loss_forward(log_probs, *rest, -1.0, True)
    plain, by = AUDIO.rnnt_loss_forward(log_probs, *rest, 0.25, False)
    assert torch.allclose(fused, plain)
    assert (by.min().item(), by.max().item()) == (-0.25, 0)  # cut
    assert by[..., 3].abs().sum().item() == 0  # which nobody puts out


def test_the_loss_refuses_what_does_not_fit() -> None:
    x, labels = torch.zeros(1, 3, 3, 4), torch.zeros(1, 2).int()
    three, two = torch.tensor([3]).int(), torch.tensor([2]).int()
    for arguments, words in (
        ((x.double(), labels, three, two, 3), "logits must be float32 or float16"),
        ((x, labels.long(), three, two, 3), "targets must be int32 type"),
        ((x, labels, three, two, 4), "blank must be within"),
        ((x, labels, two, two, 3), "input length mismatch"),
        ((x, labels, three, three, 3), "output length mismatch"),
        ((x, labels + 4, three, two, 3), "targets must be within"),
        ((x, labels[:0], three, two, 3), "mismatch between logits and targets"),
    ):
        with pytest.raises(RuntimeError, match=words):
            AUDIO.rnnt_loss_forward(*arguments, -1.0, True)


# ---------------------------------------------------------------------------------------- library


def test_torchaudios_library_is_known(tmp_path: Path) -> None:
    folder = tmp_path / "torchaudio" / "lib"
    folder.mkdir(parents=True)
    for name in ("_torchaudio.abi3.so", "libtorchaudio.so"):
        with pytest.raises(OSError, match="Could not load this library"):
            torch.ops.load_library(folder / name)
        (folder / name).write_bytes(b"")
        torch.ops.load_library(folder / name)
    with pytest.raises(OSError, match="Could not load this library"):
        torch.ops.load_library(folder.parent / "_C.so")
    assert torch.ops._torchaudio.is_align_available() is True
    assert torch.ops._torchaudio.cuda_version() is None
