"""`torch.utils.collect_env`: what a report of a fault should say of the machine.

python -m rushlight.utils.collect_env

Compilers, the processor and drivers of devices are asked by their commands, where the machine has
them; packages are read from their files.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from importlib.metadata import distributions
from shutil import which
from typing import Final, NamedTuple, TypeAlias

from .. import version
from ..ops.kernels.code.language.target import about_processor

__all__ = ["SystemEnv", "get_env_info", "get_pretty_env_info", "main", "run"]

Command: TypeAlias = str | list[str]
Run: TypeAlias = Callable[[Command], tuple[int, str, str]]

TORCH_AVAILABLE: Final = True
ABSENT: Final = "N/A"
COMMON_PATTERNS: Final = ["torch", "numpy", "triton", "optree"]
CONDA_PATTERNS: Final = ["cudatoolkit", "soumith", "mkl", "magma"]
PIP_PATTERNS: Final = [
    "mypy",
    "flake8",
    "onnx",
    "rushlight",
    "lark",
    "llvmlite",
    "ml_dtypes",
    "numba",
]
NVIDIA_PATTERNS: Final = """cuda-cudart cuda-cupti cuda-libraries cuda-opencl cuda-nvrtc
    cuda-runtime cublas cudnn cufft curand cusolver cusparse nccl nvjitlink nvtx""".split()
ONEAPI_PATTERNS: Final = """dpcpp-cpp-rt intel-cmplr-lib-rt intel-cmplr-lib-ur intel-cmplr-lic-rt
    intel-opencl-rt intel-sycl-rt mkl onemkl-sycl-blas onemkl-sycl-dft onemkl-sycl-lapack
    onemkl-sycl-rng onemkl-sycl-sparse intel-openmp tbb impi-rt impi-devel oneccl oneccl-devel
    intel-pti umf tcmlib""".split()
_PATTERNS: Final = [*COMMON_PATTERNS, *PIP_PATTERNS, *NVIDIA_PATTERNS, *ONEAPI_PATTERNS]


class SystemEnv(NamedTuple):
    """What is known of the machine."""

    torch_version: str
    is_debug_build: str
    cuda_compiled_version: str | None
    gcc_version: str | None
    clang_version: str | None
    cmake_version: str | None
    os: str | None
    libc_version: str
    python_version: str
    python_platform: str
    is_cuda_available: str
    cuda_runtime_version: str | None
    cuda_module_loading: str
    nvidia_driver_version: str | None
    nvidia_gpu_models: str | None
    cudnn_version: str | None
    is_xpu_available: str
    pip_version: str
    pip_packages: str | None
    conda_packages: str | None
    hip_compiled_version: str
    hip_runtime_version: str
    miopen_runtime_version: str
    caching_allocator_config: dict[str, str]
    is_xnnpack_available: str
    cpu_info: str | None


# --------------------------------------------------------------------------- commands


def run(command: Command) -> tuple[int, str, str]:
    """The exit code, output and errors of a command, or of a line for the shell.

    A command that is not there has exit code 127.
    """
    try:
        done = subprocess.run(
            command,
            shell=isinstance(command, str),
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
    except FileNotFoundError:
        return 127, "", "Command not found"
    return done.returncode, done.stdout.strip(), done.stderr.strip()


def run_and_read_all(run_lambda: Run, command: Command) -> str | None:
    """The output of a command; None if it fails."""
    code, output, _ = run_lambda(command)
    return output if code == 0 else None


def run_and_parse_first_match(run_lambda: Run, command: Command, regex: str) -> str | None:
    """The first group of the first match in the output of a command; None if there is none."""
    found = re.search(regex, run_and_read_all(run_lambda, command) or "")
    return found.group(1) if found else None


def run_and_return_first_line(run_lambda: Run, command: Command) -> str | None:
    """The first line of the output of a command; None if it fails."""
    output = run_and_read_all(run_lambda, command)
    return None if output is None else output.split("\n")[0]


# --------------------------------------------------------------------------- tools


def get_gcc_version(run_lambda: Run) -> str | None:
    """The version of gcc."""
    return run_and_parse_first_match(run_lambda, "gcc --version", r"gcc (.*)")


def get_clang_version(run_lambda: Run) -> str | None:
    """The version of clang."""
    return run_and_parse_first_match(run_lambda, "clang --version", r"clang version (.*)")


def get_cmake_version(run_lambda: Run) -> str | None:
    """The version of cmake."""
    return run_and_parse_first_match(run_lambda, "cmake --version", r"cmake (.*)")


def get_linux_pkg_version(run_lambda: Run, pkg_name: str) -> str:
    """The version of a package of the system; "N/A" if it is not installed."""
    for manager, command in (
        ("dpkg-query", ["dpkg-query", "-W", "-f=${Version}", pkg_name]),
        ("rpm", ["rpm", "-q", "--qf", "%{VERSION}-%{RELEASE}", pkg_name]),
    ):
        if which(manager):
            return run_and_read_all(run_lambda, command) or ABSENT
    return ABSENT


def get_conda_packages(run_lambda: Run, patterns: Iterable[str] | None = None) -> str | None:
    """The packages of conda whose names hold one of some words, a line each."""
    if not which(os.environ.get("CONDA_EXE", "conda")):
        return None
    output = run_and_read_all(run_lambda, [os.environ.get("CONDA_EXE", "conda"), "list"])
    wanted = [*COMMON_PATTERNS, *CONDA_PATTERNS] if patterns is None else list(patterns)
    return None if output is None else _with_words(output.splitlines(), wanted)


def get_pip_packages(
    run_lambda: Run, patterns: Iterable[str] | None = None
) -> tuple[str, str | None]:
    """Which pip there is, and the installed packages whose names hold one of some words.

    They are read from the files of this Python; `run_lambda` is taken for torch's sake.
    """
    del run_lambda
    wanted = _PATTERNS if patterns is None else list(patterns)
    told = (found.metadata for found in distributions())  # its file is read each time
    lines = {f"{each['Name']}=={each['Version']}" for each in told}
    return "pip3" if sys.version_info.major == 3 else "pip", _with_words(sorted(lines), wanted)


def _with_words(lines: Iterable[str], words: Iterable[str]) -> str:
    words = list(words)
    kept = (line for line in lines if not line.startswith("#"))
    return "\n".join(line for line in kept if any(word in line for word in words))


# --------------------------------------------------------------------------- the system


def get_platform() -> str:
    """linux, win32, cygwin, darwin or what else Python calls it."""
    return "linux" if sys.platform.startswith("linux") else sys.platform


def get_mac_version(run_lambda: Run) -> str | None:
    """The version of macOS."""
    return run_and_parse_first_match(run_lambda, "sw_vers -productVersion", r"(.*)")


def get_windows_version(run_lambda: Run) -> str | None:
    """The version of Windows."""
    del run_lambda
    return f"{platform.system()} {platform.release()} ({platform.version()})"


def get_lsb_version(run_lambda: Run) -> str | None:
    """How the distribution describes itself by `lsb_release`."""
    return run_and_parse_first_match(run_lambda, "lsb_release -a", r"Description:\t(.*)")


def check_release_file(run_lambda: Run) -> str | None:
    """How the distribution describes itself in its file."""
    files = [f for f in ("/etc/os-release", "/usr/lib/os-release") if os.path.exists(f)]
    if not files:  # `cat` would wait for input
        return None
    return run_and_parse_first_match(run_lambda, ["cat", *files], r'PRETTY_NAME="(.*)"')


def get_os(run_lambda: Run) -> str | None:
    """The system, its version and its machine."""
    name, machine = get_platform(), platform.machine()
    if name in ("win32", "cygwin"):
        return get_windows_version(run_lambda)
    if name == "darwin":
        told = get_mac_version(run_lambda)
        return None if told is None else f"macOS {told} ({machine})"
    if name == "linux":
        told = check_release_file(run_lambda) or get_lsb_version(run_lambda)
        return f"{told or name} ({machine})"
    return name


def get_python_platform() -> str:
    """What Python says of the system that it runs on."""
    return platform.platform()


def get_libc_version() -> str:
    """The C library and its version."""
    return "-".join(platform.libc_ver()) if get_platform() == "linux" else ABSENT


def get_cpu_info(run_lambda: Run) -> str | None:
    """What the system tells of the processor, a line each."""
    name = get_platform()
    if name == "linux":
        told = run_and_read_all(run_lambda, "lscpu")
    elif name == "darwin":
        told = run_and_read_all(run_lambda, "sysctl -n machdep.cpu.brand_string")
    else:
        told = None
    if told:
        return told
    model = about_processor("model name") or platform.processor() or platform.machine()
    return f"{model}, {os.cpu_count()} processors"


# --------------------------------------------------------------------------- devices


def get_cachingallocator_config() -> dict[str, str]:
    """What variables tell allocators of devices: nothing reads them here."""
    names = ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF", "PYTORCH_ALLOC_CONF")
    return {name: os.environ[name] for name in names if os.environ.get(name)}


def get_cuda_module_loading_config() -> str:
    """How modules of CUDA are loaded: there are none."""
    return ABSENT


def is_xnnpack_available() -> str:
    """Whether convolutions go to XNNPACK: they go to kernels of our own."""
    return "False"


def get_nvidia_smi() -> str:
    """The command that tells of NVIDIA's devices."""
    return "nvidia-smi"


def get_nvidia_driver_version(run_lambda: Run) -> str | None:
    """The version of NVIDIA's driver, if the machine has its command."""
    return run_and_parse_first_match(run_lambda, get_nvidia_smi(), r"Driver Version: (.*?) ")


def get_gpu_info(run_lambda: Run) -> str | None:
    """NVIDIA's devices of the machine, which rushlight does not use; None if there are none."""
    output = run_and_read_all(run_lambda, f"{get_nvidia_smi()} -L")
    return None if output is None else re.sub(r" \(UUID: .+?\)", "", output)


def get_running_cuda_version(run_lambda: Run) -> str | None:
    """The version of the compiler for CUDA, if the machine has it."""
    return run_and_parse_first_match(run_lambda, "nvcc --version", r"release .+ V(.*)")


def get_cudnn_version(run_lambda: Run) -> str | None:
    """The files of cuDNN that the linker knows; None if there are none."""
    listed = run_and_read_all(run_lambda, "ldconfig -p") or ""
    return "\n".join(sorted(set(re.findall(r"=> (\S*libcudnn\S*)", listed)))) or None


def get_intel_gpu_driver_version(run_lambda: Run) -> str:
    """The versions of Intel's drivers among the packages of the system."""
    names = ("intel-opencl-icd", "libze1", "level-zero") if get_platform() == "linux" else ()
    found = {name: get_linux_pkg_version(run_lambda, name) for name in names}
    return "\n".join(f"* {name}:\t{told}" for name, told in found.items() if told != ABSENT)


def get_intel_gpu_onboard(run_lambda: Run) -> str:
    """Intel's devices of the machine, by its command."""
    told = run_and_read_all(run_lambda, "xpu-smi discovery -j") or ""
    names = re.findall(r'"device_name": *"([^"]*)"', told)
    return "\n".join(f"* {name}" for name in names) or ABSENT


def get_intel_gpu_detected(run_lambda: Run) -> str:
    """Intel's devices that programs can use: none here."""
    del run_lambda
    return ABSENT


# --------------------------------------------------------------------------- the report


def get_env_info() -> SystemEnv:
    """Find it out."""
    bits = sys.maxsize.bit_length() + 1
    pip_version, pip_packages = get_pip_packages(run)
    return SystemEnv(
        torch_version=str(version.__version__),
        is_debug_build="False",
        cuda_compiled_version=None,
        gcc_version=get_gcc_version(run),
        clang_version=get_clang_version(run),
        cmake_version=get_cmake_version(run),
        os=get_os(run),
        libc_version=get_libc_version(),
        python_version=f"{sys.version} ({bits}-bit runtime)".replace("\n", " "),
        python_platform=get_python_platform(),
        is_cuda_available="False",
        cuda_runtime_version=get_running_cuda_version(run),
        cuda_module_loading=get_cuda_module_loading_config(),
        nvidia_driver_version=get_nvidia_driver_version(run),
        nvidia_gpu_models=get_gpu_info(run),
        cudnn_version=get_cudnn_version(run),
        is_xpu_available="False",
        pip_version=pip_version,
        pip_packages=pip_packages,
        conda_packages=get_conda_packages(run),
        hip_compiled_version=ABSENT,
        hip_runtime_version=ABSENT,
        miopen_runtime_version=ABSENT,
        caching_allocator_config=get_cachingallocator_config(),
        is_xnnpack_available=is_xnnpack_available(),
        cpu_info=get_cpu_info(run),
    )


_LINES: Final = """PyTorch version: torch_version
Is debug build: is_debug_build
CUDA used to build PyTorch: cuda_compiled_version
ROCM used to build PyTorch: hip_compiled_version

OS: os
GCC version: gcc_version
Clang version: clang_version
CMake version: cmake_version
Libc version: libc_version

Python version: python_version
Python platform: python_platform
Is CUDA available: is_cuda_available
CUDA runtime version: cuda_runtime_version
CUDA_MODULE_LOADING set to: cuda_module_loading
GPU models and configuration: nvidia_gpu_models
Nvidia driver version: nvidia_driver_version
cuDNN version: cudnn_version
Is XPU available: is_xpu_available
HIP runtime version: hip_runtime_version
MIOpen runtime version: miopen_runtime_version
Is XNNPACK available: is_xnnpack_available
Caching allocator config: caching_allocator_config

CPU:
cpu_info

Versions of relevant libraries:
pip_packages
conda_packages"""

env_info_fmt: Final = re.sub(r"(?m)(^|: )([a-z_]+)$", r"\1{\2}", _LINES)
"""How the report is written, with the fields in braces."""


def pretty_str(envinfo: SystemEnv) -> str:
    """The same for people: packages are marked with who installed them."""
    told = {
        name: "Could not collect" if value is None else str(value)
        for name, value in envinfo._asdict().items()
    }
    told["cuda_compiled_version"] = envinfo.cuda_compiled_version or "None"
    told["caching_allocator_config"] = str(envinfo.caching_allocator_config or ABSENT)
    for name, mark in (("pip_packages", envinfo.pip_version), ("conda_packages", "conda")):
        lines = (getattr(envinfo, name) or "No relevant packages").splitlines()
        told[name] = "\n".join(f"[{mark}] {line}" for line in lines)
    return env_info_fmt.format(**told)


def get_pretty_env_info() -> str:
    """Find it out and say it."""
    return pretty_str(get_env_info())


def main() -> None:
    """Print it."""
    print("Collecting environment information...")
    print(get_pretty_env_info())


if __name__ == "__main__":
    main()
