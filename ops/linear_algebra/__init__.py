"""Products, exponentials, factorisations, norms and distances of vectors and matrices."""

from . import (
    determinants,
    distance,
    einsum,
    exponentials,
    factorisations,
    grouped_products,
    ldl,
    least_squares,
    linalg,
    matrix_norms,
    product_sums,
    products,
    scaled_slices,
    sparse_layouts,
    spectral,
    triangular,
)

__all__ = [
    "determinants",
    "distance",
    "einsum",
    "exponentials",
    "factorisations",
    "grouped_products",
    "ldl",
    "least_squares",
    "linalg",
    "matrix_norms",
    "product_sums",
    "products",
    "scaled_slices",
    "sparse_layouts",
    "spectral",
    "triangular",
]
