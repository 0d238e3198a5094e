"""What optimizers are given, keep, save and load; complex parameters."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import rushlight as torch

optim = torch.optim


def parameter(dtype: Any = torch.float32) -> Any:
    made = torch.nn.Parameter(torch.ones(2, dtype=dtype))
    made.grad = torch.full((2,), 0.5, dtype=dtype)
    return made


def test_names_are_kept_and_saved() -> None:
    a, b = parameter(), parameter()
    named = optim.Adam([("a", a), ("b", b)], lr=0.1)
    assert named.state_dict()["param_groups"][0]["param_names"] == ["a", "b"]
    assert "    param_names: ['a', 'b']" in repr(named)
    unnamed = optim.Adam([parameter(), parameter()], lr=0.1)
    assert "param_names" not in unnamed.state_dict()["param_groups"][0]
    saved = unnamed.state_dict()
    unnamed.load_state_dict(named.state_dict())
    assert unnamed.state_dict()["param_groups"][0]["param_names"] == ["a", "b"]
    named.load_state_dict(saved)
    assert named.state_dict()["param_groups"][0]["param_names"] == ["a", "b"]


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (lambda p, q: [("a", p), q], ValueError, "Some param names are missing"),
        (lambda p, q: [p, ("a", q)], ValueError, "Some param names are missing"),
        (
            lambda p, q: [{"params": [("a", p)]}, {"params": [q]}],
            ValueError,
            "cannot add param group without names",
        ),
        (
            lambda p, q: [{"params": [p]}, {"params": [("a", q)]}],
            ValueError,
            "cannot add param group with names",
        ),
        (lambda p, q: [{"params": {p, q}}], TypeError, "ordered collections"),
        (lambda p, q: [("a", 3)], TypeError, "one of the params is int"),
    ],
)
def test_groups_that_are_none(given: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        optim.SGD(given(parameter(), parameter()), lr=0.1)


def test_a_parameter_that_is_there_twice() -> None:
    p = parameter()
    with pytest.warns(UserWarning, match="group with duplicate parameters"):
        twice = optim.SGD([p, p], lr=0.1)
    assert twice.state_dict()["param_groups"][0]["params"] == [1, 1]
    once = optim.SGD([p], lr=0.1)
    once.param_groups.extend(once.param_groups)
    assert [group["params"] for group in once.state_dict()["param_groups"]] == [[0], [0]]


def test_what_is_not_kept_is_not_saved() -> None:
    p, q = parameter(), parameter()
    plain = optim.SGD([p, q], lr=0.1)
    for _ in range(9):
        plain.step()
    assert plain.state_dict()["state"] == {}
    assert p.tolist() == q.tolist() == pytest.approx([0.55, 0.55])


def test_other_keys_of_the_state_are_saved_and_loaded() -> None:
    first, second = optim.SGD([parameter()], lr=0.1), optim.SGD([parameter()], lr=0.1)
    first.state["runs"] = 3  # type: ignore[index,assignment]
    assert first.state_dict()["state"] == {"runs": 3}
    second.load_state_dict(first.state_dict())
    assert second.state["runs"] == 3  # type: ignore[index,comparison-overlap]


def test_a_loaded_state_has_the_dtype_of_the_parameter() -> None:
    first, double = optim.Adam([parameter()]), parameter(torch.float64)
    first.step()
    second = optim.Adam([double])
    second.load_state_dict(first.state_dict())
    dtypes = {name: each.dtype for name, each in second.state[double].items()}
    assert dtypes.pop("step") is torch.float32
    assert set(dtypes.values()) == {torch.float64}
    second.step()


@pytest.mark.parametrize(
    "kind",
    "Adam RMSprop Rprop Adadelta Adagrad Adamax NAdam RAdam ASGD Adafactor".split(),
)
def test_numbers_of_old_states_become_tensors(kind: str) -> None:
    p = parameter()
    made = getattr(optim, kind)([p], lr=0.1)
    made.step()
    saved = made.state_dict()
    other = copy.deepcopy(p)
    again = getattr(optim, kind)([other], lr=0.1)
    for name, value in saved["state"][0].items():
        if value.dim() == 0:
            saved["state"][0][name] = value.item()
    again.load_state_dict(saved)
    assert all(isinstance(each, torch.Tensor) for each in again.state[other].values())
    made.step()
    again.step()
    assert p.tolist() == other.tolist()


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("Adam", {"amsgrad": True}),
        ("AdamW", {"weight_decay": 0.1}),
        ("SGD", {"momentum": 0.9}),
        ("RMSprop", {"momentum": 0.9, "centered": True}),
        *((kind, {}) for kind in ("Rprop", "Adadelta", "Adagrad", "Adamax", "NAdam", "RAdam")),
        ("ASGD", {}),
    ],
)
def test_complex_parameters_are_pairs(kind: str, options: dict[str, Any]) -> None:
    torch.manual_seed(4)
    whole = torch.nn.Parameter(torch.randn(3, 2, dtype=torch.complex64))
    pairs = torch.nn.Parameter(torch.view_as_real(whole.detach()).clone())
    of_whole = getattr(optim, kind)([whole], lr=0.1, **options)
    of_pairs = getattr(optim, kind)([pairs], lr=0.1, **options)
    for _ in range(4):
        whole.grad = torch.randn(3, 2, dtype=torch.complex64)
        pairs.grad = torch.view_as_real(whole.grad).clone()
        of_whole.step()
        of_pairs.step()
    assert torch.equal(torch.view_as_real(whole.detach()), pairs.detach())
    kept = of_whole.state[whole]
    assert set(kept) == set(of_pairs.state[pairs])
    for name, value in of_pairs.state[pairs].items():
        if isinstance(value, torch.Tensor) and value.dim():
            assert kept[name].dtype is torch.complex64
            assert torch.equal(torch.view_as_real(kept[name]), value)


def test_lbfgs_of_complex_parameters() -> None:
    whole = torch.nn.Parameter(torch.tensor([1 + 2j, -3j]))
    made = optim.LBFGS([whole], line_search_fn="strong_wolfe")

    def loss() -> Any:
        made.zero_grad()
        value = (whole - (2 - 1j)).abs().square().sum()
        value.backward()
        return value

    made.step(loss)
    assert torch.allclose(whole.detach(), torch.full((2,), 2 - 1j))


def test_sums_of_adagrad_begin_with_both_parts() -> None:
    p = parameter(torch.complex64)
    made = optim.Adagrad([p], initial_accumulator_value=0.5)
    assert made.state[p]["sum"].tolist() == [0.5 + 0.5j] * 2
    with pytest.raises(ValueError, match=r"Complex params at indices \[\[0, 0\]\]"):
        optim.SparseAdam([p])
    for kind in (optim.Adafactor, optim.Muon):
        matrix = torch.nn.Parameter(torch.ones(2, 2, dtype=torch.complex64))
        matrix.grad = torch.ones(2, 2, dtype=torch.complex64)
        with pytest.raises(RuntimeError, match="does not support complex parameters"):
            kind([matrix]).step()


@pytest.mark.parametrize("name", ["SGD", "Adam", "Adadelta", "ASGD", "NAdam", "RMSprop", "Rprop"])
def test_a_rate_has_one_element(name: str) -> None:
    with pytest.raises(ValueError, match="Tensor lr must be 1-element"):
        getattr(torch.optim, name)([torch.nn.Parameter(torch.ones(2))], lr=torch.rand(2))


def test_ways_of_steps_that_exclude_each_other() -> None:
    weights = [torch.nn.Parameter(torch.ones(2))]
    with pytest.raises(RuntimeError, match="`fused` does not support `differentiable`"):
        torch.optim.SGD(weights, fused=True, differentiable=True)
    with pytest.raises(RuntimeError, match="`fused` and `foreach` cannot be `True` together"):
        torch.optim.Adam(weights, fused=True, foreach=True)
    with pytest.raises(ValueError, match="lr as a Tensor is not supported for capturable=False"):
        torch.optim.Adam(weights, lr=torch.tensor(0.1), foreach=True)


def test_sums_of_parameters_without_data_have_none_either() -> None:
    weight = torch.nn.Parameter(torch.ones(2, device="meta"))
    optimizer = torch.optim.Adagrad([weight], initial_accumulator_value=1.0)
    assert optimizer.state[weight]["sum"].is_meta


@pytest.mark.parametrize(
    "name",
    [
        *("SGD", "Adam", "AdamW", "Adadelta", "Adagrad", "Adamax", "ASGD", "NAdam", "RAdam"),
        *("RMSprop", "Rprop", "Adafactor"),
    ],
)
@pytest.mark.parametrize("capturable", [False, True])
def test_the_largest_is_found_with_the_opposite_gradient(name: str, capturable: bool) -> None:
    kind = getattr(optim, name)
    if capturable and name in ("SGD", "Adagrad", "Adafactor"):
        pytest.skip("it has no such option")
    options = {"capturable": True} if capturable else {}
    ends = []
    for sign, maximize in ((1.0, False), (-1.0, True)):
        weight = torch.nn.Parameter(torch.tensor([1.0, -2.0]))
        optimizer = kind([weight], maximize=maximize, **options)
        for step in range(3):
            weight.grad = sign * torch.tensor([0.5, step - 1.0])
            optimizer.step()
        ends.append(weight.tolist())
    assert ends[0] == ends[1]
    assert ends[0][0] < 1.0  # against its gradient
