"""Layers, containers and initialisation; figures from torch 2.13 with `manual_seed(7)`."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch
from rushlight import nn


def test_linear_draws_as_torch_does() -> None:
    torch.manual_seed(7)
    layer = nn.Linear(3, 2)
    assert layer.weight.tolist() == [
        [0.04032507538795471, -0.3477921187877655, 0.18384182453155518],
        [0.1811612844467163, -0.3085803687572479, -0.0865316316485405],
    ]
    assert layer.bias.tolist() == [-0.33822792768478394, 0.1498066484928131]
    result = layer(torch.tensor([1.0, 2.0, 3.0])).tolist()
    assert result == pytest.approx([-0.4419615864753723, -0.5457876920700073], rel=1e-6)


def test_linear_forms() -> None:
    layer = nn.Linear(3, 2, bias=False, dtype=torch.float64)
    assert repr(layer) == "Linear(in_features=3, out_features=2, bias=False)"
    assert layer.bias is None
    assert layer.weight.dtype is torch.float64
    assert layer(torch.ones(4, 5, 3, dtype=torch.float64)).shape == (4, 5, 2)
    with pytest.warns(UserWarning, match="zero-element tensors"):
        layer = nn.Linear(0, 2)
    assert layer(torch.ones(1, 0)).shape == (1, 2)


def test_activations() -> None:
    x = torch.tensor([-1.0, 0.0, 2.0])
    assert nn.ReLU()(x).tolist() == [0.0, 0.0, 2.0]
    assert nn.Tanh()(x).tolist() == pytest.approx([math.tanh(v) for v in (-1, 0, 2)])
    assert nn.Sigmoid()(x).tolist()[1] == 0.5
    assert nn.Softmax(0)(x).sum().item() == pytest.approx(1)
    assert nn.Identity(1, a=2)(x) is x
    assert nn.ReLU(inplace=True)(x) is x
    assert x.tolist() == [0.0, 0.0, 2.0]
    shown = [nn.ReLU(), nn.ReLU(True), nn.Softmax(), nn.Softmax(1), nn.Identity(3)]
    assert (
        repr(shown) == "[ReLU(), ReLU(inplace=True), Softmax(dim=None), Softmax(dim=1), Identity()]"
    )


def test_softmax_without_a_dimension_warns() -> None:
    with pytest.warns(UserWarning, match="Implicit dimension choice for softmax"):
        result = nn.functional.softmax(torch.zeros(2, 4))
    assert result.tolist() == [[0.25] * 4] * 2
    assert nn.functional.softmax(torch.zeros(2), 0, dtype=torch.float64).dtype is torch.float64


def test_init_draws_as_torch_does() -> None:
    torch.manual_seed(7)
    init = nn.init
    drawn = [
        init.kaiming_normal_(torch.empty(2, 3)),
        init.xavier_uniform_(torch.empty(2, 3)),
        init.xavier_normal_(torch.empty(2, 3), gain=2.0),
        init.kaiming_uniform_(torch.empty(2, 3, 2), mode="fan_out", nonlinearity="relu"),
    ]
    assert [t.flatten().tolist()[:4] for t in drawn] == [
        [-0.11985769867897034, 0.6418817043304443, 0.773076593875885, -0.9098581075668335],
        [-0.46701234579086304, -0.64342200756073, -0.12030140310525894, -0.3082890510559082],
        [0.02681785821914673, -0.4556131362915039, 0.7162390947341919, 0.2709313929080963],
        [0.8718785047531128, 0.42151939868927, 0.3102293014526367, 0.16919279098510742],
    ]


def test_init_fills_parameters() -> None:
    weight = nn.Parameter(torch.empty(2, 2))
    assert nn.init.constant_(weight, 3) is weight
    assert weight.tolist() == [[3.0, 3.0], [3.0, 3.0]]
    assert weight.requires_grad
    assert nn.init.zeros_(nn.init.ones_(weight)).tolist() == [[0.0, 0.0], [0.0, 0.0]]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: nn.init.kaiming_uniform_(torch.ones(2)), "fewer than 2 dimensions"),
        (lambda: nn.init.xavier_normal_(torch.ones(2)), "fewer than 2 dimensions"),
        (lambda: nn.init.kaiming_normal_(torch.ones(2, 2), mode="x"), "Mode x not supported"),
        (lambda: nn.init.calculate_gain("foo"), "Unsupported nonlinearity foo"),
        (lambda: nn.init.calculate_gain("leaky_relu", "x"), "negative_slope x not a valid number"),  # type: ignore[arg-type]
    ],
)
def test_init_refuses(call: Callable[[], Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        call()


def test_gains() -> None:
    names = ("linear", "relu", "tanh", "leaky_relu", "selu")
    gains = [nn.init.calculate_gain(name) for name in names]
    assert gains == [1, math.sqrt(2), 5 / 3, math.sqrt(2 / 1.0001), 0.75]
    assert nn.init.calculate_gain("leaky_relu", 0.3) == math.sqrt(2 / 1.09)


# --------------------------------------------------------------------------- containers


def names(container: Any) -> list[str]:
    return [type(module).__name__ for module in container]


def test_sequential_runs_in_order() -> None:
    s = nn.Sequential(OrderedDict(a=nn.ReLU(), b=nn.Linear(2, 1, bias=False)))
    nn.init.ones_(s.b.weight)
    assert s(torch.tensor([-1.0, 2.0])).tolist() == [2.0]
    assert list(s._modules) == ["a", "b"]
    assert list(s[1:]._modules) == ["b"]
    assert s[-1] is s.b


def test_sequential_changes() -> None:
    s = nn.Sequential(nn.ReLU(), nn.Tanh(), nn.Sigmoid())
    assert type(s.pop(0)) is nn.ReLU
    s.insert(-1, nn.Identity())
    assert (names(s), list(s._modules)) == (["Tanh", "Identity", "Sigmoid"], ["0", "1", "2"])
    s[0] = nn.ReLU()
    del s[1:]
    s += [nn.Tanh()]
    assert names(s) == ["ReLU", "Tanh"]
    assert names(s + s) == ["ReLU", "Tanh", "ReLU", "Tanh"]
    assert names(2 * nn.Sequential(nn.ReLU())) == ["ReLU", "ReLU"]
    s *= 2
    assert list(s._modules) == ["0", "1", "2", "3"]
    assert len(s) == 4


def test_module_list() -> None:
    m = nn.ModuleList([nn.ReLU(), nn.Tanh(), nn.Sigmoid()])
    m.insert(1, nn.Identity())
    assert names(m) == ["ReLU", "Identity", "Tanh", "Sigmoid"]
    assert type(m.pop(1)) is nn.Identity
    assert names(m[1:]) == ["Tanh", "Sigmoid"]
    longer = m + nn.ModuleList([nn.ReLU()])
    assert isinstance(longer, nn.ModuleList)
    assert names(longer) == ["ReLU", "Tanh", "Sigmoid", "ReLU"]
    assert "0" not in dir(m)
    text = "ModuleList(\n  (0-4): 5 x Softmax(dim=1)\n  (5): ReLU()\n)"
    assert repr(nn.ModuleList([*(nn.Softmax(1) for _ in range(5)), nn.ReLU()])) == text
    assert repr(nn.ModuleList()) == "ModuleList()"


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: nn.ModuleList([nn.ReLU()])[1], IndexError, "index 1 is out of range"),
        (lambda: nn.ModuleList([1]), TypeError, "int is not a Module subclass"),
        (
            lambda: nn.ModuleList(3),  # type: ignore[arg-type]
            TypeError,
            "ModuleList.extend should be called with an iterable, but got int",
        ),
        (lambda: nn.ModuleList()(1), NotImplementedError, r"Module \[ModuleList\] is missing"),
        (lambda: nn.Sequential({"a": nn.ReLU()}), TypeError, "dict is not a Module subclass"),
        (lambda: nn.Sequential(nn.ReLU()) * 0, ValueError, "Non-positive multiplication factor 0"),
        (lambda: nn.Sequential(nn.ReLU()) + 3, ValueError, "supports only objects of Sequential"),
        (lambda: nn.Sequential().insert(5, nn.Tanh()), IndexError, "Index out of range: 5"),
        (lambda: nn.ModuleDict({"keys": nn.ReLU()}), KeyError, "attribute 'keys' already exists"),
        (lambda: nn.ModuleDict([(1, 2, 3)]), ValueError, "#0 has length 3; 2 is required"),
        (lambda: nn.ModuleDict([1]), TypeError, "#0 should be Iterable; isint"),
        (lambda: nn.ParameterList([1])(3), RuntimeError, "ParameterList should not be called."),
        (
            lambda: nn.ParameterList(nn.Parameter(torch.ones(2))),
            TypeError,
            "ParameterList.extend should be called with an iterable, but got Parameter",
        ),
    ],
)
def test_containers_refuse(call: Callable[[], Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()


def test_module_dict() -> None:
    m = nn.ModuleDict({"a": nn.ReLU()})
    m.update([("b", nn.Tanh())])
    m["c"] = nn.Sigmoid()
    assert (list(m), len(m), "b" in m) == (["a", "b", "c"], 3, True)
    assert type(m.pop("b")) is nn.Tanh
    assert [name for name, _ in m.items()] == list(m.keys()) == ["a", "c"]
    assert names(m.values()) == ["ReLU", "Sigmoid"]
    assert repr(m) == "ModuleDict(\n  (a): ReLU()\n  (c): Sigmoid()\n)"
    del m["a"]
    m.clear()
    assert len(m) == 0


def test_parameter_list() -> None:
    p = nn.ParameterList([nn.Parameter(torch.ones(2, 3)), 3, torch.ones(1)])
    p.append("x")
    assert [name for name, _ in p.named_parameters()] == ["0", "2"]
    assert (len(p), p[-1], p[1]) == (4, "x", 3)
    assert isinstance(p[2], nn.Parameter)
    assert len(p[1:]) == 3
    assert repr(p) == (
        "ParameterList(\n"
        "    (0): Parameter containing: [torch.float32 of size 2x3]\n"
        "    (1): Object of type: int\n"
        "    (2): Parameter containing: [torch.float32 of size 1]\n"
        "    (3): Object of type: str\n)"
    )
