"""Operators over lists of tensors, and steps of optimizers."""
