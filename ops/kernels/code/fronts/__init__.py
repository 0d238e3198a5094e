"""The native side of eager calls, and of calls that are known beforehand, as text."""
