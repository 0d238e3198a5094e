"""`torch.utils.bundled_inputs`: example arguments in modules and in their archives."""

from __future__ import annotations

import io
from typing import Any, Optional

import pytest

import rushlight as torch
from rushlight import Tensor, nn
from rushlight.utils import bundled_inputs as bundled
from rushlight.utils.mobile_optimizer import generate_mobile_module_lints, optimize_for_mobile


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(2, 2)

    def forward(self, x: Tensor, shift: Optional[int] = None) -> Tensor:  # noqa: UP045
        return self.linear(x) if shift is None else self.linear(x) + shift

    @torch.jit.export
    def other(self, xs: list[Tensor], name: str) -> Tensor:
        return xs[0] + len(name)


def _scripted() -> Any:
    return torch.jit.script(Net())


def _loaded(module: Any) -> Any:
    return torch.jit.load(io.BytesIO(module.save_to_buffer()))


def test_a_copy_has_the_inputs() -> None:
    module = _scripted()
    made: Any = bundled.bundle_inputs(
        module, [(torch.ones(2, 2), None), (torch.zeros(3, 2), 5)], info=["one", "two"]
    )
    assert not hasattr(module, "get_all_bundled_inputs")
    for each in (made, _loaded(made)):
        assert each.get_num_bundled_inputs() == 2
        found = each.get_all_bundled_inputs()
        assert [shift for _, shift in found] == [None, 5]
        assert torch.equal(found[1][0], torch.zeros(3, 2))
        assert torch.equal(each(*found[1]), module(*found[1]))
        assert each.get_bundled_inputs_functions_and_info() == {
            "forward": {
                "info": ["one", "two"],
                "get_inputs_function_name": ["get_all_bundled_inputs_for_forward"],
            }
        }


def test_the_code_is_torchs() -> None:
    made: Any = bundled.bundle_inputs(_scripted(), [(torch.ones(100, 2), 3)])
    assert made._generate_bundled_inputs_for_forward.code == (
        "def _generate_bundled_inputs_for_forward(self) -> List[Tuple[Tensor, Optional[int]]]:\n"
        "  _bundled_inputs_deflated_forward = self._bundled_inputs_deflated_forward\n"
        "  _0 = (_bundled_inputs_deflated_forward[0])[0]\n"
        "  _1 = torch.contiguous(_0)\n"
        "  _2 = (_bundled_inputs_deflated_forward[0])[1]\n"
        "  return [(_1, _2)]\n"
    )
    assert made._bundled_inputs_deflated_forward[0][0].stride() == (0, 0)


def test_inputs_of_several_methods() -> None:
    module = _scripted()
    inputs = {module.forward: [(torch.ones(1, 2), 1)], module.other: [([torch.ones(3)], "ab")]}
    made: Any = bundled.bundle_inputs(module, inputs, info={module.other: ["x"]})
    assert set(made.get_bundled_inputs_functions_and_info()) == {"forward", "other"}
    ((xs, name),) = made.get_all_bundled_inputs_for_other()
    assert name == "ab"
    assert torch.equal(made.other(xs, name), torch.ones(3) + 2)
    again: Any = bundled.bundle_inputs(made, [(torch.ones(5, 2), None)])
    assert again.get_all_bundled_inputs()[0][0].shape == (5, 2)
    assert not hasattr(again, "get_all_bundled_inputs_for_other")


def test_large_tensors_are_stored_as_they_say() -> None:
    module = _scripted()
    numbers = torch.arange(100.0).view(50, 2)
    by_function = bundled.InflatableArg(
        value=torch.ones(1),
        fmt_fn="def {}(self, value: Tensor):\n    return value + torch.ones(2, 2)\n",
    )
    by_form = bundled.InflatableArg(value=torch.ones(1), fmt="torch.ones(2, 2) * {}")
    given = (
        bundled.bundle_randn(30, 2),
        bundled.bundle_large_tensor(numbers),
        by_form,
        by_function,
    )
    made: Any = bundled.bundle_inputs(module, [(each, None) for each in given])
    found = [x for x, _ in _loaded(made).get_all_bundled_inputs()]
    assert found[0].shape == (30, 2)
    assert len(set(found[0].flatten().tolist())) > 50
    assert torch.equal(found[1], numbers)
    assert torch.equal(found[2], torch.ones(2, 2))
    assert torch.equal(found[3], torch.full((2, 2), 2.0))
    methods, _ = bundled._get_bundled_inputs_attributes_and_methods(_loaded(made))
    assert "_inflate_helper_for_forward_input_3_arg_0" in methods
    with pytest.raises(Exception, match="tensor with storage size 100"):
        bundled.bundle_inputs(module, [(numbers, None)])
    with pytest.raises(Exception, match="tensor with storage size 100"):
        bundled.bundle_inputs(module, [(numbers[:2, :1], None)])


def test_the_module_itself_grows_others_do_not() -> None:
    net = Net()
    module, other = torch.jit.script(net), torch.jit.script(Net())
    outer = torch.jit.script(nn.Sequential(module))
    bundled.augment_model_with_bundled_inputs(module, [(torch.ones(2, 2), None)], info=["z"])
    assert module.get_num_bundled_inputs() == 1
    for each in (other, outer, torch.jit.script(Net())):
        assert _loaded(each)(torch.ones(1, 2)).shape == (1, 2)
    assert _loaded(module).get_num_bundled_inputs() == 1
    with pytest.raises(Exception, match="can only be augmented with bundled inputs once"):
        bundled.augment_model_with_bundled_inputs(module, [(torch.ones(2, 2), None)])


class Generating(Net):
    pass


def test_a_module_may_make_its_inputs_itself() -> None:
    module = torch.jit.script(Generating())
    module.define(
        "def _generate_bundled_inputs_for_forward(self):\n"
        "    return [(torch.ones(2, 2), torch.jit.annotate(Optional[int], None))]\n"
    )
    with pytest.raises(Exception, match="is already defined"):
        bundled.augment_model_with_bundled_inputs(module, [(torch.ones(2, 2), None)])
    bundled.augment_model_with_bundled_inputs(module)
    assert module.get_num_bundled_inputs() == 1


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (
            lambda m: bundled.bundle_inputs(m, None),
            Exception,
            "inputs for forward must be specified",
        ),
        (lambda m: bundled.bundle_inputs(m, {}), Exception, "at least 1 function"),
        (lambda m: bundled.bundle_inputs(Net(), [(1,)]), Exception, "Only ScriptModule"),
        (lambda m: bundled.bundle_inputs(m, [torch.ones(2)]), TypeError, "idx: 0 is not a Tuple"),
        (lambda m: bundled.bundle_inputs(m, {"forward": []}), Exception, "no attribute name"),
        (
            lambda m: bundled.bundle_inputs(m, [(3,)]),
            RuntimeError,
            r"'_bundled_inputs_deflated_forward' to type List\[Tuple\[Tensor, Optional\[int\]\]\]",
        ),
        (
            lambda m: bundled.bundle_inputs(m, [(1,)], info="a"),
            AssertionError,
            "info must be a list",
        ),
        (
            lambda m: bundled.augment_many_model_functions_with_bundled_inputs(m, {}),
            Exception,
            "1 f",
        ),
    ],
)
def test_what_is_refused(call: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        call(_scripted())


def test_optimized_modules_keep_their_inputs() -> None:
    made: Any = bundled.bundle_inputs(_scripted().eval(), [(torch.ones(2, 2), None)])
    assert "BUNDLED_INPUT" not in {lint["name"] for lint in generate_mobile_module_lints(made)}
    small: Any = _loaded(optimize_for_mobile(made))
    assert small.get_num_bundled_inputs() == 1
    assert torch.equal(small(*small.get_all_bundled_inputs()[0]), made(torch.ones(2, 2)))
