"""Attention, its weights and its gradients, in one sweep."""
