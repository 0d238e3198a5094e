"""Functions of layers: sampling by grids."""

# Script reads these bodies: they keep to its types.
# mypy: disable-error-code="no-any-return"
import warnings
from collections.abc import Callable

from ...ops.eager.dispatch import eager_function
from ...ops.tensors.overriding import PLAIN, ask_for, asks
from ...ops.tensors.tensor import Tensor
from ..sizes import Sizes

__all__ = ["affine_grid", "grid_sample"]

Operator = Callable[..., Tensor]

_grid_sampler: Operator = eager_function("aten::grid_sampler")
_affine_grid_generator: Operator = eager_function("aten::affine_grid_generator")


def _corners_or_centers(align_corners: bool | None) -> bool:
    """Whether -1 and 1 are corners; False with a warning to the caller's caller if not said."""
    if align_corners is None:
        warnings.warn(
            "Default grid_sample and affine_grid behavior has changed "
            "to align_corners=False since 1.3.0. Please specify "
            "align_corners=True if the old behavior is desired. "
            "See the documentation of grid_sample for details.",
            stacklevel=3,
        )
        return False
    return align_corners


def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """The input read at the places of `grid`, which are from -1 to 1, x first.

    Raises:
        ValueError: an unknown `mode` or `padding_mode`.
    """
    if (type(input) not in PLAIN or type(grid) not in PLAIN) and asks(input, grid):
        return ask_for(grid_sample, locals())
    modes = ["bilinear", "nearest", "bicubic"]
    edges = ["zeros", "border", "reflection"]
    if mode not in modes:
        raise ValueError(
            "nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', "
            f"but got: '{mode}'"
        )
    if padding_mode not in edges:
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or "
            f"'reflection', but got: '{padding_mode}'"
        )
    corners = _corners_or_centers(align_corners)
    return _grid_sampler(input, grid, modes.index(mode), edges.index(padding_mode), corners)


def _need_affine_maps(theta: Tensor, size: Sizes) -> None:
    """Refuse maps that are not those of images or volumes of the given size.

    Raises:
        ValueError: `theta` and `size` do not fit.
        NotImplementedError: `size` is neither that of an image nor of a volume.
    """
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    n = len(size) - 2
    if n != 2 and n != 3:
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, "
            f"respectively. Got size {size}."
        )
    if theta.dim() != 3 or theta.shape[-2] != n or theta.shape[-1] != n + 1:
        raise ValueError(
            f"Expected a batch of {n}D affine matrices of shape Nx{n}x{n + 1} for size {size}. "
            f"Got {theta.shape}."
        )


def affine_grid(
    theta: Tensor,
    size: Sizes,
    align_corners: bool | None = None,
) -> Tensor:
    """The grid by which `grid_sample` maps an image of the given size by an affine map.

    `theta` is (batch, 2, 3) for images, (batch, 3, 4) for volumes.

    Raises:
        ValueError: `theta` and `size` do not fit.
        NotImplementedError: `size` is neither that of an image nor of a volume.
    """
    if type(theta) not in PLAIN and asks(theta):
        return ask_for(affine_grid, locals())
    corners = _corners_or_centers(align_corners)
    _need_affine_maps(theta, size)
    if corners and min(size[2:]) == 1:
        warnings.warn(
            "Since version 1.3.0, affine_grid behavior has changed "
            "for unit-size grids when align_corners=True. "
            "This is not an intended use case of affine_grid. "
            "See the documentation of affine_grid for details.",
            stacklevel=2,
        )
    elif min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    return _affine_grid_generator(theta, size, corners)
