"""Convolutions of floats and their gradients, normalised channels, planes with edges."""
