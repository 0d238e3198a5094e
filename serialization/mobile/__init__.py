"""Files of the lite interpreter, as archives and as flatbuffers."""
