"""What is said of arguments that no overload takes: torch's sentences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch

X = torch.ones(2)

SAID: dict[str, Callable[[], Any]] = {
    "cumsum(): argument 'dim' (position 1) must be int, not str": lambda: X.cumsum("a"),
    "cumsum(): argument 'dim' must be int, not torch.dtype": lambda: X.cumsum(dim=torch.int8),
    "cumsum() missing 1 required positional arguments: \"dim\"": lambda: torch.cumsum(X),
    'mul() missing 2 required positional argument: "input", "other"': lambda: torch.mul(),
    "mul(): argument 'other' (position 2) must be Tensor, not str": lambda: torch.mul(X, "a"),
    "mul() takes 1 positional argument but 2 were given": lambda: X.mul(1, 2),
    "zeros() takes 1 positional argument but 2 were given": lambda: torch.zeros((2, 3), torch.int8),
    "new_zeros() takes 1 positional argument but 2 were given": lambda: X.new_zeros([2], 3),
    "permute() takes 1 positional argument but 2 were given": lambda: X.permute((0, 1), 4),
    "sum() takes from 1 to 2 positional arguments but 3 were given": lambda: X.sum(0, True, 1),
    "TensorBase.sin() takes no arguments (1 given)": lambda: X.sin(1),
    "sin(): argument 'out' must be Tensor, not int": lambda: torch.sin(X, out=1),
    "cumsum() got an unexpected keyword argument 'foo'": lambda: X.cumsum(0, foo=0),
    "cumsum() got multiple values for argument 'dim'": lambda: X.cumsum(0, dim=0),
    "expected Tensor as element 1 in argument 0, but got NoneType": lambda: torch.cat([X, None]),
    "permute(): argument 'dims' (position 2) must be tuple of ints, but found element of type "
    "float at pos 0": lambda: torch.permute(X, (1.5,)),
    "view(): argument 'size' failed to unpack the object at pos 2 with error \"type must be tuple "
    'of ints,but got str"': lambda: X.view(1, "a"),
    "max(): argument 'input' (position 1) must be Tensor, not int": lambda: torch.max(1),
    "add() received an invalid combination of arguments - got (), but expected (Tensor input, "
    "Tensor other, *, Number alpha = 1, Tensor out = None)": lambda: torch.add(),
    "hsplit() received an invalid combination of arguments - got (Tensor, sections=list), but "
    "expected one of:\n * (Tensor input, int sections)\n      didn't match because some of the "
    "arguments have invalid types: (Tensor, !sections=list of [float]!)\n * (Tensor input, tuple "
    "of ints indices)\n      didn't match because some of the keywords were incorrect: sections\n"
    "": lambda: torch.hsplit(X, sections=[1.5]),
    "squeeze() received an invalid combination of arguments - got (tuple), but expected one of:\n"
    " * ()\n      didn't match because some of the arguments have invalid types: (!tuple of "
    "(float,)!)\n * (int dim)\n      didn't match because some of the arguments have invalid "
    "types: (!tuple of (float,)!)\n * (tuple of ints dim)\n      didn't match because some of the "
    "arguments have invalid types: (!tuple of (float,)!)\n": lambda: X.squeeze((2.5,)),
    "max() received an invalid combination of arguments - got (Tensor, str, out=Tensor), but "
    "expected one of:\n * (Tensor input, *, Tensor out = None)\n      didn't match because some of "
    "the keywords were incorrect: out\n * (Tensor input, Tensor other, *, Tensor out = None)\n"
    " * (Tensor input, int dim, bool keepdim = False, *, tuple of Tensors out = None)\n": (
        lambda: torch.max(X, "a", out=X)
    ),
    "unsupported operand type(s) for @: 'Tensor' and 'int'": lambda: X @ 2,
}  # fmt: skip


@pytest.mark.parametrize("said", SAID)
def test_sentences_about_arguments(said: str) -> None:
    with pytest.raises(TypeError) as caught:
        SAID[said]()
    assert str(caught.value) == said


def test_ints_of_a_size_may_be_bools_but_the_first() -> None:
    assert torch.zeros((2, True)).shape == (2, 1)
    with pytest.raises(TypeError, match="found element of type bool at pos 0"):
        torch.zeros((True, 2))
