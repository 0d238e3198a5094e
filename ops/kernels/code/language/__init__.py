"""The language that kernels are written in, as LLVM's text, and the CPUs it is for."""
