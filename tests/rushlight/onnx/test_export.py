"""Exported programs, run by ONNX's own reference, give what the programs give."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import rushlight as torch
from rushlight import nn
from rushlight.__main__ import main

reference = pytest.importorskip("onnx.reference")


def run(program: Any, given: tuple[Any, ...], other: tuple[Any, ...] = (), **options: Any) -> Any:
    """The results of the exported program, of `other` arguments if there are any."""
    file = io.BytesIO()
    torch.onnx.export(program, given, file, **options)
    onnx.checker.check_model(file.getvalue(), full_check=True)
    model = onnx.load_from_string(file.getvalue())
    values = [v for v in other or given if isinstance(v, torch.Tensor) or options]
    arrays = [np.asarray(v.numpy() if isinstance(v, torch.Tensor) else v) for v in values]
    names = [each.name for each in model.graph.input]
    return reference.ReferenceEvaluator(model).run(None, dict(zip(names, arrays, strict=False)))


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.norm = nn.LayerNorm(4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(self.norm(torch.relu(self.first(x))), dim=-1)


def branch(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:  # noqa: SIM108
        y = x * 2
    else:
        y = x - 1
    return y


def collected(x: torch.Tensor, n: int) -> torch.Tensor:
    found = []
    for i in range(n):
        if i == 3:
            break
        x = x + i
        found.append(x)
    return torch.stack(found)


def halved(x: torch.Tensor) -> tuple[torch.Tensor, int]:
    rounds = 0
    while bool(x.abs().max() > 1):
        x = x / 2
        rounds += 1
    return x, rounds


def returned(x: torch.Tensor, n: int) -> torch.Tensor:
    for i in range(n):
        if bool(x[i] > 0):
            return x[i] * 10
    return x[0]


def written(x: torch.Tensor) -> torch.Tensor:
    y = torch.zeros_like(x)
    for i in range(x.size(0)):
        y[i] = x[i] * i
    part = y[:, 1]
    part += 1
    return y


def viewed(x: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    part = y[0]
    found = x[1]
    if bool(x.sum() > 0):
        y.add_(1)
        found = part
    return found * 2


def numbers(x: torch.Tensor) -> torch.Tensor:
    sizes = [1]
    for _ in range(x.size(0)):
        sizes.append(sizes[-1] * 2)
    return torch.tensor(sizes)


def exchanged(x: torch.Tensor, n: int) -> torch.Tensor:
    rows = [x, x + 1, x + 2]
    rows[n] = x * 10
    rows[-1] = x - 1
    return torch.stack(rows)


def test_arguments_by_name_stand_at_the_end() -> None:
    class Sum(nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor | None = None) -> torch.Tensor:
            return x if y is None else x - y

    file = io.BytesIO()
    torch.onnx.export(Sum(), (torch.ones(2), {"y": torch.ones(2)}), file)
    model = reference.ReferenceEvaluator(onnx.load_from_string(file.getvalue()))
    arrays = {"x": np.full(2, 3, np.float32), "y": np.ones(2, np.float32)}
    assert model.run(None, arrays)[0].tolist() == [2, 2]


def test_a_module_keeps_the_names_of_its_weights() -> None:
    model, x = Net(), torch.randn(2, 3)
    for program in (
        model,
        torch.jit.script(model),
        torch.jit.freeze(torch.jit.script(model.eval())),
    ):
        (found,) = run(program, (x,), dynamic_axes={"x": {0: "batch"}})
        np.testing.assert_allclose(found, model(x).detach().numpy(), rtol=1e-5)
    made = torch.onnx.export(model, (x,))
    assert made is not None
    names = {each.name for each in made.model_proto.graph.initializer}
    assert names >= {"first.weight", "first.bias", "norm.weight", "norm.bias"}


@pytest.mark.parametrize(
    ("function", "given", "other"),
    [
        (branch, (torch.ones(2),), (-torch.ones(5),)),
        (collected, (torch.ones(2), 2), (torch.ones(3), 9)),
        (halved, (torch.ones(2),), (torch.tensor([5.0, 1.0, 9.0]),)),
        (returned, (torch.ones(2), 2), (torch.tensor([-1.0, -2.0, 3.0]), 3)),
        (written, (torch.ones(2, 3),), (torch.randn(4, 3),)),
        (exchanged, (torch.ones(2), 0), (torch.randn(3), 1)),
        (viewed, (torch.ones(2, 3),), (torch.ones(4, 3),)),
        (numbers, (torch.ones(2),), (torch.ones(5),)),
    ],
)
def test_branches_and_loops_are_kept(function: Any, given: Any, other: Any) -> None:
    program = torch.jit.script(function)
    axes: dict[str, dict[int, str]] = {"x": {0: "size"}, "n": {}}
    found = run(program, given, other, dynamic_axes=axes)
    wanted = program(*(v.clone() if isinstance(v, torch.Tensor) else v for v in other))
    for a, b in zip(found, wanted if isinstance(wanted, tuple) else (wanted,), strict=True):
        np.testing.assert_allclose(a, b.numpy() if isinstance(b, torch.Tensor) else b, rtol=1e-6)


NAN = float("nan")


@pytest.mark.parametrize(
    ("body", "given"),
    [
        ("torch.prod(x, dtype=torch.uint8)", (torch.tensor([[1, 2], [3, 4]]),)),
        ("torch.sum(x, dtype=torch.int8)", (torch.tensor([[100, 100], [3, 4]]),)),
        ("torch.cumsum(x, 0, dtype=torch.int16)", (torch.tensor([30000, 30000]),)),
        ("x.clone().addbmm_(y, z)", (torch.ones(2, 2), torch.ones(3, 2, 4), torch.ones(3, 4, 2))),
        ("torch.fmax(x, y)", (torch.tensor([1, NAN, NAN]), torch.tensor([NAN, 2, NAN]))),
        ("torch.fmin(x, y)", (torch.tensor([1, NAN, 3]), torch.tensor([NAN, 2, 2]))),
        ("torch.float_power(x, 2)", (torch.tensor([3, 0.5]),)),
        ("torch.inner(x, y)", (torch.arange(4.0).reshape(2, 2), torch.ones(2, 2).tril())),
        ("x.T", (torch.arange(8).reshape(2, 2, 2),)),
        ("torch.pixel_shuffle(x, 2)", (torch.arange(16.0).reshape(4, 2, 2),)),
        ("torch.pixel_shuffle(x, 2)", (torch.arange(48.0).reshape(3, 1, 4, 2, 2),)),
        ("torch.pixel_unshuffle(x, 2)", (torch.arange(24.0).reshape(3, 2, 4),)),
        ("torch.pixel_unshuffle(x, 2)", (torch.arange(24.0).reshape(3, 1, 1, 2, 4),)),
    ],
)
def test_operators_keep_dtypes_sizes_and_nan(body: str, given: Any) -> None:
    parameters = ", ".join("xyz"[: len(given)])
    program = torch.jit.CompilationUnit(f"def f({parameters}):\n    return {body}\n").f
    (found,) = run(program, given)
    wanted = program(*given).numpy()
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_everything_without_a_form_is_told_of_at_once(tmp_path: Path) -> None:
    def unknown(x: torch.Tensor) -> torch.Tensor:
        y = torch.linalg.inv(x)
        return torch.fft.rfft(y).real + torch.linalg.inv(x)

    with pytest.raises(torch.onnx.errors.UnsupportedOperatorError) as caught:
        torch.onnx.export(torch.jit.script(unknown), (torch.eye(2),), tmp_path / "m.onnx")
    assert len(caught.value.diagnostics) == 2
    lines = [d.primary.span.line for d in caught.value.diagnostics if d.primary is not None]
    assert lines[1] == lines[0] + 1
    assert "linalg_inv" in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_a_tensor_changed_under_another_name_is_refused() -> None:
    def aliased(x: torch.Tensor, n: int) -> torch.Tensor:
        found = []
        for _ in range(n):
            x = x * 2
            found.append(x)
        x += 1
        return torch.stack(found)

    with pytest.raises(torch.onnx.errors.UnsupportedOperatorError, match="under another name"):
        run(torch.jit.script(aliased), (torch.ones(2), 3), dynamic_axes={"n": {}})


def test_what_joins_nothing_is_refused() -> None:
    def nothing(x: torch.Tensor) -> torch.Tensor:
        parts: list[torch.Tensor] = []
        return torch.cat(parts)

    with pytest.raises(torch.onnx.errors.UnsupportedOperatorError, match="an empty list"):
        run(torch.jit.script(nothing), (torch.ones(2),))


def test_weights_may_lie_beside_the_file(tmp_path: Path) -> None:
    model = nn.Linear(40, 40)
    made = torch.onnx.export(model, (torch.ones(1, 40),))
    assert made is not None
    made.save(tmp_path / "m.onnx", external_data=True)
    assert {file.name for file in tmp_path.iterdir()} == {"m.onnx", "m.onnx.data"}
    read = onnx.load(tmp_path / "m.onnx")
    (found,) = reference.ReferenceEvaluator(read).run(None, {"input": np.ones((1, 40), np.float32)})
    np.testing.assert_allclose(found, model(torch.ones(1, 40)).detach().numpy(), 1e-4, 1e-6)


def test_functions_of_ones_own_are_written_out() -> None:
    class Both(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor, by: float) -> Any:
            return x * by, x + by

    class Inner(nn.Module):
        def forward(self, x: torch.Tensor) -> Any:
            one, other = Both.apply(x, 2.0)
            return one - other

    program = nn.Sequential(nn.Linear(2, 2), Inner())
    x = torch.ones(1, 2)
    np.testing.assert_allclose(run(program, (x,))[0], program(x).detach().numpy())


def counted(x: torch.Tensor, n: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    repeated = x.repeat_interleave(n, dim=0)
    rolled = torch.roll(x, [x.size(0) // 2, -1], [0, 1])
    return repeated, rolled, x.repeat_interleave(x.size(0) + 1, 1)


def boxes(x: torch.Tensor, scores: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    rois = torch.cat([torch.zeros(x.size(0), 1), x], 1)
    image = torch.arange(64.0).reshape(1, 1, 8, 8)
    cut = torch.ops.torchvision.roi_align(image, rois, 0.5, 2, 3, 2, True)
    return torch.ops.torchvision.nms(x, scores, 0.5), cut


def test_counts_and_boxes_of_a_run() -> None:
    x, n = torch.arange(6.0).reshape(3, 2), torch.tensor([2, 0, 3])
    corners = torch.tensor([[0.0, 0, 4, 4], [0, 1, 4, 4], [4, 4, 8, 9], [0, 0, 9, 9]])
    marks = torch.tensor([0.5, 0.7, 0.1, 0.2])
    cases = (
        (counted, (x, n), {"x": {0: "rows"}, "n": {0: "rows"}}),
        (boxes, (corners, marks), {"x": {0: "boxes"}, "scores": {0: "boxes"}}),
    )
    for function, given, axes in cases:
        program, names = torch.jit.script(function), list(axes)
        found = run(program, given, input_names=names, dynamic_axes=axes)
        file = io.BytesIO()
        torch.onnx.export(program, given, file, input_names=names, dynamic_axes=axes)
        file.seek(0)
        again = torch.onnx.load(file)(*given)
        for one, two, wanted in zip(found, again, program(*given), strict=True):
            np.testing.assert_allclose(one, wanted.numpy(), 1e-6)
            assert torch.allclose(two, wanted)


def test_outputs_have_the_names_that_are_given_and_no_more() -> None:
    class Pair(nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return x + 1, x * 2

    program, x = torch.jit.script(Pair()), torch.ones(2)
    for given, names in ((["a"], ["a", "output_1"]), (["a", "b"], ["a", "b"])):
        file = io.BytesIO()
        torch.onnx.export(program, (x,), file, output_names=given)
        model = onnx.load_from_string(file.getvalue())
        assert [each.name for each in model.graph.output] == names
    with pytest.raises(
        torch.onnx.OnnxExporterError, match=r"names provided \(3\) exceeded .* outputs \(2\)"
    ):
        torch.onnx.export(program, (x,), io.BytesIO(), output_names=["a", "b", "c"])


def test_sizes_as_tensors_and_the_weights_of_attention() -> None:
    class Attending(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.attention = nn.MultiheadAttention(4, 2, batch_first=True)

        def forward(self, x: torch.Tensor) -> Any:
            size = torch.onnx.operators.shape_as_tensor(x)[1]
            return *self.attention(x, x, x), size * 2

    model, x = Attending().eval(), torch.rand(2, 3, 4)
    axes = {"x": {1: "length"}}
    other = torch.rand(2, 5, 4)
    with torch.no_grad():
        found = run(model, (x,), (other,), input_names=["x"], dynamic_axes=axes)
        for one, wanted in zip(found, model(other), strict=True):
            np.testing.assert_allclose(one, wanted.numpy(), 1e-5, 1e-6)


def test_the_command_writes_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    torch.jit.script(Net()).save(str(tmp_path / "m.pt"))
    target = tmp_path / "m.onnx"
    words = ["convert", str(tmp_path / "m.pt"), str(target)]
    assert main(words) == 2
    assert "`x`" in capsys.readouterr().err
    assert not target.exists()
    assert main([*words, "--input", "batch,3", "--opset", "17"]) == 0
    model = onnx.load(target)
    assert model.graph.input[0].type.tensor_type.shape.dim[0].dim_param == "batch"
    assert model.opset_import[0].version == 17


def test_the_command_names_the_missing_forward(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    class Twice(nn.Module):
        @torch.jit.export
        def twice(self, x: torch.Tensor) -> torch.Tensor:
            return x + x

    torch.jit.script(Twice()).save(str(tmp_path / "m.pt"))
    assert main(["convert", str(tmp_path / "m.pt"), str(tmp_path / "m.onnx")]) == 2
    assert "there is no method `forward`; there are: `twice`" in capsys.readouterr().err
