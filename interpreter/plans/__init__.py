"""Plans: register code as Python source."""
