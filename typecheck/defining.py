"""The lock of everything that is made of a program: types, definitions, what runs them."""

from __future__ import annotations

from typing import Final

from ..frontend.locks import fork_safe_lock

__all__ = ["DEFINING"]

DEFINING: Final = fork_safe_lock()
"""Held by the one thread that defines functions, or makes what runs them, at a time.

Functions of two threads may need each other in any order, so there is one lock for all of them.
What is made already is read without it.
"""
