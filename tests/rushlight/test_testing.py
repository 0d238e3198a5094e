"""rushlight.testing: what counts as close, what is said if not, and random tensors."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

import rushlight as torch
from rushlight.testing import assert_close, make_tensor

X = torch.tensor([1.0, 2.0, 3.0])
NAN = torch.tensor([float("nan")])
ONE_MORE = (
    "Tensor-likes are not close!\n\nMismatched elements: 3 / 3 (100.0%)\n"
    "Greatest absolute difference: 1.0 at index (0,) (up to 1e-05 allowed)\n"
    "Greatest relative difference: 0.5 at index (0,) (up to 1.3e-06 allowed)"
)

# actual, expected, options, the text of the error as recorded from torch
FAULTS: list[tuple[Any, Any, dict[str, Any], str]] = [
    (X, X + 1, {}, ONE_MORE),
    (
        X,
        torch.tensor([1.0, 2.5, 9.0]),
        {"rtol": 0, "atol": 0},
        "Tensor-likes are not equal!\n\nMismatched elements: 2 / 3 (66.7%)\n"
        "Greatest absolute difference: 6.0 at index (2,)\n"
        "Greatest relative difference: 0.6666666865348816 at index (2,)",
    ),
    (
        torch.zeros(2, 3),
        torch.zeros(2, 3) + torch.eye(2, 3),
        {"atol": 1e-3, "rtol": 0},
        "Tensor-likes are not close!\n\nMismatched elements: 2 / 6 (33.3%)\n"
        "Greatest absolute difference: 1.0 at index (0, 0) (up to 0.001 allowed)\n"
        "Greatest relative difference: 1.0 at index (0, 0) (up to 0 allowed)",
    ),
    (
        torch.tensor([255], dtype=torch.uint8),
        torch.tensor([0], dtype=torch.uint8),
        {},
        "Tensor-likes are not equal!\n\nMismatched elements: 1 / 1 (100.0%)\n"
        "Greatest absolute difference: 255 at index (0,)\n"
        "Greatest relative difference: inf at index (0,)",
    ),
    (
        NAN,
        NAN,
        {},
        "Tensor-likes are not close!\n\nMismatched elements: 1 / 1 (100.0%)\n"
        "Greatest absolute difference: nan at index (0,) (up to 1e-05 allowed)\n"
        "Greatest relative difference: nan at index (0,) (up to 1.3e-06 allowed)",
    ),
    (
        X.half(),
        X.half() + 0.01,
        {},
        "Tensor-likes are not close!\n\nMismatched elements: 3 / 3 (100.0%)\n"
        "Greatest absolute difference: 0.009765625 at index (0,) (up to 1e-05 allowed)\n"
        "Greatest relative difference: 0.009674072265625 at index (0,) (up to 0.001 allowed)",
    ),
    (
        X.to(torch.float8_e5m2),
        (X + 1).to(torch.float8_e5m2),
        {},
        "Tensor-likes are not 'equal'!\n\nMismatched elements: 3 / 3 (100.0%)\n"
        "The first mismatched element is at index (0,).",
    ),
    (
        torch.tensor(1.0),
        torch.tensor(2.0),
        {},
        "Scalars are not close!\n\nExpected 2.0 but got 1.0.\n"
        "Absolute difference: 1.0 (up to 1e-05 allowed)\n"
        "Relative difference: 0.5 (up to 1.3e-06 allowed)",
    ),
    (
        1,
        0,
        {},
        "Scalars are not equal!\n\nExpected 0 but got 1.\nAbsolute difference: 1\n"
        "Relative difference: inf",
    ),
    (1, 1.0, {}, "The (d)types do not match: <class 'int'> != <class 'float'>."),
    (True, False, {}, "Booleans mismatch: True is not False"),
    (None, 1, {}, "None mismatch: None is not 1"),
    (
        X,
        torch.tensor([1, 2, 3]),
        {},
        "The values for attribute 'dtype' do not match: torch.float32 != torch.int64.",
    ),
    (
        torch.zeros(2, 3),
        torch.zeros(3, 2).t(),
        {"check_stride": True},
        "The values for attribute 'stride()' do not match: (3, 1) != (1, 2).",
    ),
    ([1, 2], [1], {}, "The length of the sequences mismatch: 2 != 1"),
    (
        {"a": X},
        {"a": X, "b": X},
        {},
        "The keys of the mappings do not match:\nMissing keys in the actual mapping: ['b']\n"
        "Additional keys in the actual mapping: []",
    ),
    ({"a": [X]}, {"a": [X + 1]}, {}, ONE_MORE + "\n\nThe failure occurred for item ['a'][0]"),
    (X, X + 1, {"msg": "no"}, "no"),
    (X, X + 1, {"msg": lambda text: "here: " + text}, "here: " + ONE_MORE),
]


@pytest.mark.parametrize(("actual", "expected", "options", "text"), FAULTS)
def test_the_text_of_a_mismatch(
    actual: Any, expected: Any, options: dict[str, Any], text: str
) -> None:
    with pytest.raises(AssertionError) as caught:
        assert_close(actual, expected, **options)
    assert str(caught.value) == text


def test_what_is_close() -> None:
    assert_close(X, X + 1e-6)
    assert_close(X.double(), X, check_dtype=False)
    assert_close(NAN, NAN, equal_nan=True)
    assert_close([X, {"k": 1.0}], (X, {"k": 1.0}))
    assert_close(X.numpy(), X.numpy())
    assert_close(X, torch.nn.Parameter(X))
    assert_close(torch.empty(2, 0), torch.empty(2, 0))
    assert_close(None, None)


@pytest.mark.parametrize("pair", [(X, [1.0, 2.0, 3.0]), ("a", "a"), (X, 1.0), ({1}, {1})])
def test_values_that_cannot_be_compared(pair: tuple[Any, Any]) -> None:
    with pytest.raises(TypeError, match="No comparison pair was able to handle inputs of type"):
        assert_close(*pair)


def test_one_tolerance_alone_is_refused() -> None:
    with pytest.raises(ValueError, match="but got no atol"):
        assert_close(X, X, rtol=1e-3)


DTYPES = "float32 float64 float16 bfloat16 int8 uint8 int64 bool complex64 float8_e5m2".split()


@pytest.mark.parametrize("name", DTYPES)
def test_random_tensors_of_a_dtype(name: str) -> None:
    dtype = getattr(torch, name)
    made = make_tensor((3, 4), dtype=dtype, device="cpu", noncontiguous=True)
    assert made.dtype is dtype
    assert made.stride() == (8, 2)
    narrow = make_tensor(50, dtype=dtype, device="cpu", low=0, high=2, exclude_zero=True)
    assert bool((narrow != 0).all())


def test_random_tensors_are_torchs() -> None:
    torch.manual_seed(0)
    made = make_tensor((2, 4), dtype=torch.float32, device="cpu", noncontiguous=True)
    expected = [[4.8280, -6.6235, 2.4134, 7.1360], [2.3815, -1.7691, -5.9605, 0.3334]]
    assert_close(made, torch.tensor(expected), rtol=0, atol=1e-4)
    torch.manual_seed(0)
    assert make_tensor(4, dtype=torch.int64, device="cpu").tolist() == [6, -5, -9, -9]
    torch.manual_seed(0)
    complex_numbers = make_tensor(1, dtype=torch.complex64, device="cpu")
    assert_close(complex_numbers, torch.tensor([-0.0674 + 4.8280j]), rtol=0, atol=1e-4)


def test_options_of_random_tensors_that_are_refused() -> None:
    with pytest.raises(ValueError, match="`low` must be less than `high`, but got 3 >= 3"):
        make_tensor(2, dtype=torch.int64, device="cpu", low=3, high=3)
    with pytest.raises(ValueError, match="not supported for boolean and integral dtypes"):
        make_tensor(2, dtype=torch.int64, device="cpu", requires_grad=True)
    with pytest.raises(ValueError, match=r"only supports \[0, 2\)"):
        make_tensor(2, dtype=torch.bool, device="cpu", low=2, high=3)
    assert make_tensor(2, dtype=torch.float32, device="cpu", requires_grad=True).requires_grad


def test_importing_rushlight_imports_nothing_heavy() -> None:
    program = (
        "import sys, rushlight\n"
        "heavy = {'numpy', 'llvmlite', 'lark', 'rushlight.testing', 'rushlight.ops'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
        "assert rushlight.testing.assert_close\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False,
        env={"PYTHONPATH": ":".join(sys.path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_random_complex_tensors_are_no_views() -> None:
    assert not make_tensor((2, 3), dtype=torch.complex64, device="cpu")._is_view()


def coo(places: list[list[int]], values: Any) -> Any:
    return torch.sparse_coo_tensor(torch.tensor(places), torch.tensor(values), (2, 2))


DENSE = torch.tensor([[0.0, 1.0], [2.0, 0.0]])
SPARSE = coo([[0, 1], [1, 0]], [1.0, 2.0])
QUANTIZED: Any = torch.quantize_per_tensor(X, 0.1, 0, torch.qint8)
META = torch.ones(2, device="meta")


@pytest.mark.parametrize(
    ("actual", "expected", "text"),
    [
        (SPARSE, DENSE, "'layout' do not match: torch.sparse_coo != torch.strided."),
        (
            SPARSE,
            coo([[0], [1]], [1.0]),
            "specified values in sparse COO tensors does not match: 2",
        ),
        (SPARSE, coo([[0, 1]], [[0.0, 1], [2, 0]]), "sparse dimensions in sparse COO tensors does"),
        (SPARSE, coo([[0, 1], [1, 1]], [1.0, 2.0]), "Sparse COO indices are not equal!"),
        (SPARSE, coo([[0, 1], [1, 0]], [1.0, 3.0]), "Sparse COO values are not close!"),
        (DENSE.to_sparse_csr(), 2 * DENSE.to_sparse_csr(), "Sparse CSR values are not close!"),
        (DENSE.to_sparse_csc(), torch.eye(2).to_sparse_csc(), "Sparse CSC row_indices are not"),
        (QUANTIZED, QUANTIZED.dequantize(), "'is_quantized' do not match: True != False."),
        (
            QUANTIZED,
            torch.quantize_per_tensor(X + 1, 0.1, 0, torch.qint8),
            "Quantized tensor-likes are not close!",
        ),
        (META, torch.ones(2), "'device' do not match"),
        (META, META.double(), "'dtype' do not match"),
    ],
)
def test_tensors_of_other_kinds_that_differ(actual: Any, expected: Any, text: str) -> None:
    with pytest.raises(AssertionError) as caught:
        assert_close(actual, expected)
    assert text in str(caught.value)


def test_tensors_of_other_kinds_that_are_close() -> None:
    for each in (SPARSE, DENSE.to_sparse_csr(), QUANTIZED, META):
        assert_close(each, each.clone())
    assert_close(SPARSE, DENSE, check_layout=False)
    assert_close(SPARSE, SPARSE.double(), check_dtype=False)
    assert_close(META, torch.ones(2), check_device=False)


def test_equal_bounds_are_deprecated() -> None:
    with pytest.warns(FutureWarning, match=r"Passing `low==high` to `torch.testing.make_tensor`"):
        made = make_tensor(2, dtype=torch.float32, device="cpu", low=3, high=3)
    assert made.tolist() == [3, 3]
    assert made.is_contiguous(memory_format=torch.preserve_format)
