"""Products, factorisations, norms and distances of vectors and matrices."""

from . import (
    determinants,
    distance,
    einsum,
    factorisations,
    grouped_products,
    ldl,
    linalg,
    matrix_norms,
    product_sums,
    products,
    sparse_layouts,
    spectral,
    triangular,
)

__all__ = [
    "determinants",
    "distance",
    "einsum",
    "factorisations",
    "grouped_products",
    "ldl",
    "linalg",
    "matrix_norms",
    "product_sums",
    "products",
    "sparse_layouts",
    "spectral",
    "triangular",
]
