"""The tensor that Python sees, how it is made, shown and indexed, and who listens."""
