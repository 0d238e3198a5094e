"""More attacks on saving: full disks at every byte, signals at every moment, links that change."""

from __future__ import annotations

import contextlib
import io
import os
import resource
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from attacks_on_container import COMMANDS
from attacks_on_container import FAMILY as CONTAINER
from attacks_on_determinism import FAMILY as DETERMINISM
from attacks_on_determinism import MODEL, PROGRAMS, _compared
from attacks_on_durability import FAMILY, _is_whole, _module, _only
from harness import Broken, refused
from making import archive


@FAMILY.attack("a disk that is full at any byte")
def full_at_any_byte() -> None:
    os.mkdir("d")
    _module().save("d/m.pt")
    old, module = Path("d/m.pt").read_bytes(), _module(16)
    os.mkdir("whole")
    module.save("whole/m.pt")
    size = os.path.getsize("whole/m.pt")
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    for limit in (0, 1, 29, 30, 31, 64, 1000, size // 2, size - 100, size - 22, size - 1):
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, 256 << 20))
        with refused():
            module.save("d/m.pt")
        with refused():
            module.save("d/new.pt")
        if Path("d/m.pt").read_bytes() != old:
            raise Broken(f"the old file was changed, with room for {limit} bytes")
        _only("d", "m.pt")
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, 256 << 20))
    module.save("d/m.pt")
    _is_whole("d/m.pt")


@FAMILY.attack("an interrupt at any moment of a save", seconds=60.0)
def interrupted_save() -> None:
    class Stop(BaseException):
        pass

    os.mkdir("d")
    _module().save("d/m.pt")
    old, module = Path("d/m.pt").read_bytes(), _module(16)
    os.mkdir("whole")
    module.save("whole/m.pt")
    size = os.path.getsize("whole/m.pt")
    left = 0

    def profile(frame: Any, event: str, argument: Any) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            raise Stop

    after = 3
    while True:
        left = after
        sys.setprofile(profile)
        try:
            module.save("d/m.pt")
        except Stop:
            pass
        else:
            break
        finally:
            sys.setprofile(None)
        now = Path("d/m.pt").read_bytes()
        if now != old and len(now) != size:
            raise Broken(f"the file is half written after {after} events")
        if now != old:
            Path("d/m.pt").write_bytes(old)
        _only("d", "m.pt")
        after = after * 6 // 5 + 1
    _is_whole("d/m.pt")
    if len(os.listdir("/proc/self/fd")) > 60:
        raise Broken("files are left open")


def _switched(make: Callable[[str], None]) -> Callable[[], None]:
    """The name that is saved to is another thing at every moment."""

    def run() -> None:
        os.makedirs("d/e")
        for name in ("d/a.pt", "d/b.pt"):
            _module().save(name)
        make("d/m.pt")
        stop = threading.Event()

        def switch() -> None:
            turn = 0
            while not stop.is_set():
                turn += 1
                with contextlib.suppress(OSError):
                    os.symlink(("a.pt", "b.pt", "none.pt", "m2.pt")[turn % 4], "d/m2.pt")
                with contextlib.suppress(OSError):
                    os.replace("d/m2.pt", "d/m.pt")

        thread = threading.Thread(target=switch)
        thread.start()
        module = _module(30)
        try:
            for _ in range(30):
                with contextlib.suppress(OSError):
                    module.save("d/m.pt")
        finally:
            stop.set()
            thread.join()
        for path in Path("d").iterdir():
            if path.name.startswith("."):
                raise Broken(f"{path} was left behind")
            if path.is_file() and not path.is_symlink():
                _is_whole(str(path))

    return run


FAMILY.attack("a link that changes meanwhile", seconds=60.0)(
    _switched(lambda name: os.symlink("a.pt", name))
)
FAMILY.attack("a file that becomes a link meanwhile", seconds=60.0)(
    _switched(lambda name: _module().save(name))
)


@FAMILY.attack("a folder that is removed meanwhile", seconds=60.0)
def removed() -> None:
    import shutil

    stop, module = threading.Event(), _module(30)

    def switch() -> None:
        while not stop.is_set():
            with contextlib.suppress(OSError):
                os.mkdir("d")
            with contextlib.suppress(OSError):
                shutil.rmtree("d")

    thread = threading.Thread(target=switch)
    thread.start()
    try:
        for _ in range(30):
            with contextlib.suppress(OSError):
                module.save("d/m.pt")
    finally:
        stop.set()
        thread.join()


@FAMILY.attack("no more open files")
def no_more_files() -> None:
    os.mkdir("d")
    _module().save("d/m.pt")
    old, module = Path("d/m.pt").read_bytes(), _module(16)
    opened = []
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    with contextlib.suppress(OSError):
        while True:
            opened.append(os.open("/dev/null", os.O_RDONLY))
    while opened:
        try:
            module.save("d/m.pt")
        except OSError:
            if Path("d").exists() and len(opened) > 8:
                os.close(opened.pop())
                continue
            raise
        break
    for each in opened:
        os.close(each)
    if Path("d/m.pt").read_bytes() == old:
        raise Broken("nothing was saved")
    _is_whole("d/m.pt")
    _only("d", "m.pt")


EVIL = "e\x1b]0;evil\x07\x9b31m\u202e\r.pt"
for command in COMMANDS:
    for there in (True, False):

        def named(command: str = command, there: bool = there) -> None:
            from rushlight.__main__ import main

            words = command.split()
            if there:
                Path(EVIL).write_bytes(
                    archive("return x.nothing()" if words[0] == "show" else "return x")
                )
            rest = {"run": ["[1.0]"], "diff": [EVIL], "convert": [f"{EVIL}.npz"]}.get(words[0], [])
            out = io.StringIO()
            with contextlib.ExitStack() as stack:
                stack.enter_context(contextlib.redirect_stdout(out))
                stack.enter_context(contextlib.redirect_stderr(out))
                stack.enter_context(contextlib.suppress(SystemExit))
                main([words[0], EVIL, *words[1:], *rest])
            told = out.getvalue()
            wrong = {c for c in told if (c < " " and c not in "\n\t") or "\x7f" <= c < "\xa0"}
            if wrong or "\u202e" in told:
                raise Broken(f"`{command}` printed {wrong!r}")
            if not there and not told:
                raise Broken(f"`{command}` said nothing about a file that is not there")

        what = "" if there else " that is not there"
        CONTAINER.attack(f"terminal: {command} of a file with an evil name{what}")(named)


ENVIRONMENTS: list[dict[str, str]] = [
    {},
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "latin-1"},
    {"LC_ALL": "POSIX", "PYTHONOPTIMIZE": "2", "TZ": "Asia/Kathmandu", "COLUMNS": "20"},
    {"PYTHONDONTWRITEBYTECODE": "1", "RUSHLIGHT_CACHE": "off", "HOME": "/nonexistent"},
]
TEXTS = {
    "an archive of odd letters": (
        "n = torch.jit.CompilationUnit(\"def f(x: str) -> str:\\n    return x + '\\u00e9\\u4e2d\\U0001f600'\\n\")\n"
        "told(n.f('\\u00fc'), str(n.f.graph), n.f.code)\n"
        + MODEL
        + "told(torch.jit.script(Net()).save_to_buffer())"
    ),
    "a script's results": PROGRAMS["a script's results"],
    "an error's text": PROGRAMS["an error's text"],
}
for name, program in TEXTS.items():
    DETERMINISM.attack(f"{name}, locales and settings", seconds=300.0, long=True)(
        _compared(program, ENVIRONMENTS)
    )
