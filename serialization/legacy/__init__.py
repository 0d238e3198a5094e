"""Archives before PyTorch 1.3."""
