"""Tensors of which only some elements are kept, with their places: COO, CSR and CSC."""
