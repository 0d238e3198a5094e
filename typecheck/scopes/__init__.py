"""The state of checking a function, and the table of what checks each form."""
