"""The files of `torch.save` and of safetensors."""
