"""What goes through time: recurrent layers, filters, alignments."""
