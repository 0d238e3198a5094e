"""Attacks on what an archive may reach: files, processes, sockets, imports, Python itself."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness import Broken, Family, is_documented, refused
from making import MODULE, archive, integer, load, pickled, text, zipped

FAMILY = Family(
    "sandbox",
    "Opening, looking at and running an archive without trust imports nothing, runs nothing in "
    "Python, and touches no file, process or socket.",
)

FORBIDDEN = (
    *("os.system", "os.exec", "os.posix_spawn", "os.spawn", "subprocess.Popen", "pty.spawn"),
    *("socket.connect", "socket.bind", "socket.getaddrinfo", "ctypes.dlopen", "shutil.rmtree"),
    *("os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.chmod", "os.symlink", "os.link"),
    *("urllib.Request", "pickle.find_class", "builtins.breakpoint", "webbrowser.open"),
)
_ON_FILES = ("os.remove", "os.rename", "os.mkdir", "os.link")
"""What a kernel that is compiled meanwhile does to the library's own cache."""


class _Watch:
    """An audit hook that notes what an archive may not do, also in children of this process."""

    def __init__(self) -> None:
        self.on = False
        self._notes = os.memfd_create("notes")
        sys.addaudithook(self._hook)

    def seen(self) -> str:
        return os.pread(self._notes, 10_000, 0).decode()

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.on:
            return
        imports = event == "import" and _is_foreign(str(arguments[0]))
        writes = event == "open" and _writes(arguments) and not _own_cache(str(arguments[0]))
        acts = event in FORBIDDEN and not (event in _ON_FILES and _own_cache(str(arguments[0])))
        if acts or imports or writes:
            os.write(self._notes, f"{event} {arguments!r:.200}\n".encode())


def _is_foreign(module: str) -> bool:
    """A module that an archive would name, and that rushlight itself does not need."""
    return module.split(".")[0] in ("pickle", "subprocess_marker", "antigravity", "this", "evil")


def _writes(arguments: tuple[Any, ...]) -> bool:
    path, mode, flags = arguments
    if isinstance(path, int):  # that was opened before, which was told, too
        return False
    if isinstance(mode, str) and set(mode) & set("wax+"):
        return True
    return isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))


def _own_cache(path: str) -> bool:
    chosen = os.environ.get("RUSHLIGHT_CACHE")
    if chosen and path.startswith(chosen):
        return True
    return "cache" in path or path.endswith((".pyc", ".nbi", ".nbc")) or "__pycache__" in path


def _everything(data: bytes) -> None:
    """All that a user does with a file that he does not trust; errors are for the caller."""
    import rushlight as torch
    from rushlight.__main__ import main
    from rushlight.serialization.archives.audit import audit
    from rushlight.serialization.files.identify import identify

    errors: list[Exception] = []

    def attempt(action: Callable[[], object]) -> None:
        try:
            action()
        except Exception as error:
            errors.append(error)

    def use() -> None:
        module = load(data)
        module(torch.ones(2))

    attempt(lambda: identify(data))
    attempt(lambda: audit(data, "attack"))
    attempt(use)
    attempt(lambda: torch.load(io.BytesIO(data)))
    attempt(lambda: torch.jit.mobile._load_for_lite_interpreter(io.BytesIO(data)))
    for command in (["what"], ["audit"], ["show", "--code"], ["run"]):
        rest = ["[1.0, 2.0]"] if command == ["run"] else []
        try:
            main([*command, "attack.pt", *rest])
        except SystemExit as left:
            if left.code not in (0, 1, 2):
                raise Broken(f"{command} ended with {left.code!r}") from left
    for error in errors:
        if not is_documented(error):
            raise error


def _watched(data: bytes) -> Callable[[], None]:
    def run() -> None:
        Path("attack.pt").write_bytes(data)
        watch = _Watch()
        before = set(os.listdir("."))
        watch.on = True
        try:
            _everything(data)
        finally:
            watch.on = False
        if watch.seen():
            raise Broken(watch.seen())
        made = set(os.listdir(".")) - before
        if made:
            raise Broken(f"files were made: {made}")
        if "evil" in sys.modules:
            raise Broken("a module was imported")

    return run


# --------------------------------------------------------------------------- pickles


def _call(module: str, name: str, *arguments: bytes) -> bytes:
    return f"c{module}\n{name}\n".encode() + b"(" + b"".join(arguments) + b"tR"


MARK = text("touch marker")
CALLS = {
    "os.system": _call("os", "system", MARK),
    "posix.system": _call("posix", "system", MARK),
    "subprocess.call": _call("subprocess", "call", MARK),
    "builtins.eval": _call("builtins", "eval", text("open('marker', 'w')")),
    "builtins.exec": _call("builtins", "exec", text("open('marker', 'w')")),
    "builtins.open": _call("builtins", "open", text("marker"), text("w")),
    "builtins.__import__": _call("builtins", "__import__", text("evil")),
    "__builtin__.eval": _call("__builtin__", "eval", text("1")),
    "builtins.getattr": _call("builtins", "getattr", b"cos\nsystem\n", text("__call__")),
    "importlib.import_module": _call("importlib", "import_module", text("evil")),
    "runpy.run_path": _call("runpy", "run_path", text("evil.py")),
    "operator.attrgetter": _call("operator", "attrgetter", text("__class__")),
    "functools.partial": _call("functools", "partial", b"cos\nsystem\n", MARK),
    "torch.hub.load": _call("torch.hub", "load", text("evil"), text("evil")),
    "torch.load": _call("torch", "load", text("marker")),
    "torch.jit.load": _call("torch.jit", "load", text("marker")),
    "torch.save": _call("torch", "save", integer(1), text("marker")),
    "torch.storage._load_from_bytes": _call("torch.storage", "_load_from_bytes", text("x")),
    "torch.serialization.load": _call("torch.serialization", "load", text("marker")),
    "numpy.load": _call("numpy", "load", text("marker")),
    "numpy.lib.npyio.load": _call("numpy.lib.npyio", "load", text("marker")),
    "rushlight.load": _call("rushlight", "load", text("marker")),
    "rushlight.serialization.saving.save": _call(
        "rushlight.serialization.saving.save", "save", text("marker")
    ),
    "a dotted name": _call("torch", "nn.functional.os.system", MARK),
    "a name through a type": _call("torch.Tensor", "__class__.__mro__", MARK),
    "copyreg._reconstructor": _call("copyreg", "_reconstructor", b"cos\nsystem\n", b"NN"),
    "copyreg.__newobj__": _call("copyreg", "__newobj__", b"csubprocess\nPopen\n"),
    "types.FunctionType": _call("types", "FunctionType", b"NN"),
    "types.CodeType": _call("types", "CodeType", b"NN"),
    "marshal.loads": _call("marshal", "loads", text("x")),
    "pickle.loads": _call("pickle", "loads", text("x")),
    "ctypes.CDLL": _call("ctypes", "CDLL", text("libc.so.6")),
    "pty.spawn": _call("pty", "spawn", text("sh")),
    "webbrowser.open": _call("webbrowser", "open", text("http://localhost")),
    "urllib.request.urlopen": _call("urllib.request", "urlopen", text("http://localhost")),
    "NEWOBJ of a class": b"csubprocess\nPopen\n)\x81}(" + text("args") + MARK + b"ub",
    "INST": b"(S'touch marker'\nios\nsystem\n",
    "OBJ": b"(cos\nsystem\n" + MARK + b"o",
    "EXT1": b"\x82\x01",
    "STACK_GLOBAL": text("os") + text("system") + b"\x93" + MARK + b"\x85R",
    "NEXT_BUFFER": b"\x97",
    "a name with a line's end": b"cos\nsystem\x00\n" + MARK + b"\x85R",
    "a name in another alphabet": "c\u043es\nsystem\n".encode() + MARK + b"\x85R",
    "a restored type that is a call": _call(
        "torch.jit._pickle", "restore_type_tag", b"]", text("os.system('touch marker')")
    ),
    "a type text that imports": _call(
        "torch.jit._pickle", "restore_type_tag", b"]", text("__import__('evil')")
    ),
}
for name, body in CALLS.items():
    for record in ("constants.pkl", "data.pkl"):
        inner = b"(" + body + b"t" if record == "constants.pkl" else body
        data = (
            archive(more={record: pickled(inner)})
            if record == "data.pkl"
            else archive(constants=pickled(inner))
        )
        short = record == "data.pkl"
        FAMILY.attack(f"{record}: {name}", long=not short)(_watched(data))
    FAMILY.attack(f"torch.save: {name}", long=True)(
        _watched(zipped({"data.pkl": pickled(body), "version": b"3\n"}))
    )


# --------------------------------------------------------------------------- code

BODIES = {
    "__import__": "__import__('os').system('touch marker')\nreturn x",
    "open": "f = open('marker', 'w')\nreturn x",
    "exec": "exec('import evil')\nreturn x",
    "eval": "return eval('x')",
    "a class chain": "y = x.__class__.__mro__[1].__subclasses__()\nreturn x",
    "globals": "y = globals()\nreturn x",
    "a method's globals": "y = self.forward.__globals__\nreturn x",
    "the function's code": "y = self.forward.__code__\nreturn x",
    "a lambda": "f = lambda: x\nreturn f()",
    "a walrus": "return (y := x)",
    "a comprehension's scope": "y = [__import__('evil') for i in [1]]\nreturn x",
    "a format string": "y = '{0.__class__.__init__.__globals__}'.format(x)\nreturn x",
    "a format of an attribute": "print('{0.shape}'.format(x))\nreturn x",
    "an f-string": "y = f'{__import__(\"evil\")}'\nreturn x",
    "percent with a mapping": "y = '%(__class__)s' % (x,)\nreturn x",
    "a star import": "from os import *\nreturn x",
    "an import": "import evil\nreturn x",
    "a global statement": "global os\nreturn x",
    "a nested function": "def f():\n  return __import__('evil')\nreturn x",
    "a nested class": "class A:\n  pass\nreturn x",
    "a decorator": "@evil\ndef f():\n  return x\nreturn x",
    "async": "await x\nreturn x",
    "yield": "yield x",
    "from_file": "return torch.from_file('marker', True, 100)",
    "to_file": "ops.aten.to_file(x, 'marker')\nreturn x",
    "save": "torch.save(x, 'marker')\nreturn x",
    "ops of another library": "return ops.evil.run(x)",
    "ops.prim.PythonOp": "return ops.prim.PythonOp(x)",
    "ops.prim.load": "return ops.prim.load(x)",
    "a Python builtin by its name": "return ops.builtins.eval('1')",
    "a file's attribute": "y = self.__dict__\nreturn x",
    "set a hidden attribute": "self.__class__ = x\nreturn x",
    "set a method": "self.forward = x\nreturn x",
    "raise with a class": "ops.prim.RaiseException('x', '__import__(\"evil\")')\nreturn x",
    "an assert with a call": "assert __import__('evil'), 'x'\nreturn x",
    "a type comment": "y = x # type: __import__('evil')\nreturn y",
    "an annotation that calls": "y : __import__('evil') = x\nreturn y",
    "annotate with a call": "y = annotate(__import__('evil'), x)\nreturn x",
    "a default that calls": "return self.other(x)",
    "a coding line": "# -*- coding: utf-7 -*-\nreturn x",
    "a constant beyond the table": "return CONSTANTS.c99999999999",
    "a negative constant": "return CONSTANTS.c-1",
    "a constant by attribute": "return CONSTANTS.__class__",
    "a distributed call": "y = ops.aten.rpc_async(x)\nreturn x",
    "a breakpoint": "breakpoint()\nreturn x",
    "input": "y = input()\nreturn x",
    "exit": "exit()\nreturn x",
    "environment": "y = os.environ\nreturn x",
    "warn with a stack level": "ops.aten.warn('x', 100000)\nreturn x",
}
METHODS = {
    "a default that calls": "  def other(self, x: Tensor, y: int=__import__('evil')) -> Tensor:\n    return x\n"
}
for name, body in BODIES.items():
    data = archive(body, methods=METHODS.get(name, ""))
    FAMILY.attack(f"code: {name}")(_watched(data))

BEFORE = {
    "an import at the top": "import evil\n",
    "a statement at the top": "evil = __import__('evil')\n",
    "a base class": "class A(__import__('evil').B):\n  pass\n",
    "a metaclass": "class A(Module, metaclass=evil):\n  pass\n",
    "a class body": "class A(Module):\n  print('x')\n  x : int\n",
    "an initialiser in a class": "class A(Module):\n  x : int = __import__('evil')\n",
    "a decorated function": "@evil\ndef f(x: Tensor) -> Tensor:\n  return x\n",
    "a string that is code": "'''\n__import__('evil')\n'''\n",
    "op_version_set": "op_version_set = __import__('evil')\n",
}
for name, before in BEFORE.items():
    FAMILY.attack(f"code: {name}")(_watched(archive(before=before)))

RECORDS = {
    "a record above the folder": {"../evil.py": b"open('marker', 'w')"},
    "a record at an absolute path": {"/tmp/evil.py": b"open('marker', 'w')"},
    "a code file above the folder": {"code/../../evil.py": b"import evil\n"},
    "a code file named as a module": {"code/os.py": b"def system(x: str) -> int:\n  return 1\n"},
    "a debug record that calls": {"code/__torch__.py.debug_pkl": pickled(CALLS["os.system"])},
    "an extra file that is code": {"extra/evil.py": b"import evil\n"},
    "a Python package": {".data/python_version": b"3", "evil/__init__.py": b"import evil\n"},
    "attributes that call": {"attributes.pkl": pickled(CALLS["os.system"])},
    "bytecode that calls": {"bytecode.pkl": pickled(CALLS["os.system"])},
    "a model.json": {"model.json": b'{"mainModule": {"torchscriptArena": {"key": "../x"}}}'},
}
for name, records in RECORDS.items():
    FAMILY.attack(f"records: {name}")(_watched(archive(more=records)))


@FAMILY.attack("__setstate__ runs only when the module is loaded, within its bounds")
def setstate() -> None:
    from rushlight.serialization.archives.audit import audit

    state = "  def __setstate__(self: __torch__.M, s: int) -> NoneType:\n    print('ran')\n    return None\n"
    state += "  def __getstate__(self: __torch__.M) -> int:\n    return 1\n"
    data = archive(methods=state, data=b"\x80\x02c__torch__\nM\n)\x81" + integer(1) + b"b.")
    out = io.StringIO()
    before, sys.stdout = sys.stdout, out
    try:
        audit(data, "attack")
    finally:
        sys.stdout = before
    if out.getvalue():
        raise Broken("audit ran the archive's code")


@FAMILY.attack("mobile: audit and show execute nothing")
def mobile_setstate() -> None:
    import rushlight as torch
    from rushlight.__main__ import main

    class Loud(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.n = 1

        @torch.jit.export
        def __getstate__(self) -> tuple[int, bool]:
            return (self.n, self.training)

        @torch.jit.export
        def __setstate__(self, state: tuple[int, bool]) -> None:
            print("ran")
            self.n = state[0]
            self.training = state[1]

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + self.n

    module: Any = torch.jit.script(Loud())
    for flat in (False, True):
        Path("m.ptl").write_bytes(module._save_to_buffer_for_lite_interpreter(_use_flatbuffer=flat))
        for command in (["audit", "m.ptl"], ["show", "m.ptl", "--code"], ["what", "m.ptl"]):
            out = io.StringIO()
            before, sys.stdout = sys.stdout, out
            try:
                main(command)
            except SystemExit:
                pass
            finally:
                sys.stdout = before
            if "ran\n" in out.getvalue():
                raise Broken(f"{command} ran the archive's code")


@FAMILY.attack("a pickle of torch.save with weights_only left alone")
def weights() -> None:
    import rushlight as torch

    with refused():
        torch.load(io.BytesIO(zipped({"data.pkl": pickled(CALLS["os.system"]), "version": b"3\n"})))
    if os.path.exists("marker"):
        raise Broken("a process ran")


assert MODULE
