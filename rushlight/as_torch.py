"""rushlight under the name `torch`, for packages that import that.

    import rushlight
    rushlight.as_torch()          # from here on `import torch` gives rushlight

    python -m rushlight.as_torch train.py --epochs 3
    python -m rushlight.as_torch -m package.module
    python -m rushlight.as_torch -c "import torch; print(torch.__version__)"

`import torch.x` gives the module `rushlight.x` itself, or fails where there is none.
`torch.__version__` and the metadata of a distribution `torch` say which version is followed, and
public classes and functions say `torch.…` for their modules, and the modules that they are it.
"""

from __future__ import annotations

import copyreg
import runpy
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import abc, import_module, machinery, metadata
from operator import methodcaller
from os import PathLike
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, Final
from zipfile import is_zipfile

from .frontend.foundations.loaded_names import loaded_name
from .torch_homes import home_of, is_listed, is_public

__all__ = ["StandIn", "as_torch"]

_OWN: Final = __package__ or "rushlight"
_VERSION: Final = "2.13.0"
_ROOTS: Final = ("torch", "functorch")
"""The packages of PyTorch's distribution."""
_SPAWN: Final = "multiprocessing.spawn"
_PICKLED: Final = {
    "ops.tensors.tensor": ("Parameter", "Tensor"),
    "ops.sparse_tensors.tensors": ("SparseTensor",),
    "ops.tensors.untyped_storage": ("Storage",),
    "ops.eager.typed_storage": ("TypedStorage",),
    "ops.eager.dispatch": ("EagerFunction",),
}
"""Lower classes whose objects are pickled in torch's words, so that torch reads them."""

_GIVING_MEMBERS: Final = ("ops.tensors.tensor", "ops.eager.methods", "ops.eager.rare_methods")
"""Modules by which Tensor gets its members."""

_RESULTS: Final = "ops.memory.named_results"
_FUNCTIONS: Final = "ops.eager.dispatch"


class StandIn(abc.MetaPathFinder):
    """What `as_torch()` gives: as long as it is in place, `torch` means rushlight.

    `undo()` ends that, and so does the end of a `with` block.  What was imported keeps working.
    """

    def __init__(self) -> None:
        self._version: object = None
        self._renamed: list[tuple[object, str]] = []
        self._pickled: list[type] = []
        self._modules: list[ModuleType] = []
        self._prepared: Callable[[str], dict[str, object]] | None = None

    def put_in_place(self) -> None:
        """Answer to `torch` from now on.

        Raises:
            ImportError: PyTorch itself has been imported, and would be mixed with rushlight.
        """
        own = import_module(_OWN)
        if sys.modules.setdefault("torch", own) is not own:
            raise ImportError(
                "PyTorch itself is imported already: call rushlight.as_torch() before anything "
                "imports torch",
                name="torch",
            )
        if self in sys.meta_path:
            return
        self._version = own.__version__
        vars(own)["__version__"] = import_module(".torch_version", _OWN).TorchVersion(_VERSION)
        own.__name__ = "torch"
        sys.meta_path.insert(0, self)
        for name, module in sys.modules.copy().items():
            if name.startswith(f"{_OWN}."):
                self.rename(module)
        if _SPAWN in sys.modules:
            self.tell_children(sys.modules[_SPAWN])

    def tell_children(self, module: Any) -> None:
        """Have the new processes of `multiprocessing` call `as_torch()` before all else."""
        prepared = module.get_preparation_data

        def get_preparation_data(name: str) -> dict[str, object]:
            data = {"torch": _Again(), **prepared(name)}
            if name == "ignore":  # for a server, which would import the program before this
                data.pop("init_main_from_path", None)
            return data

        self._prepared = prepared
        module.get_preparation_data = get_preparation_data

    def undo(self) -> None:
        """Give the name back: `import torch` looks for PyTorch again."""
        if self not in sys.meta_path:
            return
        sys.meta_path.remove(self)
        own = import_module(_OWN)
        vars(own)["__version__"] = self._version
        own.__name__ = _OWN
        for thing, module in self._renamed:
            thing.__module__ = module
        self._renamed.clear()
        for own_module in self._modules:
            own_module.__name__ = f"{_OWN}.{_inside(own_module)}"
        self._modules.clear()
        for kind in self._pickled:
            copyreg.dispatch_table.pop(kind, None)
        self._pickled.clear()
        functions = sys.modules.get(f"{_OWN}.{_FUNCTIONS}")
        if functions is not None:
            vars(functions)["AS_TORCH"].choose(False)
        results = sys.modules.get(f"{_OWN}.{_RESULTS}")
        if results is not None:
            _lie_in(results, f"{_OWN}.return_types")
        if self._prepared is not None:
            vars(sys.modules[_SPAWN])["get_preparation_data"] = self._prepared
            self._prepared = None
        for name in [name for name in sys.modules.copy() if name.partition(".")[0] in _ROOTS]:
            del sys.modules[name]

    def __enter__(self) -> StandIn:
        return self

    def __exit__(self, *raised: object) -> None:
        self.undo()

    def rename(self, module: ModuleType) -> None:
        """Have a module, its classes and its functions say that they are torch's."""
        inside = _inside(module)
        for name in _PICKLED.get(inside, ()):
            kind = vars(module)[name]
            for each in (kind, *kind.__subclasses__()):
                if each.__module__ == kind.__module__:
                    copyreg.pickle(each, _pickled)
                    self._pickled.append(each)
        if is_public(inside):
            sys.modules.setdefault(f"torch.{inside}", module)  # where names are looked up
            self._modules.append(module)
            is_torchs = inside.partition(".")[0] not in _ROOTS
            module.__name__ = f"torch.{inside}" if is_torchs else inside
        if inside in _GIVING_MEMBERS:
            for member in _members(vars(module)["Tensor"]):
                if isinstance(member, FunctionType) and _is_ours(member.__module__):
                    self._say(member, "torch._tensor")
        if inside == _RESULTS:
            _lie_in(module, "torch.return_types")
        if inside == _FUNCTIONS:
            vars(module)["AS_TORCH"].choose(True)
        if not (is_public(inside) or is_listed(inside)):
            return  # what it has from others was renamed there
        for thing in list(vars(module).values()):
            if _says_its_module(thing) and _is_ours(thing.__module__):
                home = home_of(thing.__module__.partition(".")[2], thing.__qualname__)
                if home is not None:
                    self._say(thing, home)

    def _say(self, thing: object, module: str) -> None:
        self._renamed.append((thing, thing.__module__))
        thing.__module__ = module

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> machinery.ModuleSpec | None:
        """Where a module of torch, or one of rushlight that is to be renamed, comes from."""
        root = fullname.partition(".")[0]
        if root == _OWN or fullname == _SPAWN:
            found = machinery.PathFinder.find_spec(fullname, path)
            if found is None and root == _OWN:
                found = import_module(".made_modules", _OWN).spec_of(fullname)
            if found is not None and found.loader is not None:
                tell = self.rename if root == _OWN else self.tell_children
                found.loader = _Told(tell, found.loader)
            return found
        return torchs_module(fullname)

    def find_distributions(
        self, context: metadata.DistributionFinder.Context | None = None
    ) -> Iterator[metadata.Distribution]:
        """The distribution `torch`, for those who ask which version is installed."""
        if context is not None and context.name == "torch":
            yield _Distribution()


def _says_its_module(thing: object) -> bool:
    """Whether a value is a class or a function, or stands for one and says where it lies."""
    if isinstance(thing, type | FunctionType):
        return True
    own = () if isinstance(thing, ModuleType) else getattr(thing, "__dict__", ())
    return "__module__" in own and hasattr(thing, "__qualname__")


def _members(kind: type) -> Iterator[object]:
    """The members of a class and of its bases; functions among them say that they are."""
    for base in kind.__mro__[:-1]:
        for name, member in vars(base).items():
            own = (name, f"{base.__qualname__}.{name}")
            if isinstance(member, FunctionType) and member.__qualname__ in own:
                member.__qualname__ = f"{kind.__name__}.{name}"
            yield member


def _lie_in(module: ModuleType, home: str) -> None:
    """Have the classes of named results, those made later as well, say where they are found."""
    vars(module)["HOME"].choose(home)
    for kind in vars(module)["NamedResults"].__subclasses__():
        kind.__module__ = home


def _pickled(value: object) -> str | tuple[Any, ...]:
    found: str | tuple[Any, ...] = import_module(".pickled_for_torch", _OWN).pickled(value)
    return found


class _Alias(abc.Loader):
    """Gives a module that is loaded already, under a second name."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module
        self._spec = module.__spec__

    def create_module(self, spec: machinery.ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # which the import system has replaced


class _Told(abc.Loader):
    """Loads a module as its own loader does, and does something with it."""

    def __init__(self, done: Callable[[ModuleType], None], loader: abc.Loader) -> None:
        self._done = done
        self._loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: machinery.ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        if module.__spec__ is not None:
            module.__spec__.loader = module.__loader__ = self._loader
        self._done(module)


class _Own:
    """What is this package where it is unpickled."""

    def __reduce__(self) -> tuple[object, ...]:
        return import_module, (_OWN,)


class _Again:
    """What calls `as_torch()` where it is unpickled, in words of Python's own library."""

    def __reduce__(self) -> tuple[object, ...]:
        return methodcaller("as_torch"), (_Own(),)


class _Distribution(metadata.Distribution):
    """What is installed under the name `torch`: this."""

    def read_text(self, filename: str) -> str | None:
        if filename != "METADATA":
            return None
        return f"Metadata-Version: 2.1\nName: torch\nVersion: {_VERSION}\n"

    def locate_file(self, path: str | PathLike[str]) -> Path:
        return Path(path)


def torchs_module(fullname: str) -> machinery.ModuleSpec | None:
    """How a module of PyTorch's packages gives the one that stands for it; None of other modules,
    and where there is none."""
    root, _, inside = fullname.partition(".")
    if root == "torch":
        return _alias(fullname, f"{_OWN}.{inside}" if inside else _OWN)
    return _alias(fullname, f"{_OWN}.{fullname}") if root == "functorch" else None


def _alias(name: str, own: str) -> machinery.ModuleSpec | None:
    """How `import name` gives the module `own`; None where there is no such module."""
    try:
        module = import_module(own)
    except ModuleNotFoundError as error:
        if error.name is None or not own.startswith(error.name):
            raise
        return None
    sys.modules.pop(name, None)  # else Python would take its spec, and load it twice
    return machinery.ModuleSpec(name, _Alias(module), is_package=hasattr(module, "__path__"))


def _inside(module: ModuleType) -> str:
    """A module's name within this package, whatever it says now."""
    return loaded_name(vars(module)).removeprefix(f"{_OWN}.")


def _is_ours(module: object) -> bool:
    return isinstance(module, str) and module.partition(".")[0] == _OWN


_STAND_IN: Final = StandIn()


def as_torch() -> StandIn:
    """Have `import torch`, also in packages imported later, give rushlight.

    Returns:
        What undoes it: `rushlight.as_torch().undo()`, or a `with` block.

    Raises:
        ImportError: PyTorch itself has been imported.
    """
    _STAND_IN.put_in_place()
    return _STAND_IN


class _Callable(ModuleType):
    """The module's class, so that `rushlight.as_torch()` works where the module is imported."""

    def __call__(self) -> StandIn:
        return as_torch()


def _run(arguments: list[str]) -> None:
    """What `python -m rushlight.as_torch ARGUMENTS` does, as Python itself would."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print(__doc__)
        return
    first, rest = arguments[0], arguments[1:]
    if first in ("-m", "-c") and not rest:
        raise SystemExit(f"Argument expected for the {first} option")
    as_torch()
    if first == "-m":
        sys.argv = rest
        sys.path[0] = str(Path.cwd())
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    elif first == "-c":
        sys.argv = ["-c", *rest[1:]]
        sys.path[0] = ""
        _run_as_main(rest[0], "<string>")
    else:
        sys.argv = arguments
        sys.path[0] = str(Path(first).resolve().parent)
        file = Path(first).absolute()
        if not file.is_file() or file.suffix == ".pyc" or is_zipfile(file):
            runpy.run_path(first, run_name="__main__")
        else:
            _run_as_main(file.read_bytes(), str(file), __file__=str(file))


def _run_as_main(source: str | bytes, name: str, **attributes: object) -> None:
    sys.modules["__main__"] = main = ModuleType("__main__")
    vars(main).update(attributes)
    exec(compile(source, name, "exec", dont_inherit=True), vars(main))


sys.modules[__name__].__class__ = _Callable

if __name__ == "__main__":
    import_module(f"{_OWN}.as_torch")._run(sys.argv[1:])
