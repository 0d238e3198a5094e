"""Every operator that torch's own tests have samples of, against what torch makes of them."""

from __future__ import annotations

from typing import Any

import pytest
from recorded_operators import arguments, assert_same, entries, resolve


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "samples"), entries(), ids=lambda given: given if isinstance(given, str) else ""
)
def test_as_torch(name: str, samples: list[dict[str, Any]]) -> None:
    for number, sample in enumerate(samples):
        args, kwargs = arguments(sample)
        if "e" in sample:
            wanted, _ = sample["e"]
            with pytest.raises(Exception) as caught:  # noqa: PT011 (its class is checked below)
                resolve(name)(*args, **kwargs)
            kinds = [cls.__name__.lstrip("_") for cls in type(caught.value).__mro__]
            assert wanted.lstrip("_") in kinds, f"sample {number}: {caught.value!r}"
        else:
            assert_same(resolve(name)(*args, **kwargs), sample["r"])
