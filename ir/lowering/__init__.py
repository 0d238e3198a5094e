"""From the typed tree to a graph without variables and exits."""
