"""The pointwise programs, each on ten thousand, a million and ten million elements."""

from programs.pointwise import (
    boolean,
    broadcast,
    chain_of,
    gates,
    gelu,
    int64,
    layernorm,
    logsumexp,
    reductions,
    softmax,
    transposed,
    where_mask,
)

FUNCTIONS = (
    *(gelu, gates, layernorm, softmax, logsumexp, where_mask, reductions, broadcast),
    *(transposed, int64, boolean),
)
SIZES = {"1e4": (20, 500), "1e6": (1000, 1000), "1e7": (5000, 2000)}

PROGRAMS = {
    f"{function.__name__}_{name}": chain_of(function, *size)
    for function in FUNCTIONS
    for name, size in SIZES.items()
}
