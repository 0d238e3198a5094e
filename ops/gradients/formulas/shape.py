"""Gradients of views, of joining, and of what puts elements elsewhere."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...memory.dtype import Array
from ...shapes.shape import broadcast_tensors
from ...tensors.tensor import Tensor
from ..table.rows import (
    Grads,
    Ints,
    Run,
    Tensors,
    aten,
    composite,
    conj,
    constant,
    gradient,
    lying,
    moving,
    rewritten,
    same_as,
)


def _back(g: Tensor, self_sizes: Ints) -> Tensor:
    return g.reshape(list(self_sizes))


for _name in "view _unsafe_view _reshape_alias".split():
    gradient(f"aten::{_name}", self=_back)
for _name in "reshape flatten unflatten view_as reshape_as _reshape_copy".split():
    gradient(f"aten::{_name}", self=_back, name="ViewBackward0")
for _name in "squeeze unsqueeze view_copy squeeze_copy unsqueeze_copy".split():
    gradient(f"aten::{_name}", self=_back)
gradient("aten::squeeze.dim", self=_back, name="SqueezeBackward1")
gradient("aten::squeeze.dims", self=_back, name="SqueezeBackward2")
constant("view.dtype")
for _name in "atleast_1d atleast_2d atleast_3d".split():
    gradient(f"aten::{_name}", self=_back, name="ViewBackward0")
    moving(f"aten::{_name}.Sequence", of="tensors", name="ViewBackward0")
for _name in "expand expand_as broadcast_to".split():
    gradient(f"aten::{_name}", self=lambda g: g, name="ExpandBackward0")
gradient("aten::transpose", self=lambda g, dim0, dim1: g.transpose(dim0, dim1))
for _name in "swapaxes swapdims".split():
    gradient(
        f"aten::{_name}",
        self=lambda g, axis0=None, axis1=None, dim0=None, dim1=None: g.transpose(
            dim0 if axis0 is None else axis0, dim1 if axis1 is None else axis1
        ),
        name="TransposeBackward0",
    )
gradient("aten::t", self=lambda g: g.t())
for _name in "adjoint mH matrix_H".split():
    gradient(
        f"aten::{_name}",
        self=lambda g: conj(g.transpose(-2, -1) if g.ndim else g),
        name="TransposeBackward0",
    )
gradient(
    "aten::mT",
    self=lambda g: g.transpose(-2, -1) if g.ndim else g,
    name="TransposeBackward0",
)
gradient(
    "aten::numpy_T", self=lambda g: g.permute(list(range(g.ndim))[::-1]), name="PermuteBackward0"
)


def _permuted_back(g: Tensor, dims: Ints) -> Tensor:
    order = [d % len(dims) for d in dims]
    return g.permute([order.index(i) for i in range(len(dims))])


gradient("aten::permute", self=_permuted_back)
same_as("aten::permute", "aten::permute_copy")
gradient(
    "aten::movedim",
    "aten::moveaxis",
    self=lambda g, source, destination: g.movedim(destination, source),
    name="PermuteBackward0",
)
gradient(
    "aten::select",
    self=lambda g, self_sizes, dim, index: aten.select_scatter(
        g.new_zeros(list(self_sizes)), g, dim, index
    ),
)
gradient(
    "aten::slice",
    self=lambda g, self_sizes, dim=0, start=None, end=None, step=1: aten.slice_scatter(
        g.new_zeros(list(self_sizes)), g, dim, start, end, step
    ),
)
gradient(
    "aten::narrow",
    self=lambda g, self_sizes, dim, start, length: _narrowed(g, self_sizes, dim, start, length),
    name="SliceBackward0",
)


def _narrowed(g: Tensor, sizes: Ints, dim: int, start: int, length: int) -> Tensor:
    first = int(start)
    first += sizes[dim] if first < 0 else 0
    return aten.slice_scatter(g.new_zeros(list(sizes)), g, dim, first, first + length, 1)


def _zeros_for(grads: Grads, sizes: Sequence[Ints]) -> list[Tensor]:
    like = next(g for g in grads if g is not None)
    return [
        like.new_zeros(list(size)) if g is None else g for g, size in zip(grads, sizes, strict=True)
    ]


def _unbound(gs: Tensors, self_sizes: Ints, dim: int = 0) -> Tensor:
    part = [size for d, size in enumerate(self_sizes) if d != dim % len(self_sizes)]
    return aten.stack(_zeros_for(gs, [part] * len(gs)), dim)


gradient("aten::unbind", self=_unbound)


def _parts_back(gs: Tensors, self_sizes: Ints, split_size: int | Ints, dim: int) -> Tensor:
    total = self_sizes[dim]
    if isinstance(split_size, int):
        sizes = [min(split_size, total - i * split_size) for i in range(len(gs))]
    else:
        sizes = list(split_size)
    dim %= len(self_sizes)
    wanted = [(*self_sizes[:dim], size, *self_sizes[dim + 1 :]) for size in sizes]
    return aten.cat(_zeros_for(gs, wanted), dim)


gradient(
    "aten::split_with_sizes",
    "aten::unsafe_split_with_sizes",
    self=lambda gs, self_sizes, split_sizes, dim=0: _parts_back(gs, self_sizes, split_sizes, dim),
)
gradient(
    "aten::split",
    self=lambda gs, self_sizes, split_size=None, split_sizes=None, dim=0: _parts_back(
        gs, self_sizes, split_sizes if split_size is None else split_size, dim
    ),
)
same_as("aten::split", "aten::unsafe_split")
gradient(
    "aten::chunk",
    "aten::unsafe_chunk",
    self=lambda gs, self_sizes, chunks, dim=0: _parts_back(
        gs, self_sizes, -(-self_sizes[dim] // chunks), dim
    ),
    name="SplitBackward0",
)
for _name, _node in (
    ("tensor_split", "Slice"),
    ("dsplit", "Slice"),
    ("hsplit", "Slice"),
    ("vsplit", "Slice"),
):
    moving(f"aten::{_name}", name=f"{_node}Backward0")

# --------------------------------------------------------------------------- joining


def _joined_back(g: Tensor, tensors_sizes: Sequence[Ints], dim: int = 0) -> list[Tensor]:
    ndim = g.ndim
    dim %= max(ndim, 1)
    grads, start = [], 0
    for sizes in tensors_sizes:
        if len(sizes) == 1 and ndim != 1 and not sizes[0]:  # an old empty tensor
            grads.append(g.new_zeros([0]))
            continue
        grads.append(g.narrow(dim, start, sizes[dim]))
        start += sizes[dim]
    return grads


gradient("aten::cat", tensors=_joined_back, name="CatBackward0")
gradient("aten::stack", tensors=lambda g, dim=0: list(g.unbind(dim)))


def _as_stacked(sizes: Ints, dims: int) -> list[int]:
    """The sizes that a tensor has in `hstack` (1 dimension), `vstack` (2) or `dstack` (3)."""
    missing = max(dims - len(sizes), 0)
    behind = int(dims == 3 and missing > 0)
    return [1] * (missing - behind) + list(sizes) + [1] * behind


def _stacked_back(g: Tensor, tensors_sizes: Sequence[Ints], dims: int) -> list[Tensor]:
    full = [_as_stacked(sizes, dims) for sizes in tensors_sizes]
    dim = {1: min(g.ndim, 2) - 1, 2: 0, 3: 2}[dims]
    return _reshaped(_joined_back(g, full, dim), tensors_sizes)


def _reshaped(grads: Tensors, wanted: Sequence[Ints]) -> list[Tensor]:
    return [grad.reshape(list(sizes)) for grad, sizes in zip(grads, wanted, strict=True)]


for _dims, _names in ((1, "hstack"), (2, "vstack row_stack"), (3, "dstack")):
    for _name in _names.split():
        gradient(
            f"aten::{_name}",
            tensors=lambda g, tensors_sizes, dims=_dims: _stacked_back(g, tensors_sizes, dims),
            name="CatBackward0",
        )


def _columns_back(g: Tensor, tensors_sizes: Sequence[Ints]) -> list[Tensor]:
    full = [list(s) if len(s) > 1 else [math.prod(s), 1] for s in tensors_sizes]
    return _reshaped(_joined_back(g, full, 1), tensors_sizes)


gradient("aten::column_stack", tensors=_columns_back, name="CatBackward0")


def _blocks_back(g: Tensor, tensors_sizes: Sequence[Ints]) -> list[Tensor]:
    grads, row, column = [], 0, 0
    for sizes in tensors_sizes:
        height, width = _as_stacked(sizes, 2)
        grads.append(g.narrow(0, row, height).narrow(1, column, width))
        row, column = row + height, column + width
    return _reshaped(grads, tensors_sizes)


gradient("aten::block_diag", tensors=_blocks_back)
moving("aten::meshgrid", of="tensors", name="ExpandBackward0")


@rewritten("aten::broadcast_tensors")
def broadcast_each(run: Run, tensors: list[Array]) -> list[Array]:
    """Each on its own, so that a tensor's history is its own alone."""
    whole = broadcast_tensors(tensors)
    return [
        tensor if tensor.shape == wide.shape else run("aten::expand", tensor, wide.shape, False)
        for tensor, wide in zip(tensors, whole, strict=True)
    ]


moving("aten::cartesian_prod", of="tensors", name="StackBackward0")
moving("aten::_chunk_cat", of="tensors")

# --------------------------------------------------------------------------- elsewhere

gradient("aten::flip", self=lambda g, dims: g.flip(dims))
gradient("aten::fliplr", self=lambda g: g.flip([1]), name="FlipBackward0")
gradient("aten::flipud", self=lambda g: g.flip([0]), name="FlipBackward0")
moving(
    *(
        f"aten::{name}"
        for name in """native_channel_shuffle combinations _pad_circular unfold
        diagonal_copy select_copy slice_copy unbind_copy
        split_copy split_with_sizes_copy unfold_copy replication_pad1d replication_pad2d
        replication_pad3d reflection_pad1d reflection_pad2d reflection_pad3d
        narrow_copy expand_copy adjoint_copy resize_as""".split()
    )
)


def _added_again(
    g: Tensor, self_sizes: Ints, repeats: int | Tensor, dim: int | None = None
) -> Tensor:
    """The gradients of all copies of an element, added."""
    sizes = list(self_sizes) if dim is not None and len(self_sizes) else [math.prod(self_sizes)]
    axis = (dim or 0) % len(sizes)
    if isinstance(repeats, Tensor):
        counts = repeats.expand(sizes[axis]) if repeats.numel() == 1 else repeats
        places = aten.repeat_interleave(counts)
        return g.new_zeros(sizes).index_add(axis, places, g).reshape(list(self_sizes))
    apart = g.reshape([*sizes[: axis + 1], repeats, *sizes[axis + 1 :]])
    return apart.sum(axis + 1).reshape(list(self_sizes))


gradient("aten::repeat_interleave", self=_added_again)
gradient("aten::ravel", self=lambda g, self_sizes: g.reshape(list(self_sizes)))
gradient("aten::fft_fftshift", self=lambda g, dim=None: aten.fft_ifftshift(g, dim))
gradient("aten::fft_ifftshift", self=lambda g, dim=None: aten.fft_fftshift(g, dim))
gradient(
    "aten::roll", self=lambda g, shifts, dims=(): g.roll([-each for each in shifts], list(dims))
)
gradient(
    "aten::pixel_shuffle",
    self=lambda g, upscale_factor: aten.pixel_unshuffle(g, upscale_factor),
)
gradient(
    "aten::pixel_unshuffle",
    self=lambda g, downscale_factor: aten.pixel_shuffle(g, downscale_factor),
)
gradient(
    "aten::channel_shuffle",
    self=lambda g, self_sizes, groups: aten.channel_shuffle(g, self_sizes[1] // groups),
)
gradient("aten::rot90", self=lambda g, k, dims: g.rot90(-k, dims))
gradient("aten::t_copy", self=lambda g: g.t())
gradient("aten::transpose_copy", self=lambda g, dim0, dim1: g.transpose(dim0, dim1))
gradient(
    "aten::diag_embed",
    self=lambda g, offset, dim1, dim2: g.diagonal(offset, dim1, dim2),
)
gradient(
    "aten::diag",
    self=lambda g, self_sizes, diagonal: (
        g.diagonal(diagonal)
        if len(self_sizes) == 1
        else g.new_zeros(list(self_sizes)).diagonal_scatter(g, diagonal)
    ),
)
gradient(
    "aten::diagflat",
    self=lambda g, self_sizes, offset: g.diagonal(offset).reshape(list(self_sizes)),
)
moving("aten::linalg_diagonal", of="A")
moving("aten::pad_sequence", of="sequences", filled_by="padding_value")
moving("aten::_pack_padded_sequence", of="input")
moving("aten::_pad_packed_sequence", of="data", filled_by="padding_value")
gradient(
    "aten::repeat",
    self=lambda g, self_sizes, repeats: _repeated_back(g, self_sizes, repeats),
)
gradient(
    "aten::tile",
    self=lambda g, self_sizes, dims: _repeated_back(
        g, self_sizes, [1] * (len(self_sizes) - len(dims)) + list(dims)
    ),
)


def _repeated_back(g: Tensor, sizes: Ints, repeats: Ints) -> Tensor:
    full = [1] * (len(repeats) - len(sizes)) + list(sizes)
    if 0 in repeats:
        return g.new_zeros(list(sizes))
    pairs = [n for r, s in zip(repeats, full, strict=True) for n in (r, s)]
    found = g.reshape(pairs) if pairs else g
    for dim in range(len(repeats)):
        found = found.sum([dim])
    return found.reshape(list(sizes))


gradient(
    "aten::diagonal",
    self=lambda g, self_sizes, offset=0, dim1=0, dim2=1: aten.diagonal_scatter(
        g.new_zeros(list(self_sizes)), g, offset, dim1, dim2
    ),
)
gradient("aten::tril", self=lambda g, diagonal=0: g.tril(diagonal))
gradient("aten::triu", self=lambda g, diagonal=0: g.triu(diagonal))
gradient("aten::trace", self=lambda g, self_sizes: aten.eye(*self_sizes, dtype=g.dtype) * g)


def _padded_back(g: Tensor, pad: Ints) -> Tensor:
    return aten.constant_pad_nd(g, [-n for n in pad], 0)


gradient("aten::constant_pad_nd", self=_padded_back)


@composite("aten::pad", "aten::_pad_enum", name="ConstantPadNdBackward0")
def padded(
    self: Tensor, pad: Ints, mode: int | str = "constant", value: float | None = None
) -> Tensor:
    """Padding by the operator of its mode."""
    modes = ["constant", "reflect", "replicate", "circular"]
    word = modes[mode] if isinstance(mode, int) else mode
    if word == "constant":
        return aten.constant_pad_nd(self, pad, 0 if value is None else value)
    if word == "circular":
        alone = self.ndim == len(pad) // 2 + 1
        made = aten._pad_circular(aten.unsqueeze(self, 0) if alone else self, pad)
        return aten.squeeze(made, 0) if alone else made
    kind = "reflection" if word == "reflect" else "replication"
    found: Tensor = getattr(aten, f"{kind}_pad{len(pad) // 2}d")(self, pad)
    return found


gradient("aten::view_as_real", self=lambda g: aten.complex(g.select(-1, 0), g.select(-1, 1)))
gradient("aten::view_as_complex", self=lambda g: aten.view_as_real(g))
gradient(
    "aten::real",
    self=lambda g, self_dtype: aten.complex(g, aten.zeros_like(g)) if self_dtype.is_complex else g,
    name="SelectBackward0",
)
gradient("aten::imag", self=lambda g: aten.complex(aten.zeros_like(g), g), name="SelectBackward0")
gradient(
    "aten::col2im",
    self=lambda g, kernel_size, dilation, padding, stride: aten.im2col(
        g, kernel_size, dilation, padding, stride
    ),
)
gradient(
    "aten::im2col",
    self=lambda g, self_sizes, kernel_size, dilation, padding, stride: aten.col2im(
        g, list(self_sizes[-2:]), kernel_size, dilation, padding, stride
    ),
)

lying("as the gradient", "pixel_unshuffle", "channel_shuffle", "native_channel_shuffle")
for _count in (1, 2, 3):
    lying("as images", f"reflection_pad{_count}d", f"replication_pad{_count}d")
