"""`rushlight compile`: archives as object files that C calls."""

from __future__ import annotations

import math
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight import Tensor, nn
from rushlight.__main__ import main
from rushlight.ahead.replaced import _REPLACED

pytest.importorskip("llvmlite")

needs_cc = pytest.mark.skipif(
    shutil.which("cc") is None or sys.platform != "linux", reason="there is no C compiler"
)


def _save(module: Any, folder: Path) -> Path:
    path = folder / "program.pt"
    torch.jit.script(module.eval()).save(str(path))
    return path


def _built(module: Any, folder: Path, *inputs: str) -> Path:
    """The example of a compiled module, built by the C compiler with all warnings as errors."""
    options = [word for each in inputs for word in ("--input", each)]
    path = _save(module, folder)
    assert main(["compile", str(path), "-o", str(folder / "model"), *options]) == 0
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-O1"]
    files = ["model_example.c", "model.o", "-lm", "-o", "run"]
    subprocess.run(["cc", *flags, *files], cwd=folder, check=True)
    return folder / "run"


def _ran(program: Path, *arrays: Any) -> tuple[list[float], str]:
    """What the example prints for arrays, and what it says on standard error."""
    names = []
    for number, array in enumerate(arrays):
        names.append(f"in{number}")
        np.ascontiguousarray(array).tofile(program.parent / names[-1])
    done = subprocess.run([program, *names], capture_output=True, text=True, cwd=program.parent)
    return [float(line) for line in done.stdout.split()], done.stderr


def _expected(module: Any, *arrays: Any) -> list[float]:
    with torch.no_grad():
        result = module(*map(torch.from_numpy, arrays))
    parts = result if isinstance(result, tuple) else (result,)
    return [
        float(n)
        for each in parts
        for n in (each.numpy().ravel() if isinstance(each, Tensor) else [each])
    ]


def _numbers(*shape: int) -> Any:
    return np.random.default_rng(1).standard_normal(shape).astype(np.float32)


class Block(nn.Module):
    def __init__(self, planes: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(planes, planes, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(planes)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x: Tensor) -> Tensor:
        return self.relu(self.norm(self.first(x)) + x)


class Residual(nn.Module):
    """ResNet in small: strided convolution, pooling, blocks, averages, a linear layer."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, 8, 7, 2, 3, bias=False), nn.BatchNorm2d(8), nn.MaxPool2d(3, 2, 1)
        )
        self.blocks = nn.Sequential(Block(8), Block(8))
        self.head = nn.Linear(8, 5)

    def forward(self, x: Tensor) -> Tensor:
        x = self.blocks(self.stem(x))
        return self.head(torch.flatten(nn.functional.adaptive_avg_pool2d(x, 1), 1))


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(4, 8)
        self.out = nn.Linear(8, 3)

    def forward(self, x: Tensor) -> Tensor:
        h = torch.zeros(x.size(1), 8)
        c = torch.zeros(x.size(1), 8)
        for t in range(x.size(0)):
            h, c = self.cell(x[t], (h, c))
        return torch.softmax(self.out(h), 1)


@pytest.mark.parametrize("both_ways", [False, True])
@pytest.mark.parametrize("cell", ["lstm", "gru", "rnn_tanh", "rnn_relu"])
def test_recurrent_layers_are_written_as_their_cells(cell: str, both_ways: bool) -> None:
    kind = {"lstm": nn.LSTM, "gru": nn.GRU}.get(cell, nn.RNN)
    for batch_first, has_biases in ((False, True), (True, False)):
        layer = kind(3, 4, 2, bias=has_biases, bidirectional=both_ways)
        weights = [each.detach() for each in layer._flat_weights]
        start = torch.rand(4 if both_ways else 2, 2, 4)
        x = torch.rand(2, 5, 3) if batch_first else torch.rand(5, 2, 3)
        state = [start, start * 2] if cell == "lstm" else start
        given = (x, state, weights, has_biases, 2, 0.0, False, both_ways, batch_first)
        made, wanted = _REPLACED[f"aten::{cell}.input"](*given), getattr(torch, cell)(*given)
        for one, other in zip(made, wanted, strict=True):
            assert torch.allclose(one, other, atol=1e-6)


class Attending(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(10, 8)
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
        self.norm = nn.LayerNorm(8)

    def forward(self, words: Tensor) -> Tensor:
        x = self.embed(words)
        return self.norm(x + self.attention(x, x, x)[0]).mean(1)


class Decoding(nn.Module):
    """Rows that do not lie in order, an encoder's layer in one operator, transposed convolution."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, norm_first=True)
        self.cell = nn.LSTMCell(8, 4)
        self.out = nn.ConvTranspose2d(2, 3, 3, 2, 1, output_padding=1)
        self.line = nn.ConvTranspose1d(4, 2, 2, groups=2)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        rows = self.layer(x).permute(1, 0, 2)
        h = torch.zeros(x.size(0), 4)
        c = torch.zeros(x.size(0), 4)
        for t in range(rows.size(0)):
            h, c = self.cell(rows[t], (h, c))
        return self.out(h.view(1, 2, -1, 2)), self.line(h.t().unsqueeze(0))


class Equations(nn.Module):
    """Systems whose matrices are factored beforehand, of sizes that LAPACK solves elsewhere."""

    def __init__(self, *sizes: int) -> None:
        super().__init__()
        numbers = torch.from_numpy(_numbers(max(sizes), max(sizes)))
        a, b = ((numbers[:n, :n] / n).tril() + torch.eye(n) for n in sizes)
        self.register_buffer("a", a)
        self.register_buffer("b", b)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        lower = torch.cholesky_solve(x[: self.a.size(0)], self.a)
        upper = torch.cholesky_solve(x, self.b.mT, upper=True)
        return lower, upper, torch.linalg.solve_triangular(self.b, x, upper=False)


@needs_cc
@pytest.mark.parametrize(
    ("module", "shape"),
    [
        (Residual, (2, 3, 33, 33)),
        (Recurrent, (6, 2, 4)),
        (Decoding, (3, 4, 8)),
        (lambda: Equations(20, 80), (80, 3)),
    ],
)
def test_networks_compute_the_same(
    module: Any, shape: tuple[int, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    torch.manual_seed(0)
    made = module().eval()
    program = _built(made, tmp_path, ",".join(map(str, shape)))
    assert "a call needs" in capsys.readouterr().out
    for scale in (1, 3):
        found, said = _ran(program, _numbers(*shape) * scale)
        assert not said
        np.testing.assert_allclose(found, _expected(made, _numbers(*shape) * scale), 1e-4, 1e-5)


@needs_cc
def test_wrong_indices_are_failures_with_a_text(tmp_path: Path) -> None:
    torch.manual_seed(0)
    made = Attending().eval()
    program = _built(made, tmp_path, "2,3:int64")
    words = np.array([[1, 2, 3], [9, 0, 9]])
    np.testing.assert_allclose(_ran(program, words)[0], _expected(made, words), 1e-4, 1e-5)
    found, said = _ran(program, words + 1)
    assert not found
    assert said.startswith("`aten::embedding` at ")
    assert "an argument is wrong" in said


class Deciding(nn.Module):
    def forward(self, x: Tensor, index: Tensor) -> tuple[Tensor, Tensor, int]:
        rounds = 0
        while x.norm() > 1.0 and rounds < 50:
            x = x / 2
            rounds += 1
        row = x[int(index)]
        if row.sum() > 0:
            row = row * 2 + rounds
        elif rounds > 40:
            raise ValueError("no number is that large")
        else:
            row = -row.flip(0)
        rows = torch.zeros(3, x.size(1))
        for i in range(3):
            rows[i] = row * i
        return row, rows, rounds


@needs_cc
def test_decisions_are_made_by_the_run(tmp_path: Path) -> None:
    made = Deciding()
    program = _built(made, tmp_path, "4,3", "1:int64")
    for scale in (1, 100, -0.01, 1e9):
        for index in (0, -1, 3):
            given = (_numbers(4, 3) * np.float32(scale), np.array([index]))
            np.testing.assert_allclose(_ran(program, *given)[0], _expected(made, *given), 1e-5)
    huge = np.full((4, 3), -1e20, np.float32)
    assert _ran(program, huge, np.array([0]))[1] == "no number is that large\n"
    assert "the index is out of range" in _ran(program, huge, np.array([4]))[1]


class Listing(nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        found = []
        state = torch.zeros(x.size(1))
        for t in range(x.size(0)):
            state = torch.tanh(state + x[t])
            found.append(state)
        joined = torch.cat([torch.stack(found), y.t()], 1)
        picked = torch.where(y > 0, y, y.exp()).amax(0)
        return joined, picked, (x @ y).clamp(-1, 1).sum(1, keepdim=True).std(unbiased=False)


class Cutting(nn.Module):
    def forward(self, x: Tensor) -> tuple[int, int]:
        return int(float(x[0])), int(x[1])


@needs_cc
def test_floats_that_fit_no_int(tmp_path: Path) -> None:
    made = Cutting()
    program = _built(made, tmp_path, "2:float64")
    for number in (2.9, -2.9, 2.0**62, -(2.0**63), 2.0**63, -1e300, math.inf, math.nan):
        numbers = np.array([number, 1.5])
        found, said = _ran(program, numbers)
        assert not said
        assert found == _expected(torch.jit.script(made), numbers)
    found, said = _ran(program, np.array([0.0, 1e19]))
    assert not found
    assert "the number does not fit an int" in said
    with pytest.raises(RuntimeError, match="cannot be converted to type int64_t"):
        _expected(torch.jit.script(made), np.array([0.0, 1e19]))


@needs_cc
def test_lists_of_known_lengths(tmp_path: Path) -> None:
    program = _built(Listing(), tmp_path, "4,3", "3,4")
    given = _numbers(4, 3), _numbers(3, 4)
    np.testing.assert_allclose(_ran(program, *given)[0], _expected(Listing(), *given), 1e-4, 1e-6)


class Tokens(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        pieces = "the quick fox un ##know ##n ##s xyz".split()
        self.pieces: dict[str, int] = {piece: i for i, piece in enumerate(pieces)}

    def forward(self, text: str, limit: int) -> tuple[list[int], list[str], float]:
        numbers: list[int] = []
        words: list[str] = []
        for word in text.lower().split():
            start = 0
            while start < len(word):
                end, found = len(word), -1
                while end > start and found < 0:
                    piece = word[start:end] if start == 0 else "##" + word[start:end]
                    found = self.pieces.get(piece, -1)
                    if found < 0:
                        end -= 1
                if found < 0:
                    words.append(word)
                    break
                numbers.append(found)
                start = end
        assert len(numbers) <= limit
        return numbers, words, len(numbers) / (len(words) + 1)


@needs_cc
def test_programs_over_texts(tmp_path: Path) -> None:
    program = _built(Tokens(), tmp_path)

    def run(text: str, limit: str = "9") -> tuple[list[str], str]:
        done = subprocess.run([program, text, limit], capture_output=True, text=True)
        return done.stdout.split("\n")[:-1], done.stderr

    for text in ("the UNKNOWN foxs", "", "xyz quick q", "a b c d the"):
        numbers, words, share = torch.jit.script(Tokens())(text, 9)
        assert run(text) == ([*map(str, numbers), *words, f"{share:.17g}"], "")
    assert run("the the the", "2") == ([], "the program failed\n")
    assert run("a " * 5000, "100000") == ([], "there is too little room\n")
    for given in ("x", "", "3k", str(1 << 63)):
        assert run("the", given) == ([], f"not a number: {given}\n")


class Named(nn.Module):
    def forward(self, result: Tensor, i: Tensor, model: Tensor, double: Tensor) -> Tensor:
        return result + i * model - double


@needs_cc
def test_names_of_parameters_are_names_in_c(tmp_path: Path) -> None:
    program = _built(Named(), tmp_path, "2", "2", "2", "2")
    given = [_numbers(2) + np.float32(n) for n in range(4)]
    np.testing.assert_allclose(_ran(program, *given)[0], _expected(Named(), *given), 1e-5)
    header = (tmp_path / "model.h").read_text("utf-8")
    assert "result_given, const float *i_given, const float *model_given" in header


class Sized(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(4, 8)
        self.out = nn.Linear(8, 3)

    def forward(self, x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor, int]:
        h = torch.zeros(x.size(1), 8)
        c = torch.zeros(x.size(1), 8)
        for t in range(x.size(0)):
            h, c = self.cell(x[t] * mask[t], (h, c))
        return torch.cat([self.out(h), h], 1), x.flatten(1), x.size(0) // 2


class Total(nn.Module):
    def forward(self, a: list[float], b: list[int], c: float) -> float:
        for x in a:
            c += x
        for y in b:
            c += y
        return c


@needs_cc
def test_lists_of_numbers_come_from_the_command_line(tmp_path: Path) -> None:
    program = _built(Total(), tmp_path)
    for words, out, error in (
        (("1.5,2", "3,4", "1e1"), "20.5\n", ""),
        (("", "-4,", "1"), "-3\n", ""),
        (("1.5,x", "3", "1"), "", "not a number: x\n"),
        (("1", "3.5", "1"), "", "not a number: 3.5\n"),
    ):
        done = subprocess.run([program, *words], capture_output=True, text=True, timeout=9)
        assert (done.stdout, done.stderr) == (out, error)


@needs_cc
def test_sizes_between_bounds(tmp_path: Path) -> None:
    torch.manual_seed(0)
    made = Sized().eval()
    program = _built(made, tmp_path, "length=1..5,batch=2..3,4", "length,batch,1")
    header = (tmp_path / "model.h").read_text("utf-8")
    assert "int64_t length, int64_t batch, const float *x, const float *mask" in header
    assert "result_0: float[...][...]" not in header
    for length, batch in ((1, 2), (2, 3), (5, 2), (5, 3)):
        given = [_numbers(length, batch, each) for each in (4, 1)]
        for number, array in enumerate(given):
            array.tofile(tmp_path / f"in{number}")
        words = [program, str(length), str(batch), "in0", "in1"]
        done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path)
        assert not done.stderr
        found = [float(line) for line in done.stdout.split()]
        np.testing.assert_allclose(found, _expected(made, *given), 1e-4, 1e-5)
    for length, batch, said in (
        ("6", "2", "`length`"),
        ("5", "1", "`batch`"),
        ("-1", "2", "1 and 5"),
        ("4x", "2", "not a number: 4x"),
    ):
        words = [program, length, batch, "in0", "in1"]
        done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode
        assert said in done.stderr


class Squeezing(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.squeeze(0)


class Reshaping(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.view(2, -1)


class Rounding(nn.Module):
    def forward(self, x: Tensor, y: float = 2.0) -> tuple[float, int, float]:
        first = float(x[0])
        return math.floor(first / y) + math.sin(first), int(first) // 3, first % y


@needs_cc
def test_numbers_by_the_forms_of_native_code(tmp_path: Path) -> None:
    made = torch.jit.script(Rounding())
    program = _built(made, tmp_path, "1:float64")
    for number in (7.25, -7.25, 0.0, 1e15):
        np.testing.assert_allclose(
            _ran(program, np.array([number]))[0], made(torch.tensor([number], dtype=torch.float64))
        )
    found, said = _ran(program, np.array([1e300]))
    assert not found
    assert "`aten::floor.float` at " in said
    assert "it fails for these numbers" in said


class Sorting(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.unique(x)


class Drawing(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x + torch.rand(2)


class Greeting(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        print("hello")
        return x + 1


class Counting(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros(2))

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        return x + self.calls


class Growing(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        found = [x]
        while x.sum() > 1:
            x = x / 2
            found.append(x)
        return torch.stack(found)


class Remembering(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.seen: dict[str, int] = {"a": 1}

    def forward(self, text: str) -> int:
        for word in text.split():
            self.seen[word] = 1
        return len(self.seen)


class Learning(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(3))
        self.register_buffer("variance", torch.ones(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.batch_norm(x, self.mean, self.variance, training=True)


class Twice(nn.Module):
    @torch.jit.export
    def twice(self, x: Tensor) -> Tensor:
        return x + x


class Printing(nn.Module):
    def forward(self, text: str) -> int:
        for word in text.split():
            print(word)
        return 1


@pytest.mark.parametrize(
    ("module", "inputs", "said"),
    [
        (Sorting, ["4"], r"`aten::_unique2` at .*: there is no kernel"),
        (Drawing, ["2"], r"`aten::rand` at .*test_compile.py:.* it draws random numbers"),
        (Counting, ["2"], r"`aten::add_.Scalar` at .*: it writes a weight"),
        (Greeting, ["2"], r"`prim::Print` at .*: it does something besides computing"),
        (Learning, ["2,3"], r"`aten::batch_norm` at .*: it writes statistics, because it trains"),
        (Growing, ["2"], r"`prim::Loop` at .* list"),
        (Remembering, [], "changes what attribute"),
        (Printing, [], "`prim::Print` cannot be compiled"),
        (Recurrent, [], "there is no --input for the argument `x`"),
        (Recurrent, ["3,2,4", "3"], "forward takes `x` alone, but there are 2 --input"),
        (Recurrent, ["3,2,5"], "it fails for the examples"),
        (Recurrent, ["3,x"], "sizes are numbers"),
        (Recurrent, ["n=3..2,2,4"], "no bounds from 1 on"),
        (Recurrent, ["n=1..3,n=1..2,4"], "`n` has other bounds before"),
        (Recurrent, ["n=1..100,m=1..100,4"], "10000 values together, more than 4096"),
        (Recurrent, ["3,2,k=4..5"], r"for k = 5: .* it fails for the examples"),
        (Squeezing, ["n=1..2,3"], "numbers of dimensions of results depend on the sizes"),
        (Reshaping, ["n=2..3,3"], r"for n = 3: `aten::view` at .* it fails for the examples"),
        (Recurrent, ["3,2,4:complex64"], "the dtype is one of"),
        (Recurrent, ["none.npy"], "none.npy"),
        (Tokens, ["2"], "it needs no --input"),
        (Twice, ["2"], "there is no method `forward`"),
    ],
)
def test_what_is_refused_writes_nothing(
    module: Any, inputs: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = _save(module(), tmp_path)
    options = [word for each in inputs for word in ("--input", each)]
    assert main(["compile", str(path), "-o", str(tmp_path / "model"), *options]) == 2
    error = capsys.readouterr().err

    assert re.search(said, error), error
    assert [each.name for each in tmp_path.iterdir()] == ["program.pt"]


class AbsoluteNumbers(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return abs(x) + x.data


@needs_cc
def test_what_is_a_fact_of_a_tensor_is_not_what_it_holds(tmp_path: Path) -> None:
    program = _built(AbsoluteNumbers(), tmp_path, "5")
    x = np.array([-2.0, 3.0, -0.5, 0.0, 7.0], np.float32)
    assert _ran(program, x)[0] == _expected(AbsoluteNumbers(), x)
