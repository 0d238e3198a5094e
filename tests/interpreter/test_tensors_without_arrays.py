"""Scripts and archives that meet tensors behind which no array stands: `meta`, sparse ones."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import pytest

import rushlight as torch
from rushlight.interpreter.running.invoking import tiers_of
from rushlight.utils.flop_counter import FlopCounterMode

nn = torch.nn


def _meta(*size: int) -> torch.Tensor:
    return torch.empty(*size, device="meta")


class Mixed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.norm = nn.BatchNorm2d(4)
        self.cell = nn.LSTM(5, 6, batch_first=True)

    def forward(self, x: torch.Tensor, s: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self.norm(self.conv(x)).relu(), self.cell(s)[0]


def test_modules_on_meta_are_scripted_and_run() -> None:
    model = torch.jit.script(Mixed().to("meta"))
    for _ in range(3):  # the machine, and what might come after it
        first, second = model(_meta(2, 3, 8, 8), _meta(2, 4, 5))
        assert (first.shape, first.device.type) == ((2, 4, 6, 6), "meta")
        assert (second.shape, second.requires_grad) == ((2, 4, 6), True)


@torch.jit.script
def moved(x: torch.Tensor, device: torch.device, other: torch.Tensor) -> list[torch.Tensor]:
    return [
        x.to("meta"),
        x.to(device),
        x.to(torch.float64).to(device, torch.float32),
        x.to(torch.device("meta"), non_blocking=True),
        x.to(other),
    ]


def test_tensors_that_a_script_moves_there_leave_what_they_were() -> None:
    x = torch.arange(6.0).view(2, 3)
    for _ in range(3):  # the machine, and what might come after it
        made = moved(x, torch.device("meta"), _meta(1))
        assert [(each.is_meta, each.shape) for each in made] == [(True, (2, 3))] * 5
        assert x.tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]


@torch.jit.script
def walked(
    x: torch.Tensor, many: list[torch.Tensor], named: dict[str, torch.Tensor]
) -> tuple[torch.Tensor, list[torch.Tensor], dict[str, torch.Tensor], str]:
    many.append(x)
    y = torch.cat(many)
    first = y.split(2)[0]
    named["z"] = torch.stack([first, first])
    sums: list[torch.Tensor] = []
    for each in many:
        sums.append(each.sum(0, keepdim=True))
    x.add_(1)
    y[0] = 5
    best, place = y.max(0)
    return best + place, sums, named, f"{x.is_meta} {x.device} {x.size(0)} {x.dtype}"


def test_containers_loops_views_and_questions_about_form() -> None:
    best, sums, named, told = walked(_meta(4, 3), [_meta(2, 3)], {})
    assert best.shape == (3,)
    assert best.is_meta
    assert [each.shape for each in sums] == [(1, 3), (1, 3)]
    assert named["z"].shape == (2, 2, 3)
    assert told == "True meta 4 6"
    assert walked(torch.ones(4, 3), [torch.ones(2, 3)], {})[3] == "False cpu 4 6"


@torch.jit.script
def made(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.zeros(2, 3, device="meta") + 1, x * 2


def test_scripts_make_tensors_on_meta() -> None:
    empty, doubled = made(torch.ones(2))
    assert (empty.shape, empty.is_meta) == ((2, 3), True)
    assert doubled.tolist() == [2.0, 2.0]
    assert tiers_of(made._rushlight_function).way(False).executable.traits.asks_elsewhere


@torch.jit.script
def lengths(x: torch.Tensor) -> torch.Tensor:
    return torch.norm(x, dim=-1)  # it looks for the kind of device among names of some


@torch.jit.script
def placed(x: torch.Tensor, where: str) -> torch.Tensor:
    if where != "meta":
        print(where)
    return x.to(torch.device(where)) + 1


def test_texts_that_name_meta_make_tensors_on_it_if_devices_are_made_of_texts() -> None:
    for _ in range(3):
        assert lengths(torch.tensor([[3.0, 4.0]])).tolist() == [5.0]
        assert lengths(_meta(2, 3)).is_meta
        assert placed(torch.tensor([3.0, 4.0]), "cpu").tolist() == [4.0, 5.0]
        assert placed(torch.tensor([[3.0, 4.0]]), "meta").is_meta
    asks = [
        tiers_of(each._rushlight_function).way(False).executable.traits.asks_elsewhere
        for each in (lengths, placed)
    ]
    assert asks == [False, True]


def test_what_depends_on_data_is_refused_as_in_torch() -> None:
    @torch.jit.script
    def decides(x: torch.Tensor) -> int:
        return 1 if bool((x > 0).any()) else 0

    with pytest.raises(RuntimeError, match=r"Tensor.item\(\) cannot be called on meta tensors"):
        decides(_meta(2))
    assert decides(torch.ones(2)) == 1


def test_a_script_that_writes_runs_once() -> None:
    @torch.jit.script
    def writes(x: torch.Tensor, log: torch.Tensor) -> torch.Tensor:
        log.add_(1)
        return x + 1

    log = torch.zeros(1)
    assert writes(_meta(2), log).is_meta
    assert log.tolist() == [1.0]


def test_archives_of_modules_on_meta() -> None:
    file = io.BytesIO()
    torch.jit.save(torch.jit.script(nn.Linear(2, 3, device="meta")), file)
    sizes = {each.filename: each.file_size for each in zipfile.ZipFile(file).infolist()}
    assert sizes["archive/data/0"] == sizes["archive/data/1"] == 0
    for location in (None, "cpu", "meta"):  # as torch: what was saved there stays there
        file.seek(0)
        loaded = torch.jit.load(file, map_location=location)
        assert [(p.device.type, p.requires_grad) for p in loaded.parameters()] == [
            ("meta", True)
        ] * 2
        assert loaded(_meta(4, 2)).shape == (4, 3)


@pytest.mark.parametrize("trust", ["full", "none"])
def test_archives_are_loaded_without_data(trust: str) -> None:
    file = io.BytesIO()
    torch.jit.save(torch.jit.script(Mixed().eval()), file)
    file.seek(0)
    loaded = torch.jit.load(file, map_location=torch.device("meta"), trust=trust)
    assert {p.device.type for p in loaded.parameters()} == {"meta"}
    assert loaded(_meta(1, 3, 5, 5), _meta(1, 2, 5))[0].shape == (1, 4, 3, 3)


def test_weights_on_meta_are_saved_and_loaded() -> None:
    state, file = nn.Linear(2, 3, device="meta").state_dict(), io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    found = torch.load(file)
    assert {name: (t.shape, t.device.type) for name, t in found.items()} == {
        "weight": ((3, 2), "meta"),
        "bias": ((3,), "meta"),
    }
    file = io.BytesIO()
    torch.save(nn.Linear(2, 3).state_dict(), file)
    file.seek(0)
    assert torch.load(file, map_location="meta")["weight"].is_meta


@torch.jit.script
def multiplied(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, bool, torch.Tensor]:
    return torch.mm(a, b), a.is_sparse, a.to_dense()


@pytest.mark.parametrize("form", ["to_sparse", "to_sparse_csr", "to_sparse_csc"])
def test_sparse_tensors_in_scripts(form: str) -> None:
    dense = torch.tensor([[0.0, 2.0], [3.0, 0.0]])
    product, is_sparse, back = multiplied(getattr(dense, form)(), torch.ones(2, 1))
    assert product.tolist() == [[2.0], [3.0]]
    assert is_sparse == (form == "to_sparse")
    assert torch.equal(back, dense)


def test_gradients_of_sparse_tensors_in_scripts() -> None:
    values = torch.ones(2, requires_grad=True)
    places = torch.tensor([[0, 1], [1, 0]])
    product, _, _ = multiplied(torch.sparse_coo_tensor(places, values, [2, 2]), torch.ones(2, 3))
    product.sum().backward()
    assert values.grad is not None
    assert values.grad.tolist() == [3.0, 3.0]


@pytest.mark.parametrize("form", ["conjugate", "sparse"])
def test_attributes_without_arrays_beside_parameters(form: str) -> None:
    class Beside(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.ones(2, 2))
            eye = torch.eye(2, dtype=torch.complex64) * 1j if form == "conjugate" else torch.eye(2)
            self.register_buffer("held", eye.conj() if form == "conjugate" else eye.to_sparse())

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            dense = self.held.to_dense() if self.held.is_sparse else self.held.imag
            return x @ self.weight + dense

    scripted = torch.jit.script(Beside())
    file = io.BytesIO()
    torch.jit.save(scripted, file)
    for made in (scripted, torch.jit.load(io.BytesIO(file.getvalue()))):
        result = made(torch.ones(2, 2))
        sign = -1.0 if form == "conjugate" else 1.0
        assert result.tolist() == [[2.0 + sign, 2.0], [2.0, 2.0 + sign]]
        result.sum().backward()
        assert made.weight.grad.tolist() == [[2.0, 2.0], [2.0, 2.0]]


def test_scripts_make_sparse_tensors() -> None:
    @torch.jit.script
    def sparse(i: torch.Tensor, v: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        made = torch.sparse_coo_tensor(i, v, [3, 3]).coalesce()
        return made + made, made.values()

    total, values = sparse(torch.tensor([[0, 1], [1, 2]]), torch.ones(2))
    assert total.is_sparse
    assert total.to_dense().sum().item() == 4
    assert values.tolist() == [1.0, 1.0]


def test_what_sparse_tensors_have_no_form_for_is_named() -> None:
    @torch.jit.script
    def exponential(x: torch.Tensor) -> torch.Tensor:
        return torch.exp(x)

    with pytest.raises(NotImplementedError, match="aten::exp"):
        exponential(torch.eye(2).to_sparse())


def test_code_that_is_not_trusted_takes_no_sparse_tensors() -> None:
    class Product(nn.Module):
        def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
            return a @ b

    file = io.BytesIO()
    torch.jit.save(torch.jit.script(Product()), file)
    file.seek(0)
    loaded = torch.jit.load(file, trust="none")
    with pytest.raises(NotImplementedError, match="not trusted takes no sparse tensors"):
        loaded(torch.eye(2).to_sparse(), torch.ones(2, 2))


def test_modes_below_gradients_see_what_scripts_do() -> None:
    scripted = torch.jit.script(nn.Sequential(nn.Linear(2, 3), nn.ReLU()))
    with FlopCounterMode(display=False) as counter:
        scripted(torch.ones(4, 2))
    assert counter.get_total_flops() == 2 * 4 * 2 * 3


def test_constants_without_data_are_printed_and_kept_apart() -> None:
    class Scaling(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("scale", torch.ones(3))
            self.register_buffer("shift", torch.zeros(3))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * self.scale + self.shift

    frozen: Any = torch.jit.freeze(torch.jit.script(Scaling().eval()))
    loaded: Any = torch.jit.load(io.BytesIO(frozen.save_to_buffer()), map_location="meta")
    assert str(loaded.graph).count("Tensor = prim::Constant[value=<Tensor>]()") == 2
    assert loaded(torch.empty(3, device="meta")).shape == (3,)
