"""What diagnostics, graphs and modules show of themselves in notebooks."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

import rushlight as torch

nn = torch.nn


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(2, 3), nn.ReLU())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.inner(x) if x.sum() > 0 else x


def elements(text: str) -> set[str]:
    """The elements of a text that must be well-formed."""
    found = ET.fromstring(f"<all>{text.replace(' open ', ' ')}</all>")
    return {each.tag.rpartition("}")[2] for each in found.iter()} - {"all"}


def test_a_diagnostic_shows_its_readable_form() -> None:
    def f(x: torch.Tensor) -> torch.Tensor:
        return x + "<b>&" + missing  # noqa: F821

    with pytest.raises(RuntimeError) as caught:
        torch.jit.script(f)
    found = caught.value.diagnostics[-1]  # type: ignore[attr-defined]
    text = found._repr_html_()
    assert elements(text) == {"pre", "span"}
    words = "".join(ET.fromstring(text).itertext())
    assert f"error[{found.code}]" in words
    assert 'x + "<b>&" + missing' in words
    assert "\x1b" not in text


def test_a_small_graph_is_a_picture_with_its_text() -> None:
    graph = torch.jit.script(Net()).graph
    text = graph._repr_html_()
    assert {"svg", "rect", "details", "pre"} <= elements(text)
    words = list(ET.fromstring(f"<all>{text}</all>").itertext())
    assert "inner: Sequential" in words
    assert str(graph) in words
    alone = torch.parse_ir("graph(%x : Tensor):\n  %y : Tensor = aten::relu(%x)\n  return (%y)\n")
    assert "relu" in alone._repr_html_()


def test_a_large_graph_is_text() -> None:
    lines = "".join(f"  %{n} : Tensor = aten::relu(%{n - 1})\n" for n in range(1, 400))
    graph = torch.parse_ir(f"graph(%0 : Tensor):\n{lines}  return (%399)\n")
    assert elements(graph._repr_html_()) == {"pre"}


@pytest.mark.parametrize("scripted", [False, True])
def test_a_module_shows_its_layers(scripted: bool) -> None:
    model = torch.jit.script(Net()) if scripted else Net()
    text = model._repr_html_()
    assert elements(text) == {"details", "summary", "div", "b", "code", "small"}
    for word in ("<b>Net</b>", "inner: <b>Sequential</b>", "0: <b>Linear</b>", "9 parameters"):
        assert word in text


def test_names_are_no_markup() -> None:
    class Odd(nn.Module):
        def extra_repr(self) -> str:
            return "<script>alert(1)</script>"

    model = nn.Module()
    model.add_module("<img src=x>", Odd())
    assert elements(model._repr_html_()) == {"details", "summary", "div", "b", "code", "small"}
