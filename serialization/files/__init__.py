"""Files: what kind they are, reading and writing their bytes, the zip container of archives."""
