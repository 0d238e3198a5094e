"""Batch scoring: a method of an archive over the rows of files, on Dask (`rushlight map`)."""
