"""Layers are scripted unchanged, under torch's names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import rushlight as torch
from rushlight import Tensor, nn

LAYERS: list[Callable[[], Any]] = [
    lambda: nn.Linear(3, 2),
    nn.ReLU,
    nn.Tanh,
    nn.Sigmoid,
    nn.Identity,
]


@pytest.mark.parametrize("make", LAYERS)
def test_layers_script(make: Callable[[], Any]) -> None:
    layer = make()
    scripted = torch.jit.script(layer)
    assert scripted.code.startswith("def forward(self,\n    input: Tensor) -> Tensor:\n")
    x = torch.tensor([[-1.0, 0.5, 2.0]])
    for _ in range(3):  # later calls may run other code
        assert scripted(x).tolist() == layer(x).tolist()


def test_class_names_are_those_of_torch() -> None:
    scripted = torch.jit.script(nn.Linear(1, 1))
    assert scripted._c.cls.qualified_name.startswith("__torch__.torch.nn.modules.linear.")


def test_scripted_modules_keep_the_protocol() -> None:
    model = nn.Linear(3, 2)
    scripted = torch.jit.script(model)
    assert scripted.weight is model.weight
    assert list(scripted.state_dict()) == ["weight", "bias"]
    other = nn.Linear(3, 2)
    scripted.load_state_dict(other.state_dict())
    assert model.weight.tolist() == other.weight.tolist()
    assert not scripted.eval().training
    scripted.double()
    assert scripted(torch.ones(3, dtype=torch.float64)).dtype is torch.float64
    assert [name for name, _ in scripted.named_parameters()] == ["weight", "bias"]


class KeepsAttributes(nn.Module):
    __jit_ignored_attributes__ = ("kept",)

    def __init__(self, kept: Any) -> None:
        super().__init__()
        self.kept = kept
        self.number = 2

    def forward(self) -> int:
        return self.number

    @torch.jit.ignore
    def asked(self) -> Any:
        return self.kept


class HoldsOne(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = KeepsAttributes(5)

    def forward(self) -> int:
        return self.inner()


def test_python_still_finds_attributes_that_scripts_ignore() -> None:
    scripted = torch.jit.script(KeepsAttributes("mine"))
    assert (scripted(), scripted.asked(), scripted.kept) == (2, "mine", "mine")
    scripted.kept = "other"
    assert scripted.asked() == "other"
    assert torch.jit.script(HoldsOne()).inner.kept == 5


def test_modules_that_differ_in_what_scripts_ignore_share_a_type() -> None:
    one, other = (torch.jit.script(KeepsAttributes(kept)) for kept in ("mine", nn.Linear(1, 1)))
    assert one._c._type() == other._c._type()
    assert isinstance(other.kept, nn.Linear)


def test_scripts_say_of_an_attribute_that_it_is_ignored() -> None:
    class Reads(KeepsAttributes):
        def forward(self) -> int:
            return self.kept

    said = "Module 'Reads' has no attribute 'kept' attribute was ignored during compilation:"
    with pytest.raises(RuntimeError, match=said):
        torch.jit.script(Reads(1))


def test_class_methods_are_methods_whose_class_is_the_module(tmp_path: Path) -> None:
    class Scaled(nn.Module):
        @classmethod
        def scaled(cls, x: Tensor, by: int = 3) -> Tensor:
            return x * by

        def forward(self, x: Tensor) -> Tensor:
            return self.scaled(x) + self.scaled(x, by=1)

    scripted = torch.jit.script(Scaled())
    assert scripted(torch.ones(2)).tolist() == [4.0, 4.0]
    scripted.save(tmp_path / "scaled.pt")
    assert torch.jit.load(tmp_path / "scaled.pt")(torch.ones(1)).tolist() == [4.0]


def test_a_module_without_forward_has_no_graph() -> None:
    class Silent(nn.Module):
        pass

    with pytest.raises(RuntimeError, match="Method 'forward' is not defined"):
        _ = torch.jit.script(Silent()).graph


class Twice(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2


def _looks(self: Any, input: tuple[torch.Tensor], output: torch.Tensor) -> None:
    assert output is not None


def _counts(self: Any, input: tuple[torch.Tensor], output: torch.Tensor) -> int:
    return output.numel()


def _doubles(self: Any, input: tuple[torch.Tensor], output: int) -> int:
    return output * 2


def test_a_hook_takes_what_the_last_one_gave_that_gave_something() -> None:
    module = Twice()
    for hook in (_looks, _counts, _doubles):
        module.register_forward_hook(hook)
    assert torch.jit.script(module)(torch.ones(3)) == 6
    wrong = Twice()
    for hook in (_counts, _looks):
        wrong.register_forward_hook(hook)
    with pytest.raises(RuntimeError, match=r"Received type: 'Tensor'\. Expected type: 'int'"):
        torch.jit.script(wrong)
