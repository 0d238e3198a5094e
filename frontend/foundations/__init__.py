"""What every part stands on: tables filled by declarations, locks, ports, things made once."""
