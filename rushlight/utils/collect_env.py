"""`torch.utils.collect_env`: what a report of a fault should say of the machine.

python -m rushlight.utils.collect_env
"""

from __future__ import annotations

import locale
import os
import platform
import subprocess
import sys
from importlib.metadata import distributions
from typing import NamedTuple

from .. import version
from ..module_names import names_of
from ..ops.kernels.code.target import about_processor

__all__ = ["SystemEnv", "get_env_info", "get_pretty_env_info", "main", "run"]

_WANTED = ("lark", "llvmlite", "ml_dtypes", "numba", "numpy", "rushlight", "scipy")


class SystemEnv(NamedTuple):
    """What is known of the machine."""

    torch_version: str
    is_debug_build: str
    os: str
    libc_version: str
    python_version: str
    python_platform: str
    is_cuda_available: str
    cpu_info: str
    pip_packages: str


def run(command: str | list[str]) -> tuple[int, str, str]:
    """The exit code, output and errors of a command, or of a line for the shell."""
    done = subprocess.run(
        command, shell=isinstance(command, str), capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout.strip(), done.stderr.strip()


def _cpu() -> str:
    model = about_processor("model name") or platform.processor() or platform.machine()
    return f"{model}, {os.cpu_count()} processors"


def _packages() -> str:
    found = {d.metadata["Name"]: d.version for d in distributions()}
    return "\n".join(f"[pip3] {name}=={found[name]}" for name in _WANTED if name in found)


def get_env_info() -> SystemEnv:
    """Find it out."""
    bits = sys.maxsize.bit_length() + 1
    return SystemEnv(
        torch_version=str(version.__version__),
        is_debug_build="False",
        os=f"{platform.system()} {platform.release()} ({platform.machine()})",
        libc_version="-".join(platform.libc_ver()) or "N/A",
        python_version=f"{sys.version} ({bits}-bit runtime)".replace("\n", " "),
        python_platform=f"{platform.platform()} {locale.getpreferredencoding(False)}",
        is_cuda_available="False",
        cpu_info=_cpu(),
        pip_packages=_packages(),
    )


def pretty_str(envinfo: SystemEnv) -> str:
    """The same for people."""
    return (
        f"PyTorch version: {envinfo.torch_version}\n"
        f"Is debug build: {envinfo.is_debug_build}\n"
        "CUDA used to build PyTorch: None\n\n"
        f"OS: {envinfo.os}\nLibc version: {envinfo.libc_version}\n\n"
        f"Python version: {envinfo.python_version}\n"
        f"Python platform: {envinfo.python_platform}\n"
        f"Is CUDA available: {envinfo.is_cuda_available}\n\n"
        f"CPU:\n{envinfo.cpu_info}\n\nVersions of relevant libraries:\n{envinfo.pip_packages}"
    )


def get_pretty_env_info() -> str:
    """Find it out and say it."""
    return pretty_str(get_env_info())


def main() -> None:
    """Print it."""
    print("Collecting environment information...")
    print(get_pretty_env_info())


if __name__ == "__main__":
    main()

__getattr__ = names_of(__name__)
