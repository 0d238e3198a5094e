"""Modes below gradients: they see every operator of eager calls."""
