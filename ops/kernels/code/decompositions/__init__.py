"""Factors, eigenvalues and solutions of matrices: LAPACK's, and our own for many small ones."""
