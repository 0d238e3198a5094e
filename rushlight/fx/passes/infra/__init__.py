"""`torch.fx.passes.infra`: what passes are, and running several."""
