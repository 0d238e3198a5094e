"""What a method was traced with is told by its archive, and restored when that is asked for."""

import io
import warnings
import zipfile

import pytest

import rushlight as torch


class Scaled(torch.nn.Module):
    def forward(self, x):
        return x * 2

    def mixed(self, x, more):
        return x + more["bias"]


def saved(module: object) -> io.BytesIO:
    file = io.BytesIO()
    torch.jit.save(module, file)
    file.seek(0)
    return file


def sizes_of_inputs(method: object) -> list[list[int] | None]:
    values = list(method.graph.inputs())[1:]
    return [value.type().sizes() for value in values if str(value.type()) == "Tensor"]


def test_shapes_of_a_trace_come_back() -> None:
    traced = torch.jit.trace(Scaled(), torch.ones(2, 4).t())
    loaded = torch.jit.load(saved(traced), _restore_shapes=True)
    (given,) = list(loaded.graph.inputs())[1:]
    assert given.type().sizes() == [4, 2]
    assert given.type().strides() == [1, 4]
    assert given.type().dtype() == torch.float32
    assert next(loaded.graph.outputs()).type().sizes() == [4, 2]
    # they bind nobody
    assert loaded(torch.ones(3, dtype=torch.float64)).tolist() == [2.0, 2.0, 2.0]


def test_nothing_is_restored_unasked() -> None:
    file = saved(torch.jit.trace(Scaled(), torch.ones(2)))
    assert sizes_of_inputs(torch.jit.load(file)) == [None]


def test_every_method_has_its_own() -> None:
    inputs = {
        "forward": torch.ones(5, dtype=torch.int32),
        "mixed": (torch.ones(1, 2), {"bias": torch.ones(2)}),
    }
    traced = torch.jit.trace_module(Scaled(), inputs)
    loaded = torch.jit.load(saved(traced), _restore_shapes=True)
    assert sizes_of_inputs(loaded.forward) == [[5]]
    assert sizes_of_inputs(loaded.mixed) == [[1, 2]]
    assert "Int(5, strides=[1], requires_grad=0, device=cpu)" in str(loaded.graph)


def test_arguments_by_name() -> None:
    named = {"more": {"bias": torch.ones(2)}, "x": torch.ones(3, 2)}
    traced = torch.jit.trace_module(Scaled(), {"mixed": named}, example_inputs_is_kwarg=True)
    kept = traced._c._retrieve_traced_inputs()["mixed"]
    assert kept[0].shape == (3, 2)
    assert list(kept[1]) == ["bias"]


def test_archives_hold_sizes_and_no_data() -> None:
    shared = torch.ones(100)
    traced = torch.jit.trace_module(Scaled(), {"mixed": (shared, {"bias": shared})})
    with zipfile.ZipFile(saved(traced)) as archive:
        found = [name for name in archive.namelist() if "/traced_inputs" in name]
        assert found == ["archive/traced_inputs/0", "archive/traced_inputs.pkl"]
        assert archive.read("archive/traced_inputs/0") == b""
        assert b"Dict[str, List[Any]]" in archive.read("archive/traced_inputs.pkl")


def test_traces_that_keep_nothing() -> None:
    traced = torch.jit.trace(Scaled(), torch.ones(2), _store_inputs=False)
    assert traced._c._retrieve_traced_inputs() == {}
    file = saved(traced)
    with pytest.warns(UserWarning, match="no traced inputs were stored"):
        loaded = torch.jit.load(file, _restore_shapes=True)
    assert sizes_of_inputs(loaded) == [None]


def test_only_the_trace_itself_keeps_them() -> None:
    traced = torch.jit.trace(Scaled(), torch.ones(2))
    loaded = torch.jit.load(saved(traced), _restore_shapes=True)
    assert loaded._c._retrieve_traced_inputs() == {}
    assert torch.jit.script(traced)._c._retrieve_traced_inputs().keys() == {"forward"}


def test_untrusted_archives_restore_shapes_too() -> None:
    file = saved(torch.jit.trace(Scaled(), torch.ones(2, 3)))
    loaded = torch.jit.load(file, _restore_shapes=True, trust="none")
    assert sizes_of_inputs(loaded) == [[2, 3]]


def rewritten(file: io.BytesIO, old: bytes, new: bytes) -> io.BytesIO:
    """The archive with other bytes in the record of examples."""
    made = io.BytesIO()
    with zipfile.ZipFile(file) as archive, zipfile.ZipFile(made, "w") as copy:
        for name in archive.namelist():
            content = archive.read(name)
            changes = name.endswith("traced_inputs.pkl")
            copy.writestr(name, content.replace(old, new) if changes else content)
    made.seek(0)
    return made


def test_examples_of_a_method_that_is_not_there() -> None:
    file = saved(torch.jit.trace(Scaled(), torch.ones(2)))
    file = rewritten(file, b"forward", b"outward")
    with pytest.raises(RuntimeError, match="`outward`"):
        torch.jit.load(file, _restore_shapes=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        file.seek(0)
        torch.jit.load(file)


def test_a_damaged_record_of_examples_is_told() -> None:
    file = saved(torch.jit.trace(Scaled(), torch.ones(2)))
    damaged = rewritten(file, b"FloatStorage", b"BoatsStorage")
    with pytest.raises(RuntimeError, match="Boats"):
        torch.jit.load(damaged, _restore_shapes=True)
