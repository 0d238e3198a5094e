"""What leaves nodes behind: the tape of eager calls, written recorders, directions."""
