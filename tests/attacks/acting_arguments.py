"""Attacks on memory by arguments that act while they are read, and by what cannot be written.

A number, a list or a hook is an object of the user's: reading it may run any Python, which changes
the tensors that the same call was given.  Where the memory of what they become ends, no byte can
be read or written.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from amid_calls import CALLS, _other, names_of_calls
from attacks_on_memory import FAMILY
from harness import Broken
from more_calls import MORE_CALLS

__all__: list[str] = []

WAITING: list[Callable[[], object]] = []
"""What reading an acting argument does, once for each call."""


def _act() -> None:
    if WAITING:
        WAITING.pop()()


class Acting:
    """A number that acts when it is read."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __index__(self) -> int:
        _act()
        return int(self.value)

    def __float__(self) -> float:
        _act()
        return float(self.value)

    __int__ = __index__

    def __bool__(self) -> bool:
        _act()
        return bool(self.value)

    def __eq__(self, other: object) -> bool:
        _act()
        return bool(self.value == other)

    def __hash__(self) -> int:
        _act()
        return hash(self.value)

    def __lt__(self, other: Any) -> bool:
        _act()
        return bool(self.value < other)


class ActingNumber(int):
    """An int of a class of its own that acts when it is asked for anything."""

    def __index__(self) -> int:
        _act()
        return int.__int__(self)

    __int__ = __index__

    def __float__(self) -> float:
        _act()
        return int.__float__(self)

    def __eq__(self, other: object) -> bool:
        _act()
        return int.__eq__(self, other)

    def __hash__(self) -> int:
        _act()
        return int.__hash__(self)

    def __lt__(self, other: int) -> bool:
        _act()
        return int.__lt__(self, other)


class ActingList(list[Any]):
    """A list that acts when it is walked, measured or looked into."""

    def __iter__(self) -> Iterator[Any]:
        _act()
        return list.__iter__(self)

    def __len__(self) -> int:
        _act()
        return list.__len__(self)

    def __getitem__(self, place: Any) -> Any:
        _act()
        return list.__getitem__(self, place)


NUMBERS = {
    "torch.narrow(x, 0, A(1), A(5))": "R(60, 160)",
    "x.select(A(0), A(59))": "R(60, 160)",
    "x[A(59)]": "R(60, 160)",
    "x[A(1):A(60)]": "R(60, 160)",
    "x[:, A(0)::A(3)]": "R(60, 160)",
    "x.__setitem__(A(59), 1.0)": "R(60, 160)",
    "x.__setitem__(slice(A(1), A(60)), y)": "R(60, 160), R(59, 160)",
    "x.__setitem__((slice(None), A(159)), y)": "R(60, 160), R(60)",
    "x.expand(A(3), 60, 160).sum()": "R(60, 160)",
    "x.view(A(9600)).sum()": "R(60, 160)",
    "x.reshape(A(160), 60).sum()": "R(60, 160)",
    "x.t().reshape(A(160), 60).sum()": "R(60, 160)",
    "x.as_strided((A(60),), (A(160),), A(100)).sum()": "R(60, 160)",
    "x.unfold(1, A(3), A(2)).sum()": "R(60, 160)",
    "x.roll(A(3), A(0))": "R(60, 160)",
    "x.flip(A(0))": "R(60, 160)",
    "x.transpose(A(0), A(1)).contiguous()": "R(60, 160)",
    "x.permute(A(1), A(0)).contiguous()": "R(60, 160)",
    "x.movedim(A(0), A(1)).clone()": "R(60, 160)",
    "x.repeat(A(2), A(3))": "R(60, 160)",
    "x.repeat_interleave(A(2), A(0))": "R(60, 160)",
    "x.tile(A(2), A(3))": "R(60, 160)",
    "x.sum(A(1))": "R(60, 160)",
    "x.amax(A(0), A(True))": "R(60, 160)",
    "x.softmax(A(1))": "R(60, 160)",
    "x.cumsum(A(1))": "R(60, 160)",
    "x.sort(A(1), A(True))": "R(60, 160)",
    "x.topk(A(5), A(1))": "R(60, 160)",
    "x.kthvalue(A(5), A(0))": "R(60, 160)",
    "x.add(y, alpha=A(2))": "R(60, 160), R(60, 160)",
    "x.add_(A(2.0))": "R(60, 160)",
    "x.mul(A(2.0))": "R(60, 160)",
    "x.pow_(A(2.0))": "R(60, 160)",
    "x.fill_(A(2.0))": "R(60, 160)",
    "x.clamp_(A(0.1), A(0.2))": "R(60, 160)",
    "x.lerp_(y, A(0.5))": "R(60, 160), R(60, 160)",
    "x.addcmul_(y, y, value=A(2))": "R(60, 160), R(60, 160)",
    "x.masked_fill_(y, A(1.0))": "R(60, 160), R(60, 160) > 0.5",
    "x.index_fill_(A(0), y, A(1.0))": "R(60, 160), I(60, 30)",
    "x.index_add_(A(0), y, z, alpha=A(2))": "R(60, 160), I(60, 30), R(30, 160)",
    "x.gather(A(1), y)": "R(60, 160), I(160, 60, 160)",
    "x.scatter_(A(1), y, A(1.0))": "R(60, 160), I(160, 60, 90)",
    "x.scatter_add_(A(1), y, z)": "R(60, 160), I(160, 60, 90), R(60, 90)",
    "x.index_select(A(0), y)": "R(60, 160), I(60, 30)",
    "x.diff(A(1), A(0))": "R(60, 160)",
    "x.fill_diagonal_(A(1.0))": "R(60, 160)",
    "x.tril_(A(1))": "R(60, 160)",
    "x.diagonal(A(1)).sum()": "R(60, 160)",
    "x.normal_(A(0.0), A(1.0))": "R(60, 160)",
    "x.random_(A(0), A(9))": "R(60, 160)",
    "x.bernoulli_(A(0.5))": "R(60, 160)",
    "x.split(A(7), A(0))": "R(60, 160)",
    "x.tensor_split(A(7), A(0))": "R(60, 160)",
    "x.quantile(A(0.5), A(1))": "R(60, 160)",
    "x.renorm_(A(2), A(0), A(1.0))": "R(60, 160)",
    "x.resize_(A(60), A(160)).sum()": "R(60, 160)",
    "torch.where(y, x, A(1.0))": "R(60, 160), R(60, 160) > 0.5",
    "torch.cat([x, y], A(0))": "R(60, 160), R(60, 160)",
    "torch.stack([x, y], A(0))": "R(60, 160), R(60, 160)",
    "torch.addmm(x, y, z, beta=A(2), alpha=A(3))": "R(40, 30), R(40, 50), R(50, 30)",
    "torch.cdist(x, y, A(3.0))": "R(20, 30), R(10, 30)",
    "torch.bincount(x, None, A(60))": "I(50, 9000)",
    "torch.histc(x, A(10), A(0), A(1))": "R(60, 160)",
    "torch.matrix_power(x, A(3))": "R(40, 40)",
    "F.pad(x, (A(1), A(1), A(1), A(1)))": "R(2, 8, 16, 16)",
    "F.avg_pool2d(x, A(2), A(2), A(0))": "R(2, 8, 16, 16)",
    "F.max_pool2d(x, A(2), A(2), A(0))": "R(2, 8, 16, 16)",
    "F.conv2d(x, y, z, A(1), A(1), A(1), A(1))": "R(2, 8, 16, 16), R(8, 8, 3, 3), R(8)",
    "F.interpolate(x, (A(32), A(32)))": "R(2, 8, 16, 16)",
    "F.unfold(x, A(3), A(1), A(0), A(1))": "R(2, 8, 16, 16)",
    "F.pixel_shuffle(x, A(2))": "R(2, 8, 16, 16)",
    "F.one_hot(x, A(50))": "I(50, 200)",
    "F.embedding(x, y, A(1), A(1.0), A(2.0))": "I(50, 200), R(50, 32)",
    "F.cross_entropy(x, y, None, None, A(3))": "R(200, 50), I(50, 200)",
    "F.layer_norm(x, (A(160),), y, z, A(1e-5))": "R(60, 160), R(160), R(160)",
    "F.group_norm(x, A(4), y, z, A(1e-5))": "R(2, 8, 16, 16), R(8), R(8)",
    "F.batch_norm(x, y, z, None, None, A(True), A(0.1), A(1e-5))": "R(2, 8, 16, 16), R(8), R(8)",
    "F.dropout(x, A(0.5), A(True), A(True))": "R(60, 160)",
    "F.softplus(x, A(1), A(20))": "R(60, 160)",
    "F.elu_(x, A(1.0))": "R(60, 160)",
    "torch.fft.fft(x, A(150), A(1))": "R(60, 160)",
    "torch.quantize_per_tensor(x, A(0.1), A(1), torch.quint8)": "R(60, 160)",
    "torch.full_like(x, A(1.0)).sum()": "R(60, 160)",
    "torch.searchsorted(x, A(0.5))": "R(900)",
    "torch.tensordot(x, y, A(1))": "R(60, 160), R(160, 30)",
    "torch._foreach_add([x, y], A(1))": "R(60, 160), R(60, 160)",
}

LISTS = {
    "x.view(L([9600])).sum()": "R(60, 160)",
    "x.expand(L([3, 60, 160])).sum()": "R(60, 160)",
    "x.permute(L([1, 0])).contiguous()": "R(60, 160)",
    "x.as_strided(L([60]), L([160]), 100).sum()": "R(60, 160)",
    "x.sum(L([0, 1]))": "R(60, 160)",
    "x.flip(L([0, 1]))": "R(60, 160)",
    "x.roll(L([3, 1]), L([0, 1]))": "R(60, 160)",
    "x.split(L([7, 53]), 0)": "R(60, 160)",
    "x.resize_(L([60, 160])).sum()": "R(60, 160)",
    "x[L([0, 59])]": "R(60, 160)",
    "x.__setitem__(L([0, 59]), 1.0)": "R(60, 160)",
    "x.__setitem__((slice(None), L([0, 159])), y)": "R(60, 160), R(60, 2)",
    "x.index_put_(L([y]), z)": "R(60, 160), I(60, 30), R(30, 160)",
    "torch.cat(L([x, y, x]))": "R(60, 160), R(60, 160)",
    "torch.stack(L([x, y]))": "R(60, 160), R(60, 160)",
    "torch.hstack(L([x, y]))": "R(60, 160), R(60, 160)",
    "torch.cat(L([x, y]), out=z)": "R(60, 160), R(60, 160), R(120, 160)",
    "torch.meshgrid(L([x, y]), indexing='ij')": "R(60), R(160)",
    "torch.einsum('ij,kj->ik', L([x, y]))": "R(60, 160), R(40, 160)",
    "torch.block_diag(*L([x, y]))": "R(60, 160), R(60, 160)",
    "torch.tensor(L([x[0, 0], y[0, 0]]))": "R(60, 160), R(60, 160)",
    "torch.linalg.multi_dot(L([x, y, z]))": "R(20, 30), R(30, 40), R(40, 10)",
    "torch._foreach_add_(L([x, y]), L([y, x]))": "R(60, 160), R(60, 160)",
    "torch._foreach_norm(L([x, y]))": "R(60, 160), R(60, 160)",
    "torch.nn.utils.rnn.pad_sequence(L([x, y]))": "R(60, 16), R(30, 16)",
    "torch.nn.utils.clip_grad_norm_(L([x, y]), 1.0)": "R(60, 16), R(30, 16)",
    "F.pad(x, L([1, 1, 1, 1]))": "R(2, 8, 16, 16)",
    "F.conv2d(x, y, z, L([1, 1]), L([1, 1]))": "R(2, 8, 16, 16), R(8, 8, 3, 3), R(8)",
    "F.max_pool2d(x, L([2, 2]), L([2, 2]))": "R(2, 8, 16, 16)",
    "F.interpolate(x, L([32, 32]), mode='bilinear')": "R(2, 8, 16, 16)",
    "F.layer_norm(x, L([160]), y, z)": "R(60, 160), R(160), R(160)",
    "torch.autograd.grad(L([x.sum()]), L([x]), allow_unused=True)": "R(60, 160)",
}


def _reading(expression: str, given: str, kinds: tuple[type, ...]) -> None:
    """Evaluate an expression whose arguments turn each of its tensors into another one."""
    import rushlight as torch

    names, acted = names_of_calls(), 0
    for kind in kinds:
        for form in ("spread", "half"):
            for at in range(given.count("R(") + given.count("I(")):
                arguments = eval(f"({given},)", names)
                changed = arguments[at]
                other = _other(changed, form)

                def change(changed: Any = changed, other: Any = other) -> None:
                    with torch.no_grad():
                        changed.set_(other)

                acting = dict(zip("xyz", arguments, strict=False))
                scope = {**names, **acting, "A": kind, "L": ActingList}
                for _ in range(2):  # anew, and as it is remembered
                    WAITING[:] = [change]
                    with contextlib.suppress(Exception):  # whatever it says
                        eval(expression, scope)
                    acted += not WAITING
    if not acted:
        raise Broken("nothing acted")


for expression, given in NUMBERS.items():
    FAMILY.attack(f"a number that acts: {expression}", long=len(expression) % 5 != 0)(
        partial(_reading, expression, given, (Acting, ActingNumber))
    )
for expression, given in LISTS.items():
    FAMILY.attack(f"a list that acts: {expression}", long=len(expression) % 5 != 0)(
        partial(_reading, expression, given, (Acting,))
    )


# --------------------------------------------------------------------------- between the walks


def _between(source: str, given: str) -> None:
    """A leaf becomes another one between the forward and the backward of a call."""
    import rushlight as torch

    names = names_of_calls()
    function = eval(source, names)
    for at in range(len(eval(f"({given},)", names))):
        for form in ("spread", "half", "bytes"):
            for by_data in (False, True):
                arguments = eval(f"({given},)", names)
                leaves = [
                    each.requires_grad_() if each.is_floating_point() else each
                    for each in arguments
                ]
                result = function(*leaves).sum()
                other = _other(leaves[at].detach(), form)
                with contextlib.suppress(Exception):  # whatever it says
                    if by_data:
                        leaves[at].data = other
                    else:
                        with torch.no_grad():
                            leaves[at].detach().set_(other)
                            leaves[at].set_(other)
                with contextlib.suppress(Exception):
                    result.backward()


for calls in (*CALLS.values(), *MORE_CALLS.values()):
    for source, given in calls.items():
        if source.startswith("back("):
            inner = source.removeprefix("back(").removesuffix(")")
            FAMILY.attack(
                f"another leaf before the walk back: {inner} of {given}", long=len(given) % 5 != 0
            )(partial(_between, f"({inner})", given))


# --------------------------------------------------------------------------- what is only read

WRITES = {
    "x.fill_(1.0)": "",
    "x.zero_()": "",
    "x.add_(1)": "",
    "x.mul_(y)": "R(60, 160)",
    "x.copy_(y)": "R(60, 160)",
    "x.uniform_()": "",
    "x.normal_()": "",
    "x.bernoulli_(0.5)": "",
    "x.tanh_()": "",
    "F.relu_(x)": "",
    "F.dropout(x, 0.5, True, True)": "",
    "x.clamp_(0.1, 0.2)": "",
    "x.cumsum_(1)": "",
    "x.tril_()": "",
    "x.addcmul_(y, y)": "R(60, 160)",
    "x.lerp_(y, 0.5)": "R(60, 160)",
    "x.addmm_(y, z)": "R(60, 50), R(50, 160)",
    "x.__setitem__(3, 1.0)": "",
    "x.__setitem__(y, 1.0)": "I(60, 30)",
    "x.__setitem__((y, z), 1.0)": "I(60, 30), I(160, 30)",
    "x.masked_fill_(y, 1.0)": "R(60, 160) > 0.5",
    "x.masked_scatter_(y, z)": "R(60, 160) > 0.5, R(60, 160)",
    "x.index_put_((y,), z, True)": "I(60, 30), R(30, 160)",
    "x.index_add_(0, y, z)": "I(60, 30), R(30, 160)",
    "x.index_fill_(0, y, 1.0)": "I(60, 30)",
    "x.index_copy_(0, y, z)": "I(60, 30), R(30, 160)",
    "x.scatter_(1, y, z)": "I(160, 60, 90), R(60, 90)",
    "x.scatter_add_(1, y, z)": "I(160, 60, 90), R(60, 90)",
    "x.scatter_reduce_(1, y, z, 'amax')": "I(160, 60, 90), R(60, 90)",
    "x.put_(y, z)": "I(9600, 30), R(30)",
    "x.fill_diagonal_(1.0)": "",
    "x.t_().add_(1)": "",
    "x.view(-1).sort(out=(x.view(-1), y))": "I(9, 9600)",
    "torch.add(y, y, out=x)": "R(60, 160)",
    "torch.mm(y, z, out=x)": "R(60, 50), R(50, 160)",
    "torch.cat([y, z], out=x)": "R(30, 160), R(30, 160)",
    "torch.rand(60, 160, out=x)": "",
    "torch.softmax(y, 1, out=x)": "R(60, 160)",
    "torch.cumsum(y, 1, out=x)": "R(60, 160)",
    "torch.gather(y, 1, z, out=x)": "R(60, 160), I(160, 60, 160)",
    "torch._foreach_add_([x, y], 1)": "R(60, 160)",
    "F.batch_norm(y, x[0, :8], x[1, :8], None, None, True)": "R(2, 8, 16, 16)",
    "step(lambda p: torch.optim.SGD(p, lr=0.1))(x, y)": "R(60, 160)",
    "step(lambda p: torch.optim.Adam(p))(x, y)": "R(60, 160)",
    "step(lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9))(y, z, x)": "R(60, 160), R(60, 160)",
    "torch.nn.init.xavier_uniform_(x)": "",
    "torch.nn.init.orthogonal_(x)": "",
    "script('x, y', 'x.add_(y).mul_(2.0)')(x, y)": "R(60, 160)",
    "setattr(y, 'grad', x) or y.requires_grad_().sum().backward()": "R(60, 160)",
}


def _mapped() -> Any:
    """Numbers of a file that is mapped for reading alone: writing them ends the process."""
    import numpy as np

    import rushlight as torch

    Path("numbers").write_bytes(bytes(4 * 60 * 160))
    return torch.from_numpy(np.memmap("numbers", np.float32, "r", shape=(60, 160)))


def _of_bytes() -> Any:
    import rushlight as torch

    return torch.frombuffer(bytes(4 * 60 * 160), dtype=torch.float32).view(60, 160)


def _of_mapped_weights() -> Any:
    import rushlight as torch

    torch.save(torch.zeros(60, 160), "w.pt")
    return torch.load("w.pt", mmap=True)


def _of_storage() -> Any:
    import rushlight as torch

    Path("numbers").write_bytes(bytes(4 * 60 * 160))
    storage = torch.UntypedStorage.from_file("numbers", False, 4 * 60 * 160)
    return torch.empty(0).set_(storage, 0, (60, 160))


READ_ONLY = {
    "a mapped file": _mapped,
    "bytes": _of_bytes,
    "mapped weights": _of_mapped_weights,
    "a storage of a file": _of_storage,
}


def _written(expression: str, given: str) -> None:
    """Write what is not to be written: it says so, or the file and the bytes are as they were."""
    names = names_of_calls()
    for kind, make in READ_ONLY.items():
        for _ in range(2):
            scope = {**names, "x": make()}
            scope |= dict(zip("yz", eval(f"({given},)" if given else "()", names), strict=False))
            for _ in range(60 if "script" in expression else 3):
                with contextlib.suppress(Exception):  # whatever it says
                    eval(expression, scope)
        if kind == "a mapped file" and any(Path("numbers").read_bytes()):
            raise Broken("a file that is mapped for reading was written")


for expression, given in WRITES.items():
    FAMILY.attack(f"written, though only to be read: {expression}", long=len(expression) % 5 != 0)(
        partial(_written, expression, given)
    )
