"""Attacks on saving: kills, full disks, odd names, other processes."""

from __future__ import annotations

import os
import resource
import signal
import stat
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness import Broken, Family, refused

FAMILY = Family(
    "durability",
    "A save leaves the old file or the whole new one, whatever happens meanwhile, with the old "
    "one's mode; what was left behind by a killed process is gone after the next save; a file "
    "that another process cuts while it is read ends in a documented error.",
    frozenset(
        {
            "killed at any time",
            "saved and loaded: 120 modules deep",
            "saved and loaded: 400 modules deep",
            "many processes save one file",
            "many threads save one file",
            "a file that is cut after it was loaded",
        }
    ),
)


def _module(size: int = 4) -> Any:
    import rushlight as torch

    return torch.jit.script(torch.nn.Linear(size, size))


def _is_whole(path: str) -> bool:
    import rushlight as torch

    torch.jit.load(path)
    return True


def _only(folder: str, *names: str) -> None:
    found = set(os.listdir(folder))
    if found != set(names):
        raise Broken(f"{folder} holds {sorted(found)}, not {sorted(names)}")


def _killed_after(calls: int) -> None:
    """Save in a child that is killed at its n-th system call of writing."""
    os.mkdir("d")
    _module().save("d/m.pt")
    old = Path("d/m.pt").read_bytes()
    module = _module(64)
    child = os.fork()
    if child == 0:
        count = 0

        def trace(event: str, arguments: Any) -> None:
            nonlocal count
            count += event.startswith(("open", "os."))
            if count > calls:
                os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(trace)
        module.save("d/m.pt")
        os._exit(0)
    os.waitpid(child, 0)
    now = Path("d/m.pt").read_bytes()
    if now != old and not _is_whole("d/m.pt"):
        raise Broken("the file is half written")
    _module().save("d/m.pt")
    _only("d", "m.pt")


for calls in range(0, 8):
    FAMILY.attack(f"killed at event {calls}")(lambda calls=calls: _killed_after(calls))


@FAMILY.attack("killed at any time", seconds=60.0)
def killed_at_any_time() -> None:
    os.mkdir("d")
    _module().save("d/m.pt")
    module = _module(400)
    for milliseconds in (0, 1, 2, 3, 5, 8, 12, 20):
        child = os.fork()
        if child == 0:
            while True:
                module.save("d/m.pt")
        time.sleep(0.01 + milliseconds / 1000)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        _is_whole("d/m.pt")
    _module().save("d/m.pt")
    _only("d", "m.pt")


@FAMILY.attack("a disk that is full")
def full_disk() -> None:
    os.mkdir("d")
    _module().save("d/m.pt")
    old = Path("d/m.pt").read_bytes()
    module = _module(1000)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 256 << 20))
    with refused():
        module.save("d/m.pt")
    with refused():
        module.save("d/new.pt")
    resource.setrlimit(resource.RLIMIT_FSIZE, (256 << 20, 256 << 20))
    if Path("d/m.pt").read_bytes() != old:
        raise Broken("the old file was changed")
    _only("d", "m.pt")


@FAMILY.attack("/dev/full")
def dev_full() -> None:
    with refused():
        _module().save("/dev/full")
    if not stat.S_ISCHR(os.stat("/dev/full").st_mode):
        raise Broken("a device was replaced")


@FAMILY.attack("/dev/null")
def dev_null() -> None:
    try:
        _module().save("/dev/null")
    finally:
        if not stat.S_ISCHR(os.stat("/dev/null").st_mode):
            raise Broken("a device was replaced")


@FAMILY.attack("a folder")
def folder() -> None:
    os.mkdir("d")
    with refused():
        _module().save("d")
    _only("d")


@FAMILY.attack("a folder that is not there")
def no_folder() -> None:
    with refused():
        _module().save("none/m.pt")
    _only(".", "output")


@FAMILY.attack("a pipe without a reader")
def pipe() -> None:
    os.mkfifo("p")
    try:
        signal.alarm(5)
        _module().save("p")
    except OSError:
        return
    finally:
        signal.alarm(0)
    if os.path.exists("p") and stat.S_ISFIFO(os.stat("p").st_mode):
        return


@FAMILY.attack("a link")
def link() -> None:
    os.mkdir("d")
    _module().save("d/real.pt")
    os.symlink("real.pt", "d/link.pt")
    _module(8).save("d/link.pt")
    if not os.path.islink("d/link.pt"):
        raise Broken("the link was replaced by a file")
    _is_whole("d/real.pt")
    _only("d", "real.pt", "link.pt")


@FAMILY.attack("a link to nothing")
def dangling() -> None:
    os.symlink("none.pt", "link.pt")
    _module().save("link.pt")
    _is_whole("link.pt")


@FAMILY.attack("links in a circle")
def circle() -> None:
    os.symlink("b", "a")
    os.symlink("a", "b")
    with refused():
        _module().save("a")
    _only(".", "a", "b", "output")


@FAMILY.attack("a name of 255 bytes")
def long_name() -> None:
    name = "m" * 252 + ".pt"
    os.mkdir("d")
    _module().save(f"d/{name}")
    _module().save(f"d/{name}")
    _is_whole(f"d/{name}")
    _only("d", name)


@FAMILY.attack("a name of 256 bytes")
def longer_name() -> None:
    with refused():
        _module().save("m" * 256)
    _only(".", "output")


@FAMILY.attack("a name that is not UTF-8")
def odd_name() -> None:
    name = os.fsdecode(b"\xff\xfe.pt")
    _module().save(name)
    _is_whole(name)


@FAMILY.attack("a name with NUL")
def nul_name() -> None:
    with refused():
        _module().save("a\0b.pt")


@FAMILY.attack("the old file's mode")
def mode() -> None:
    _module().save("m.pt")
    for wanted in (0o600, 0o640, 0o400, 0o664):
        os.chmod("m.pt", wanted)
        _module().save("m.pt")
        found = stat.S_IMODE(os.stat("m.pt").st_mode)
        if found != wanted:
            raise Broken(f"mode {wanted:o} became {found:o}")


@FAMILY.attack("a new file's mode follows the umask")
def umask() -> None:
    os.umask(0o027)
    _module().save("m.pt")
    found = stat.S_IMODE(os.stat("m.pt").st_mode)
    if found != 0o640:
        raise Broken(f"the mode is {found:o}")


@FAMILY.attack("no other reads a secret file while it is written")
def secret() -> None:
    os.mkdir("d")
    _module().save("d/m.pt")
    os.chmod("d/m.pt", 0o600)
    module, stop, seen = _module(500), threading.Event(), []

    def look() -> None:
        while not stop.is_set():
            for name in os.listdir("d"):
                try:
                    found = stat.S_IMODE(os.stat(f"d/{name}").st_mode)
                except FileNotFoundError:
                    continue
                if found & 0o077:
                    seen.append((name, oct(found)))

    thread = threading.Thread(target=look)
    thread.start()
    for _ in range(20):
        module.save("d/m.pt")
    stop.set()
    thread.join()
    if seen:
        raise Broken(f"readable for others: {seen[0]}")


@FAMILY.attack("many processes save one file", seconds=60.0)
def many() -> None:
    os.mkdir("d")
    modules = [_module(size) for size in (4, 100, 300)]
    children = []
    for module in modules * 2:
        child = os.fork()
        if child == 0:
            for _ in range(10):
                module.save("d/m.pt")
            os._exit(0)
        children.append(child)
    for _ in range(50):
        if os.path.exists("d/m.pt"):
            _is_whole("d/m.pt")
    for child in children:
        if os.waitpid(child, 0)[1]:
            raise Broken("a save failed beside others")
    _is_whole("d/m.pt")
    _only("d", "m.pt")


@FAMILY.attack("many threads save one file", seconds=60.0)
def many_threads() -> None:
    os.mkdir("d")
    modules, failed = [_module(size) for size in (4, 100, 300)], []

    def save(module: Any) -> None:
        try:
            for _ in range(10):
                module.save("d/m.pt")
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=save, args=(module,)) for module in modules * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise Broken(f"a save failed beside others: {failed[0]!r}")
    _is_whole("d/m.pt")
    _only("d", "m.pt")


def _cut(mmap: bool | None) -> None:
    """Another process cuts the file while it is loaded and used."""
    import rushlight as torch

    module = _module(1000)
    module.save("whole.pt")
    content = Path("whole.pt").read_bytes()
    Path("m.pt").write_bytes(content)
    child = os.fork()
    if child == 0:
        while True:
            os.truncate("m.pt", 4096)
            time.sleep(0.0005)
            Path("m.pt").write_bytes(content)
            time.sleep(0.0005)
    from harness import is_documented

    try:
        for _ in range(30):
            try:
                loaded = torch.jit.load("m.pt", mmap=mmap)
                loaded(torch.ones(1, 1000))
            except Exception as error:
                if not is_documented(error):
                    raise
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


@FAMILY.attack("a file that is cut while it is loaded", seconds=60.0)
def cut() -> None:
    _cut(None)


@FAMILY.attack("a file that is cut after it was loaded")
def cut_after() -> None:
    import rushlight as torch

    module = _module(3000)  # 36 MB
    module.save("m.pt")
    loaded = torch.jit.load("m.pt")
    os.truncate("m.pt", 100)
    loaded(torch.ones(1, 3000))


@FAMILY.attack("weights that are cut after they were loaded")
def weights_cut() -> None:
    import rushlight as torch

    torch.save({"w": torch.ones(3000, 3000)}, "w.pt")
    loaded = torch.load("w.pt")
    os.truncate("w.pt", 100)
    if float(loaded["w"].sum()) != 9e6:
        raise Broken("the weights have changed")


def _unwritable(make: Callable[[], Any]) -> Callable[[], None]:
    """What cannot be loaded back is not saved, and leaves no file."""

    def run() -> None:
        import rushlight as torch

        os.mkdir("d")
        try:
            module = make()
            module.save("d/m.pt")
        except Exception as error:
            from harness import is_documented

            if not is_documented(error):
                raise
            _only("d")
            return
        torch.jit.load("d/m.pt")

    return run


def _deep(depth: int) -> Any:
    import rushlight as torch

    class Wrap(torch.nn.Module):
        def __init__(self, inner: Any) -> None:
            super().__init__()
            self.inner = inner

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.inner(x)

    module: Any = torch.nn.ReLU()
    for _ in range(depth):
        module = Wrap(module)
    return torch.jit.script(module)


def _attribute(value: Any, kind: Any = None) -> Any:
    import rushlight as torch

    class M(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a = torch.jit.Attribute(value, kind) if kind is not None else value

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x

    return torch.jit.script(M())


def _list_in_itself() -> Any:
    value: list[Any] = [[1]]
    module = _attribute([[1]])
    module.a.append(value)
    return module


MODULES: dict[str, Callable[[], Any]] = {
    "60 modules deep": lambda: _deep(60),
    "120 modules deep": lambda: _deep(120),
    "400 modules deep": lambda: _deep(400),
    "nan and infinity": lambda: _attribute([float("nan"), float("inf"), -0.0]),
    "a string of half a pair": lambda: _attribute("\ud800"),
    "a string of NUL": lambda: _attribute("a\0b"),
    "the least integer": lambda: _attribute(-(2**63)),
    "an integer beyond 64 bits": lambda: _attribute(2**64),
    "an empty dict": lambda: _attribute({}, dict[str, int]),
    "a dict of tensors": lambda: _attribute({"a": __import__("rushlight").ones(2)}),
    "a nested optional": lambda: _attribute(None, int | None),
}
for name, make in MODULES.items():
    FAMILY.attack(f"saved and loaded: {name}", seconds=60.0)(_unwritable(make))
