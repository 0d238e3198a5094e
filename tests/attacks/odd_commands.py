"""More attacks on commands and programs: odd files as arguments, output over input, hooks, signals
while files are read, buffers that change under the reader."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from attacks_on_container import FAMILY as CONTAINER
from attacks_on_container import _within
from attacks_on_durability import FAMILY as DURABILITY
from attacks_on_durability import _is_whole, _module, _only
from attacks_on_threads import FAMILY as THREADS
from harness import Broken, interrupts, is_documented, refused
from making import archive, load, zipped


def _command(*words: str) -> tuple[int, str]:
    """The exit status of a command, and all that it prints."""
    from rushlight.__main__ import main

    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            status = main([*words])
        except SystemExit as left:
            status = left.code if isinstance(left.code, int) else 99
    told = out.getvalue()
    if status not in (0, 1, 2, 3):
        raise Broken(f"`{' '.join(words)[:200]}` ended with {status}: {told[-500:]}")
    if "Traceback (most" in told and "TorchScript" not in told:
        raise Broken(f"`{' '.join(words)[:200]}` printed a traceback: {told[-1500:]}")
    return status, told


# --------------------------------------------------------------------------- odd files


def _fifo() -> str:
    os.mkfifo("odd")
    return "odd"


def _folder() -> str:
    os.mkdir("odd")
    return "odd"


def _loop() -> str:
    os.symlink("odd", "odd")
    return "odd"


def _socket() -> str:
    socket.socket(socket.AF_UNIX).bind("odd")
    return "odd"


def _empty() -> str:
    Path("odd").write_bytes(b"")
    return "odd"


def _sparse() -> str:
    with open("odd", "wb") as file:
        file.truncate(200 << 20)
    return "odd"


def _binary() -> str:
    Path("odd").write_bytes(bytes(range(256)) * 100)
    return "odd"


ODD: dict[str, Callable[[], str]] = {
    "a pipe without a writer": _fifo,
    "a folder": _folder,
    "a link to itself": _loop,
    "a socket": _socket,
    "an empty file": _empty,
    "a file of holes": _sparse,
    "bytes of all values": _binary,
    "/dev/zero": lambda: "/dev/zero",
    "/dev/null": lambda: "/dev/null",
    "/proc/self/mem": lambda: "/proc/self/mem",
    "/proc/self/environ": lambda: "/proc/self/environ",
    "a name of nothing": lambda: "",
    "a name of 5,000 letters": lambda: "n" * 5000,
    "a name with NUL": lambda: "a\0b",
    "a name below a file": lambda: f"{_empty()}/below",
}
READING: dict[str, Callable[[str], list[list[str]]]] = {
    "what": lambda odd: [["what", odd], ["what", "--json", odd]],
    "audit": lambda odd: [["audit", odd], ["audit", "--json", odd]],
    "show": lambda odd: [["show", odd, "--modules"]],
    "run": lambda odd: [["run", odd, "[1.0]"], ["run", "good.pt", f"x={odd}"]],
    "diff": lambda odd: [["diff", odd, "good.pt"], ["diff", "good.pt", odd]],
    "convert": lambda odd: [["convert", odd, "new.npz"]],
    "check": lambda odd: [["check", odd], ["check", "--fix", odd]],
}
for command, words in READING.items():

    def reading(command: str = command, words: Callable[[str], list[list[str]]] = words) -> None:
        """Every odd file ends the command at once, with a sentence, and nothing is made."""
        Path("good.pt").write_bytes(archive())
        for name, make in ODD.items():
            odd = make()
            before = set(os.listdir("."))
            for each in words(odd):
                began = time.monotonic()
                status, told = _command(*each)
                if time.monotonic() - began > 15:
                    raise Broken(f"{name}: it took {time.monotonic() - began:.1f} s")
                if not told.strip() and (status, command) != (0, "check"):
                    raise Broken(f"{name}: status {status}, and not a word")
            if set(os.listdir(".")) != before:
                raise Broken(f"{name}: files were made or removed")
            if os.path.lexists("odd"):
                os.rmdir("odd") if os.path.isdir("odd") else os.unlink("odd")

    CONTAINER.attack(f"arguments: {command} of odd files", seconds=120.0, long=command != "what")(
        reading
    )

INPUTS = {
    "lists 5,000 deep": "[" * 5000 + "]" * 5000,
    "lists of different lengths": "[[1.0], [1.0, 2.0]]",
    "a number of 5,000 digits": "9" * 5000,
    "a number beyond": "1e999",
    "a call": "__import__('os').system('touch evil')",
    "a comprehension": "[i for i in range(10**9)]",
    "a power": "9**9**9**9",
    "a product of lists": "[0] * 10**12",
    "half a pair": "'\udc80'",
    "NUL": "'a\0b'",
    "nothing": "",
    "an unclosed list": "[1.0",
    "a name": "x",
    "a set": "{1.0}",
    "bytes": "b'abc'",
    "an ellipsis": "...",
    "a file that is not there": "none.npy",
    "an array that is not there": "none.npz:a",
    "an argument that is not there": "nothing=[1.0]",
    "one argument twice": "x=[1.0]",
    "200,000 ones": "[" + "1.0," * 200_000 + "]",
    "minus signs": "-" * 10_000 + "1",
}
for name, given in INPUTS.items():

    def inputs(name: str = name, given: str = given) -> None:
        Path("good.pt").write_bytes(archive())
        rest = [given, given] if name == "one argument twice" else [given]
        _within(lambda: _command("run", "good.pt", "--", *rest))
        _only(".", "good.pt", "output")

    CONTAINER.attack(f"inputs: {name}", long=name not in ("a call", "lists 5,000 deep"))(inputs)

NPY = b"\x93NUMPY\x01\x00"


def _npy(header: str, body: bytes = b"") -> bytes:
    text = header.encode()
    return NPY + len(text).to_bytes(2, "little") + text + body


ARRAYS = {
    "objects": _npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", b"cos\nsystem\n."),
    "of 2**60 numbers": _npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2**60,)}"),
    "of 10**15 numbers": _npy(
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000000,)}"
    ),
    "of a negative size": _npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}"),
    "of a call": _npy("__import__('os').system('touch evil')"),
    "of records": _npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", b"abcd"),
    "of texts": _npy("{'descr': '<U1', 'fortran_order': False, 'shape': (1,)}", b"a\0\0\0"),
    "of another version": b"\x93NUMPY\x09\x09" + bytes(100),
    "of nothing": b"",
    "that is a pickle": b"\x80\x04cos\nsystem\n.",
    "beside what is none": zipped({"x.npy": b"junk", "arr_0.npy": b""}, ""),
    "of names that lead out": zipped({"../../x.npy": b"", "\x1b[31m": b""}, ""),
    "that is cut": _npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4,)}", b"abc"),
}
for name, content in ARRAYS.items():

    def arrays(content: bytes = content) -> None:
        Path("good.pt").write_bytes(archive())
        Path("a.npy").write_bytes(content)
        Path("a.npz").write_bytes(content)
        for given in ("a.npy", "a.npz", "a.npz:x"):
            _within(lambda given=given: _command("run", "good.pt", given))
        _only(".", "good.pt", "a.npy", "a.npz", "output")

    CONTAINER.attack(f"an input array {name}", long=name != "objects")(arrays)

# --------------------------------------------------------------------------- outputs

TARGETS = ("m.npz", "m.safetensors", "m.py", "m.ptl", "m.ff", "new.pt")
for target in TARGETS:

    def over(target: str = target) -> None:
        """Nothing is replaced without leave; links and odd names lead nowhere else."""
        _module().save("m.pt")
        whole = Path("m.pt").read_bytes()
        ending = target.rpartition(".")[2]
        os.symlink("m.pt", f"link.{ending}")
        os.mkdir(f"folder.{ending}")
        Path(f"old.{ending}").write_bytes(b"old")
        for name in (f"link.{ending}", f"folder.{ending}", f"old.{ending}", f"none/x.{ending}"):
            status, told = _command("convert", "m.pt", name)
            if status == 0 or not told:
                raise Broken(f"converting to {name}: status {status}, {told!r}")
        if Path(f"old.{ending}").read_bytes() != b"old" or Path("m.pt").read_bytes() != whole:
            raise Broken("a file was replaced without leave")
        _command("convert", "--force", "m.pt", f"folder.{ending}")
        _only(".", "m.pt", f"link.{ending}", f"folder.{ending}", f"old.{ending}", "output")
        _command("convert", "m.pt", target)
        if not os.path.isfile(target):
            raise Broken(f"{target} was not made")

    DURABILITY.attack(f"convert over what is there: .{target.rpartition('.')[2]}", long=True)(over)


@DURABILITY.attack("an archive is converted over itself, with --force")
def itself() -> None:
    _module().save("m.pt")
    _command("convert", "--force", "m.pt", "m.pt")
    _is_whole("m.pt")
    os.symlink("m.pt", "link.pt")
    _command("convert", "--force", "m.pt", "link.pt")
    _is_whole("m.pt")
    os.link("m.pt", "hard.pt")
    _command("convert", "--force", "m.pt", "hard.pt")
    _is_whole("hard.pt")
    _only(".", "m.pt", "link.pt", "hard.pt", "output")


@DURABILITY.attack("run writes its output over the archive", long=True)
def output_over_input() -> None:
    Path("m.pt").write_bytes(archive())
    whole = Path("m.pt").read_bytes()
    for more in ([], ["--force"]):
        _command("run", *more, "m.pt", "[1.0]", "--output", "m.pt")
        if not more and Path("m.pt").read_bytes() != whole:
            raise Broken("the archive was replaced without leave")
    with contextlib.suppress(OSError):
        os.mkdir("d.npz")
    status, _ = _command("run", "--force", "m.pt", "[1.0]", "--output", "d.npz")
    if status == 0:
        raise Broken("a folder was written")


@CONTAINER.attack("a terminal that is gone", seconds=120.0, long=True)
def terminal_gone() -> None:
    """Who reads closes the pipe, or the disk behind it is full: an exit status, no traceback."""
    import subprocess
    import sys

    from harness import ROOT

    Path("m.pt").write_bytes(archive("x = torch.neg(x)\n" * 2000 + "return x"))
    for sink in ("/dev/full", "pipe"):
        for words in (["show", "m.pt"], ["audit", "m.pt"], ["explain"]):
            reader, writer = os.pipe()
            os.close(reader)
            with open("/dev/full", "wb") as full:
                done = subprocess.run(
                    [sys.executable, "-m", "rushlight", *words],
                    stdout=full if sink == "/dev/full" else writer,
                    stderr=subprocess.PIPE,
                    env={**os.environ, "PYTHONPATH": str(ROOT)},
                    timeout=300,
                    check=False,
                )
            os.close(writer)
            if b"Traceback" in done.stderr or done.returncode < 0:
                raise Broken(f"{words} into {sink}: {done.returncode} {done.stderr[-800:]!r}")


# --------------------------------------------------------------------------- signals, buffers


class _Alarm(Exception):
    pass


def _interrupted(work: Callable[[], object]) -> Callable[[], None]:
    """A signal's exception at many moments of a work, which then does as ever."""

    def run() -> None:
        wanted = work()
        began = time.monotonic()
        work()
        took, rung = time.monotonic() - began, 0
        for share in range(40):
            rung += interrupts(work, max(took * share / 40, 1e-5), _Alarm)
            if share % 8 == 0 and work() != wanted:
                raise Broken("it gives something else afterwards")
        if not rung:
            raise Broken("no signal came in time")
        if work() != wanted:
            raise Broken("it gives something else afterwards")

    return run


def _load_and_call(**more: Any) -> object:
    import rushlight as torch

    return load(BUSY, **more)(torch.ones(2)).tolist()


BUSY = archive(
    "y = __torch__.f(x)\nfor i in range(3):\n  y = torch.add(y, __torch__.f(x))\nreturn y",
    "def f(x: Tensor) -> Tensor:\n  return torch.mul(torch.neg(x), 2)\n",
)


def _audited() -> object:
    from rushlight.serialization.archives.audit import audit

    return audit(BUSY, "busy").operators


def _saved() -> object:
    return len(load(BUSY).save_to_buffer())


WORKS: dict[str, Callable[[], object]] = {
    "loading without trust": _load_and_call,
    "loading with trust": lambda: _load_and_call(trust="full"),
    "auditing": _audited,
    "saving to a buffer": _saved,
}
for name, work in WORKS.items():
    THREADS.attack(f"a signal's exception while {name}", seconds=90.0, long=True)(
        _interrupted(work)
    )


def _changing(change: Callable[[bytearray], None]) -> Callable[[], None]:
    """A buffer that another thread changes while it is loaded: a result or an error."""

    def run() -> None:
        import rushlight as torch

        whole = archive(more={"extra/a": bytes(200_000)})
        buffer, stop = bytearray(whole), threading.Event()

        def disturb() -> None:
            while not stop.is_set():
                with contextlib.suppress(BufferError):
                    change(buffer)
                buffer[: len(whole)] = whole

        thread = threading.Thread(target=disturb)
        thread.start()
        try:
            for _ in range(40):
                for given in (buffer, memoryview(bytes(buffer)), io.BytesIO(buffer)):
                    try:
                        torch.jit.load(given, trust="none")  # type: ignore[arg-type]
                    except Exception as error:
                        if not is_documented(error):
                            raise
        finally:
            stop.set()
            thread.join()

    return run


def _zeros(buffer: bytearray) -> None:
    buffer[len(buffer) // 2 :] = bytes(len(buffer) - len(buffer) // 2)


def _shorter(buffer: bytearray) -> None:
    del buffer[len(buffer) // 2 :]


for name, change in {"is overwritten": _zeros, "becomes shorter": _shorter}.items():
    THREADS.attack(f"a buffer that {name} while it is loaded", seconds=60.0, long=True)(
        _changing(change)
    )


@THREADS.attack("forks while others load", seconds=90.0, long=True)
def forks() -> None:
    """Each child loads and calls by itself."""
    stop, failed = threading.Event(), []

    def work() -> None:
        while not stop.is_set():
            _load_and_call()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(12):
            child = os.fork()
            if child == 0:
                signal.alarm(30)
                os._exit(0 if _load_and_call() == [-8.0, -8.0] else 5)
            failed.append(os.waitpid(child, 0)[1])
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    if any(failed):
        raise Broken(f"children ended with {failed}")


# --------------------------------------------------------------------------- hooks and state


def _net() -> Any:
    import rushlight as torch

    return torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())


def _hook_that_raises() -> None:
    module = _net()
    module.register_state_dict_post_hook(lambda *given: 1 / 0)
    with contextlib.suppress(ZeroDivisionError):
        module.state_dict()


def _hook_that_removes() -> None:
    module = _net()
    module.register_forward_hook(lambda m, *given: m._modules.clear())
    import rushlight as torch

    with contextlib.suppress(Exception):
        module(torch.ones(1, 2))
    module(torch.ones(1, 2))


def _hook_that_calls_itself() -> None:
    import rushlight as torch

    module = _net()
    module.register_forward_pre_hook(lambda m, given: (m(*given),))
    try:
        module(torch.ones(1, 2))
    except RecursionError:
        return
    raise Broken("an endless recursion ended")


def _module_in_itself() -> None:
    module = _net()
    module.me = module
    list(module.modules()), list(module.parameters())
    try:
        module.state_dict()
    except RecursionError:  # as in torch
        return
    raise Broken("an endless recursion ended")


def _state_of_other_types() -> None:
    module = _net()
    states: list[Any] = [
        {1: 2},
        {"0.weight": 3},
        {"0.weight": None, "0.bias": []},
        [],
        None,
        {"0.weight": module[0].bias, "0.bias": module[0].weight},
    ]
    for state in states:
        for strict in (True, False):
            try:
                module.load_state_dict(state, strict=strict)
            except Exception as error:
                if not is_documented(error):
                    raise Broken(f"{state!r}: {error!r}") from error


class _Growing(dict[str, Any]):
    """A state that grows while it is walked through."""

    def items(self) -> Any:
        for number, pair in enumerate([*super().items()]):
            self[f"more{number}"] = 1
            yield pair


def _state_that_grows() -> None:
    module = _net()
    with contextlib.suppress(RuntimeError, AttributeError):
        module.load_state_dict(_Growing(module.state_dict()), strict=False)
    module.load_state_dict(module.state_dict())


def _wild_names() -> None:
    import rushlight as torch

    module = _net()
    for name in ("", "a.b", "0", "forward", "\ud800", "x" * 10_000, "a\nb", "__class__"):
        for put in (module.register_buffer, module.register_parameter, module.add_module):
            value: Any = torch.nn.ReLU() if put == module.add_module else None
            try:
                put(name, value)
            except KeyError:  # as in torch
                continue
            except Exception as error:
                if not is_documented(error):
                    raise Broken(f"{name!r:.50}: {error!r}") from error
    try:
        torch.jit.script(module).save_to_buffer()
    except Exception as error:
        if not is_documented(error):
            raise Broken(f"{error!r}") from error


SETSTATE = (
    "  def __setstate__(self: __torch__.M, s: int) -> NoneType:\n{}\n    return None\n"
    "  def __getstate__(self: __torch__.M) -> int:\n    return 1\n"
)


def _setstate(body: str, slots: str = "  training : bool\n") -> Callable[[], None]:
    def run() -> None:
        import rushlight as torch

        lines = "\n".join(f"    {line}" for line in body.split("\n"))
        data = archive(
            slots=slots,
            methods=SETSTATE.format(lines),
            data=b"\x80\x02c__torch__\nM\n)\x81K\x01b.",
        )

        def use() -> None:
            try:
                load(data)(torch.ones(2))
            except Exception as error:
                if not is_documented(error):
                    raise

        _within(use)

    return run


HOOKS: dict[str, Callable[[], None]] = {
    "of states that raises": _hook_that_raises,
    "that removes what runs": _hook_that_removes,
    "that calls itself": _hook_that_calls_itself,
    "that calls __setstate__ again": _setstate("self.__setstate__(s)"),
    "in __setstate__ that reads what is not set": _setstate("print(self.training)"),
    "in __setstate__ that holds itself": _setstate("self.me = self", "  me : __torch__.M\n"),
    "in __setstate__ that raises": _setstate("ops.prim.RaiseException('no')"),
    "in __setstate__ that calls forward": _setstate("y = self.forward(torch.ones([2]))"),
}
for name, hook in HOOKS.items():
    CONTAINER.attack(f"a hook {name}", long=True)(hook)
for name, run in {
    "a module in itself": _module_in_itself,
    "of other types": _state_of_other_types,
    "that grows": _state_that_grows,
    "under wild names": _wild_names,
}.items():
    CONTAINER.attack(f"state: {name}", long=name != "of other types")(run)


@DURABILITY.attack("a save whose hook raises leaves the old file")
def raising_getstate() -> None:
    import rushlight as torch

    class Loud(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.n = 1

        @torch.jit.export
        def __getstate__(self) -> tuple[int, bool]:
            assert self.n == 1, "not now"
            return (self.n, self.training)

        @torch.jit.export
        def __setstate__(self, state: tuple[int, bool]) -> None:
            self.n, self.training = state[0], state[1]

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + self.n

    os.mkdir("d")
    module: Any = torch.jit.script(Loud())
    module.save("d/m.pt")
    old = Path("d/m.pt").read_bytes()
    module.n = 2
    with refused():
        module.save("d/m.pt")
    if Path("d/m.pt").read_bytes() != old:
        raise Broken("the old file was changed")
    _only("d", "m.pt")
