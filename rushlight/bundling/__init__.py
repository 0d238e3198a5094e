"""Bundles: one file that runs some archives, with the parts of the library that these need.

`needs` finds out what archives use, by running them in a process of its own, `choice` which files
that takes, `write` puts these into a zip application, which begins with `start`.
"""
