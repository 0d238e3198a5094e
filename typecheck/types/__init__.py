"""The types of the language, and what is done by their kind."""
