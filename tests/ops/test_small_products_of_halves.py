"""Small products of 16-bit floats: in float32, rounded once, and learned."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import rushlight as torch
import rushlight.nn.functional as F
from rushlight import Tensor

PRODUCTS: dict[str, Callable[[Tensor, Tensor, Tensor], Tensor]] = {
    "vectors": lambda x, y, v: v @ v,
    "matrix and vector": lambda x, y, v: x @ v,
    "matrices": lambda x, y, v: x @ y,
    "turned": lambda x, y, v: y.t() @ x.t(),
    "linear": lambda x, y, v: F.linear(x, y.t()),
    "linear with a bias": lambda x, y, v: F.linear(x, y.t(), v[:5]),
    "batches": lambda x, y, v: torch.stack([x, x]) @ torch.stack([y, y]),
    "nothing": lambda x, y, v: x[:, :0] @ y[:0],
}


@pytest.mark.parametrize("name", PRODUCTS)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_products_are_rounded_once(name: str, dtype: torch.dtype) -> None:
    product, half = PRODUCTS[name], 2.0 ** (-8 if dtype == torch.bfloat16 else -11)
    x, y, v = (torch.randn(shape).to(dtype) for shape in ((7, 16), (16, 5), (16,)))
    wanted = product(*(each.double() for each in (x, y, v))).numpy()
    found = {product(x, y, v).view(torch.int16).numpy().tobytes() for _ in range(30)}
    made = product(x, y, v)
    assert made.dtype == dtype
    assert len(found) == 1
    np.testing.assert_allclose(made.double().numpy(), wanted, 1.02 * half, 1e-5)
