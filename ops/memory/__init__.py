"""Arrays: their dtypes, the memory they lie in, who may write it, and how much may be taken."""
