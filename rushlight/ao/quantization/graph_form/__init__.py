"""Quantization of the graphs of scripted modules: what is observed, and what takes its place."""
