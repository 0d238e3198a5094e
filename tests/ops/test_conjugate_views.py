"""Conjugates and negatives are views: what is written on either side is seen on the other."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable

import pytest

import rushlight as torch

Make = Callable[[torch.Tensor], torch.Tensor]


def numbers() -> torch.Tensor:
    return torch.tensor([[1 + 2j, 3 - 1j], [0.5 + 4j, -2 - 3j]])


VIEWS: dict[str, tuple[Make, Make]] = {
    "conj": (lambda z: z.conj(), lambda z: z.conj_physical()),
    "torch.conj": (torch.conj, lambda z: z.conj_physical()),
    "mH": (lambda z: z.mH, lambda z: z.conj_physical().mT),
    "H": (lambda z: z.H, lambda z: z.conj_physical().mT),
    "adjoint": (lambda z: z.adjoint(), lambda z: z.conj_physical().mT),
    "imag": (lambda z: z.conj().imag, lambda z: -z.imag),
    "real": (lambda z: z.conj().real, lambda z: z.real.clone()),
    "neg": (lambda z: z._neg_view(), lambda z: -z),
    "both": (lambda z: z.conj()._neg_view(), lambda z: -z.conj_physical()),
    "twice": (lambda z: z.mH.conj(), lambda z: z.mT.clone()),
    "row": (lambda z: z.conj()[1], lambda z: z.conj_physical()[1]),
    "turned": (lambda z: z.conj().T[:, :1], lambda z: z.conj_physical().T[:, :1]),
    "flat": (lambda z: z.conj().view(4), lambda z: z.conj_physical().view(4)),
}
WRITES: dict[str, Callable[[torch.Tensor], object]] = {
    "mul_": lambda c: c.mul_(2),
    "iadd": lambda c: c.__iadd__(c),
    "item": lambda c: c.__setitem__(0, 7),
    "all": lambda c: c.__setitem__(..., c * 3),
    "mask": lambda c: c.__setitem__(torch.ones(c.shape, dtype=torch.bool), 5),
    "copy_": lambda c: c.copy_(torch.ones_like(c) * 3),
    "fill_": lambda c: c.fill_(3),
    "part": lambda c: c[0].mul_(4),
    "out": lambda c: torch.add(c, c, out=c),
    "data": lambda c: c.data.mul_(3),
    "detached": lambda c: c.detach().mul_(3),
}


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("view", VIEWS)
def test_what_is_written_through_a_view_is_seen_in_the_tensor(view: str, write: str) -> None:
    make, copy = VIEWS[view]
    z = numbers()
    c = make(z)
    wanted = copy(z).clone()
    WRITES[write](wanted)
    WRITES[write](c)
    assert torch.equal(c, wanted)
    assert torch.equal(copy(z), wanted)
    assert c.untyped_storage().data_ptr() == z.untyped_storage().data_ptr()


@pytest.mark.parametrize("view", VIEWS)
def test_what_is_written_to_the_tensor_is_seen_in_a_view(view: str) -> None:
    make, copy = VIEWS[view]
    z = numbers()
    c = make(z)
    z.mul_(2j)
    z.data[0, 1] = 9 - 9j
    assert torch.equal(c, copy(z))
    assert c._is_view()
    assert c._base is z
    assert c._version == z._version == 1


@pytest.mark.parametrize(
    "write", [name for name in WRITES if name not in ("data", "detached", "out")]
)
@pytest.mark.parametrize("view", VIEWS)
def test_gradients_of_what_is_written_through_a_view(view: str, write: str) -> None:
    make, copy = VIEWS[view]
    leaf, same = numbers().requires_grad_(), numbers().requires_grad_()
    z = leaf * 1
    c = make(z)
    before = copy(same * 1)
    wanted = before * 1
    WRITES[write](c)
    WRITES[write](wanted)
    (c * (1 + 2j)).abs().sum().backward()
    (wanted * (1 + 2j)).abs().sum().backward()
    assert torch.allclose(leaf.grad, same.grad)


def test_gradients_of_the_tensor_after_its_view_was_written() -> None:
    leaf = numbers().requires_grad_()
    z = leaf * 1
    z.conj()[0] *= 2j
    (z * z).real.sum().backward()
    same = numbers().requires_grad_()
    rows = torch.stack([same[0] * -2j, same[1] * 1])
    (rows * rows).real.sum().backward()
    assert torch.allclose(leaf.grad, same.grad)


def test_leaves_are_not_written_through_views() -> None:
    z = numbers().requires_grad_()
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad is being"):
        z.conj().mul_(2)
    c = numbers().conj().requires_grad_()
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad is being"):
        c[0] = 1


def test_a_view_can_be_a_leaf() -> None:
    c = torch.nn.Parameter(numbers().conj())
    assert c.is_conj()
    assert c.is_leaf
    (c * c).real.sum().backward()
    assert torch.equal(c.grad, 2 * c.detach().conj())
    c.grad = None
    (c[0].conj() * 1j).real.sum().backward()
    assert c.grad.tolist() == [[1j, 1j], [0, 0]]
    (found,) = torch.autograd.grad((c.T * 2).real.sum(), c)
    assert torch.equal(found, torch.full((2, 2), 2 + 0j))


def test_hooks_and_kept_gradients_are_those_of_the_view() -> None:
    z = numbers().requires_grad_()
    c = z.conj()
    heard = []
    c.register_hook(heard.append)
    c.retain_grad()
    (c * 1j).real.sum().backward()
    assert torch.equal(heard[0], c.grad)
    assert torch.equal(z.grad, c.grad.conj())


def test_directions_go_through_views() -> None:
    z = numbers()
    _made, direction = torch.func.jvp(lambda x: x.conj() * 2, (z,), (z * 1j,))
    assert torch.equal(direction, (z * 1j).conj() * 2)
    assert torch.autograd.gradcheck(
        lambda x: x.conj() * x.mH, numbers().to(torch.complex128).requires_grad_()
    )


def test_what_a_view_says_of_itself() -> None:
    z = numbers()
    c, n = z.conj(), z.conj().imag
    assert (c.is_conj(), c.is_neg(), n.is_conj(), n.is_neg()) == (True, False, False, True)
    assert not z.conj().conj().is_conj()
    assert not c.clone().is_conj()
    assert c.contiguous() is c
    assert c.resolve_neg() is c
    assert not c.resolve_conj().is_conj()
    assert c.stride() == z.stride()
    assert z.mH.stride() == (1, 2)
    assert n.storage_offset() == 1
    assert repr(c) == repr(z.conj_physical())
    assert repr(n) == repr(-z.imag)
    assert torch.conj(z.real) is not None
    assert z.real.conj().is_conj() is False
    assert c.tolist() == z.conj_physical().tolist()
    assert complex(c[0, 0]) == 1 - 2j
    with pytest.raises(
        RuntimeError, match=r"Can't call numpy\(\) on Tensor that has conjugate bit"
    ):
        c.numpy()
    with pytest.raises(RuntimeError, match=r"Can't call numpy\(\) on Tensor that has negative bit"):
        n.numpy()
    with pytest.raises(RuntimeError, match="view_as_real doesn't work on unresolved conjugated"):
        torch.view_as_real(c)
    with pytest.raises(RuntimeError, match="is not supported for conjugate view tensors when"):
        c.view(torch.float32)


def test_lists_of_views() -> None:
    z = numbers()
    wide, _ = torch.broadcast_tensors(z.conj()[0], torch.ones(3, 2))
    assert wide.is_conj()
    assert wide.shape == (3, 2)
    first, second = z.conj().unbind()
    first.zero_()
    second *= 1j
    assert z.tolist() == [[0, 0], [(0.5 + 4j) * -1j, (-2 - 3j) * -1j]]
    assert torch.equal(torch.cat([z.conj(), z]), torch.cat([z.conj_physical(), z]))


def test_views_are_saved_with_what_they_are_of() -> None:
    z = numbers()
    file = io.BytesIO()
    torch.save({"z": z, "c": z.conj(), "p": torch.nn.Parameter(z.conj())}, file)
    for weights_only in (True, False):
        file.seek(0)
        found = torch.load(file, weights_only=weights_only)
        assert found["c"].is_conj()
        assert torch.equal(found["c"], z.conj())
        assert isinstance(found["p"], torch.nn.Parameter)
        assert found["p"].is_conj()
        found["c"].mul_(2)
        assert torch.equal(found["z"], z * 2)
        assert torch.equal(found["p"], z.conj() * 2)
    assert torch.equal(pickle.loads(pickle.dumps(z.conj())), z.conj())


class Holding(torch.nn.Module):
    def __init__(self, z: torch.Tensor) -> None:
        super().__init__()
        self.z = z
        self.register_buffer("c", z.conj())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.z + self.c * x


def test_modules_hold_views() -> None:
    module = torch.jit.script(Holding(numbers()))
    file = io.BytesIO()
    torch.jit.save(module, file)
    file.seek(0)
    again = torch.jit.load(file)
    assert again.c.is_conj()
    x, z = torch.tensor(2j), numbers()
    for each in (module, again):
        for _ in range(3):
            assert torch.equal(each(x), z + z.conj() * x)
        each.c.mul_(2j)
        assert torch.equal(each.z, z * -2j)


class Scaling(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.factor = torch.tensor(3.0)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.factor


def returned(z: torch.Tensor) -> torch.Tensor:
    return z.conj()


def written(z: torch.Tensor) -> torch.Tensor:
    c = z.conj()
    c.mul_(2)
    return z + c


def written_beside(z: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    w = z * 1
    c = w.mH
    w.mul_(2j)
    return c.sum(), w


def chosen(z: torch.Tensor, is_turned: bool) -> torch.Tensor:
    y = z.conj() if is_turned else z
    y[0] = 5 + 1j
    return y


def listed(z: torch.Tensor) -> list[torch.Tensor]:
    made = [z.conj(), z.mH]
    made[0].mul_(3)
    return made


def asked(z: torch.Tensor) -> tuple[bool, bool]:
    return z.conj().is_conj(), z.is_conj()


@pytest.mark.parametrize("wanted", [False, True])
@pytest.mark.parametrize("dtype", [torch.complex64, torch.float32])
@pytest.mark.parametrize("function", [returned, written, chosen, listed, asked])
def test_views_in_scripts(
    function: Callable[..., object], dtype: torch.dtype, wanted: bool
) -> None:
    script = torch.jit.script(function)
    rest = (True,) if function is chosen else ()
    for _ in range(4):
        outcomes = []
        for call in (function, script):
            z = (numbers() if dtype.is_complex else numbers().real.clone()).requires_grad_(wanted)
            w = z * 1
            if function is chosen and not dtype.is_complex:
                continue  # whole and complex numbers go into complex tensors alone
            found = call(w, *rest)
            parts = found if isinstance(found, (list, tuple)) else [found]
            outcomes.append(
                [w.tolist(), w._version]
                + [
                    (p.tolist(), p.is_conj(), p.data_ptr() == w.data_ptr(), p.requires_grad)
                    if isinstance(p, torch.Tensor)
                    else p
                    for p in parts
                ]
            )
        assert outcomes[:1] == outcomes[1:]


def test_writes_beside_a_view_in_a_script() -> None:
    script, z = torch.jit.script(written_beside), numbers()
    for _ in range(4):
        total, w = script(z)
        assert torch.equal(total, w.mH.sum())
        assert torch.equal(w, z * 2j)


def test_traces_of_views() -> None:
    z = numbers()
    for function in (lambda z: z.conj(), lambda z: (z * z.mH).imag):
        traced = torch.jit.trace(function, (z,))
        assert torch.equal(traced(z * 2), function(z * 2))
    assert traced(z).data_ptr() != z.data_ptr()
    assert torch.jit.trace(returned, (z,))(z).data_ptr() == z.data_ptr()
    doubled = torch.jit.trace(lambda pair: pair[0] * 2 + pair[1], ((z.conj(), z),))
    assert torch.equal(doubled((z, z)), z * 3)


def test_frozen_modules_take_views() -> None:
    layer = torch.nn.Linear(2, 2, dtype=torch.complex64)
    frozen = torch.jit.freeze(torch.jit.script(torch.nn.Sequential(layer)).eval())
    for _ in range(3):
        assert torch.equal(frozen(numbers().conj()), frozen(numbers().conj_physical()))
    sparse = torch.jit.freeze(torch.jit.script(Scaling()).eval())
    assert sparse(torch.eye(2).to_sparse()).to_dense().tolist() == [[3.0, 0.0], [0.0, 3.0]]
