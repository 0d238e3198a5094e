"""Functions, classes and signatures, and what names stand for."""
