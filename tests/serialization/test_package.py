"""`torch.package`: packages are written, checked and imported."""

from __future__ import annotations

import importlib.resources
import inspect
import io
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from zipfile import ZipFile

import pytest

import rushlight as torch
from rushlight.package import (
    EmptyMatchError,
    GlobGroup,
    ObjMismatchError,
    OrderedImporter,
    PackageExporter,
    PackageImporter,
    PackagingError,
    is_from_package,
    sys_importer,
)
from rushlight.package.analyze import find_first_use_of_broken_modules
from rushlight.package.find_file_dependencies import find_files_source_depends_on

BY_TORCH = Path(__file__).parent / "data" / "package.pt"


class Doubled(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(2):
            x = x + x
        return x


SOURCES = {
    "farm/__init__.py": "from .barn import Cow\n",
    "farm/barn.py": (
        "import math\n\nimport fence\n\n\nclass Cow:\n"
        "    def __init__(self, weight):\n        self.weight = weight\n\n"
        "    def heavy(self):\n        return math.floor(self.weight) + fence.HEIGHT\n"
    ),
    "farm/texts/words.txt": "moo",
    "fence.py": "HEIGHT = 2\n",
}


@pytest.fixture
def farm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Modules to be packed, which Python finds as long as a test runs."""
    for name, text in SOURCES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in [n for n in sys.modules if n.partition(".")[0] in ("farm", "fence")]:
        del sys.modules[name]


def written(fill: Callable[[PackageExporter], object]) -> io.BytesIO:
    sink = io.BytesIO()
    with PackageExporter(sink) as exporter:
        fill(exporter)
    return io.BytesIO(sink.getvalue())


def cow(exporter: PackageExporter) -> None:
    from farm.barn import Cow  # type: ignore[import-not-found]

    exporter.intern("farm.**")
    exporter.intern("fence")
    exporter.save_pickle("saved", "cow.pkl", [Cow(3.7), Cow])


def test_an_object_brings_its_modules(farm: Path) -> None:
    data = written(cow)
    importer = PackageImporter(data)
    made, kind = importer.load_pickle("saved", "cow.pkl")
    assert made.heavy() == 5
    assert type(made) is kind
    assert is_from_package(made)
    assert kind.__module__ == f"{importer.id()}.farm.barn"
    assert kind is importer.import_module("farm").barn.Cow
    assert kind is not sys.modules["farm.barn"].Cow
    assert inspect.getsource(kind).startswith("class Cow:\n")
    assert importer.extern_modules == ["math"]


def test_two_importers_have_modules_of_their_own(farm: Path) -> None:
    data = written(cow)
    one, other = (PackageImporter(io.BytesIO(data.getvalue())) for _ in range(2))
    assert one.import_module("farm.barn").Cow is not other.import_module("farm.barn").Cow
    name = one.import_module("farm.barn").__name__
    assert name in sys.modules
    del one
    import gc

    gc.collect()
    assert name not in sys.modules


def test_what_is_not_there_is_not_found_outside(farm: Path) -> None:
    importer = PackageImporter(written(cow))
    with pytest.raises(ModuleNotFoundError, match='No module named "json" in self-contained'):
        importer.import_module("json")
    with pytest.raises(ModuleNotFoundError, match=r"farm\.sheep"):
        importer.import_module("farm.sheep")
    with pytest.raises(RuntimeError, match="failed locating file saved/none"):
        importer.load_text("saved", "none")


def test_modules_outside_can_be_disallowed(farm: Path) -> None:
    with pytest.raises(ImportError, match="external module 'math' but that module has been"):
        PackageImporter(written(cow), lambda name: name != "math")


@pytest.mark.parametrize("way", ["none", "deny", "mock"])
def test_modules_that_cannot_be_had(farm: Path, way: str) -> None:
    exporter = PackageExporter(io.BytesIO(), debug=True)
    exporter.intern("farm.**")
    if way == "deny":
        exporter.deny("fence")
    if way == "mock":
        exporter.mock("fence")
    exporter.save_module("farm.barn")
    if way == "mock":
        import fence  # type: ignore[import-not-found]

        fence.Post = type("Post", (), {"__module__": "fence", "__qualname__": "Post"})
        exporter.save_pickle("saved", "post.pkl", fence.Post())
    with pytest.raises(PackagingError) as raised:
        exporter.close()
    said = {
        "none": "* Module did not match against any action pattern. Extern, mock, or intern it.\n"
        "    fence\n      A path to fence: farm.barn -> fence\n",
        "deny": "* Module was denied by a pattern.\n    fence\n",
        "mock": "Context: Object(s) '['Post']' from module `fence` was mocked out during packaging",
    }
    assert said[way] in str(raised.value)
    broken = find_first_use_of_broken_modules(raised.value)
    assert list(broken) == ["fence"]


def test_mocked_modules_are_imported_and_not_used(farm: Path) -> None:
    def fill(exporter: PackageExporter) -> None:
        exporter.intern("farm.**")
        exporter.mock("fence", allow_empty=False)
        exporter.save_module("farm.barn")
        assert exporter.mocked_modules() == ["fence"]
        assert exporter.get_rdeps("fence") == ["farm.barn"]

    barn = PackageImporter(written(fill)).import_module("farm.barn")
    with pytest.raises(
        NotImplementedError, match=r"fence\.HEIGHT' was mocked out during packaging"
    ):
        barn.Cow(1.0).heavy()


def test_a_pattern_that_must_match(farm: Path) -> None:
    exporter = PackageExporter(io.BytesIO())
    exporter.extern("numpy.**", allow_empty=False)
    with pytest.raises(EmptyMatchError, match=r"GlobGroup\(include=numpy\.\*\*, exclude=\(\)\)"):
        exporter.close()


def test_nothing_is_written_where_the_block_fails(tmp_path: Path) -> None:
    path = tmp_path / "p.pt"
    with pytest.raises(ValueError, match="as an entire path"), PackageExporter(path) as exporter:
        exporter.intern("a**")
    assert not path.exists()


def test_objects_of_a_package_are_packed_again(farm: Path) -> None:
    importer = PackageImporter(written(cow))
    made, kind = importer.load_pickle("saved", "cow.pkl")
    with pytest.raises(ObjMismatchError, match="lists the importer for <torch_package_"):
        sys_importer.get_name(kind)
    assert OrderedImporter(importer, sys_importer).get_name(kind) == ("farm.barn", "Cow")
    sink = io.BytesIO()
    with PackageExporter(sink, importer=(importer, sys_importer)) as exporter:
        exporter.intern("**")
        exporter.save_pickle("saved", "cow.pkl", made)
    again = PackageImporter(io.BytesIO(sink.getvalue())).load_pickle("saved", "cow.pkl")
    assert again.heavy() == 5
    assert type(again) is not kind


def test_files_of_a_package(farm: Path) -> None:
    def fill(exporter: PackageExporter) -> None:
        exporter.intern("fence")
        exporter.save_source_file("farm", str(farm / "farm"))
        exporter.save_text("farm.texts", "words.txt", "moo")
        exporter.save_binary("farm.texts", "bytes", b"\0\1")

    importer = PackageImporter(written(fill))
    assert importer.load_text("farm.texts", "words.txt") == "moo"
    texts = importer.import_module("farm.texts")
    assert importlib.resources.files(texts).joinpath("bytes").read_bytes() == b"\0\1"
    assert str(importer.file_structure(include="farm/**", exclude="farm/*.py")) == (
        "─── <binary>\n    └── farm\n        └── texts\n"
        "            ├── bytes\n            └── words.txt\n"
    )
    assert importer.file_structure().has_file("farm/barn.py")
    assert not importer.file_structure().has_file("farm/cellar.py")


class Layer(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.tensor([1.0, 2.0]))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.weight + torch.tensor([0.5])


@pytest.mark.parametrize("way", ["itself", "wrapped", "frozen", "frozen when wrapped"])
def test_code_that_nobody_vouches_for_is_refused(way: str) -> None:
    """Importing a package trusts it, so bounds would be lost."""
    buffer = io.BytesIO(torch.jit.script(Doubled().eval()).save_to_buffer())
    module = torch.jit.load(buffer, trust="none")
    if "wrapped" in way:
        module = torch.jit.script(torch.nn.Sequential(torch.nn.ReLU(), module).eval())
    if "frozen" in way:
        module = torch.jit.freeze(module)
    with (
        pytest.raises(RuntimeError, match="is not trusted"),
        PackageExporter(io.BytesIO()) as exporter,
    ):
        exporter.save_pickle("models", "m.pkl", module)


def test_scripted_modules_share_memory_with_tensors() -> None:
    layer = Layer()
    scripted = torch.jit.script(layer)
    values = [scripted, layer.weight, scripted, torch.jit.script(torch.nn.Sequential(layer))]
    data = written(lambda exporter: exporter.save_pickle("saved", "all.pkl", values))
    one, weight, same, other = PackageImporter(data).load_pickle("saved", "all.pkl")
    assert one is same
    with torch.no_grad():
        weight.fill_(4.0)
    x = torch.tensor([1.0, 2.0])
    assert one(x).tolist() == other(x).tolist() == [4.5, 8.5]


@pytest.mark.parametrize("unpacked", [False, True])
def test_a_package_written_by_torch(tmp_path: Path, unpacked: bool) -> None:
    path = BY_TORCH
    if unpacked:
        ZipFile(BY_TORCH).extractall(tmp_path)
        (path,) = tmp_path.iterdir()
    importer = PackageImporter(path)
    net = importer.import_module("models.net").Net(2.0)
    assert net(torch.tensor([-1.0, 1.0])).tolist() == [1.0, 7.0]
    assert importer.load_text("saved", "notes.txt") == "a note"
    assert importer.python_version() == "3.11.7"
    if unpacked:
        with pytest.raises(RuntimeError, match="from a directory is not supported"):
            importer.load_pickle("saved", "all.pkl")
        return
    one, weight, same, places, kinds = importer.load_pickle("saved", "all.pkl")
    assert one is same
    assert one(torch.ones(2)).tolist() == [1.5, 2.5]
    assert weight.data_ptr() == one.weight.data_ptr()
    assert places.tolist() == [0, 1, 2]
    assert kinds == {"kind": torch.bfloat16}


def test_a_package_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError):
        PackageImporter(io.BytesIO(b"no archive"))


def test_opening_runs_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    data = written(lambda exporter: exporter.save_source_string("loud", "print('here')\n"))
    importer = PackageImporter(data)
    assert capsys.readouterr().out == ""
    importer.import_module("loud")
    assert capsys.readouterr().out == "here\n"


def test_names_that_a_group_has() -> None:
    group = GlobGroup(["a.**", "b.*.c"], exclude="a.x.*")
    names = ["a", "a.b", "a.x", "a.x.y", "b.c", "b.d.c", "b.d.e.c", "ab"]
    assert [name for name in names if group.matches(name)] == ["a", "a.b", "a.x", "b.d.c"]
    with pytest.raises(ValueError, match=r"\*\* can only appear as an entire path segment"):
        GlobGroup("a**")


def test_what_a_source_imports() -> None:
    source = (
        "import a.b as c, d\nfrom . import e\nfrom ..f.g import h\nfrom i import *\n"
        "if d:\n    import j\n__import__('k')\n__import__('m', globals(), None, ['n'], 1)\n"
    )
    assert find_files_source_depends_on(source, "p.q") == [
        *(("a.b", None), ("d", None), ("p.q", "e"), ("p.f.g", "h"), ("i", None), ("j", None)),
        *(("k", None), ("p.q.m", "n")),
    ]
    with pytest.raises(ImportError, match="beyond top-level package"):
        find_files_source_depends_on("from ... import a", "p.q")


def test_paths_that_lie_too_deep_and_records_that_are_no_text_are_refused() -> None:
    def opened(records: dict[str, bytes]) -> torch.package.PackageImporter:
        sink = io.BytesIO()
        with ZipFile(sink, "w") as file:
            for name, content in records.items():
                file.writestr(f"p/{name}", content)
        return torch.package.PackageImporter(io.BytesIO(sink.getvalue()))

    endless = opened({".data/version": b"6", "/".join(["d"] * 20_000): b"", "a/b.py": b""})
    assert [*endless._files] == ["a", "a.b"]
    deep = opened({".data/version": b"6", "/".join(["d"] * 102): b""})
    with pytest.raises(RuntimeError, match="a path of more than 100 folders"):
        deep.file_structure()
    with pytest.raises(RuntimeError, match=r"extern_modules: this is no text in UTF-8"):
        opened({".data/version": b"6", ".data/extern_modules": b"\xff"})


def test_files_of_an_unpacked_package_have_paths(tmp_path: Path) -> None:
    packed = tmp_path / "packed.pt"
    with PackageExporter(str(packed)) as exporter:
        exporter.save_text("one", "a.txt", "hello")
    ZipFile(packed).extractall(tmp_path)
    folder = tmp_path / "packed"
    unpacked, archive = PackageImporter(str(folder)), PackageImporter(str(packed))
    assert unpacked.zip_reader.has_record("one/a.txt")
    assert not unpacked.zip_reader.has_record("one")
    files = unpacked.get_resource_reader("one")
    assert files.resource_path("a.txt") == str(folder / "one" / "a.txt")
    for missing in (
        lambda: files.resource_path("b.txt"),
        lambda: archive.get_resource_reader("one").resource_path("a.txt"),
    ):
        with pytest.raises(FileNotFoundError):
            missing()
