"""What modules that were pickled by PyTorch before 1.4 name."""
