"""ONNX Runtime within a bigger program."""

from __future__ import annotations

import io
import sys
from typing import Any

import pytest

import rushlight as torch
from rushlight import nn

pytest.importorskip("onnx")


class Counted(nn.Module):
    """A network with a part of its own in the middle: what a text says decides on the rows."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Sequential(
            nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2)
        )
        self.last = nn.Sequential(nn.Linear(4 * 3 * 3, 8), nn.Tanh(), nn.Linear(8, 3))

    def forward(self, x: torch.Tensor, words: str) -> dict[str, torch.Tensor]:
        rows = self.first(x).flatten(1)
        order: list[int] = []
        for word in words.split(" "):
            if word.isdigit():
                order.append(int(word))
        kept = rows[torch.tensor(order)]
        return {"scores": self.last(kept).softmax(1), "kept": kept}


@pytest.fixture
def model() -> Any:
    torch.manual_seed(0)
    return torch.jit.script(Counted().eval())


X = torch.linspace(-1, 1, 192).reshape(3, 1, 8, 8)


def close(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    assert list(ours) == list(theirs)
    for name in ours:
        torch.testing.assert_close(ours[name], theirs[name])


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from rushlight.backends.onnxruntime import delegate

    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ImportError, match=r"pip install rushlight\[onnxruntime\]"):
        delegate(nn.Linear(2, 2).eval())


class TestWithRuntime:
    @pytest.fixture(autouse=True)
    def runtime(self) -> None:
        pytest.importorskip("onnxruntime")

    def test_a_network_with_a_script_in_the_middle_is_two_parts(self, model: Any) -> None:
        from rushlight.backends.onnxruntime import delegate

        wanted, made = model(X, "2 x 0"), delegate(model)
        assert [set(part.operators) for part in made.parts] == [
            {"conv2d", "relu", "max_pool2d", "flatten"},
            {"index", "linear", "tanh", "softmax"},
        ]
        close(made(X, "2 x 0"), wanted)
        close(made(X, "1 1 1 0"), model(X, "1 1 1 0"))
        assert not any(part.reasons for part in made.parts)
        assert [len(part._sessions) for part in made.parts] == [1, 2]

    def test_archives_hold_the_modules_own_code(self, model: Any) -> None:
        from rushlight.backends.onnxruntime import delegate

        made = delegate(model)
        file = io.BytesIO()
        torch.jit.save(made, file)
        file.seek(0)
        loaded = torch.jit.load(file)
        assert "self.first" in loaded.code or "first" in loaded.code
        assert list(loaded.state_dict()) == list(model.state_dict())
        close(loaded(X, "0"), model(X, "0"))
        close(delegate(loaded)(X, "0"), model(X, "0"))

    def test_paths_and_functions_say_what_is_delegated(self, model: Any) -> None:
        from rushlight.backends.onnxruntime import delegate

        (only,) = delegate(model, which=["last"]).parts
        assert set(only.operators) == {"linear", "tanh"}
        without = delegate(model, which=lambda path, kind: kind != "aten::tanh")
        assert not any("tanh" in part.operators for part in without.parts)
        close(without(X, "2 1"), model(X, "2 1"))
        with pytest.raises(ValueError, match="no module 'middle'"):
            delegate(model, which=["middle"])

    def test_branches_and_loops_go_along(self) -> None:
        from rushlight.backends.onnxruntime import delegate

        class Steps(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.layer = nn.Linear(4, 4)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                for _ in range(3):
                    x = torch.relu(self.layer(x)) + 1
                if bool(x.sum() > 10):
                    x = x * 2
                return x

        model = torch.jit.script(Steps().eval())
        made = delegate(model)
        for x in (torch.ones(2, 4), -torch.ones(2, 4)):
            torch.testing.assert_close(made(x), model(x))
        (part,) = made.parts
        assert not part.reasons

    def test_exported_programs_are_called(self) -> None:
        layer, x = nn.Linear(3, 2), torch.rand(4, 3)
        made = torch.onnx.export(layer, (x,))
        torch.testing.assert_close(made(x)[0], layer(x).detach())
        made.release()
        torch.testing.assert_close(made(input=x)[0], layer(x).detach())

    def test_complex_tensors_and_numbers_go_along(self) -> None:
        from rushlight.backends.onnxruntime import delegate

        class Filter(nn.Module):
            def forward(self, x: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
                return torch.fft.fft(x * scale) * x

        made = delegate(torch.jit.script(Filter().eval()))
        for x in (torch.ones(3) + 2j, torch.arange(4.0)):
            scale = torch.tensor(0.5)
            torch.testing.assert_close(made(x, scale), Filter()(x, scale))
        assert [part.reasons for part in made.parts] == [{}]

    def test_branches_that_stay_have_parts_in_their_ways(self) -> None:
        from rushlight.backends.onnxruntime import delegate

        class Refusing(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.layer = nn.Linear(3, 3)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(0) > 2:
                    y = self.layer(x).relu()
                    if float(y.sum()) > 1e6:
                        raise ValueError(f"too large: {y.size(0)} rows")
                    return y.sum(1).tanh()
                return x

        plain = torch.jit.script(Refusing().eval())
        made = delegate(plain)
        assert [part.operators for part in made.parts] == [["linear", "relu", "sum", "sum", "tanh"]]
        for rows in (3, 1, 4):
            given = torch.linspace(-1, 1, 3 * rows).reshape(rows, 3)
            torch.testing.assert_close(made(given), plain(given))
        with torch.no_grad(), pytest.raises(torch.jit.Error, match="too large: 3 rows"):
            made(torch.full([3, 3], 1e9))

    def test_changes_in_place_and_prints_stay_here(self, capsys: Any) -> None:
        from rushlight.backends.onnxruntime import delegate

        class Changing(nn.Module):
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                y = x.exp() + 1
                view = y[0]
                view.add_(5.0)
                print("seen")
                return (y * 2).tanh() + y.sum().sqrt()

        model = torch.jit.script(Changing().eval())
        x = torch.ones(2, 3)
        wanted = model(x)
        made = delegate(model)
        torch.testing.assert_close(made(x), wanted)
        assert capsys.readouterr().out == "seen\nseen\n"
        assert torch.equal(x, torch.ones(2, 3))

    def test_gradients_are_computed_here(self) -> None:
        from rushlight.backends.onnxruntime import delegate

        made = delegate(nn.Sequential(nn.Linear(3, 3), nn.Tanh()).eval())
        x = torch.ones(1, 3, requires_grad=True)
        made(x).sum().backward()
        assert x.grad is not None
        with torch.no_grad():
            torch.testing.assert_close(made(x), made(x.detach()))

    def test_what_cannot_be_exported_runs_here_and_says_why(self) -> None:
        from rushlight.backends.onnxruntime import delegate

        class Halves(nn.Module):
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                return torch.einsum("ij,ij->i", x, x).relu() + 1

        made = delegate(torch.jit.script(Halves().eval()))
        x = torch.ones(2, 3, dtype=torch.complex64).real
        torch.testing.assert_close(made(x), torch.tensor([4.0, 4.0]))
        with pytest.raises(RuntimeError):
            made(torch.ones(3))

    def test_modules_in_training_are_refused(self, model: Any) -> None:
        from rushlight.backends.onnxruntime import delegate

        with pytest.raises(RuntimeError, match=r"call \.eval\(\)"):
            delegate(model.train())
