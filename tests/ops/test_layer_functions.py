"""Functions of layers: expressions with what torch computes, and the schemas of their scripts."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorded import load

import rushlight
from rushlight.nn import functional
from rushlight.ops.kernels import family
from rushlight.ops.special_functions.error_functions import erf, erfc, erfinv
from rushlight.ops.tensors.tensor import Tensor

DATA = load("layers.json")
TOLERANCE = {"bfloat16": 1e-2, "float16": 2e-3}


def _names() -> dict[str, Any]:
    names: dict[str, Any] = {"torch": rushlight, "F": functional}
    exec("\n".join(DATA["setup"]), names)
    return names


NAMES = _names()


def _compare(got: Any, wanted: Any) -> None:
    if isinstance(wanted, list):
        assert len(got) == len(wanted)
        for part, each in zip(got, wanted, strict=True):
            _compare(part, each)
        return
    assert isinstance(got, Tensor)
    assert str(got.dtype) == f"torch.{wanted['dtype']}"
    assert list(got.shape) == wanted["shape"]
    values = np.array([float(value) for value in wanted["values"]])
    close = TOLERANCE.get(wanted["dtype"], 2e-5)
    np.testing.assert_allclose(got._array.astype(float).ravel(), values, close, close)


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [*DATA["rows"], *load("bounds.json")],  # the latter: arguments at the ends of what they may be
    ids=lambda text: str(text)[:50],
)
def test_as_torch_computes(expression: str, wanted: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if not isinstance(wanted, str):
            _compare(eval(expression, NAMES), wanted)
            return
        kind, _, message = wanted[1:].partition(": ")
        with pytest.raises(Exception) as caught:  # noqa: PT011
            eval(expression, NAMES)
    assert kind in [each.__name__ for each in type(caught.value).__mro__]
    if kind != "ZeroDivisionError":  # its words are Python's, which change
        assert str(caught.value).splitlines()[0].strip() == message.strip()


@pytest.mark.parametrize(("name", "wanted"), DATA["schemas"].items())
def test_scripted_functions_have_torchs_schemas(name: str, wanted: str) -> None:
    assert str(rushlight.jit.script(getattr(functional, name)).schema) == wanted


def test_attention_scripts_and_agrees_with_eager() -> None:
    wave = NAMES["wave"]
    sequence = wave(5, 2, 4)
    arguments = (sequence, sequence, sequence, 4, 2, wave(12, 4), wave(12), None, None, False, 0.0)
    scripted = rushlight.jit.script(functional.multi_head_attention_forward)
    for needed in (True, False):
        options = {"need_weights": needed, "attn_mask": rushlight.eye(5).bool()}
        eager = functional.multi_head_attention_forward(*arguments, wave(4, 4), wave(4), **options)
        again = scripted(*arguments, wave(4, 4), wave(4), **options)
        assert (eager[1] is None) == (again[1] is None) == (not needed)
        np.testing.assert_array_equal(eager[0].numpy(), again[0].numpy())


def test_a_warning_is_given_from_script() -> None:
    scripted = rushlight.jit.script(functional.softmax)
    with pytest.warns(UserWarning, match="Implicit dimension choice for softmax"):
        scripted(NAMES["x"])


@given(st.lists(st.floats(-30, 30), min_size=1, max_size=40))
def test_error_functions_are_those_of_the_c_library(numbers: list[float]) -> None:
    x = np.array(numbers)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(erf(x), [math.erf(v) for v in numbers], 2e-15)
        np.testing.assert_allclose(erfc(x), [math.erfc(v) for v in numbers], 5e-15, 1e-300)
        single = np.array([math.erf(float(v)) for v in x.astype(np.float32)])
        np.testing.assert_allclose(erf(x.astype(np.float32)), single, 1e-6, 1e-44)
        inner = np.array([v / 30.000001 for v in numbers])
        np.testing.assert_allclose(erf(erfinv(inner)), inner, 1e-14, 1e-300)


def test_layer_norms_of_turned_tensors_are_those_of_copies() -> None:
    x = rushlight.randn(3, 20, 11).transpose(1, 2)
    for turned in (x, x.double(), x.bfloat16()):
        found = functional.layer_norm(turned, [20])
        assert rushlight.equal(found, functional.layer_norm(turned.contiguous(), [20]))
        assert found.is_contiguous()


def test_one_class_may_stand_without_a_dimension() -> None:
    for score, label in ((1.5, [0]), ([1.5], 0)):
        for reduction in ("none", "mean"):
            found = functional.multilabel_margin_loss(
                rushlight.tensor(score), rushlight.tensor(label), reduction=reduction
            )
            assert (found.item(), found.dim()) == (0.0, 0)
    with pytest.raises(RuntimeError, match=r"inconsistent target size: \[1\] for input of size:"):
        functional.multilabel_margin_loss(rushlight.ones(2), rushlight.tensor([0]))


def test_many_classes_lose_row_by_row_what_few_do_at_once() -> None:
    rushlight.manual_seed(3)
    scores = rushlight.randn(9, 200)
    named = rushlight.randint(0, 200, (9, 200))
    named[:, 20:] = -1
    named[2, 0] = -1
    each = functional.multilabel_margin_loss(scores, named, reduction="none")
    assert each[2] == 0
    for row, target, loss in zip(scores, named, each, strict=True):
        rushlight.testing.assert_close(functional.multilabel_margin_loss(row, target), loss)
    mean = functional.multilabel_margin_loss(scores, named)
    rushlight.testing.assert_close(mean, each.mean())
    double = functional.multilabel_margin_loss(scores.double(), named, reduction="none")
    assert double.dtype is rushlight.float64
    rushlight.testing.assert_close(double.float(), each)


def test_kernels_of_losses_leave_other_dtypes_to_operators() -> None:
    kernels = family("elementwise.pair_losses")
    if kernels is None:
        pytest.skip("there is no native code here")
    for dtype in (rushlight.int32, rushlight.bool, rushlight.complex64, rushlight.float8_e5m2):
        x = rushlight.ones(3).to(dtype)._array
        for form in ("squared", "absolute", "smooth", "logits"):
            assert kernels.pair_losses(form, x, x) is None
    for dtype in (rushlight.float32, rushlight.float64, rushlight.bfloat16):
        x = rushlight.ones(3).to(dtype)._array
        assert kernels.pair_losses("squared", x, x).tolist() == [0.0, 0.0, 0.0]
