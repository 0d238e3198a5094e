"""What opens one archive: its code, its operators, what they meant then."""
